/* multiply.c: tiles of a region: some rows by a panel of lanes; some tiles later their results go to memory. */
#include "bf16.h"

/* Where each row of a task is read, `count` from row `first` on. */
static void find_rows(const bf_region *s, const uint16_t *from, int64_t first, int64_t count, const uint16_t **x)
{
    int64_t col = first % s->cols, down = first % s->plane / s->cols, image = first / s->plane;
    for (int64_t i = 0; i < count; i++) {
        x[i] = from + image * s->image + down * s->down + s->right[col];
        if (++col < s->cols) continue;
        col = 0;
        if (++down < s->plane / s->cols) continue;
        down = 0, image++;
    }
}

/* Sums of `count` rows, in tiles that are as even as can be. */
static void multiply_rows(const bf_region *s, bf_tile *tile, const uint16_t *const *x, int64_t count, float *sums)
{
    const bf_kernel *kernel = s->t->kernel;
    const int64_t tiles = cpu_ceil_div(count, kernel->pixels), width = tile->vectors * kernel->lanes;
    for (int64_t i = 0; i < tiles; i++) {
        const int64_t first = count * i / tiles;
        tile->rows = (int)(count * (i + 1) / tiles - first);
        for (int r = 0; r < tile->rows; r++) tile->x[r] = x[first + r];
        kernel->product(tile, sums + first * width);
    }
}

static const void *part_of(const cnn_type *t, cnn_part part, const void *array, int64_t at)
{
    return array != NULL ? cpu_at_const(cnn_part_dtype(t->dtype, part), array, at) : NULL;
}

static void store(const bf_region *s, bf_results *r, int64_t group, int64_t lane)
{
    const bf_job *t = s->t;
    const cnn_type *type = &t->d.t;
    const int64_t channel = group * t->out + lane;
    bf_place place = s->place;
    place.base += group * s->place_group + lane * place.channel;
    r->place = &place;
    r->channels = cpu_min(r->width, t->out - lane);
    r->to = s->to;
    r->wide = cnn_part_dtype(type->dtype, CNN_PART_RESULT) == CNN_F32;
    r->wide_bias = cnn_part_dtype(type->dtype, CNN_PART_BIAS) == CNN_F32;
    r->beta = t->a->beta;
    if (t->dir == CNN_FWD) {
        r->bias = part_of(type, CNN_PART_BIAS, t->a->b, channel);
        r->z = t->a->z;
        r->epilogue = t->epilogue;
    }
    t->kernel->put(r);
}

/* Weights that stay in the second-level cache are gone through for each chunk; else chunks for each panel. */
static bool has_light_weights(const bf_job *t)
{
    enum { MOST = 256 << 10 };
    return t->terms * t->vectors * t->kernel->lanes * 4 <= MOST;
}

/* Task (group, chunk of rows, panel). */
static void multiply(void *arg, int64_t task, int worker)
{
    const bf_region *s = arg;
    const bf_job *t = s->t;
    const int64_t lanes = t->kernel->lanes, group = task / (s->chunks * t->panels),
                  rest = task % (s->chunks * t->panels);
    const bool light = has_light_weights(t);
    const int64_t panel = light ? rest % t->panels : rest / s->chunks,
                  chunk = light ? rest / t->panels : rest % s->chunks;
    const int64_t first = s->rows * chunk / s->chunks, count = s->rows * (chunk + 1) / s->chunks - first;
    const int64_t lane = bf_first_vector(t, panel) * lanes;
    bf_tile tile = {.list = s->list, .count = s->count, .pairs = s->pairs, .step = s->step, .add = s->add};
    const uint16_t *x[BF_ROWS];
    float here[BF_ROWS * BF_WIDTH], *sums = here;
    (void)worker;
    tile.vectors = bf_panel_vectors(t, panel);
    tile.w = bf_panel(t, group, panel) + s->skip * 2 * tile.vectors * lanes;
    const int64_t width = tile.vectors * lanes;
    if (s->keep || s->add) sums = t->sums + (group * t->vectors * lanes + lane) * s->rows + first * width;
    find_rows(s, s->from + group * s->group, first, count, x);
    multiply_rows(s, &tile, x, count, sums);
    bf_results results = {.first = first, .count = count, .width = width, .sums = sums};
    if (!s->keep) store(s, &results, group, lane);
}

void bf_multiply(const cpu_context *cpu, bf_region *s)
{
    enum { TASKS = 16, LEAST_ROWS = 24 };
    const bf_job *t = s->t;
    const double macs = 2.0 * (double)s->rows * (double)(s->count * s->pairs) * (double)(t->d.g * t->out);
    const int64_t want = cpu_ceil_div(cpu_task_count(macs, TASKS), t->d.g * t->panels);
    s->chunks = cpu_max(cpu_ceil_div(s->rows, BF_ROWS), cpu_min(want, cpu_ceil_div(s->rows, LEAST_ROWS)));
    parallel_for(cpu->pool, t->d.g * t->panels * s->chunks, multiply, s);
}
