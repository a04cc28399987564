/* weights.cu: the weights as forward.cu's tiles, each of a bulk copy: 32 channels that are summed over (the depth), or
 * 64 of f16 or bf16, by `wide` output channels (the rows), f32 in so many parts of TF32 as it takes.
 *
 * A row's 32 words stand in the order in which load_rows() or load_planes() has a patch's in registers, and 16-byte
 * places swizzled; the rows stand so that a thread's sums are neighbouring channels. */
#include "impl_cuda_tensor/asm.h"
#include "impl_cuda_tensor/window.h"

namespace
{

enum { SIDE = 32, THREADS = 256, WARPS = THREADS / 32 };

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

/* At which of its 32 places row i stands; which of a row's 32 words stands at place i. */
__device__ inline int32_t place_of_row(int32_t i) { return (i & 16) | 8 * (i >> 1 & 1) | 2 * (i >> 2 & 3) | (i & 1); }
__device__ inline int32_t word_at(int32_t i)
{
    const int32_t step = i >> 3, place = i & 7;
    return 16 * (step >> 1) + 4 * (place & 3) + 2 * (step & 1) + (place >> 2);
}
__device__ inline int32_t word_of_planes(int32_t i) { return (i & ~7) | 2 * (i & 3) | (i >> 2 & 1); }

template <typename T> struct alignas(2 * sizeof(T)) pair_of {
    T v[2];
};

/* What a block lays out: from these on so many rows and taps of a row's numbers. */
struct corner {
    int32_t tap, chunk, row, group;
    int32_t tile, row_of_tile; /* all of its rows are of one tile */
};
__device__ inline corner corner_of(const cutensor_weights &s)
{
    const int32_t i = static_cast<int32_t>(blockIdx.x), j = divided(i, s.by_tap_groups), k = divided(j, s.by_chunks);
    const int32_t group = divided(k, s.by_lines), row = (k - group * s.by_lines.d) * s.block_rows;
    const int32_t tile = divided(row, s.by_wide);
    return {(i - j * s.by_tap_groups.d) * s.at_once,
            j - k * s.chunks,
            row,
            group,
            group * s.group_tiles + tile,
            row - tile * s.wide};
}

/* In shared memory: a row's numbers, taps side by side. Threads that write neighbours of w, or read a row's words, do
 * not meet at a bank. */
__host__ __device__ inline int32_t kept_step(const cutensor_weights &s) { return s.at_once | 1; }
template <typename T> __host__ __device__ inline int32_t kept_row(const cutensor_weights &s)
{
    return row_of<T>::DEEP * kept_step(s) + s.at_once;
}

__device__ inline int32_t quotient(int32_t x, uint32_t factor)
{
    return static_cast<int32_t>(static_cast<uint64_t>(static_cast<uint32_t>(x)) * factor >> 32);
}

/* w is read as it lies: taps side by side, then whichever of rows and depth comes next. READS of a thread are under way
 * at once; ONE: of one tap. */
template <typename T, int READS, bool ONE>
__device__ inline void read_corner(const cutensor_weights &s, const corner &at, const T *w, float *kept)
{
    const int32_t deep = at.chunk * row_of<T>::DEEP, step = kept_step(s), row = kept_row<T>(s);
    const int32_t lines = s.transposed ? row_of<T>::DEEP : s.block_rows, all = lines * s.line;
    const int32_t left_lines = s.transposed ? s.depth - deep : s.rows - at.row; /* that there are from here on */
    const int32_t left = s.transposed ? s.rows - at.row : s.depth - deep, taps = s.taps - at.tap;
    const int64_t line_step = static_cast<int64_t>(s.transposed ? s.rows : s.depth) * s.taps;
    const int32_t first_tap = s.reversed ? s.taps - 1 - at.tap : at.tap;
    const int64_t pair =
        s.transposed ? static_cast<int64_t>(deep) * s.rows + at.row : static_cast<int64_t>(at.row) * s.depth + deep;
    const T *from = w + (static_cast<int64_t>(at.group) * s.rows * s.depth + pair) * s.taps + first_tap;
    for (int32_t first = static_cast<int32_t>(threadIdx.x); first < all; first += READS * THREADS) {
        float v[READS];
        int32_t to[READS];
#pragma unroll
        for (int32_t n = 0; n < READS; n++) {
            const int32_t i = first + n * THREADS, line = quotient(i, s.line_factor), j = i - line * s.line;
            const int32_t place = ONE ? j : quotient(j, s.tap_factor), tap = ONE ? 0 : j - place * s.at_once;
            const bool there = i < all && line < left_lines && place < left && tap < taps;
            const int64_t away = line * line_step + place * s.taps + (s.reversed ? -tap : tap);
            v[n] = there ? cuda_load(from[away]) : 0.0f;
            to[n] = s.transposed ? place * row + line * step + tap : line * row + place * step + tap;
        }
#pragma unroll
        for (int32_t n = 0; n < READS; n++) {
            if (first + n * THREADS < all) kept[to[n]] = v[n];
        }
    }
}

/* A word of a tile's row, and, in two parts, the one of its low part further on. `step`: from a number to the next. */
__device__ inline void put_word(const cutensor_weights &s, uint32_t *place, const float *number, int32_t, float)
{
    const uint32_t high = rounded_tf32(*number);
    *place = high;
    if (s.parts == 2) place[s.wide * SIDE] = rounded_tf32(*number - __uint_as_float(high));
}
template <typename T>
__device__ inline void put_word(const cutensor_weights &, uint32_t *place, const float *number, int32_t step, T)
{
    *reinterpret_cast<pair_of<T> *>(place) = {{cuda_stored<T>(number[0]), cuda_stored<T>(number[step])}};
}

/* A warp writes every 8th of the rows, a tap at a time. */
template <typename T>
__device__ inline void write_corner(const cutensor_weights &s, const corner &at, const float *kept, uint32_t *to)
{
    constexpr int32_t IN_WORD = row_of<T>::DEEP / SIDE;
    const int32_t x = static_cast<int32_t>(threadIdx.x) % SIDE, word = s.planes ? word_of_planes(x) : word_at(x);
    const int32_t step = kept_step(s), taps = min(s.at_once, s.taps - at.tap), tap_step = s.parts * s.wide * SIDE;
    const int64_t first = (static_cast<int64_t>(at.tile) * s.chunks + at.chunk) * s.taps + at.tap;
    uint32_t *of_tap = to + first * tap_step + (at.row_of_tile & ~(SIDE - 1)) * SIDE;
    for (int32_t i = static_cast<int32_t>(threadIdx.x) / SIDE; i < s.block_rows; i += WARPS) {
        const int32_t place = place_of_row((at.row_of_tile + i) & (SIDE - 1));
        uint32_t *next = of_tap + place * SIDE + (((x >> 2) ^ (place & 7)) << 2 | (x & 3));
        const float *number = kept + i * kept_row<T>(s) + IN_WORD * word * step;
        for (int32_t tap = 0; tap < taps; tap++, next += tap_step) put_word(s, next, number + tap, step, T());
    }
}

template <typename T, int READS, bool ONE>
__global__ void __launch_bounds__(THREADS, 4)
    weights_to_tiles(const cutensor_weights s, const T *w, uint32_t *to, unsigned *flags)
{
    CUDA_DYNAMIC_SHARED(float, kept);
    next_may_start();
    const corner at = corner_of(s);
#pragma unroll 1
    for (int32_t i = static_cast<int32_t>(blockIdx.x * THREADS + threadIdx.x); i < s.flags;
         i += static_cast<int32_t>(gridDim.x) * THREADS)
        flags[i] = 0;
    read_corner<T, READS, ONE>(s, at, w, kept);
    __syncthreads();
    write_corner<T>(s, at, kept, to);
}

template <typename T>
cnn_status weights_run(cuda_context *c, const cutensor_weights *s, const void *w, void *to, void *flags, cnn_error *err)
{
    const int64_t blocks = static_cast<int64_t>(s->by_tap_groups.d) * s->chunks * s->groups * s->by_lines.d;
    const cuda_shape shape = {"weights_to_tiles", dim3(static_cast<unsigned>(blocks)), dim3(THREADS),
                              sizeof(float) * static_cast<size_t>(s->block_rows * kept_row<T>(*s))};
    const T *from = static_cast<const T *>(w);
    uint32_t *tiles = static_cast<uint32_t *>(to);
    unsigned *cleared = static_cast<unsigned *>(flags);
    return s->at_once == 1 ? cuda_launch(c, shape, err, weights_to_tiles<T, 4, true>, *s, from, tiles, cleared)
                           : cuda_launch(c, shape, err, weights_to_tiles<T, 9, false>, *s, from, tiles, cleared);
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
