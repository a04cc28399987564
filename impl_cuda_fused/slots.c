/* slots.c: parameters between the order of cnn_net.params and the slots of a version. v1's slots are that order. */
#include "impl_cuda_fused/fused.h"

#include <string.h>

/* Calls for each parameter that is no gap: its place in the canonical order, and its slot. */
typedef void fused_pair(void *user, int64_t param, int64_t slot);

static void for_each(const fused_net *net, const fused_layout *l, fused_pair *pair, void *user)
{
    for (int i = 0; i < net->n_stages; i++) {
        const fused_stage *s = &net->stages[i];
        const fused_cut *k = &l->cuts[i];
        if (s->op != FUSED_CONV) continue;
        int64_t param = s->w;
        for (int oc = 0; oc < s->oc; oc++)
            for (int ic = 0; ic < s->ic; ic++)
                for (int r = 0; r < s->kh; r++)
                    for (int q = 0; q < s->kw; q++) pair(user, param++, fused_slot(s, k, oc, ic, r, q));
        for (int oc = 0; oc < s->oc && s->b >= 0; oc++) pair(user, s->b + oc, k->b + oc);
    }
}

typedef struct copying {
    const float *from;
    float *to;
} copying;

static void in(void *user, int64_t param, int64_t slot)
{
    const copying *c = user;
    c->to[slot] = c->from[param];
}

static void out(void *user, int64_t param, int64_t slot)
{
    const copying *c = user;
    c->to[param] = c->from[slot];
}

void fused_to_slots(const fused_net *net, const fused_plan *plan, const float *params, float *slots)
{
    copying c = {params, slots};
    memset(slots, 0, (size_t)plan->slots * sizeof *slots);
    if (plan->layout.threads > 0)
        for_each(net, &plan->layout, in, &c);
    else
        memcpy(slots, params, (size_t)net->params * sizeof *slots);
}

void fused_from_slots(const fused_net *net, const fused_plan *plan, const float *slots, float *params)
{
    copying c = {slots, params};
    memset(params, 0, (size_t)net->params * sizeof *params);
    if (plan->layout.threads > 0)
        for_each(net, &plan->layout, out, &c);
    else
        memcpy(params, slots, (size_t)net->params * sizeof *params);
}
