/* pairs.c: direct convolution, and FC layers, on integers: channels in pairs, which one instruction multiplies and
 * adds.
 *
 * First x is made wider, to 16 bits, into the workspace: channels last, each group's padded to pairs, zeros around the
 * images; so no tap lies outside, and every one is a fixed distance from the pixel. Then the weights: as many channels
 * of the result as two vectors have, beside each other, for each pair of channels. Then tiles: some pixels, of any
 * image, by these channels. */
#include "pairs.h"

#include "harness/cnn/half.h"
#include "whole.h"

enum { TILES = 16 }; /* of a task */

typedef struct pairs_job {
    cnn_conv_desc d;
    const cnn_weighted_args *a;
    const pairs_kernel *kernel;
    int64_t icp, channels;                /* of a group, padded; of a pixel */
    int64_t height, width, panels, panel; /* of the padded image; of a group, numbers of one */
    int64_t pixels, chunks;               /* of all images; of TILES tiles each */
    int16_t *x, *w;
} pairs_job;

static pairs_job job_of(const cpu_context *cpu, const cnn_problem *problem)
{
    pairs_job t = {.d = whole_conv(problem), .kernel = &pairs_base};
    const cnn_conv_desc *d = &t.d;
#if defined(__x86_64__)
    if (cpu->isa == CPU_ISA_AVX2) t.kernel = &pairs_avx2;
    if (cpu->isa == CPU_ISA_AVX512) t.kernel = &pairs_avx512;
#endif
    (void)cpu;
    t.icp = cpu_ceil_div(d->ic / d->g, 2) * 2;
    t.channels = t.icp * d->g;
    t.height = (d->oh - 1) * d->sh + (d->kh - 1) * (d->dh + 1) + 1;
    t.width = (d->ow - 1) * d->sw + (d->kw - 1) * (d->dw + 1) + 1;
    t.panels = cpu_ceil_div(d->oc / d->g, t.kernel->channels);
    t.panel = d->kh * d->kw * t.icp * t.kernel->channels;
    t.pixels = d->mb * d->oh * d->ow;
    t.chunks = cpu_ceil_div(t.pixels, TILES * PAIRS_PIXELS);
    return t;
}

/* Zeros around an image are worth some memory, not any. */
static cnn_status plan(const cpu_context *cpu, const cnn_request *r, void **state, size_t *bytes, cnn_error *err)
{
    const double most = 64.0;
    const pairs_job t = job_of(cpu, r->problem);
    const cnn_conv_desc *d = &t.d;
    cpu_arena arena = {.base = NULL};
    (void)state;
    if (r->problem->op == CNN_OP_CONV3D)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "conv3d in %s: by the algorithm naive", cnn_dtype_name(d->t.dtype));
    const double images = (double)d->ih * (double)d->iw + (double)d->oh * (double)d->ow;
    if ((double)t.height * (double)t.width > most * images)
        return CNN_FAIL(
            err, CNN_UNSUPPORTED,
            "zeros around the images: with them they have %lld x %lld pixels, more than %.0f times what they "
            "and the results have",
            (long long)t.height, (long long)t.width, most);
    cpu_take(&arena, d->mb * t.height, t.width * t.channels, sizeof(int16_t));
    cpu_take(&arena, d->g * t.panels, t.panel, sizeof(int16_t));
    if (arena.overflow) return CNN_FAIL(err, CNN_OVERFLOW, "x of 16 bits has no 64-bit size");
    *bytes = (size_t)arena.used;
    return CNN_OK;
}

/* ---- x, wider. */

static inline int16_t widen(const pairs_job *t, bool is_signed, int64_t at)
{
    return is_signed ? ((const int8_t *)t->a->x)[at] : ((const uint8_t *)t->a->x)[at];
}

/* A pair of channels of a row, for all pixels. c0 counts within the group; its last one may be no pair. */
static inline void widen_pair(const pairs_job *t, bool is_signed, int64_t at, int64_t next, bool pair, int64_t step,
                              int16_t *to)
{
    const cnn_conv_desc *d = &t->d;
    const int64_t first = cpu_min(d->pw, t->width), last = cpu_min(d->pw + d->iw, t->width);
    for (int64_t v = first; v < last; v++) {
        int16_t *here = to + v * t->channels;
        here[0] = widen(t, is_signed, at + (v - d->pw) * step);
        here[1] = pair ? widen(t, is_signed, at + (v - d->pw) * step + next) : 0;
    }
}

/* Task (n, row of the padded image). */
static void widen_row(void *arg, int64_t task, int worker)
{
    const pairs_job *t = arg;
    const cnn_conv_desc *d = &t->d;
    const int64_t n = task / t->height, h = task % t->height - d->ph, icg = d->ic / d->g;
    const bool is_signed = cnn_part_dtype(d->t.dtype, CNN_PART_FACTOR) == CNN_S8, nhwc = d->t.layout == CNN_NHWC;
    const int64_t next = nhwc ? 1 : d->ih * d->iw, step = nhwc ? d->ic : 1;
    int16_t *to = t->x + task * t->width * t->channels;
    (void)worker;
    memset(to, 0, (size_t)(t->width * t->channels) * sizeof *to);
    if (h < 0 || h >= d->ih) return;
    for (int64_t g = 0; g < d->g; g++)
        for (int64_t c = 0; c < icg; c += 2) {
            const int64_t at = cnn_offset(d->t.layout, d->ic, d->ih, d->iw, n, g * icg + c, h, 0);
            int16_t *pair = to + g * t->icp + c;
            if (is_signed)
                widen_pair(t, true, at, next, c + 1 < icg, step, pair);
            else
                widen_pair(t, false, at, next, c + 1 < icg, step, pair);
        }
}

