/* direct_store.h: where the sums of direct.cu go, through shared memory to the result (C++). In both, four rows of a
 * column lie together. */
#ifndef IMPL_CUDA_TENSOR_DIRECT_STORE_H
#define IMPL_CUDA_TENSOR_DIRECT_STORE_H

#include "impl_cuda_tensor/direct_load.h"
#include "impl_cuda_tensor/finish.h"

namespace
{

typedef float direct_sums[2][4][4]; /* a lane's: of 16 rows by 8 columns each */

/* In shared memory rows 4g to 4g + 3 of column c lie at c*8 + g, but that the lanes that write or read at once find
 * different banks. */
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

} // namespace

#endif
