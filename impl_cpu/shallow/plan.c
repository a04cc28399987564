/* plan.c: what cpu:shallow takes, how it is cut into tasks by the problem alone, and what lies where. */
#include "shallow.h"

#include <stdlib.h>

/* Input channels of a group, and rows of columns, at most; bytes of a block of columns, of a task's copy, of
 * results that are stored together; pixels of a block; elements of all partial sums. */
enum {
    MOST_CHANNELS = 8,
    MOST_DEPTH = 1024,
    MOST_COLUMNS = 96 << 10,
    MOST_COPY = 256 << 10,
    MOST_RESULTS = 32 << 10,
    MOST_PIXELS = 256,
    MOST_PARTIAL = 1 << 22,
    TASKS = 16
};

/* Zeros around an image are worth some memory, not any. */
static cnn_status check(const sh_plan *m, cnn_error *err)
{
    const double most = 64.0, countable = 0x1p40;
    const cnn_conv_desc *d = &m->d;
    if (m->dir == CNN_BWD_D) return CNN_FAIL(err, CNN_UNSUPPORTED, "cpu:shallow has no data gradient: use cpu:direct");
    if (m->icg > MOST_CHANNELS || d->kh > MOST_DEPTH || d->kw > MOST_DEPTH || m->icg * d->kh * d->kw > MOST_DEPTH)
        return CNN_FAIL(err, CNN_UNSUPPORTED,
                        "groups of %lld input channels, %lldx%lld taps: cpu:shallow takes at most %d channels, and %d "
                        "taps of all of them",
                        (long long)m->icg, (long long)d->kh, (long long)d->kw, MOST_CHANNELS, MOST_DEPTH);
    const double height = (double)d->oh * (double)d->sh + (double)(d->kh - 1) * (double)(d->dh + 1) + 1;
    const double width = (double)m->length * (double)d->sw;
    const double pixels = (double)d->ih * (double)d->iw + (double)d->oh * (double)d->ow + MOST_PIXELS;
    if (height * width > most * pixels || height * width > countable)
        return CNN_FAIL(err, CNN_UNSUPPORTED,
                        "zeros around the images: with them they have %.0f x %.0f pixels, more than %.0f times what "
                        "they and the results have",
                        height, width, most);
    return CNN_OK;
}

static int64_t height_of(const cnn_conv_desc *d, int64_t rows)
{
    return (rows - 1) * d->sh + (d->kh - 1) * (d->dh + 1) + 1;
}

/* Vectors are read two at a time, and rows an odd number of them apart meet in the cache least. */
static void choose_blocks(sh_plan *m)
{
    const cnn_conv_desc *d = &m->d;
    const int64_t width = 2 * m->kernels->lanes;
    const int64_t pixels = cpu_clamp(MOST_COLUMNS / (m->rows * m->elem), width, MOST_PIXELS);
    m->block_cols = cpu_min(d->ow, cpu_max(pixels, MOST_PIXELS / 2) / width * width);
    m->block_rows = m->block_cols < d->ow ? 1 : cpu_clamp(pixels / d->ow, 1, d->oh);
    m->store_panels = cpu_max(1, MOST_RESULTS / (m->ocg * width * m->elem));
    m->pitch = (cpu_ceil_div(m->block_rows * m->block_cols, width) | 1) * width;
}

static void choose_tasks(sh_plan *m)
{
    const cnn_conv_desc *d = &m->d;
    const double macs = (double)d->mb * (double)d->oc * (double)(d->oh * d->ow) * (double)m->rows;
    const int64_t blocks = cpu_ceil_div(d->oh, m->block_rows), want = cpu_task_count(macs, TASKS);
    const int64_t row = m->icg * d->sw * m->length * m->elem * d->sh * m->block_rows;
    const int64_t fitting = cpu_max(1, MOST_COPY / row);
    const int64_t each = cpu_min(fitting, cpu_ceil_div(blocks, cpu_ceil_div(want, d->mb * d->g)));
    m->band = cpu_min(d->oh, cpu_ceil_div(blocks, cpu_ceil_div(blocks, each)) * m->block_rows);
    m->bands = cpu_ceil_div(d->oh, m->band);
    m->height = height_of(d, m->band);
    m->parts = cpu_clamp(want / d->g, 1, cpu_min(d->mb * m->bands, cpu_max(1, MOST_PARTIAL / (d->oc * m->rows))));
}

