/* im2col.h: what the files of impl_cuda_im2col share (prefix cucol_): convolution as a matrix product.
 *
 * Every window of x is copied out into a column, so that the convolution becomes one product, which cuBLAS does near
 * the device's peak; the price is a matrix kh*kw/(sh*sw) times as large as x. A chunk of `n` images at a time keeps it
 * within the knob workspace_mib. Per group, with K = ic/g*kh*kw rows, P = oh*ow pixels, w as [oc/g][K]:
 *   FWD    y = w * columns      BWD_D  columns = w' * dy, then added up into dx (col2im)      BWD_W  dw = dy * columns'
 *
 * Columns come in two arrangements, told apart by two strides; pixels always stand side by side:
 *   batched  [image][row][pixel]   a product an image, as one batch; NCHW's y is written in place
 *   wide     [row][image][pixel]   one product a chunk; y is then [oc][image][pixel], the "wide" outputs, which a pass
 *                                  turns into NCHW (and adds the bias on the way)
 * NHWC's y is [image][pixel][oc], which is the wide product's own transpose: cuBLAS writes it in place.
 * A 1 x 1 kernel without stride or padding has x for columns: implicit_pad then multiplies and copies nothing. */
#ifndef IMPL_CUDA_IM2COL_IM2COL_H
#define IMPL_CUDA_IM2COL_IM2COL_H

#include "harness/cuda/cuda.h"
#include "harness/cuda/gemm.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cucol_knob_id {
    CUCOL_KNOB_BEFORE = CUDA_KNOB_COUNT - 1,
#define KNOB(id, ...) CUCOL_KNOB_##id,
#define CONTEXT_KNOB KNOB
#include "knobs.inc"
#undef KNOB
#undef CONTEXT_KNOB
    CUCOL_KNOB_COUNT
} cucol_knob_id;

typedef struct cucol_context {
    cuda_context cuda; /* first: the shared slots see no more than this */
    cuda_blas blas;
} cucol_context;

/* cnn_algorithm.id. */
enum {
#define KERNELS(name, ...) CUCOL_##name,
#include "impl_cuda_im2col/kernels.inc"
#undef KERNELS
    CUCOL_CONVS,
    CUCOL_gemm = CUCOL_CONVS,
    CUCOL_default
};

/* peaks.cu: products by cuBLAS, as ceilings. An emulated device has none: the speed of a stand-in says nothing. */
#ifdef BENCHCNN_CUDA_EMULATED
#define CUCOL_PEAKS NULL
#else
#define CUCOL_PEAKS &cucol_peaks
extern const cnn_peaks cucol_peaks;
#endif

/* ---- Geometry: what a kernel must know, passed by value. Sizes fit 32 bits (plan.c refuses others), so that index
 * arithmetic is cheap; what grows with the number of images is 64-bit. */

/* Element (n,c,h,w) of a tensor stands at n*image + c*channel + h*row + w*pixel: both layouts with one kernel. */
typedef struct cucol_view {
    int64_t image;
    int32_t channel, row, pixel;
} cucol_view;

/* The third axis of a convolution: ih, oh and kh of the geometry count rows of all depths together, those here rows of
 * one. Output depth z reads, by tap depth a, the tensor's depth z*s + first + a*step. */
typedef struct cucol_depth {
    int32_t i, s, first, step, ih, oh, kh;
} cucol_depth;

/* Row (c, a, b) of the columns, in the order of the weights, and pixel (p, q) read the tensor's row
 * p*sh + h0 + a*hstep, its column likewise: h0 and hstep hold padding, dilation and flip. */
typedef struct cucol_geometry {
    cucol_view tensor; /* x or dx, or its padded copy */
    int32_t n, ic, ih, iw, oh, ow, kh, kw, sh, sw;
    int32_t h0, w0, hstep, wstep;
    int32_t rows, pixels;             /* ic*kh*kw over all groups, oh*ow */
    int64_t row_stride, image_stride; /* of the columns, in elements */
    cucol_depth depth;                /* for deep.cu alone */
} cucol_geometry;

/* A tensor of n x c x ih x iw and its copy of hp x wp, whose pixel (ph, pw) is the tensor's (0, 0). */
typedef struct cucol_copy {
    int32_t n, c, ih, iw, hp, wp, ph, pw;
    cucol_view plain, padded;
} cucol_copy;

/* The outputs of a chunk: n images of `channels` x `pixels`, y[n][o][p] at (n*channels + o)*pixels + p, or with
 * channels_last at (n*pixels + p)*channels + o. */
typedef struct cucol_outputs {
    int32_t n, channels, pixels;
    bool channels_last;
} cucol_outputs;

/* Before a product with beta = 1: y = b, or y += b with `add`. NULL y: nothing to do. */
typedef struct cucol_bias {
    cucol_outputs shape;
    void *y;
    const void *b;
    bool add;
} cucol_bias;

