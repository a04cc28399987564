/* repack.cu: tensors from NCHW to NHWC, before they are read, and results back.
 *
 * Idea: the kernels here take 64 channels of a pixel at a time. In NCHW these lie a plane apart, so that a thread of
 * the few that load copies 4 bytes at once, in NHWC 16. A pass over a tensor by all threads costs less than that
 * difference.
 *
 * A block takes 64 channels of 32 pixels through shared memory: warps read 32 neighbouring pixels of a channel, and
 * write 64 neighbouring channels of a pixel, or the other way round. All reads of a thread are under way at once. */
#include "impl_cuda_tensor/tensor.h"

#include "harness/cuda/launch.h"
#include "harness/cuda/real.h"

#include <string.h>

namespace
{

enum { CHANNELS = 64, PIXELS = 32, THREADS = 256, WARPS = THREADS / 32, ROW = PIXELS + 1 };

template <typename T> struct tensor_of {
    cutensor_planes s;
    const T *from;
    T *to;
};

/* What a block takes: from this channel and pixel of an image on. */
struct place_of_block {
    int32_t channel, pixel;
    int64_t image; /* times its channels */
};
__device__ inline place_of_block place_at(const cutensor_planes &s, int32_t block)
{
    const int32_t rest = block / s.pixel_tiles, image = rest / s.channel_tiles;
    return {(rest - image * s.channel_tiles) * CHANNELS, (block - rest * s.pixel_tiles) * PIXELS,
            static_cast<int64_t>(image) * s.channels};
}
/* Where pixel p lies in a plane. */
__device__ inline int32_t place_in_plane(const cutensor_planes &s, int32_t p)
{
    if (s.right == 0) return p;
    const int32_t line = cuda_divided(p, s.by_wide);
    return line * s.down + (p - line * s.by_wide.d) * s.right;
}

/* Two channels of a pixel: of 4 bytes each 32 channels apart, of 2 bytes neighbours, in one word. */
__device__ inline void write_two(const cutensor_planes &s, const float (&kept)[CHANNELS][ROW], int32_t pixel,
                                 int32_t lane, int32_t channel, float *to)
{
    if (channel + lane < s.channels) to[lane] = kept[lane][pixel];
    if (channel + lane + 32 < s.channels) to[lane + 32] = kept[lane + 32][pixel];
}
template <typename T>
__device__ inline void write_two(const cutensor_planes &s, const T (&kept)[CHANNELS][ROW], int32_t pixel, int32_t lane,
                                 int32_t channel, T *to)
{
    const T two[2] = {kept[2 * lane][pixel], kept[2 * lane + 1][pixel]};
    uint32_t word;
    memcpy(&word, two, sizeof word);
    if (channel + 2 * lane < s.channels) reinterpret_cast<uint32_t *>(to)[lane] = word;
}

template <typename T>
__global__ void __launch_bounds__(THREADS) planes_to_rows(const tensor_of<T> one, const tensor_of<T> other)
{
    __shared__ T kept[CHANNELS][ROW];
    const bool first = static_cast<int32_t>(blockIdx.x) < one.s.blocks;
    const tensor_of<T> t = first ? one : other;
    const place_of_block at = place_at(t.s, static_cast<int32_t>(blockIdx.x) - (first ? 0 : one.s.blocks));
    const int32_t warp = static_cast<int32_t>(threadIdx.x) / 32, lane = static_cast<int32_t>(threadIdx.x) % 32;
    const T *from = t.from + (at.image + at.channel) * t.s.plane + place_in_plane(t.s, at.pixel + lane);
    T *to = t.to + at.image * t.s.pixels + static_cast<int64_t>(at.pixel) * t.s.channels + at.channel;
    T v[CHANNELS / WARPS];
#pragma unroll
    for (int32_t i = 0; i < CHANNELS / WARPS; i++) {
        const int32_t c = warp + i * WARPS;
        v[i] = T();
        if (at.channel + c < t.s.channels && at.pixel + lane < t.s.pixels)
            v[i] = from[static_cast<int64_t>(c) * t.s.plane];
    }
#pragma unroll
    for (int32_t i = 0; i < CHANNELS / WARPS; i++) kept[warp + i * WARPS][lane] = v[i];
    __syncthreads();
#pragma unroll
    for (int32_t i = 0; i < PIXELS / WARPS; i++) {
        const int32_t p = warp + i * WARPS;
        if (at.pixel + p < t.s.pixels)
            write_two(t.s, kept, p, lane, at.channel, to + static_cast<int64_t>(p) * t.s.channels);
    }
}

/* Of 16 bits, channels in pairs. */
__global__ void __launch_bounds__(THREADS) rows_to_planes(const tensor_of<uint16_t> t)
{
    __shared__ uint16_t kept[CHANNELS][ROW];
    const place_of_block at = place_at(t.s, static_cast<int32_t>(blockIdx.x));
    const int32_t warp = static_cast<int32_t>(threadIdx.x) / 32, lane = static_cast<int32_t>(threadIdx.x) % 32;
    const uint16_t *from = t.from + at.image * t.s.pixels + static_cast<int64_t>(at.pixel) * t.s.channels + at.channel;
    uint16_t *to = t.to + (at.image + at.channel) * t.s.pixels + at.pixel;
    uint32_t v[PIXELS / WARPS];
#pragma unroll
    for (int32_t i = 0; i < PIXELS / WARPS; i++) {
        const int32_t p = warp + i * WARPS;
        v[i] = 0;
        if (at.pixel + p < t.s.pixels && at.channel + 2 * lane < t.s.channels)
            v[i] = reinterpret_cast<const uint32_t *>(from + static_cast<int64_t>(p) * t.s.channels)[lane];
    }
#pragma unroll
    for (int32_t i = 0; i < PIXELS / WARPS; i++) {
        kept[2 * lane][warp + i * WARPS] = static_cast<uint16_t>(v[i] & 0xffff);
        kept[2 * lane + 1][warp + i * WARPS] = static_cast<uint16_t>(v[i] >> 16);
    }
    __syncthreads();
#pragma unroll
    for (int32_t i = 0; i < CHANNELS / WARPS; i++) {
        const int32_t c = warp + i * WARPS;
        if (at.channel + c < t.s.channels && at.pixel + lane < t.s.pixels)
            to[static_cast<int64_t>(c) * t.s.pixels + lane] = kept[c][lane];
    }
}

template <typename T> tensor_of<T> tensor_at(const cutensor_copy &c)
{
    return {*c.planes, static_cast<const T *>(c.from), static_cast<T *>(c.to)};
}

template <typename T>
cnn_status to_rows_run(cuda_context *c, const cutensor_copy &one, const cutensor_copy &other, cnn_error *err)
{
    const unsigned blocks = static_cast<unsigned>(one.planes->blocks + other.planes->blocks);
    const cuda_shape shape = {"planes_to_rows", dim3(blocks), dim3(THREADS), 0};
    return cuda_launch(c, shape, err, planes_to_rows<T>, tensor_at<T>(one), tensor_at<T>(other));
}

} // namespace

cnn_status cutensor_to_rows_run(cuda_context *c, bool of_16_bits, const cutensor_copy *one, const cutensor_copy *other,
                                cnn_error *err)
{
    static const cutensor_planes nothing = {};
    const cutensor_copy none = {&nothing, nullptr, nullptr};
    if (other == nullptr) other = &none;
    return of_16_bits ? to_rows_run<uint16_t>(c, *one, *other, err) : to_rows_run<float>(c, *one, *other, err);
}

cnn_status cutensor_to_planes_run(cuda_context *c, const cutensor_copy *of, cnn_error *err)
{
    const cuda_shape shape = {"rows_to_planes", dim3(static_cast<unsigned>(of->planes->blocks)), dim3(THREADS), 0};
    return cuda_launch(c, shape, err, rows_to_planes, tensor_at<uint16_t>(*of));
}
