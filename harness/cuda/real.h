/* real.h: numbers as they lie in memory, and as they are computed with (C++). f32 and f64 are computed in themselves.
 * f16 and bf16 are types of memory only (cnn/half.h): what is read becomes an f32, which is exact, and what is stored
 * is rounded once, to the nearest, ties to even. A kernel is a template over T, what lies in memory:
 *
 *   cuda_real<T> sum = 0;
 *   sum += cuda_load(x[i]) * cuda_load(w[j]);
 *   cuda_put(&y[k], sum, add);
 */
#ifndef HARNESS_CUDA_REAL_H
#define HARNESS_CUDA_REAL_H

#include "harness/cuda/launch.h"

#ifdef BENCHCNN_CUDA_EMULATED
#include "harness/cuda/emulated/half.h"
#else
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

template <typename T> struct cuda_number {
    typedef T real;
    static __device__ inline real load(T value) { return value; }
    static __device__ inline T stored(real value) { return value; }
};
template <> struct cuda_number<__half> {
    typedef float real;
    static __device__ inline real load(__half value) { return __half2float(value); }
    static __device__ inline __half stored(real value) { return __float2half_rn(value); }
};
template <> struct cuda_number<__nv_bfloat16> {
    typedef float real;
    static __device__ inline real load(__nv_bfloat16 value) { return __bfloat162float(value); }
    static __device__ inline __nv_bfloat16 stored(real value) { return __float2bfloat16_rn(value); }
};

/* cnn_is_half(), whose header is C. */
static inline bool cuda_is_half(cnn_dtype dtype) { return dtype == CNN_F16 || dtype == CNN_BF16; }
/* Whether factors have 16 bits, whatever results have. */
static inline bool cuda_has_half(cnn_dtype dtype)
{
    return cuda_is_half(dtype) || dtype == CNN_F16_F16_F32 || dtype == CNN_BF16_BF16_F32;
}

/* What products and sums of T are computed in. */
template <typename T> using cuda_real = typename cuda_number<T>::real;

template <typename T> __device__ inline cuda_real<T> cuda_load(T value) { return cuda_number<T>::load(value); }
template <typename T> __device__ inline T cuda_stored(cuda_real<T> value) { return cuda_number<T>::stored(value); }

/* Stores a sum, with what is there added to it where `add` says so. */
template <typename T> __device__ inline void cuda_put(T *to, cuda_real<T> sum, bool add)
{
    *to = cuda_stored<T>(add ? cuda_load(*to) + sum : sum);
}

/* As CUDA_BY_DTYPE and CUDA_BY_TYPES (launch.h), of all four types. */
#define CUDA_BY_NUMBER(dtype, ...)                                                                                     \
    ((dtype) == CNN_F16    ? [&] { typedef __half T; return __VA_ARGS__; }()                                           \
     : (dtype) == CNN_BF16 ? [&] { typedef __nv_bfloat16 T; return __VA_ARGS__; }()                                    \
                           : CUDA_BY_DTYPE(dtype, __VA_ARGS__))
#define CUDA_BY_NUMBERS(dtype, small, narrow, wide, ...)                                                               \
    ((small) ? [&] { typedef narrow I; return CUDA_BY_NUMBER(dtype, __VA_ARGS__); }()                                  \
             : [&] { typedef wide I; return CUDA_BY_NUMBER(dtype, __VA_ARGS__); }())

/* The same where factors and results may differ: T, and R of results, which are sums of cuda_real<T>. */
#define CUDA_BY_PARTS(dtype, ...)                                                                                      \
    ((dtype) == CNN_F16_F16_F32     ? [&] { typedef __half T; typedef float R; return __VA_ARGS__; }()                 \
     : (dtype) == CNN_BF16_BF16_F32 ? [&] { typedef __nv_bfloat16 T; typedef float R; return __VA_ARGS__; }()          \
                                    : CUDA_BY_NUMBER(dtype, [&] { typedef T R; return __VA_ARGS__; }()))
#define CUDA_BY_PARTS_INDEXED(dtype, small, narrow, wide, ...)                                                         \
    ((small) ? [&] { typedef narrow I; return CUDA_BY_PARTS(dtype, __VA_ARGS__); }()                                   \
             : [&] { typedef wide I; return CUDA_BY_PARTS(dtype, __VA_ARGS__); }())

#endif
