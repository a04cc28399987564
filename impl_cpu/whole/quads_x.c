/* quads_x.c: x as the kernel reads it: copied, row by row or chunk by chunk, and where its pixels lie. */
#include "quads.h"

#include <string.h>

#if defined(__x86_64__) /* the kernel is for no other */

/* Pixels of image n from number `first` on, of groups [group, group + groups), to where the first of them goes. */
static void copy_pixels(const quads_job *t, int64_t n, int64_t first, int64_t pixels, int64_t group, int64_t groups,
                        uint8_t *to)
{
    const cnn_conv_desc *d = &t->d;
    const int64_t icg = d->ic / d->g, plane = d->ih * d->iw;
    const bool nhwc = d->t.layout == CNN_NHWC;
    const uint8_t *from = t->a->x;
    quads_pixels p = {.from = from + cnn_offset(d->t.layout, d->ic, 1, plane, n, group * icg, 0, first),
                      .pixels = pixels,
                      .in = icg,
                      .next = nhwc ? 1 : plane,
                      .step = nhwc ? d->ic : 1,
                      .change = quads_signed(d) ? 0x80 : 0,
                      .to = to,
                      .channels = groups * t->icp};
    if (nhwc && t->icp == icg && groups == d->g) { /* one run of channels */
        p.in = pixels * d->ic;
        p.pixels = groups = 1;
    }
    for (int64_t g = 0; g < groups; g++, p.from += icg * p.next, p.to += t->icp) (nhwc ? vnni_pixels : vnni_planes)(&p);
}

void quads_copy_row(void *arg, int64_t task, int worker)
{
    const quads_job *t = arg;
    const cnn_conv_desc *d = &t->d;
    const int64_t width = t->pitch / t->channels;
    const int64_t h = task % t->height - d->ph, left = cpu_min(d->pw, width);
    const int64_t pixels = h < 0 || h >= d->ih ? 0 : cpu_min(d->iw, width - left), right = left + pixels;
    uint8_t *to = t->copy + task * t->pitch;
    (void)worker;
    memset(to, t->zero, (size_t)(left * t->channels));
    memset(to + right * t->channels, t->zero, (size_t)((width - right) * t->channels));
    if (pixels > 0) copy_pixels(t, task / t->height, h * d->iw, pixels, 0, d->g, to + left * t->channels);
}

void quads_find(const quads_job *t, int64_t group, int64_t first, int64_t count, const uint8_t *x[QUADS_ROWS])
{
    const cnn_conv_desc *d = &t->d;
    const int64_t right = d->sw * t->channels;
    int64_t n = first / (d->oh * d->ow), p = first / d->ow % d->oh, q = first % d->ow;
    const uint8_t *const base = t->x + group * t->icp, *row = base + (n * t->height + p * d->sh) * t->pitch;
    for (int64_t i = 0; i < count; i++) {
        x[i] = row + q * right;
        if (++q < d->ow) continue;
        q = 0;
        if (++p == d->oh) p = 0, n++;
        row = base + (n * t->height + p * d->sh) * t->pitch;
    }
}

void quads_copy_chunk(const quads_job *t, int64_t group, int64_t first, int64_t count, uint8_t *to,
                      const uint8_t *x[QUADS_ROWS])
{
    const int64_t plane = t->d.ih * t->d.iw;
    int64_t pixels;
    for (int64_t i = 0; i < count; i += pixels) {
        const int64_t at = (first + i) % plane;
        pixels = cpu_min(count - i, plane - at);
        copy_pixels(t, (first + i) / plane, at, pixels, group, 1, to + i * t->icp);
    }
    for (int64_t i = 0; i < count; i++) x[i] = to + i * t->icp;
}

#endif
