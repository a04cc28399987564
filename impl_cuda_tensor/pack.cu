/* pack.cu: a tensor of either layout as NHWC with channels in fours, which is what 16-byte copies can read. */
#include "harness/cuda/launch.h"
#include "impl_cuda_tensor/tensor.h"

namespace
{

enum { CHANNELS = 32, PIXELS = 64, THREADS = 256 };

/* Where channel e of the packed tensor is in the source, whose groups are not filled up; -1: it fills up. */
__device__ inline int32_t source_channel(const cutensor_pack &s, int32_t e)
{
    if (s.groups == 1) return e < s.channels ? e : -1;
    const int32_t group = e / s.filled, c = e - group * s.filled;
    return group < s.groups && c < s.channels ? group * s.channels + c : -1;
}

/* A block turns 32 channels by 64 pixels of an image: it reads along whichever of them lies side by side, and writes 16
 * bytes a thread. */
template <bool TURNED>
__global__ void pack(const cutensor_pack s, int32_t channel_tiles, int32_t blocks, const float *from, float *to)
{
    CUDA_SHARED(float, tile, [PIXELS][CHANNELS + 1]);
    constexpr int FAST = TURNED ? PIXELS : CHANNELS;
    const int32_t thread = static_cast<int32_t>(threadIdx.x), fast = thread % FAST, all = s.groups * s.filled;
    const int32_t block = static_cast<int32_t>(blockIdx.x) % blocks, n = static_cast<int32_t>(blockIdx.x) / blocks;
    const int32_t first_pixel = block / channel_tiles * PIXELS, first = block % channel_tiles * CHANNELS;
    const float *image = from + n * s.image;
    float v[CHANNELS * PIXELS / THREADS];
#pragma unroll
    for (int32_t i = 0; i < CHANNELS * PIXELS / THREADS; i++) {
        const int32_t slow = thread / FAST + i * (THREADS / FAST);
        const int32_t c = source_channel(s, first + (TURNED ? slow : fast)),
                      pixel = first_pixel + (TURNED ? fast : slow);
        v[i] = c >= 0 && pixel < s.pixels ? image[c * s.channel + pixel * s.pixel] : 0.0f;
    }
#pragma unroll
    for (int32_t i = 0; i < CHANNELS * PIXELS / THREADS; i++) {
        const int32_t slow = thread / FAST + i * (THREADS / FAST);
        tile[TURNED ? fast : slow][TURNED ? slow : fast] = v[i];
    }
    __syncthreads();
#pragma unroll
    for (int32_t i = thread; i < CHANNELS / 4 * PIXELS; i += THREADS) {
        const int32_t four = i % (CHANNELS / 4) * 4, pixel = i / (CHANNELS / 4);
        if (first + four >= all || first_pixel + pixel >= s.pixels) continue;
        const float *at = &tile[pixel][four];
        reinterpret_cast<float4 *>(
            to)[(static_cast<int64_t>(n) * s.pixels + first_pixel + pixel) * (all / 4) + (first + four) / 4] =
            float4{at[0], at[1], at[2], at[3]};
    }
}

} // namespace

cnn_status cutensor_pack_run(cuda_context *c, const cutensor_pack *s, const void *from, void *to, cnn_error *err)
{
    const int32_t channel_tiles = (s->groups * s->filled + CHANNELS - 1) / CHANNELS;
    const int32_t blocks = channel_tiles * ((s->pixels + PIXELS - 1) / PIXELS);
    const cuda_shape shape = {"pack", dim3(static_cast<unsigned>(static_cast<int64_t>(blocks) * s->images)),
                              dim3(THREADS), 0};
    return cuda_launch(c, shape, err, s->pixel == 1 ? pack<true> : pack<false>, *s, channel_tiles, blocks,
                       static_cast<const float *>(from), static_cast<float *>(to));
}
