/* share.c: where several tasks read a part of A or of B, it is packed once for all of them: panels
 * [group][block of K][panel], each of MX_BLOCK terms. */
#include "task.h"

typedef struct sharing {
    const mx_run *r;
    bool is_b;
    mx_cut lanes;
    int64_t at;
} sharing;

static int64_t panels_of(mx_cut cut) { return cpu_ceil_div(cut.count, cut.unit); }
static int64_t blocks_of(const mx_plan *m) { return cpu_ceil_div(m->k.count, MX_BLOCK); }

static char *shared(const mx_run *r, int64_t at, mx_cut lanes, int64_t group, int64_t block, int64_t lane)
{
    const int64_t panel = (group * blocks_of(r->m) + block) * panels_of(lanes) + lane / lanes.unit;
    return r->workspace + at + panel * lanes.unit * MX_BLOCK * r->m->elem;
}

/* Some panels of a block of K. */
static void share_task(void *arg, int64_t index, int worker)
{
    const sharing *s = arg;
    const mx_run *r = s->r;
    const mx_plan *m = r->m;
    const int64_t at_once = m->share_panels * s->lanes.unit, chunks = cpu_ceil_div(s->lanes.count, at_once);
    const int64_t first = index % chunks * at_once, block = index / chunks % blocks_of(m);
    const int64_t group = index / chunks / blocks_of(m), count = cpu_min(at_once, s->lanes.count - first);
    int64_t *lists = (int64_t *)(void *)(r->workspace + m->worker_at + worker * m->worker + m->lists_at);
    mx_task t = {.m = m, .o = mx_operands_of(r, group, 0), .k0 = block * MX_BLOCK};
    t.lists[0] = lists, t.lists[1] = lists + m->list;
    t.terms = cpu_min(MX_BLOCK, m->k.count - t.k0);
    if (m->dir == CNN_BWD_W)
        mx_list_pixels(&t, t.k0, t.terms);
    else if (s->is_b == (m->d.t.layout == CNN_NCHW))
        mx_list_pixels(&t, first, count);
    const mx_view from = mx_view_at(&t, s->is_b ? &t.o.b : &t.o.a, first, t.k0);
    mx_pack_lanes(&t, &from, 0, count, s->lanes.unit, shared(r, s->at, s->lanes, group, block, first));
}

static void share(const cpu_context *cpu, sharing s)
{
    const mx_plan *m = s.r->m;
    const int64_t chunks = cpu_ceil_div(s.lanes.count, m->share_panels * s.lanes.unit);
    parallel_for(cpu->pool, m->d.g * blocks_of(m) * chunks, share_task, &s);
    cpu_phase(cpu, "pack");
}

void mx_share(const cpu_context *cpu, const mx_run *r)
{
    const mx_plan *m = r->m;
    if (m->share_a) share(cpu, (sharing){r, false, m->m, m->shared_a_at});
    if (m->share_b) share(cpu, (sharing){r, true, m->n, m->shared_b_at});
}

void mx_find_shared(const mx_run *r, mx_task *t, int64_t group)
{
    const mx_plan *m = r->m;
    const int64_t block = t->k0 / MX_BLOCK;
    if (m->share_a) t->shared_a = shared(r, m->shared_a_at, m->m, group, block, t->m0);
    if (m->share_b) t->shared_b = shared(r, m->shared_b_at, m->n, group, block, t->n0);
}
