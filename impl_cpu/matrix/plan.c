/* plan.c: what cpu:matrix takes, how it is cut into tasks by the problem alone, and what lies where. */
#include "matrix.h"

#include <stdlib.h>

/* A task's rows and columns at most, whose sums stay in the second-level cache; rows that are worth packing B for, and
 * columns A; terms of a part of K. */
enum { MOST_ROWS = 132, MOST_COLS = 256, LEAST_ROWS = 96, LEAST_COLS = 64, LEAST_TERMS = 1024, TASKS = 16 };

const mx_kernels *mx_kernels_for(const cpu_context *cpu, cnn_dtype dtype)
{
#if defined(__x86_64__)
    if (cpu->isa == CPU_ISA_AVX512) return &mx_avx512[dtype];
    if (cpu->isa == CPU_ISA_AVX2) return &mx_avx2[dtype];
#endif
    (void)cpu;
    return &mx_base[dtype];
}

static cnn_status check(const cnn_conv_desc *d, cnn_error *err)
{
    const bool padded = d->ph != 0 || d->pw != 0 || d->ph_r > 0 || d->pw_r > 0;
    if (d->kh == 1 && d->kw == 1 && !padded) return CNN_OK;
    return CNN_FAIL(err, CNN_UNSUPPORTED,
                    "kernel %lldx%lld, padding %lldx%lld, %lldx%lld at the end: cpu:matrix takes 1x1 kernels without "
                    "padding",
                    (long long)d->kh, (long long)d->kw, (long long)d->ph, (long long)d->pw, (long long)d->ph_r,
                    (long long)d->pw_r);
}

/* Each `sh`-th row and `sw`-th column of images of c x h x w. */
static mx_tensor tensor_of(cnn_layout layout, int64_t c, int64_t h, int64_t w, int64_t sh, int64_t sw)
{
    const int64_t pixel = layout == CNN_NHWC ? c : 1;
    return (mx_tensor){c * h * w, sh * w * pixel, sw * pixel, layout == CNN_NHWC ? 1 : h * w};
}

/* About `want` parts of at least `least`, of at most `most`. */
static void cut(mx_cut *cut, int64_t want, int64_t least, int64_t most)
{
    const int64_t parts = cpu_min(want, cut->count / least);
    cut->parts = cpu_clamp(parts, cpu_ceil_div(cut->count, most), cpu_ceil_div(cut->count, cut->unit));
}

/* Where A's rows do not lie along K, it is packed for each part of the columns. */
static bool packs_a(const mx_plan *m)
{
    return m->dir == CNN_BWD_D ? m->d.t.layout == CNN_NCHW : m->dir == CNN_BWD_W && m->d.t.layout == CNN_NHWC;
}

static void choose_tasks(mx_plan *m)
{
    const cnn_conv_desc *d = &m->d;
    const int64_t icg = d->ic / d->g, ocg = d->oc / d->g, pixels = d->mb * d->oh * d->ow;
    const bool turned = d->t.layout == CNN_NHWC, weights = m->dir == CNN_BWD_W;
    const int64_t channels = m->dir == CNN_BWD_D ? icg : ocg;
    const double macs = (double)pixels * (double)icg * (double)d->oc;
    const int64_t want = cpu_ceil_div(cpu_task_count(macs, TASKS), d->g);
    m->m = (mx_cut){weights || !turned ? channels : pixels, m->kernels->rows, 1};
    m->n = (mx_cut){weights ? icg : turned ? channels : pixels, 2 * m->kernels->lanes, 1};
    m->k = (mx_cut){weights ? pixels : m->dir == CNN_BWD_D ? ocg : icg, MX_BLOCK, 1};
    cut(&m->n, want, packs_a(m) ? MOST_COLS : LEAST_COLS, MOST_COLS);
    cut(&m->m, cpu_ceil_div(want, m->n.parts), LEAST_ROWS,
        packs_a(m) ? MOST_ROWS : cpu_clamp(MOST_ROWS * MOST_COLS / mx_most(m->n), MOST_ROWS, 4 * MOST_ROWS));
    if (weights) cut(&m->k, cpu_ceil_div(want, m->n.parts * m->m.parts), LEAST_TERMS, m->k.count);
}

