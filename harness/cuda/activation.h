/* activation.h: y = f(x) for one element (C++): what act.cu maps over a tensor, and what an epilogue does to a sum.
 * Comparisons are written so that a NaN comes through (it is not <= 0). */
#ifndef HARNESS_CUDA_ACTIVATION_H
#define HARNESS_CUDA_ACTIVATION_H

#include "harness/cuda/real.h"

/* What SELU comes to far below zero, with a minus. */
#define SELU_LOW (CNN_SELU_SCALE * CNN_SELU_ALPHA)

/* A cuda_line: few instructions, and no branch, for kernels that keep many sums in registers. */
template <typename T> struct act_line {
    cnn_act_kind kind;
    T down, up, top;
    __device__ inline T operator()(T x) const
    {
        const T low = down == 0 ? T(0) : down * x, high = up * x;
        return x <= 0 ? low : high >= top ? top : high;
    }
};

template <typename T> struct act_fwd {
    cnn_act_kind kind;
    T alpha;
    __device__ T operator()(T x) const
    {
        switch (kind) {
        case CNN_ACT_ELU:
            return x <= 0 ? alpha * expm1(x) : x;
        case CNN_ACT_SELU:
            return x <= 0 ? T(SELU_LOW) * expm1(x) : T(CNN_SELU_SCALE) * x;
        case CNN_ACT_SIGMOID: {
            const T e = exp(-fabs(x));
            return (x < 0 ? e : T(1)) / (1 + e);
        }
        case CNN_ACT_TANH:
            return tanh(x);
        case CNN_ACT_RELU:
            return x <= 0 ? T(0) : x;
        case CNN_ACT_LEAKY_RELU:
            return x <= 0 ? alpha * x : x;
        case CNN_ACT_CLIPPED_RELU:
            return x <= 0 ? T(0) : x >= alpha ? alpha : x;
        case CNN_ACT_SCALE:
            return alpha * x;
        default:
            return x;
        }
    }
};

#endif
