/* training_step.c: compares a step with the reference's. */
#include "training_step.h"
#include "verify/engine.h"

#include "harness/problem/names.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Far above what rounding does to the gradients of whole networks (in f32 below 3e-5 in 99.99 % of 216,000 tensors of
 * small networks; the rest had passed a kink), far below what half of a batch or a wrong layer does. */
static const double share_f64 = 1e-8, share_of[CNN_MATH_COUNT] = {
                                          [CNN_MATH_F32] = 1e-3,
                                          [CNN_MATH_TF32] = 5e-2,
                                          [CNN_MATH_F16] = 5e-2,
                                          [CNN_MATH_BF16] = 0.15,
};
static const double of_the_whole = 0.01, roundings_in_logits = 16.0;

double vf_training_share(const cnn_type *type) { return type->dtype == CNN_F64 ? share_f64 : share_of[type->math]; }

void vf_training_hold(verify_training_result *r, double error, double allowed, const char *what)
{
    const bool held = vf_finite(error) && error <= allowed;
    const double used = error <= 0.0 ? 0.0 : vf_finite(error) ? error / allowed : (double)INFINITY;
    if (!(used <= r->budget_used)) r->budget_used = used;
    if (held || r->failed) return;
    r->failed = true;
    snprintf(r->reason, sizeof r->reason, "%s: off by %.3g, allowed %.3g", what, vf_shown(error), allowed);
}

static void hold_equal(verify_training_result *r, bool equal, const char *what)
{
    if (equal || r->failed) return;
    r->failed = true;
    r->budget_used = INFINITY;
    snprintf(r->reason, sizeof r->reason, "%s", what);
}

/* Tensor by tensor, of the trained ones or of the running statistics. `tilted` (may be NULL) is what they would be on
 * the other side of kinks: some of these may have been passed. */
static void judge_tensors(const cnn_net *net, bool running, const double *expected, const double *tilted,
                          const double *got, double share, verify_training_result *r)
{
    char what[CNN_NAME_MAX + 64];
    const int64_t first = running ? net->trained_elems : 0, end = running ? net->param_elems : net->trained_elems;
    const double whole = vf_distance(expected + first, NULL, end - first);
    for (int i = 0; i < net->n_params; i++) {
        const cnn_param *p = &net->params[i];
        if ((p->role >= CNN_RUNNING_MEAN) != running) continue;
        const double kinks =
            tilted != NULL ? 2.0 * vf_distance(tilted + p->offset, expected + p->offset, p->count) : 0.0;
        snprintf(what, sizeof what, "%s %s of %s", running ? "the" : "the gradient of the",
                 cnn_param_role_name(p->role), net->layers[p->layer].name);
        vf_training_hold(r, vf_distance(got + p->offset, expected + p->offset, p->count),
                         kinks + share * (vf_distance(expected + p->offset, NULL, p->count) + of_the_whole * whole),
                         what);
    }
}

/* Each element of the parameters and of the optimizer's state, from the gradients that the step left. `values`: eight
 * arrays of as many elements; the first gets the parameters behind the update. */
static cnn_status judge_update(const vf_training *v, const trainer_state *before, const trainer_state *after,
                               double *values, verify_training_result *r, cnn_error *err)
{
    const cnn_net *net = &v->network->net;
    const int64_t n = net->trained_elems;
    const double step = (double)before->own.step;
    double *got = values;
    const vf_out expected = {values + n, values + 2 * n, values + 3 * n, NULL};
    cnn_problem problem = {.op = CNN_OP_OPTIMIZER};
    vf_call call;
    problem.u.optimizer = v->params->optimizer;
    problem.u.optimizer.t = net->type;
    problem.u.optimizer.count = n;
    const cnn_status status = vf_call_init(&call, &problem, CNN_FWD, v->pool, err);
    if (status != CNN_OK) return status;
    const vf_rounding bounds = vf_rounding_of(&problem, NULL);
    vf_net_doubles(net, after->own.grads, n, values + 5 * n);
    for (int i = 0; i < 2; i++)
        if (before->own.state[i] != NULL) vf_net_doubles(net, before->own.state[i], n, values + (6 + i) * n);
    static const char *const names[] = {"w", "grad", "state0", "state1"};
    const double *const in[] = {v->weights, values + 5 * n, values + 6 * n, values + 7 * n};
    const void *const results[] = {after->own.params, NULL, after->own.state[0], after->own.state[1]};
    for (int i = 0; i < call.count; i++) {
        call.in[i] = &step;
        for (int k = 0; k < 4; k++)
            if (strcmp(call.operands[i].name, names[k]) == 0) call.in[i] = in[k];
    }
    for (int k = 0; k < 4; k++) {
        const int at = vf_index(call.operands, call.count, names[k]);
        if (at < 0 || results[k] == NULL) continue;
        for (int i = 0; i < call.count; i++) call.out[i] = (vf_out){NULL, NULL, NULL, NULL};
        call.out[at] = expected;
        vf_reference(&call);
        vf_net_doubles(net, results[k], n, got);
        const vf_comparison c = vf_compare(&call.out[at], got, n, &bounds);
        vf_training_hold(r, c.budget_used, 1.0, k == 0 ? "an updated parameter" : "the optimizer's state");
    }
    return CNN_OK;
}

