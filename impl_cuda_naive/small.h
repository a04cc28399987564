/* small.h: the convolution of few channels that FWD and BWD_D of the algorithm `small` share (C++): small.cu.
 *
 * Both are the same sum: a written pixel collects, over channels and taps, weights times read pixels. Along one axis
 * position a reads (a*step + start + t*tap_step) / stride by tap t, where that divides and lies inside. FWD writes y
 * and reads x, stride 1; BWD_D writes dx and reads dy, step 1. */
#ifndef IMPL_CUDA_NAIVE_SMALL_H
#define IMPL_CUDA_NAIVE_SMALL_H

#include "impl_cuda_naive/shape.h"

struct small_axis {
    int32_t size; /* of what is read */
    int32_t step, start, tap_step, stride;
};

/* Channels written and read are those of one group: `m` of them are written, `k` read. */
struct small_problem {
    small_axis rows, cols;
    int32_t pixels, width; /* written: of an image, and of a row of it */
    int32_t m, k, kh, kw;
    int32_t quads; /* of a group's written channels: grid.y counts them, group after group */
    tensor_strides<int32_t> in, out;
    weight_strides<int32_t> w;
    int32_t w_m, w_k, w_group;   /* strides of w along the channels written, those read, and the groups */
    int32_t stage_k, stage_taps; /* what is in shared memory at once: so many read channels of so many taps */
    int32_t slices;              /* threads of a block that share a pixel, each with some of the read channels */
};

/* Of a naive_kernel; FWD or BWD_D, as the request says. */
cnn_status small_fit(const cuda_context *, const cnn_request *, naive_launch *, cnn_error *);
cnn_status small_run(cuda_context *, const cnn_plan *, const cnn_weighted_args *, cnn_error *);

#endif
