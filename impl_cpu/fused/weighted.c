/* weighted.c: convolution and FC on packed blocks: the sums of the direct convolution, on whole images. Work is cut by
 * the problem alone, so the bits do not depend on the threads. */
#include "fused.h"
#include "impl_cpu/counts.h"

/* ---- What follows from the problem ---- */

void fused_weighted_make(const cnn_trainer *t, const cnn_layer *layer, fused_weighted *w, cpu_arena *arena)
{
    const cnn_problem *p = &layer->problem;
    const cnn_conv_desc conv = p->op == CNN_OP_FC ? cnn_fc_as_conv(&p->u.fc) : p->u.conv, *c = &conv;
    *w = (fused_weighted){.conv = conv, .w = t->net->params[layer->params[0]].offset, .b = -1};
    if (c->bias) w->b = t->net->params[layer->params[1]].offset;
    const int64_t x = c->ih * c->iw * t->kern->lanes, y = c->oh * c->ow * t->kern->lanes;
    w->forward = direct_gather_of(c, true, c->iw, x, c->ow);
    w->forward.out_u = y;
    w->forward.out_block = c->oc * y;
    w->backward = direct_gather_of(c, false, c->ow, y, c->iw);
    w->backward.out_u = x;
    w->backward.out_block = c->ic * x;
    w->weights = direct_weights_of(c, c->iw, x, c->oh, c->ow, y);
    direct_take_taps(&w->forward.rows, c->oh, c->kh, arena);
    direct_take_taps(&w->forward.cols, c->ow, c->kw, arena);
    direct_take_taps(&w->backward.rows, c->ih, c->kh, arena);
    direct_take_taps(&w->backward.cols, c->iw, c->kw, arena);
    direct_take_taps(&w->weights.rows, c->kh, c->oh, arena);
    direct_take_taps(&w->weights.cols, c->kw, c->ow, arena);
    if (arena->base == NULL) return;
    direct_taps_fwd(&w->forward.rows, c->oh, c->ih, c->kh, c->sh, c->ph, c->dh);
    direct_taps_fwd(&w->forward.cols, c->ow, c->iw, c->kw, c->sw, c->pw, c->dw);
    direct_taps_bwd(&w->backward.rows, c->ih, c->oh, c->kh, c->sh, c->ph, c->dh);
    direct_taps_bwd(&w->backward.cols, c->iw, c->ow, c->kw, c->sw, c->pw, c->dw);
    direct_taps_weights(&w->weights.rows, c->kh, c->oh, c->ih, c->sh, c->ph, c->dh);
    direct_taps_weights(&w->weights.cols, c->kw, c->ow, c->iw, c->sw, c->pw, c->dw);
}

/* ---- Forward and data gradient ---- */

typedef struct gather_job {
    const cnn_trainer *t;
    const direct_gather *job;
    const float *in, *w, *bias;
    float *out;
    int64_t rows, units, tiles, groups, blocks; /* units: channels of a group; tiles of them */
} gather_job;

static void gather_task(void *arg, int64_t task, int worker)
{
    const gather_job *g = arg;
    const direct_gather *j = g->job;
    const int64_t tile = task % g->tiles, group = task / g->tiles % g->groups, b = task / g->tiles / g->groups * 2;
    const int64_t u0 = g->units * tile / g->tiles, u1 = g->units * (tile + 1) / g->tiles,
                  channel = group * g->units + u0;
    const direct_gather_tile part = {.in = g->in + b * j->in_block + group * j->in_group,
                                     .w = g->w + group * j->w_group + u0 * j->w_u,
                                     .bias = g->bias != NULL ? g->bias + channel : NULL,
                                     .out = g->out + b * j->out_block + channel * j->out_u,
                                     .r1 = g->rows,
                                     .groups = 1,
                                     .units = (int)(u1 - u0),
                                     .vectors = (int)cpu_min(2, g->blocks - b),
                                     .points = g->t->points + worker * g->t->points_each};
    g->t->kern->gather(j, &part);
}

static void run_gather(gather_job *g)
{
    g->tiles = cpu_ceil_div(g->units, g->t->kern->max_units);
    parallel_for(g->t->cpu->pool, cpu_ceil_div(g->blocks, 2) * g->groups * g->tiles, gather_task, g);
}

