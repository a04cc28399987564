/* slots.h: which taps and channels the blocks of gradient.cu sum for, and which blocks a tile's sums are from (C++). */
#ifndef IMPL_CUDA_TENSOR_SLOTS_H
#define IMPL_CUDA_TENSOR_SLOTS_H

#include "impl_cuda_tensor/gradient.h"
#include "impl_cuda_tensor/window.h"

namespace
{

/* A tile: up to 9 slots of a group, by 64 of its output channels. */
struct tile_place {
    int32_t group, slots, k; /* slots: which of them; k: the first output channel within the group */
};
__device__ inline tile_place tile_at(const cutensor_gradient &g, int32_t tile)
{
    const int32_t rest = divided(tile, g.by_k_tiles), group = divided(rest, g.by_slot_groups);
    return {group, rest - group * g.slot_groups, (tile - rest * g.k_tiles) * GRADIENT_SIDE};
}

struct slot_place {
    int32_t tap, c; /* the first input channel within the group; tap -1: there is no such slot */
};
/* Slot i of these. Those of a patch are taps of the same channels; others follow one another, channels first. */
__device__ inline slot_place slot_at(const cutensor_gradient &g, const tile_place &at, int32_t i)
{
    if (g.patched) {
        const int32_t taps = divided(at.slots, g.by_c_tiles), c = at.slots - taps * g.c_tiles;
        const int32_t tap = taps * GRADIENT_SLOTS + i;
        return {tap < g.taps ? tap : -1, c * GRADIENT_SIDE};
    }
    const int32_t slot = at.slots * g.slots + i, tap = divided(slot, g.by_c_tiles);
    return {i < g.slots && tap < g.taps ? tap : -1, (slot - tap * g.c_tiles) * GRADIENT_SIDE};
}
/* How many there are. */
__device__ inline int32_t slots_of(const cutensor_gradient &g, const tile_place &at)
{
    if (g.patched) return min(g.slots, g.taps - divided(at.slots, g.by_c_tiles) * g.slots);
    return min(g.slots, g.taps * g.c_tiles - at.slots * g.slots);
}

/* Rows of a patch from its first tap to another one. */
__device__ inline int32_t tap_offset(const cutensor_window &w, int32_t tap)
{
    const int32_t i = divided(tap, w.by_kw);
    return i * w.step_h * w.wide + (tap - i * w.kw) * w.step_w;
}

/* The units of the block of this rank begin here; which block has unit u. */
__device__ inline int32_t first_unit(const cutensor_gradient &g, int32_t rank)
{
    return static_cast<int32_t>(static_cast<int64_t>(rank) * g.units / g.blocks);
}
__device__ inline int32_t rank_of_unit(const cutensor_gradient &g, int32_t u)
{
    return static_cast<int32_t>(((static_cast<int64_t>(u) + 1) * g.blocks - 1) / g.units);
}

/* In clusters: where a block's pixels of its tile begin, of share * cluster blocks. */
__device__ inline int32_t first_pixel(const cutensor_gradient &g, int32_t block)
{
    const int64_t sixteens = (g.pixels + 15) / 16, blocks = g.share * g.cluster;
    return min(static_cast<int32_t>(block * sixteens / blocks) * 16, g.pixels);
}

/* A block's sums for a tile: [slot][of 8 output channels][thread of the warpgroup][4]. Going from a block's tile to its
 * next one, or from a tile's block to its next one, one of the two grows: their sum is a place of its own. */
__device__ inline size_t segment_of(int32_t rank, int32_t tile)
{
    return static_cast<size_t>(rank + tile) * GRADIENT_SEGMENT;
}

/* ... and its sums of dy, which the blocks of a cluster leave one by one: of which 64 numbers. */
__device__ inline size_t bias_segment_of(const cutensor_gradient &g, int32_t rank, int32_t tile)
{
    return static_cast<size_t>(g.cluster > 1 ? rank : rank + tile);
}

/* Of 8 output and 64 input channels (of a strip 8 input and 64 output channels): the thread that has it, and which of
 * its four numbers it is. A thread has two of 16 channels: neighbours, or (f16, bf16) one of each 8. */
__device__ inline int32_t index_of(const cutensor_gradient &g, int32_t k, int32_t c)
{
    if (g.strip) return ((k >> 4) * 32 + (k & 7) * 4 + (c >> 1)) * 4 + (k >> 3 & 1) * 2 + (c & 1);
    const int32_t pair = g.half ? c & 7 : c >> 1 & 7, second = g.half ? c >> 3 & 1 : c & 1;
    return ((c >> 4) * 32 + pair * 4 + (k >> 1)) * 4 + second * 2 + (k & 1);
}

/* Where it stands in dw; `reversed`: tap t at taps-1-t. */
__device__ inline int64_t place_of_weight(const cutensor_gradient &g, int32_t group, int32_t channel, int32_t in,
                                          int32_t tap, bool reversed)
{
    const int64_t row = static_cast<int64_t>(group * g.group_oc + channel) * g.group_ic + in;
    return row * g.taps + (reversed ? g.taps - 1 - tap : tap);
}

/* Those of all blocks, or clusters, that have summed for a tile are neighbours. */
struct segments {
    int32_t first, count;
};
__device__ inline segments segments_of(const cutensor_gradient &g, int32_t tile)
{
    if (g.cluster > 1 || g.strip) return {tile * g.share, g.share};
    const int32_t first = rank_of_unit(g, tile * g.chunks), last = rank_of_unit(g, (tile + 1) * g.chunks - 1);
    return {first + tile, last - first + 1};
}
__device__ inline segments bias_segments_of(const cutensor_gradient &g, int32_t tile)
{
    const int32_t blocks = g.share * g.cluster;
    if (g.cluster > 1) return {tile * blocks, blocks};
    return segments_of(g, tile);
}

} // namespace

#endif
