/* product.h: versions 5 and 6: convolutions as products of matrices that are never stored (implicit GEMM, C++).
 *
 *   FWD    y  [pixels x oc]       = x under each tap  [pixels x (taps, ic)]  * w   [(taps, ic) x oc]
 *   BWD_D  dx [pixels x ic]       = dy under each tap [pixels x (taps, oc)]  * w   [(taps, oc) x ic]
 *   BWD_W  dw [oc x (taps, ic)]   = dy                [oc x pixels]          * x   [pixels x (taps, ic)]
 *
 * A block computes ROWS x 64 results with ROWS threads, of which each has 64 in registers. Of the sum's axis it takes
 * 64 bytes at a time, DEPTH numbers: one step. While it multiplies what one half of the shared memory holds, the next
 * step's numbers are on their way to registers, and go to the other half: so a step has one barrier, and no thread
 * waits for memory. Version 5 multiplies by ordinary units (product_units.h), version 6 by tensor cores
 * (product_cores.h).
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
    bool by_columns;           /* weights are laid out column by column, for version 6 */
    bool packs;                /* what is read lies in packs, one channel behind the other */
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
/* Numbers of a step, and those that a thread loads at once where they lie side by side, of so many bytes each. */
static __host__ __device__ constexpr int32_t product_depth(int64_t elem) { return (int32_t)(64 / elem); }
static __host__ __device__ constexpr int32_t product_pack(int64_t elem) { return elem == 2 ? 8 : 4; }

struct product_choice {
    int32_t rows, splits;
};

/* Threads a multiprocessor, where a thread has up to 168 registers, and up to 255. */
enum { PRODUCT_THREADS = 384, PRODUCT_THREADS_FEW = 256 };

/* product_choice.cu: of so many tiles, by rows of 64 or 128, and steps; `part`: bytes of a part, of which the
 * workspace holds `room`; `threads` a multiprocessor. */
struct product_size {
    int64_t tiles_64, tiles_128, steps, part, room, threads;
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

/* Numbers side by side; zeros where there is nothing. */
template <typename T, int N> static __device__ inline void product_load(const T *from, bool there, cuda_pack<T, N> *to)
{
    /* By words: the compiler takes a pack of 16 bits apart. */
    typedef cuda_pack<uint32_t, (int)(N * sizeof(T) / 4)> words;
    words w = {};
    if (there) w = *reinterpret_cast<const words *>(from);
    memcpy(to, &w, sizeof w);
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
