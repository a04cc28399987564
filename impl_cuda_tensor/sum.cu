/* sum.cu: dw from the sums that gradient.cu's blocks, or clusters of them, left, added up in their order.
 *
 * A block takes a tile's 8 output channels for one slot or all nine: four parts of it each add every fourth block's
 * sums, and the four are added up in shared memory, from which dw is written along its own order. The bias's gradient
 * is what the blocks of a tile of the first input channels left beside. */
#include "impl_cuda_tensor/slots.h"

namespace
{

enum { PARTS = 4, LANES = 128 };

/* Of 8 output channels, a warp each: its threads add every 32nd block's, then theirs. */
template <typename R>
__device__ inline void add_bias(const cutensor_gradient &g, int32_t tile, int32_t eight, const float *sums, R *db,
                                bool add)
{
    const int32_t warp = static_cast<int32_t>(threadIdx.x >> 5), lane = static_cast<int32_t>(threadIdx.x & 31);
    const segments mine = bias_segments_of(g, tile);
    const tile_place at = tile_at(g, tile);
    const int32_t of_tile = 8 * eight + warp, channel = at.k + of_tile;
    if (warp >= 8) return;
    float sum = 0;
    for (int32_t i = lane; i < mine.count; i += 32)
        sum += __ldcg(sums + static_cast<size_t>(mine.first + i) * GRADIENT_SIDE + of_tile);
    for (int mask = 16; mask > 0; mask /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, mask);
    if (lane == 0 && channel < g.group_oc) cuda_put(db + at.group * g.group_oc + channel, sum, add);
}

template <typename R>
__global__ void add_segments(const cutensor_gradient g, int32_t slots, const float *partials, R *dw, R *db,
                             int32_t reversed, int32_t add)
{
    CUDA_DYNAMIC_SHARED(float, kept); /* [slots][128][4], then the parts' */
    float4 *parts = reinterpret_cast<float4 *>(kept + slots * LANES * 4);
    const int32_t slot_parts = GRADIENT_SLOTS / slots, thread = static_cast<int32_t>(threadIdx.x) % LANES;
    const int32_t part = static_cast<int32_t>(threadIdx.x) / LANES, block = static_cast<int32_t>(blockIdx.x);
    const int32_t first_slot = block % slot_parts * slots, eight = block / slot_parts % 8,
                  tile = block / slot_parts / 8;
    const segments mine = segments_of(g, tile);
    const tile_place at = tile_at(g, tile);
    wait_for_previous();
    if (db != nullptr && at.slots == 0 && first_slot == 0) add_bias(g, tile, eight, partials + g.bias_at, db, add != 0);
    for (int32_t s = 0; s < slots; s++) {
        float4 sum = {0, 0, 0, 0};
        if (slot_at(g, at, first_slot + s).tap >= 0) {
            const float4 *from = reinterpret_cast<const float4 *>(partials) +
                                 static_cast<size_t>(((first_slot + s) * 8 + eight) * LANES + thread);
#pragma unroll 8
            for (int32_t i = part; i < mine.count; i += PARTS) {
                const float4 v = __ldcg(from + static_cast<size_t>(mine.first + i) * (GRADIENT_SEGMENT / 4));
                sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
            }
        }
        parts[part * LANES + thread] = sum;
        __syncthreads();
        if (part == 0) {
            for (int32_t other = 1; other < PARTS; other++) {
                const float4 v = parts[other * LANES + thread];
                sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
            }
            reinterpret_cast<float4 *>(kept)[s * LANES + thread] = sum;
        }
        __syncthreads();
    }
    for (int32_t i = static_cast<int32_t>(threadIdx.x); i < 8 * GRADIENT_SIDE * slots; i += PARTS * LANES) {
        const int32_t inner = g.strip ? 8 : GRADIENT_SIDE, s = i % slots, c = i / slots % inner, k = i / slots / inner;
        const slot_place slot = slot_at(g, at, first_slot + s);
        const int32_t channel = at.k + k + (g.strip ? 0 : 8 * eight), in = slot.c + c + (g.strip ? 8 * eight : 0);
        if (slot.tap < 0 || in >= g.group_ic || channel >= g.group_oc) continue;
        R *to = dw + place_of_weight(g, at.group, channel, in, slot.tap, reversed != 0);
        cuda_put(to, kept[s * LANES * 4 + index_of(g, k, c)], add != 0);
    }
}

} // namespace

cnn_status cutensor_sum_run(cuda_context *c, const cutensor_plan *p, const cutensor_gradients *o, bool reversed,
                            cnn_error *err)
{
    /* One slot a block where there are few tiles. */
    const cutensor_gradient &g = p->gradient;
    const int32_t slots = g.tiles * 8 < 2 * c->properties.multiProcessorCount ? 1 : GRADIENT_SLOTS;
    cuda_shape shape = {"add_segments", dim3(static_cast<unsigned>(g.tiles * 8 * (GRADIENT_SLOTS / slots))),
                        dim3(PARTS * LANES), sizeof(float) * 4 * LANES * static_cast<size_t>(slots + PARTS)};
    shape.overlaps = true;
    const float *sums = o->partials;
    void *dw = o->dw, *db = g.sums_bias ? o->db : nullptr;
    const int32_t backward = reversed, onto = o->add;
    switch (p->bias.t.dtype) {
    case CNN_F16:
        return cuda_launch(c, shape, err, add_segments<__half>, g, slots, sums, static_cast<__half *>(dw),
                           static_cast<__half *>(db), backward, onto);
    case CNN_BF16:
        return cuda_launch(c, shape, err, add_segments<__nv_bfloat16>, g, slots, sums, static_cast<__nv_bfloat16 *>(dw),
                           static_cast<__nv_bfloat16 *>(db), backward, onto);
    default:
        return cuda_launch(c, shape, err, add_segments<float>, g, slots, sums, static_cast<float *>(dw),
                           static_cast<float *>(db), backward, onto);
    }
}