/* ---- Kernels, one file each, in the plan's dtype, f32 or f64; all asynchronous on the context's stream. */
typedef cnn_status cucol_im2col_fn(cucol_context *, const cnn_plan *, const cucol_geometry *, const void *tensor,
                                   void *columns, const cucol_bias *, cnn_error *);
/* Adds the columns up into the tensor. `add` (gather and deep only): to what it holds, else it is overwritten; the
 * others always add, so their tensor must be zero at first. */
typedef cnn_status cucol_col2im_fn(cucol_context *, const cnn_plan *, const cucol_geometry *, const void *columns,
                                   void *tensor, bool add, cnn_error *);
#define KERNELS(name, doc, op, flags, im2col, pads_x, col2im, pads_dx)                                                 \
    extern cucol_im2col_fn cucol_##im2col;                                                                             \
    extern cucol_col2im_fn cucol_##col2im;
#include "impl_cuda_im2col/kernels.inc"
#undef KERNELS

/* conv.c: those of an algorithm, by its id. Kernels that go by a padded copy do not look for the edge. */
typedef struct cucol_kernels {
    cucol_im2col_fn *im2col;
    cucol_col2im_fn *col2im;
    bool pads_x, pads_dx;
} cucol_kernels;
extern const cucol_kernels cucol_kernels_of[CUCOL_CONVS];

/* pad.cu: tensor -> padded copy (zeros around it), and back (what no window read is zero). */
cnn_status cucol_pad(cucol_context *, const cnn_plan *, const cucol_copy *, const void *plain, void *padded,
                     cnn_error *);
cnn_status cucol_crop(cucol_context *, const cnn_plan *, const cucol_copy *, const void *padded, void *plain, bool add,
                      cnn_error *);

/* outputs.cu: the passes over y and dy. */
cnn_status cucol_fill_bias(cucol_context *, const cnn_plan *, const cucol_bias *, cnn_error *);
/* y = f(wide + b + z), or y += wide + b with beta; wide is [channel][image][pixel], y is NCHW. part: b, beta, and where
 * these images begin in y and z. */
cnn_status cucol_split_outputs(cucol_context *, const cnn_plan *, const cucol_outputs *, const void *wide,
                               const cnn_weighted_args *part, cnn_error *);
/* One pass over dy for two ends, each NULL where it is not wanted: its wide copy (NCHW), and sums[slice][channel], the
 * sums over a slice of its (image, pixel), added to what is there with `add`. */
cnn_status cucol_join_outputs(cucol_context *, const cnn_plan *, const cucol_outputs *, const void *dy, void *wide,
                              void *sums, int32_t slices, bool add, cnn_error *);
/* db[channel] = the sum of sums[slice][channel], slice after slice; += with `add`. */
cnn_status cucol_add_slices(cucol_context *, const cnn_plan *, const void *sums, int32_t slices, int32_t channels,
                            void *db, bool add, cnn_error *);

/* ---- plan.c: how a convolution is cut into chunks, from the problem and the knobs alone: plan->state. */
typedef struct cucol_plan {
    size_t elem;                                /* bytes */
    int64_t group_oc, group_rows, rows, pixels; /* rows: of all groups */
    int64_t hp, wp;                             /* what the windows cover */
    bool padded, batched;                       /* this direction makes a padded copy; its columns are batched */
    bool direct;                                /* x or dx is the columns already, as it lies: nothing is copied */
    int64_t chunk;                              /* images */
    int32_t slices;                             /* of db */
    size_t columns_at, padded_at, wide_at, sums_at, bytes;
    /* What the kernels must know; of no images yet. */
    cucol_geometry g;
    cucol_copy copy; /* x or dx and its padded copy */
    cucol_outputs outputs;
} cucol_plan;
cnn_status cucol_plan_make(const cnn_request *, cucol_plan *, cnn_error *);
/* Of no images yet, and without padding above and to the left; all fits 32 bits. */
cucol_copy cucol_copy_of(cnn_layout plain, cnn_layout padded, int64_t c, int64_t ih, int64_t iw, int64_t hp,
                         int64_t wp);
/* How many slices db's sum is cut into, for `count` elements a channel; `bytes` of workspace a slice. */
int32_t cucol_slices(const int64_t *knobs, int64_t count, int64_t bytes);

/* ---- fc.c: plan->state of a fully connected layer. */
typedef struct cucol_fc_plan {
    bool copied; /* the weights */
    int32_t slices;
    cucol_copy copy;
    size_t sums_at, bytes; /* workspace: the copy of the weights, then db's slices */
} cucol_fc_plan;
cnn_status cucol_fc_plan_make(const cnn_request *, cucol_fc_plan *, cnn_error *);

/* ---- conv.c, fc.c: all directions. */
cnn_status cucol_conv_run(cucol_context *, const cnn_plan *, const cnn_weighted_args *, cnn_error *);
cnn_status cucol_fc_run(cucol_context *, const cnn_plan *, const cnn_weighted_args *, cnn_error *);

#ifdef __cplusplus
}
#endif
#endif
