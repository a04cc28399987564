/* gradient_boxes.cu: BWD_W of f32 kernels as a product of matrices
 * dw[oc][ic, tap] = sum over pixels of dy[pixel][oc] * x[pixel of the tap][ic]:
 * of one tap that stands where its output pixel does, and in NHWC of all others whose channels are in fours.
 *
 * Idea: gradient.cu copies 4 bytes a thread where pixels lie side by side (NCHW), and both factors pass through it one
 * tap at a time. Here a few threads name boxes of 32 pixels, which the hardware copies, as in forward_boxes.cu. wgmma
 * takes TF32 along its rows only, and both factors' sums go over pixels. So the factor with more channels (A) passes
 * through registers, and four warps lay out the other one (B), in its two parts, which both warpgroups then share.
 *
 * Work: a tile is HIGH channels of A by WIDE of B. Of x those of all taps stand side by side, tap by tap. Blocks share
 * its pixels, and add_splits() adds up what they leave, in order: the same bits in every run. */
#include "impl_cuda_tensor/forward_step.h"
#include "impl_cuda_tensor/gradient_boxes_load.h"
#include "impl_cuda_tensor/tap_sums.h"

namespace
{

/* ---- A: a thread's rows, as channels of the tile. U: products of 64 rows of a warpgroup. */

/* Row lane/4 + 8*h of the warp's 16, of product u. ROWS: a thread's rows are neighbours, which it reads together.
 * PLANES: threads that read together have every other channel, so that they meet at no bank. */
template <int SOURCE, int U> __device__ inline int32_t channel_of(const lane_place &l, int32_t u, int32_t h)
{
    const int32_t g = static_cast<int32_t>(threadIdx.x >> 2 & 7);
    if constexpr (SOURCE == CUTENSOR_ROWS) return ((l.warpgroup * 4 + l.warp) * 8 + g) * 2 * U + 2 * u + h;
    return (l.warpgroup * U + u) * 64 + l.warp * 16 + h * 8 + (g < 4 ? 2 * g : 2 * g - 7);
}

/* 32 pixels, as A of four products: of each 8 pixels thread t has 2t and the next. */
template <int SOURCE, int U>
__device__ inline void load_channels(uint32_t (&a)[U][16], uint32_t boxes, const lane_place &l)
{
    if constexpr (SOURCE == CUTENSOR_PLANES) {
#pragma unroll
        for (int32_t i = 0; i < U * 2 * 4; i++) {
            const int32_t u = i >> 3, h = i >> 2 & 1, j = i & 3, row = channel_of<SOURCE, U>(l, u, h);
            const int32_t place = (2 * j + (l.t >> 1)) ^ (row & 7);
            load2(a[u][4 * j + h], a[u][4 * j + 2 + h],
                  boxes + static_cast<uint32_t>(row * 128 + place * 16 + (l.t & 1) * 8));
        }
    } else {
        const int32_t first = channel_of<SOURCE, U>(l, 0, 0);
        const uint32_t turn = static_cast<uint32_t>((first >> 2 & 7) ^ (2 * l.t)) << 4;
        const uint32_t row = boxes + static_cast<uint32_t>((first >> 5) * 4096 + (first & 3) * 4 + l.t * 256);
#pragma unroll
        for (int32_t i = 0; i < 8; i++) {
            const uint32_t next = static_cast<uint32_t>(i & 1);
            uint32_t v[2 * U];
            load_words(v, row + static_cast<uint32_t>((i >> 1) * 1024) + next * 128 + (turn ^ next << 4));
#pragma unroll
            for (int32_t k = 0; k < 2 * U; k++) a[k >> 1][4 * (i >> 1) + 2 * (i & 1) + (k & 1)] = v[k];
        }
    }
}

/* Where A is dy, and the block has B's first channels: sums of a thread's rows for the bias. */
template <int SOURCE, int U> struct bias_sums {
    bool wanted;
    float sum[2 * U];

    __device__ inline void begin(bool wants)
    {
        wanted = wants;
#pragma unroll
        for (int r = 0; r < 2 * U; r++) sum[r] = 0;
    }
    /* A's numbers as load_channels() left them. */
    __device__ inline void add(const uint32_t (&a)[U][16])
    {
        if (!wanted) return;
#pragma unroll
        for (int r = 0; r < 2 * U; r++) {
            uint32_t v[8];
#pragma unroll
            for (int i = 0; i < 8; i++) v[i] = a[r >> 1][2 * i + (r & 1)];
            sum[r] += sum_of_eight(v);
        }
    }
    /* Of four threads. */
    __device__ inline void store(const cutensor_product &g, const product_block &b, const lane_place &l, float *bias)
    {
        if (!wanted) return;
#pragma unroll
        for (int r = 0; r < 2 * U; r++) {
            float all = sum[r] + __shfl_xor_sync(0xffffffffu, sum[r], 1);
            all += __shfl_xor_sync(0xffffffffu, all, 2);
            const int32_t m = b.m + channel_of<SOURCE, U>(l, r >> 1, r & 1);
            if (l.t == 0 && m < g.m) bias[static_cast<size_t>(b.split) * static_cast<size_t>(g.bias_row) + m] = all;
        }
    }
};

/* ---- Two warpgroups that multiply */

template <int SOURCE, int PARTS, int U, int WIDE> struct product_walk {
    static constexpr int32_t STEP = (U * 128 + WIDE) * CUTENSOR_ROW_BYTES, TILE = WIDE * CUTENSOR_ROW_BYTES * PARTS;
    ring_place ring, tile;
    bias_sums<SOURCE, U> bias;

    __device__ inline void begin(bool sums_bias)
    {
        ring = tile = {0, 0};
        bias.begin(sums_bias);
    }
    /* This step's A; then its tile of B is there. */
    __device__ inline void load(const product_block &b, const lane_place &l, uint32_t (&a)[U][16])
    {
        barrier_wait(b.full + 8 * ring.at, ring.parity);
        load_channels<SOURCE, U>(a, b.steps + static_cast<uint32_t>(ring.at * STEP), l);
        bias.add(a);
        barrier_wait(b.tile_full + 8 * tile.at, tile.parity);
    }
    /* Its boxes are free: behind the first use of what load() read, for until then a read may be under way, and the
     * next boxes come by another path to memory. */
    __device__ inline void free_boxes(const product_block &b)
    {
        __syncwarp();
        if ((threadIdx.x & 31) == 0) barrier_arrive(b.free + 8 * ring.at);
    }
    __device__ inline uint64_t descriptor(const product_block &b) const
    {
        return tile_descriptor(b.tiles + static_cast<uint32_t>(tile.at * TILE));
    }
    __device__ inline void next(int32_t depth)
    {
        ring.next(depth);
        tile.next(PRODUCT_TILES);
    }
};

template <int SOURCE, int U, int WIDE>
__device__ inline void multiply_f32(const cutensor_product &g, const product_block &b, const lane_place &l,
                                    product_walk<SOURCE, 2, U, WIDE> &walk, float (&sum)[U * WIDE / 2])
{
#pragma unroll
    for (int i = 0; i < U * WIDE / 2; i++) sum[i] = 0;
    for (int32_t step = b.first; step < b.last; step++) {
        const auto load = [&](int u, uint32_t(&a)[U][16]) {
            if (u == 0) walk.load(b, l, a);
        };
        add_products_f32<U, WIDE>(load, walk.descriptor(b), sum);
        walk.free_boxes(b);
        if ((threadIdx.x & 31) == 0) barrier_arrive(b.tile_free + 8 * walk.tile.at);
        walk.next(g.depth);
    }
}

/* TF32: the next pixels are read while the products of the last ones run. */
template <int SOURCE, int U, int WIDE>
__device__ inline void multiply_once(const cutensor_product &g, const product_block &b, const lane_place &l,
                                     product_walk<SOURCE, 1, U, WIDE> &walk, float (&sum)[U * WIDE / 2])
{
    constexpr int N = WIDE / 2;
    under_way<U, WIDE> all;
    all.begin();
    uint32_t before = 0;
    for (int32_t step = b.first; step < b.last; step++) {
        uint32_t next[U][16];
        walk.load(b, l, next);
        all.end();
        if (step > b.first && (threadIdx.x & 31) == 0) barrier_arrive(before);
        all.add(next, walk.descriptor(b));
        walk.free_boxes(b);
        before = b.tile_free + 8 * walk.tile.at;
        walk.next(g.depth);
    }
    all.end();
#pragma unroll
    for (int i = 0; i < U * N; i++) sum[i] = all.sum[i / N][i % N];
}

/* ---- Sums as dw */

/* 32 neighbours of x's channels, from this one on: where in the sums, [tap][oc][ic], their first stands in row 0, and
 * how many of them there are. */
struct x_place {
    int32_t at, left;
};
__device__ inline x_place place_of_x(const cutensor_product &g, int32_t first)
{
    const int32_t box = first / CUTENSOR_BOX_PIXELS, tap = divided(box, g.by_boxes);
    const int32_t channel = (box - tap * g.by_boxes.d) * CUTENSOR_BOX_PIXELS;
    return {tap * g.oc * g.ic + channel, tap < g.taps ? g.ic - channel : 0};
}

/* A's channels are dw's rows: two neighbours of a row a store. */
template <int SOURCE, int U, int WIDE>
__device__ inline void store_rows_of_a(const cutensor_product &g, const product_block &b, const lane_place &l,
                                       float *dw, const float (&sum)[U * WIDE / 2])
{
#pragma unroll
    for (int k = 0; k < WIDE / 32; k++) {
        const x_place x = place_of_x(g, b.n + 32 * k);
#pragma unroll
        for (int r = 0; r < 2 * U; r++) {
            const int32_t m = b.m + channel_of<SOURCE, U>(l, r >> 1, r & 1);
            float *row = dw + static_cast<size_t>(m < g.m ? m : 0) * static_cast<size_t>(g.ic) + x.at;
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const int32_t n = 8 * i + 2 * l.t;
                if (m < g.m && n < x.left)
                    store_global<2>(row + n, &sum[(r >> 1) * WIDE / 2 + 4 * (4 * k + i) + 2 * (r & 1)]);
            }
        }
    }
}

