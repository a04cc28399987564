/* fold.cu: few input channels, as those of an image: a row of the kernel becomes one tap of many channels.
 *
 * Idea: a step of the product takes 32 channels of a tap. Of a first layer, 7x7 taps of 3 channels, 29 of the 32 would
 * be zeros. But in NHWC the pixels that a row of the kernel reads are neighbours in memory, so they can be read as one
 * pixel of kw times as many channels: 7 taps of 28 instead of 49 of 3. For this x is copied first: its channels filled
 * up to 4, which 16 bytes hold, and its rows with their padding, so that such a pixel never leaves its row. Pixels then
 * overlap: the next one begins 16 bytes further, not behind the last channel. The weights, [oc][channel][row][column],
 * become [oc][column][4 channels][row].
 *
 * Of BWD_W the same product gives dw in this order, which is put back. */
#include "impl_cuda_tensor/tensor.h"

#include "harness/cuda/launch.h"

namespace
{

enum { THREADS = 256, BLOCKS = 16, TOGETHER = 4 };

/* Number e of weights as they lie: where it is in the other order. */
__device__ inline int64_t folded_at(const cutensor_fold &f, int32_t e)
{
    const int32_t j = e % f.kw, i = e / f.kw % f.kh, o = e / (f.kw * f.kh) / f.channels;
    const int32_t c = e / (f.kw * f.kh) - o * f.channels, column = f.flip ? f.kw - 1 - j : j;
    return (static_cast<int64_t>(o) * f.kw * TOGETHER + column * TOGETHER + c) * f.kh + i;
}
__device__ inline int32_t weights_of(const cutensor_fold &f) { return f.outputs * f.channels * f.kh * f.kw; }

/* Numbers of the other order, and of w what they are: zeros of channels that are none. */
__device__ inline float weight_of(const cutensor_fold &f, const float *w, int32_t e)
{
    const int32_t i = e % f.kh, k = e / f.kh, o = k / (f.kw * TOGETHER), d = k - o * f.kw * TOGETHER;
    const int32_t c = d % TOGETHER, j = d / TOGETHER, column = f.flip ? f.kw - 1 - j : j;
    return c < f.channels ? w[((static_cast<int64_t>(o) * f.channels + c) * f.kh + i) * f.kw + column] : 0;
}

/* x, and `w`, weights or their gradient, unless NULL. */
__global__ void __launch_bounds__(THREADS)
    fold(const cutensor_fold f, const float *x, float4 *to, const float *w, float *weights)
{
    const int32_t count = w == nullptr ? 0 : f.outputs * f.kh * f.kw * TOGETHER;
    for (CUDA_GRID_STRIDE(e, static_cast<int64_t>(f.places) + count)) {
        if (e >= f.places) {
            const int32_t of_weights = static_cast<int32_t>(e - f.places);
            weights[of_weights] = weight_of(f, w, of_weights);
            continue;
        }
        int32_t n = static_cast<int32_t>(e);
        const int32_t v = cuda_split(&n, f.by_pitch) - f.pad, h = cuda_split(&n, f.by_rows);
        const float *from = x + n * f.image + h * f.row + static_cast<int64_t>(v) * f.column;
        float values[TOGETHER];
#pragma unroll
        for (int32_t c = 0; c < TOGETHER; c++)
            values[c] = c < f.channels && v >= 0 && v < f.columns ? from[c * f.channel] : 0;
        to[e] = float4{values[0], values[1], values[2], values[3]};
    }
}

__global__ void __launch_bounds__(THREADS) unfold(const cutensor_fold f, const float *from, float *dw)
{
    for (CUDA_GRID_STRIDE(e, weights_of(f))) dw[e] = from[folded_at(f, static_cast<int32_t>(e))];
}

} // namespace

cnn_status cutensor_fold_run(cuda_context *c, const cutensor_fold *f, const void *x, const void *w, void *space,
                             cnn_error *err)
{
    char *at = static_cast<char *>(space);
    const cuda_shape shape = cuda_shape_1d(c, "fold", f->places, THREADS, BLOCKS);
    return cuda_launch(c, shape, err, fold, *f, static_cast<const float *>(x), reinterpret_cast<float4 *>(at + f->x_at),
                       static_cast<const float *>(w), reinterpret_cast<float *>(at + f->w_at));
}

cnn_status cutensor_unfold_run(cuda_context *c, const cutensor_fold *f, const void *space, void *dw, cnn_error *err)
{
    const char *at = static_cast<const char *>(space);
    const int64_t count = static_cast<int64_t>(f->outputs) * f->channels * f->kh * f->kw;
    const cuda_shape shape = cuda_shape_1d(c, "unfold", count, THREADS, BLOCKS);
    return cuda_launch(c, shape, err, unfold, *f, reinterpret_cast<const float *>(at + f->w_at),
                       static_cast<float *>(dw));
}
