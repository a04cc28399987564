/* gradient_half.cu: BWD_W of f16 and bf16: gradient.cu's work with other loads.
 *
 * Idea: wgmma takes the second factor of 16 bits from shared memory in either order. So in NHWC dy goes there as it
 * lies, 16 bytes at a time, rows of 64 channels; in NCHW as rows of 64 pixels. x's pixels, which are the columns of A,
 * are transposed on their way from a patch into registers (ldmatrix). Nothing is split, nothing rounded.
 *
 * Sums: a block's stay in the tensor cores; clusters and sum.cu add them up, as gradient.cu's. */
#include "impl_cuda_tensor/gradient_load.h"

namespace
{

enum { STEP_BYTES = GRADIENT_SIDE * 128, STEP_PIXELS = 64 };

/* ---- Two warps that load dy; `part`: which of them */

/* Rows of 64 channels, a pixel each; a warp takes 32 pixels. Four rows at a time, 16 bytes a lane. */
template <typename T>
__device__ inline void load_dy_rows(const cutensor_gradient &g, const T *dy, uint32_t to, int32_t k, int32_t pixel,
                                    int32_t end, int32_t part)
{
    const int32_t lane = static_cast<int32_t>(threadIdx.x & 31), place = lane & 7;
    const bool inside = k + 8 * place < g.group_oc;
    const T *from = dy + (k + 8 * place);
#pragma unroll
    for (int32_t i = 0; i < 8; i++) {
        const int32_t row = part * 32 + 4 * i + (lane >> 3);
        const bool there = inside && pixel + row < end;
        copy16(to + static_cast<uint32_t>(row * 128 + ((place ^ (row & 7)) << 4)),
               there ? from + (pixel + row) * g.dy_pixel : dy, there ? 16 : 0);
    }
}

/* The same word by word, where channels do not lie in eights. */
template <typename T>
__device__ inline void load_dy_rows_singly(const cutensor_gradient &g, const T *dy, uint32_t to, int32_t k,
                                           int32_t pixel, int32_t end, int32_t part)
{
    const int32_t lane = static_cast<int32_t>(threadIdx.x & 31);
    for (int32_t first = part * 32; first < part * 32 + 32; first += 8) {
        uint32_t word[8];
#pragma unroll
        for (int32_t i = 0; i < 8; i++) {
            const int32_t m = pixel + first + i, have = m < end ? g.group_oc - k - 2 * lane : 0;
            const T *from = dy + m * g.dy_pixel + k + 2 * lane;
            word[i] = load_pair(from, have > 0, from + 1, have > 1);
        }
#pragma unroll
        for (int32_t i = 0; i < 8; i++)
            store1(to + static_cast<uint32_t>((first + i) * 128 + (((lane >> 2) ^ i) << 4) + (lane & 3) * 4), word[i]);
    }
}

/* Rows of 64 pixels, a channel each; a warp takes 32 channels, a lane two pixels of each. */
template <typename T>
__device__ inline void load_dy_planes(const cutensor_gradient &g, const T *dy, uint32_t to, int32_t k, int32_t pixel,
                                      int32_t end, int32_t part)
{
    const int32_t lane = static_cast<int32_t>(threadIdx.x & 31), m = pixel + 2 * lane;
    const int32_t first = min(m, end - 1), second = min(m + 1, end - 1), plane = g.window.by_plane.d;
    const int32_t n = divided(first, g.window.by_plane), n2 = divided(second, g.window.by_plane);
    const T *from = dy + n * g.dy_image + (first - n * plane), *from2 = dy + n2 * g.dy_image + (second - n2 * plane);
    const uint32_t at = to + static_cast<uint32_t>(part * 32 * 128 + (lane & 3) * 4);
    const int32_t channels = min(static_cast<int32_t>(32), g.group_oc - k - part * 32);
    const int64_t skipped = static_cast<int64_t>(k + part * 32) * g.dy_channel;
    from += skipped, from2 += skipped;
    for (int32_t i = 0; i < 32; i += 8)
#pragma unroll
        for (int32_t j = 0; j < 8; j++, from += g.dy_channel, from2 += g.dy_channel) {
            const uint32_t place = at + static_cast<uint32_t>((i + j) * 128 + (((lane >> 2) ^ j) << 4));
            const bool there = i + j < channels;
            if (g.dy_pairs)
                copy4(place, there && m < end ? from : dy, there && m < end ? 4 : 0);
            else
                store1(place, load_pair(from, there && m < end, from2, there && m + 1 < end));
        }
}

__device__ inline void hand_on(const block_of &b, const cutensor_gradient &g, int32_t &step)
{
    stores_to_products();
    barrier_arrive(b.step_full + 8 * step);
    if (++step == g.steps) step = 0;
}

template <typename T, bool ROWS, bool CLUSTERS>
__device__ inline void load_dy(const cutensor_gradient &g, const block_of &b, const T *dy, int32_t part)
{
    ring_place ring = {0, 1};
    int32_t loaded = 0, handed = 0;
    for (int32_t u = b.first; u < b.last; u = next_unit<CLUSTERS>(g, u)) {
        const unit_place at = unit_at<CLUSTERS>(g, b, u);
        const tile_place tile = tile_at(g, at.tile);
        const T *of_group = dy + static_cast<int64_t>(tile.group) * g.group_oc * g.dy_channel;
        for (int32_t pixel = at.pixel; pixel < at.end; pixel += STEP_PIXELS) {
            barrier_wait(b.step_free + 8 * ring.at, ring.parity);
            const uint32_t to = b.steps + static_cast<uint32_t>(ring.at * STEP_BYTES);
            if (!ROWS)
                load_dy_planes(g, of_group, to, tile.k, pixel, at.end, part);
            else if (g.dy_together)
                load_dy_rows(g, of_group, to, tile.k, pixel, at.end, part);
            else
                load_dy_rows_singly(g, of_group, to, tile.k, pixel, at.end, part);
            copies_commit();
            ring.next(g.steps);
            if (loaded++ < GRADIENT_LAG) continue;
            copies_wait<GRADIENT_LAG>();
            hand_on(b, g, handed);
        }
    }
    copies_wait<0>();
    for (int32_t i = min(loaded, static_cast<int32_t>(GRADIENT_LAG)); i > 0; i--) hand_on(b, g, handed);
}

/* ---- Three warpgroups that multiply: each takes every third slot, three at most */

/* Which of 16 pixels' rows a thread brings to load_columns(), and which place of 8 channels there: of its warp's 16, of
 * 8 pixels, the first and the last 8, then the same of 8 more pixels. */
struct lane_place {
    int32_t warpgroup, lane, pixel;
    uint32_t place;
};
__device__ inline lane_place lane_of(int32_t thread)
{
    const int32_t warp = thread >> 5 & 3, lane = thread & 31;
    return {thread >> 7, lane, (lane >> 4) * 8 + (lane & 7), static_cast<uint32_t>(2 * warp + (lane >> 3 & 1))};
}

/* 64 pixels of 16 channels, as A of four products. */
__device__ inline void load_pixels(uint32_t (&a)[16], uint32_t patch, const int32_t (&rows)[4], int32_t offset,
                                   uint32_t place)
{
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const uint32_t row = static_cast<uint32_t>(rows[j] + offset);
        load_columns(a + 4 * j, patch + row * 128 + ((place ^ (row & 7)) << 4));
    }
}

