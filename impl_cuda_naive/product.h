/* product.h: versions 5 and 6: convolutions as products of matrices that are never stored (implicit GEMM, C++).
 *
 *   FWD    y  [pixels x oc]       = x under each tap  [pixels x (taps, ic)]  * w   [(taps, ic) x oc]
 *   BWD_D  dx [pixels x ic]       = dy under each tap [pixels x (taps, oc)]  * w   [(taps, oc) x ic]
 *   BWD_W  dw [oc x (taps, ic)]   = dy                [oc x pixels]          * x   [pixels x (taps, ic)]
 *
 * A block computes ROWS x 64 results with ROWS threads, of which each has 64 in registers. Of the sum's axis it takes
 * DEPTH at a time: one step. While it multiplies what one half of the shared memory holds, the next step's numbers are
 * on their way to registers, and go to the other half: so a step has one barrier, and no thread waits for memory.
 * Version 5 multiplies by ordinary units: a thread reads 16 numbers of shared memory for 64 multiply-adds. In version 6
 * tensor cores do it (product_cores.h).
 *
 * Where results are few, the steps are cut into `splits` parts. Each part's sums go to the workspace, and a second
 * kernel adds them up in their order: deterministic, without atomics. */
#ifndef IMPL_CUDA_NAIVE_PRODUCT_H
#define IMPL_CUDA_NAIVE_PRODUCT_H

#include "harness/cuda/divide.h"
#include "harness/cuda/pack.h"
#include "impl_cuda_naive/tile.h"

enum { PRODUCT_COLUMNS = 64 };

/* ---- What a block of FWD or BWD_D computes: tile.h's problem, whose classes of pixels are the grid's z. */

struct product_problem {
    conv_shape<int32_t> s;
    bool backward;
    int32_t m, k; /* channels written and read, of a group */
    tensor_strides<int32_t> in, out;
    int32_t w_m, w_k, w_group; /* strides of w along the channels written, those read, and the groups */
    int32_t k_steps, m_tiles;  /* steps of a tap; tiles of a group's written channels */
    int32_t splits, results;   /* results: elements of y or dx */
    uint32_t in_bytes;         /* from one channel read to the next */
    int32_t depth;             /* of a step */
    bool packs;                /* what is read lies in fours, one channel behind the other */
};

/* ---- ... and of BWD_W. */

struct product_weights {
    conv_shape<int32_t> s;
    cuda_divisor by_row, by_column; /* of output pixels: rows of an image, columns of a row */
    int32_t pixels, row_tiles;      /* of all images; tiles of a group's output channels */
    int32_t column_tiles;           /* tiles of a group's input channels, for each tap */
    int32_t splits, results;        /* results: weights, and the biases behind them */
};

/* How a step is multiplied: by ordinary units; on tensor cores, each number as one of theirs, or (f32) as two. */
enum product_way { PRODUCT_UNITS, PRODUCT_ONE, PRODUCT_THREE };
/* The multiplier's DEPTH, of numbers of so many bytes. */
static inline int32_t product_depth(product_way way, int64_t elem) { return way != PRODUCT_UNITS || elem > 4 ? 8 : 16; }

struct product_choice {
    int32_t rows, splits;
};

/* product_choice.cu: of so many tiles, by rows of 64 or 128, and steps; `part`: bytes of a part, of which the
 * workspace holds `room`. */
struct product_size {
    int64_t tiles_64, tiles_128, steps, part, room;
};
product_choice product_choose(const product_size &, const int64_t *knobs);
/* Bytes of the workspace that are left beside so many. */
int64_t product_room(const int64_t *knobs, int64_t taken);
/* The gate: indices of 32 bits. */
cnn_status product_check(const char *version, const cnn_conv_desc *, cnn_error *);

/* Version 6's: what the device and the problem allow. Sums of f32 of few terms are better off without tensor cores: the
 * rounding of the parts would show in them. */
cnn_status product_cores_way(const cuda_context *, const cnn_request *, product_way *, cnn_error *);

/* Of naive_kernels, version 5's and version 6's; FWD or BWD_D, as the request says: product.cu. */
cnn_status product_fit(const cuda_context *, const cnn_request *, naive_launch *, cnn_error *);
cnn_status product_cores_fit(const cuda_context *, const cnn_request *, naive_launch *, cnn_error *);
cnn_status product_run(cuda_context *, const cnn_plan *, const cnn_weighted_args *, cnn_error *);
/* BWD_W: product_weights.cu. */
cnn_status product_weights_fit(const cuda_context *, const cnn_request *, naive_launch *, cnn_error *);
cnn_status product_cores_weights_fit(const cuda_context *, const cnn_request *, naive_launch *, cnn_error *);
cnn_status product_weights_run(cuda_context *, const cnn_plan *, const cnn_weighted_args *, cnn_error *);

