/* plan.h: what the plans share. */
#ifndef IMPL_CUDA_TENSOR_PLAN_H
#define IMPL_CUDA_TENSOR_PLAN_H

#include "impl_cuda_tensor/tensor.h"

#include <stdbool.h>
#include <stdint.h>

static inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
static inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
/* Positions of an image's pixels in NCHW boxes: whole boxes of 32. */
static inline int64_t cutensor_positions(int64_t plane) { return ceil_div(plane, 32) * 32; }

/* plan.c: a place of so many bytes of the workspace, behind what there is. */
size_t cutensor_area(cutensor_plan *, size_t bytes);

/* plan.c: the divisors of a window, and how large an image with its padding is, from its other numbers. */
void cutensor_window_divisors(cutensor_window *);
/* Of FWD and BWD_W, or of BWD_D. */
cutensor_window cutensor_window_of(const cnn_conv_desc *, bool backward);

/* plan_boxes.c: whether the hardware can be told which pixels a tap of it reads. */
bool cutensor_taps_follow(const cutensor_window *);

/* plan_boxes.c: what tiles of boxes cost, in clocks; `pieces` a tile, each of `tall` pixels by `wide` channels. */
typedef struct cutensor_boxes {
    int64_t tiles, pieces, tall, wide, parts, sms;
} cutensor_boxes;
double cutensor_boxes_cost(const cutensor_boxes *, bool split);
/* Of one step of a tile, where so many blocks have work. */
double cutensor_boxes_step(const cutensor_boxes *, int64_t units);

#endif
