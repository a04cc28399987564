/* sums.c: who takes which images, and the order in which gradients are added up. The order depends on the network and
 * its batch alone; on the threads, only which of the sums stay in a worker's own memory until all have met. */
#include "fused.h"

#include <stdlib.h>
#include <string.h>

/* ---- The plan. */

/* Images that are worth a sum of all parameters: adding them up must cost little beside the multiplications. */
static int64_t least_images(const cnn_trainer *t)
{
    enum { COST = 16 };
    double macs = 1;
    for (int l = 0; l < t->net->n_layers; l++) {
        const cnn_conv_desc *c = &t->layers[l].conv.c;
        if (t->layers[l].op == CNN_OP_CONV)
            macs += (double)(c->oh * c->ow * c->oc) * (double)(c->ic / c->g * c->kh * c->kw);
    }
    const double images = COST * (double)t->early_elems / macs;
    return images < 1 ? 1 : images > (double)t->chunk ? t->chunk : (int64_t)images;
}

static int64_t count_leaves(const cnn_trainer *t)
{
    enum { WANTED = 16 };
    const int64_t batch = t->net->batch;
    return cpu_max(cpu_ceil_div(batch, t->chunk), cpu_clamp(batch / least_images(t), 1, WANTED));
}

/* More of a larger batch, but each wants as much memory as the parameters. */
static int64_t count_blocks(const cnn_trainer *t, int64_t leaves)
{
    enum { ELEMS = 1 << 26 };
    const int64_t batch = t->net->batch, fit = cpu_max(2, ELEMS / cpu_max(1, t->early_elems));
    const int64_t most = batch < 2 ? 1 : batch < 16 ? 2 : batch < 64 ? 4 : batch < 256 ? 8 : 16;
    return cpu_power_of_two(cpu_min(cpu_min(most, fit), leaves));
}

static int64_t first_leaf(const fused_plan *p, int64_t block) { return p->leaves * block / p->blocks; }

/* A worker adds a leaf to those before it if it has had all of its block before it; else the leaf has its own slot. */
static void place_leaves(fused_plan *p)
{
    for (int64_t b = 0; b < p->blocks; b++)
        for (int64_t i = first_leaf(p, b); i < first_leaf(p, b + 1); i++) {
            fused_leaf *leaf = &p->leaf[i], *head = &p->leaf[first_leaf(p, b)];
            leaf->add = leaf != head && leaf->worker == head->worker;
            leaf->slot = leaf->add ? head->slot : p->slots++;
        }
}

cnn_status fused_plan_make(cnn_trainer *t, cnn_error *err)
{
    fused_plan *p = &t->plan;
    const int64_t batch = t->net->batch;
    p->leaves = count_leaves(t);
    p->blocks = count_blocks(t, p->leaves);
    p->leaf = calloc((size_t)p->leaves + 1, sizeof *p->leaf);
    if (p->leaf == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for trainer cpu:fused");
    for (int64_t i = 0; i <= p->leaves; i++)
        p->leaf[i].first = batch / p->leaves * i + batch % p->leaves * i / p->leaves;
    for (int w = 0; w < t->workers_n; w++)
        for (int64_t i = p->leaves * w / t->workers_n; i < p->leaves * (w + 1) / t->workers_n; i++)
            p->leaf[i].worker = w;
    place_leaves(p);
    return CNN_OK;
}

/* ---- Sums. Of a batch that is not full some of the last leaves are empty. */

static float *slot_of(const cnn_trainer *t, int64_t leaf)
{
    return t->slots + t->plan.leaf[leaf].slot * t->early_elems;
}

/* The worker that has all leaves of these blocks; -1: several have. */
static int owner(const fused_plan *p, int64_t block, int64_t count)
{
    const int worker = p->leaf[first_leaf(p, block)].worker;
    return p->leaf[first_leaf(p, block + count) - 1].worker == worker ? worker : -1;
}

static bool has_images(const fused_plan *p, int64_t block, int64_t mb)
{
    return p->leaf[first_leaf(p, block)].first < mb;
}

void fused_merge(const cnn_trainer *t, int id, int64_t mb)
{
    const fused_plan *p = &t->plan;
    for (int64_t at = 0; at < t->early_elems; at += FUSED_UNIT) {
        const int64_t n = cpu_min(FUSED_UNIT, t->early_elems - at);
        for (int64_t half = 1; half < p->blocks; half *= 2)
            for (int64_t b = 0; b < p->blocks; b += 2 * half) {
                if (owner(p, b, 2 * half) != id || !has_images(p, b + half, mb)) continue;
                float *sum = slot_of(t, first_leaf(p, b)) + at;
                t->kern->add(sum, sum, slot_of(t, first_leaf(p, b + half)) + at, n);
            }
    }
}

typedef struct range {
    int64_t at, n, mb;
} range;

/* Of `count` blocks; NULL: they have no images. */
static const float *sum_blocks(const cnn_trainer *t, int64_t block, int64_t count, range r, float *sums)
{
    const fused_plan *p = &t->plan;
    if (!has_images(p, block, r.mb)) return NULL;
    const float *sum = slot_of(t, first_leaf(p, block)) + r.at;
    if (count == 1) {
        for (int64_t i = first_leaf(p, block) + 1; i < first_leaf(p, block + 1); i++) {
            if (p->leaf[i].add || p->leaf[i].first >= r.mb) continue;
            t->kern->add(sums, sum, slot_of(t, i) + r.at, r.n);
            sum = sums;
        }
        return sum;
    }
    if (owner(p, block, count) >= 0) return sum; /* merged */
    const float *left = sum_blocks(t, block, count / 2, r, sums);
    const float *right = sum_blocks(t, block + count / 2, count / 2, r, sums + r.n);
    if (right == NULL) return left;
    t->kern->add(sums, left, right, r.n);
    return sums;
}

const float *fused_gradient(const cnn_trainer *t, int64_t at, int64_t n, int64_t mb, float *sums)
{
    return sum_blocks(t, 0, t->plan.blocks, (range){at, n, mb}, sums);
}
