/* repack.cu: x and dy from NCHW to NHWC, before BWD_W reads them.
 *
 * Idea: BWD_W takes 64 channels of a pixel at a time. In NCHW these lie a plane apart, so that a thread of its few that
 * load copies 4 bytes at once, in NHWC 16. A pass over both tensors by all threads costs less than that difference.
 *
 * A block takes 64 channels of 32 pixels through shared memory: warps read 32 neighbouring pixels of a channel, and
 * write 64 neighbouring channels of a pixel. All reads of a thread are under way at once. */
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
__global__ void __launch_bounds__(THREADS) planes_to_rows(const tensor_of<T> x, const tensor_of<T> dy)
{
    __shared__ T kept[CHANNELS][ROW];
    const bool first = static_cast<int32_t>(blockIdx.x) < x.s.blocks;
    const tensor_of<T> t = first ? x : dy;
    const int32_t block = static_cast<int32_t>(blockIdx.x) - (first ? 0 : x.s.blocks);
    const int32_t rest = block / t.s.pixel_tiles, image = rest / t.s.channel_tiles;
    const int32_t pixel = (block - rest * t.s.pixel_tiles) * PIXELS;
    const int32_t channel = (rest - image * t.s.channel_tiles) * CHANNELS;
    const int32_t warp = static_cast<int32_t>(threadIdx.x) / 32, lane = static_cast<int32_t>(threadIdx.x) % 32;
    const int64_t begin = static_cast<int64_t>(image) * t.s.channels * t.s.pixels;
    const T *from = t.from + begin + static_cast<int64_t>(channel) * t.s.pixels + pixel;
    T *to = t.to + begin + static_cast<int64_t>(pixel) * t.s.channels + channel;
    T v[CHANNELS / WARPS];
#pragma unroll
    for (int32_t i = 0; i < CHANNELS / WARPS; i++) {
        const int32_t c = warp + i * WARPS;
        v[i] = T();
        if (channel + c < t.s.channels && pixel + lane < t.s.pixels)
            v[i] = from[static_cast<int64_t>(c) * t.s.pixels + lane];
    }
#pragma unroll
    for (int32_t i = 0; i < CHANNELS / WARPS; i++) kept[warp + i * WARPS][lane] = v[i];
    __syncthreads();
#pragma unroll
    for (int32_t i = 0; i < PIXELS / WARPS; i++) {
        const int32_t p = warp + i * WARPS;
        if (pixel + p < t.s.pixels) write_two(t.s, kept, p, lane, channel, to + static_cast<int64_t>(p) * t.s.channels);
    }
}

template <typename T>
cnn_status repack_run(cuda_context *c, const cutensor_repack *r, const void *x, const void *dy, void *space,
                      cnn_error *err)
{
    char *to = static_cast<char *>(space);
    const tensor_of<T> first = {r->x, static_cast<const T *>(x), reinterpret_cast<T *>(to + r->x.at)};
    const tensor_of<T> second = {r->dy, static_cast<const T *>(dy), reinterpret_cast<T *>(to + r->dy.at)};
    const cuda_shape shape = {"planes_to_rows", dim3(static_cast<unsigned>(r->x.blocks + r->dy.blocks)), dim3(THREADS),
                              0};
    return cuda_launch(c, shape, err, planes_to_rows<T>, first, second);
}

} // namespace

cnn_status cutensor_repack_run(cuda_context *c, const cutensor_repack *r, cnn_dtype dtype, const void *x,
                               const void *dy, void *space, cnn_error *err)
{
    return cuda_has_half(dtype) ? repack_run<uint16_t>(c, r, x, dy, space, err)
                                : repack_run<float>(c, r, x, dy, space, err);
}
