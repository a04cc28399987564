/* pack.cu: a tensor of either layout as NHWC with channels in fours, which is what 16-byte copies can read. */
#include "harness/cuda/launch.h"
#include "impl_cuda_tensor/tensor.h"

namespace
{

enum { SIDE = 32, LINES = 8 };

/* A block turns 32 channels by 32 pixels of an image: it reads along whichever of them lies side by side. */
__global__ void pack(const cutensor_pack s, int32_t channel_tiles, const float *from, float *to)
{
    CUDA_SHARED(float, tile, [SIDE][SIDE + 1]);
    const int32_t all = s.groups * s.filled;
    const int32_t first_pixel = static_cast<int32_t>(blockIdx.x) / channel_tiles * SIDE;
    const int32_t first = static_cast<int32_t>(blockIdx.x) % channel_tiles * SIDE;
    for (int64_t n = blockIdx.y; n < s.images; n += gridDim.y) {
        for (int32_t i = static_cast<int32_t>(threadIdx.y); i < SIDE; i += LINES) {
            const int32_t x = static_cast<int32_t>(threadIdx.x);
            const bool turned = s.pixel == 1;
            const int32_t e = first + (turned ? i : x), pixel = first_pixel + (turned ? x : i);
            const int32_t group = e / s.filled, c = e % s.filled;
            const bool there = e < all && c < s.channels && pixel < s.pixels;
            const float v =
                there ? from[n * s.image + (int64_t)(group * s.channels + c) * s.channel + pixel * s.pixel] : 0.0f;
            tile[turned ? x : i][turned ? i : x] = v;
        }
        __syncthreads();
        for (int32_t i = static_cast<int32_t>(threadIdx.y); i < SIDE; i += LINES) {
            const int32_t e = first + static_cast<int32_t>(threadIdx.x), pixel = first_pixel + i;
            if (e < all && pixel < s.pixels) to[(n * s.pixels + pixel) * all + e] = tile[i][threadIdx.x];
        }
        __syncthreads();
    }
}

} // namespace

cnn_status cutensor_pack_run(cuda_context *c, const cutensor_pack *s, const void *from, void *to, cnn_error *err)
{
    const int32_t channel_tiles = (s->groups * s->filled + SIDE - 1) / SIDE,
                  pixel_tiles = (s->pixels + SIDE - 1) / SIDE;
    const cuda_shape shape = {"pack",
                              dim3(static_cast<unsigned>(channel_tiles * pixel_tiles),
                                   static_cast<unsigned>(s->images < 65535 ? s->images : 65535)),
                              dim3(SIDE, LINES), 0};
    return cuda_launch(c, shape, err, pack, *s, channel_tiles, static_cast<const float *>(from),
                       static_cast<float *>(to));
}
