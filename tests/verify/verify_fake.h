/* verify_fake.h: an implementation of everything that is right by construction (the reference, rounded to the dtype),
 * and is wrong in one way when opened as device number `mutant`. Nothing of it is registered. */
#ifndef TESTS_VERIFY_VERIFY_FAKE_H
#define TESTS_VERIFY_VERIFY_FAKE_H

#include "tests/problem_unit.h"
#include "verify_mutate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct fake_pointer {
    const char *name;
    const void *pointer;
} fake_pointer;

/* What f' sees when x is gone: an x that gives this y. */
static double fake_invert(const cnn_act_desc *d, double y)
{
    switch (d->kind) {
    case CNN_ACT_ELU:
        return y > 0.0 ? y : log1p(fmax(y / d->alpha, -1.0));
    case CNN_ACT_SELU:
        return y > 0.0 ? y / CNN_SELU_SCALE : log1p(fmax(y / (CNN_SELU_SCALE * CNN_SELU_ALPHA), -1.0));
    case CNN_ACT_SCALE:
        return y / d->alpha;
    case CNN_ACT_SIGMOID:
        return log(y / (1.0 - y));
    case CNN_ACT_TANH:
        return atanh(y);
    default:
        return y;
    }
}

static void *fake_find(const fake_pointer *list, const char *name)
{
    void *pointer = NULL;
    for (; list->name != NULL; list++)
        if (strcmp(list->name, name) == 0) memcpy(&pointer, &list->pointer, sizeof pointer);
    return pointer;
}

/* Any operation: canonical doubles, the reference, back. */
static cnn_status fake_run(cnn_context *context, const cnn_plan *plan, const fake_pointer *list, double beta,
                           double scale, const void *workspace, cnn_error *err)
{
    vf_call call;
    double *arrays[2][CNN_MAX_OPERANDS] = {{NULL}};
    cnn_problem layout = plan->problem;
    cnn_status status = vf_call_init(&call, &plan->problem, plan->dir, NULL, err);
    if (status != CNN_OK) return status;
    context->calls++;
    if (context->mutant == MUTANT_LAYOUT) layout.u.type.layout = CNN_NCHW;
    call.beta = context->mutant == MUTANT_NO_BETA ? 0.0 : beta;
    call.scale = scale;
    for (int i = 0; i < call.count; i++) {
        const cnn_operand *o = &call.operands[i];
        const void *data = fake_find(list, o->name);
        arrays[0][i] = calloc((size_t)o->count, sizeof(double));
        arrays[1][i] = calloc((size_t)o->count, sizeof(double));
        if (data != NULL && (o->access != CNN_OUT || beta != 0.0)) vf_unpack(&layout, o, data, arrays[0][i]);
        if (data == NULL && strcmp(o->name, "x") == 0 && call.problem->op == CNN_OP_ACT) {
            vf_unpack(&layout, o, fake_find(list, "y"), arrays[0][i]);
            for (int64_t e = 0; e < o->count; e++) arrays[0][i][e] = fake_invert(&call.problem->u.act, arrays[0][i][e]);
        }
        fake_mutate_input(context, o, arrays[0][i]);
        if (context->mutant == MUTANT_BY_ADDRESS && i == 0) fake_keep(context, data, arrays[0][i], o->count);
        call.in[i] = arrays[0][i];
        if (o->access != CNN_IN) call.out[i].value = arrays[1][i];
    }
    vf_reference(&call);
    for (int i = 0; i < call.count; i++) {
        const cnn_operand *o = &call.operands[i];
        char *data = fake_find(list, o->name);
        size_t size = o->bytes / (size_t)o->count;
        if (status == CNN_OK && o->access != CNN_IN) {
            char last[8];
            memcpy(last, data + o->bytes - size, size);
            if (cnn_elem_real(o->elem)) fake_mutate_output(context, o, arrays[1][i]);
            vf_pack(&layout, o, arrays[1][i], data);
            if (context->mutant == MUTANT_UNWRITTEN) memcpy(data + o->bytes - size, last, size);
        }
        if (status == CNN_OK && data != NULL) fake_mutate_memory(context, plan, o, data, workspace);
        free(arrays[0][i]);
        free(arrays[1][i]);
    }
    return status;
}

/* ---- The slots. */

static cnn_status fake_weighted(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const fake_pointer list[] = {{"x", a->x},   {"w", a->w},   {"b", a->b},   {"dy", a->dy}, {"y", a->y},
                                 {"dx", a->dx}, {"dw", a->dw}, {"db", a->db}, {NULL, NULL}};
    return fake_run(c, plan, list, a->beta, 1.0, a->workspace, err);
}

/* Of a transposed convolution, whose products are fake_weighted()'s: one pass for both, over all elements of y or dy.
 */
