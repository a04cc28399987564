/* plan_fold.c: which convolutions of few input channels have a row of their kernel folded into channels (fold.cu). */
#include "impl_cuda_tensor/plan.h"

#include "harness/cnn/shape.h"

enum { TOGETHER = 4 }; /* numbers of f32 in 16 bytes */

/* By the problem, where so many taps fewer, of so many pixels, are worth a pass over x. Counted, not measured. */
static bool gains(const cnn_conv_desc *d) { return d->kh * (d->kw - 1) >= 16 && d->mb * d->oh * d->ow >= 4096; }

bool cutensor_plan_fold(const cnn_request *r, const cnn_conv_desc *d, cutensor_plan *m)
{
    const int64_t wish = r->knobs[CUTENSOR_KNOB_FOLD], pitch = d->iw + 2 * d->pw;
    const bool can = r->dir != CNN_BWD_D && d->t.dtype == CNN_F32 && d->g == 1 && d->ic <= TOGETHER && d->kh > 1 &&
                     d->kw > 1 && d->dw == 0;
    if (wish == 0 || m->as_it_lies || !can || (wish == 2 && !gains(d))) return false;
    const double places = (double)d->mb * (double)d->ih * (double)pitch;
    const double weights = (double)d->oc * (double)d->kh * (double)d->kw * TOGETHER;
    if ((places + (double)(d->kh * pitch)) * (double)d->kw + weights > INT32_MAX / 2) return false;
    const int64_t plane = d->ih * d->iw;
    const bool last = d->t.layout == CNN_NHWC;
    m->fold = (cutensor_fold){.outputs = (int32_t)d->oc,
                              .channels = (int32_t)d->ic,
                              .kh = (int32_t)d->kh,
                              .kw = (int32_t)d->kw,
                              .flip = d->flip,
                              .columns = (int32_t)d->iw,
                              .pad = (int32_t)d->pw,
                              .places = (int32_t)places,
                              .image = d->ic * plane,
                              .row = last ? d->iw * d->ic : d->iw,
                              .column = last ? (int32_t)d->ic : 1,
                              .channel = last ? 1 : plane,
                              .by_pitch = cuda_divide_by(pitch),
                              .by_rows = cuda_divide_by(d->ih)};
    m->fold.x_at = cutensor_area(m, (size_t)places * TOGETHER * sizeof(float));
    m->fold.w_at = cutensor_area(m, (size_t)weights * sizeof(float));
    return true;
}

cnn_conv_desc cutensor_folded(const cnn_conv_desc *d)
{
    cnn_conv_desc folded = *d;
    folded.ic = d->kw * TOGETHER;
    folded.iw = d->iw + 2 * d->pw;
    folded.kw = 1;
    folded.pw = 0;
    return folded;
}
