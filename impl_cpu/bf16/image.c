/* image.c: images are copied: channels last, with zeros around them, for FWD and BWD_D; a plane for each channel, and
 * dy in pairs of pixels, for BWD_W. */
#include "bf16.h"

#include <string.h>

/* Pixels, or channels, that are interleaved at once; pairs of the other. */
enum { BLOCK = 64, PAIRS = 16 };

/* Channels of pixels that lie beside each other in planes: to[pixel][channel], zero behind the last of an odd number.
 */
static void turn_planes(const bf_job *t, const uint16_t *from, int64_t plane, int64_t pixels, uint16_t *to)
{
    uint16_t both[PAIRS][2 * BLOCK];
    for (int64_t v = 0; v < pixels; v += BLOCK)
        for (int64_t c = 0; c < t->padded; c += 2 * PAIRS) {
            const int64_t some = cpu_min(BLOCK, pixels - v), pairs = cpu_min(PAIRS, (t->padded - c) / 2);
            for (int64_t i = 0; i < pairs; i++) {
                const uint16_t *one = from + (c + 2 * i) * plane + v;
                t->kernel->interleave(one, c + 2 * i + 1 < t->in ? one + plane : NULL, some, both[i]);
            }
            t->kernel->turn(&(bf_turn){.from = both[0],
                                       .step = 2 * BLOCK,
                                       .rows = pairs,
                                       .numbers = 2 * some,
                                       .to = to + v * t->channels + c,
                                       .to_step = t->channels / 2});
        }
}

/* Pixels [v, v + pixels) of row h. */
static void copy_pixels(const bf_job *t, int64_t n, int64_t h, int64_t v, int64_t pixels, uint16_t *to)
{
    const int64_t channels = t->in * t->d.g, height = t->y.in, width = t->x.in;
    const uint16_t *from = t->dir == CNN_FWD ? t->a->x : t->a->dy;
    const bool nhwc = t->d.t.layout == CNN_NHWC;
    for (int64_t g = 0; g < t->d.g; g++, to += t->padded) {
        const uint16_t *group = from + cnn_offset(t->d.t.layout, channels, height, width, n, g * t->in, h, v);
        if (nhwc && t->padded == t->in) {
            memcpy(to, group, (size_t)(pixels * channels) * sizeof *to);
            return;
        }
        if (!nhwc) {
            turn_planes(t, group, height * width, pixels, to);
            continue;
        }
        for (int64_t i = 0; i < pixels; i++) {
            memcpy(to + i * t->channels, group + i * channels, (size_t)t->in * sizeof *to);
            to[i * t->channels + t->in] = 0;
        }
    }
}

void bf_copy_row(const bf_job *t, int64_t task)
{
    const int64_t blocks = cpu_ceil_div(t->x.size, BF_BLOCK), row = task / blocks, first = task % blocks * BF_BLOCK;
    const int64_t width = cpu_min(BF_BLOCK, t->x.size - first),
                  x = t->x.first + first; /* the block's, and where it is */
    const int64_t h = t->y.first + row % t->y.size, left = cpu_clamp(-x, 0, width);
    const int64_t there = cpu_clamp(t->x.in - x - left, 0, width - left);
    const int64_t pixels = h < 0 || h >= t->y.in ? 0 : there, right = left + pixels;
    uint16_t *to = t->copy + (row * t->x.size + first) * t->channels;
    memset(to, 0, (size_t)(left * t->channels) * sizeof *to);
    memset(to + right * t->channels, 0, (size_t)((width - right) * t->channels) * sizeof *to);
    if (pixels > 0) copy_pixels(t, row / t->y.size, h, x + left, pixels, to + left * t->channels);
}

/* ---- BWD_W. */

/* Of each channel every sw-th pixel, `count` of them from column v on, beside each other; what a plane has of channels
 * is `plane` numbers. */
static void turn_pixels(const bf_job *t, const uint16_t *from, int64_t count, int64_t plane, uint16_t *to)
{
    const cnn_conv_desc *d = &t->d;
    const int64_t step = d->sw * d->ic;
    uint16_t both[PAIRS][2 * BLOCK];
    for (int64_t m = 0; m < count; m += 2 * PAIRS)
        for (int64_t c = 0; c < d->ic; c += BLOCK) {
            const int64_t pairs = cpu_min(PAIRS, (count - m + 1) / 2), some = cpu_min(BLOCK, d->ic - c);
            for (int64_t i = 0; i < pairs; i++) {
                const uint16_t *one = from + (m + 2 * i) * step + c;
                t->kernel->interleave(one, m + 2 * i + 1 < count ? one + step : NULL, some, both[i]);
            }
            t->kernel->turn(&(bf_turn){.from = both[0],
                                       .step = 2 * BLOCK,
                                       .rows = pairs,
                                       .numbers = 2 * some,
                                       .to = to + c * plane + m,
                                       .to_step = plane / 2});
        }
}