void fused_weighted_forward(const cnn_trainer *t, const fused_weighted *w, const float *x, float *y, int64_t blocks)
{
    const cnn_conv_desc *c = &w->conv;
    run_gather(&(gather_job){.t = t,
                             .job = &w->forward,
                             .in = x,
                             .w = t->params + w->w,
                             .bias = w->b >= 0 ? t->params + w->b : NULL,
                             .out = y,
                             .rows = c->oh,
                             .units = c->oc / c->g,
                             .groups = c->g,
                             .blocks = blocks});
}

void fused_weighted_data(const cnn_trainer *t, const fused_weighted *w, const float *dy, float *dx, int64_t blocks)
{
    const cnn_conv_desc *c = &w->conv;
    run_gather(&(gather_job){.t = t,
                             .job = &w->backward,
                             .in = dy,
                             .w = t->params + w->w,
                             .out = dx,
                             .rows = c->ih,
                             .units = c->ic / c->g,
                             .groups = c->g,
                             .blocks = blocks});
}

/* ---- Weight gradient ---- */

typedef struct weights_job {
    const cnn_trainer *t;
    const fused_weighted *layer;
    direct_weights job;
    const float *x, *dy;
    int64_t o_tiles, c_tiles; /* of a group */
} weights_job;

/* Tile (o0, c0) of a group, os x cs channels, all taps. */
static void place(const weights_job *g, const float *sums, int64_t o0, int64_t os, int64_t c0, int64_t cs)
{
    const cnn_conv_desc *c = &g->layer->conv;
    const int64_t taps = c->kh * c->kw, icg = c->ic / c->g;
    float *dw = g->t->grads + g->layer->w;
    for (int64_t tap = 0; tap < taps; tap++)
        for (int64_t o = 0; o < os; o++)
            for (int64_t i = 0; i < cs; i++)
                dw[((o0 + o) * icg + c0 + i) * taps + (c->flip ? taps - 1 - tap : tap)] = sums[(tap * os + o) * cs + i];
}

static void weights_task(void *arg, int64_t task, int worker)
{
    const weights_job *g = arg;
    const cnn_trainer *t = g->t;
    const cnn_conv_desc *c = &g->layer->conv;
    const int64_t ot = task % g->o_tiles, ct = task / g->o_tiles % g->c_tiles, group = task / g->o_tiles / g->c_tiles;
    const int64_t ocg = c->oc / c->g, icg = c->ic / c->g;
    const int64_t o0 = group * ocg + ocg * ot / g->o_tiles, os = group * ocg + ocg * (ot + 1) / g->o_tiles - o0;
    const int64_t c0 = icg * ct / g->c_tiles, cs = icg * (ct + 1) / g->c_tiles - c0;
    const float *dy = g->dy + o0 * g->job.y_o;
    float *acc = t->acc + worker * t->acc_elems * t->kern->lanes, *sums = t->sums + worker * t->acc_elems;
    t->kern->weights(&g->job, g->x + (group * icg + c0) * g->job.x_c, dy, (int)os, (int)cs, acc, sums);
    place(g, sums, o0, os, c0, cs);
    if (g->layer->b < 0 || ct != 0) return;
    t->kern->bias(&g->job, dy, (int)os, t->grads + g->layer->b + o0);
}

void fused_weighted_weights(const cnn_trainer *t, const fused_weighted *w, const float *x, const float *dy,
                            int64_t blocks)
{
    const cnn_conv_desc *c = &w->conv;
    const int64_t icg = c->ic / c->g, max_os = icg == 1 ? t->kern->max_os1 : t->kern->max_os;
    weights_job g = {.t = t, .layer = w, .job = w->weights, .x = x, .dy = dy};
    g.job.blocks = blocks;
    g.o_tiles = cpu_ceil_div(c->oc / c->g, max_os);
    g.c_tiles = cpu_ceil_div(icg, t->kern->max_cs);
    parallel_for(t->cpu->pool, c->g * g.o_tiles * g.c_tiles, weights_task, &g);
}
