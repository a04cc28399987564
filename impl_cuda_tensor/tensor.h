/* tensor.h: what the files of impl_cuda_tensor share (prefix cutensor_): convolution on the tensor cores of compute
 * capability 9.0 (Hopper) as an implicit matrix product.
 *
 * FWD     out[pixel][oc] = sum over taps and ic of in[pixel of the tap][ic] * w[oc][ic][tap]
 * BWD_D   the same of dy, with the weights' oc and ic exchanged and their taps reversed
 * BWD_W   dw[oc][ic][tap] = sum over pixels of dy[pixel][oc] * x[pixel of the tap][ic]
 * The tensor that is gathered is read 16 bytes of channels at once where these lie so, else number by number. A number
 * of f32 is two of TF32, v = hi + lo, and a product three of them, lo*hi + hi*lo + hi*hi, which is right to 2^-22; math
 * tf32 takes one. Products of f16 and bf16 are exact, and twice as many at a time.
 *
 * plan.c cuts the problem into work once; the kernels get it by value. */
#ifndef IMPL_CUDA_TENSOR_TENSOR_H
#define IMPL_CUDA_TENSOR_TENSOR_H

#include "harness/cuda/bias.h"
#include "harness/cuda/cuda.h"
#include "harness/cuda/divide.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cutensor_knob_id {
    CUTENSOR_KNOB_BEFORE = CUDA_KNOB_COUNT - 1,
#define KNOB(id, ...) CUTENSOR_KNOB_##id,
#define STEPS KNOB
#include "knobs.inc"
#undef KNOB
#undef STEPS
    CUTENSOR_KNOB_COUNT
} cutensor_knob_id;

enum {
    CUTENSOR_ROW_BYTES = 128,   /* of channels (BWD_W: pixels) of a step: 32 of f32, 64 of f16 or bf16 */
    CUTENSOR_PATCH_MOST = 1024, /* rows of a patch */
    CUTENSOR_BOX_PIXELS = 32    /* of a box of NCHW */
};
enum { CUTENSOR_PATCHES, CUTENSOR_ROWS, CUTENSOR_PLANES, CUTENSOR_TAPS };

/* Along rows and columns: the input row of output row p and tap i is (p*mul - pad + i*step) / div, where that divides.
 * In a patch, whose rows are the input's pixels with their padding, pixel (n,p,q) stands at row
 * (n*high + p*mul)*wide + q*mul, and tap (i,j) i*step*wide + j*step behind it. */
typedef struct cutensor_window {
    int32_t oh, ow, ih, iw, kh, kw;
    int32_t mul_h, mul_w, div_h, div_w, pad_h, pad_w, step_h, step_w;
    int32_t high, wide; /* of an image with its padding */
    cuda_divisor by_plane, by_ow, by_high, by_wide, by_kw, by_div_h, by_div_w;
} cutensor_window;

/* The tensor that is gathered. In NHWC, where a group's channels divide by as many numbers as 16 bytes hold, so many
 * are copied together, and places count them. Else `together` is 0, and places count numbers. */
typedef struct cutensor_input {
    int32_t together, channels;   /* channels: of a group */
    int32_t pixel, channel, rest; /* steps in places; rest: from image to image, beyond its pixels' steps */
    int32_t all;                  /* places of the tensor */
    cuda_divisor by_plane;
} cutensor_input;

/* Of BWD_D with strides: a phase, the pixels of dx that the same taps of the kernel reach. Its pixel (p, q) is pixel
 * (p*step_h + first_h, q*step_w + first_w) of dx, which is so many pixels wide; step_w 0: all pixels in their order. */
typedef struct cutensor_spread {
    int32_t step_h, step_w, first_h, first_w, wide;
} cutensor_spread;

