/* multiply.c: tasks of a region: some rows by a panel of lanes, whose results then go to memory. */
#include "bf16.h"
#include "harness/cpu/half.h"
#include "impl_cpu/amx/amx.h"

/* A task: rows [first, first + count) of a band, by a panel. */
typedef struct piece {
    const bf_region *s;
    const bf_band *band;
    int64_t phase, group, panel, lane, first, count, width;
} piece;

/* Where each row is read. */
static void find_rows(const piece *p, const uint16_t **x)
{
    const bf_region *s = p->s;
    const int64_t downs = p->band->plane / s->cols;
    const uint16_t *from = s->from + p->group * s->group + p->band->first * s->down;
    int64_t col = p->first % s->cols, down = p->first / s->cols % downs, image = p->first / p->band->plane;
    for (int64_t i = 0; i < p->count; i++) {
        x[i] = from + image * s->image + down * s->down + s->right[col];
        if (++col < s->cols) continue;
        col = 0;
        if (++down < downs) continue;
        down = 0, image++;
    }
}

/* Results of a band; pixels that follow each other are one long row. */
static bf_place place_of(const piece *p)
{
    const bf_region *s = p->s;
    const bf_band *band = p->band;
    bf_place place = s->place;
    place.base +=
        p->phase * s->phase_place + p->group * s->place_group + p->lane * place.channel + band->first * place.down;
    place.plane = band->plane, place.cols = s->cols;
    if (place.down == s->cols * place.right || band->plane == s->cols) place.cols = place.plane;
    if (place.cols == place.plane && place.image == place.plane * place.right) place.cols = place.plane = band->rows;
    return place;
}

static const void *part_of(const cnn_type *t, cnn_part part, const void *array, int64_t at)
{
    return array != NULL ? cpu_at_const(cnn_part_dtype(t->dtype, part), array, at) : NULL;
}

static const void *bias_of(const piece *p)
{
    const bf_job *t = p->s->t;
    return t->dir == CNN_FWD ? part_of(&t->d.t, CNN_PART_BIAS, t->a->b, p->group * t->out + p->lane) : NULL;
}

/* `with_bias`: the sums have it. */
static void store(const piece *p, float *sums, bool with_bias)
{
    const bf_job *t = p->s->t;
    const cnn_type *type = &t->d.t;
    const bf_place place = place_of(p);
    bf_results r = {.place = &place,
                    .to = p->s->to,
                    .wide = cnn_part_dtype(type->dtype, CNN_PART_RESULT) == CNN_F32,
                    .wide_bias = cnn_part_dtype(type->dtype, CNN_PART_BIAS) == CNN_F32,
                    .beta = t->a->beta,
                    .first = p->first,
                    .count = p->count,
                    .width = p->width,
                    .channels = cpu_min(p->width, t->out - p->lane),
                    .sums = sums};
    if (t->dir == CNN_FWD) {
        if (!with_bias) r.bias = bias_of(p);
        r.z = t->a->z;
        r.epilogue = t->epilogue;
    }
    t->kernel->put(&r);
}

/* Weights that stay in the second-level cache are gone through for each chunk; else chunks for each panel. */
static bool has_light_weights(const bf_job *t)
{
    enum { MOST = 256 << 10 };
    return t->terms * t->vectors * t->kernel->lanes * 4 <= MOST;
}

/* Task (phase, group, chunk of rows, panel, or part of the panels: then its first). */
static piece piece_of(const bf_region *s, int64_t task)
{
    const bf_job *t = s->t;
    const int64_t parts = s->parts > 0 ? s->parts : t->panels;
    const bool light = s->parts > 0 || has_light_weights(t);
    const int64_t rest = task % (s->chunks * parts), group = task / (s->chunks * parts);
    piece p = {.s = s, .band = s->bands, .phase = group / t->d.g, .group = group % t->d.g};
    int64_t chunk = light ? rest / parts : rest % s->chunks;
    p.panel = t->panels * (light ? rest % parts : rest / s->chunks) / parts;
    for (; chunk >= p.band->chunks; p.band++) chunk -= p.band->chunks;
    const int64_t grains = cpu_ceil_div(p.band->rows, s->grain);
    p.first = grains * chunk / p.band->chunks * s->grain;
    p.count = cpu_min(grains * (chunk + 1) / p.band->chunks * s->grain, p.band->rows) - p.first;
    return p;
}