static cnn_status fake_bias(cnn_context *context, const cnn_plan *plan, const cnn_bias_args *a, cnn_error *err)
{
    (void)context, (void)err;
    const cnn_conv_desc *d = &plan->problem.u.conv;
    const bool wide = d->t.dtype == CNN_F64, gradient = a->db != NULL;
    for (int64_t c = 0; c < d->ic; c++) {
        double sum = !gradient || a->beta == 0.0 ? 0.0 : wide ? ((double *)a->db)[c] : (double)((float *)a->db)[c];
        for (int64_t i = 0; i < d->mb * d->ih * d->iw; i++) {
            const int64_t plane = d->ih * d->iw,
                          at = cnn_offset(d->t.layout, d->ic, 1, plane, i / plane, c, 0, i % plane);
            if (gradient) sum += wide ? ((const double *)a->dy)[at] : (double)((const float *)a->dy)[at];
            if (!gradient && wide) ((double *)a->y)[at] += ((const double *)a->b)[c];
            if (!gradient && !wide) ((float *)a->y)[at] += ((const float *)a->b)[c];
        }
        if (gradient && wide) ((double *)a->db)[c] = sum;
        if (gradient && !wide) ((float *)a->db)[c] = (float)sum;
    }
    return CNN_OK;
}

static cnn_status fake_map_fwd(cnn_context *c, const cnn_plan *plan, const cnn_map_fwd_args *a, cnn_error *err)
{
    const fake_pointer list[] = {{"x", a->x}, {"y", a->y}, {"step", a->step}, {NULL, NULL}};
    return fake_run(c, plan, list, 0.0, 1.0, a->workspace, err);
}

static cnn_status fake_map_bwd(cnn_context *c, const cnn_plan *plan, const cnn_map_bwd_args *a, cnn_error *err)
{
    const fake_pointer list[] = {{"x", a->x},   {"y", a->y},       {"dy", a->dy},
                                 {"dx", a->dx}, {"step", a->step}, {NULL, NULL}};
    return fake_run(c, plan, list, 0.0, 1.0, a->workspace, err);
}

static cnn_status fake_loss(cnn_context *c, const cnn_plan *plan, const cnn_loss_args *a, cnn_error *err)
{
    const fake_pointer list[] = {{"x", a->x},   {"labels", a->labels},     {"y", a->y},
                                 {"dx", a->dx}, {"loss_sum", a->loss_sum}, {"correct", a->correct},
                                 {NULL, NULL}};
    return fake_run(c, plan, list, 0.0, a->scale, a->workspace, err);
}

static cnn_status fake_join(cnn_context *c, const cnn_plan *plan, const cnn_join_args *a, cnn_error *err)
{
    const fake_pointer list[] = {{"x0", a->x[0]}, {"x1", a->x[1]}, {"x2", a->x[2]}, {"y", a->y}, {NULL, NULL}};
    return fake_run(c, plan, list, 0.0, 1.0, NULL, err);
}

static cnn_status fake_split(cnn_context *c, const cnn_plan *plan, const cnn_split_args *a, cnn_error *err)
{
    const fake_pointer list[] = {{"dx0", a->dx[0]}, {"dx1", a->dx[1]}, {"dx2", a->dx[2]}, {"dy", a->dy}, {NULL, NULL}};
    return fake_run(c, plan, list, 0.0, 1.0, NULL, err);
}

static cnn_status fake_batchnorm(cnn_context *c, const cnn_plan *plan, const cnn_batchnorm_args *a, cnn_error *err)
{
    const fake_pointer list[] = {{"x", a->x},
                                 {"gamma", a->gamma},
                                 {"beta", a->beta},
                                 {"dy", a->dy},
                                 {"y", a->y},
                                 {"dx", a->dx},
                                 {"dgamma", a->dgamma},
                                 {"dbeta", a->dbeta},
                                 {"running_mean", a->running_mean},
                                 {"running_var", a->running_var},
                                 {"save_mean", a->save_mean},
                                 {"save_invstd", a->save_invstd},
                                 {NULL, NULL}};
    return fake_run(c, plan, list, 0.0, 1.0, a->workspace, err);
}

static cnn_status fake_optimizer(cnn_context *c, const cnn_plan *plan, const cnn_optimizer_args *a, cnn_error *err)
{
    const fake_pointer list[] = {{"w", a->w},       {"grad", a->grad}, {"state0", a->state[0]}, {"state1", a->state[1]},
                                 {"step", a->step}, {NULL, NULL}};
    return fake_run(c, plan, list, 0.0, 1.0, NULL, err);
}

static cnn_status fake_probe(cnn_error *err) { return CNN_OK; }