/* ---- forward.cu: FWD and BWD_D */
typedef struct cutensor_forward {
    cutensor_window window;
    cutensor_input in;
    int32_t pixels;                         /* output pixels of all images */
    cutensor_spread spread;                 /* ... which are some of the output's ... */
    int32_t out_plane;                      /* ... whose images have so many */
    int32_t all_taps;                       /* of the weights; tap (i, j) of the window is theirs of this number: */
    int32_t tap_first, tap_down, tap_right; /* tap_first + i*tap_down + j*tap_right */
    int32_t groups, group_oc, oc;           /* output channels of a group, of a pixel */
    int32_t group_tiles;                    /* tiles side by side over a group's output channels */
    int32_t source;                         /* where pixels come from: CUTENSOR_PATCHES, or forward_boxes.h's */
    int32_t plane;                      /* CUTENSOR_PLANES: pixels of an image; `pixels` and window count positions */
    int32_t keeps;                      /* all weights stay in shared memory: forward_keep.h */
    int32_t strip;                      /* `pixels` and tiles count the positions of forward_strip.cu */
    int32_t whole_lines;                /* ... whose lines of tiles behind these have half the height */
    int32_t patched;                    /* patches hold the padded input's rows; else the pixels of one tap, gathered */
    int32_t chunks, taps, taps_at_once; /* channels in rows' worth; taps that one patch serves: all, or one */
    int32_t pieces;                     /* of a tile: chunks * taps / taps_at_once */
    int32_t unit, units;                /* pieces that are dealt out together: 1, or a whole tile's; how many */
    int32_t buffers, buffer_bytes;      /* of patches */
    int32_t table_bytes;                /* of the table of a patch's pixels */
    int32_t nchw, has_bias, tile;       /* whether the output is in NCHW */
    int32_t high, wide_tile;            /* of the tile, in pixels and channels */
    cuda_divisor by_pieces, by_tiles, by_group_tiles, by_steps;
} cutensor_forward;

/* ---- gradient.cu: BWD_W. A tile: a block's slots, by 64 output channels of a group. */
typedef struct cutensor_gradient {
    cutensor_window window;
    cutensor_input in;
    int64_t dy_image, dy_channel, dy_pixel; /* strides */
    /* Of 16 bits: channels of dy lie in eights, 16 bytes; pixels of a plane in pairs, 4 bytes. */
    int32_t dy_together, dy_pairs;
    int32_t half; /* x and dy have 16 bits: sums lie in another order */
    int32_t pixels, taps, group_oc, group_ic;
    int32_t c_tiles, k_tiles, slot_groups; /* of a group: 64s of input and output channels; blocks' slots */
    int32_t slots;                         /* of a block: as many as it can sum for, or as its patches have room for */
    int32_t
        patched; /* slots are 9 taps of one patch; else each slot, any tap and 64 channels, gathers its own pixels */
    int32_t chunk, chunks;        /* pixels that are loaded together, and how many times */
    int32_t tiles, units, blocks; /* tiles times chunks, dealt out evenly, where a cluster is one block */
    /* Else the pixels of a tile, in sixteens, to the blocks of as many clusters as its share is: a cluster has one
     * tile, and its blocks add up their sums in shared memory. */
    int32_t cluster, share;
    int32_t whole; /* a tile's pixels are one cluster's, which writes dw itself */
    int32_t room;  /* bytes of tiles of dy and patches, later of a block's sums */
    int32_t parts, steps, patches, patch_bytes;
    int32_t sums_bias; /* dy is summed for the bias as it is loaded: 64 sums a block and tile ... */
    int64_t bias_at;   /* ... which begin here, behind the blocks' other sums */
    /* As a strip (gradient_strip.cu): all lines are dealt out to a tile's blocks, `chunk` of them at a time, whose
     * positions of dy, and zeros behind them up to a multiple of 16, have dy_rows in a patch, before those of x. */
    int32_t strip, lines, dy_rows, zero_lines;
    cuda_divisor by_chunks, by_k_tiles, by_slot_groups, by_c_tiles;
} cutensor_gradient;

/* ---- weights.cu: the weights as tiles for forward.cu: [tile][chunk][tap][part][row of the tile][128 bytes], swizzled
 */
typedef struct cutensor_weights {
    int32_t groups, rows, depth; /* of a group: output channels of the product, and channels it sums over */
    int32_t taps, reversed;      /* tap t stands at taps-1-t */
    int32_t transposed;          /* w is [depth][rows][taps] there (BWD_D), else [rows][depth][taps] */
    int32_t in_order;            /* rows and words stand in their own order: weights_strip.cu */
    int32_t planes;              /* words stand in the order of load_planes(), else of load_rows() */
    int32_t group_tiles, wide, chunks, parts;
    int32_t at_once, block_rows, line; /* taps and rows that a block takes; how many neighbours in w */
    cuda_divisor by_tap_groups, by_chunks, by_lines, by_wide; /* by_lines: a group's blocks over its rows */
    uint32_t tap_factor, line_factor; /* 2^32 by at_once (2 and more) and by line: for numbers up to 2^15 */
    int32_t flags;                    /* that are cleared on the way */
} cutensor_weights;

