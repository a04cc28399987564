/* few.cu: sums of few terms, a thread each, by the multiprocessor's own f32.
 *
 * A product of two parts each is right to 2^-22, and the tensor cores cut their sums. Where 16 terms and more are added
 * up, that is less than what f32 itself may lose; in shorter sums it would show, where results are f32. They are little
 * work: few channels, few taps, or (BWD_W) few images. */
#include "impl_cuda_tensor/finish.h"
#include "impl_cuda_tensor/window.h"

namespace
{

__device__ inline int64_t place_in(const cutensor_view &v, int32_t pixels, int32_t pixel, int32_t channel)
{
    const int32_t n = pixel / pixels;
    return n * v.image + static_cast<int64_t>(pixel - n * pixels) * v.pixel + channel * v.channel;
}

/* FWD and BWD_D: out[pixel][channel] over taps and the group's channels. */
template <typename T>
__global__ void few_outputs(const cutensor_few f, const T *in, const T *w, const float *bias, float *out,
                            const cutensor_finish finish)
{
    const int64_t count = static_cast<int64_t>(f.pixels) * f.groups * f.rows;
    const int32_t in_plane = f.window.ih * f.window.iw, out_plane = f.window.oh * f.window.ow;
    for (CUDA_GRID_STRIDE(e, count)) {
        const int32_t channel = static_cast<int32_t>(e / f.pixels), m = static_cast<int32_t>(e % f.pixels);
        const int32_t group = channel / f.rows, row = channel % f.rows;
        float sum = 0;
        for (int32_t tap = 0; tap < f.taps; tap++) {
            const int32_t pixel = pixel_of_tap(f.window, m, tap), t = f.reversed ? f.taps - 1 - tap : tap;
            if (pixel < 0) continue;
            for (int32_t deep = 0; deep < f.depth; deep++) {
                const int64_t pair = f.transposed ? static_cast<int64_t>(group * f.depth + deep) * f.rows + row
                                                  : static_cast<int64_t>(channel) * f.depth + deep;
                sum += cuda_load(in[place_in(f.in, in_plane, pixel, group * f.depth + deep)]) *
                       cuda_load(w[pair * f.taps + t]);
            }
        }
        if (bias != nullptr) sum += bias[channel];
        float *to = out + place_in(f.out, out_plane, m, channel), last[1] = {sum};
        if (finish.adds != 0) last[0] += *added_to(finish, to);
        activate(finish, last);
        *to = last[0];
    }
}

/* BWD_W: dw[row][deep][tap] over pixels; `in` is x, `out` dy. */
template <typename T> __global__ void few_weights(const cutensor_few f, const T *x, const T *dy, float *dw)
{
    const int64_t count = static_cast<int64_t>(f.groups) * f.rows * f.depth * f.taps;
    const int32_t in_plane = f.window.ih * f.window.iw, out_plane = f.window.oh * f.window.ow;
    for (CUDA_GRID_STRIDE(e, count)) {
        const int32_t tap = static_cast<int32_t>(e % f.taps), pair = static_cast<int32_t>(e / f.taps);
        const int32_t channel = pair / f.depth, deep = channel / f.rows * f.depth + pair % f.depth;
        float sum = 0;
        for (int32_t m = 0; m < f.pixels; m++) {
            const int32_t pixel = pixel_of_tap(f.window, m, f.reversed ? f.taps - 1 - tap : tap);
            if (pixel < 0) continue;
            sum += cuda_load(dy[place_in(f.out, out_plane, m, channel)]) *
                   cuda_load(x[place_in(f.in, in_plane, pixel, deep)]);
        }
        dw[e] = f.add ? dw[e] + sum : sum;
    }
}

} // namespace

/* Of f32, or of f16 or bf16 with results of f32. */
#define BY_FACTORS(dtype, ...)                                                                                         \
    ((dtype) == CNN_F16_F16_F32     ? [&] { typedef __half T; return __VA_ARGS__; }()                                  \
     : (dtype) == CNN_BF16_BF16_F32 ? [&] { typedef __nv_bfloat16 T; return __VA_ARGS__; }()                           \
                                    : [&] { typedef float T; return __VA_ARGS__; }())

cnn_status cutensor_few_run(cuda_context *c, const cutensor_few *f, cnn_dtype dtype, const void *in, const void *w,
                            const void *bias, void *out, const cutensor_finish *s, cnn_error *err)
{
    const cuda_shape shape =
        cuda_shape_pointwise(c, c->knobs, "few_outputs", static_cast<int64_t>(f->pixels) * f->groups * f->rows);
    return BY_FACTORS(dtype, cuda_launch(c, shape, err, few_outputs<T>, *f, static_cast<const T *>(in),
                                         static_cast<const T *>(w), static_cast<const float *>(bias),
                                         static_cast<float *>(out), *s));
}

cnn_status cutensor_few_weights_run(cuda_context *c, const cutensor_few *f, cnn_dtype dtype, const void *x,
                                    const void *dy, void *dw, cnn_error *err)
{
    const cuda_shape shape = cuda_shape_pointwise(c, c->knobs, "few_weights",
                                                  static_cast<int64_t>(f->groups) * f->rows * f->depth * f->taps);
    return BY_FACTORS(dtype, cuda_launch(c, shape, err, few_weights<T>, *f, static_cast<const T *>(x),
                                         static_cast<const T *>(dy), static_cast<float *>(dw)));
}