static int64_t take(cpu_arena *arena, int64_t count, int64_t each, int64_t elem)
{
    const int64_t at = arena->used;
    cpu_take(arena, count, each, (size_t)elem);
    return at;
}

static void lay_out(const cpu_context *cpu, sh_plan *m, cpu_arena *arena)
{
    const int64_t width = 2 * m->kernels->lanes, panels = m->d.g * m->panels;
    const bool weights = m->dir == CNN_BWD_W, turned = !weights && m->d.t.layout == CNN_NHWC;
    const int64_t pixels = m->block_rows * m->block_cols;
    cpu_arena worker = {0};
    m->w_at = take(arena, turned ? panels : 0, m->rows * width, m->elem);
    m->sums_at = take(arena, weights ? m->parts : 0, panels * m->rows * width, m->elem);
    take(&worker, m->icg * m->height * m->d.sw, m->length, m->elem);
    m->columns_at = take(&worker, m->rows, m->pitch, m->elem);
    m->dy_at = take(&worker, weights ? m->panels : 0, pixels * width, m->elem);
    m->to_at = take(&worker, weights ? 0 : turned ? pixels : m->ocg * m->store_panels, width, m->elem);
    m->worker = worker.used;
    m->worker_at = take(arena, cpu->threads, worker.used, 1);
    arena->overflow = arena->overflow || worker.overflow;
}

static void list_taps(sh_plan *m)
{
    const cnn_conv_desc *d = &m->d;
    const int64_t taps = d->kh * d->kw;
    for (int64_t k = 0; k < m->rows; k++) {
        const int64_t tap = d->flip ? taps - 1 - k % taps : k % taps;
        const int64_t down = tap / d->kw * (d->dh + 1), right = tap % d->kw * (d->dw + 1);
        m->tap[k] = ((k / taps * m->height + down) * d->sw + right % d->sw) * m->length + right / d->sw;
    }
}

cnn_status sh_plan_make(const cpu_context *cpu, const cnn_request *r, void **state, size_t *bytes, cnn_error *err)
{
    const cnn_conv_desc *d = &r->problem->u.conv;
    cpu_arena arena = {0};
    sh_plan m = {.kernels = mx_kernels_for(cpu, d->t.dtype),
                 .d = *d,
                 .dir = r->dir,
                 .elem = (int64_t)cnn_dtype_size(d->t.dtype),
                 .icg = d->ic / d->g,
                 .ocg = d->oc / d->g};
    m.length = d->ow + (d->kw - 1) * (d->dw + 1) / d->sw;
    const cnn_status status = check(&m, err);
    if (status != CNN_OK) return status;
    m.rows = m.icg * d->kh * d->kw;
    m.panels = cpu_ceil_div(m.ocg, 2 * m.kernels->lanes);
    choose_blocks(&m);
    choose_tasks(&m);
    lay_out(cpu, &m, &arena);
    if (arena.overflow) return CNN_FAIL(err, CNN_UNSUPPORTED, "cpu:shallow's workspace exceeds 2^63 bytes");
    *bytes = (size_t)arena.used;
    if (state == NULL) return CNN_OK;
    sh_plan *kept = malloc(sizeof *kept + (size_t)m.rows * sizeof *kept->tap);
    if (kept == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a plan of cpu:shallow");
    *kept = m;
    list_taps(kept);
    *state = kept;
    return CNN_OK;
}
