/* supports.c: the one gate of impl_cuda_naive, and the workspace: what is common here, the rest from the kernel. */
#include "harness/names.h"
#include "harness/shape.h"
#include "impl_cuda_naive/naive.h"

static cnn_status check_type(const cnn_type *t, cnn_error *err)
{
    if (t->dtype != CNN_F32 && t->dtype != CNN_F64)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "dtype %d: impl cuda_naive computes in f32 and f64", (int)t->dtype);
    if (t->math != CNN_MATH_F32)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "math %s: impl cuda_naive computes in the dtype itself",
                        cnn_math_name(t->math));
    return CNN_OK;
}

cnn_status naive_supports(cnn_context *context, const cnn_problem *problem, cnn_dir dir, const cnn_algorithm *algorithm,
                          cnn_error *err)
{
    const cuda_context *c = (const cuda_context *)context;
    if (!(cnn_op_dirs(problem) & 1u << dir))
        return CNN_FAIL(err, CNN_UNSUPPORTED, "%s has no direction %s", cnn_op_name(problem->op), cnn_dir_name(dir));
    if (!(algorithm->ops & 1u << problem->op))
        return CNN_FAIL(err, CNN_UNSUPPORTED, "algorithm %s does not serve %s", algorithm->name,
                        cnn_op_name(problem->op));
    if (problem->op != CNN_OP_CONV && problem->op != CNN_OP_FC)
        return cuda_pointwise_supports(context, problem, dir, algorithm, err);
    const cnn_status status = check_type(&problem->u.type, err);
    if (status != CNN_OK) return status;
    if (problem->op == CNN_OP_CONV) {
        const naive_kernel *kernel = naive_conv_kernel(algorithm->id, dir);
        return kernel->check != NULL ? kernel->check(c, &problem->u.conv, err) : CNN_OK;
    }
    const naive_fc_kernel *kernel = naive_fc_kernel_of(algorithm->id, dir);
    return kernel->check != NULL ? kernel->check(c, &problem->u.fc, err) : CNN_OK;
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
