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
        for (int64_t i = 0; i < d->kh; i++) {
            if (!bf_reads(&t->y, phase / t->x.phases, i, &down)) continue;
            for (int64_t j = 0; j < d->kw; j++) {
                if (!bf_reads(&t->x, phase % t->x.phases, j, &right)) continue;
                const int64_t tap = i * d->kw + j;
                t->list[places] = (down * t->pitch + right) * t->channels;
                t->place_of[d->flip ? t->taps - 1 - tap : tap] = places++;
            }
        }
    }
    t->phase[t->y.phases * t->x.phases] = places;
    for (int64_t q = 0; q < t->x.out; q++) t->right[q] = q * (t->x.back ? 1 : t->x.stride) * t->channels;
}

/* Results of a phase lie a stride apart. Pixels that follow each other are one long row. */
static bf_place place_of(const bf_job *t, int64_t phase, int64_t rows, int64_t cols)
{
    const int64_t channels = t->out * t->d.g, width = t->x.out, pixels = t->y.out * width;
    const bool nhwc = t->d.t.layout == CNN_NHWC;
    const int64_t pixel = nhwc ? channels : 1, sy = t->y.back ? t->y.stride : 1, sx = t->x.back ? t->x.stride : 1;
    bf_place p = {.base = (phase / t->x.phases * width + phase % t->x.phases) * pixel,
                  .plane = rows * cols,
                  .cols = cols,
                  .image = pixels * channels,
                  .down = sy * width * pixel,
                  .right = sx * pixel,
                  .channel = nhwc ? 1 : pixels};
    if (p.down == cols * p.right || rows == 1) p.cols = p.plane;
    if (p.cols == p.plane && p.image == p.plane * p.right) p.cols = p.plane = t->d.mb * p.plane;
    return p;
}

static void run_phase(const cpu_context *cpu, const bf_job *t, int64_t phase)
{
    const int64_t rows = bf_results_of(&t->y, phase / t->x.phases), cols = bf_results_of(&t->x, phase % t->x.phases);
    const uint16_t *from = t->dir == CNN_FWD ? t->a->x : t->a->dy;
    bf_region s = {.t = t,
                   .rows = t->d.mb * rows * cols,
                   .plane = rows * cols,
                   .cols = cols,
                   .from = t->copied ? t->copy : from + (t->y.first * t->pitch + t->x.first) * t->channels,
                   .group = t->padded,
                   .image = t->image * t->channels,
                   .down = (t->y.back ? 1 : t->y.stride) * t->pitch * t->channels,
                   .right = t->right,
                   .list = t->list + t->phase[phase],
                   .count = t->phase[phase + 1] - t->phase[phase],
                   .pairs = t->padded / 2,
                   .step = 2,
                   .skip = t->phase[phase] * t->padded / 2,
                   .place = place_of(t, phase, rows, cols),
                   .to = t->dir == CNN_FWD ? t->a->y : t->a->dx};
    s.place_group = t->out * s.place.channel;
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
    for (int64_t phase = 0; phase < t.y.phases * t.x.phases; phase++) run_phase(cpu, &t, phase);
    cpu_phase(cpu, "multiply");
}

const cpu_kernels cpu_bf16 = {run, bf_plan};
