/* exemplars.c: a batch by exemplars (cnn/train.h, `workers`), as the reference does it: each worker's images one by
 * one, with an update behind each, then the merge. */
#include "training_step.h"
#include "verify/engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* SGD, as cnn/desc.h writes it. */
static void update(const vf_training *v, double rate)
{
    const cnn_optimizer_desc *o = &v->params->optimizer;
    for (int64_t i = 0; i < v->network->net.trained_elems; i++) {
        const double w = v->weights[i], sign = (double)((w > 0.0) - (w < 0.0));
        v->weights[i] = w - rate * (v->grads[i] + o->l1 * sign + o->l2 * w);
    }
}

/* Images [first, first + count), from the parameters in v->weights; these become what the worker ends with. */
static cnn_status work(vf_training *v, int64_t first, int64_t count, int64_t step, double tilt, vf_batch_result *sums,
                       cnn_error *err)
{
    const cnn_optimizer_desc *o = &v->params->optimizer;
    const double rate = o->decay_steps > 0.0 ? o->lr * fmax(0.0, 1.0 - (double)step / o->decay_steps) : o->lr;
    cnn_status status = CNN_OK;
    for (int64_t i = 0; i < count && status == CNN_OK; i++) {
        vf_batch_result one;
        status = vf_training_pass(v, false, first + i, 1, step, tilt, &one, err);
        if (status != CNN_OK) break;
        sums->loss_sum += one.loss_sum;
        sums->surely += one.surely;
        sums->possibly += one.possibly;
        update(v, rate);
    }
    return status;
}

cnn_status vf_training_exemplars(vf_training *v, int64_t first, int64_t mb, int64_t step, double tilt, double *merged,
                                 vf_batch_result *sums, cnn_error *err)
{
    const cnn_net *net = &v->network->net;
    const size_t bytes = (size_t)net->param_elems * sizeof *merged;
    const int64_t workers = v->params->workers, share = (net->batch + workers - 1) / workers;
    double *before = malloc(bytes + 1);
    cnn_status status = before != NULL ? CNN_OK : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the parameters");
    *sums = (vf_batch_result){0};
    if (status == CNN_OK) memcpy(before, v->weights, bytes), memcpy(merged, v->weights, bytes);
    for (int64_t at = 0; at < mb && status == CNN_OK; at += share) {
        const int64_t count = mb - at < share ? mb - at : share;
        memcpy(v->weights, before, bytes);
        status = work(v, first + at, count, step, tilt, sums, err);
        for (int64_t i = 0; i < net->trained_elems && status == CNN_OK; i++)
            merged[i] += (double)count / (double)mb * (v->weights[i] - before[i]);
    }
    if (before != NULL) memcpy(v->weights, before, bytes);
    free(before);
    return status;
}

/* ---- Comparing */

/* How far each tensor is off, seen against the way that it and the whole went, and against the rounding of a weight by
 * a unit at each update: decay that is about as small errs to the same side each time, so these add up. `tilted` (may
 * be NULL): where the way leads on the other side of kinks. */
static void judge_way(const vf_training *v, int64_t updates, const double *merged, const double *tilted,
                      const double *got, verify_training_result *r)
{
    static const double of_the_whole = 0.01;
    const cnn_net *net = &v->network->net;
    const double share = vf_training_share(&net->type), unit = net->type.dtype == CNN_F64 ? 0x1p-53 : 0x1p-24;
    const double whole = vf_distance(merged, v->weights, net->trained_elems);
    char what[CNN_NAME_MAX + 64];
    for (int i = 0; i < net->n_params; i++) {
        const cnn_param *p = &net->params[i];
        const double *to = merged + p->offset, *from = v->weights + p->offset;
        const double way = vf_distance(to, from, p->count), size = vf_distance(to, NULL, p->count);
        const double kinks = tilted != NULL ? 2.0 * vf_distance(tilted + p->offset, to, p->count) : 0.0;
        snprintf(what, sizeof what, "the merged %s of %s", cnn_param_role_name(p->role), net->layers[p->layer].name);
        vf_training_hold(r, vf_distance(got + p->offset, to, p->count),
                         kinks + share * (way + of_the_whole * whole) + unit * (double)updates * size, what);
    }
}

cnn_status vf_training_judge_exemplars(vf_training *v, int64_t first, int64_t mb, int64_t step, const double *got,
                                       verify_training_result *r, cnn_error *err)
{
    const int64_t workers = v->params->workers, updates = (v->network->net.batch + workers - 1) / workers;
    const verify_training_result before = *r;
    const double tilt = VF_AT_A_KINK * vf_training_share(&v->network->net.type);
    vf_batch_result ignored;
    judge_way(v, updates, v->merged, NULL, got, r);
    if (!r->failed || before.failed) return CNN_OK;
    *r = before;
    const cnn_status status = vf_training_exemplars(v, first, mb, step, tilt, v->tilted, &ignored, err);
    if (status == CNN_OK) judge_way(v, updates, v->merged, v->tilted, got, r);
    return status;
}
