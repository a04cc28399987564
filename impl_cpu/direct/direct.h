/* direct.h: what the files of the direct convolution share.
 *
 * The idea: one vector holds the same pixel of LANES images. Then every kernel tap is a whole vector whatever the
 * stride, dilation or padding, a weight is one number for all lanes, and a tap that falls into the padding is left out
 * instead of being multiplied by zero. Before the sums, blocks of LANES images are transposed to
 * [channel][h][w][LANES]; after them, results are transposed back.
 *
 * A batch with fewer images than lanes, or images too large for the cache, is first cut into tiles, which overlap in
 * the input where the kernel needs it: a tile is then just one more, smaller image ("virtual image" below).
 *
 *   conv.c       FWD and BWD_D: the rounds of pack - gather - unpack
 *   weights.c    BWD_W: the rounds of pack - sum - reduce
 *   tiles.c      the geometry: tiles, what a choice costs
 *   plan.c       what is found once for a problem: strides, lists of taps
 *   runs.c       where a block's pixels lie in a tensor, and in what parts it is packed
 *   kernels.inc  the sums, compiled for each instruction set
 *   pack.inc     the transpositions, likewise
 *   isa.inc      both, for f32 and f64 ({base,avx2,avx512}.c), of which plan.c takes one */
#ifndef IMPL_CPU_DIRECT_DIRECT_H
#define IMPL_CPU_DIRECT_DIRECT_H

#include "impl_cpu/cpu.h"

/* One tensor as virtual images see it: tile (a,b) of an image covers th x tw pixels from row org_h + a*step_h and
 * column org_w + b*step_w; what lies outside H x W counts as zero and is never written. Virtual image v is tile
 * v % (tiles_h*tiles_w), row-major, of image v / (tiles_h*tiles_w). */
typedef struct direct_side {
    cnn_layout layout;
    int64_t n, c, h, w;       /* the tensor */
    int64_t tiles_h, tiles_w; /* tiles_w 1: a tile's rows are whole rows of the tensor */
    int64_t th, tw, step_h, step_w, org_h, org_w;
} direct_side;

/* What pack and unpack move: rows [h0, h1) of channels [c0, c1) of one block. `rows` is what a packed channel has room
 * for. */
typedef struct direct_part {
    int64_t block, c0, c1, h0, h1, rows;
} direct_part;

enum { DIRECT_MAX_LANES = 16 };

/* Where the virtual images of a block begin: the offset of the image, the row and column (negative in the padding). */
typedef struct direct_lanes {
    int lanes, used;
    int64_t image[DIRECT_MAX_LANES], h[DIRECT_MAX_LANES], w[DIRECT_MAX_LANES];
} direct_lanes;
void direct_lanes_locate(const direct_side *side, int lanes, int64_t block, direct_lanes *l);

/* n elements that follow each other in memory, for each lane: element k of lane l is tensor[at[l] + k], and exists for
 * lo[l] <= k < hi[l]. */
typedef struct direct_run {
    int64_t n;
    bool full; /* all exist */
    int64_t at[DIRECT_MAX_LANES], lo[DIRECT_MAX_LANES], hi[DIRECT_MAX_LANES];
} direct_run;
/* NCHW: `rows` rows (one, unless tiles_w is 1) of channel c from the tile's row h. */
void direct_run_rows(const direct_side *side, const direct_lanes *lanes, int64_t c, int64_t h, int64_t rows,
                     direct_run *run);
/* NHWC: n channels from c at the tile's pixel (h, w). */
void direct_run_pixel(const direct_side *side, const direct_lanes *lanes, int64_t c, int64_t h, int64_t w, int64_t n,
                      direct_run *run);

typedef struct direct_shape {
    cnn_conv_desc desc; /* the convolution of one virtual image, flattened if it can be */
    direct_side x, y;
    int64_t blocks, round; /* of LANES virtual images; those that are packed at a time */
} direct_shape;

/* Source of one output row (or column): kernel row `tap` meets source row `src`. List r is e[start[r]..start[r+1]). */
typedef struct direct_tap {
    int64_t tap, src;
} direct_tap;
typedef struct direct_taps {
    int64_t *start;
    direct_tap *e;
} direct_taps;

/* The same for a pixel, as offsets of elements into a packed channel and into w[o][c]. */
typedef struct direct_point {
    int64_t in, w;
} direct_point;

/* out[u][r][q] = bias[u] + sum over k and taps of w[u*w_u + k*w_k + tap] * in[k][src]: the forward pass (u output, k
 * input channels) and the data gradient (the other way round) alike. */
typedef struct direct_gather {
    direct_taps rows, cols;
    int64_t out_w, kh, kw;
    bool flip;
    int64_t k, w_u, w_k;          /* channels summed over; strides in w */
    int64_t in_w, in_k, in_block; /* packed source: row length in pixels, strides of a channel, of a block */
    int64_t out_u, out_block;     /* packed result */
    int64_t in_group, w_group;    /* from one group to the next */
} direct_gather;

