/* quads.c: direct convolution, and FC layers, on integers: channels in quads, which one instruction multiplies and
 * adds.
 *
 * x stays bytes: u8, as s8 it becomes u8 by adding 128. Where it lies as the kernel reads it, it is read in place; else
 * it is copied into the workspace: channels last, each group's padded to quads, and around the images the zero point.
 * So no tap lies outside. Weights are put as many channels beside each other as two vectors have, for each quad. What x
 * is too large by, the zero point and those 128, comes to the same for all pixels: a sum's start makes up for it.
 * Then tiles: some pixels, of any image, by these channels; their results go to y by results.c. */
#include "quads.h"

#include <string.h>

#if defined(__x86_64__) /* the kernel is for no other */

_Static_assert(QUADS_CHANNELS == (int)AMX_VECTORS * (int)AMX_LANES, "a panel is what matrix units take");
_Static_assert(QUADS_ROWS <= (int)PAIRS_TILES * (int)PAIRS_PIXELS && QUADS_CHANNELS <= (int)PAIRS_CHANNELS_MOST,
               "results.c has room");

/* A problem of few pixels is cut by channels, too, into about so many tasks. */
enum { QUADS_TASKS = 16 };

/* An FC layer whose x is in the order of w is one of channels only. */
static cnn_conv_desc flat(const cnn_problem *problem)
{
    cnn_conv_desc d = whole_conv(problem);
    if (problem->op != CNN_OP_FC || (d.t.layout == CNN_NHWC && d.ic > 1)) return d;
    d.ic *= d.ih * d.iw;
    d.ih = d.iw = d.kh = d.kw = 1;
    d.t.layout = CNN_NHWC;
    return d;
}

/* Whether every pixel of x is read by one of y, in the same place: a chunk of x is then copied when it is needed. */
static bool is_pointwise(const cnn_conv_desc *d)
{
    return d->kh == 1 && d->kw == 1 && d->sh == 1 && d->sw == 1 && d->ph == 0 && d->pw == 0 && d->oh == d->ih &&
           d->ow == d->iw;
}

/* Taps that lie beside each other in memory are one: so many of a row are. */
static int64_t taps_beside(const quads_job *t) { return (t->d.dw + 1) * t->channels == t->icp ? t->d.kw : 1; }

static bool on_amx(const int64_t *knobs) { return knobs[CPU_KNOB_AMX] == AMX_YES && cpu_may_use_amx(); }

const char *quads_choice(const int64_t *knobs)
{
    return knobs[CPU_KNOB_AMX] == AMX_IMITATED ? "amx imitated" : on_amx(knobs) ? "amx" : "vnni";
}

static quads_job job_of(const cnn_problem *problem, const int64_t *knobs)
{
    quads_job t = {.d = flat(problem)};
    const cnn_conv_desc *d = &t.d;
    const int64_t icg = d->ic / d->g, width = (d->ow - 1) * d->sw + (d->kw - 1) * (d->dw + 1) + 1;
    t.icp = cpu_ceil_div(icg, 4) * 4;
    t.channels = t.icp * d->g;
    t.height = (d->oh - 1) * d->sh + (d->kh - 1) * (d->dh + 1) + 1;
    t.in_place = d->t.layout == CNN_NHWC && t.icp == icg && !quads_signed(d) && d->ph == 0 && d->pw == 0 &&
                 t.height <= d->ih && width <= d->iw;
    t.pitch = (t.in_place ? d->iw : width) * t.channels;
    if (t.in_place) t.height = d->ih;
    t.panels = cpu_ceil_div(d->oc / d->g, QUADS_CHANNELS);
    t.panel = QUADS_CHANNELS * (d->kh * d->kw * t.icp + (int64_t)sizeof(int32_t));
    t.pixels = d->mb * d->oh * d->ow;
    t.chunk = cpu_ceil_div(t.pixels, cpu_ceil_div(t.pixels, QUADS_ROWS));
    t.chunks = cpu_ceil_div(t.pixels, t.chunk);
    t.parts = cpu_clamp(cpu_ceil_div(QUADS_TASKS, d->g * t.chunks), 1, t.panels);
    t.at_once = !t.in_place && t.parts == 1 && is_pointwise(d);
    t.zero = d->quant.zero_x + (quads_signed(d) ? 128 : 0);
    t.put = pairs_avx512;
    t.put.quantize = vnni_quantize;
    if (knobs[CPU_KNOB_AMX] == AMX_IMITATED) t.matrix = amx_multiply_imitated;
    if (on_amx(knobs)) t.matrix = amx_multiply;
    return t;
}

