/* winograd.h: what the files of Winograd's convolution share.
 *
 * F(4x4,3x3) of Lavin and Gray (Fast Algorithms for Convolutional Neural Networks, 2016): a tile of 4 x 4 outputs is
 *   y = A^T [(G g G^T) * (B^T d B)] A,    d: 6 x 6 inputs, g: 3 x 3 weights,
 * 36 products for each pair of channels where the definition has 144. Summed over channels, each of the 36 points is a
 * matrix product [tiles x channels] [channels x channels]. The gradient of the weights is the same form the other way:
 *   dg = G^T [(A dy A^T) * (B^T d B)] G, summed over tiles.
 * The data gradient is a forward pass of dy with turned weights. Errors: see verify/oracle/transforms.h.
 *
 * The idea here: lanes are channels, so every transform is whole vectors; tiles are taken in blocks that fit the cache,
 * and what a block's products come to is transformed back before the next block begins.
 *
 *   plan.c         what a problem is cut into
 *   conv.c         FWD and BWD_D: transform weights; then for each block: input, 36 products, output
 *   gradient.c     BWD_W: for each range of tiles: input and dy, 36 products; then the gradient of the weights
 *   transforms.inc the five transforms; tensors <-> strips of pixels with lanes of channels
 *   isa.inc        all kernels, for f32 and f64 ({base,avx2,avx512}.c), of which plan.c takes one */
#ifndef IMPL_CPU_WINOGRAD_WINOGRAD_H
#define IMPL_CPU_WINOGRAD_WINOGRAD_H

#include "impl_cpu/product.h"

/* A tile's outputs and inputs along one side, and the points of its transform. */
enum { WINO_OUT = 4, WINO_IN = 6, WINO_POINTS = WINO_IN * WINO_IN, WINO_TAPS = 9 };

/* A tensor of images. */
typedef struct wino_tensor {
    cnn_layout layout;
    int64_t n, c, h, w;
} wino_tensor;

/* A strip: so many tiles side by side of one image. Their first pixel, which may lie outside it. */
typedef struct wino_strip {
    int64_t image, row, col, tiles;
} wino_strip;

/* Up to a vector of channels. */
typedef struct wino_channels {
    int64_t first, count;
} wino_channels;

/* Where the elements of a strip's points go: point p of tile t at p * point + t * tile. */
typedef struct wino_points {
    void *at;
    int64_t point, tile;
} wino_points;

/* Weights of one group, w[u * of_u + k * of_k + tap]: u of the result, k summed over. `turned`: the taps from the last
 * to the first. */
typedef struct wino_weights {
    const void *w;
    void *dw;
    int64_t u, k, of_u, of_k; /* u, k: how many */
    bool turned, add;
} wino_weights;

typedef struct wino_kernels {
    int lanes;
    int rows; /* of a product in registers */
    /* Pixels of a strip, rows x cols of a vector of channels, zeros outside the image. */
    void (*fill)(const wino_tensor *, const void *tensor, const wino_strip *, int64_t rows, int64_t cols, wino_channels,
                 void *pixels);
    /* B^T d B of 6 rows of pixels, A dy A^T of 4: for each tile of a strip. */
    void (*input)(const void *pixels, int64_t tiles, wino_points);
    void (*gradient)(const void *pixels, int64_t tiles, wino_points);
    /* G g G^T of the weights of two vectors of u, and of channels [k0, k1), to points[p][k][u]. */
    void (*weights)(const wino_weights *, int64_t u0, int64_t k0, int64_t k1, wino_points);
    void (*product)(const cpu_product *);
    /* A^T m A of a strip, for one of the two vectors, and the bias (NULL: none), to pixels[4][4 tiles]; these then to
     * the tensor, or added to it; finished (z as the tensor is stored), NULL: as they are. */
    void (*output)(wino_points, int64_t tiles, const void *bias, wino_channels, void *pixels);
    void (*store)(const wino_tensor *, void *tensor, const wino_strip *, wino_channels, const void *pixels, bool add,
                  const cpu_finish *finish);
    /* G^T m G of points[p][k][u], [k0, k1), to dw or added to it. */
    void (*weights_gradient)(const wino_weights *, int64_t u0, int64_t k0, int64_t k1, wino_points);
} wino_kernels;

extern const wino_kernels wino_base[CNN_DTYPE_COUNT], wino_avx2[CNN_DTYPE_COUNT], wino_avx512[CNN_DTYPE_COUNT];

typedef struct wino_plan {
    const wino_kernels *kernels;
    cnn_conv_desc d;
    int64_t elem;
    wino_tensor in, out;         /* FWD: x, y. BWD_D: dy, dx. BWD_W: x, dy */
    int64_t k, u, k_pad, panels; /* channels of a group: of `in`, of `out`; whole vectors of k; pairs of vectors of u */
    int64_t pad_h, pad_w;        /* of `in`, for outputs that begin at 0 */
    int64_t strip, strips_w, strips_h, strips; /* tiles of a strip; strips in a row and in an image, of the batch */
    int64_t each, blocks;                      /* strips of a block; blocks */
    int64_t parts; /* FWD, BWD_D: of a block's results, each a task with its own transform of the input */
    /* The workspace, in bytes from its start. FWD, BWD_D: transformed weights. BWD_W: those of `in` and of `out` of a
     * block, and the sums. Then a piece for each worker: input, products, pixels. */
    int64_t weights_at, in_at, out_at, worker_at, worker, m_at, pixels_at;
} wino_plan;

/* plan.c. Strip number s: where its outputs begin; `in`: where the inputs for them do. */
cpu_plan_fn wino_plan_make;
wino_strip wino_strip_at(const wino_plan *m, int64_t s, bool in);
/* The weights of a group. */
wino_weights wino_weights_of(const wino_plan *m, cnn_dir dir, const cnn_weighted_args *args, int64_t group);
/* conv.c, gradient.c */
void wino_gradient(const cpu_context *, const cnn_plan *, const cnn_weighted_args *);

/* Tiles of a block, those of strips that it lacks included; elements of a panel of transformed weights, of a point. */
static inline int64_t wino_tiles(const wino_plan *m) { return m->each * m->strip; }
static inline int64_t wino_panel(const wino_plan *m) { return m->k * 2 * m->kernels->lanes; }
static inline int64_t wino_point(const wino_plan *m) { return m->panels * wino_panel(m); }

#endif