static cnn_status fake_open(const cnn_open_params *params, cnn_context **context, cnn_error *err)
{
    cnn_context *c = calloc(1, sizeof *c);
    if (c == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory");
    *c = (cnn_context){.threads = params->threads, .mutant = (mutant)params->device};
    *context = c;
    return CNN_OK;
}

static void fake_close(cnn_context *context)
{
    free(context->kept);
    free(context);
}

static cnn_status fake_supports(cnn_context *c, const cnn_request *request, cnn_error *err)
{
    const cnn_problem *p = request->problem;
    if (p->op == CNN_OP_CONV && p->u.conv.kh > 7)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "kernels above 7 are too large");
    if (c->mutant == TWO_THREADS && c->threads != 2)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "%d threads are not two", c->threads);
    return CNN_OK;
}

/* Operations without a workspace argument get none. */
static cnn_status fake_prepare(cnn_context *c, cnn_plan *plan, cnn_error *err)
{
    plan->workspace_bytes = c->mutant == MUTANT_STALE || plan->problem.op == CNN_OP_FC ? 100 : 0;
    return CNN_OK;
}

static const cnn_algorithm fake_algorithms[] = {
    {.name = "exact", .doc = "", .ops = ~0u, .flags = CNN_ALGO_DETERMINISTIC, .amplification = 1.0},
    {.name = "loose", .doc = "", .ops = ~0u, .flags = 0, .amplification = 1.0, .id = 1},
    {.name = "transform",
     .doc = "",
     .ops = ~0u,
     .flags = CNN_ALGO_DETERMINISTIC | CNN_ALGO_TRANSFORMS,
     .amplification = 16.0,
     .id = 2}};
enum { FAKE_EXACT, FAKE_LOOSE, FAKE_TRANSFORM };

static const cnn_operations fake_ops = {.struct_size = sizeof(cnn_operations),
                                        .bias_add = fake_bias,
                                        .bias_gradient = fake_bias,
                                        .conv_fwd = fake_weighted,
                                        .conv_bwd_data = fake_weighted,
                                        .conv_bwd_weights = fake_weighted,
                                        .fc_fwd = fake_weighted,
                                        .fc_bwd_data = fake_weighted,
                                        .fc_bwd_weights = fake_weighted,
                                        .pool_fwd = fake_map_fwd,
                                        .pool_bwd = fake_map_bwd,
                                        .act_fwd = fake_map_fwd,
                                        .act_bwd = fake_map_bwd,
                                        .dropout_fwd = fake_map_fwd,
                                        .dropout_bwd = fake_map_bwd,
                                        .loss_fwd = fake_loss,
                                        .loss_bwd = fake_loss,
                                        .add_fwd = fake_join,
                                        .concat_fwd = fake_join,
                                        .concat_bwd = fake_split,
                                        .batchnorm_fwd = fake_batchnorm,
                                        .batchnorm_bwd = fake_batchnorm,
                                        .optimizer_step = fake_optimizer};

static const cnn_impl fake = {.abi_version = CNN_ABI_VERSION,
                              .struct_size = sizeof(cnn_impl),
                              .name = "fake",
                              .doc = "the reference, or a mutant of it",
                              .algorithms = fake_algorithms,
                              .n_algorithms = 3,
                              .probe = fake_probe,
                              .open = fake_open,
                              .close = fake_close,
                              .supports = fake_supports,
                              .prepare = fake_prepare,
                              .ops = &fake_ops};

/* ---- Asking: the state of every check of a mutant on a problem, -1 where a check was not run. */

typedef struct verdict {
    int states[VERIFY_CHECK_COUNT];
    int overall;
    verify_result last[VERIFY_CHECK_COUNT];
} verdict;

static void fake_each(void *user, const verify_result *result)
{
    verdict *v = user;
    if ((int)result->state > v->overall) v->overall = result->state;
    for (int i = 0; i < VERIFY_CHECK_COUNT; i++)
        if (strcmp(result->check, verify_check_name((verify_check)i)) == 0)
            v->states[i] = (int)result->state, v->last[i] = *result;
}

static inline verdict fake_ask(mutant m, const cnn_problem *problem, cnn_dir dir, int algorithm,
                               const verify_options *options)
{
    const cnn_session_params params = {.threads = 2, .device = (int)m};
    verify_engine *engine;
    verdict v = {.overall = VERIFY_UNSUPPORTED};
    cnn_error err = {.message = ""};
    for (int i = 0; i < VERIFY_CHECK_COUNT; i++) v.states[i] = -1;
    if (verify_open(&fake, &params, options, &engine, &err) != CNN_OK) fail_msg("%s", err.message);
    if (verify_problem(engine, problem, dir, &fake_algorithms[algorithm], fake_each, &v, &err) != CNN_OK)
        fail_msg("%s", err.message);
    verify_close(engine);
    return v;
}

static inline verdict fake_verify(mutant m, const cnn_problem *problem, cnn_dir dir, int algorithm)
{
    return fake_ask(m, problem, dir, algorithm, &(verify_options){.checks = ~0u, .seed = 7, .reference_threads = 1});
}

#endif