/* ---- few.cu: sums of few terms. Tensors as they lie: element (n, pixel, channel) by three strides. */
typedef struct cutensor_view {
    int64_t image;
    int32_t pixel, channel;
} cutensor_view;

typedef struct cutensor_few {
    cutensor_window window;
    cutensor_view in, out;
    int32_t pixels, groups, rows, depth, taps; /* rows, depth: of a group, as in cutensor_weights */
    int32_t reversed, transposed, add;         /* add: BWD_W's beta */
} cutensor_few;

/* ---- matrix.cu: a convolution of one tap, of 16 bits, as a product of matrices out[m][n] = sum over k. */
typedef struct cutensor_matrix {
    cnn_dir dir;
    int32_t m, n, k;       /* FWD, BWD_D: pixels, output channels of the product, channels; BWD_W: oc, ic, pixels */
    int32_t images, plane; /* NCHW: pixels of an image, as those of m, n or k; m and n change places. 0: NHWC */
    int32_t high, wide;    /* of a tile */
    int32_t across;        /* tiles side by side; NCHW: one below the other */
    int32_t image_tiles, image_steps; /* NCHW: of an image, over its pixels */
    int32_t tiles, steps, splits;     /* steps of 64 k; BWD_W: the blocks that share a tile's steps */
    int32_t depth, blocks;            /* steps under way; blocks of the device */
    int32_t has_bias, add;            /* add: BWD_W's beta */
} cutensor_matrix;

/* ---- gradient_boxes.cu: BWD_W of f32 as a product of matrices. A is the factor with m channels, x or dy, B
 * the other one. */
typedef struct cutensor_product {
    int32_t source, parts, a_is_x; /* CUTENSOR_ROWS, CUTENSOR_PLANES, or CUTENSOR_TAPS: rows of dy, and x by taps */
    int32_t m, n;                  /* of A and of B: channels, of x those of all taps, in whole boxes */
    int32_t ic, oc;
    int32_t images, plane;                 /* ROWS: all pixels are one image's */
    int32_t high, wide;                    /* of a tile, in channels of A and of B */
    int32_t taps, reversed;                /* of CUTENSOR_TAPS, else 1; tap t stands at taps-1-t of dw */
    int32_t apart;                         /* CUTENSOR_TAPS: numbers from pixel to pixel of x */
    int32_t across, tiles;                 /* tiles side by side; all */
    int32_t steps, splits;                 /* steps of 32 pixels of an image; the blocks that share a tile's */
    int32_t depth, shared_bytes;           /* steps under way */
    int32_t bias_row;                      /* numbers of a split's sums of dy, in fours; 0: there is no bias */
    cutensor_window window;                /* of CUTENSOR_TAPS */
    cuda_divisor by_image_steps, by_boxes; /* boxes of 32 channels of a tap of x */
} cutensor_product;

/* ---- direct.cu: one tap of f32, out[row][column] = sum over k of a[row][k] * b[column][k]. Element e of an axis is a
 * channel, e*step numbers behind the first; or pixel (p, q) of image n, n*image + p*line + q*step behind it. */
typedef struct cutensor_axis {
    int32_t count, step;
    int32_t pixels, image, line; /* pixels 0: channels, or pixels that lie like these */
    cuda_divisor by_plane, by_wide;
} cutensor_axis;

/* Four numbers are read at once where they lie side by side, along k or along the rows, k being channels or pixels;
 * else one. */
enum { CUTENSOR_ALONG_K, CUTENSOR_ALONG_ROWS, CUTENSOR_ROWS_OF_PIXELS, CUTENSOR_ONE_BY_ONE, CUTENSOR_WAYS };
typedef struct cutensor_factor {
    cutensor_axis rows, k;
    int32_t way;
} cutensor_factor;

