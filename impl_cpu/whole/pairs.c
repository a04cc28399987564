/* pairs.c: direct convolution, and FC layers, on integers: channels in pairs, which one instruction multiplies and
 * adds.
 *
 * First x is made wider, to 16 bits, less its zero point, into the workspace: channels last, each group's padded to
 * pairs, zeros around the images; so no tap lies outside, and every one is a fixed distance from the pixel. Then the
 * weights: as many channels of the result as two vectors have, beside each other, for each pair of channels. Then
 * tiles: some pixels, of any image, by these channels. Some tiles later their results go to y (results.c). */
#include "pairs.h"

#include "depthwise.h"
#include "quads.h"

#include <string.h>

typedef struct pairs_job {
    cnn_conv_desc d;
    const cnn_weighted_args *a;
    const pairs_kernel *kernel;
    int64_t icp, channels;                /* of a group, padded; of a pixel */
    int64_t height, width, panels, panel; /* of the padded image; of a group, numbers of one */
    int64_t pixels, chunks;               /* of all images; of PAIRS_TILES tiles each */
    int16_t *x, *w;
    whole_quantizer q;
} pairs_job;

static pairs_job job_of(const cpu_context *cpu, const cnn_problem *problem)
{
    pairs_job t = {.d = whole_conv(problem), .kernel = &pairs_base};
    const cnn_conv_desc *d = &t.d;
#if defined(__x86_64__)
    if (cpu->isa >= CPU_ISA_AVX2) t.kernel = &pairs_avx2;
    if (cpu->isa == CPU_ISA_AVX512 && cpu_isa_own() == CPU_ISA_AVX512) t.kernel = &pairs_avx512;
#endif
    (void)cpu;
    t.icp = cpu_ceil_div(d->ic / d->g, 2) * 2;
    t.channels = t.icp * d->g;
    t.height = (d->oh - 1) * d->sh + (d->kh - 1) * (d->dh + 1) + 1;
    t.width = (d->ow - 1) * d->sw + (d->kw - 1) * (d->dw + 1) + 1;
    t.panels = cpu_ceil_div(d->oc / d->g, t.kernel->channels);
    t.panel = d->kh * d->kw * t.icp * t.kernel->channels;
    t.pixels = d->mb * d->oh * d->ow;
    t.chunks = cpu_ceil_div(t.pixels, PAIRS_TILES * PAIRS_PIXELS);
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
    if (r->algorithm->id == CPU_DEPTHWISE && !is_depthwise(r->problem))
        return CNN_FAIL(
            err, CNN_UNSUPPORTED,
            "%lld channels in %lld groups, %lld outputs: of integers cpu:depthwise takes groups of one channel "
            "in and one out; use cpu:direct",
            (long long)d->ic, (long long)d->g, (long long)d->oc);
    if (is_depthwise(r->problem)) return depthwise_plan(cpu, r, bytes, err);
#if defined(__x86_64__)
    if (quads_are_chosen(cpu, r->knobs)) return quads_plan(cpu, r, bytes, err);
#endif
    cpu_take(&arena, d->mb * t.height, t.width * t.channels, sizeof(int16_t));
    cpu_take(&arena, d->g * t.panels, t.panel, sizeof(int16_t));
    if (arena.overflow) return CNN_FAIL(err, CNN_OVERFLOW, "x of 16 bits has no 64-bit size");
    *bytes = (size_t)arena.used;
    return CNN_OK;
}

/* ---- x, wider. */

/* Where bytes are read, of which type, and what is counted as 0. */
typedef struct bytes {
    const void *x;
    bool is_signed;
    int zero;
} bytes;

/* Of one text for either type of bytes. `get` is inlined with a constant is_signed. */
static inline uint16_t get(bytes b, int64_t at)
{
    return (uint16_t)((b.is_signed ? ((const int8_t *)b.x)[at] : ((const uint8_t *)b.x)[at]) - b.zero);
}

/* Channels that lie beside each other: a copy. */
static inline void widen_run(bytes x, int64_t at, int64_t count, int16_t *to)
{
    for (int64_t i = 0; i < count; i++) to[i] = (int16_t)get(x, at + i);
}

