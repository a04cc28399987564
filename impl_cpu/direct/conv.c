/* conv.c: the direct convolution's forward pass and data gradient, which are one "gather": every output pixel
 * sums over the taps that reach it, so no two tasks write the same place. direct.h tells the whole idea.
 *
 * A round packs some blocks of images, then computes tasks of (two blocks) x (a tile of channels) x (a range of rows)
 * into a worker's scratch and unpacks them. An output's sum is always taken in the same order, by whichever worker. */
#include "direct.h"
#include "harness/cnn/shape.h"
#include "impl_cpu/cpu.h"

typedef struct gather_run {
    const direct_kernels *kern;
    bool forward; /* or the data gradient */
    direct_shape shape;
    direct_side out_side;
    direct_gather job;
    size_t elem;
    int64_t units, groups_each, tiles; /* channels of a group; groups in a task (when narrow), else tiles of a group */
    int64_t tasks_each;                /* of a pair of blocks */
    direct_packing in;
    const char *w, *bias;
    void *out;
    bool add;
    cpu_epilogue epilogue;
    int64_t block0, blocks;       /* of this round */
    int64_t rows_each;            /* rows of results kept before they are unpacked */
    int64_t rows_task, row_parts; /* rows of a task, and how many such ranges: few blocks still share out evenly */
    /* workspace, beside what is packed: a piece for each worker. Lists of points are written for each pixel, so no two
     * workers' lie in one line of the cache, or in two that processors fetch together. */
    char *result;
    direct_point *points;
    int64_t points_each;
} gather_run;

static void gather_channels(gather_run *r, const cnn_conv_desc *c)
{
    r->units = (r->forward ? c->oc : c->ic) / c->g;
    r->groups_each = r->units * 2 <= r->kern->max_units ? cpu_min(r->kern->max_units / r->units, c->g) : 1;
    r->tiles = cpu_ceil_div(r->units, r->kern->max_units);
    r->tasks_each = cpu_ceil_div(c->g, r->groups_each) * r->tiles;
}

/* Results stay in the first-level cache until they are unpacked: some rows, if possible whole vectors of pixels. */
static int64_t rows_at_once(const direct_side *out, int lanes)
{
    int64_t rows = 1;
    while (rows < lanes && rows * out->tw % lanes != 0) rows *= 2;
    if (rows * out->tw > 4 * lanes) rows = cpu_max(1, 2 * lanes / out->tw);
    return cpu_min(rows, out->th);
}

static void gather_rows(gather_run *r, const cnn_conv_desc *c)
{
    const double macs = (double)c->mb * (double)(c->oc * c->oh * c->ow) * (double)(c->ic / c->g * c->kh * c->kw);
    const int64_t rows = r->out_side.th, tasks = cpu_ceil_div(r->shape.round, 2) * r->tasks_each;
    const int64_t want = cpu_ceil_div(cpu_task_count(macs, DIRECT_TASKS), tasks);
    r->rows_each = rows_at_once(&r->out_side, r->kern->lanes);
    r->rows_task = cpu_ceil_div(cpu_ceil_div(rows, r->rows_each), want) * r->rows_each;
    r->row_parts = cpu_ceil_div(rows, r->rows_task);
}

static void gather_place(gather_run *r, int threads, cpu_arena *arena)
{
    enum { APART = 128 / sizeof(direct_point) };
    r->points_each = cpu_ceil_div(r->job.kh * r->job.kw, APART) * APART + APART;
    r->in.packed = cpu_take(arena, r->shape.round, r->job.in_block, r->elem);
    r->result = cpu_take(arena, threads * 2, r->job.out_block, r->elem);
    r->points = cpu_take(arena, threads, r->points_each, sizeof(direct_point));
}

/* Fills in all that follows from the problem. */
static void gather_lay_out(const cpu_context *ctx, const cnn_request *q, void *run, cpu_arena *kept,
                           cpu_arena *workspace)
{
    const cnn_conv_desc *c = &q->problem->u.conv;
    gather_run *r = run;
    *r = (gather_run){.kern = direct_kernels_for(ctx, c->t.dtype), .elem = cnn_dtype_size(c->t.dtype)};
    direct_shape_make(r->kern, q, &r->shape);
    r->forward = q->dir == CNN_FWD;
    r->out_side = r->forward ? r->shape.y : r->shape.x;
    gather_channels(r, c);
    direct_gather *j = &r->job;
    int lanes = r->kern->lanes;
    gather_rows(r, c);
    *j = direct_gather_of(&r->shape.desc, r->forward, lanes, kept);
    j->out_block = r->kern->max_units * r->rows_each * j->out_w * lanes;
    r->in = direct_packing_make(r->forward ? &r->shape.x : &r->shape.y, cpu_ceil_div(DIRECT_TASKS, r->shape.round));
    gather_place(r, ctx->threads, workspace);
}

const direct_layout direct_gather_layout = {sizeof(gather_run), gather_lay_out};

static void pack_task(void *arg, int64_t task, int worker)
{
    const gather_run *r = arg;
    const int64_t block = task / r->in.parts;
    (void)worker;
    direct_pack_part(r->kern, &r->in, r->elem, r->block0 + block, block, task % r->in.parts);
}