static void take(quads_job *t, const cpu_context *cpu, cpu_arena *arena)
{
    if (t->at_once)
        t->copy = cpu_take(arena, cpu->threads, t->chunk * t->icp, 1);
    else if (!t->in_place)
        t->copy = cpu_take(arena, t->d.mb * t->height, t->pitch, 1);
    t->w = cpu_take(arena, t->d.g * t->panels, t->panel, 1);
    t->list = cpu_take(arena, t->matrix != NULL ? t->d.kh : 0, t->d.kw / taps_beside(t), sizeof *t->list);
}

cnn_status quads_plan(const cpu_context *cpu, const cnn_request *r, size_t *bytes, cnn_error *err)
{
    quads_job t = job_of(r->problem, r->knobs);
    cpu_arena arena = {.base = NULL};
    take(&t, cpu, &arena);
    if (arena.overflow) return CNN_FAIL(err, CNN_OVERFLOW, "x with its padding has no 64-bit size");
    *bytes = (size_t)arena.used;
    return CNN_OK;
}

/* ---- The weights. */

/* Task (group, panel). */
static void pack_panel(void *arg, int64_t task, int worker)
{
    const quads_job *t = arg;
    const cnn_conv_desc *d = &t->d;
    const int64_t icg = d->ic / d->g, ocg = d->oc / d->g, taps = d->kh * d->kw;
    const int64_t first = task % t->panels * QUADS_CHANNELS;
    int8_t *panel = t->w + task * t->panel;
    (void)worker;
    vnni_weights(&(quads_weights){.from = (const int8_t *)t->a->w + (task / t->panels * ocg + first) * icg * taps,
                                  .channels = cpu_min(QUADS_CHANNELS, ocg - first),
                                  .in = icg,
                                  .taps = taps,
                                  .flip = d->flip,
                                  .zero = t->zero,
                                  .w = panel + QUADS_CHANNELS * sizeof(int32_t),
                                  .start = (int32_t *)(void *)panel});
}

/* ---- Tiles. */

/* Sums of a panel: where the first one goes, and how far it is from a pixel to the next. */
typedef struct quads_sums {
    int32_t *first;
    int64_t pitch;
    int32_t start[QUADS_CHANNELS];
} quads_sums;

/* Sums of s32 are results as they come, with the bias in their start, where whole vectors of channels lie beside each
 * other. */
static bool is_direct(const quads_job *t, int64_t channels)
{
    return t->d.t.layout == CNN_NHWC && channels == QUADS_CHANNELS && !t->q.any && t->a->beta == 0.0;
}

static quads_sums sums_of(const quads_job *t, const pairs_results *r, const int8_t *panel)
{
    quads_sums s = {r->sums, QUADS_CHANNELS, {0}};
    memcpy(s.start, panel, sizeof s.start);
    if (!is_direct(t, r->channels)) return s;
    s.first = (int32_t *)t->a->y + r->first * t->d.oc + r->channel;
    s.pitch = t->d.oc;
    for (int64_t k = 0; k < QUADS_CHANNELS && t->a->b != NULL; k++)
        s.start[k] = whole_result(s.start[k], (const int32_t *)t->a->b + r->channel + k, 0.0, NULL);
    return s;
}

static void list_taps(const quads_job *t)
{
    const int64_t across = t->d.kw / taps_beside(t);
    for (int64_t i = 0; i < t->d.kh * across; i++)
        t->list[i] = i / across * (t->d.dh + 1) * t->pitch + i % across * (t->d.dw + 1) * t->channels;
}

