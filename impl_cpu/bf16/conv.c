/* conv.c: cpu:bf16's runs: FWD, and BWD_D phase by phase. */
#include "bf16.h"

/* Taps, phase by phase: where they are read from, and in which place their weights are. */
static void list_taps(bf_job *t)
{
    const cnn_conv_desc *d = &t->d;
    int64_t places = 0, down, right;
    for (int64_t tap = 0; tap < t->taps; tap++) t->place_of[tap] = -1;
    for (int64_t phase = 0; phase < t->y.phases * t->x.phases; phase++) {
        t->phase[phase] = places;
        const int64_t upper = bf_first_tap(&t->y, phase / t->x.phases), left = bf_first_tap(&t->x, phase % t->x.phases);
        for (int64_t i = upper; i < d->kh; i += bf_next_tap(&t->y)) {
            bf_reads(&t->y, phase / t->x.phases, i, &down);
            for (int64_t j = left; j < d->kw; j += bf_next_tap(&t->x)) {
                bf_reads(&t->x, phase % t->x.phases, j, &right);
                const int64_t tap = i * d->kw + j;
                t->list[places] = (down * t->pitch + right) * t->channels;
                t->place_of[d->flip ? t->taps - 1 - tap : tap] = places++;
            }
        }
    }
    t->phase[t->y.phases * t->x.phases] = places;
    for (int64_t q = 0; q < t->x.out; q++) t->right[q] = q * (t->x.back ? 1 : t->x.stride) * t->channels;
}

/* Results of a phase lie a stride apart. */
static bf_place place_of(const bf_job *t, int64_t phase)
{
    const int64_t channels = t->out * t->d.g, width = t->x.out, pixels = t->y.out * width;
    const bool nhwc = t->d.t.layout == CNN_NHWC;
    const int64_t pixel = nhwc ? channels : 1, sy = t->y.back ? t->y.stride : 1, sx = t->x.back ? t->x.stride : 1;
    return (bf_place){.base = (phase / t->x.phases * width + phase % t->x.phases) * pixel,
                      .image = pixels * channels,
                      .down = sy * width * pixel,
                      .right = sx * pixel,
                      .channel = nhwc ? 1 : pixels};
}

/* The runs of a phase that a row of results reads within the source: `each` of a row of taps, which come in order. */
static bf_band band_of(const bf_job *t, int64_t phase, int64_t each, int64_t row, int64_t cols)
{
    bf_band b = {.first = row, .plane = cols};
    int64_t at, runs = 0;
    for (int64_t i = bf_first_tap(&t->y, phase); i < t->y.taps; i += bf_next_tap(&t->y)) {
        bf_reads(&t->y, phase, i, &at);
        at += t->y.first + row * (t->y.back ? 1 : t->y.stride);
        if (at >= 0 && at < t->y.in) {
            if (b.count == 0) b.from = runs;
            b.count = runs + each - b.from;
        }
        runs += each;
    }
    return b;
}

/* Whether a row's band is a new one: the last one has other taps, and as many pixels as a tile. */
static bool begins_band(const bf_region *s, const bf_band *row)
{
    if (s->n_bands == 0) return true;
    const bf_band *last = &s->bands[s->n_bands - 1];
    if (s->n_bands == BF_BANDS || (last->from == row->from && last->count == row->count)) return false;
    return s->images * last->plane >= s->t->kernel->pixels;
}

/* Rows of results, above and below whose images there are zeros, leave out the taps that would read these. Where a row
 * begins no band, the last one has the taps of both. */
static void find_bands(const bf_job *t, bf_region *s, int64_t phase, int64_t each, int64_t rows)
{
    for (int64_t row = 0; row < rows; row++) {
        const bf_band b = band_of(t, phase, each, row, s->cols);
        if (begins_band(s, &b)) {
            s->bands[s->n_bands++] = b;
            continue;
        }
        bf_band *last = &s->bands[s->n_bands - 1];
        const int64_t end = cpu_max(last->from + last->count, b.count > 0 ? b.from + b.count : 0);
        if (b.count > 0) last->from = last->count > 0 ? cpu_min(last->from, b.from) : b.from;
        last->count = cpu_max(0, end - last->from);
        last->plane += b.plane;
    }
}

