/* other.c: gate, workspace, prepare and release of the operations that are neither conv nor FC. */
#include "impl_cudnn/other.h"

#include "harness/problem/names.h"

#include <stdlib.h>

static void close_state(other_state *s)
{
    cudnn_tensor_close(&s->x);
    cudnn_tensor_close(&s->y);
    cudnn_tensor_close(&s->channels);
    if (s->pool != NULL) (void)cudnnDestroyPoolingDescriptor(s->pool);
    if (s->act != NULL) (void)cudnnDestroyActivationDescriptor(s->act);
}

static cnn_status open_state(cudnn_context *c, const cnn_problem *problem, cnn_dir dir, other_state *s, cnn_error *err)
{
    switch (problem->op) {
    case CNN_OP_POOL:
        return other_open_pool(c, &problem->u.pool, dir, s, err);
    case CNN_OP_ACT:
        return other_open_act(c, &problem->u.act, dir, s, err);
    case CNN_OP_LOSS:
        return other_open_loss(c, &problem->u.loss, dir, s, err);
    case CNN_OP_BATCHNORM:
        return other_open_batchnorm(c, &problem->u.batchnorm, dir, s, err);
    case CNN_OP_DROPOUT:
        return CNN_FAIL(err, CNN_UNSUPPORTED,
                        "cuDNN draws its dropout from a generator of its own, and here the draw is a given function of "
                        "seed, step and position");
    default:
        return CNN_FAIL(err, CNN_UNSUPPORTED, "cuDNN does not serve %s here", cnn_op_name(problem->op));
    }
}

cnn_status other_supports(cudnn_context *c, const cnn_problem *problem, cnn_dir dir, const cnn_algorithm *algorithm,
                          cnn_error *err)
{
    other_state s = {.x = NULL};
    if (algorithm->id == OTHER_POINTWISE)
        return cuda_pointwise_supports((cnn_context *)c, problem, dir, algorithm, err);
    const cnn_status status = open_state(c, problem, dir, &s, err);
    close_state(&s);
    return status == CNN_OK ? CNN_OK : (err->status = CNN_UNSUPPORTED);
}

/* Softmax's logarithms are the only thing that needs a place of its own. */
cnn_status other_workspace(cudnn_context *c, const cnn_problem *problem, cnn_dir dir, const cnn_algorithm *algorithm,
                           size_t *bytes, cnn_error *err)
{
    *bytes = 0;
    if (algorithm->id == OTHER_POINTWISE) return cuda_pointwise_workspace((cnn_context *)c, problem, dir, bytes, err);
    if (problem->op == CNN_OP_LOSS)
        *bytes = (size_t)(problem->u.loss.mb * problem->u.loss.ic) * cnn_dtype_size(problem->u.type.dtype);
    return CNN_OK;
}

cnn_status other_prepare(cudnn_context *c, cnn_plan *plan, cnn_error *err)
{
    if (plan->algorithm.id == OTHER_POINTWISE) return CNN_OK;
    other_state *s = calloc(1, sizeof *s);
    if (s == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a plan");
    const cnn_status status = open_state(c, &plan->problem, plan->dir, s, err);
    if (status == CNN_OK) {
        plan->state = s;
        return CNN_OK;
    }
    close_state(s);
    free(s);
    return status;
}

void other_release(cnn_plan *plan)
{
    other_state *s = plan->state;
    if (s == NULL) return;
    close_state(s);
    free(s);
}
