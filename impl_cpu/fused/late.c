/* late.c: layers whose weights outweigh their values, as FC's. Adding up their gradients leaf by leaf would be mostly a
 * way to memory and back. So what goes into them is kept of the whole batch (copied, for kernels read whole vectors: of
 * neighbours that another worker writes they must not), and when all workers have met each computes the gradient of its
 * share of the weights, piece by piece: over all images, in their order, whatever the threads. A piece is then updated,
 * and turned for the data gradient of the next step, while it is in the cache. */
#include "fused.h"

#include <string.h>

bool fused_is_late(const cnn_trainer *t, const fused_layer *layer)
{
    enum { LEAST = 1 << 14 };     /* weights: of fewer the leaves' sums are in the cache anyway */
    const int64_t most = 1 << 26; /* numbers that are kept; the same for any number of workers, as the bits are */
    const fused_conv *v = &layer->conv;
    const int64_t kept = v->forward.m.k + fused_padded(v->c.oc);
    return layer->op == CNN_OP_CONV && v->flat && v->elems >= LEAST && kept <= most / t->net->batch;
}

void fused_late_keep(const cnn_trainer *t, const fused_worker *w, const fused_layer *layer, const fused_leaf *leaf,
                     int64_t a, int64_t b)
{
    const int64_t x = t->elems[layer->in], dy = t->elems[layer->out];
    memcpy(t->kept_value[layer->in] + leaf->first * x, w->value[layer->in] + a * x,
           (size_t)((b - a) * x) * sizeof(float));
    memcpy(t->kept_grad[layer->out] + leaf->first * dy, w->grad[layer->out] + a * dy,
           (size_t)((b - a) * dy) * sizeof(float));
}

fused_piece fused_piece_at(const cnn_trainer *t, int64_t at, int64_t end)
{
    fused_piece p = {.layer = t->net->n_layers - 1};
    while (!t->layers[p.layer].late || t->layers[p.layer].conv.packed_w > at) p.layer--;
    const fused_conv *v = &t->layers[p.layer].conv;
    const fused_matrix *m = &v->forward.m;
    const int64_t lanes = t->kern->lanes, panel = FUSED_PANEL * lanes * m->high, in = at - v->packed_w;
    p.vector = in / panel * FUSED_PANEL;
    if (in >= v->elems) { /* what rounds the layer up */
        p.n = cpu_min(v->packed_w + v->placed - at, end - at);
        return p;
    }
    const int64_t step = fused_vector_step(m, p.vector, (int)lanes),
                  from = in - fused_vector_at(m, p.vector, (int)lanes);
    p.n = cpu_min(cpu_min(FUSED_PIECE, end - at), step * m->high - from);
    p.term = from / step;
    p.terms = cpu_max(0, cpu_min(p.n / step, m->k - p.term));
    p.vectors = (int)(step / lanes);
    return p;
}

const float *fused_late_gradient(const cnn_trainer *t, const fused_piece *p, int64_t mb, float *sums)
{
    const fused_layer *layer = &t->layers[p->layer];
    const int64_t x = t->elems[layer->in], dy = t->elems[layer->out];
    const fused_late_run run = {.x = t->kept_value[layer->in] + p->term,
                                .dy = t->kept_grad[layer->out] + p->vector * t->kern->lanes,
                                .to = sums,
                                .x_image = x,
                                .dy_image = dy,
                                .images = mb,
                                .terms = p->terms,
                                .vectors = p->vectors};
    const int64_t done = p->terms * p->vectors * t->kern->lanes;
    memset(sums + done, 0, (size_t)(p->n - done) * sizeof *sums);
    t->kern->late(&run);
    return sums;
}

void fused_late_turn(const cnn_trainer *t, const fused_piece *p, int64_t at)
{
    const fused_conv *v = &t->layers[p->layer].conv;
    const fused_matrix *to = &v->backward.m;
    const int lanes = t->kern->lanes;
    if (p->layer == t->first) return;
    for (int64_t term = p->term; term < p->term + p->terms; term += lanes)
        for (int i = 0; i < p->vectors; i++) {
            const int64_t row = (p->vector + i) * lanes, by = fused_vector_step(to, term / lanes, lanes);
            const fused_square s = {.from = (term - p->term) * p->vectors * lanes + i * lanes,
                                    .to = fused_vector_at(to, term / lanes, lanes) + row * by,
                                    .from_row = p->vectors * lanes,
                                    .to_row = by,
                                    .rows = (int)cpu_min(lanes, to->k - row)};
            t->kern->turn(&s, t->params + at, t->turned + v->turned);
        }
}

void fused_late_turn_all(const cnn_trainer *t)
{
    fused_piece p;
    for (int64_t at = t->early_elems; at < t->packed_elems; at += p.n) {
        p = fused_piece_at(t, at, t->packed_elems);
        fused_late_turn(t, &p, at);
    }
}
