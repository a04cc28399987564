/* hit.h: when an answer is right: the first of the largest logits stands at the label. */
#ifndef HARNESS_CUDA_HIT_H
#define HARNESS_CUDA_HIT_H

#include "harness/cuda/platform.h"

/* Whether logit `at`, `before` the label's or behind it, beats it: an image is a hit where none does. Each comparison
 * with a NaN is false, and so a win: a row of NaN is no hit, whatever its label. */
template <typename T> __device__ inline bool cuda_beats(T at, bool before, T label)
{
    return before ? !(at < label) : !(at <= label);
}

#endif