/* A curved activation of what was unpacked just now. */
static void finish_runs(const gather_run *r, const direct_part *p, const cpu_epilogue *e)
{
    const direct_side *s = &r->out_side;
    const bool last = s->layout == CNN_NHWC;
    const int64_t rows = p->h1 - p->h0, each = s->tiles_w == 1 ? rows : 1;
    const int64_t outer = last ? rows * s->tw : p->c1 - p->c0, inner = last ? 1 : rows / each;
    direct_lanes lanes;
    direct_run run;
    direct_lanes_locate(s, r->kern->lanes, p->block, &lanes);
    for (int64_t i = 0; i < outer; i++)
        for (int64_t k = 0; k < inner; k++) {
            if (last)
                direct_run_pixel(s, &lanes, p->c0, p->h0 + i / s->tw, i % s->tw, p->c1 - p->c0, &run);
            else
                direct_run_rows(s, &lanes, p->c0 + i, p->h0 + k * each, each, &run);
            for (int l = 0; l < lanes.used; l++)
                if (run.hi[l] > run.lo[l]) cpu_epilogue_row(e, run.at[l] + run.lo[l], run.hi[l] - run.lo[l]);
        }
}

/* Results to where they belong, with what is added to them and done to them. A curved activation comes first where no
 * residual is added before it: then all of a channel's results lie side by side; else behind, run by run. */
static void put_results(const gather_run *r, const direct_part *p, char *packed, int64_t bytes)
{
    const cpu_epilogue *e = &r->epilogue;
    const direct_finish lines = {e->what.act, e->what.alpha};
    const void *added = r->add ? r->out : e->any ? e->z : NULL;
    if (!e->curved) {
        r->kern->unpack(&r->out_side, r->out, p, packed, added, e->any ? &lines : NULL);
        return;
    }
    cpu_epilogue own = *e;
    if (added == NULL) {
        own.y = packed;
        cpu_epilogue_row(&own, 0, bytes / (int64_t)r->elem);
    }
    r->kern->unpack(&r->out_side, r->out, p, packed, added, NULL);
    if (added == NULL) return;
    own.what.add = false;
    finish_runs(r, p, &own);
}

/* A task is a strip of rows of two blocks of images and a tile of channels: taps and weights stay in the cache. */
static void gather_task(void *arg, int64_t task, int worker)
{
    gather_run *r = arg;
    direct_gather job = r->job, *j = &job;
    int64_t row0 = task % r->row_parts * r->rows_task, row1 = cpu_min(row0 + r->rows_task, r->out_side.th);
    task /= r->row_parts;
    int64_t b = task / r->tasks_each * 2, rest = task % r->tasks_each, elem = (int64_t)r->elem;
    int64_t group = rest / r->tiles * r->groups_each, tile = rest % r->tiles;
    int64_t u0 = r->units * tile / r->tiles, u1 = r->units * (tile + 1) / r->tiles;
    int64_t channel = group * r->units + u0;
    direct_gather_tile t = {.units = (int)(u1 - u0), .vectors = (int)cpu_min(2, r->blocks - b)};
    t.groups = cpu_min(r->groups_each, r->shape.desc.g - group);
    t.in = (const char *)r->in.packed + (b * j->in_block + group * j->in_group) * elem;
    t.w = r->w + (group * j->w_group + u0 * j->w_u) * elem;
    t.bias = r->bias ? r->bias + channel * elem : NULL;
    t.points = r->points + worker * r->points_each;
    char *out = r->result + worker * 2 * j->out_block * elem;
    t.out = out;
    direct_part p = {.c0 = channel, .c1 = channel + t.groups * t.units};
    for (int64_t row = row0; row < row1; row += r->rows_each) {
        t.r0 = p.h0 = row;
        t.r1 = p.h1 = cpu_min(row + r->rows_each, row1);
        p.rows = t.r1 - t.r0;
        j->out_u = p.rows * j->out_w * r->kern->lanes;
        r->kern->gather(j, &t);
        for (int v = 0; v < t.vectors; v++) {
            p.block = r->block0 + b + v;
            put_results(r, &p, out + v * j->out_block * elem, (p.c1 - p.c0) * j->out_u * elem);
        }
    }
}

static void run(const cpu_context *ctx, const cnn_plan *plan, const cnn_weighted_args *args)
{
    if (plan->dir == CNN_BWD_W) {
        direct_run_weights(ctx, plan, args);
        return;
    }
    gather_run r = *(const gather_run *)plan->state;
    gather_place(&r, ctx->threads, &(cpu_arena){.base = args->workspace});
    r.in.tensor = r.forward ? args->x : args->dy;
    r.out = r.forward ? args->y : args->dx;
    r.w = args->w;
    r.bias = r.forward ? args->b : NULL;
    r.add = args->beta != 0;
    r.epilogue = cpu_epilogue_of(ctx, plan, args);
    for (r.block0 = 0; r.block0 < r.shape.blocks; r.block0 += r.shape.round) {
        r.blocks = cpu_min(r.shape.round, r.shape.blocks - r.block0);
        parallel_for(ctx->pool, r.blocks * r.in.parts, pack_task, &r);
        cpu_phase(ctx, "pack");
        parallel_for(ctx->pool, cpu_ceil_div(r.blocks, 2) * r.tasks_each * r.row_parts, gather_task, &r);
        cpu_phase(ctx, "direct");
    }
}

const cpu_kernels cpu_conv_direct = {run, direct_plan, NULL};