/* One task of it: `groups` groups of `units` channels of `vectors` blocks. */
typedef struct direct_gather_tile {
    const void *in, *w, *bias;
    void *out;
    int64_t r0, r1; /* output rows */
    int64_t groups;
    int units, vectors;
    direct_point *points; /* scratch, kh*kw */
} direct_gather_tile;

/* acc[tap][o][c] += dy[o][p][q] * x[c][src] over pixels and blocks, o < os, c < cs. */
typedef struct direct_weights {
    direct_taps rows, cols; /* for each tap the pixels (p, src) it has: `tap` holds p */
    int64_t kh, kw, x_w, x_c, x_block, y_h, y_w, y_o, y_block, blocks;
    int64_t filter; /* weights of an output channel */
    bool flip;
} direct_weights;

/* Tasks that a step is cut into, where the problem is worth so many. */
enum { DIRECT_TASKS = 16 };

/* An epilogue's activation whose pieces are lines: IDENTITY, RELU, LEAKY_RELU, CLIPPED_RELU, SCALE. */
typedef struct direct_finish {
    cnn_act_kind act;
    double alpha;
} direct_finish;

typedef struct direct_kernels {
    int lanes;
    int max_units;      /* of a gather tile */
    int max_os, max_cs; /* of a weights tile */
    int max_os1;        /* of a weights tile with one input channel */
    /* tensor -> packed[c - c0][h - h0][w][lane], with `rows` rows a channel; lanes that hold no image, and pixels
     * outside it, become zeros. */
    void (*pack)(const direct_side *, const void *tensor, const direct_part *, void *packed);
    /* `added`: what is added to results, the tensor itself or one that is stored like it; NULL: nothing. `finish`: what
     * is done to them then; NULL: nothing. */
    void (*unpack)(const direct_side *, void *tensor, const direct_part *, void *packed, const void *added,
                   const direct_finish *finish);
    void (*gather)(const direct_gather *, const direct_gather_tile *);
    /* A tile's sums to dw, which points at its first weight; `acc` is scratch of a vector for each, `sums` of an
     * element. */
    void (*weights)(const direct_weights *, const void *x, const void *dy, int os, int cs, void *acc, void *sums,
                    void *dw, bool add);
    /* sums[o] = sum of dy[o] over pixels and blocks. */
    void (*bias)(const direct_weights *, const void *dy, int os, void *sums);
} direct_kernels;

/* A tensor and its packed blocks, [block][channel][h][w][lane]. Each is packed in parts: so many ranges of channels,
 * one after the other, by so many bands of rows. */
typedef struct direct_packing {
    direct_side side;
    const void *tensor;
    void *packed;
    int64_t ranges, bands, parts;
} direct_packing;
/* Cuts a block into about as many parts as are wanted. */
direct_packing direct_packing_make(const direct_side *side, int64_t want);
/* Packs part `index` of the tensor's block `block` as packed block number `to`. */
void direct_pack_part(const direct_kernels *kernels, const direct_packing *packing, size_t elem, int64_t block,
                      int64_t to, int64_t index);

extern const direct_kernels direct_base[CNN_DTYPE_COUNT], direct_avx2[CNN_DTYPE_COUNT], direct_avx512[CNN_DTYPE_COUNT];
const direct_kernels *direct_kernels_for(const cpu_context *ctx, cnn_dtype dtype);

/* Lays the problem out; only the problem and the lanes decide, never the number of threads. */
void direct_shape_make(const direct_kernels *kernels, const cnn_request *request, direct_shape *shape);
/* The sums over packed images of c's sizes. Their lists of taps are taken from the arena, and filled in where it has
 * memory. */
direct_gather direct_gather_of(const cnn_conv_desc *c, bool forward, int lanes, cpu_arena *arena);
direct_weights direct_weights_of(const cnn_conv_desc *c, int lanes, cpu_arena *arena);

/* Elements of one packed channel of one block. */
static inline int64_t direct_channel(const direct_side *side, int lanes) { return side->th * side->tw * lanes; }
/* What a plan keeps is a run as far as problem and context decide it, and lists of taps behind it: `lay_out` takes both
 * from `kept`, and what a run needs besides from `workspace`. A call makes a copy of the run, its own workspace in it.
 */
typedef struct direct_layout {
    size_t run; /* its size */
    void (*lay_out)(const cpu_context *, const cnn_request *, void *run, cpu_arena *kept, cpu_arena *workspace);
} direct_layout;
extern const direct_layout direct_gather_layout, direct_weights_layout;
cpu_plan_fn direct_plan;
void direct_run_weights(const cpu_context *, const cnn_plan *, const cnn_weighted_args *); /* BWD_W: weights.c */

#endif
