/* other.c: gate, prepare and release of the operations that are neither conv nor FC. */
#include "impl_cudnn/ops.h"

#include "harness/cnn/shape.h"

static void close_state(other_state *s)
{
    cudnn_tensor_close(&s->x);
    cudnn_tensor_close(&s->y);
    cudnn_tensor_close(&s->channels);
    if (s->pool != NULL) (void)cudnnDestroyPoolingDescriptor(s->pool);
    if (s->act != NULL) (void)cudnnDestroyActivationDescriptor(s->act);
}

static cnn_status open_state(cudnn_context *c, const cnn_request *r, other_state *s, cnn_error *err)
{
    static other_open_fn *const open[CNN_OP_COUNT] = {
        [CNN_OP_POOL] = other_open_pool, [CNN_OP_POOL3D] = other_open_pool,         [CNN_OP_ACT] = other_open_act,
        [CNN_OP_LOSS] = other_open_loss, [CNN_OP_BATCHNORM] = other_open_batchnorm,
    };
    const cnn_op op = r->problem->op;
    if (open[op] != NULL) return open[op](c, r, s, err);
    if (op == CNN_OP_DROPOUT)
        return CNN_FAIL(err, CNN_UNSUPPORTED,
                        "cuDNN draws its dropout from a generator of its own, and here the draw is a given function of "
                        "seed, step and position");
    return CNN_FAIL(err, CNN_UNSUPPORTED, "cuDNN does not serve %s here", cnn_op_name(op));
}

cnn_status other_supports(cudnn_context *c, const cnn_request *r, cnn_error *err)
{
    other_state s = {.x = NULL};
    if (r->algorithm->id == OTHER_POINTWISE) return cuda_pointwise_supports(r, err);
    const cnn_status status = open_state(c, r, &s, err);
    close_state(&s);
    return status == CNN_OK ? CNN_OK : (err->status = CNN_UNSUPPORTED);
}

/* Softmax's logarithms are the only thing that needs a place of its own. */
cnn_status other_prepare(cudnn_context *c, cnn_plan *plan, cnn_error *err)
{
    const cnn_request request = cuda_request_of(plan);
    const cnn_loss_desc *loss = &plan->problem.u.loss;
    other_state s = {.x = NULL};
    if (plan->algorithm.id == OTHER_POINTWISE) return cuda_pointwise_prepare(plan, err);
    if (plan->problem.op == CNN_OP_LOSS)
        plan->workspace_bytes = (size_t)(loss->mb * loss->ic) * cnn_dtype_size(loss->t.dtype);
    cnn_status status = open_state(c, &request, &s, err);
    if (status == CNN_OK) status = cuda_keep(plan, &s, sizeof s, err);
    if (status != CNN_OK) close_state(&s);
    return status;
}

void other_release(cnn_plan *plan)
{
    if (plan->algorithm.id == OTHER_CUDNN) close_state(plan->state);
    cuda_release(NULL, plan);
}