/* Four channels of some pixels, `step` apart, the channels `next`; those that there are not become zeros. */
static inline void widen_four(bytes x, int64_t at, int64_t pixels, int64_t step, int64_t next, int64_t left,
                              int16_t *to, int64_t channels)
{
    for (int64_t v = 0; v < pixels; v++) {
        uint64_t four = 0;
        for (int c = 0; c < 4; c++)
            if (c < left) four |= (uint64_t)get(x, at + v * step + c * next) << 16 * c;
        memcpy(to + v * channels, &four, left > 2 ? sizeof four : sizeof four / 2);
    }
}

/* The pixels of a row, to where the first of them goes. */
static inline void widen_pixels(const pairs_job *t, bool is_signed, int64_t n, int64_t h, int64_t pixels, int16_t *to)
{
    const cnn_conv_desc *d = &t->d;
    const int64_t icg = d->ic / d->g;
    const bool nhwc = d->t.layout == CNN_NHWC;
    const bytes x = {t->a->x, is_signed, d->quant.zero_x};
    const int64_t next = nhwc ? 1 : d->ih * d->iw, step = nhwc ? d->ic : 1;
    if (nhwc && t->icp == icg) {
        widen_run(x, cnn_offset(d->t.layout, d->ic, d->ih, d->iw, n, 0, h, 0), pixels * d->ic, to);
        return;
    }
    for (int64_t g = 0; g < d->g; g++)
        for (int64_t c = 0; c < icg; c += 4) {
            const int64_t at = cnn_offset(d->t.layout, d->ic, d->ih, d->iw, n, g * icg + c, h, 0);
            int16_t *four = to + g * t->icp + c;
            if (icg - c >= 4) /* with a constant it has no branches */
                widen_four(x, at, pixels, step, next, 4, four, t->channels);
            else
                widen_four(x, at, pixels, step, next, icg - c, four, t->channels);
        }
}

/* Task (n, row of the padded image). */
static void widen_row(void *arg, int64_t task, int worker)
{
    const pairs_job *t = arg;
    const cnn_conv_desc *d = &t->d;
    const int64_t h = task % t->height - d->ph, left = cpu_min(d->pw, t->width);
    const int64_t pixels = h < 0 || h >= d->ih ? 0 : cpu_min(d->iw, t->width - left), right = left + pixels;
    int16_t *to = t->x + task * t->width * t->channels;
    (void)worker;
    memset(to, 0, (size_t)(left * t->channels) * sizeof *to);
    memset(to + right * t->channels, 0, (size_t)((t->width - right) * t->channels) * sizeof *to);
    if (cnn_part_dtype(d->t.dtype, CNN_PART_FACTOR) == CNN_S8)
        widen_pixels(t, true, task / t->height, h, pixels, to + left * t->channels);
    else
        widen_pixels(t, false, task / t->height, h, pixels, to + left * t->channels);
}

/* ---- The weights. */

/* Task (group, panel), pair by pair. What is not written nothing comes of: results of channels that there are not are
 * not stored. */
static void pack_panel(void *arg, int64_t task, int worker)
{
    const pairs_job *t = arg;
    const cnn_conv_desc *d = &t->d;
    const int64_t lanes = t->kernel->channels, icg = d->ic / d->g, ocg = d->oc / d->g, taps = d->kh * d->kw;
    const int64_t first = task % t->panels * lanes, left = cpu_min(lanes, ocg - first);
    const int8_t *from = (const int8_t *)t->a->w + (task / t->panels * ocg + first) * icg * taps;
    int16_t *to = t->w + task * t->panel;
    (void)worker;
    for (int64_t c = 0; c < icg; c += 2)
        for (int64_t tap = 0; tap < taps; tap++) {
            const int8_t *one = from + c * taps + (d->flip ? taps - 1 - tap : tap);
            const int8_t *other = c + 1 < icg ? one + taps : one; /* its partner in x is 0 */
            int16_t *pair = to + (tap * t->icp + c) * lanes;
            for (int64_t k = 0; k < left; k++) {
                pair[2 * k] = one[k * icg * taps];
                pair[2 * k + 1] = other[k * icg * taps];
            }
        }
}

