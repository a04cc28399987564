/* weights.cu: the weights as forward.cu's tiles, each of a bulk copy: 32 channels that are summed over (the depth) by
 * `wide` output channels (the rows), in so many parts of TF32 as it takes.
 *
 * A row's 32 numbers stand in the order in which load_rows() has a patch's in registers, and 16-byte places swizzled;
 * the rows stand so that a thread's sums are neighbouring channels. */
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

/* Which of its 32 rows, and which of its 32 numbers, stands at place i. */
__device__ inline int32_t row_at(int32_t i) { return (i & 16) | (4 * ((i & 7) >> 1) + 2 * (i >> 3 & 1) + (i & 1)); }
__device__ inline int32_t number_at(int32_t i)
{
    const int32_t step = i >> 3, place = i & 7;
    return 16 * (step >> 1) + 4 * (place & 3) + 2 * (step & 1) + (place >> 2);
}

struct corner {
    int32_t tap, chunk, row, group; /* the first of 32 x 32 x at_once */
};

template <int AT_ONCE> __device__ inline corner corner_of(const cutensor_weights &s)
{
    const int32_t tap_groups = (s.taps + AT_ONCE - 1) / AT_ONCE, lines = s.group_tiles * s.wide / SIDE;
    const int32_t i = static_cast<int32_t>(blockIdx.x), j = i / tap_groups, k = j / s.chunks;
    return {i % tap_groups * AT_ONCE, j % s.chunks, k % lines * SIDE, k / lines};
}

/* w is read as it lies: taps side by side, then whichever of rows and depth comes next. All reads of a thread are under
 * way at once. */
template <int AT_ONCE>
__device__ inline void read_corner(const cutensor_weights &s, const corner &at, const float *w, float *kept)
{
    constexpr int EACH = SIDE * SIDE * AT_ONCE / THREADS;
    const int64_t of_group = static_cast<int64_t>(at.group) * s.rows * s.depth;
    float v[EACH];
#pragma unroll
    for (int32_t n = 0; n < EACH; n++) {
        const int32_t i = static_cast<int32_t>(threadIdx.x) + n * THREADS;
        const int32_t t = at.tap + i % AT_ONCE, inner = i / AT_ONCE % SIDE, outer = i / AT_ONCE / SIDE;
        const int32_t row = at.row + (s.transposed ? inner : outer),
                      deep = at.chunk * SIDE + (s.transposed ? outer : inner);
        const int64_t pair =
            s.transposed ? static_cast<int64_t>(deep) * s.rows + row : static_cast<int64_t>(row) * s.depth + deep;
        const bool there = row < s.rows && deep < s.depth && t < s.taps;
        v[n] = there ? w[(of_group + pair) * s.taps + (s.reversed ? s.taps - 1 - t : t)] : 0.0f;
    }
#pragma unroll
    for (int32_t n = 0; n < EACH; n++) {
        const int32_t i = static_cast<int32_t>(threadIdx.x) + n * THREADS;
        const int32_t inner = i / AT_ONCE % SIDE, outer = i / AT_ONCE / SIDE;
        kept[(i % AT_ONCE * SIDE + (s.transposed ? inner : outer)) * (SIDE + 1) + (s.transposed ? outer : inner)] =
            v[n];
    }
}

template <int AT_ONCE>
__device__ inline void write_corner(const cutensor_weights &s, const corner &at, const float *kept, uint32_t *to)
{
    const int32_t x = static_cast<int32_t>(threadIdx.x) % SIDE, number = number_at(x);
    const int32_t tile = at.group * s.group_tiles + at.row / s.wide, first_row = at.row % s.wide;
    for (int32_t i = static_cast<int32_t>(threadIdx.x) / SIDE; i < SIDE * AT_ONCE; i += THREADS / SIDE) {
        const int32_t tap = i / SIDE, row = i % SIDE;
        if (at.tap + tap >= s.taps) continue;
        const float v = kept[(tap * SIDE + row_at(row)) * (SIDE + 1) + number];
        const uint32_t high = rounded_tf32(v);
        const int64_t step = (static_cast<int64_t>(tile) * s.chunks + at.chunk) * s.taps + at.tap + tap;
        uint32_t *place =
            to + (step * s.parts * s.wide + first_row + row) * SIDE + (((x >> 2) ^ (row & 7)) << 2 | (x & 3));
        *place = high;
        if (s.parts == 2) place[s.wide * SIDE] = rounded_tf32(v - __uint_as_float(high));
    }
}

template <int AT_ONCE>
__global__ void weights_to_tiles(const cutensor_weights s, const float *w, uint32_t *to, unsigned *flags)
{
    CUDA_DYNAMIC_SHARED(float, kept);
    next_may_start();
    const corner at = corner_of<AT_ONCE>(s);
    for (int32_t i = static_cast<int32_t>(blockIdx.x * THREADS + threadIdx.x); i < s.flags;
         i += static_cast<int32_t>(gridDim.x) * THREADS)
        flags[i] = 0;
    read_corner<AT_ONCE>(s, at, w, kept);
    __syncthreads();
    write_corner<AT_ONCE>(s, at, kept, to);
}

} // namespace

cnn_status cutensor_weights_run(cuda_context *c, const cutensor_weights *s, const void *w, void *to, void *flags,
                                cnn_error *err)
{
    const int64_t blocks = static_cast<int64_t>((s->taps + s->at_once - 1) / s->at_once) * s->chunks * s->groups *
                           s->group_tiles * (s->wide / SIDE);
    const cuda_shape shape = {"weights_to_tiles", dim3(static_cast<unsigned>(blocks)), dim3(THREADS),
                              sizeof(float) * SIDE * (SIDE + 1) * static_cast<size_t>(s->at_once)};
    return cuda_launch(c, shape, err, s->at_once == 1 ? weights_to_tiles<1> : weights_to_tiles<WEIGHTS_AT_ONCE>, *s,
                       static_cast<const float *>(w), static_cast<uint32_t *>(to), static_cast<unsigned *>(flags));
}
