/* slots.c: from the arguments of each operation to a list of pointers in the order of cnn_operands(): the way back of
 * harness/device/run.c. */
#include "parts.h"

#include "harness/cnn/shape.h"

static void put(api_pointers *p, int *count, const void *pointer) { p->list[(*count)++] = (void *)(uintptr_t)pointer; }

void api_turn_back(cnn_op op, cnn_problem *problem, cnn_dir *dir)
{
    if (op != CNN_OP_DECONV) return;
    problem->op = CNN_OP_DECONV;
    if (*dir != CNN_BWD_W) *dir = *dir == CNN_FWD ? CNN_BWD_D : CNN_FWD;
}

/* A transposed convolution comes without bias, as the convolution that it is the other way round. */
static cnn_status weighted(cnn_context *context, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    api_pointers p = {.beta = a->beta, .scale = 1, .workspace = a->workspace};
    const bool turned = api_callable_op(context) == CNN_OP_DECONV;
    int n = 0;
    if (plan->dir == CNN_BWD_D) {
        put(&p, &n, a->dy);
        put(&p, &n, a->w);
        put(&p, &n, a->dx);
        return api_callable_run(context, plan, &p, err);
    }
    put(&p, &n, plan->dir == CNN_BWD_W && turned ? a->dy : a->x);
    put(&p, &n, plan->dir == CNN_FWD ? a->w : turned ? a->x : a->dy);
    if (a->b != NULL) put(&p, &n, a->b);
    if (a->scale != NULL) put(&p, &n, a->scale);
    if (a->z != NULL) put(&p, &n, a->z);
    put(&p, &n, plan->dir == CNN_FWD ? a->y : a->dw);
    if (a->db != NULL) put(&p, &n, a->db);
    return api_callable_run(context, plan, &p, err);
}

static cnn_status map_forward(cnn_context *context, const cnn_plan *plan, const cnn_map_fwd_args *a, cnn_error *err)
{
    api_pointers p = {.scale = 1, .workspace = a->workspace};
    int n = 0;
    put(&p, &n, a->x);
    if (plan->problem.op == CNN_OP_DROPOUT) put(&p, &n, a->step);
    put(&p, &n, a->y);
    return api_callable_run(context, plan, &p, err);
}

static cnn_status map_backward(cnn_context *context, const cnn_plan *plan, const cnn_map_bwd_args *a, cnn_error *err)
{
    api_pointers p = {.scale = 1, .workspace = a->workspace};
    int n = 0;
    if (plan->problem.op == CNN_OP_DROPOUT) {
        put(&p, &n, a->step);
    } else {
        put(&p, &n, a->x);
        put(&p, &n, a->y);
    }
    put(&p, &n, a->dy);
    put(&p, &n, a->dx);
    return api_callable_run(context, plan, &p, err);
}

static cnn_status loss(cnn_context *context, const cnn_plan *plan, const cnn_loss_args *a, cnn_error *err)
{
    const bool forward = plan->dir == CNN_FWD;
    api_pointers p = {.scale = forward ? 1 : a->scale, .workspace = a->workspace};
    int n = 0;
    put(&p, &n, forward ? a->x : a->y);
    put(&p, &n, a->labels);
    if (!forward && cnn_is_mixed(&plan->problem.u.type)) put(&p, &n, a->loss_scale);
    put(&p, &n, forward ? a->y : a->dx);
    if (forward) put(&p, &n, a->loss_sum);
    if (forward) put(&p, &n, a->correct);
    return api_callable_run(context, plan, &p, err);
}

static int inputs_of(const cnn_problem *problem) { return problem->op == CNN_OP_ADD ? 2 : problem->u.concat.n_inputs; }

static cnn_status join(cnn_context *context, const cnn_plan *plan, const cnn_join_args *a, cnn_error *err)
{
    api_pointers p = {.scale = 1};
    int n = 0;
    while (n < inputs_of(&plan->problem)) put(&p, &n, a->x[n]);
    put(&p, &n, a->y);
    return api_callable_run(context, plan, &p, err);
}

static cnn_status split(cnn_context *context, const cnn_plan *plan, const cnn_split_args *a, cnn_error *err)
{
    api_pointers p = {.scale = 1};
    int n = 0;
    put(&p, &n, a->dy);
    for (int i = 0; i < inputs_of(&plan->problem); i++) put(&p, &n, a->dx[i]);
    return api_callable_run(context, plan, &p, err);
}

static cnn_status batchnorm(cnn_context *context, const cnn_plan *plan, const cnn_batchnorm_args *a, cnn_error *err)
{
    api_pointers p = {.scale = 1, .workspace = a->workspace};
    const void *const forward[] = {a->beta, a->running_mean, a->running_var, a->y, a->save_mean, a->save_invstd};
    const void *const backward[] = {a->save_mean, a->save_invstd, a->dy, a->dx, a->dgamma, a->dbeta};
    const int count = plan->dir == CNN_FWD && plan->problem.u.batchnorm.inference ? 4 : 6;
    int n = 0;
    put(&p, &n, a->x);
    put(&p, &n, a->gamma);
    for (int i = 0; i < count; i++) put(&p, &n, plan->dir == CNN_FWD ? forward[i] : backward[i]);
    return api_callable_run(context, plan, &p, err);
}

static cnn_status optimizer(cnn_context *context, const cnn_plan *plan, const cnn_optimizer_args *a, cnn_error *err)
{
    api_pointers p = {.scale = 1};
    int n = 0;
    put(&p, &n, a->w);
    put(&p, &n, a->grad);
    for (int i = 0; i < cnn_optimizer_states(plan->problem.u.optimizer.kind); i++) put(&p, &n, a->state[i]);
    put(&p, &n, a->step);
    if (cnn_is_mixed(&plan->problem.u.type)) {
        put(&p, &n, a->copy);
        put(&p, &n, a->scaling);
    }
    return api_callable_run(context, plan, &p, err);
}

void api_fill_slots(cnn_operations *ops)
{
    *ops = (cnn_operations){.struct_size = sizeof *ops,
                            CNN_WEIGHTED_SLOTS(weighted),
                            .pool_fwd = map_forward,
                            .pool_bwd = map_backward,
                            .act_fwd = map_forward,
                            .act_bwd = map_backward,
                            .dropout_fwd = map_forward,
                            .dropout_bwd = map_backward,
                            .loss_fwd = loss,
                            .loss_bwd = loss,
                            .add_fwd = join,
                            .concat_fwd = join,
                            .concat_bwd = split,
                            .batchnorm_fwd = batchnorm,
                            .batchnorm_bwd = batchnorm,
                            .optimizer_step = optimizer};
}
