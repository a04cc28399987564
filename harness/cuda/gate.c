/* gate.c: the questions that every CUDA implementation's `supports` asks. */
#include "harness/cuda/cuda.h"
#include "harness/problem/names.h"
#include "harness/problem/shape.h"

cnn_status cuda_check_served(const cnn_problem *problem, cnn_dir dir, const cnn_algorithm *algorithm, cnn_error *err)
{
    if (!(cnn_op_dirs(problem) & 1u << dir))
        return CNN_FAIL(err, CNN_UNSUPPORTED, "%s has no direction %s", cnn_op_name(problem->op), cnn_dir_name(dir));
    if (!(algorithm->ops & 1u << problem->op))
        return CNN_FAIL(err, CNN_UNSUPPORTED, "algorithm %s does not serve %s", algorithm->name,
                        cnn_op_name(problem->op));
    return CNN_OK;
}

cnn_status cuda_check_type(const cnn_problem *problem, bool tf32, cnn_error *err)
{
    const cnn_type *t = &problem->u.type;
    if (t->dtype != CNN_F32 && t->dtype != CNN_F64)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "dtype %d: %s is computed in f32 and f64", (int)t->dtype,
                        cnn_op_name(problem->op));
    if (t->math == CNN_MATH_F32 || (tf32 && t->math == CNN_MATH_TF32 && t->dtype == CNN_F32)) return CNN_OK;
    return CNN_FAIL(err, CNN_UNSUPPORTED, "math %s with dtype %s: this algorithm computes %s in the dtype itself%s",
                    cnn_math_name(t->math), cnn_dtype_name(t->dtype), cnn_op_name(problem->op),
                    tf32 ? ", or f32 in tf32" : "");
}

cnn_status cuda_check_workspace(const cuda_context *c, size_t bytes, cnn_error *err)
{
    return cnn_workspace_check(c->knobs[CUDA_KNOB_WORKSPACE_LIMIT], bytes, err);
}