/* A's channels are dw's columns: ROWS: a thread's rows are neighbours there; PLANES: those of 8 threads are. */
template <int SOURCE, int U, int WIDE>
__device__ inline void store_columns_of_a(const cutensor_product &g, const product_block &b, const lane_place &l,
                                          float *dw, const float (&sum)[U * WIDE / 2])
{
    int32_t at[2 * U]; /* in a row of dw; -1: there is none */
#pragma unroll
    for (int r = 0; r < 2 * U; r++) {
        const int32_t m = b.m + channel_of<SOURCE, U>(l, r >> 1, r & 1), of_box = m % CUTENSOR_BOX_PIXELS;
        const x_place x = place_of_x(g, m - of_box);
        at[r] = of_box < x.left ? x.at + of_box : -1;
    }
#pragma unroll
    for (int i = 0; i < WIDE / 4; i++) {
        const int32_t n = b.n + 8 * (i >> 1) + 2 * l.t + (i & 1);
        float *row = dw + static_cast<size_t>(n < g.n ? n : 0) * static_cast<size_t>(g.ic);
        float v[2 * U];
#pragma unroll
        for (int r = 0; r < 2 * U; r++) v[r] = sum[(r >> 1) * WIDE / 2 + 4 * (i >> 1) + 2 * (r & 1) + (i & 1)];
        if constexpr (SOURCE == CUTENSOR_ROWS) {
            if (n < g.n && at[0] >= 0) store_global<2 * U>(row + at[0], v);
        } else {
#pragma unroll
            for (int r = 0; r < 2 * U; r++)
                if (n < g.n && at[r] >= 0) row[at[r]] = v[r];
        }
    }
}