/* What the sums of a panel begin with, on matrix units; others add it as they store. */
static const float *start_of(const piece *p, float *start)
{
    const bf_job *t = p->s->t;
    const void *bias = bias_of(p);
    const bool wide = cnn_part_dtype(t->d.t.dtype, CNN_PART_BIAS) == CNN_F32;
    if (!t->kernel->runs || bias == NULL) return NULL;
    for (int64_t k = 0; k < p->width; k++) {
        const bool there = k < t->out - p->lane;
        start[k] = !there ? 0 : wide ? ((const float *)bias)[k] : half_bf16_to_float(((const uint16_t *)bias)[k]);
    }
    return start;
}

static void multiply_panel(piece *p, bf_rows *rows)
{
    const bf_region *s = p->s;
    const bf_job *t = s->t;
    float here[BF_SUMS], start[BF_WIDTH], *sums = here;
    p->lane = bf_first_vector(t, p->panel) * t->kernel->lanes;
    p->width = bf_panel_vectors(t, p->panel) * t->kernel->lanes;
    rows->vectors = bf_panel_vectors(t, p->panel);
    rows->w = bf_panel(t, p->group, p->panel) +
              (s->skip + p->phase * p->band->count + p->band->from) * s->pairs * 2 * p->width;
    rows->start = start_of(p, start);
    if (s->keep || s->add)
        sums = t->sums + (p->group * t->vectors * t->kernel->lanes + p->lane) * p->band->rows + p->first * p->width;
    t->kernel->product(rows, sums);
    if (!s->keep) store(p, sums, rows->start != NULL);
}

static void multiply(void *arg, int64_t task, int worker)
{
    const bf_region *s = arg;
    const bf_job *t = s->t;
    piece p = piece_of(s, task);
    const int64_t part = task % cpu_max(s->parts, 1), end = t->panels * (part + 1) / cpu_max(s->parts, 1);
    bf_rows rows = {.list = s->list + p.band->from,
                    .rows = p.count,
                    .count = p.band->count,
                    .pairs = s->pairs,
                    .step = s->step,
                    .add = s->add};
    find_rows(&p, rows.x);
    if (s->parts == 0) {
        multiply_panel(&p, &rows);
        return;
    }
    if (s->packed) {
        char *packed = t->packed + worker * t->packed_each;
        t->kernel->pack(&rows, packed);
        rows.packed = packed;
    }
    for (; p.panel < end; p.panel++) multiply_panel(&p, &rows);
}

/* Whether a matrix unit reads rows where they are: whole tiles of words, and rows at equal steps. */
static bool in_place(const bf_region *s)
{
    return s->pairs % AMX_WORDS == 0 && (s->t->dir == CNN_BWD_W ? s->t->taps == 1 : s->cols >= AMX_ROWS / 2);
}

/* Chunks are whole tiles of a matrix unit; where rows of an image are read in place, whole rows of it. */
static int64_t grain_of(const bf_region *s)
{
    const bf_kernel *k = s->t->kernel;
    if (!k->runs) return 1;
    return in_place(s) && s->t->dir != CNN_BWD_W && s->cols <= k->rows ? s->cols : AMX_ROWS;
}

void bf_multiply(const cpu_context *cpu, bf_region *s)
{
    enum { TASKS = 16, LEAST_ROWS = 24 };
    const bf_job *t = s->t;
    const int64_t alike = cpu_max(s->phases, 1) * t->d.g;
    s->packed = t->packed_rows > 0 && !in_place(s);
    const bool together = s->packed || (t->kernel->runs && has_light_weights(t));
    double macs = 0;
    for (int i = 0; i < s->n_bands; i++) {
        bf_band *b = &s->bands[i];
        b->rows = s->images * b->plane;
        macs += 2.0 * (double)b->rows * (double)(b->count * s->pairs) * (double)(t->d.g * t->out);
    }
    const int64_t want = cpu_ceil_div(cpu_task_count(macs, TASKS), alike * (together ? 1 : t->panels) * s->n_bands);
    s->chunks = 0, s->grain = grain_of(s);
    s->most = cpu_max(1, (s->packed ? t->packed_rows : t->kernel->rows) / s->grain);
    for (int i = 0; i < s->n_bands; i++) {
        bf_band *b = &s->bands[i];
        const int64_t grains = cpu_ceil_div(b->rows, s->grain);
        b->chunks = cpu_max(cpu_ceil_div(grains, s->most), cpu_min(want, cpu_ceil_div(b->rows, LEAST_ROWS)));
        s->chunks += b->chunks;
    }
    if (together) s->parts = cpu_clamp(cpu_ceil_div(cpu->threads, alike * s->chunks), 1, t->panels);
    parallel_for(cpu->pool, alike * s->chunks * (together ? s->parts : t->panels), multiply, s);
}