/* Kinks are few, and most steps agree without a look at them. */
static cnn_status judge_gradients(vf_training *v, int64_t first, int64_t mb, int64_t update, double share,
                                  const double *got, verify_training_result *r, cnn_error *err)
{
    const cnn_net *net = &v->network->net;
    const verify_training_result before = *r;
    vf_batch_result ignored;
    judge_tensors(net, false, v->grads, NULL, got, share, r);
    if (!r->failed || before.failed) return CNN_OK;
    *r = before;
    memcpy(v->tilted, v->grads, (size_t)net->param_elems * sizeof *v->grads);
    const cnn_status status =
        vf_training_pass(v, false, first, mb, update, VF_AT_A_KINK * vf_training_share(&net->type), &ignored, err);
    if (status == CNN_OK) judge_tensors(net, false, v->tilted, v->grads, got, share, r);
    return status;
}

static cnn_status judge_training(vf_training *v, int64_t first, int64_t mb, const trainer_state *before,
                                 const trainer_state *after, double rounding, verify_training_result *r, cnn_error *err)
{
    const cnn_net *net = &v->network->net;
    const double share = vf_training_share(&net->type);
    double *values = malloc((size_t)(8 * net->param_elems + 1) * sizeof *values);
    if (values == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to compare parameters");
    vf_net_doubles(net, after->own.grads, net->trained_elems, values);
    cnn_status status = judge_gradients(v, first, mb, before->own.step,
                                        share + fmin(roundings_in_logits * rounding, 1e3), values, r, err);
    vf_net_doubles(net, after->own.params, net->param_elems, values);
    judge_tensors(net, true, v->running, NULL, values, share, r);
    if (status == CNN_OK && net->trained_elems > 0) status = judge_update(v, before, after, values, r, err);
    free(values);
    return status;
}

static cnn_status judge_merged(vf_training *v, int64_t first, int64_t mb, const trainer_state *before,
                               const trainer_state *after, verify_training_result *r, cnn_error *err)
{
    const cnn_net *net = &v->network->net;
    double *got = malloc((size_t)(net->param_elems + 1) * sizeof *got);
    if (got == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to compare parameters");
    vf_net_doubles(net, after->own.params, net->param_elems, got);
    const cnn_status status = vf_training_judge_exemplars(v, first, mb, before->own.step, got, r, err);
    free(got);
    return status;
}

/* Counters first: of several mistakes the plainest is told. */
cnn_status vf_training_step(vf_training *v, bool test, int64_t index, const trainer_state *before,
                            const trainer_state *after, verify_training_result *result, cnn_error *err)
{
    const cnn_net *net = &v->network->net;
    const int64_t first = index * net->batch, count = test ? v->data->test.count : v->data->train.count;
    const int64_t mb = count - first < net->batch ? count - first : net->batch;
    const int64_t right = after->correct - before->correct;
    const double share = vf_training_share(&net->type), loss = after->loss_sum - before->loss_sum;
    verify_training_result r = {.budget_used = 0.0};
    vf_batch_result own;
    char where[VERIFY_TEXT_MAX];
    vf_net_doubles(net, before->own.params, net->param_elems, v->weights);
    const bool exemplars = !test && v->params->workers > 0;
    cnn_status status = exemplars ? vf_training_exemplars(v, first, mb, before->own.step, 0.0, v->merged, &own, err)
                                  : vf_training_pass(v, test, first, mb, before->own.step, 0.0, &own, err);
    if (status != CNN_OK) return status;
    hold_equal(&r, after->own.step == before->own.step + (test || net->trained_elems == 0 ? 0 : 1),
               "it is not one update");
    vf_training_hold(&r, fabs(loss - own.loss_sum), share * ((double)mb + own.loss_sum), "the loss");
    snprintf(where, sizeof where, "%lld right answers of %lld images, expected %lld to %lld", (long long)right,
             (long long)mb, (long long)own.surely, (long long)own.possibly);
    hold_equal(&r, right >= own.surely && right <= own.possibly, where);
    if (test)
        hold_equal(&r,
                   memcmp(before->own.params, after->own.params,
                          (size_t)net->param_elems * cnn_dtype_size(net->type.dtype)) == 0,
                   "a test changes the parameters");
    else if (exemplars)
        status = judge_merged(v, first, mb, before, after, &r, err);
    else
        status = judge_training(v, first, mb, before, after, own.rounding, &r, err);
    if (!(r.budget_used <= result->budget_used)) result->budget_used = r.budget_used;
    if (r.failed && !result->failed) {
        result->failed = true;
        snprintf(result->reason, sizeof result->reason, "%s step %lld (batch of %lld): %.180s",
                 test ? "test" : "training", (long long)index, (long long)mb, r.reason);
    }
    return status;
}
