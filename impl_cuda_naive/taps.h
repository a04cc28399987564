/* taps.h: which taps of a kernel are of use, computed once instead of asked at every tap (device). */
#ifndef IMPL_CUDA_NAIVE_TAPS_H
#define IMPL_CUDA_NAIVE_TAPS_H

#include "harness/cuda/platform.h"

/* Taps first, first + 1, ... before last lie inside: 0 <= start + tap*step < size (cnn_tap_range, for the device). */
template <typename I> struct tap_range {
    I first, last;
};

template <typename I> static __device__ inline tap_range<I> taps_inside(I start, I step, I size, I taps)
{
    I first = start >= 0 ? 0 : (step - 1 - start) / step;
    I last = start >= size ? 0 : (size - start + step - 1) / step;
    if (first > taps) first = taps;
    if (last > taps) last = taps;
    return {first, last < first ? first : last};
}

/* Backward, a pixel is read by tap t of output (at - t*step) / stride, where that divides. The taps for which it does
 * are `first` and every `every`th from there; their outputs are `output`, then `output - back`, and so on. */
template <typename I> struct tap_class {
    I first, every, output, back;
};

/* every = stride / gcd(stride, step) is the period: among so many taps at most one divides. first == every: none. */
template <typename I> static __host__ __device__ inline tap_class<I> taps_dividing(I at, I step, I stride)
{
    I a = stride, b = step;
    while (b != 0) {
        const I r = a % b;
        a = b;
        b = r;
    }
    const I every = stride / a;
    I first = 0;
    while (first < every && (at - first * step) % stride != 0) first++;
    return {first, every, (at - first * step) / stride, every * step / stride};
}

#endif