typedef struct cutensor_direct {
    cutensor_factor a, b;
    cutensor_axis columns; /* of out, as b's rows */
    int32_t row_step;      /* of out */
    int32_t fours;         /* four rows of out are stored at once */
    /* BWD_D with strides: a column is cell_high by cell_wide pixels of dx, as far as there are out_high by out_wide of
     * an image, and gives a sum to the first of them alone; down and right: the steps between them. Else 0. */
    int32_t cell_high, cell_wide, out_high, out_wide, down, right;
    int32_t parts, has_bias;       /* parts of a number */
    int32_t across, down_tiles;    /* tiles side by side, over the columns; one below the other */
    int32_t warps, splits;         /* which share the steps of 16 k of a tile: of a block, blocks of a cluster */
    int32_t log_splits, log_units; /* both are powers of 2; units: warps of a cluster */
    int32_t steps, has_rest;       /* whole ones, and whether k has some more */
    int32_t ahead;                 /* steps that a warp has on their way: 1 or 2 */
} cutensor_direct;

/* ---- repack.cu: tensors that are copied from NCHW to NHWC first, or back. */
typedef struct cutensor_planes {
    int32_t channels, pixels, channel_tiles, pixel_tiles; /* pixels: of an image */
    int32_t plane;                                        /* numbers from channel to channel */
    int32_t down, right;  /* right 0: all pixels are copied, else every so many-th of a line, and of lines */
    cuda_divisor by_wide; /* pixels of a line that are copied */
    int32_t blocks;       /* 0: it is read as it lies */
    size_t at;            /* of the workspace */
} cutensor_planes;

/* out: results of 16 bits, which are computed in NHWC and copied back. */
typedef struct cutensor_repack {
    cutensor_planes x, dy, out;
} cutensor_repack;

/* ---- fold.cu: a row of the kernel as channels */
typedef struct cutensor_fold {
    int32_t outputs, channels, kh, kw, flip; /* of w */
    int32_t columns, pad;                    /* of a row of x, and before it */
    int32_t places; /* of all images with their padding, 4 channels each; 0: nothing is folded */
    int32_t column; /* strides of x */
    int64_t image, row, channel;
    cuda_divisor by_pitch, by_rows; /* places of a row, rows of an image */
    size_t x_at, w_at;              /* of the workspace */
} cutensor_fold;

/* A launch of a forward kernel. */
enum { CUTENSOR_PHASES_MOST = 4 };
typedef struct cutensor_phase {
    cutensor_forward forward;
    size_t flags_at;
    int32_t blocks, shared_bytes;
} cutensor_phase;

typedef struct cutensor_plan {
    bool is_few;     /* then only `few` counts, and `bias` */
    bool is_direct;  /* then only `direct`, and `bias` */
    bool is_matrix;  /* then only `matrix`, and `bias` */
    bool is_product; /* then only `product`, and `bias` */
    cutensor_few few;
    cutensor_direct direct;
    cutensor_matrix matrix;
    cutensor_product product;
    cutensor_forward forward;
    cutensor_weights weights;
    cutensor_gradient gradient;
    cuda_bias bias;
    int32_t phases; /* of BWD_D with strides: then `phase` counts instead of `forward` */
    cutensor_phase phase[CUTENSOR_PHASES_MOST];
    size_t clears;   /* bytes of dx, where no tap reaches some of its pixels */
    bool as_it_lies; /* nothing is repacked */
    cutensor_repack repack;
    bool is_thin; /* of x only the pixels that the stride of a 1x1 kernel leaves are copied */
    cutensor_fold fold;
    size_t weights_at, partials_at, flags_at, bytes; /* workspace */
    int32_t blocks, threads, shared_bytes;
} cutensor_plan;

/* plan.c */
cnn_status cutensor_plan_make(const cuda_context *, const cnn_request *, cutensor_plan *, cnn_error *);
/* plan_strip.c: the window with its shared padding, where the problem is a strip (forward_strip.cu), else false. */
bool cutensor_strip_window(const int64_t *knobs, const cnn_conv_desc *, cutensor_window *);
/* BWD_W as a strip (gradient_strip.cu), of a gradient whose sizes are set; false where it is none, or has too many
 * tiles. */
