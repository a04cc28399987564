/* epilogue.c: see epilogue.h. */
#include "epilogue.h"

#include "harness/cnn/half.h"
#include "lines.h"

#include <math.h>
#include <string.h>

cnn_act_desc vf_epilogue_act(const cnn_problem *p)
{
    const cnn_epilogue e = cnn_epilogue_of(p);
    const cnn_dtype result = cnn_part_dtype(p->u.type.dtype, CNN_PART_RESULT);
    const cnn_dtype stored = cnn_is_whole(result) ? CNN_F32 : result; /* it is taken before the result is rounded */
    return (cnn_act_desc){.t = {stored, stored, CNN_NCHW, CNN_MATH_F32},
                          .kind = e.act,
                          .alpha = e.alpha,
                          .mb = 1,
                          .ic = 1,
                          .ih = 1,
                          .iw = 1};
}

/* The largest slope of an activation. */
static double steepest(const cnn_act_desc *d)
{
    switch (d->kind) {
    case CNN_ACT_LEAKY_RELU:
    case CNN_ACT_ELU:
        return fmax(1.0, d->alpha);
    case CNN_ACT_SELU:
        return CNN_SELU_SCALE * CNN_SELU_ALPHA;
    case CNN_ACT_SCALE:
        return d->alpha;
    case CNN_ACT_SIGMOID:
        return 0.25;
    default:
        return 1.0;
    }
}

void vf_epilogue_put(const cnn_act_desc *d, const vf_out *out, int64_t i)
{
    const vf_element_of own = vf_act_element(d, out->value[i]);
    if (out->magnitude == NULL) {
        out->value[i] = own.value;
        return;
    }
    const double its = own.roundings > 0.0 ? own.magnitude : 0.0;
    vf_put(out, i, own.value, steepest(d) * out->magnitude[i] + its, out->roundings[i] + own.roundings);
}

typedef struct epilogue_task {
    cnn_act_desc act;
    const double *late_b, *late_z; /* mistakes: added behind the activation (reference.h) */
    const cnn_operand *y;
    vf_out out;
} epilogue_task;

/* Task: a plane of y. */
static void finish_plane(void *arg, int64_t task, int worker)
{
    const epilogue_task *t = arg;
    const int64_t plane = t->y->dims[2] * t->y->dims[3], first = task * plane;
    (void)worker;
    for (int64_t e = first; e < first + plane; e++) {
        vf_epilogue_put(&t->act, &t->out, e);
        if (t->late_b != NULL) t->out.value[e] += t->late_b[task % t->y->dims[1]];
        if (t->late_z != NULL) t->out.value[e] += t->late_z[e];
    }
}

void vf_epilogue(const vf_call *call)
{
    const int y = vf_index(call->operands, call->count, "y");
    epilogue_task t = {.act = vf_epilogue_act(call->problem),
                       .late_b = call->late & VF_LATE_B ? vf_in(call, "b") : NULL,
                       .late_z = call->late & VF_LATE_Z ? vf_in(call, "z") : NULL};
    if (y < 0 || call->out[y].value == NULL) return;
    t.y = &call->operands[y];
    t.out = call->out[y];
    parallel_for(call->pool, t.y->dims[0] * t.y->dims[1], finish_plane, &t);
}

bool vf_epilogue_is_exact(const cnn_problem *p)
{
    const cnn_act_desc d = vf_epilogue_act(p);
    return vf_act_is_exact(&d);
}

unsigned char vf_epilogue_kind(const cnn_act_desc *d, double value, unsigned char kind)
{
    const bool curved =
        d->kind == CNN_ACT_ELU || d->kind == CNN_ACT_SELU || d->kind == CNN_ACT_SIGMOID || d->kind == CNN_ACT_TANH;
    if (d->kind == CNN_ACT_RELU || d->kind == CNN_ACT_CLIPPED_RELU)
        return vf_act_slope(d, value) == 0.0 ? VF_UNEVEN : kind;
    return curved && kind == VF_ALONE ? VF_UNEVEN : kind;
}

/* ---- Data. */

static double mean_square(const double *v, int64_t count)
{
    double sum = 0.0;
    for (int64_t i = 0; i < count; i++) sum += v[i] * v[i];
    return sum / (double)count;
}

void vf_reach_ceiling(vf_case *c)
{
    const cnn_epilogue e = cnn_epilogue_of(&c->problem);
    const int x = vf_index(c->call.operands, c->call.count, "x"), w = vf_index(c->call.operands, c->call.count, "w");
    if (e.act != CNN_ACT_CLIPPED_RELU || !(e.alpha > 0.0) || !c->before[x] || !c->before[w]) return;
    if (cnn_is_quantized(c->problem.u.type.dtype)) return; /* its scale does it (fill_quantized.c) */
    const double spread =
        sqrt(mean_square(c->before[x], c->call.operands[x].count) *
             mean_square(c->before[w], c->call.operands[w].count) * vf_real_terms(&c->problem, c->call.dir));
    if (!(spread > 0.0)) return;
    const double by = ldexp(1.0, (int)nearbyint(log2(e.alpha / spread)));
    for (int i = 0; i < c->call.count; i++) {
        const cnn_operand *o = &c->call.operands[i];
        if (i == x) continue;
        c->unit[i] *= by;
        for (int64_t k = 0; c->before[i] != NULL && k < o->count; k++) c->before[i][k] *= by;
        if (c->before[i] != NULL) vf_round(c->call.pool, &c->problem, o, c->before[i]);
    }
}