/* ---- The weights. */

/* Task (group, panel): read as they stand. What is not written nothing comes of: the second of half a pair meets a zero
 * of x, and results of channels that there are not are not stored. */
static void pack_panel(void *arg, int64_t task, int worker)
{
    const pairs_job *t = arg;
    const cnn_conv_desc *d = &t->d;
    const int64_t lanes = t->kernel->channels, icg = d->ic / d->g, ocg = d->oc / d->g, taps = d->kh * d->kw;
    const int64_t first = task % t->panels * lanes, left = cpu_min(lanes, ocg - first);
    const int8_t *from = (const int8_t *)t->a->w + (task / t->panels * ocg + first) * icg * taps;
    int16_t *to = t->w + task * t->panel;
    (void)worker;
    for (int64_t k = 0; k < left; k++)
        for (int64_t c = 0; c < icg; c++)
            for (int64_t tap = 0; tap < taps; tap++)
                to[((tap * t->icp + c / 2 * 2) * lanes + 2 * k) + c % 2] =
                    from[(k * icg + c) * taps + (d->flip ? taps - 1 - tap : tap)];
}

/* ---- Tiles. */

static void put_tile(const pairs_job *t, int64_t first, int64_t channel, int64_t count, const int32_t *sums)
{
    const cnn_conv_desc *d = &t->d;
    const int32_t *bias = t->a->b;
    const int64_t plane = d->oh * d->ow, step = d->t.layout == CNN_NHWC ? 1 : plane;
    for (int64_t r = 0; r < PAIRS_PIXELS && first + r < t->pixels; r++) {
        const int64_t n = (first + r) / plane, at = (first + r) % plane;
        int32_t *y = (int32_t *)t->a->y + cnn_offset(d->t.layout, d->oc, 1, plane, n, channel, 0, at);
        for (int64_t k = 0; k < count; k++)
            y[k * step] = whole_result(sums[r * t->kernel->channels + k], bias != NULL ? &bias[channel + k] : NULL,
                                       t->a->beta, &y[k * step]);
    }
}

/* Where pixel `at` of all reads its first tap; beyond the last one: as the last. */
static const int16_t *place(const pairs_job *t, int64_t group, int64_t at)
{
    const cnn_conv_desc *d = &t->d;
    const int64_t pixel = cpu_min(at, t->pixels - 1), n = pixel / (d->oh * d->ow), p = pixel / d->ow % d->oh;
    const int64_t row = n * t->height + p * d->sh, col = pixel % d->ow * d->sw;
    return t->x + (row * t->width + col) * t->channels + group * t->icp;
}

/* Task (group, chunk of pixels): a panel of weights after the other, for all of its tiles. */
static void multiply(void *arg, int64_t task, int worker)
{
    const pairs_job *t = arg;
    const cnn_conv_desc *d = &t->d;
    const int64_t ocg = d->oc / d->g, group = task / t->chunks, chunk = task % t->chunks * TILES * PAIRS_PIXELS;
    int32_t sums[PAIRS_PIXELS * PAIRS_CHANNELS_MOST];
    pairs_tile tile = {.kh = d->kh,
                       .kw = d->kw,
                       .pairs = t->icp / 2,
                       .down = (d->dh + 1) * t->width * t->channels,
                       .right = (d->dw + 1) * t->channels};
    (void)worker;
    for (int64_t panel = 0; panel < t->panels; panel++) {
        const int64_t channel = panel * t->kernel->channels;
        tile.w = t->w + (group * t->panels + panel) * t->panel;
        for (int64_t i = 0; i < TILES && chunk + i * PAIRS_PIXELS < t->pixels; i++) {
            const int64_t first = chunk + i * PAIRS_PIXELS;
            for (int r = 0; r < PAIRS_PIXELS; r++) tile.x[r] = place(t, group, first + r);
            t->kernel->product(&tile, sums);
            put_tile(t, first, group * ocg + channel, cpu_min(t->kernel->channels, ocg - channel), sums);
        }
    }
}

static void run(const cpu_context *cpu, const cnn_plan *p, const cnn_weighted_args *a)
{
    pairs_job t = job_of(cpu, &p->problem);
    const cnn_conv_desc *d = &t.d;
    cpu_arena arena = {.base = a->workspace};
    t.a = a;
    t.x = cpu_take(&arena, d->mb * t.height, t.width * t.channels, sizeof(int16_t));
    t.w = cpu_take(&arena, d->g * t.panels, t.panel, sizeof(int16_t));
    parallel_for(cpu->pool, d->mb * t.height, widen_row, &t);
    cpu_phase(cpu, "widen");
    parallel_for(cpu->pool, d->g * t.panels, pack_panel, &t);
    cpu_phase(cpu, "weights");
    parallel_for(cpu->pool, d->g * t.chunks, multiply, &t);
    cpu_phase(cpu, "multiply");
}

const cpu_kernels cpu_whole_pairs = {run, plan};
