/* training_step.c: compares a step with the reference's. */
#include "training_step.h"
#include "verify/engine.h"

#include "harness/cnn/half.h"
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
/* In f16 and bf16 the reference rounds what kernels store; a logit is then off by a last place or a few. Gradients of
 * deep networks stray farther: where something differs, passes with nudged numbers say how far (network.c). */
static const double share_f16 = 5e-3, share_bf16 = 2e-2;
static const double strayed_times = 3.0, strayed_most = 0.5;
enum { NUDGED = 3 };
/* Where f16 ends, rounding decides whether a gradient is finite: so far from there it does not. */
static const double near_the_end = 1.25;
static const double of_the_whole = 0.01, roundings_in_logits = 16.0;

double vf_training_share(const cnn_type *type)
{
    if (type->dtype == CNN_F16) return share_f16;
    if (type->dtype == CNN_BF16) return share_bf16;
    return type->dtype == CNN_F64 ? share_f64 : share_of[type->math];
}

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

/* Tensor by tensor, of the trained ones or of the running statistics. `loose` (may be NULL) is what each may differ by
 * besides. */
static void judge_tensors(const cnn_net *net, bool running, const double *expected, const double *loose,
                          const double *got, double share, verify_training_result *r)
{
    char what[CNN_NAME_MAX + 64];
    const int64_t first = running ? net->trained_elems : 0, end = running ? net->param_elems : net->trained_elems;
    const double whole = vf_distance(expected + first, NULL, end - first);
    for (int i = 0; i < net->n_params; i++) {
        const cnn_param *p = &net->params[i];
        if ((p->role >= CNN_RUNNING_MEAN) != running) continue;
        snprintf(what, sizeof what, "%s %s of %s", running ? "the" : "the gradient of the",
                 cnn_param_role_name(p->role), net->layers[p->layer].name);
        vf_training_hold(r, vf_distance(got + p->offset, expected + p->offset, p->count),
                         (loose != NULL ? loose[i] : 0.0) +
                             share * (vf_distance(expected + p->offset, NULL, p->count) + of_the_whole * whole),
                         what);
    }
}

/* Whether the optimizer counted a step as left out. */
static bool left_out(const trainer_state *before, const trainer_state *after)
{
    return before->own.scaling != NULL &&
           after->own.scaling[CNN_STEPS_LEFT_OUT] > before->own.scaling[CNN_STEPS_LEFT_OUT];
}

/* Numbers that are counted, halved and doubled: exactly. */
static void judge_scaling(vf_call *call, const double *got, verify_training_result *r)
{
    const int at = vf_index(call->operands, call->count, "scaling");
    double expected[CNN_SCALING_COUNT] = {0}, magnitude[CNN_SCALING_COUNT], roundings[CNN_SCALING_COUNT];
    if (at < 0) return;
    for (int i = 0; i < call->count; i++) call->out[i] = (vf_out){NULL, NULL, NULL, NULL};
    call->out[at] = (vf_out){expected, magnitude, roundings, NULL};
    vf_reference(call);
    hold_equal(r, memcmp(expected, got, sizeof expected) == 0,
               "the loss scale, or the count of steps that were kept or left out");
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
    problem.u.optimizer.t = cnn_type_for(CNN_OP_OPTIMIZER, net->type);
    problem.u.optimizer.count = n;
    const cnn_status status = vf_call_init(&call, &problem, CNN_FWD, v->pool, err);
    if (status != CNN_OK) return status;
    const vf_rounding bounds = vf_rounding_of(&problem, NULL);
    vf_net_doubles(net, after->own.grads, n, values + 5 * n);
    for (int i = 0; i < 2; i++)
        if (before->own.state[i] != NULL) vf_net_doubles(net, before->own.state[i], n, values + (6 + i) * n);
    for (int64_t i = 0; before->own.scaling != NULL && i < n; i++)
        values[5 * n + i] *= before->own.scaling[CNN_LOSS_SCALE]; /* as the update has them */
    static const char *const names[] = {"w", "grad", "state0", "state1", "scaling", "copy"};
    const double *const in[] = {v->weights,     values + 5 * n,      values + 6 * n,
                                values + 7 * n, before->own.scaling, v->weights};
    const void *const results[] = {after->own.params, NULL, after->own.state[0], after->own.state[1]};
    for (int i = 0; i < call.count; i++) {
        call.in[i] = &step;
        for (int k = 0; k < 6; k++)
            if (strcmp(call.operands[i].name, names[k]) == 0) call.in[i] = in[k];
    }
    judge_scaling(&call, after->own.scaling, r);
    for (int k = 0; k < 4; k++) {
        const int at = vf_index(call.operands, call.count, names[k]);
        if (at < 0 || results[k] == NULL) continue;
        for (int i = 0; i < call.count; i++) call.out[i] = (vf_out){NULL, NULL, NULL, NULL};
        call.out[at] = expected;
        vf_reference(&call);
        vf_net_doubles(net, results[k], n, got);
        const vf_comparison c = vf_compare(v->pool, &call.out[at], got, n, &bounds);
        vf_training_hold(r, c.budget_used, 1.0, k == 0 ? "an updated parameter" : "the optimizer's state");
    }
    return CNN_OK;
}

