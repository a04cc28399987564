/* weighted.c: convolution and FC on packed blocks: the sums of the direct convolution, on whole images. Work is cut by
 * the problem alone, so the bits do not depend on the threads. */
#include "fused.h"
#include "impl_cpu/cpu.h"

/* ---- What follows from the problem ---- */

void fused_weighted_make(const cnn_trainer *t, const cnn_layer *layer, fused_weighted *w, cpu_arena *arena)
{
    const cnn_problem *p = &layer->problem;
    const cnn_conv_desc conv = p->op == CNN_OP_FC ? cnn_fc_as_conv(&p->u.fc) : p->u.conv, *c = &conv;
    *w = (fused_weighted){.conv = conv, .w = t->net->params[layer->params[0]].offset, .b = -1};
    if (c->bias) w->b = t->net->params[layer->params[1]].offset;
    const int lanes = t->kern->lanes;
    w->forward = direct_gather_of(c, true, lanes, arena);
    w->backward = direct_gather_of(c, false, lanes, arena);
    w->weights = direct_weights_of(c, lanes, arena);
    w->forward.out_u = w->weights.y_o;
    w->forward.out_block = w->weights.y_block;
    w->backward.out_u = w->weights.x_c;
    w->backward.out_block = w->weights.x_block;
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

void fused_weighted_gather(const cnn_trainer *t, const fused_weighted *w, bool forward, const float *in, float *out,
                           int64_t blocks)
{
    const cnn_conv_desc *c = &w->conv;
    gather_job g = {.t = t,
                    .job = forward ? &w->forward : &w->backward,
                    .in = in,
                    .w = t->params + w->w,
                    .bias = forward && w->b >= 0 ? t->params + w->b : NULL,
                    .out = out,
                    .rows = forward ? c->oh : c->ih,
                    .units = (forward ? c->oc : c->ic) / c->g,
                    .groups = c->g,
                    .blocks = blocks};
    g.tiles = cpu_ceil_div(g.units, t->kern->max_units);
    parallel_for(t->cpu->pool, cpu_ceil_div(blocks, 2) * g.groups * g.tiles, gather_task, &g);
}

/* ---- Weight gradient ---- */

typedef struct weights_job {
    const cnn_trainer *t;
    const fused_weighted *layer;
    direct_weights job;
    const float *x, *dy;
    int64_t o_tiles, c_tiles; /* of a group */
} weights_job;

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
    float *dw = t->grads + g->layer->w + o0 * g->job.filter + c0 * c->kh * c->kw;
    float *acc = t->acc + worker * t->acc_elems * t->kern->lanes, *sums = t->sums + worker * t->acc_elems;
    t->kern->weights(&g->job, g->x + (group * icg + c0) * g->job.x_c, dy, (int)os, (int)cs, acc, sums, dw, false);
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
