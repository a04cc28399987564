/* tile.h: the register-tiled convolution that FWD's version 4 and BWD_D's version 3 share (C++): tile.cu.
 *
 * Both are the same sum: a written pixel collects, over channels and taps, weights times read pixels. Along one axis,
 * written position `write_first + a*write_step` reads `a*step + start + t*tap_step` through kernel row `tap_first +
 * t*tap_every`, t < taps. FWD writes y and reads x: a is the output row itself. BWD_D writes dx and reads dy; which
 * taps reach a pixel depends on its row modulo the stride, its class: within a class, one after the other stride rows
 * apart, the taps are the same and the read positions dense. So a class is a convolution of stride 1 with the taps that
 * count, and the sh*sw classes are the grid's z. */
#ifndef IMPL_CUDA_NAIVE_TILE_H
#define IMPL_CUDA_NAIVE_TILE_H

#include "impl_cuda_naive/shape.h"
#include "impl_cuda_naive/taps.h"

struct tile_axis {
    int32_t size;           /* of what is read */
    int32_t count;          /* positions to be written */
    int32_t step, start;    /* of the positions read */
    int32_t taps, tap_step; /* ... and from tap to tap */
    int32_t tap_first, tap_every;
    int32_t write_first, write_step;
};

/* The axis of class `r` (always 0 forward). A class without taps or without pixels has a count of 0 of them. */
static __device__ inline tile_axis tile_axis_of(bool backward, int32_t r, int32_t in, int32_t out, int32_t taps,
                                                int32_t stride, int32_t pad, int32_t step)
{
    if (!backward) return {in, out, stride, -pad, taps, step, 0, 1, 0, 1};
    const tap_class<int32_t> c = taps_dividing<int32_t>(r + pad, step, stride);
    const bool some = c.first < c.every && c.first < taps;
    return {out,
            (in - r + stride - 1) / stride,
            1,
            c.output,
            some ? (taps - c.first - 1) / c.every + 1 : 0,
            -c.back,
            c.first,
            c.every,
            r,
            stride};
}

/* Channels written and read are those of one group; `m` of them are written, `k` read. */
struct tile_problem {
    conv_shape<int32_t> s;
    bool backward;
    int32_t m, k;
    tensor_strides<int32_t> in, out;
    int32_t w_m, w_k, w_group;   /* strides of w along the channels written, those read, and the groups */
    int32_t row_tiles;           /* tiles of a group's written channels: grid.y counts them, group after group */
    int32_t stage_k, stage_taps; /* what is in shared memory at once: so many read channels of so many taps */
};

/* What the knobs and the problem settle on. */
struct tile_choice {
    int32_t channels, pixels;    /* a thread computes so many written channels of so many pixels */
    int32_t lanes, rows, slices; /* the block's x, y, z */
};

/* The arguments in a plan's launch. */
struct tile_args {
    tile_problem p;
    tile_choice choice;
};

/* Of a naive_kernel; FWD or BWD_D, as the request says: tile_choice.cu, tile.cu. */
cnn_status tile_fit(const cuda_context *, const cnn_request *, naive_launch *, cnn_error *);
cnn_status tile_run(cuda_context *, const cnn_plan *, const cnn_weighted_args *, cnn_error *);

/* tile_choice.cu: the launch's block; CNN_UNSUPPORTED where it has more threads than a kernel with rows x columns sums
 * a thread, of `elem` bytes each, may have. */
cnn_status tile_put_block(int32_t lanes, int32_t lines, int32_t slices, int rows, int columns, size_t elem,
                          naive_launch *, cnn_error *);

/* tile_choice.cu: how many of m channels a thread computes at a time, at best. */
int tile_best_channels(int64_t m);

/* The most threads of a block, for kernels with so many sums of `bytes` each in every thread's registers: 65,536
 * registers of 4 bytes, shared among them. */
static constexpr int tile_threads(size_t bytes, int sums) { return sums * (int)bytes >= 256 ? 256 : 512; }

/* The tiles that kernels are compiled for: so many channels by so many pixels (or weights) a thread. */
#define TILE_SIZES(CASE)                                                                                               \
    CASE(4, 1) CASE(4, 2) CASE(4, 4) CASE(8, 1) CASE(8, 2) CASE(8, 4) CASE(20, 1) CASE(20, 2) CASE(20, 4)

/* Four numbers that a thread reads from shared memory at once. */
template <typename T> struct alignas(16) pack {
    T v[4];
};

#endif
