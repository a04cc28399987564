/* plan.h: what the plans share. */
#ifndef IMPL_CUDA_TENSOR_PLAN_H
#define IMPL_CUDA_TENSOR_PLAN_H

#include <stdint.h>

static inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
static inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

#endif
