/* run.c: calls the slot of the implementation that a plan stands for, with pointers in the order of cnn_operands(). */
#include "call.h"
#include "harness/base/text.h"
#include "harness/problem/names.h"
#include "impl.h"

/* Takes the pointers one by one, in order. */
typedef struct pointers {
    void *const *next;
} pointers;

static void *take(pointers *p) { return *p->next++; }

/* Fills in the arguments of one family of operations, and calls the slot. `plan` is the implementation's own copy. */
typedef cnn_status runner(const cnn_impl *impl, cnn_context *context, const cnn_plan *plan, pointers p,
                          const cnn_run_extra *extra, cnn_error *err);

#define CALL(slot, args)                                                                                               \
    (impl->ops->slot != NULL ? CNN_CALL(impl, ops->slot, err, context, plan, &(args), err)                             \
                             : CNN_FAIL(err, CNN_UNSUPPORTED, "implementation %s has no " #slot, impl->name))

/* Pointers come in the order of cnn_operands(), and are taken in that order. */
static cnn_status run_weighted(const cnn_impl *impl, cnn_context *context, const cnn_plan *plan, pointers p,
                               const cnn_run_extra *extra, cnn_error *err)
{
    cnn_weighted_args args = {.beta = extra->beta, .workspace = extra->workspace};
    const bool conv = cnn_is_conv(&plan->problem);
    const bool bias = conv ? plan->problem.u.conv.bias : plan->problem.u.fc.bias;
    switch (plan->dir) {
    case CNN_FWD:
        args.x = take(&p);
        args.w = take(&p);
        args.b = bias ? take(&p) : NULL;
        args.scale = cnn_is_quantized(plan->problem.u.type.dtype) ? take(&p) : NULL;
        args.z = cnn_epilogue_of(&plan->problem).add ? take(&p) : NULL;
        args.y = take(&p);
        return conv ? CALL(conv_fwd, args) : CALL(fc_fwd, args);
    case CNN_BWD_D:
        args.dy = take(&p);
        args.w = take(&p);
        args.dx = take(&p);
        return conv ? CALL(conv_bwd_data, args) : CALL(fc_bwd_data, args);
    default:
        args.x = take(&p);
        args.dy = take(&p);
        args.dw = take(&p);
        args.db = bias ? take(&p) : NULL;
        return conv ? CALL(conv_bwd_weights, args) : CALL(fc_bwd_weights, args);
    }
}

/* A transposed convolution: `plan` is the convolution's, whose x has the shape of y here. */
static cnn_status run_turned(const cnn_impl *impl, cnn_context *context, const cnn_plan *plan, pointers p,
                             const cnn_run_extra *extra, bool bias, cnn_error *err)
{
    cnn_weighted_args args = {.beta = extra->beta, .workspace = extra->workspace};
    cnn_bias_args its = {.beta = extra->beta};
    cnn_status status;
    switch (plan->dir) {
    case CNN_BWD_D: /* forward */
        args.dy = take(&p);
        args.w = take(&p);
        its.b = bias ? take(&p) : NULL;
        args.dx = its.y = take(&p);
        status = CALL(conv_bwd_data, args);
        return status == CNN_OK && bias ? CALL(bias_add, its) : status;
    case CNN_FWD:
        args.x = take(&p);
        args.w = take(&p);
        args.y = take(&p);
        return CALL(conv_fwd, args);
    default:
        args.dy = take(&p);
        args.x = its.dy = take(&p);
        args.dw = take(&p);
        its.db = bias ? take(&p) : NULL;
        status = CALL(conv_bwd_weights, args);
        return status == CNN_OK && bias ? CALL(bias_gradient, its) : status;
    }
}

static cnn_status run_map(const cnn_impl *impl, cnn_context *context, const cnn_plan *plan, pointers p,
                          const cnn_run_extra *extra, cnn_error *err)
{
    cnn_map_fwd_args fwd = {.workspace = extra->workspace};
    cnn_map_bwd_args bwd = {.workspace = extra->workspace};
    const bool dropout = plan->problem.op == CNN_OP_DROPOUT, pool = cnn_is_pool(&plan->problem);
    if (plan->dir == CNN_FWD) {
        fwd.x = take(&p);
        if (dropout) fwd.step = take(&p);
        fwd.y = take(&p);
        return dropout ? CALL(dropout_fwd, fwd) : pool ? CALL(pool_fwd, fwd) : CALL(act_fwd, fwd);
    }
    if (dropout) {
        bwd.step = take(&p);
    } else {
        bwd.x = take(&p);
        bwd.y = take(&p);
    }
    bwd.dy = take(&p);
    bwd.dx = take(&p);
    return dropout ? CALL(dropout_bwd, bwd) : pool ? CALL(pool_bwd, bwd) : CALL(act_bwd, bwd);
}

static cnn_status run_loss(const cnn_impl *impl, cnn_context *context, const cnn_plan *plan, pointers p,
                           const cnn_run_extra *extra, cnn_error *err)
{
    cnn_loss_args args = {.scale = extra->scale, .workspace = extra->workspace};
    if (plan->dir == CNN_BWD_D) {
        args.y = take(&p);
        args.labels = take(&p);
        if (cnn_is_mixed(&plan->problem.u.type)) args.loss_scale = take(&p);
        args.dx = take(&p);
        return CALL(loss_bwd, args);
    }
    args.x = take(&p);
    args.labels = take(&p);
    args.y = take(&p);
    args.loss_sum = take(&p);
    args.correct = take(&p);
    return CALL(loss_fwd, args);
}

static cnn_status run_join(const cnn_impl *impl, cnn_context *context, const cnn_plan *plan, pointers p,
                           const cnn_run_extra *extra, cnn_error *err)
{
    (void)extra;
    const bool add = plan->problem.op == CNN_OP_ADD;
    const int inputs = add ? 2 : plan->problem.u.concat.n_inputs;
    cnn_join_args join = {.y = NULL};
    cnn_split_args split = {.dy = NULL};
    if (plan->dir == CNN_BWD_D) {
        split.dy = take(&p);
        for (int i = 0; i < inputs; i++) split.dx[i] = take(&p);
        return CALL(concat_bwd, split);
    }
    for (int i = 0; i < inputs; i++) join.x[i] = take(&p);
    join.y = take(&p);
    return add ? CALL(add_fwd, join) : CALL(concat_fwd, join);
}

/* In the order of cnn_operands(), as above. */
static cnn_status run_batchnorm(const cnn_impl *impl, cnn_context *context, const cnn_plan *plan, pointers p,
                                const cnn_run_extra *extra, cnn_error *err)
{
    cnn_batchnorm_args args = {.workspace = extra->workspace};
    args.x = take(&p);
    args.gamma = take(&p);
    if (plan->dir == CNN_FWD) {
        args.beta = take(&p);
        args.running_mean = take(&p);
        args.running_var = take(&p);
        args.y = take(&p);
        if (!plan->problem.u.batchnorm.inference) {
            args.save_mean = take(&p);
            args.save_invstd = take(&p);
        }
        return CALL(batchnorm_fwd, args);
    }
    args.save_mean = take(&p);
    args.save_invstd = take(&p);
    args.dy = take(&p);
    args.dx = take(&p);
    args.dgamma = take(&p);
    args.dbeta = take(&p);
    return CALL(batchnorm_bwd, args);
}

static cnn_status run_optimizer(const cnn_impl *impl, cnn_context *context, const cnn_plan *plan, pointers p,
                                const cnn_run_extra *extra, cnn_error *err)
{
    (void)extra;
    cnn_optimizer_args args = {.w = NULL};
    args.w = take(&p);
    args.grad = take(&p);
    for (int i = 0; i < cnn_optimizer_states(plan->problem.u.optimizer.kind); i++) args.state[i] = take(&p);
    args.step = take(&p);
    if (cnn_is_mixed(&plan->problem.u.type)) {
        args.copy = take(&p);
        args.scaling = take(&p);
    }
    return CALL(optimizer_step, args);
}

static runner *const runners[CNN_OP_COUNT] = {
    [CNN_OP_CONV] = run_weighted,
    [CNN_OP_FC] = run_weighted,
    [CNN_OP_POOL] = run_map,
    [CNN_OP_ACT] = run_map,
    [CNN_OP_LOSS] = run_loss,
    [CNN_OP_DROPOUT] = run_map,
    [CNN_OP_ADD] = run_join,
    [CNN_OP_CONCAT] = run_join,
    [CNN_OP_OPTIMIZER] = run_optimizer,
    [CNN_OP_BATCHNORM] = run_batchnorm,
    [CNN_OP_CONV3D] = run_weighted,
    [CNN_OP_POOL3D] = run_map,
};

cnn_status cnn_run(const cnn_session *session, const cnn_plan *plan, void *const *operands, const cnn_run_extra *extra,
                   cnn_error *err)
{
    const bool turned = plan->problem.op == CNN_OP_DECONV;
    cnn_plan copy; /* what the kernel changes in it, it alone sees: plan.c says why */
    cnn_hand_plan(plan, &copy);
    const pointers p = {operands};
    const cnn_status status =
        turned ? run_turned(session->impl, session->context, &copy, p, extra, plan->problem.u.conv.bias, err)
               : runners[copy.problem.op](session->impl, session->context, &copy, p, extra, err);
    if (status == CNN_OK || status == CNN_DEVICE || status == CNN_INTERNAL) return status;
    return cnn_error_before(err, CNN_INTERNAL,
                            "the operation, which supports let through, answered '%s': ", cnn_status_name(status));
}
