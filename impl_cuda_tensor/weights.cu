/* weights.cu: the weights as forward.cu's tiles, each of a bulk copy: 32 channels that are summed over (the depth), or
 * 64 of f16 or bf16, by `wide` output channels (the rows), f32 in so many parts of TF32 as it takes.
 *
 * A row's 32 words stand in the order in which load_rows() or load_planes() has a patch's in registers, and 16-byte
 * places swizzled; the rows stand so that a thread's sums are neighbouring channels. */
#include "impl_cuda_tensor/asm.h"
#include "impl_cuda_tensor/tensor.h"

namespace
{

enum { SIDE = 32, THREADS = 256 };

#ifdef BENCHCNN_CUDA_EMULATED
__device__ inline uint32_t rounded_tf32(float v) { return (__float_as_uint(v) + 0x1000u) & 0xffffe000u; }
#else
__device__ inline uint32_t rounded_tf32(float v)
{
    uint32_t bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(v));
    return bits;
}
#endif

/* A row has 32 words: so many numbers. */
template <typename T> struct row_of {
    enum : int32_t { DEEP = SIDE * 4 / static_cast<int32_t>(sizeof(T)) };
};

/* Which of its 32 rows, and which of its 32 words, stands at place i. */
__device__ inline int32_t row_at(int32_t i) { return (i & 16) | (4 * ((i & 7) >> 1) + 2 * (i >> 3 & 1) + (i & 1)); }
__device__ inline int32_t word_at(int32_t i)
{
    const int32_t step = i >> 3, place = i & 7;
    return 16 * (step >> 1) + 4 * (place & 3) + 2 * (step & 1) + (place >> 2);
}
__device__ inline int32_t word_of_planes(int32_t i) { return (i & ~7) | 2 * (i & 3) | (i >> 2 & 1); }

template <typename T> struct alignas(2 * sizeof(T)) pair_of {
    T v[2];
};

struct corner {
    int32_t tap, chunk, row, group; /* the first of 32 rows x their numbers x at_once */
};

template <int AT_ONCE> __device__ inline corner corner_of(const cutensor_weights &s)
{
    const int32_t tap_groups = (s.taps + AT_ONCE - 1) / AT_ONCE, lines = s.group_tiles * s.wide / SIDE;
    const int32_t i = static_cast<int32_t>(blockIdx.x), j = i / tap_groups, k = j / s.chunks;
    return {i % tap_groups * AT_ONCE, j % s.chunks, k % lines * SIDE, k / lines};
}

/* Number n of those that a thread reads: w is read as it lies, taps side by side, then whichever of rows and depth
 * comes next. */
struct number_place {
    int32_t tap, row, deep;
};
template <typename T, int AT_ONCE> __device__ inline number_place number_at(const cutensor_weights &s, int32_t n)
{
    const int32_t i = (static_cast<int32_t>(threadIdx.x) + n * THREADS) / AT_ONCE;
    const int32_t tap = (static_cast<int32_t>(threadIdx.x) + n * THREADS) % AT_ONCE;
    if (s.transposed) return {tap, i % SIDE, i / SIDE};
    return {tap, i / row_of<T>::DEEP, i % row_of<T>::DEEP};
}

/* All reads of a thread are under way at once. */
template <typename T, int AT_ONCE>
__device__ inline void read_corner(const cutensor_weights &s, const corner &at, const T *w, float *kept)
{
    constexpr int32_t DEEP = row_of<T>::DEEP, EACH = SIDE * DEEP * AT_ONCE / THREADS;
    const int64_t of_group = static_cast<int64_t>(at.group) * s.rows * s.depth;
    float v[EACH];
#pragma unroll
    for (int32_t n = 0; n < EACH; n++) {
        const number_place p = number_at<T, AT_ONCE>(s, n);
        const int32_t t = at.tap + p.tap, row = at.row + p.row, deep = at.chunk * DEEP + p.deep;
        const int64_t pair =
            s.transposed ? static_cast<int64_t>(deep) * s.rows + row : static_cast<int64_t>(row) * s.depth + deep;
        const bool there = row < s.rows && deep < s.depth && t < s.taps;
        v[n] = there ? cuda_load(w[(of_group + pair) * s.taps + (s.reversed ? s.taps - 1 - t : t)]) : 0.0f;
    }
#pragma unroll
    for (int32_t n = 0; n < EACH; n++) {
        const number_place p = number_at<T, AT_ONCE>(s, n);
        kept[(p.tap * SIDE + p.row) * (DEEP + 1) + p.deep] = v[n];
    }
}