/* A panel by all pixels of a task, on matrix units. */
static void multiply_matrix(const quads_job *t, const int8_t *panel, int64_t count, const uint8_t *const x[QUADS_ROWS],
                            const quads_sums *sums)
{
    const int64_t beside = taps_beside(t);
    t->matrix(&(amx_rows){.bytes = true,
                          .x = (const void *const *)x,
                          .rows = count,
                          .list = t->list,
                          .unit = 1,
                          .count = t->d.kh * t->d.kw / beside,
                          .words = t->icp / 4 * beside,
                          .w = panel + QUADS_CHANNELS * sizeof(int32_t),
                          .vectors = AMX_VECTORS,
                          .sums = sums->first,
                          .pitch = sums->pitch,
                          .start = sums->start});
}

/* The same in tiles of about the same size. */
static void multiply_tiles(const quads_job *t, const int8_t *panel, int64_t count, const uint8_t *const x[QUADS_ROWS],
                           const quads_sums *sums)
{
    const cnn_conv_desc *d = &t->d;
    const int64_t tiles = cpu_ceil_div(count, QUADS_PIXELS), beside = taps_beside(t);
    quads_tile tile = {.w = panel + QUADS_CHANNELS * sizeof(int32_t),
                       .start = sums->start,
                       .kh = d->kh,
                       .kw = d->kw / beside,
                       .quads = t->icp / 4 * beside,
                       .down = (d->dh + 1) * t->pitch,
                       .right = (d->dw + 1) * t->channels,
                       .pitch = sums->pitch};
    for (int64_t i = 0, first = 0; i < tiles; i++, first += tile.rows) {
        tile.rows = count * (i + 1) / tiles - first;
        memcpy(tile.x, x + first, (size_t)tile.rows * sizeof *x);
        vnni_product(&tile, sums->first + first * sums->pitch);
    }
}

/* Task (group, chunk of pixels, part of the panels): a panel after the other. */
static void multiply(void *arg, int64_t task, int worker)
{
    const quads_job *t = arg;
    const int64_t ocg = t->d.oc / t->d.g, part = task % t->parts, group = task / t->parts / t->chunks;
    const int64_t first = task / t->parts % t->chunks * t->chunk, count = cpu_min(t->chunk, t->pixels - first);
    const int64_t end = t->panels * (part + 1) / t->parts;
    int32_t own[PAIRS_ROWS * QUADS_CHANNELS];
    const uint8_t *x[QUADS_ROWS];
    pairs_results results = {&t->put, &t->d, t->a, &t->q, .first = first, .count = count, .sums = own};
    if (t->at_once)
        quads_copy_chunk(t, group, first, count, t->copy + worker * t->chunk * t->icp, x);
    else
        quads_find(t, group, first, count, x);
    for (int64_t i = t->panels * part / t->parts; i < end; i++) {
        const int8_t *panel = t->w + (group * t->panels + i) * t->panel;
        results.channel = group * ocg + i * QUADS_CHANNELS;
        results.channels = cpu_min(QUADS_CHANNELS, ocg - i * QUADS_CHANNELS);
        const quads_sums sums = sums_of(t, &results, panel);
        if (t->matrix != NULL)
            multiply_matrix(t, panel, count, x, &sums);
        else
            multiply_tiles(t, panel, count, x, &sums);
        if (sums.first == own) pairs_put(&results);
    }
}

void quads_run(const cpu_context *cpu, const cnn_plan *p, const cnn_weighted_args *a)
{
    quads_job t = job_of(&p->problem, p->knobs);
    cpu_arena arena = {.base = a->workspace};
    take(&t, cpu, &arena);
    t.a = a;
    t.q = whole_quantizer_of(&t.d, a->scale);
    t.x = t.in_place ? a->x : t.copy;
    if (t.matrix != NULL) list_taps(&t);
    if (!t.in_place && !t.at_once) {
        parallel_for(cpu->pool, t.d.mb * t.height, quads_copy_row, &t);
        cpu_phase(cpu, "copy");
    }
    parallel_for(cpu->pool, t.d.g * t.panels, pack_panel, &t);
    cpu_phase(cpu, "weights");
    parallel_for(cpu->pool, t.d.g * t.chunks * t.parts, multiply, &t);
    cpu_phase(cpu, "multiply");
}

#endif