/* Columns part, part + sw ... of the padded row that is row h of x. Only those are read that some result has a product
 * with. */
static void split_row(const bf_job *t, int64_t n, int64_t h, int64_t part, uint16_t *to)
{
    const cnn_conv_desc *d = &t->d;
    const int64_t used = d->ow + (d->kw - 1) * (d->dw + 1) / d->sw, plane = t->height * t->parts * t->length;
    const int64_t m0 = cpu_clamp(cpu_ceil_div(d->pw - part, d->sw), 0, used);
    const int64_t m1 = cpu_clamp(cpu_ceil_div(d->iw + d->pw - part, d->sw), m0, used), v = part + d->sw * m0 - d->pw;
    const int64_t count = h < 0 || h >= d->ih ? 0 : m1 - m0, step = d->t.layout == CNN_NCHW ? d->sw : 0;
    const uint16_t *from =
        count > 0 ? (const uint16_t *)t->a->x + cnn_offset(d->t.layout, d->ic, d->ih, d->iw, n, 0, h, v) : NULL;
    if (count > 0 && step == 0) turn_pixels(t, from, count, plane, to + m0);
    for (int64_t c = 0; c < d->ic; c++, to += plane) {
        memset(to, 0, (size_t)m0 * sizeof *to);
        memset(to + m0 + count, 0, (size_t)(t->length - m0 - count) * sizeof *to);
        if (step == 1 && count > 0) memcpy(to + m0, from + c * d->ih * d->iw, (size_t)count * sizeof *to);
        for (int64_t m = 0; step > 1 && m < count; m++) to[m0 + m] = from[c * d->ih * d->iw + m * step];
    }
}

/* 1x1 kernels: rows of x that results read, in pairs of pixels, channels beside each other. */
static void pair_pixels(const bf_job *t, int64_t first, int64_t task)
{
    const cnn_conv_desc *d = &t->d;
    const int64_t blocks = cpu_ceil_div(d->ow, BF_BLOCK), row = task / blocks, col = task % blocks * BF_BLOCK;
    const uint16_t *from = (const uint16_t *)t->a->x + cnn_offset(d->t.layout, d->ic, d->ih, d->iw, first + row / d->oh,
                                                                  0, row % d->oh * d->sh, col * d->sw);
    uint16_t *to = t->copy + (row * t->pairs + col / 2) * 2 * d->ic;
    for (int64_t q = col; q < cpu_min(col + BF_BLOCK, d->ow); q += 2, from += 2 * d->sw * d->ic, to += 2 * d->ic)
        t->kernel->interleave(from, q + 1 < d->ow ? from + d->sw * d->ic : NULL, d->ic, to);
}

int64_t bf_columns_tasks(const bf_job *t, int64_t images)
{
    if (!t->copied) return 0;
    return images * (t->paired ? t->d.oh * cpu_ceil_div(t->d.ow, BF_BLOCK) : t->height);
}

void bf_columns(const bf_job *t, int64_t first, int64_t task)
{
    const int64_t image = task / t->height, row = task % t->height;
    if (t->paired) {
        pair_pixels(t, first, task);
        return;
    }
    uint16_t *to = t->copy + (image * t->d.ic * t->height + row) * t->parts * t->length;
    for (int64_t part = 0; part < t->parts; part++, to += t->length)
        split_row(t, first + image, row - t->d.ph, part, to);
}

/* Pairs of neighbouring pixels; the last of an odd number has a 0 beside it. */
void bf_pack_dy(const bf_job *t, int64_t first, int64_t task)
{
    const cnn_conv_desc *d = &t->d;
    const int64_t blocks = cpu_ceil_div(d->ow, BF_BLOCK), row = task / blocks, col = task % blocks * BF_BLOCK;
    const int64_t n = first + row / d->oh, p = row % d->oh, cols = cpu_min(BF_BLOCK, d->ow - col);
    for (int64_t i = 0; i < d->g * t->panels; i++) {
        const int64_t group = i / t->panels, panel = i % t->panels, lane = bf_first_vector(t, panel) * t->kernel->lanes;
        const int64_t width = bf_panel_vectors(t, panel) * t->kernel->lanes, left = cpu_min(width, t->out - lane);
        const uint16_t *from =
            (const uint16_t *)t->a->dy + cnn_offset(d->t.layout, d->oc, d->oh, d->ow, n, group * t->out + lane, p, col);
        uint16_t *to = bf_panel(t, group, panel) + (row * t->pairs + col / 2) * width * 2;
        if (d->t.layout == CNN_NCHW)
            t->kernel->turn(&(bf_turn){
                .from = from, .step = d->oh * d->ow, .rows = left, .numbers = cols, .to = to, .to_step = width});
        for (int64_t q = 0; d->t.layout == CNN_NHWC && q < cols; q += 2, from += 2 * d->oc, to += 2 * width)
            t->kernel->interleave(from, q + 1 < cols ? from + d->oc : NULL, left, to);
    }
}
