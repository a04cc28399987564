/* direct.cu: one tap of f32 where there is little to compute: no tile is laid out, in no memory.
 *
 * The other kernels want weights as tiles, which another launch lays out first. Of few pixels that costs more than the
 * product: 2048 by 512 weights are 4 MB, which are read, written and read again. Here each warp reads both factors
 * into registers, where mma.sync multiplies them (harness/cuda/mma.h), without a barrier: the lanes of a warp hold 32
 * rows and 32 columns at 16 k. Which k a product's place stands for is free, as long as both factors agree, and so are
 * rows and columns. So lane 4*g + t has rows 4g to 4g + 3 at k 4t to 4t + 3: 16 numbers, four of which are read at
 * once, whichever way they lie.
 * The warps of a block, and of a cluster's blocks, share the steps of one tile, and add up their sums through shared
 * memory, in a fixed order. */
#include "harness/cuda/cluster.h"
#include "harness/cuda/mma.h"
#include "impl_cuda_tensor/direct_load.h"
#include "impl_cuda_tensor/direct_store.h"

namespace
{

enum { FOURS = DIRECT_SIDE * DIRECT_SIDE / 4 }; /* of a tile's sums, of four rows each */

/* A step's numbers as the tensor cores take them. */
template <int PARTS> struct direct_step {
    direct_words high[2], low[2]; /* of a, of b; low: of two parts */

    __device__ void take(const direct_words (&v)[2])
    {
#pragma unroll
        for (int i = 0; i < 32; i++) {
            const uint32_t word = v[i / 16][i / 4 % 4][i % 4];
            high[i / 16][i / 4 % 4][i % 4] = high_part(word);
            if constexpr (PARTS == 2) low[i / 16][i / 4 % 4][i % 4] = low_part(word);
        }
    }
};

/* ---- Products. Of 16 rows, those are rows 0 and 1 of each four, or 2 and 3; of 8 columns, one of each four. */

/* Half of the step's k: its first or second two of each four. */
__device__ inline void multiply_half(const direct_words &a, const direct_words &b, int half, direct_sums &sum)
{
#pragma unroll
    for (int m = 0; m < 2; m++)
#pragma unroll
        for (int n = 0; n < 4; n++) {
            const uint32_t rows[4] = {a[2 * m][2 * half], a[2 * m + 1][2 * half], a[2 * m][2 * half + 1],
                                      a[2 * m + 1][2 * half + 1]};
            const uint32_t columns[2] = {b[n][2 * half], b[n][2 * half + 1]};
            cuda_mma(float{}, sum[m][n], rows, columns);
        }
}

/* Of f32 a step is a sum of its own, the small products first, which is added with rounding: docs/conv_ladder.md. */
template <int PARTS> __device__ inline void multiply(const direct_step<PARTS> &s, direct_sums &sum)
{
    if constexpr (PARTS == 1) {
#pragma unroll
        for (int half = 0; half < 2; half++) multiply_half(s.high[0], s.high[1], half, sum);
    } else {
        direct_sums step = {};
#pragma unroll
        for (int half = 0; half < 2; half++) multiply_half(s.low[0], s.high[1], half, step);
#pragma unroll
        for (int half = 0; half < 2; half++) multiply_half(s.high[0], s.low[1], half, step);
#pragma unroll
        for (int half = 0; half < 2; half++) multiply_half(s.high[0], s.high[1], half, step);
#pragma unroll
        for (int i = 0; i < 32; i++) sum[i / 16][i / 4 % 4][i % 4] += step[i / 16][i / 4 % 4][i % 4];
    }
}

/* The warp's share of the tile's steps, of which AHEAD are on their way; and, where k is no multiple of 16, what is
 * left of it: the last warp's. */
template <int PARTS, int AHEAD, int A, int B>
__device__ inline void add_steps(const cutensor_direct &d, const cutensor_factors &f, int32_t row, int32_t column,
                                 int32_t unit, direct_sums &sum)
{
    const int32_t g = static_cast<int32_t>(threadIdx.x % 32 / 4), t = static_cast<int32_t>(threadIdx.x % 4);
    const int32_t steps = d.steps; /* whole ones */
    const int32_t begin = steps * unit >> d.log_units, end = steps * (unit + 1) >> d.log_units;
    direct_reader<A> a(d.a, f.a, row + 4 * g, begin * DIRECT_STEP + 4 * t);
    direct_reader<B> b(d.b, f.b, column + 4 * g, begin * DIRECT_STEP + 4 * t);
    direct_words ahead[AHEAD][2] = {};
    direct_step<PARTS> now;
#pragma unroll
    for (int i = 0; i < AHEAD; i++) {
        if (begin + i >= end) break;
        a.template load<false>(ahead[i][0]);
        b.template load<false>(ahead[i][1]);
    }
    for (int32_t step = begin; step < end; step += AHEAD) {
#pragma unroll
        for (int i = 0; i < AHEAD; i++) {
            if (step + i >= end) break;
            now.take(ahead[i]);
            if (step + i + AHEAD < end) {
                a.template load<false>(ahead[i][0]);
                b.template load<false>(ahead[i][1]);
            }
            multiply<PARTS>(now, sum);
        }
    }
    if (!d.has_rest || unit + 1 < 1 << d.log_units) return;
    a.template load<true>(ahead[0][0]);
    b.template load<true>(ahead[0][1]);
    now.take(ahead[0]);
    multiply<PARTS>(now, sum);
}

template <int PARTS, int AHEAD, int A, int B>
__global__ void __launch_bounds__(DIRECT_WARPS * 32, PARTS == 1 && AHEAD == 1 ? 2 : 1)
    direct(const cutensor_direct d, const cutensor_factors f)
{
    CUDA_DYNAMIC_SHARED(float4, kept);
    const int32_t thread = static_cast<int32_t>(threadIdx.x), threads = d.warps * 32;
    const int32_t warp = static_cast<int32_t>(threadIdx.x / 32);
    const int32_t rank = static_cast<int32_t>(blockIdx.x) & (d.splits - 1);
    const int32_t row = static_cast<int32_t>(blockIdx.y) * DIRECT_SIDE;
    const int32_t column = (static_cast<int32_t>(blockIdx.x) >> d.log_splits) * DIRECT_SIDE;
    direct_sums sum = {};
    add_steps<PARTS, AHEAD, A, B>(d, f, row, column, rank * d.warps + warp, sum);
    keep(sum, kept + warp * FOURS);
    __syncthreads();
#pragma unroll 1
    for (int32_t e = thread; e < FOURS; e += threads) { /* the block's warps' */
        const direct_place at = place_of(d, e);
        float4 *const own = &kept[kept_at(at.column, at.g)];
        float all[4] = {};
#pragma unroll
        for (int32_t w = 0; w < DIRECT_WARPS; w++)
            if (w < d.warps) add_four(all, own[w * FOURS]);
        *own = {all[0], all[1], all[2], all[3]};
    }
    if (d.splits > 1) cuda_cluster_barrier();
    const int32_t share = FOURS >> d.log_splits; /* of the cluster's sums; alone, a thread has those it has just put */
#pragma unroll 1
    for (int32_t e = rank * share + thread; e < (rank + 1) * share; e += threads) {
        const direct_place at = place_of(d, e);
        const float4 *const own = &kept[kept_at(at.column, at.g)];
        float all[4] = {};
        if (d.splits == 1) {
            add_four(all, *own);
        } else {
#pragma unroll
            for (int32_t other = 0; other < DIRECT_SPLITS; other++)
                if (other < d.splits) add_four(all, *cuda_cluster_peer(own, other));
        }
        put(d, f, row + 4 * at.g, column + at.column, all);
    }
    if (d.splits > 1) cuda_cluster_leave();
}

typedef void kernel(const cutensor_direct, const cutensor_factors);
template <int PARTS, int AHEAD> kernel *kernel_of(const cutensor_direct *d)
{
    switch (d->a.way * CUTENSOR_WAYS + d->b.way) {
#define WAYS(A, B)                                                                                                     \
    case CUTENSOR_##A *CUTENSOR_WAYS + CUTENSOR_##B:                                                                   \
        return direct<PARTS, AHEAD, CUTENSOR_##A, CUTENSOR_##B>;
#include "impl_cuda_tensor/direct_ways.inc"
#undef WAYS
    default:
        return nullptr; /* the plan takes none but these */
    }
}

} // namespace

cnn_status cutensor_direct_run(cuda_context *c, const cutensor_direct *d, const cutensor_factors *f, cnn_error *err)
{
    const dim3 grid(static_cast<unsigned>(d->across * d->splits), static_cast<unsigned>(d->down_tiles));
    const size_t bytes = static_cast<size_t>(d->warps) * FOURS * sizeof(float4);
    cuda_shape shape = {"direct", grid, dim3(static_cast<unsigned>(d->warps * 32)), bytes};
    shape.cluster = static_cast<unsigned>(d->splits);
    kernel *const one = d->ahead == 2 ? kernel_of<1, 2>(d) : kernel_of<1, 1>(d);
    kernel *const two = d->ahead == 2 ? kernel_of<2, 2>(d) : kernel_of<2, 1>(d);
    return cuda_launch(c, shape, err, d->parts == 1 ? one : two, *d, *f);
}