/* Whether each phase is one result, of one tap, as those of an FC layer are: thousands of them. Then they go together.
 */
static bool are_alike(const bf_job *t)
{
    const bf_axis *y = &t->y, *x = &t->x;
    return y->back && y->phases == y->out && x->phases == x->out && y->phases == y->taps && x->phases == x->taps &&
           y->step == 1 && x->step == 1 && y->pad == 0 && x->pad == 0;
}

static void run_phase(const cpu_context *cpu, const bf_job *t, int64_t phase)
{
    const int64_t rows = bf_results_of(&t->y, phase / t->x.phases), cols = bf_results_of(&t->x, phase % t->x.phases);
    const uint16_t *from = t->dir == CNN_FWD ? t->a->x : t->a->dy;
    int64_t each = 0;
    for (int64_t j = bf_first_tap(&t->x, phase % t->x.phases); j < t->x.taps; j += bf_next_tap(&t->x)) each++;
    bf_region s = {.t = t,
                   .images = t->d.mb,
                   .cols = cols,
                   .from = t->copied ? t->copy : from + (t->y.first * t->pitch + t->x.first) * t->channels,
                   .group = t->padded,
                   .image = t->image * t->channels,
                   .down = (t->y.back ? 1 : t->y.stride) * t->pitch * t->channels,
                   .right = t->right,
                   .list = t->list + t->phase[phase],
                   .pairs = t->padded / 2,
                   .step = 2,
                   .skip = t->phase[phase],
                   .place = place_of(t, phase),
                   .to = t->dir == CNN_FWD ? t->a->y : t->a->dx};
    s.place_group = t->out * s.place.channel;
    if (are_alike(t)) s.phases = t->taps, s.phase_place = s.place.right / (t->x.back ? t->x.stride : 1);
    find_bands(t, &s, phase / t->x.phases, each, rows);
    bf_multiply(cpu, &s);
}

static void copy_task(void *arg, int64_t task, int worker)
{
    (void)worker;
    bf_copy_row(arg, task);
}

static void forward_task(void *arg, int64_t task, int worker) { bf_pack_forward(arg, task, worker); }
static void back_task(void *arg, int64_t task, int worker) { bf_pack_back(arg, task, worker); }

static void run(const cpu_context *cpu, const cnn_plan *plan, const cnn_weighted_args *a)
{
    bf_job t = bf_job_of(cpu, &plan->problem, plan->dir, plan->knobs);
    cpu_arena arena = {.base = a->workspace};
    t.a = a;
    t.epilogue = cpu_epilogue_of(cpu, plan, a);
    t.epilogue.dtype = CNN_F32;
    bf_lay_out(cpu, &t, &arena);
    if (t.dir == CNN_BWD_W) {
        bf_weights(cpu, &t);
        return;
    }
    list_taps(&t);
    if (t.copied) parallel_for(cpu->pool, t.d.mb * t.y.size * cpu_ceil_div(t.x.size, BF_BLOCK), copy_task, &t);
    cpu_phase(cpu, "copy");
    if (t.dir == CNN_FWD)
        parallel_for(cpu->pool, t.d.g * t.vectors, forward_task, &t);
    else
        parallel_for(cpu->pool, t.d.g * bf_pair_blocks(&t), back_task, &t);
    cpu_phase(cpu, "weights");
    for (int64_t phase = 0; phase < (are_alike(&t) ? 1 : t.y.phases * t.x.phases); phase++) run_phase(cpu, &t, phase);
    cpu_phase(cpu, "multiply");
}

const cpu_kernels cpu_bf16 = {run, bf_plan, bf_choice};
