/* ops.h: what has one way only: FC by cuBLAS (fc.c), and by cuDNN the operations that are neither conv nor FC, one file
 * each: pool.c, act.c, loss.c, batchnorm.c.
 *
 * The default for the latter is `pointwise`, the kernels that all CUDA implementations share (harness/cuda). `cudnn`
 * serves what cuDNN computes by the same definition; where its definition differs, or where it is silent on what cnn.h
 * lays down, the gate refuses with that reason. */
#ifndef IMPL_CUDNN_OPS_H
#define IMPL_CUDNN_OPS_H

#include "impl_cudnn/context.h"

/* cnn_algorithm.id */
enum { OTHER_POINTWISE = 100, OTHER_CUDNN, FC_CUBLAS = 900 };

/* ---- fc.c: what cuDNN's own users take, since to cuDNN a layer is a convolution with a kernel as large as the image,
 * at several times the cost. */
cnn_status cudnn_fc_supports(const cnn_fc_desc *, cnn_error *);
cnn_status cudnn_fc_run(cudnn_context *, const cnn_plan *, const cnn_weighted_args *, cnn_error *);

/* ---- other.c: gate, prepare and release of the other operations, for both algorithms. */
cnn_status other_supports(cudnn_context *, const cnn_request *, cnn_error *);
cnn_status other_prepare(cudnn_context *, cnn_plan *, cnn_error *);
void other_release(cnn_plan *);

/* plan->state: whatever of these an operation needs. */
typedef struct other_state {
    cudnnTensorDescriptor_t x, y, channels;
    cudnnPoolingDescriptor_t pool;
    cudnnActivationDescriptor_t act;
} other_state;

/* What every call below begins with: the device entered, the state, the factors of old and new. */
typedef struct other_call {
    cudnn_context *c;
    const other_state *s;
    cudnn_factor one, zero;
} other_call;
static inline cnn_status other_call_open(cnn_context *context, const cnn_plan *plan, other_call *call, cnn_error *err)
{
    const cnn_dtype dtype = plan->problem.u.type.dtype;
    call->c = (cudnn_context *)context;
    call->s = (const other_state *)plan->state;
    call->one = cudnn_factor_of(dtype, 1.0);
    call->zero = cudnn_factor_of(dtype, 0.0);
    return cuda_enter(&call->c->cuda, err);
}

/* Each fills a zeroed state; CNN_UNSUPPORTED and the reason where cuDNN cannot. The caller closes it in any case. */
typedef cnn_status other_open_fn(cudnn_context *, const cnn_request *, other_state *, cnn_error *);
other_open_fn other_open_pool, other_open_act, other_open_loss, other_open_batchnorm;

/* ---- Slots: the shared kernels' signatures; they pass `pointwise` on. */
cnn_status cudnn_pool_fwd(cnn_context *, const cnn_plan *, const cnn_map_fwd_args *, cnn_error *);
cnn_status cudnn_pool_bwd(cnn_context *, const cnn_plan *, const cnn_map_bwd_args *, cnn_error *);
cnn_status cudnn_act_fwd(cnn_context *, const cnn_plan *, const cnn_map_fwd_args *, cnn_error *);
cnn_status cudnn_act_bwd(cnn_context *, const cnn_plan *, const cnn_map_bwd_args *, cnn_error *);
cnn_status cudnn_loss_fwd(cnn_context *, const cnn_plan *, const cnn_loss_args *, cnn_error *);
cnn_status cudnn_batchnorm_fwd(cnn_context *, const cnn_plan *, const cnn_batchnorm_args *, cnn_error *);
cnn_status cudnn_batchnorm_bwd(cnn_context *, const cnn_plan *, const cnn_batchnorm_args *, cnn_error *);

/* ---- loss_sums.cu: *loss_sum -= sum_n log_y[n,label], log_y in the workspace; *correct += images whose largest x is
 * at the label. */
#ifdef __cplusplus
extern "C" {
#endif
cnn_status loss_sums(cudnn_context *, const cnn_plan *, const cnn_loss_args *, cnn_error *);
#ifdef __cplusplus
}
#endif

#endif
