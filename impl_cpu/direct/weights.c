/* weights.c: the direct convolution's weight gradient.
 *
 * A task keeps vectors of sums, one for each weight of a tile of os x cs channels and all taps, over the blocks of one
 * slot; at the end the lanes are added. A problem with few such tiles has several slots, whose sums are added in their
 * order; a single one needs no more than its sums' places. Tiles and slots follow from the problem alone, so the bits
 * do not depend on the threads. */
#include "direct.h"
#include "harness/cnn/shape.h"
#include "impl_cpu/cpu.h"

typedef struct weights_run {
    const direct_kernels *kern;
    direct_shape shape;
    direct_weights job;
    cnn_dtype dtype;
    size_t elem;
    int64_t icg, ocg, o_tiles, c_tiles, tiles; /* tiles of all groups */
    int64_t slots, shares;                     /* shares: of a block, when it is packed */
    direct_packing x, dy;
    void *dw, *db;
    bool add;
    int64_t block0, blocks; /* of this round */
    /* workspace, beside what is packed; partial, of several slots: [slot][weights, then biases]; the last two hold a
     * piece for each worker */
    char *partial, *acc, *sums;
    int64_t weights, acc_elems, partial_elems;
} weights_run;

static void weights_place(weights_run *r, int threads, cpu_arena *arena)
{
    r->x.packed = cpu_take(arena, r->shape.round, r->job.x_block, r->elem);
    r->dy.packed = cpu_take(arena, r->shape.round, r->job.y_block, r->elem);
    r->partial = cpu_take(arena, r->slots > 1 ? r->slots : 0, r->partial_elems, r->elem);
    r->acc = cpu_take(arena, threads * r->kern->lanes, r->acc_elems, r->elem);
    r->sums = cpu_take(arena, threads, r->acc_elems, r->elem);
}

/* Sizes alone decide, not the number of threads: so any number of threads sums in the same order. */
static void weights_lay_out(const cpu_context *ctx, const cnn_request *q, void *run, cpu_arena *kept,
                            cpu_arena *workspace)
{
    const cnn_conv_desc *c = &q->problem->u.conv;
    weights_run *r = run;
    *r = (weights_run){.kern = direct_kernels_for(ctx, c->t.dtype), .dtype = c->t.dtype};
    r->elem = cnn_dtype_size(r->dtype);
    direct_shape_make(r->kern, q, &r->shape);
    r->icg = c->ic / c->g;
    r->ocg = c->oc / c->g;
    int max_os = r->icg == 1 ? r->kern->max_os1 : r->kern->max_os;
    r->o_tiles = cpu_ceil_div(r->ocg, max_os);
    r->c_tiles = cpu_ceil_div(r->icg, r->kern->max_cs);
    r->tiles = c->g * r->o_tiles * r->c_tiles;
    r->slots = cpu_min(r->shape.round, cpu_ceil_div(DIRECT_TASKS, r->tiles));
    r->x = direct_packing_make(&r->shape.x, cpu_ceil_div(DIRECT_TASKS, r->shape.round));
    r->dy = direct_packing_make(&r->shape.y, cpu_ceil_div(DIRECT_TASKS, r->shape.round));
    r->shares = cpu_max(r->x.parts, r->dy.parts);
    r->job = direct_weights_of(&r->shape.desc, r->kern->lanes, kept);
    r->weights = c->oc * r->job.filter;
    r->partial_elems = r->weights + c->oc;
    r->acc_elems = c->kh * c->kw * max_os * cpu_min(r->icg, r->kern->max_cs);
    weights_place(r, ctx->threads, workspace);
}

const direct_layout direct_weights_layout = {sizeof(weights_run), weights_lay_out};

/* Share `share` of r->shares of the parts of a block's x, or dy. */
static void pack_share(const weights_run *r, const direct_packing *p, int64_t block, int64_t share)
{
    for (int64_t i = p->parts * share / r->shares; i < p->parts * (share + 1) / r->shares; i++)
        direct_pack_part(r->kern, p, r->elem, r->block0 + block, block, i);
}

/* Both are packed in the order in which the tiles will read them, so that these find most of it in their core's cache.
 */
static void pack_task(void *arg, int64_t task, int worker)
{
    const weights_run *r = arg;
    (void)worker;
    pack_share(r, &r->x, task / r->shares, task % r->shares);
    pack_share(r, &r->dy, task / r->shares, task % r->shares);
}