bool cutensor_plan_gradient_strip(const cuda_context *, const cnn_request *, const cnn_conv_desc *, cutensor_plan *);
/* plan_direct.c: false where it is no convolution of one tap of f32, or is better off as others are. */
bool cutensor_plan_direct(const cuda_context *, const cnn_request *, const cnn_conv_desc *, cutensor_direct *);
/* plan_matrix.c: false where it is no product of matrices, or is better off as others are. */
bool cutensor_plan_matrix(const cuda_context *, const cnn_request *, const cnn_conv_desc *, cutensor_plan *);
/* plan_gradient_boxes.c: false where it is no BWD_W of boxes. `folded`: x's pixels overlap. */
bool cutensor_plan_product(const cuda_context *, const cnn_request *, const cnn_conv_desc *, bool folded,
                           cutensor_product *);
/* plan_boxes.c: whether pixels come as boxes, and of NHWC or NCHW. */
int32_t cutensor_boxes_of(const int64_t *knobs, const cnn_conv_desc *, cnn_dir);
/* Whether all weights stay in shared memory: where they fit, and (by the problem) in fewer clocks than `cost`. Sets
 * what forward_keep.h reads of a forward whose sizes and source are set. */
bool cutensor_plan_keep(const cuda_context *, const int64_t *knobs, int32_t parts, double cost, cutensor_forward *);
/* Whether each tap's pixels come as boxes, of a forward whose sizes are set; `patched`: a patch would serve all taps;
 * `shared`: tiles are so few that several blocks share each. */
bool cutensor_boxes_of_taps(const int64_t *knobs, const cutensor_forward *, bool patched, bool shared);
/* plan_phases.c: the windows, outputs and taps of BWD_D with strides, as forwards that are otherwise this one; returns
 * how many, 0 where it is not cut so. `unreached`: whether no tap reaches some pixels of dx. */
int32_t cutensor_phases_of(const int64_t *knobs, const cnn_conv_desc *, const cutensor_forward *,
                           cutensor_phase phase[CUTENSOR_PHASES_MOST], bool *unreached);
/* plan_repack.c: whether what is gathered, and in BWD_W dy, is copied to NHWC first; takes its places if so. */
bool cutensor_plan_repack(const cnn_request *, const cnn_conv_desc *, cutensor_plan *);
/* Whether of x no more is copied than a 1x1 kernel with a stride reads; takes its place if so. And the convolution that
 * it then is, without a stride. */
bool cutensor_plan_thin(const cnn_request *, const cnn_conv_desc *, cutensor_plan *);
cnn_conv_desc cutensor_thinned(const cnn_conv_desc *);
/* Of FWD and BWD_D in 16 bits: whether results are computed in NHWC as well. */
bool cutensor_plan_repack_all(const cnn_request *, const cnn_conv_desc *, cutensor_plan *);
/* plan_fold.c: whether a row of the kernel becomes channels (FWD, BWD_W); takes its places if so. And the convolution
 * that it then is: of an x whose pixels, of kw * 4 channels, begin 4 channels after one another. */
bool cutensor_plan_fold(const cnn_request *, const cnn_conv_desc *, cutensor_plan *);
cnn_conv_desc cutensor_folded(const cnn_conv_desc *);
/* FC as a convolution of one pixel, where its weights lie so. */
cnn_conv_desc cutensor_conv_of(const cnn_problem *);

/* What FWD and BWD_D do to sums before they store them: finish.h. */
enum { CUTENSOR_NO_ACT, CUTENSOR_RELU, CUTENSOR_LINE };
typedef struct cutensor_finish {
    int64_t away; /* from where a result is stored to what is added to it first: bytes */
    int32_t adds, acts;
    float down, up, top; /* a cuda_line */
} cutensor_finish;

/* From NCHW to NHWC, of 16 bits or of f32; the other one may be NULL, or have no blocks. And back, of 16 bits. */
typedef struct cutensor_copy {
    const cutensor_planes *planes;
    const void *from;
    void *to;
} cutensor_copy;
cnn_status cutensor_to_rows_run(cuda_context *, bool half, const cutensor_copy *, const cutensor_copy *other,
                                cnn_error *);