/* ---- Tiles. */

/* Where the pixels of a task read their first tap. Beyond the last pixel: as the last. */
static void find_places(const pairs_job *t, int64_t group, int64_t first, int64_t count,
                        const int16_t *x[PAIRS_TILES * PAIRS_PIXELS])
{
    const cnn_conv_desc *d = &t->d;
    for (int64_t i = 0; i < PAIRS_TILES * PAIRS_PIXELS; i++) {
        const int64_t pixel = first + cpu_min(i, count - 1), plane = d->oh * d->ow, n = pixel / plane;
        const int64_t row = n * t->height + pixel / d->ow % d->oh * d->sh, col = pixel % d->ow * d->sw;
        x[i] = t->x + (row * t->width + col) * t->channels + group * t->icp;
    }
}

/* Task (group, chunk of pixels): a panel of weights after the other, for all of its tiles. */
static void multiply(void *arg, int64_t task, int worker)
{
    const pairs_job *t = arg;
    const cnn_conv_desc *d = &t->d;
    const int64_t ocg = d->oc / d->g, group = task / t->chunks;
    const int64_t first = task % t->chunks * PAIRS_TILES * PAIRS_PIXELS;
    const int64_t count = cpu_min(PAIRS_TILES * PAIRS_PIXELS, t->pixels - first);
    int32_t sums[PAIRS_ROWS * PAIRS_CHANNELS_MOST];
    const int16_t *x[PAIRS_TILES * PAIRS_PIXELS];
    pairs_results results = {t->kernel, d, t->a, &t->q, .first = first, .count = count, .sums = sums};
    pairs_tile tile = {.kh = d->kh,
                       .kw = d->kw,
                       .pairs = t->icp / 2,
                       .down = (d->dh + 1) * t->width * t->channels,
                       .right = (d->dw + 1) * t->channels};
    (void)worker;
    find_places(t, group, first, count, x);
    for (int64_t panel = 0; panel < t->panels; panel++) {
        const int64_t channel = panel * t->kernel->channels;
        tile.w = t->w + (group * t->panels + panel) * t->panel;
        for (int64_t i = 0; i < count; i += PAIRS_PIXELS) {
            memcpy(tile.x, x + i, sizeof tile.x);
            t->kernel->product(&tile, sums + i * t->kernel->channels);
        }
        results.channel = group * ocg + channel;
        results.channels = cpu_min(t->kernel->channels, ocg - channel);
        pairs_put(&results);
    }
}

static void run(const cpu_context *cpu, const cnn_plan *p, const cnn_weighted_args *a)
{
    if (is_depthwise(&p->problem)) {
        depthwise_run(cpu, p, a);
        return;
    }
#if defined(__x86_64__)
    if (quads_are_chosen(cpu, p->knobs)) {
        quads_run(cpu, p, a);
        return;
    }
#endif
    pairs_job t = job_of(cpu, &p->problem);
    const cnn_conv_desc *d = &t.d;
    cpu_arena arena = {.base = a->workspace};
    t.a = a;
    t.q = whole_quantizer_of(d, a->scale);
    t.x = cpu_take(&arena, d->mb * t.height, t.width * t.channels, sizeof(int16_t));
    t.w = cpu_take(&arena, d->g * t.panels, t.panel, sizeof(int16_t));
    parallel_for(cpu->pool, d->mb * t.height, widen_row, &t);
    cpu_phase(cpu, "widen");
    parallel_for(cpu->pool, d->g * t.panels, pack_panel, &t);
    cpu_phase(cpu, "weights");
    parallel_for(cpu->pool, d->g * t.chunks, multiply, &t);
    cpu_phase(cpu, "multiply");
}

static const char *choice(const cpu_context *cpu, const cnn_request *r)
{
#if defined(__x86_64__)
    if (quads_are_chosen(cpu, r->knobs)) return is_depthwise(r->problem) ? "vnni" : quads_choice(r->knobs);
#endif
    (void)cpu, (void)r;
    return "";
}

const cpu_kernels cpu_whole_pairs = {run, plan, choice};
