/* direct_weights.c: the direct convolution's weight gradient.
 *
 * A task keeps vectors of sums, one for each weight of a tile of os x cs channels and all taps, over the blocks of one
 * slot; at the end the lanes are added. A problem with few such tiles has several slots, whose sums are added in their
 * order. Tiles and slots follow from the problem alone, so the bits do not depend on the threads. */
#include "counts.h"
#include "direct.h"
#include "harness/names.h"
#include "harness/shape.h"
#include "laps.h"

typedef struct weights_run {
    const direct_kernels *kern;
    direct_shape shape;
    direct_weights job;
    size_t elem;
    int64_t icg, ocg, o_tiles, c_tiles, tiles; /* tiles of all groups */
    int64_t slots, x_parts, y_parts;
    const void *x, *dy;
    void *dw, *db;
    bool add, flip;
    int64_t block0, blocks; /* of this round */
    /* workspace; partial: [slots][weights, then biases]; the last two hold a piece for each worker */
    char *packed_x, *packed_y, *partial, *acc, *sums;
    int64_t weights, acc_elems, partial_elems;
} weights_run;

static void weights_layout(weights_run *r, const cpu_context *ctx, const cnn_conv_desc *c, direct_arena *arena)
{
    *r = (weights_run){.kern = direct_kernels_for(ctx, c->t.dtype), .elem = cnn_dtype_size(c->t.dtype)};
    direct_shape_make(ctx, r->kern, c, CNN_BWD_W, &r->shape);
    const direct_side *x = &r->shape.x, *y = &r->shape.y;
    int lanes = r->kern->lanes;
    r->icg = c->ic / c->g;
    r->ocg = c->oc / c->g;
    int max_os = r->icg == 1 ? r->kern->max_os1 : r->kern->max_os;
    r->o_tiles = cpu_ceil_div(r->ocg, max_os);
    r->c_tiles = cpu_ceil_div(r->icg, r->kern->max_cs);
    r->tiles = c->g * r->o_tiles * r->c_tiles;
    r->slots = cpu_min(r->shape.round, cpu_ceil_div(DIRECT_TASKS, r->tiles));
    r->x_parts = cpu_min(c->ic, cpu_ceil_div(DIRECT_TASKS, r->shape.round));
    r->y_parts = cpu_min(c->oc, cpu_ceil_div(DIRECT_TASKS, r->shape.round));
    r->flip = c->flip;
    direct_weights *j = &r->job;
    *j = (direct_weights){.kh = c->kh, .kw = c->kw, .x_w = x->tw, .y_h = y->th, .y_w = y->tw};
    j->x_c = direct_channel(x, lanes);
    j->y_o = direct_channel(y, lanes);
    j->x_block = c->ic * j->x_c;
    j->y_block = c->oc * j->y_o;
    r->weights = c->oc * r->icg * c->kh * c->kw;
    r->partial_elems = r->weights + c->oc;
    r->acc_elems = c->kh * c->kw * max_os * cpu_min(r->icg, r->kern->max_cs);
    j->rows.start = direct_take(arena, c->kh + 1, 1, sizeof(int64_t));
    j->cols.start = direct_take(arena, c->kw + 1, 1, sizeof(int64_t));
    j->rows.e = direct_take(arena, c->kh, y->th, sizeof(direct_tap));
    j->cols.e = direct_take(arena, c->kw, y->tw, sizeof(direct_tap));
    r->packed_x = direct_take(arena, r->shape.round, j->x_block, r->elem);
    r->packed_y = direct_take(arena, r->shape.round, j->y_block, r->elem);
    r->partial = direct_take(arena, r->slots, r->partial_elems, r->elem);
    r->acc = direct_take(arena, ctx->threads * lanes, r->acc_elems, r->elem);
    r->sums = direct_take(arena, ctx->threads, r->acc_elems, r->elem);
}

static void pack_task(void *arg, int64_t task, int worker)
{
    weights_run *r = arg;
    int64_t each = r->x_parts + r->y_parts, b = task / each, part = task % each;
    bool is_x = part < r->x_parts;
    const direct_side *s = is_x ? &r->shape.x : &r->shape.y;
    int64_t parts = is_x ? r->x_parts : r->y_parts;
    if (!is_x) part -= r->x_parts;
    int64_t c0 = s->c * part / parts, c1 = s->c * (part + 1) / parts, elem = (int64_t)r->elem;
    char *packed = is_x ? r->packed_x + (b * r->job.x_block + c0 * r->job.x_c) * elem
                        : r->packed_y + (b * r->job.y_block + c0 * r->job.y_o) * elem;
    direct_part p = {r->block0 + b, c0, c1, 0, s->th};
    (void)worker;
    r->kern->pack(s, is_x ? r->x : r->dy, &p, packed);
}

/* Tile sums [tap][o][c] to their places in dw[oc][ic/g][kh][kw]. */
static void scatter(const weights_run *r, const char *sums, char *partial, int64_t oc, int64_t ic, int os, int cs)
{
    int64_t taps = r->job.kh * r->job.kw, n = 0;
    for (int64_t tap = 0; tap < taps; tap++) {
        int64_t to = r->flip ? taps - 1 - tap : tap;
        for (int o = 0; o < os; o++) {
            for (int c = 0; c < cs; c++, n++) {
                int64_t at = ((oc + o) * r->icg + ic + c) * taps + to;
                if (r->elem == sizeof(float))
                    ((float *)(void *)partial)[at] = ((const float *)(const void *)sums)[n];
                else
                    ((double *)(void *)partial)[at] = ((const double *)(const void *)sums)[n];
            }
        }
    }
}