template <int SOURCE, int PARTS, int U, int WIDE>
__device__ inline void multiply_product(const cutensor_product &g, const product_block &b, float *partials, float *bias)
{
    const lane_place l = lane_of(static_cast<int32_t>(threadIdx.x));
    const size_t sums = static_cast<size_t>(g.taps) * static_cast<size_t>(g.oc) * static_cast<size_t>(g.ic);
    float *dw = partials + static_cast<size_t>(b.split) * sums;
    product_walk<SOURCE, PARTS, U, WIDE> walk;
    float sum[U * WIDE / 2];
    walk.begin(bias != nullptr && !g.a_is_x && b.n == 0);
    if constexpr (PARTS == 2)
        multiply_f32<SOURCE, U, WIDE>(g, b, l, walk, sum);
    else
        multiply_once<SOURCE, U, WIDE>(g, b, l, walk, sum);
    walk.bias.store(g, b, l, bias);
    if (g.a_is_x)
        store_columns_of_a<SOURCE, U, WIDE>(g, b, l, dw, sum);
    else
        store_rows_of_a<SOURCE, U, WIDE>(g, b, l, dw, sum);
}

template <int SOURCE, int PARTS, int U, int WIDE>
__global__ void __launch_bounds__(PRODUCT_THREADS, 1)
    gradient_of_boxes(const cutensor_product g, const __grid_constant__ tensor_map map_a,
                      const __grid_constant__ tensor_map map_b, float *partials, float *bias)
{
    const product_block b = open_product<SOURCE, PARTS, U * 128, WIDE>(g);
    const int32_t thread = static_cast<int32_t>(threadIdx.x);
    if (thread < PRODUCT_MULTIPLIERS) {
        REGISTERS_MORE(208);
        multiply_product<SOURCE, PARTS, U, WIDE>(g, b, partials, bias);
    } else if (thread < PRODUCT_LOADER) {
        REGISTERS_LESS(64);
        make_tiles<SOURCE, PARTS, U * 128, WIDE>(g, b, thread - PRODUCT_MULTIPLIERS, bias);
    } else {
        REGISTERS_LESS(32);
        const int32_t warp = (thread - PRODUCT_LOADER) / 32;
        if ((thread & 31) == 0 && warp < step_boxes<SOURCE, U * 128, WIDE>::WARPS)
            load_pixels<SOURCE, U * 128, WIDE>(g, b, warp, map_a, map_b);
    }
    next_may_start();
}

