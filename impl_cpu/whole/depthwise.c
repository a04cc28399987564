/* depthwise.c: depthwise convolution on integers: channels are lanes, and each lane has some taps of a column.
 *
 * A task takes a strip of an image, and a block of as many channels as two vectors have, whose weights have been put
 * beside each other. In NCHW it copies its rows, channels last. Then band by band: stacks of rows (depthwise_x.c), with
 * the zero point around the image; the products of all pixels; and what becomes of them (results.c). x is u8, as s8 it
 * becomes u8 by adding 128: a sum's start makes up for these and for the zero point, as in quads.c. */
#include "depthwise.h"

#include "quads.h"

#include <string.h>

/* Bytes of rows that are copied for a strip, if one row takes no more; and into how many items work is cut. */
enum { COPY_BYTES = 1 << 16, ITEMS = 16 };

static const depthwise_kernel *kernel_for(const cpu_context *cpu, const int64_t *knobs)
{
#if defined(__x86_64__)
    if (quads_are_chosen(cpu, knobs)) return &depthwise_vnni;
    if (cpu->isa == CPU_ISA_AVX512 && cpu_isa_own() == CPU_ISA_AVX512) return &depthwise_avx512;
    if (cpu->isa >= CPU_ISA_AVX2) return &depthwise_avx2;
#endif
    (void)cpu, (void)knobs;
    return &depthwise_base;
}

static void choose_band(depthwise_job *t)
{
    const cnn_conv_desc *d = &t->d;
    t->cols = cpu_ceil_div(d->ow, cpu_ceil_div(d->ow, STACK_BAND));
    t->rows = t->cols == d->ow ? cpu_min(d->oh, STACK_BAND / d->ow) : 1;
    t->width = (t->cols - 1) * d->sw + (d->kw - 1) * (d->dw + 1) + 1;
}

/* Rows of y, whole bands: as many as the copy of x has room for, but enough strips for all threads. */
static void choose_strip(depthwise_job *t)
{
    const cnn_conv_desc *d = &t->d;
    const int64_t room = COPY_BYTES / t->channels / d->iw / d->sh;
    const int64_t least = cpu_ceil_div(ITEMS, d->mb * t->blocks), rows = cpu_min(room, cpu_ceil_div(d->oh, least));
    t->strip = cpu_max(1, rows / t->rows) * t->rows;
    t->strips = cpu_ceil_div(d->oh, t->strip);
    t->copied = cpu_min(d->ih, (t->strip - 1) * d->sh + (d->kh - 1) * (d->dh + 1) + 1);
    if (d->t.layout == CNN_NHWC && d->g % t->channels == 0) t->copied = 0;
}

static depthwise_job job_of(const cpu_context *cpu, const cnn_problem *problem, const int64_t *knobs)
{
    depthwise_job t = {.d = cnn_with_depth(problem), .kernel = kernel_for(cpu, knobs)};
    t.put = *t.kernel->put;
#if defined(__x86_64__)
    if (t.kernel == &depthwise_vnni) t.put.quantize = vnni_quantize;
#endif
    t.channels = t.put.channels;
    t.blocks = cpu_ceil_div(t.d.g, t.channels);
    t.stacks = cpu_ceil_div(t.d.kh, t.kernel->rows);
    t.zero = t.d.quant.zero_x + (depthwise_signed(&t.d) ? 128 : 0);
    memset(t.outside, t.d.quant.zero_x, sizeof t.outside);
    choose_band(&t);
    choose_strip(&t);
    return t;
}

/* The memory of a block's weights, and each worker's. Rows are copied in whole vectors of 16 pixels and channels. */
static void take(depthwise_job *t, const cpu_context *cpu, cpu_arena *arena)
{
    enum { LANE = sizeof(int32_t), VECTORS = 16 };
    cpu_arena copy = {.base = NULL}, stack = {.base = NULL};
    t->w = cpu_take(arena, t->blocks * (1 + t->stacks * t->d.kw), t->channels, LANE);
    if (!arena->overflow) t->panel = (1 + t->stacks * t->d.kw) * t->channels * LANE;
    if (t->copied > 0) cpu_take(&copy, t->copied * t->d.iw + 2 * VECTORS, t->channels, 1);
    cpu_take(&stack, t->rows * t->stacks, t->width, (size_t)t->channels * LANE);
    t->copy_bytes = copy.used;
    t->stack_bytes = stack.used;
    t->copy = cpu_take(arena, cpu->threads, copy.used, 1);
    t->stack = cpu_take(arena, cpu->threads, stack.used, 1);
    arena->overflow = arena->overflow || copy.overflow || stack.overflow;
}

cnn_status depthwise_plan(const cpu_context *cpu, const cnn_request *r, size_t *bytes, cnn_error *err)
{
    depthwise_job t = job_of(cpu, r->problem, r->knobs);
    cpu_arena arena = {.base = NULL};
    take(&t, cpu, &arena);
    if (arena.overflow) return CNN_FAIL(err, CNN_OVERFLOW, "x with its padding has no 64-bit size");
    *bytes = (size_t)arena.used;
    return CNN_OK;
}

/* ---- The weights. */

