/* half.h: f16 and bf16 as kernels have them (C++): 16 bits in memory, and CUDA's conversions from and to f32. They have
 * no arithmetic of their own here, and nothing is converted without a word, so that a kernel that computes in them
 * does not compile. */
#ifndef HARNESS_CUDA_EMULATED_HALF_H
#define HARNESS_CUDA_EMULATED_HALF_H

#include "harness/cpu/half.h"

struct __half {
    uint16_t bits;
};
struct __nv_bfloat16 {
    uint16_t bits;
};

inline float __half2float(__half value) { return half_f16_to_float(value.bits); }
inline float __bfloat162float(__nv_bfloat16 value) { return half_bf16_to_float(value.bits); }
/* _rn: to the nearest, ties to even. */
inline __half __float2half_rn(float value) { return {half_float_to_f16(value)}; }
inline __nv_bfloat16 __float2bfloat16_rn(float value) { return {half_float_to_bf16(value)}; }

#endif
