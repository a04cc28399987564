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
#include "impl_cuda_tensor/direct.h"
#include "impl_cuda_tensor/finish.h"

namespace
{

enum { FOURS = DIRECT_SIDE * DIRECT_SIDE / 4 }; /* of a tile's sums, of four rows each */

/* Where element e lies. */
__device__ inline int32_t place_on(const cutensor_axis &a, int32_t e)
{
    if (!a.pixels) return e * a.step;
    int32_t n = e, p = cuda_split(&n, a.by_plane);
    const int32_t q = cuda_split(&p, a.by_wide);
    return n * a.image + p * a.line + q * a.step;
}

/* A lane's part of a factor: [row][k]. */
typedef uint32_t direct_words[4][4];

__device__ inline void load_four(const float *from, bool there, uint32_t (&to)[4])
{
    float4 four = {0, 0, 0, 0};
    if (there) four = *reinterpret_cast<const float4 *>(from);
    to[0] = __float_as_uint(four.x);
    to[1] = __float_as_uint(four.y);
    to[2] = __float_as_uint(four.z);
    to[3] = __float_as_uint(four.w);
}

/* What a lane reads of a factor, from k on: the next step's, at its rows. Rows that the tile has more than the factor
 * are the last one again: what comes out of them is stored nowhere. */
template <int WAY> struct direct_reader {
    static constexpr bool BY_ROW = WAY == CUTENSOR_ALONG_K || WAY == CUTENSOR_ONE_BY_ONE; /* a place for each row, */
    static constexpr bool BY_K = WAY == CUTENSOR_ALONG_K || WAY == CUTENSOR_ALONG_ROWS;   /* that goes on with k */
    static constexpr int PLACES = BY_ROW ? 4 : 1;
    const cutensor_factor &f;
    int32_t k;
    const float *at[PLACES];

    __device__ direct_reader(const cutensor_factor &factor, const float *from, int32_t row, int32_t first)
        : f(factor), k(first)
    {
        const int32_t last = f.rows.count - (BY_ROW ? 1 : 4);
        from += BY_K ? k * f.k.step : 0;
        if (f.rows.pixels) { /* one question, not four */
#pragma unroll
            for (int j = 0; j < PLACES; j++) at[j] = from + place_on(f.rows, min(row + j, last));
        } else {
#pragma unroll
            for (int j = 0; j < PLACES; j++) at[j] = from + min(row + j, last) * f.rows.step;
        }
    }

    /* LAST: of a step with fewer than 16 k: zeros are the others. */
    template <bool LAST> __device__ void load_column(int i, uint32_t (&to)[4]) const
    {
        const bool there = !LAST || k + i < f.k.count;
        const int32_t further = BY_K ? i * f.k.step : place_on(f.k, k + i);
        if constexpr (BY_ROW) {
#pragma unroll
            for (int j = 0; j < 4; j++) to[j] = there ? __float_as_uint(at[j][further]) : 0;
        } else {
            load_four(at[0] + further, there, to);
        }
    }

    template <bool LAST> __device__ void load(direct_words &to)
    {
        if constexpr (WAY == CUTENSOR_ALONG_K) {
#pragma unroll
            for (int j = 0; j < 4; j++) load_four(at[j], !LAST || k < f.k.count, to[j]);
        } else {
#pragma unroll
            for (int i = 0; i < 4; i++) {
                uint32_t column[4];
                load_column<LAST>(i, column);
#pragma unroll
                for (int j = 0; j < 4; j++) to[j][i] = column[j];
            }
        }
        k += DIRECT_STEP;
        if (BY_K) {
#pragma unroll
            for (int j = 0; j < PLACES; j++) at[j] += DIRECT_STEP * (WAY == CUTENSOR_ALONG_K ? 1 : f.k.step);
        }
    }
};

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

typedef float direct_sums[2][4][4];

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

/* ---- Sums. In shared memory, and wherever they go, four rows of a column together: of column c, rows 4g to 4g + 3 lie
 * at c*8 + g, but that the lanes that write or read at once find different banks. */

__device__ inline int32_t kept_at(int32_t column, int32_t g)
{
    return column * 8 + (g ^ (column / 8 * 2) ^ column % 8);
}

/* Lane 4g + t has, of rows 4g to 4g + 3, columns 8t to 8t + 7: mma.h. */
__device__ inline void keep(const direct_sums &sum, float4 *kept)
{
    const int32_t g = static_cast<int32_t>(threadIdx.x % 32 / 4), t = static_cast<int32_t>(threadIdx.x % 4);
#pragma unroll
    for (int n = 0; n < 4; n++)
#pragma unroll
        for (int q = 0; q < 2; q++)
            kept[kept_at(4 * (2 * t + q) + n, g)] = {sum[0][n][q], sum[0][n][2 + q], sum[1][n][q], sum[1][n][2 + q]};
}

/* Of the four sums that a thread takes in its turn, which column and rows. Neighbours take rows where these are
 * neighbours in memory, else columns. */
struct direct_place {
    int32_t column, g;
};
__device__ inline direct_place place_of(const cutensor_direct &d, int32_t e)
{
    const uint32_t i = static_cast<uint32_t>(e), row = d.row_step == 1 ? i % 8 : i / DIRECT_SIDE;
    return {static_cast<int32_t>(d.row_step == 1 ? i / 8 : i % DIRECT_SIDE), static_cast<int32_t>(row)};
}

__device__ inline void add_four(float (&sum)[4], const float4 &four)
{
    sum[0] += four.x;
    sum[1] += four.y;
    sum[2] += four.z;
    sum[3] += four.w;
}

/* Four rows of a column, what is added to them there, and the activation. */
__device__ inline void store(const cutensor_direct &d, const cutensor_finish &finish, float *to, int32_t rows,
                             float (&sum)[4])
{
    if (d.fours) {
        if (finish.adds != 0) add_four(sum, *reinterpret_cast<const float4 *>(added_to(finish, to)));
        activate(finish, sum);
        *reinterpret_cast<float4 *>(to) = {sum[0], sum[1], sum[2], sum[3]};
        return;
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
        if (finish.adds != 0 && i < rows) sum[i] += *added_to(finish, to + i * d.row_step);
    activate(finish, sum);
#pragma unroll
    for (int i = 0; i < 4; i++)
        if (i < rows) to[i * d.row_step] = sum[i];
}

__device__ inline void put(const cutensor_direct &d, const cutensor_factors &f, int32_t row, int32_t column,
                           float (&sum)[4])
{
    const int32_t rows = d.a.rows.count - row;
    if (rows <= 0 || column >= d.columns.count) return;
    float *to = f.out + place_on(d.columns, column) + row * d.row_step;
#pragma unroll
    for (int i = 0; i < 4; i++)
        if (d.has_bias && i < rows) sum[i] += f.bias[row + i];
    store(d, f.finish, to, rows, sum);
    if (d.cell_high == 0) return;
    int32_t n = column, p = cuda_split(&n, d.columns.by_plane);
    const int32_t q = cuda_split(&p, d.columns.by_wide);
    for (int32_t i = 0; i < d.cell_high && p * d.cell_high + i < d.out_high; i++)
        for (int32_t j = 0; j < d.cell_wide && q * d.cell_wide + j < d.out_wide; j++) {
            float none[4] = {};
            if (i + j > 0) store(d, f.finish, to + i * d.down + j * d.right, rows, none);
        }
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