/* Task: a block of channels. Numbers of a lane are 8 or 16 bits; beyond the kernel's rows, and channels, they are 0. */
static void pack_block(void *arg, int64_t block, int worker)
{
    const depthwise_job *t = arg;
    const cnn_conv_desc *d = &t->d;
    const int64_t first = block * t->channels, channels = cpu_min(t->channels, d->g - first), taps = d->kh * d->kw;
    const int rows = t->kernel->rows, bits = 32 / rows;
    uint32_t *start = (uint32_t *)(void *)(t->w + block * t->panel), *lanes = start + t->channels;
    (void)worker;
    memset(start, 0, (size_t)t->panel);
    for (int64_t i = 0; i < d->kh; i++)
        for (int64_t j = 0; j < d->kw; j++) {
            const int64_t tap = d->flip ? taps - 1 - (i * d->kw + j) : i * d->kw + j;
            const int8_t *w = (const int8_t *)t->a->w + first * taps + tap;
            uint32_t *to = lanes + (i / rows * d->kw + j) * t->channels;
            for (int64_t c = 0; c < channels; c++, w += taps) {
                to[c] |= ((uint32_t)*w & (UINT32_MAX >> (32 - bits))) << i % rows * bits;
                start[c] -= (uint32_t)(t->zero * *w);
            }
        }
}

/* ---- The products. */

/* Results of rows [p, p + rows) and columns [q, q + cols) of an image. */
typedef struct band {
    int64_t n, block, p, q, rows, cols;
} band;

/* Where its pixels read their first tap. Beyond the last pixel: as the last. */
static void find_pixels(const depthwise_job *t, const band *b, const uint8_t *stacks,
                        const uint8_t *x[STACK_BAND + STACK_PIXELS])
{
    const int64_t pixel = t->channels * (int64_t)sizeof(int32_t), down = t->stacks * t->width * pixel;
    int64_t count = 0;
    for (int64_t i = 0; i < b->rows; i++)
        for (int64_t k = 0; k < b->cols; k++) x[count++] = stacks + i * down + k * t->d.sw * pixel;
    for (int64_t i = 0; i < STACK_PIXELS; i++) x[count + i] = x[count - 1];
}

/* The stacks are there. */
static void multiply(const depthwise_job *t, const band *b, const uint8_t *stacks)
{
    const cnn_conv_desc *d = &t->d;
    const int64_t pixel = t->channels * (int64_t)sizeof(int32_t), count = b->rows * b->cols;
    const uint8_t *x[STACK_BAND + STACK_PIXELS], *panel = t->w + b->block * t->panel;
    int32_t sums[PAIRS_ROWS * PAIRS_CHANNELS_MOST];
    find_pixels(t, b, stacks, x);
    const stack_tile tile = {.x = x,
                             .w = panel + pixel,
                             .start = (const int32_t *)(const void *)panel,
                             .pixels = count,
                             .stacks = t->stacks,
                             .kw = d->kw,
                             .down = t->width * pixel,
                             .right = (d->dw + 1) * pixel};
    t->kernel->product(&tile, sums);
    pairs_put(&(pairs_results){.kernel = &t->put,
                               .d = d,
                               .a = t->a,
                               .q = &t->q,
                               .first = (b->n * d->oh + b->p) * d->ow + b->q,
                               .count = count,
                               .channel = b->block * t->channels,
                               .channels = cpu_min(t->channels, d->g - b->block * t->channels),
                               .sums = sums});
}

/* Task: an item of work. */
static void strip_of(void *arg, int64_t task, int worker)
{
    const depthwise_job *t = arg;
    const cnn_conv_desc *d = &t->d;
    const bool nhwc = d->t.layout == CNN_NHWC;
    const int64_t inner = nhwc ? t->blocks : t->strips, outer = nhwc ? t->strips : t->blocks;
    const int64_t i = task % inner, k = task / inner % outer;
    const int64_t first = (nhwc ? k : i) * t->strip, end = cpu_min(d->oh, first + t->strip);
    band b = {.n = task / inner / outer, .block = nhwc ? i : k};
    const depthwise_rows x = depthwise_find(t, b.n, b.block, first, end - first, worker);
    uint8_t *stacks = t->stack + worker * t->stack_bytes;
    for (b.p = first; b.p < end; b.p += t->rows)
        for (b.q = 0; b.q < d->ow; b.q += t->cols) {
            b.rows = cpu_min(t->rows, end - b.p);
            b.cols = cpu_min(t->cols, d->ow - b.q);
            depthwise_stack(t, &x, b.p, b.q, b.rows, stacks);
            multiply(t, &b, stacks);
        }
}

void depthwise_run(const cpu_context *cpu, const cnn_plan *plan, const cnn_weighted_args *a)
{
    depthwise_job t = job_of(cpu, &plan->problem, plan->knobs);
    cpu_arena arena = {.base = a->workspace};
    take(&t, cpu, &arena);
    t.a = a;
    t.q = whole_quantizer_of(&t.d, a->scale);
    parallel_for(cpu->pool, t.blocks, pack_block, &t);
    cpu_phase(cpu, "weights");
    parallel_for(cpu->pool, t.d.mb * t.strips * t.blocks, strip_of, &t);
    cpu_phase(cpu, "multiply");
}
