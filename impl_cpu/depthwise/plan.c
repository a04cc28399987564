/* plan.c: what cpu:depthwise takes, how it is cut into tasks by the problem alone, and what lies where. */
#include "depthwise.h"

#include <stdlib.h>

enum { GRADIENT_TASKS = 32 };

static const dw_kernels *kernels_for(const cpu_context *cpu, cnn_dtype dtype)
{
#if defined(__x86_64__)
    if (cpu->isa == CPU_ISA_AVX512) return &dw_avx512[dtype];
    if (cpu->isa == CPU_ISA_AVX2) return &dw_avx2[dtype];
#endif
    (void)cpu;
    return &dw_base[dtype];
}

static cnn_status check(const cnn_conv_desc *d, cnn_error *err)
{
    if (d->ic != d->g)
        return CNN_FAIL(err, CNN_UNSUPPORTED,
                        "groups of %lld input channels: cpu:depthwise takes groups of one; use cpu:direct",
                        (long long)(d->ic / d->g));
    if (d->t.layout == CNN_NHWC && d->oc != d->g)
        return CNN_FAIL(err, CNN_UNSUPPORTED,
                        "%lld outputs of each channel in NHWC: cpu:depthwise takes one there, or any number in NCHW",
                        (long long)(d->oc / d->g));
    return CNN_OK;
}

/* Taps of all outputs along an axis that meet a pixel. */
static double meeting(int64_t o, int64_t i, int64_t k, int64_t s, int64_t p, int64_t d)
{
    double taps = 0;
    for (int64_t at = 0; at < o; at++) {
        int64_t first, last;
        cnn_tap_range(at, i, k, s, p, d, &first, &last);
        taps += (double)cpu_max(0, last - first);
    }
    return taps;
}

/* Taps in the padding are multiplied as well. Where they are nearly all there are, of a row as long as its kernel, that
 * takes minutes for what the definition does in a moment. */
static cnn_status check_padding(const dw_plan *m, cnn_error *err)
{
    enum { TIMES_MOST = 64, COUNTED_MOST = 1 << 22 }; /* outputs of an axis */
    const cnn_conv_desc *d = &m->d;
    const double pixels =
        m->dir == CNN_BWD_D ? (double)(d->ih * d->iw) / (double)(d->sh * d->sw) : (double)(d->oh * d->ow);
    const double planes = (double)d->mb * (double)d->oc, all = planes * pixels * (double)m->taps;
    if (all <= 1e9 || d->oh > COUNTED_MOST || d->ow > COUNTED_MOST) return CNN_OK;
    const double needed =
        planes * meeting(d->oh, d->ih, d->kh, d->sh, d->ph, d->dh) * meeting(d->ow, d->iw, d->kw, d->sw, d->pw, d->dw);
    if (all <= TIMES_MOST * needed) return CNN_OK;
    return CNN_FAIL(
        err, CNN_UNSUPPORTED,
        "%.3g products of a tap and a pixel are asked for, and cpu:depthwise would compute %.3g, those in the "
        "padding, too: use cpu:naive",
        needed, all);
}

static int64_t whole(int64_t count, int64_t of) { return cpu_ceil_div(count, of) * of; }

/* Taps begin between pixel `first` and `last` of a row, and whole vectors are read for n outputs. */
static dw_copy copy_of(int64_t phases, int64_t width, int64_t first, int64_t last, int64_t n, int64_t lanes)
{
    const int64_t left = cpu_max(0, -first), read = last + whole(n, lanes), own = cpu_ceil_div(width, phases);
    return (dw_copy){.phases = phases, .left = left, .length = left + cpu_max(read, own)};
}

static void choose_copies(dw_plan *m)
{
    const cnn_conv_desc *d = &m->d;
    const int64_t lanes = m->kernels->lanes, reach_h = (d->kh - 1) * (d->dh + 1), reach_w = (d->kw - 1) * (d->dw + 1);
    if (m->dir == CNN_BWD_D) {
        m->in = copy_of(1, d->ow, dw_floor(d->pw - reach_w, d->sw), dw_floor(d->sw - 1 + d->pw, d->sw),
                        cpu_ceil_div(d->iw, d->sw), lanes);
        m->in.top = reach_h / d->sh;
        m->in.rows = m->in.top + cpu_max(d->oh, (d->ih - 1 + d->ph) / d->sh + 1);
    } else {
        m->in = copy_of(d->sw, d->iw, dw_floor(-d->pw, d->sw), dw_floor(reach_w - d->pw, d->sw), d->ow, lanes);
        m->in.top = d->ph;
        m->in.rows = cpu_max(d->ph + d->ih, (d->oh - 1) * d->sh + reach_h + 1);
    }
    m->dy = copy_of(1, d->ow, 0, 0, d->ow, lanes);
    m->dy.rows = d->oh;
    /* Rows as long as x's make one of all; but what is multiplied for nothing must be little. */
    if (m->in.phases == 1 && d->sh == 1 && m->in.length <= 2 * m->dy.length) m->dy.length = m->in.length;
}