/* What several tasks would pack is packed before them, where it is no larger than such a copy is worth; a few panels
 * at a time. */
static void choose_sharing(mx_plan *m)
{
    enum { SHARED_A = 1 << 24, SHARED_B = 1 << 20 };
    const double terms = (double)m->k.count * (double)m->d.g;
    m->share_panels = 4 * MX_PANELS;
    m->share_a = m->dir == CNN_BWD_D && packs_a(m) && m->n.parts > 1 && (double)m->m.count * terms <= SHARED_A;
    m->share_b = m->m.parts > 1 && (double)m->n.count * terms <= SHARED_B;
}

static int64_t shared_size(const mx_plan *m, mx_cut lanes)
{
    return m->d.g * cpu_ceil_div(m->k.count, MX_BLOCK) * cpu_ceil_div(lanes.count, lanes.unit) * lanes.unit;
}

static int64_t take(cpu_arena *arena, int64_t count, int64_t each, int64_t elem)
{
    const int64_t at = arena->used;
    cpu_take(arena, count, each, (size_t)elem);
    return at;
}

static void lay_out(const cpu_context *cpu, mx_plan *m, cpu_arena *arena)
{
    const cnn_conv_desc *d = &m->d;
    const int64_t rows = cpu_ceil_div(mx_most(m->m), m->m.unit) * m->m.unit;
    const int64_t panels = cpu_ceil_div(mx_most(m->n), m->n.unit);
    const bool turned = d->t.layout == CNN_NHWC, weights = m->dir == CNN_BWD_W;
    cpu_arena worker = {0};
    m->shared_a_at = take(arena, m->share_a ? shared_size(m, m->m) : 0, MX_BLOCK, m->elem);
    m->shared_b_at = take(arena, m->share_b ? shared_size(m, m->n) : 0, MX_BLOCK, m->elem);
    m->sums_at = take(arena, m->k.parts > 1 ? m->k.parts : 0, d->oc * (d->ic / d->g), m->elem);
    take(&worker, rows, MX_BLOCK, m->elem);
    m->b_at = take(&worker, cpu_min(panels, MX_PANELS) * m->n.unit, MX_BLOCK, m->elem);
    m->c_at = take(&worker, panels * rows, m->n.unit, m->elem);
    m->list = weights ? MX_BLOCK : cpu_max(mx_most(turned ? m->m : m->n), m->share_panels * m->n.unit);
    m->lists_at = take(&worker, 2, m->list, sizeof(int64_t));
    m->worker = worker.used;
    m->worker_at = take(arena, cpu->threads, worker.used, 1);
    arena->overflow = arena->overflow || worker.overflow;
}

cnn_status mx_plan_make(const cpu_context *cpu, const cnn_request *r, void **state, size_t *bytes, cnn_error *err)
{
    const cnn_conv_desc *d = &r->problem->u.conv;
    const cnn_layout layout = d->t.layout;
    cpu_arena arena = {0};
    mx_plan m = {.kernels = mx_kernels_for(cpu, d->t.dtype),
                 .d = *d,
                 .dir = r->dir,
                 .elem = (int64_t)cnn_dtype_size(d->t.dtype),
                 .x = tensor_of(layout, d->ic, d->ih, d->iw, d->sh, d->sw),
                 .y = tensor_of(layout, d->oc, d->oh, d->ow, 1, 1)};
    const cnn_status status = check(d, err);
    if (status != CNN_OK) return status;
    choose_tasks(&m);
    choose_sharing(&m);
    lay_out(cpu, &m, &arena);
    if (arena.overflow) return CNN_FAIL(err, CNN_UNSUPPORTED, "cpu:matrix's workspace exceeds 2^63 bytes");
    *bytes = (size_t)arena.used;
    if (state == NULL) return CNN_OK;
    mx_plan *kept = malloc(sizeof *kept);
    if (kept == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a plan of cpu:matrix");
    *kept = m;
    *state = kept;
    return CNN_OK;
}