#define KERNELS "impl_cpu/direct/weights.inc"
#include "impl_cpu/for_each_real.inc"

/* The sums of a slot go to its place in `partial`, those of an only slot straight to the result. The bias of a tile of
 * output channels is summed by one of the tiles that have them, another one each time: so it is shared out, too. */
static void weights_task(void *arg, int64_t task, int worker)
{
    const weights_run *r = arg;
    const int64_t slot = task / r->tiles, tile = task % r->tiles, elem = (int64_t)r->elem;
    const int64_t ot = tile % r->o_tiles, ct = tile / r->o_tiles % r->c_tiles, g = tile / (r->o_tiles * r->c_tiles);
    const int64_t o0 = r->ocg * ot / r->o_tiles, o1 = r->ocg * (ot + 1) / r->o_tiles, oc = g * r->ocg + o0;
    const int64_t c0 = r->icg * ct / r->c_tiles, c1 = r->icg * (ct + 1) / r->c_tiles;
    const int64_t b0 = r->blocks * slot / r->slots, b1 = r->blocks * (slot + 1) / r->slots;
    const int os = (int)(o1 - o0), cs = (int)(c1 - c0);
    const bool add = r->slots == 1 && r->add;
    direct_weights job = r->job;
    job.blocks = b1 - b0;
    const char *x = (const char *)r->x.packed + (b0 * job.x_block + (g * r->icg + c0) * job.x_c) * elem;
    const char *dy = (const char *)r->dy.packed + (b0 * job.y_block + oc * job.y_o) * elem;
    char *acc = r->acc + worker * r->acc_elems * r->kern->lanes * elem, *sums = r->sums + worker * r->acc_elems * elem;
    char *dw = r->slots > 1 ? r->partial + slot * r->partial_elems * elem : r->dw;
    char *db = r->slots > 1 ? dw + r->weights * elem : r->db;
    r->kern->weights(&job, x, dy, os, cs, acc, sums, dw + (oc * job.filter + c0 * job.kh * job.kw) * elem, add);
    if (r->db == NULL || ct != ot % r->c_tiles) return;
    r->kern->bias(&job, dy, os, sums);
    CPU_REAL(r->dtype, reduce, r, (void *)sums, os, 1, (void *)(db + oc * elem), add);
}

enum { REDUCE_EACH = 4096 };

static void reduce_task(void *arg, int64_t task, int worker)
{
    (void)worker;
    const weights_run *r = arg;
    int64_t elem = (int64_t)r->elem, weight_tasks = cpu_ceil_div(r->weights, REDUCE_EACH);
    bool bias = task >= weight_tasks;
    int64_t first = bias ? 0 : task * REDUCE_EACH,
            count = bias ? r->shape.desc.oc : cpu_min(REDUCE_EACH, r->weights - first);
    void *out = bias ? r->db : (char *)r->dw + first * elem;
    const void *in = r->partial + (bias ? r->weights : first) * elem;
    CPU_REAL(r->dtype, reduce, r, in, count, r->slots, out, r->add);
}

void direct_run_weights(const cpu_context *ctx, const cnn_plan *plan, const cnn_weighted_args *args)
{
    weights_run r = *(const weights_run *)plan->state;
    weights_place(&r, ctx->threads, &(cpu_arena){.base = args->workspace});
    r.x.tensor = args->x;
    r.dy.tensor = args->dy;
    r.dw = args->dw;
    r.db = args->db;
    r.add = args->beta != 0;
    for (r.block0 = 0; r.block0 < r.shape.blocks; r.block0 += r.shape.round) {
        r.blocks = cpu_min(r.shape.round, r.shape.blocks - r.block0);
        parallel_for(ctx->pool, r.blocks * r.shares, pack_task, &r);
        cpu_phase(ctx, "pack");
        parallel_for(ctx->pool, r.slots * r.tiles, weights_task, &r);
        cpu_phase(ctx, "direct");
        if (r.slots > 1) {
            parallel_for(ctx->pool, cpu_ceil_div(r.weights, REDUCE_EACH) + (r.db ? 1 : 0), reduce_task, &r);
            cpu_phase(ctx, "reduce");
        }
        r.add = true;
    }
}