/* What each tensor may differ by for a reason that can be measured, into `loose`: kinks may have been passed, and in
 * f16 and bf16 numbers may have gone to the next one. v->grads move to v->tilted. */
static cnn_status measure_loose(vf_training *v, int64_t first, int64_t mb, int64_t update, double *loose,
                                cnn_error *err)
{
    const cnn_net *net = &v->network->net;
    const bool half = cnn_is_half(net->type.dtype);
    const double tilt = half ? 0.0 : VF_AT_A_KINK * vf_training_share(&net->type);
    cnn_status status = CNN_OK;
    vf_batch_result ignored;
    memcpy(v->tilted, v->grads, (size_t)net->param_elems * sizeof *v->grads);
    for (int run = 0; run < (half ? NUDGED : 1) && status == CNN_OK; run++) {
        v->nudged = half ? run + 1 : 0;
        status = vf_training_pass(v, false, first, mb, update, tilt, &ignored, err);
        v->nudged = 0;
        for (int i = 0; i < net->n_params && status == CNN_OK; i++) {
            const cnn_param *p = &net->params[i];
            const double off = vf_distance(v->grads + p->offset, v->tilted + p->offset, p->count);
            const double most = strayed_most * vf_distance(v->tilted + p->offset, NULL, p->count);
            loose[i] = fmax(loose[i], half ? fmin(strayed_times * off, most) : 2.0 * off);
        }
    }
    return status;
}

/* Kinks are few, and most steps agree without a look at them. */
static cnn_status judge_gradients(vf_training *v, int64_t first, int64_t mb, int64_t update, double share,
                                  const double *got, verify_training_result *r, cnn_error *err)
{
    const cnn_net *net = &v->network->net;
    const verify_training_result before = *r;
    judge_tensors(net, false, v->grads, NULL, got, share, r);
    if (!r->failed || before.failed) return CNN_OK;
    *r = before;
    double *loose = calloc((size_t)net->n_params + 1, sizeof *loose);
    if (loose == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to compare gradients");
    const cnn_status status = measure_loose(v, first, mb, update, loose, err);
    if (status == CNN_OK) judge_tensors(net, false, v->tilted, loose, got, share, r);
    free(loose);
    return status;
}

static bool are_finite(const vf_training *v)
{
    return isfinite(vf_distance(v->grads, NULL, v->network->net.trained_elems));
}

/* v->grads once more, with another loss scale. */
static cnn_status scaled_pass(vf_training *v, double by, int64_t first, int64_t mb, int64_t update, cnn_error *err)
{
    const double scale = v->loss_scale;
    vf_batch_result ignored;
    v->loss_scale *= by;
    const cnn_status status = vf_training_pass(v, false, first, mb, update, 0.0, &ignored, err);
    v->loss_scale = scale;
    return status;
}

/* A step that was left out: its gradients were not finite, nor are the reference's with a little more loss scale. */
static cnn_status judge_left_out(vf_training *v, int64_t first, int64_t mb, int64_t update, verify_training_result *r,
                                 cnn_error *err)
{
    const cnn_status status = are_finite(v) ? scaled_pass(v, near_the_end, first, mb, update, err) : CNN_OK;
    hold_equal(r, !are_finite(v), "it was left out, though its gradients are finite");
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
    cnn_status status = CNN_OK;
    if (before->own.scaling != NULL && !left_out(before, after) && !are_finite(v))
        status = scaled_pass(v, 1.0 / near_the_end, first, mb, before->own.step, err);
    if (status == CNN_OK)
        status = left_out(before, after)
                     ? judge_left_out(v, first, mb, before->own.step, r, err)
                     : judge_gradients(v, first, mb, before->own.step,
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
    v->loss_scale = before->own.scaling != NULL ? before->own.scaling[CNN_LOSS_SCALE] : 1.0;
    const bool exemplars = !test && v->params->workers > 0;
    cnn_status status = exemplars ? vf_training_exemplars(v, first, mb, before->own.step, 0.0, v->merged, &own, err)
                                  : vf_training_pass(v, test, first, mb, before->own.step, 0.0, &own, err);
    if (status != CNN_OK) return status;
    const bool updates = !test && net->trained_elems > 0 && !left_out(before, after);
    hold_equal(&r, after->own.step == before->own.step + (updates ? 1 : 0), "it is not one update");
    vf_training_hold(&r, fabs(loss - own.loss_sum), share * ((double)mb + own.loss_sum), "the loss");
    snprintf(where, sizeof where, "%lld right answers of %lld images, expected %lld to %lld", (long long)right,
             (long long)mb, (long long)own.surely, (long long)own.possibly);
    hold_equal(&r, right >= own.surely && right <= own.possibly, where);
    if (test)
        hold_equal(&r,
                   memcmp(before->own.params, after->own.params, (size_t)net->param_elems * cnn_param_size(net)) == 0,
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
