/* matrix.cu: convolutions of one tap, of f16 and bf16, as products of matrices.
 *
 * Idea: such a convolution gathers nothing. Its pixels are the rows of a matrix as they lie, its weights another one,
 * and both factors of wgmma may lie in shared memory, by rows or by columns. So one thread names boxes of 64 x 64
 * numbers, which the hardware copies, swizzles and fills with zeros at the edges (bulk tensor copies); no thread
 * computes an address, no weights are laid out first, nothing passes through registers but the sums.
 *
 * FWD     y[pixel][oc] = sum over ic of x[pixel][ic] * w[oc][ic]         both factors have k along their rows
 * BWD_D   dx[pixel][ic] = sum over oc of dy[pixel][oc] * w[oc][ic]       w's k is its row
 * BWD_W   dw[oc][ic] = sum over pixels of dy[pixel][oc] * x[pixel][ic]   both factors' k are their rows
 *
 * In NCHW an image is a matrix whose rows are channels, so a product has the weights first, and there is one an image:
 *
 * FWD     y[oc][pixel] = sum over ic of w[oc][ic] * x[ic][pixel]           x's k is its row
 * BWD_D   dx[ic][pixel] = sum over oc of w[oc][ic] * dy[oc][pixel]         both factors' k are their rows
 * BWD_W   dw[oc][ic] = sum over pixels of dy[oc][pixel] * x[ic][pixel]     both have k along their rows
 *
 * Work: a block takes every so many-th tile, and loads the next one's boxes while it stores. Of BWD_W, whose tiles are
 * few, blocks share a tile's pixels, and add_splits() adds up what they leave, in order: the same bits in every run. */
#include "impl_cuda_tensor/matrix_store.h"
#include "impl_cuda_tensor/splits.h"
#include "impl_cuda_tensor/tensor_map.h"

