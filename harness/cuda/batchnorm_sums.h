/* batchnorm_sums.h: how the blocks of batch norm share the sums over a channel's items (its pixels in all images).
 *
 * A block of `threads` sums over a tile: in NCHW one channel, each thread every threads-th item; in NHWC, where
 * channels lie side by side, 32 channels, each of the `rows` warps every rows-th pixel: either way a warp reads what
 * lies together. Few channels with many items are split over several blocks, whose partial sums one more launch merges.
 * The tile, the splits and the order of all sums follow from problem and knobs alone. */
#ifndef HARNESS_CUDA_BATCHNORM_SUMS_H
#define HARNESS_CUDA_BATCHNORM_SUMS_H

#include "harness/cuda/launch.h"
#include "harness/cuda/reduce.h"

enum { BN_LANES = 32, BN_MOST_ROWS = 16, BN_MOST_THREADS = BN_LANES * BN_MOST_ROWS, BN_ITEMS_A_THREAD = 8 };

struct bn_shape {
    int64_t mb, channels, pixels;
    bool nhwc;
    double eps, momentum;
    int64_t count;         /* items of a channel: mb * pixels */
    int64_t splits, items; /* blocks that share a channel; items of each but the last */
    int threads, rows;     /* of a block; its warps */
};

inline int64_t bn_tiles(const bn_shape &s) { return s.nhwc ? (s.channels + BN_LANES - 1) / BN_LANES : s.channels; }

inline bn_shape bn_shape_of(const int64_t *knobs, const cnn_batchnorm_desc *d)
{
    const int threads = static_cast<int>(knobs[CUDA_KNOB_BATCHNORM_THREADS]), rows = threads / BN_LANES;
    const bool nhwc = d->t.layout == CNN_NHWC;
    const int64_t pixels = d->ih * d->iw, count = d->mb * pixels, stride = nhwc ? rows : threads;
    bn_shape s = {d->mb, d->ic, pixels, nhwc, d->eps, d->momentum, count, 1, count, threads, rows};
    const int64_t useful = count / (stride * BN_ITEMS_A_THREAD),
                  wanted = knobs[CUDA_KNOB_BATCHNORM_BLOCKS] / bn_tiles(s);
    const int64_t splits = useful < wanted ? useful : wanted;
    if (splits <= 1) return s;
    s.items = (count + splits - 1) / splits;
    s.splits = (count + s.items - 1) / s.items;
    return s;
}

/* Items of a split. */
__device__ inline int64_t bn_items(const bn_shape &s, int64_t split)
{
    const int64_t rest = s.count - split * s.items;
    return rest < s.items ? rest : s.items;
}

/* The channel of this thread; there may be none. */
__device__ inline int64_t bn_channel_of_thread(const bn_shape &s)
{
    return s.nhwc ? static_cast<int64_t>(blockIdx.x) * BN_LANES + threadIdx.x % BN_LANES : blockIdx.x;
}

/* Whether this thread is the one that writes its channel's sums. */
__device__ inline bool bn_writes(const bn_shape &s)
{
    return s.nhwc ? threadIdx.x < BN_LANES && bn_channel_of_thread(s) < s.channels : threadIdx.x == 0;
}

/* A thread's way through its items of this block's split: it is stepped, not divided for. */
struct bn_walk {
    int64_t left, at;          /* items to come; place in memory */
    int64_t pixel, pixels;     /* within the image; in NHWC one pixel is like another: 0 of 1 */
    int64_t step, step_pixel;  /* to the next item */
    int64_t to_the_next_image; /* on top, over the other channels */
};

__device__ inline bn_walk bn_walk_of(const bn_shape &s)
{
    const int64_t c = bn_channel_of_thread(s), items = bn_items(s, blockIdx.y);
    const int64_t rank = threadIdx.x / (s.nhwc ? BN_LANES : 1), stride = s.nhwc ? s.rows : s.threads;
    const int64_t first = static_cast<int64_t>(blockIdx.y) * s.items + rank;
    const int64_t left = c < s.channels && rank < items ? (items - rank + stride - 1) / stride : 0;
    if (s.nhwc) return {left, first * s.channels + c, 0, 1, stride * s.channels, 0, 0};
    const int64_t image = first / s.pixels, pixel = first % s.pixels, plane = s.channels * s.pixels;
    return {left,
            image * plane + c * s.pixels + pixel,
            pixel,
            s.pixels,
            stride / s.pixels * plane + stride % s.pixels,
            stride % s.pixels,
            plane - s.pixels};
}

__device__ inline int64_t bn_next(bn_walk *w)
{
    const int64_t at = w->at;
    w->at += w->step;
    w->pixel += w->step_pixel;
    if (w->pixel >= w->pixels) {
        w->pixel -= w->pixels;
        w->at += w->to_the_next_image;
    }
    return at;
}

/* f(place in memory) for each item; four at a time, so that four loads are under way. */
template <typename F> __device__ inline void bn_each(bn_walk w, F f)
{
    for (; w.left >= 4; w.left -= 4) {
        const int64_t a = bn_next(&w), b = bn_next(&w), c = bn_next(&w), d = bn_next(&w);
        f(a);
        f(b);
        f(c);
        f(d);
    }
    for (; w.left > 0; w.left--) f(bn_next(&w));
}

/* The sum of the block's values for each channel of its tile, in all threads of that channel. All must come. */
__device__ inline double bn_sum(const bn_shape &s, double value, double (*shared)[BN_LANES])
{
    if (!s.nhwc) return cuda_block_sum(value, shared[0]);
    const int lane = static_cast<int>(threadIdx.x) % BN_LANES;
    __syncthreads(); /* the last use of `shared` is over */
    shared[threadIdx.x / BN_LANES][lane] = value;
    __syncthreads();
    double sum = 0;
    for (int row = 0; row < s.rows; row++) sum += shared[row][lane];
    return sum;
}

#endif