template <typename T, bool ROWS>
__device__ inline void multiply_pixels(float (&sum)[32], const uint32_t (&a)[16], uint64_t dy)
{
    products_begin();
#pragma unroll
    for (int j = 0; j < 4; j++)
        if constexpr (ROWS)
            multiply_by_rows(T(), sum, a + 4 * j, dy + 128 * j, 1);
        else
            multiply(T(), sum, a + 4 * j, dy + 2 * j, 1);
    products_commit();
}

/* 64 pixels for SLOTS slots. While a slot's are multiplied, the next one's are loaded. */
template <typename T, bool ROWS, int SLOTS>
__device__ inline void add_step(float (&sum)[3][32], uint32_t patch, const int32_t (&rows)[4],
                                const int32_t (&offset)[3], uint32_t place, uint64_t dy)
{
    uint32_t a[2][16];
    load_pixels(a[0], patch, rows, offset[0], place);
#pragma unroll
    for (int v = 0; v < SLOTS; v++) {
        multiply_pixels<T, ROWS>(sum[v], a[v & 1], dy);
        if (v + 1 == SLOTS) break;
        if (v > 0) {
            products_wait<1>();
            pin(a[(v + 1) & 1]);
        }
        load_pixels(a[(v + 1) & 1], patch, rows, offset[v + 1], place);
    }
    products_wait<0>();
#pragma unroll
    for (int v = 0; v < SLOTS; v++) pin(sum[v]);
    pin(a[0]);
    pin(a[1]);
}

template <typename T, bool ROWS>
__device__ inline void add_unit(const cutensor_gradient &g, const block_of &b, float (&sum)[3][32], int32_t slots,
                                const int32_t (&offset)[3], const lane_place &l, const unit_place &unit, uint32_t patch,
                                const int32_t *row, ring_place &step)
{
    for (int32_t pixel = unit.pixel; pixel < unit.end; pixel += STEP_PIXELS, row += STEP_PIXELS) {
        const int32_t rows[4] = {row[0], row[16], row[32], row[48]};
        barrier_wait(b.step_full + 8 * step.at, step.parity);
        const uint64_t dy = tile_descriptor(b.steps + static_cast<uint32_t>(same_in_warp(step.at) * STEP_BYTES));
        if (slots == 3)
            add_step<T, ROWS, 3>(sum, patch, rows, offset, l.place, dy);
        else if (slots == 2)
            add_step<T, ROWS, 2>(sum, patch, rows, offset, l.place, dy);
        else if (slots == 1)
            add_step<T, ROWS, 1>(sum, patch, rows, offset, l.place, dy);
        __syncwarp();
        if (l.lane == 0) barrier_arrive(b.step_free + 8 * step.at);
        step.next(g.steps);
    }
}