static void choose_tasks(dw_plan *m)
{
    const cnn_conv_desc *d = &m->d;
    const bool last = d->t.layout == CNN_NHWC;
    const double macs = (double)d->mb * (double)d->oc * (double)(d->oh * d->ow) * (double)m->taps;
    m->channels = last ? CNN_ALIGN / m->elem : 1;
    m->parts = 1;
    m->items = last ? d->mb * (m->dir == CNN_FWD ? d->oh : d->ih) : d->mb * d->g;
    if (m->dir == CNN_BWD_W) {
        const int64_t blocks = cpu_ceil_div(d->g, m->channels);
        m->parts = cpu_clamp(GRADIENT_TASKS / blocks, 1, last ? d->mb * d->oh : d->mb);
        m->items = blocks * m->parts;
    }
    m->tasks = cpu_task_count(2 * macs, m->items);
}

static int64_t take(cpu_arena *arena, int64_t count, int64_t each, int64_t elem)
{
    const int64_t at = arena->used;
    cpu_take(arena, count, each, (size_t)elem);
    return at;
}

static void lay_out(const cpu_context *cpu, dw_plan *m, cpu_arena *arena)
{
    const cnn_conv_desc *d = &m->d;
    const bool last = d->t.layout == CNN_NHWC, weights = m->dir == CNN_BWD_W, data = m->dir == CNN_BWD_D;
    const int64_t lanes = m->kernels->lanes;
    cpu_arena worker = {0};
    m->weights_at = take(arena, last && !weights ? m->taps : 0, d->oc, m->elem);
    m->sums_at = take(arena, weights ? m->parts : 0, d->oc * (m->taps + 1), m->elem);
    if (last) {
        m->places_at = take(&worker, m->taps, 1, sizeof(int64_t));
        m->w_at = take(&worker, m->taps, 1, sizeof(int64_t));
    } else {
        m->w_at = take(&worker, m->outputs, m->taps, m->elem);
        m->copy_at = take(&worker, dw_copy_rows(m), m->in.phases * m->in.length, m->elem);
        m->dy_at = take(&worker, weights ? m->dy.rows + 1 : 0, m->dy.length, m->elem);
        m->row_at = take(&worker, data ? d->sw : 0, whole(cpu_ceil_div(d->iw, d->sw), lanes), m->elem);
        m->acc_at = take(&worker, weights ? m->taps + 1 : 0, lanes, m->elem);
    }
    m->worker = worker.used;
    m->worker_at = take(arena, cpu->threads, worker.used, 1);
    arena->overflow = arena->overflow || worker.overflow;
}

/* So that what follows counts without a look: a copy with its zeros is no larger than these sides' product. */
static bool can_count(const dw_plan *m)
{
    const cnn_conv_desc *d = &m->d;
    int64_t rows, cols, all;
    return cnn_mul4(d->kh + d->sh, d->dh + 1, d->ih + d->oh + d->ph + 1, 4, &rows) &&
           cnn_mul4(d->kw + d->sw, d->dw + 1, d->iw + d->ow + d->pw + CNN_ALIGN, 4, &cols) &&
           cnn_mul4(rows, cols, m->outputs, 1, &all) && all <= INT64_MAX >> 8;
}

cnn_status dw_plan_make(const cpu_context *cpu, const cnn_request *r, void **state, size_t *bytes, cnn_error *err)
{
    const cnn_conv_desc *d = &r->problem->u.conv;
    cpu_arena arena = {0};
    int64_t numbers;
    dw_plan m = {.kernels = kernels_for(cpu, d->t.dtype),
                 .d = *d,
                 .dir = r->dir,
                 .elem = (int64_t)cnn_dtype_size(d->t.dtype),
                 .taps = d->kh * d->kw,
                 .outputs = d->oc / d->g};
    const cnn_status status = check(d, err);
    if (status != CNN_OK) return status;
    numbers = dw_lists_size(&m);
    if (!can_count(&m) || numbers < 0 || numbers > INT64_MAX >> 8)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "cpu:depthwise cannot count so many elements");
    if (check_padding(&m, err) != CNN_OK) return err->status;
    choose_copies(&m);
    choose_tasks(&m);
    lay_out(cpu, &m, &arena);
    if (arena.overflow) return CNN_FAIL(err, CNN_UNSUPPORTED, "cpu:depthwise's workspace exceeds 2^63 bytes");
    *bytes = (size_t)arena.used;
    if (state == NULL) return CNN_OK;
    dw_plan *kept = malloc(sizeof *kept + (size_t)numbers * sizeof(int64_t));
    if (kept == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a plan of cpu:depthwise");
    *kept = m;
    dw_lists_make(kept);
    *state = kept;
    return CNN_OK;
}