/* x and weights, or their gradient, into their places in the workspace, `w` unless it is NULL; and dw back from there.
 */
cnn_status cutensor_fold_run(cuda_context *, const cutensor_fold *, const void *x, const void *w, void *space,
                             cnn_error *);
cnn_status cutensor_unfold_run(cuda_context *, const cutensor_fold *, const void *space, void *dw, cnn_error *);
cnn_status cutensor_to_planes_run(cuda_context *, const cutensor_copy *, cnn_error *);
cnn_status cutensor_few_run(cuda_context *, const cutensor_few *, cnn_dtype, const void *in, const void *w,
                            const void *bias, void *out, const cutensor_finish *, cnn_error *);
cnn_status cutensor_few_weights_run(cuda_context *, const cutensor_few *, cnn_dtype, const void *x, const void *dy,
                                    void *dw, cnn_error *);
/* a: the weights, or (BWD_W) dy; b: x, or (BWD_D) dy. */
typedef struct cutensor_factors {
    const float *a, *b, *bias;
    float *out;
    cutensor_finish finish;
} cutensor_factors;
cnn_status cutensor_direct_run(cuda_context *, const cutensor_direct *, const cutensor_factors *, cnn_error *);
cnn_status cutensor_weights_run(cuda_context *, const cutensor_weights *, cnn_dtype, const void *w, void *to,
                                void *flags, cnn_error *);
/* BWD_W: `in` is dy, `other` x, and `partials` have room for `splits` times dw. FWD, BWD_D: `other` are the weights. */
typedef struct cutensor_matrices {
    const void *in, *other, *bias;
    void *out;
    float *partials;
    cutensor_finish finish;
} cutensor_matrices;
cnn_status cutensor_matrix_run(cuda_context *, const cutensor_matrix *, cnn_dtype, const cutensor_matrices *,
                               cnn_error *);
/* db may be NULL; `add`: BWD_W's beta. */
typedef struct cutensor_gradients {
    const void *x, *dy;
    float *partials;
    void *dw, *db;
    bool add;
} cutensor_gradients;
/* `partials` have room for `splits` times dw, and behind them bias_row. */
cnn_status cutensor_product_run(cuda_context *, const cutensor_product *, const cutensor_gradients *, cnn_error *);
/* tensor_map.cu: whether the driver makes maps of tensors. */
bool cutensor_can_map(void);
cnn_status cutensor_weights_strip_run(cuda_context *, const cutensor_weights *, const void *w, void *to, void *flags,
                                      cnn_error *);
/* FWD and BWD_D: weights, as tiles; partials, blocks' sums in f32; flags, whether they are there. */
typedef struct cutensor_operands {
    const void *in, *bias;
    const unsigned char *weights;
    void *out;
    float *partials;
    unsigned *flags;
    cutensor_finish finish;
} cutensor_operands;
cnn_status cutensor_forward_run(cuda_context *, const cutensor_plan *, const cutensor_operands *, cnn_error *);
cnn_status cutensor_forward_half_run(cuda_context *, const cutensor_plan *, const cutensor_operands *, cnn_error *);
cnn_status cutensor_forward_boxes_run(cuda_context *, const cutensor_plan *, const cutensor_operands *, cnn_error *);
cnn_status cutensor_forward_strip_run(cuda_context *, const cutensor_plan *, const cutensor_operands *, cnn_error *);
/* `reversed`: tap t at taps-1-t of dw, where the plan's clusters have whole tiles. */
cnn_status cutensor_gradient_run(cuda_context *, const cutensor_plan *, const cutensor_gradients *, bool reversed,
                                 cnn_error *);
cnn_status cutensor_gradient_half_run(cuda_context *, const cutensor_plan *, const void *x, const void *dy,
                                      void *partials, cnn_error *);
cnn_status cutensor_gradient_strip_run(cuda_context *, const cutensor_plan *, const void *x, const void *dy,
                                       void *partials, cnn_error *);
/* The blocks' sums as dw, and as db where the plan sums dy, in a fixed order; `reversed`: tap t at taps-1-t. */
cnn_status cutensor_sum_run(cuda_context *, const cutensor_plan *, const cutensor_gradients *, bool reversed,
                            cnn_error *);

#ifdef __cplusplus
}
#endif
#endif