namespace
{

/* Which of its factors have k as their rows, and which are images of planes. */
template <int DIR, bool PLANES> struct product_of {
    static constexpr bool A_ROWS = DIR == (PLANES ? CNN_BWD_D : CNN_BWD_W),
                          B_ROWS = DIR != (PLANES ? CNN_BWD_W : CNN_FWD);
    static constexpr bool A_PLANES = PLANES && DIR == CNN_BWD_W, B_PLANES = PLANES;
};

/* ---- One thread that loads */

template <bool PLANES>
__device__ inline void load_box(uint32_t to, const tensor_map &map, int32_t image, int32_t row, int32_t column,
                                uint32_t full)
{
    if constexpr (PLANES)
        copy_line(to, map, 0, image, row, column, full);
    else
        copy_box(to, map, row, column, full);
}

template <int DIR, bool PLANES, int HIGH, int WIDE>
__device__ inline void load_boxes(const cutensor_matrix &g, const block_of &b, const tensor_map &a, const tensor_map &w)
{
    typedef product_of<DIR, PLANES> is;
    ring_place ring = {0, 1};
    for (int32_t u = static_cast<int32_t>(blockIdx.x); u < g.tiles * g.splits; u += static_cast<int32_t>(gridDim.x)) {
        const tile_place at = tile_at<DIR, PLANES, HIGH, WIDE>(g, u);
        for (int32_t step = at.first; step < at.last; step++) {
            const uint32_t full = b.full + 8 * ring.at, to = b.steps + ring.at * STEP_BYTES<HIGH, WIDE>;
            const int32_t image = is::A_PLANES ? step / g.image_steps : at.image;
            const int32_t k = (is::A_PLANES ? step - image * g.image_steps : step) * MATRIX_SIDE;
            barrier_wait(b.free + 8 * ring.at, ring.parity);
            barrier_expect(full, STEP_BYTES<HIGH, WIDE>);
#pragma unroll
            for (int32_t i = 0; i < HIGH / MATRIX_SIDE; i++) {
                const int32_t m = at.m + i * MATRIX_SIDE;
                load_box<is::A_PLANES>(to + i * MATRIX_BOX, a, image, is::A_ROWS ? k : m, is::A_ROWS ? m : k, full);
            }
#pragma unroll
            for (int32_t i = 0; i < WIDE / MATRIX_SIDE; i++) {
                const int32_t n = at.n + i * MATRIX_SIDE;
                load_box<is::B_PLANES>(to + (HIGH / MATRIX_SIDE + i) * MATRIX_BOX, w, image, is::B_ROWS ? k : n,
                                       is::B_ROWS ? n : k, full);
            }
            ring.next(g.depth);
        }
    }
}

/* ---- Two warpgroups that multiply: one below the other, or side by side */

template <typename T, typename is, int N>
__device__ inline void multiply_step(float (&sum)[N], uint32_t a, uint32_t b, bool add)
{
    products_begin();
#pragma unroll
    for (int j = 0; j < 4; j++)
        if constexpr (is::A_ROWS)
            multiply_shared_rows(T(), sum, rows_descriptor(a) + 128 * j, rows_descriptor(b) + 128 * j, add || j > 0);
        else if constexpr (is::B_ROWS)
            multiply_shared_by_rows(T(), sum, tile_descriptor(a) + 2 * j, rows_descriptor(b) + 128 * j, add || j > 0);
        else
            multiply_shared(T(), sum, tile_descriptor(a) + 2 * j, tile_descriptor(b) + 2 * j, add || j > 0);
    products_commit();
}

template <typename T, typename R, int DIR, bool PLANES, int HIGH, int WIDE>
__device__ inline void multiply_tiles(const cutensor_matrix &g, const block_of &b, const cutensor_matrices &o)
{
    constexpr int COLUMNS = HIGH == 64 ? WIDE / 2 : WIDE; /* of a warpgroup */
    const int32_t warpgroup = same_in_warp(static_cast<int32_t>(threadIdx.x) >> 7);
    const bool first_lane = (threadIdx.x & 31) == 0;
    const uint32_t a = HIGH == 64 ? 0 : warpgroup * MATRIX_BOX;
    const uint32_t w =
        HIGH / MATRIX_SIDE * MATRIX_BOX + (HIGH == 64 ? warpgroup * (COLUMNS / MATRIX_SIDE) * MATRIX_BOX : 0);
    ring_place ring = {0, 0};
    for (int32_t u = static_cast<int32_t>(blockIdx.x); u < g.tiles * g.splits; u += static_cast<int32_t>(gridDim.x)) {
        tile_place at = tile_at<DIR, PLANES, HIGH, WIDE>(g, u);
        float sum[COLUMNS / 2];
        uint32_t before = 0;
        for (int32_t step = at.first; step < at.last; step++) {
            const uint32_t from = b.steps + same_in_warp(ring.at) * STEP_BYTES<HIGH, WIDE>;
            barrier_wait(b.full + 8 * ring.at, ring.parity);
            multiply_step<T, product_of<DIR, PLANES>>(sum, from + a, from + w, step > at.first);
            products_wait<1>();
            if (first_lane && step > at.first) barrier_arrive(before);
            before = b.free + 8 * ring.at;
            ring.next(g.depth);
        }
        products_wait<0>();
        pin(sum);
        if (first_lane) barrier_arrive(before);
        if (HIGH == 64)
            at.n += warpgroup * COLUMNS;
        else
            at.m += warpgroup * 64;
        if constexpr (DIR == CNN_BWD_W)
            store_partials(g, o.partials + static_cast<size_t>(at.split) * g.m * g.n, at, sum);
        else
            store_tile<R, PLANES>(g, o, at, sum);
    }
}

template <typename T, typename R, int DIR, bool PLANES, int HIGH, int WIDE>
__global__ void __launch_bounds__(MATRIX_THREADS, 1)
    matrix_product(const cutensor_matrix g, const __grid_constant__ tensor_map a, const __grid_constant__ tensor_map w,
                   const cutensor_matrices o)
{
    const block_of b = open_block<HIGH, WIDE>(g);
    if (threadIdx.x < MATRIX_MULTIPLIERS)
        multiply_tiles<T, R, DIR, PLANES, HIGH, WIDE>(g, b, o);
    else if (threadIdx.x == MATRIX_MULTIPLIERS)
        load_boxes<DIR, PLANES, HIGH, WIDE>(g, b, a, w);
    next_may_start();
}

/* ---- Launching */

struct maps {
    tensor_map a, w;
};

template <typename T, typename R, int DIR, bool PLANES>
cnn_status launch(cuda_context *c, const cutensor_matrix &g, const maps &m, const cutensor_matrices &o, cnn_error *err)
{
    const cuda_shape shape = {"matrix_product", dim3(static_cast<unsigned>(g.blocks)), dim3(MATRIX_THREADS),
                              static_cast<size_t>(matrix_shared_bytes(&g))};
    if constexpr (!PLANES || DIR == CNN_BWD_W)
        if (g.high == 128 && g.wide == 64)
            return cuda_launch(c, shape, err, matrix_product<T, R, DIR, PLANES, 128, 64>, g, m.a, m.w, o);
    if constexpr (PLANES || DIR == CNN_BWD_W) {
        if (g.high == 64 && g.wide == 128)
            return cuda_launch(c, shape, err, matrix_product<T, R, DIR, PLANES, 64, 128>, g, m.a, m.w, o);
        if (g.high == 64 && g.wide == 256)
            return cuda_launch(c, shape, err, matrix_product<T, R, DIR, PLANES, 64, 256>, g, m.a, m.w, o);
    }
    return cuda_launch(c, shape, err, matrix_product<T, R, DIR, PLANES, 128, 128>, g, m.a, m.w, o);
}

template <typename T, typename R, bool PLANES>
cnn_status launch_of(cuda_context *c, const cutensor_matrix &g, const maps &m, const cutensor_matrices &o,
                     cnn_error *err)
{
    if (g.dir == CNN_BWD_W) return launch<T, float, CNN_BWD_W, PLANES>(c, g, m, o, err);
    if (g.dir == CNN_BWD_D) return launch<T, R, CNN_BWD_D, PLANES>(c, g, m, o, err);
    return launch<T, R, CNN_FWD, PLANES>(c, g, m, o, err);
}

cnn_status map_rows(const cutensor_matrix &g, const cutensor_matrices &o, maps *m, cnn_error *err)
{
    const bool weights = g.dir == CNN_BWD_W, by_k = g.dir != CNN_FWD;
    const cnn_status status = map_matrix(o.in, weights ? g.k : g.m, weights ? g.m : g.k, &m->a, err);
    return status == CNN_OK ? map_matrix(o.other, by_k ? g.k : g.n, by_k ? g.n : g.k, &m->w, err) : status;
}

/* Images of planes are copied as images of one column, whose pixels are channels. */
cnn_status map_planes(const cutensor_matrix &g, const cutensor_matrices &o, maps *m, cnn_error *err)
{
    const bool weights = g.dir == CNN_BWD_W, by_k = g.dir == CNN_BWD_D;
    const tensor_sizes in = {1, g.images, weights ? g.m : g.k, g.plane}, other = {1, g.images, g.n, g.plane};
    const cnn_status status = map_images(o.in, &in, MATRIX_SIDE, weights ? &m->a : &m->w, err);
    if (status != CNN_OK) return status;
    return weights ? map_images(o.other, &other, MATRIX_SIDE, &m->w, err)
                   : map_matrix(o.other, by_k ? g.k : g.m, by_k ? g.m : g.k, &m->a, err);
}

template <typename T, typename R>
cnn_status run(cuda_context *c, const cutensor_matrix &g, const cutensor_matrices &o, cnn_error *err)
{
    const bool planes = g.plane > 0;
    maps m;
    cnn_status status = planes ? map_planes(g, o, &m, err) : map_rows(g, o, &m, err);
    if (status != CNN_OK) return status;
    status = planes ? launch_of<T, R, true>(c, g, m, o, err) : launch_of<T, R, false>(c, g, m, o, err);
    if (status != CNN_OK || g.dir != CNN_BWD_W) return status;
    const split_sums<R> dw = {o.partials, static_cast<R *>(o.out), g.m * g.n, g.m * g.n}, none = {};
    return run_splits(c, dw, none, g.splits, g.add != 0, err);
}

} // namespace

cnn_status cutensor_matrix_run(cuda_context *c, const cutensor_matrix *g, cnn_dtype dtype, const cutensor_matrices *o,
                               cnn_error *err)
{
    switch (dtype) {
    case CNN_F16:
        return run<__half, __half>(c, *g, *o, err);
    case CNN_BF16:
        return run<__nv_bfloat16, __nv_bfloat16>(c, *g, *o, err);
    case CNN_F16_F16_F32:
        return run<__half, float>(c, *g, *o, err);
    default:
        return run<__nv_bfloat16, float>(c, *g, *o, err);
    }
}
