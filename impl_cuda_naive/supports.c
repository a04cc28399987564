/* supports.c: the one gate of impl_cuda_naive, and the workspace: what is common here, the rest from the kernel. */
#include "impl_cuda_naive/naive.h"

static cnn_status check_kernel(const cuda_context *c, const cnn_problem *problem, cnn_dir dir,
                               const cnn_algorithm *algorithm, cnn_error *err)
{
    if (problem->op == CNN_OP_CONV) {
        const naive_kernel *kernel = naive_conv_kernel(algorithm->id, dir);
        return kernel->check != NULL ? kernel->check(c, &problem->u.conv, err) : CNN_OK;
    }
    const naive_fc_kernel *kernel = naive_fc_kernel_of(algorithm->id, dir);
    return kernel->check != NULL ? kernel->check(c, &problem->u.fc, err) : CNN_OK;
}

cnn_status naive_supports(cnn_context *context, const cnn_problem *problem, cnn_dir dir, const cnn_algorithm *algorithm,
                          cnn_error *err)
{
    const cuda_context *c = (const cuda_context *)context;
    cnn_status status = cuda_check_served(problem, dir, algorithm, err);
    if (status != CNN_OK) return status;
    if (!cuda_is_weighted(problem)) return cuda_pointwise_supports(context, problem, dir, algorithm, err);
    status = cuda_check_type(problem, false, err);
    if (status != CNN_OK) return status;
    if ((status = check_kernel(c, problem, dir, algorithm, err)) != CNN_OK) return status;
    size_t bytes;
    status = naive_workspace(context, problem, dir, algorithm, &bytes, err);
    return status == CNN_OK ? cuda_check_workspace(c, bytes, err) : status;
}

cnn_status naive_workspace(cnn_context *context, const cnn_problem *problem, cnn_dir dir,
                           const cnn_algorithm *algorithm, size_t *bytes, cnn_error *err)
{
    const cuda_context *c = (const cuda_context *)context;
    *bytes = 0;
    if (problem->op == CNN_OP_CONV) {
        const naive_kernel *kernel = naive_conv_kernel(algorithm->id, dir);
        if (kernel->workspace != NULL) *bytes = kernel->workspace(c, &problem->u.conv);
        return CNN_OK;
    }
    if (problem->op == CNN_OP_FC) {
        const naive_fc_kernel *kernel = naive_fc_kernel_of(algorithm->id, dir);
        if (kernel->workspace != NULL) *bytes = kernel->workspace(c, &problem->u.fc);
        return CNN_OK;
    }
    return cuda_pointwise_workspace(context, problem, dir, bytes, err);
}