/* A word of a tile's row, and, in two parts, the one of its low part further on. */
__device__ inline void put_word(const cutensor_weights &s, uint32_t *place, const float *number, float)
{
    const uint32_t high = rounded_tf32(*number);
    *place = high;
    if (s.parts == 2) place[s.wide * SIDE] = rounded_tf32(*number - __uint_as_float(high));
}
template <typename T> __device__ inline void put_word(const cutensor_weights &, uint32_t *place, const float *number, T)
{
    *reinterpret_cast<pair_of<T> *>(place) = {{cuda_stored<T>(number[0]), cuda_stored<T>(number[1])}};
}

template <typename T, int AT_ONCE>
__device__ inline void write_corner(const cutensor_weights &s, const corner &at, const float *kept, uint32_t *to)
{
    constexpr int32_t DEEP = row_of<T>::DEEP, IN_WORD = DEEP / SIDE;
    const int32_t x = static_cast<int32_t>(threadIdx.x) % SIDE, word = s.planes ? word_of_planes(x) : word_at(x);
    const int32_t tile = at.group * s.group_tiles + at.row / s.wide, first_row = at.row % s.wide;
    for (int32_t i = static_cast<int32_t>(threadIdx.x) / SIDE; i < SIDE * AT_ONCE; i += THREADS / SIDE) {
        const int32_t tap = i / SIDE, row = i % SIDE;
        if (at.tap + tap >= s.taps) continue;
        const int64_t step = (static_cast<int64_t>(tile) * s.chunks + at.chunk) * s.taps + at.tap + tap;
        uint32_t *place =
            to + (step * s.parts * s.wide + first_row + row) * SIDE + (((x >> 2) ^ (row & 7)) << 2 | (x & 3));
        put_word(s, place, kept + (tap * SIDE + row_at(row)) * (DEEP + 1) + IN_WORD * word, T());
    }
}

template <typename T, int AT_ONCE>
__global__ void weights_to_tiles(const cutensor_weights s, const T *w, uint32_t *to, unsigned *flags)
{
    CUDA_DYNAMIC_SHARED(float, kept);
    next_may_start();
    const corner at = corner_of<AT_ONCE>(s);
    for (int32_t i = static_cast<int32_t>(blockIdx.x * THREADS + threadIdx.x); i < s.flags;
         i += static_cast<int32_t>(gridDim.x) * THREADS)
        flags[i] = 0;
    read_corner<T, AT_ONCE>(s, at, w, kept);
    __syncthreads();
    write_corner<T, AT_ONCE>(s, at, kept, to);
}

template <typename T>
cnn_status weights_run(cuda_context *c, const cutensor_weights *s, const void *w, void *to, void *flags, cnn_error *err)
{
    const int64_t blocks = static_cast<int64_t>((s->taps + s->at_once - 1) / s->at_once) * s->chunks * s->groups *
                           s->group_tiles * (s->wide / SIDE);
    const cuda_shape shape = {"weights_to_tiles", dim3(static_cast<unsigned>(blocks)), dim3(THREADS),
                              sizeof(float) * SIDE * (row_of<T>::DEEP + 1) * static_cast<size_t>(s->at_once)};
    return cuda_launch(c, shape, err, s->at_once == 1 ? weights_to_tiles<T, 1> : weights_to_tiles<T, WEIGHTS_AT_ONCE>,
                       *s, static_cast<const T *>(w), static_cast<uint32_t *>(to), static_cast<unsigned *>(flags));
}

} // namespace

cnn_status cutensor_weights_run(cuda_context *c, const cutensor_weights *s, cnn_dtype dtype, const void *w, void *to,
                                void *flags, cnn_error *err)
{
    if (s->in_order) return cutensor_weights_strip_run(c, s, w, to, flags, err);
    switch (dtype) {
    case CNN_F16:
    case CNN_F16_F16_F32:
        return weights_run<__half>(c, s, w, to, flags, err);
    case CNN_BF16:
    case CNN_BF16_BF16_F32:
        return weights_run<__nv_bfloat16>(c, s, w, to, flags, err);
    default:
        return weights_run<float>(c, s, w, to, flags, err);
    }
}