static void weights_task(void *arg, int64_t task, int worker)
{
    weights_run *r = arg;
    int64_t slot = task / r->tiles, tile = task % r->tiles, elem = (int64_t)r->elem;
    int64_t ct = tile % r->c_tiles, ot = tile / r->c_tiles % r->o_tiles, g = tile / (r->c_tiles * r->o_tiles);
    int64_t o0 = r->ocg * ot / r->o_tiles, o1 = r->ocg * (ot + 1) / r->o_tiles;
    int64_t c0 = r->icg * ct / r->c_tiles, c1 = r->icg * (ct + 1) / r->c_tiles;
    int64_t b0 = r->blocks * slot / r->slots, b1 = r->blocks * (slot + 1) / r->slots;
    int os = (int)(o1 - o0), cs = (int)(c1 - c0);
    direct_weights job = r->job;
    job.blocks = b1 - b0;
    const char *x = r->packed_x + (b0 * job.x_block + (g * r->icg + c0) * job.x_c) * elem;
    const char *dy = r->packed_y + (b0 * job.y_block + (g * r->ocg + o0) * job.y_o) * elem;
    char *partial = r->partial + slot * r->partial_elems * elem, *sums = r->sums + worker * r->acc_elems * elem;
    char *acc = r->acc + worker * r->acc_elems * r->kern->lanes * elem;
    r->kern->weights(&job, x, dy, os, cs, acc, sums);
    scatter(r, sums, partial, g * r->ocg + o0, c0, os, cs);
    if (r->db && ct == 0) r->kern->bias(&job, dy, os, partial + (r->weights + g * r->ocg + o0) * elem);
}

/* out[n] = (add ? out[n] : 0) + the slots' sums, first to last. */
#define DEFINE_REDUCE(name, real)                                                                                      \
    static void name(real *out, const real *partial, int64_t count, int64_t slots, int64_t stride, bool add)           \
    {                                                                                                                  \
        for (int64_t n = 0; n < count; n++) {                                                                          \
            real sum = partial[n];                                                                                     \
            for (int64_t s = 1; s < slots; s++) sum += partial[s * stride + n];                                        \
            out[n] = add ? out[n] + sum : sum;                                                                         \
        }                                                                                                              \
    }
DEFINE_REDUCE(reduce_f32, float)
DEFINE_REDUCE(reduce_f64, double)

enum { REDUCE_EACH = 4096 };

static void reduce_task(void *arg, int64_t task, int worker)
{
    (void)worker;
    weights_run *r = arg;
    int64_t elem = (int64_t)r->elem, weight_tasks = cpu_ceil_div(r->weights, REDUCE_EACH);
    bool bias = task >= weight_tasks;
    int64_t first = bias ? 0 : task * REDUCE_EACH,
            count = bias ? r->shape.desc.oc : cpu_min(REDUCE_EACH, r->weights - first);
    char *out = bias ? r->db : (char *)r->dw + first * elem;
    const char *in = r->partial + (bias ? r->weights : first) * elem;
    if (r->elem == sizeof(float))
        reduce_f32((float *)(void *)out, (const float *)(const void *)in, count, r->slots, r->partial_elems, r->add);
    else
        reduce_f64((double *)(void *)out, (const double *)(const void *)in, count, r->slots, r->partial_elems, r->add);
}

cnn_status direct_run_weights(const cpu_context *ctx, const cnn_conv_desc *c, const cnn_weighted_args *args,
                              cnn_error *err)
{
    (void)err;
    weights_run r;
    direct_arena arena = {.base = args->workspace};
    weights_layout(&r, ctx, c, &arena);
    const direct_side *x = &r.shape.x, *y = &r.shape.y;
    direct_taps_weights(&r.job.rows, c->kh, y->th, x->th, c->sh, r.shape.ph, c->dh);
    direct_taps_weights(&r.job.cols, c->kw, y->tw, x->tw, c->sw, r.shape.pw, c->dw);
    r.x = args->x;
    r.dy = args->dy;
    r.dw = args->dw;
    r.db = c->bias ? args->db : NULL;
    r.add = args->beta != 0;
    for (r.block0 = 0; r.block0 < r.shape.blocks; r.block0 += r.shape.round) {
        r.blocks = cpu_min(r.shape.round, r.shape.blocks - r.block0);
        parallel_for(ctx->pool, r.blocks * (r.x_parts + r.y_parts), pack_task, &r);
        cpu_phase(ctx, "pack");
        parallel_for(ctx->pool, r.slots * r.tiles, weights_task, &r);
        cpu_phase(ctx, "direct");
        parallel_for(ctx->pool, cpu_ceil_div(r.weights, REDUCE_EACH) + (r.db ? 1 : 0), reduce_task, &r);
        cpu_phase(ctx, "reduce");
        r.add = true;
    }
    return CNN_OK;
}

void direct_weights_bytes(const cpu_context *ctx, const cnn_conv_desc *c, direct_arena *arena)
{
    weights_run r;
    weights_layout(&r, ctx, c, arena);
}
