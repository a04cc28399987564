/* depthwise_x.c: x of a depthwise convolution on integers: rows as the kernels read them, and stacks of them. */
#include "depthwise.h"

#include <string.h>

/* A block of channels of so many pixels of an image, to[pixel][channels of a block]; nothing beyond x is read. */
static void copy_pixels(const depthwise_job *t, int64_t n, int64_t block, int64_t first, int64_t pixels, uint8_t *to)
{
    const cnn_conv_desc *d = &t->d;
    const int64_t plane = d->ih * d->iw, channel = block * t->channels;
    const int64_t channels = cpu_min(t->channels, d->g - channel);
    const uint8_t *from = t->a->x;
    from += cnn_offset(d->t.layout, d->ic, 1, plane, n, channel, 0, first);
    if (d->t.layout != CNN_NHWC)
        t->put.rows_bytes(&(pairs_planes){from, to, t->channels, pixels, channels, plane});
    else
        for (int64_t i = 0; i < pixels; i++) memcpy(to + i * t->channels, from + i * d->ic, (size_t)channels);
}

/* In NHWC lanes beyond the last channel are the next pixels': nothing comes of them. Only behind the last pixel of all
 * there is nothing to read, and of few channels a block reaches there from many pixels before. */
depthwise_rows depthwise_find(const depthwise_job *t, int64_t n, int64_t block, int64_t p, int64_t rows, int worker)
{
    const cnn_conv_desc *d = &t->d;
    const int64_t top = p * d->sh - d->ph, reach = (rows - 1) * d->sh + (d->kh - 1) * (d->dh + 1) + 1;
    const int64_t first = cpu_clamp(top, 0, d->ih), end = cpu_clamp(top + reach, first, d->ih);
    const int64_t bytes = d->mb * d->ih * d->iw * d->ic, last = ((n * d->ih + end) * d->iw - 1) * d->ic;
    if (d->t.layout == CNN_NHWC && last + (block + 1) * t->channels <= bytes) {
        const uint8_t *x = t->a->x;
        x += cnn_offset(d->t.layout, d->ic, d->ih, d->iw, n, block * t->channels, 0, 0);
        return (depthwise_rows){x, 0, d->iw * d->ic, d->ic};
    }
    uint8_t *copy = t->copy + worker * t->copy_bytes;
    copy_pixels(t, n, block, first * d->iw, (end - first) * d->iw, copy);
    return (depthwise_rows){copy, first, d->iw * t->channels, t->channels};
}

static void put_stack(const depthwise_job *t, stack_rows *s, int64_t pixels)
{
    s->pixels = pixels;
    t->kernel->stack(s);
    s->to = (uint8_t *)s->to + pixels * t->channels * (int64_t)sizeof(int32_t);
}

/* Stack number `stack` of row p: padding to the left, pixels, padding to the right. What lies outside, and what the
 * kernel does not have, is read from one pixel. */
static void stack_row(const depthwise_job *t, const depthwise_rows *x, int64_t p, int64_t q, int64_t stack, uint8_t *to)
{
    const cnn_conv_desc *d = &t->d;
    const int64_t left = q * d->sw - d->pw, first = cpu_clamp(-left, 0, t->width);
    const int64_t end = cpu_clamp(d->iw - left, first, t->width);
    stack_rows beside = {.change = depthwise_signed(d) ? 0x80 : 0, .to = to};
    for (int k = 0; k < STACK_MOST; k++) beside.from[k] = t->outside;
    stack_rows s = beside;
    for (int k = 0; k < t->kernel->rows; k++) {
        const int64_t tap = stack * t->kernel->rows + k, h = p * d->sh + tap * (d->dh + 1) - d->ph;
        if (tap >= d->kh || h < 0 || h >= d->ih) continue;
        s.from[k] = x->from + (h - x->first) * x->row + (left + first) * x->pixel;
        s.step[k] = x->pixel;
    }
    put_stack(t, &beside, first);
    s.to = beside.to;
    put_stack(t, &s, end - first);
    beside.to = s.to;
    put_stack(t, &beside, t->width - end);
}

void depthwise_stack(const depthwise_job *t, const depthwise_rows *x, int64_t p, int64_t q, int64_t rows, uint8_t *to)
{
    const int64_t bytes = t->width * t->channels * (int64_t)sizeof(int32_t);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = 0; k < t->stacks; k++, to += bytes) stack_row(t, x, p + i, q, k, to);
}
