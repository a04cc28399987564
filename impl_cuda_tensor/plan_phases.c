/* plan_phases.c: BWD_D with strides, cut into phases.
 *
 * A pixel of dx gets something from every stride-th tap alone: with stride 2 and a kernel of 3x3 from 1, 2, 2 or 4 of
 * the 9, by whether its row and its column are odd. All pixels alike in that, a phase, are a convolution of dy without
 * a stride, by fewer taps, whose results are every second one of dx. So no product with a zero is computed, and a patch
 * of dy serves all of a phase's taps. */
#include "impl_cuda_tensor/plan.h"

/* Along one axis, in dx: pixels first, first + step, ...; in the kernel: taps tap, tap + every, ... */
typedef struct axis {
    int64_t first, pixels, tap, every, taps, pad, step;
} axis;

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Tap i of the window reads row (p - pad + i*step) / stride of dy, where that divides; p is first + stride*p'. */
static axis axis_of(int64_t stride, int64_t size, int64_t kernel, int64_t pad, int64_t step, int64_t first)
{
    const int64_t common = common_divisor(stride, step), every = stride / common;
    axis a = {.first = first, .pixels = size > first ? ceil_div(size - first, stride) : 0, .every = every};
    for (int64_t i = 0; i < kernel && i < every; i++) {
        const int64_t at = first - pad + i * step;
        if (at % stride != 0) continue;
        a.tap = i;
        a.taps = ceil_div(kernel - i, every);
        a.pad = -at / stride;
        a.step = step / common;
    }
    return a;
}

static void put_phase(const cnn_conv_desc *d, const axis *h, const axis *w, cutensor_forward *f)
{
    const int32_t kernel_wide = (int32_t)d->kw, stride_h = f->window.div_h, stride_w = f->window.div_w;
    f->window = (cutensor_window){.oh = (int32_t)h->pixels,
                                  .ow = (int32_t)w->pixels,
                                  .ih = f->window.ih,
                                  .iw = f->window.iw,
                                  .kh = (int32_t)h->taps,
                                  .kw = (int32_t)w->taps,
                                  .mul_h = 1,
                                  .mul_w = 1,
                                  .div_h = 1,
                                  .div_w = 1,
                                  .pad_h = (int32_t)h->pad,
                                  .pad_w = (int32_t)w->pad,
                                  .step_h = (int32_t)h->step,
                                  .step_w = (int32_t)w->step};
    cutensor_window_divisors(&f->window);
    f->pixels = (int32_t)(d->mb * h->pixels * w->pixels);
    f->taps = (int32_t)(h->taps * w->taps);
    f->tap_first = (int32_t)(h->tap * kernel_wide + w->tap);
    f->tap_down = (int32_t)(h->every * kernel_wide);
    f->tap_right = (int32_t)w->every;
    f->spread = (cutensor_spread){stride_h, stride_w, (int32_t)h->first, (int32_t)w->first, (int32_t)d->iw};
}

int32_t cutensor_phases_of(const int64_t *knobs, const cnn_conv_desc *d, const cutensor_forward *whole,
                           cutensor_phase phase[CUTENSOR_PHASES_MOST], bool *unreached)
{
    const cutensor_window *w = &whole->window;
    int32_t count = 0;
    *unreached = false;
    if (knobs[CUTENSOR_KNOB_PHASES] == 0 || d->sh * d->sw == 1 || d->sh * d->sw > CUTENSOR_PHASES_MOST) return 0;
    for (int64_t i = 0; i < d->sh; i++)
        for (int64_t j = 0; j < d->sw; j++) {
            const axis down = axis_of(d->sh, d->ih, d->kh, w->pad_h, w->step_h, i);
            const axis right = axis_of(d->sw, d->iw, d->kw, w->pad_w, w->step_w, j);
            if (down.pixels * right.pixels == 0) continue;
            if (down.taps * right.taps == 0) {
                *unreached = true;
                continue;
            }
            phase[count].forward = *whole;
            put_phase(d, &down, &right, &phase[count++].forward);
        }
    return count;
}