/* ---- Launching */

/* Channels of a tensor, and of a box of planes. */
struct factor_channels {
    int32_t all, box;
};
cnn_status map_factor(const cutensor_product &g, const void *factor, bool is_x, const factor_channels &channels,
                      tensor_map *map, cnn_error *err)
{
    const tensor_sizes rows = {1, 1, g.plane, 2 * channels.all}, planes = {1, g.images, channels.all, 2 * g.plane};
    if (g.source == CUTENSOR_PLANES) return map_images(factor, &planes, channels.box, map, err);
    if (g.source == CUTENSOR_ROWS || !is_x) return map_images(factor, &rows, CUTENSOR_BOX_PIXELS, map, err);
    const tensor_taps taps = {{g.plane / g.window.by_plane.d, g.window.ih, g.window.iw, 2 * g.ic},
                              &g.window,
                              2 * g.apart,
                              CUTENSOR_BOX_PIXELS};
    return map_taps(factor, &taps, map, err);
}

/* What the kernel reads, and where its sums go: to partials, or, where there are no others, to dw and db. */
struct product_operands {
    const void *a, *b;
    float *dw, *db;
};

template <int SOURCE>
cnn_status launch_product(cuda_context *c, const cutensor_product &g, const product_operands &o, cnn_error *err)
{
    const cuda_shape shape = {"gradient_of_boxes", dim3(static_cast<unsigned>(g.tiles * g.splits)),
                              dim3(PRODUCT_THREADS), static_cast<size_t>(g.shared_bytes)};
    tensor_map map_a, map_b;
    cnn_status status = map_factor(g, o.a, g.a_is_x, {g.m, g.high}, &map_a, err);
    if (status == CNN_OK) status = map_factor(g, o.b, !g.a_is_x, {g.n, g.wide}, &map_b, err);
    if (status != CNN_OK) return status;
#define TILE(PARTS, U, WIDE)                                                                                           \
    if (g.parts == PARTS && g.high == U * 128 && g.wide == WIDE)                                                       \
        return cuda_launch(c, shape, err, gradient_of_boxes<SOURCE, PARTS, U, WIDE>, g, map_a, map_b, o.dw, o.db);
#include "impl_cuda_tensor/gradient_tiles.inc"
#undef TILE
    return CNN_FAIL(err, CNN_INTERNAL, "no kernel of %d by %d channels with %d parts", g.high, g.wide, g.parts);
}

} // namespace

cnn_status cutensor_product_run(cuda_context *c, const cutensor_product *g, const cutensor_gradients *o, cnn_error *err)
{
    const int32_t count = g->taps * g->oc * g->ic;
    const bool alone = g->splits == 1 && g->taps == 1 && !o->add, sums_bias = o->db != nullptr;
    float *bias_partials = o->partials + static_cast<size_t>(g->splits) * static_cast<size_t>(count);
    float *dw_out = static_cast<float *>(o->dw), *db_out = static_cast<float *>(o->db);
    const product_operands p = {g->a_is_x ? o->x : o->dy, g->a_is_x ? o->dy : o->x, alone ? dw_out : o->partials,
                                !sums_bias ? nullptr
                                : alone    ? db_out
                                           : bias_partials};
    const cnn_status status = g->source == CUTENSOR_PLANES ? launch_product<CUTENSOR_PLANES>(c, *g, p, err)
                                                           : launch_product<CUTENSOR_ROWS>(c, *g, p, err);
    if (status != CNN_OK || alone) return status;
    const split_sums<float> dw = {o->partials, dw_out, count, count}, none = {};
    const split_sums<float> bias = {bias_partials, db_out, g->oc, g->bias_row};
    if (g->taps > 1)
        return run_tap_sums(c, dw, sums_bias ? bias : none, {g->taps, g->reversed}, g->splits, o->add, err);
    return run_splits(c, dw, sums_bias ? bias : none, g->splits, o->add, err);
}
