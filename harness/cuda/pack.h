/* pack.h: elements moved 16 bytes at a time. Buffers are aligned to CNN_ALIGN (cnn.h), so a whole tensor can be walked
 * in packs, and at most one pack's worth of elements is left over at its end. */
#ifndef HARNESS_CUDA_PACK_H
#define HARNESS_CUDA_PACK_H

#include "harness/cuda/real.h"

template <typename T, int N = static_cast<int>(16 / sizeof(T))> struct __align__(N * sizeof(T)) cuda_pack
{
    static constexpr int size = N;
    T v[N];
};

/* y[i] = f(a[i]) for all i < count, in cuda_real<T>; each thread takes packs a grid apart. Reads whole packs before it
 * writes them, so y may be a. */
template <typename T, typename F> __global__ void cuda_map1(int64_t count, const T *a, T *y, F f)
{
    typedef cuda_pack<T> pack;
    const int64_t packs = count / pack::size;
    for (CUDA_GRID_STRIDE(i, packs)) {
        pack p = reinterpret_cast<const pack *>(a)[i];
        for (int k = 0; k < pack::size; k++) p.v[k] = cuda_stored<T>(f(cuda_load(p.v[k])));
        reinterpret_cast<pack *>(y)[i] = p;
    }
    for (CUDA_GRID_STRIDE(i, count - packs * pack::size)) {
        const int64_t at = packs * pack::size + i;
        y[at] = cuda_stored<T>(f(cuda_load(a[at])));
    }
}

/* y[i] = f(a[i], b[i]); y may be a or b. */
template <typename T, typename F> __global__ void cuda_map2(int64_t count, const T *a, const T *b, T *y, F f)
{
    typedef cuda_pack<T> pack;
    const int64_t packs = count / pack::size;
    for (CUDA_GRID_STRIDE(i, packs)) {
        pack p = reinterpret_cast<const pack *>(a)[i];
        const pack q = reinterpret_cast<const pack *>(b)[i];
        for (int k = 0; k < pack::size; k++) p.v[k] = cuda_stored<T>(f(cuda_load(p.v[k]), cuda_load(q.v[k])));
        reinterpret_cast<pack *>(y)[i] = p;
    }
    for (CUDA_GRID_STRIDE(i, count - packs * pack::size)) {
        const int64_t at = packs * pack::size + i;
        y[at] = cuda_stored<T>(f(cuda_load(a[at]), cuda_load(b[at])));
    }
}

/* The launch of either: a thread a pack. */
template <typename T>
cuda_shape cuda_pack_shape(const cuda_context *c, const int64_t *knobs, const char *kernel, int64_t count)
{
    const int64_t size = cuda_pack<T>::size, packs = count / size;
    return cuda_shape_pointwise(c, knobs, kernel, packs > 0 ? packs : count);
}

#endif