/* A block's share: steps begin to end - 1, of a tile with so many rows and columns, or more than there is room for. */
struct product_share {
    int32_t begin, end, rows, columns;
};

/* ---- The product of a step, by a multiplier M: version 5's here, version 6's in product_cores.h. */

/* Numbers lie with four rows, or columns, side by side: what a thread loads at once. M::PAD packs more a line, so that
 * what a warp reads lies in different banks. */
template <typename M> struct product_tile {
    cuda_pack<typename M::real, 4> a[M::DEPTH][M::ROWS / 4 + M::PAD];
    cuda_pack<typename M::real, 4> b[M::DEPTH][PRODUCT_COLUMNS / 4 + M::PAD];
};

/* Multiply-adds, in U. A thread has 8 x 8 results: rows 4*y to 4*y + 3 of the upper half of the tile and of the lower
 * one, and columns 4*x likewise. A warp has 4 y and 8 x. Neighbouring lanes have the same y, and lanes two apart the
 * same x: shared memory brings a line's numbers for half a warp at once where one of these holds, else for a quarter.
 */
template <typename U, int N> struct product_units {
    typedef U real;
    static constexpr int DEPTH = 64 / (int)sizeof(U), ROWS = N, R = 8, C = 8, PAD = 1;
    /* Threads a multiprocessor: 384 have 168 registers each, as much as f32 needs. */
    static constexpr int THREADS = sizeof(U) > 4 ? 256 : 384, THREADS_BWD_W = THREADS;

    static __device__ inline int32_t y()
    {
        const int32_t t = (int32_t)threadIdx.x;
        return t / 16 * 2 + t / 2 % 2;
    }
    static __device__ inline int32_t x()
    {
        const int32_t t = (int32_t)threadIdx.x;
        return t / 4 % 4 * 2 + t % 2;
    }
    static __device__ inline int32_t row(int32_t r) { return 4 * y() + r + (r < 4 ? 0 : ROWS / 2 - 4); }
    static __device__ inline int32_t column(int32_t c) { return 4 * x() + c + (c < 4 ? 0 : PRODUCT_COLUMNS / 2 - 4); }

    /* What a thread multiplies of line k of a tile. */
    struct line {
        cuda_pack<U, 4> a[2], b[2];
    };
    static __device__ inline line line_of(const product_tile<product_units> &tile, int k)
    {
        return {{tile.a[k][y()], tile.a[k][ROWS / 8 + y()]}, {tile.b[k][x()], tile.b[k][PRODUCT_COLUMNS / 8 + x()]}};
    }

    /* A multiplier gets how many rows and columns of the tile there are: this one does all. While a line is multiplied
     * the next one is on its way. */
    static __device__ inline void multiply(const product_tile<product_units> &tile, int32_t, int32_t, U (&sums)[R][C])
    {
        line lines[2] = {line_of(tile, 0)};
#pragma unroll
        for (int k = 0; k < DEPTH; k++) {
            const line &l = lines[k % 2];
            if (k + 1 < DEPTH) lines[(k + 1) % 2] = line_of(tile, k + 1);
#pragma unroll
            for (int r = 0; r < R; r++)
#pragma unroll
                for (int c = 0; c < C; c++) sums[r][c] += l.a[r / 4].v[r % 4] * l.b[c / 4].v[c % 4];
        }
    }
};

/* Four numbers side by side; zeros where there is nothing. */
template <typename T>
static __device__ inline void product_load(const T *from, bool there, cuda_pack<cuda_real<T>, 4> *to)
{
    cuda_pack<T, 4> pack = {};
    if (there) pack = *reinterpret_cast<const cuda_pack<T, 4> *>(from);
#pragma unroll
    for (int e = 0; e < 4; e++) to->v[e] = cuda_load(pack.v[e]);
}

/* e times so many bytes further: in one instruction, where an index of elements takes three. */
template <typename T> static __device__ inline const T *product_line(const T *from, uint32_t bytes, int e)
{
    return reinterpret_cast<const T *>(reinterpret_cast<const char *>(from) + static_cast<uint64_t>(bytes) * e);
}

/* Result e of all parts, in their order. */
template <typename U> static __device__ inline U product_sum(const U *parts, int32_t results, int32_t splits, int32_t e)
{
    U sum = 0;
#pragma unroll 4
    for (int32_t i = 0; i < splits; i++) sum += parts[(int64_t)i * results + e];
    return sum;
}

#endif
