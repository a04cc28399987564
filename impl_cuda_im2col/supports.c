/* supports.c: the gate of impl_cuda_im2col, and the workspace of what it lets through. */
#include "harness/names.h"
#include "harness/shape.h"
#include "impl_cuda_im2col/im2col.h"

static cnn_status check_type(const cnn_type *t, cnn_error *err)
{
    if (t->dtype != CNN_F32 && t->dtype != CNN_F64)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "dtype %d: impl cuda_im2col computes in f32 and f64", (int)t->dtype);
    if (t->math == CNN_MATH_F32 || (t->math == CNN_MATH_TF32 && t->dtype == CNN_F32)) return CNN_OK;
    return CNN_FAIL(err, CNN_UNSUPPORTED, "math %s with dtype %s: impl cuda_im2col does f32 and f64, and tf32 with f32",
                    cnn_math_name(t->math), cnn_dtype_name(t->dtype));
}

static cnn_status weighted_workspace(const cucol_context *context, const cnn_problem *problem, cnn_dir dir,
                                     const cnn_algorithm *algorithm, size_t *bytes, cnn_error *err)
{
    if (problem->op == CNN_OP_FC) return cucol_fc_workspace(context, &problem->u.fc, dir, bytes, err);
    cucol_plan m;
    const cnn_status status = cucol_plan_make(context, &problem->u.conv, dir, algorithm->id, &m, err);
    if (status == CNN_OK) *bytes = m.bytes;
    return status;
}

cnn_status cucol_supports(cnn_context *context, const cnn_problem *problem, cnn_dir dir, const cnn_algorithm *algorithm,
                          cnn_error *err)
{
    size_t bytes;
    if (!(cnn_op_dirs(problem) & 1u << dir))
        return CNN_FAIL(err, CNN_UNSUPPORTED, "%s has no direction %s", cnn_op_name(problem->op), cnn_dir_name(dir));
    if (!(algorithm->ops & 1u << problem->op))
        return CNN_FAIL(err, CNN_UNSUPPORTED, "algorithm %s does not serve %s", algorithm->name,
                        cnn_op_name(problem->op));
    if (problem->op != CNN_OP_CONV && problem->op != CNN_OP_FC)
        return cuda_pointwise_supports(context, problem, dir, algorithm, err);
    const cnn_status status = check_type(&problem->u.type, err);
    if (status != CNN_OK) return status;
    return weighted_workspace((const cucol_context *)context, problem, dir, algorithm, &bytes, err);
}

cnn_status cucol_workspace(cnn_context *context, const cnn_problem *problem, cnn_dir dir,
                           const cnn_algorithm *algorithm, size_t *bytes, cnn_error *err)
{
    *bytes = 0;
    if (problem->op != CNN_OP_CONV && problem->op != CNN_OP_FC)
        return cuda_pointwise_workspace(context, problem, dir, bytes, err);
    return weighted_workspace((const cucol_context *)context, problem, dir, algorithm, bytes, err);
}