template <typename T, bool ROWS, bool CLUSTERS>
__device__ inline void multiply_units(const cutensor_gradient &g, const block_of &b, const gradient_operands &o)
{
    const lane_place l = lane_of(static_cast<int32_t>(threadIdx.x));
    ring_place step = {0, 0}, patch = {0, 0};
    for (int32_t u = b.first; u < b.last;) {
        const int32_t tile = CLUSTERS ? b.tile : divided(u, g.by_chunks);
        const int32_t end = CLUSTERS ? b.last : min(b.last, (tile + 1) * g.chunks);
        int32_t offset[3];
        const int32_t slots = find_slots(g, tile, l.warpgroup, offset);
        float sum[3][32];
#pragma unroll
        for (int v = 0; v < 3; v++)
#pragma unroll
            for (int i = 0; i < 32; i++) sum[v][i] = 0;
        for (; u < end; u = next_unit<CLUSTERS>(g, u)) {
            barrier_wait(b.patch_full + 8 * patch.at, patch.parity);
            const int32_t *row = at_address<int32_t>(b.rows) + patch.at * sizes<T>::CHUNK_MOST + l.pixel;
            add_unit<T, ROWS>(g, b, sum, slots, offset, l, unit_at<CLUSTERS>(g, b, u),
                              b.patches + static_cast<uint32_t>(patch.at * g.patch_bytes), row, step);
            __syncwarp();
            if (l.lane == 0) barrier_arrive(b.patch_free + 8 * patch.at);
            patch.next(g.patches);
        }
        if constexpr (CLUSTERS) barrier_of(2, GRADIENT_THREADS - 128); /* all have read what the sums overwrite */
        put_sums(CLUSTERS ? at_address<float>(b.steps) : o.partials + segment_of(b.rank, tile), sum, slots, l.warpgroup,
                 static_cast<int32_t>(threadIdx.x & 127));
    }
    end_multiplying<CLUSTERS>(g, b, o);
}

template <typename T, bool ROWS, bool CLUSTERS>
__global__ void __launch_bounds__(GRADIENT_THREADS, 1)
    weight_gradient_half(const cutensor_gradient g, const gradient_operands o)
{
    const block_of b = open_block<T, CLUSTERS>(g);
    const int32_t thread = static_cast<int32_t>(threadIdx.x) - 384;
    if (thread < 0) {
        REGISTERS_MORE(160);
        multiply_units<T, ROWS, CLUSTERS>(g, b, o);
    } else {
        REGISTERS_LESS(32);
        if (thread < 64)
            load_dy<T, ROWS, CLUSTERS>(g, b, static_cast<const T *>(o.dy), thread >> 5);
        else
            load_x<T, CLUSTERS>(g, b, static_cast<const T *>(o.x), thread - 64);
        end_loading<CLUSTERS>();
    }
}

template <typename T>
cnn_status launch(cuda_context *c, const cutensor_plan *p, const gradient_operands &o, cnn_error *err)
{
    const cuda_shape shape = gradient_shape("weight_gradient_half", p);
    const bool clusters = p->gradient.cluster > 1;
    const cutensor_gradient &g = p->gradient;
    if (g.dy_channel == 1)
        return clusters ? cuda_launch(c, shape, err, weight_gradient_half<T, true, true>, g, o)
                        : cuda_launch(c, shape, err, weight_gradient_half<T, true, false>, g, o);
    return clusters ? cuda_launch(c, shape, err, weight_gradient_half<T, false, true>, g, o)
                    : cuda_launch(c, shape, err, weight_gradient_half<T, false, false>, g, o);
}

} // namespace

cnn_status cutensor_gradient_half_run(cuda_context *c, const cutensor_plan *p, const void *x, const void *dy,
                                      void *partials, cnn_error *err)
{
    if (p->gradient.strip) return cutensor_gradient_strip_run(c, p, x, dy, partials, err);
    const gradient_operands o = {x, dy, static_cast<float *>(partials), nullptr, nullptr, nullptr, false, false};
    const cnn_dtype dtype = p->bias.t.dtype;
    return dtype == CNN_F16 || dtype == CNN_F16_F16_F32 ? launch<__half>(c, p, o, err)
                                                        : launch<__nv_bfloat16>(c, p, o, err);
}
