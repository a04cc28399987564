/* gate.c: the questions that every CUDA implementation's `supports` asks, and what its `prepare` keeps. */
#include "harness/cnn/half.h"
#include "harness/cnn/shape.h"
#include "harness/cuda/cuda.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

cnn_status cuda_check_served(const cnn_request *r, cnn_error *err)
{
    const char *op = cnn_op_name(r->problem->op);
    if (!(cnn_op_dirs(r->problem) & 1u << r->dir))
        return CNN_FAIL(err, CNN_UNSUPPORTED, "%s has no direction %s", op, cnn_dir_name(r->dir));
    if (!(r->algorithm->ops & 1u << r->problem->op))
        return CNN_FAIL(err, CNN_UNSUPPORTED, "algorithm %s does not serve %s", r->algorithm->name, op);
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

cnn_status cuda_check_number(const cnn_problem *problem, bool tf32, cnn_error *err)
{
    const cnn_type *t = &problem->u.type;
    const bool half = cnn_is_half(cnn_part_dtype(t->dtype, CNN_PART_FACTOR)); /* with results of f32, too */
    return half && t->math == CNN_MATH_F32 ? CNN_OK : cuda_check_type(problem, tf32, err);
}

const void *cuda_epilogue_from(const cnn_plan *plan, const cnn_weighted_args *args)
{
    if (cnn_epilogue_of(&plan->problem).add) return args->z;
    return args->beta == 0 ? NULL : plan->dir == CNN_FWD ? args->y : args->dx;
}

cuda_line cuda_epilogue_line(const cnn_problem *problem)
{
    const cnn_epilogue e = cnn_epilogue_of(problem);
    switch (e.act) {
    case CNN_ACT_RELU:
        return (cuda_line){e.act, 0, 1, INFINITY};
    case CNN_ACT_LEAKY_RELU:
        return (cuda_line){e.act, e.alpha, 1, INFINITY};
    case CNN_ACT_CLIPPED_RELU:
        return (cuda_line){e.act, 0, 1, e.alpha};
    case CNN_ACT_SCALE:
        return (cuda_line){e.act, e.alpha, e.alpha, INFINITY};
    default:
        return (cuda_line){CNN_ACT_IDENTITY, 1, 1, INFINITY};
    }
}

cnn_epilogue cuda_epilogue_rest(const cnn_problem *problem)
{
    cnn_epilogue e = cnn_epilogue_of(problem);
    e.add = false;
    if (cuda_epilogue_line(problem).kind == e.act) e = (cnn_epilogue){CNN_ACT_IDENTITY, false, 0.0};
    return e;
}

cuda_pass cuda_pass_of(const cnn_problem *problem, const int64_t *knobs, const cnn_weighted_args *args)
{
    const cnn_conv_desc d = problem->op == CNN_OP_FC ? cnn_fc_as_conv(&problem->u.fc) : cnn_with_depth(problem);
    return (cuda_pass){.left = cnn_epilogue_of(problem),
                       .dtype = cnn_part_dtype(problem->u.type.dtype, CNN_PART_RESULT),
                       .count = d.mb * d.oc * d.od * d.oh * d.ow,
                       .z = args->z,
                       .y = args->y,
                       .knobs = knobs};
}

cnn_status cuda_check_epilogue(const cnn_problem *problem, cnn_epilogue left, cnn_error *err)
{
    const cnn_dtype dtype = problem->u.type.dtype;
    if (!cnn_is_half(cnn_part_dtype(dtype, CNN_PART_RESULT)) || (!left.add && left.act == CNN_ACT_IDENTITY))
        return CNN_OK;
    return CNN_FAIL(err, CNN_UNSUPPORTED,
                    "an epilogue with %s: here it is a pass of its own, which would round results in %s twice",
                    cnn_act_name(left.act), cnn_dtype_name(dtype));
}

double cuda_act_alpha(const cnn_act_desc *d) { return d->kind == CNN_ACT_CLIPPED_RELU ? cnn_act_ceiling(d) : d->alpha; }

cnn_status cuda_keep(cnn_plan *plan, const void *state, size_t bytes, cnn_error *err)
{
    plan->state = malloc(bytes);
    if (plan->state == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a plan of %zu bytes", bytes);
    memcpy(plan->state, state, bytes);
    return CNN_OK;
}

void cuda_release(cnn_context *context, cnn_plan *plan)
{
    (void)context;
    free(plan->state);
    plan->state = NULL;
}

/* ---- The pointwise operations */

static cnn_status check_pool(const cnn_problem *problem, cnn_error *err)
{
    const cnn_pool_desc d = cnn_pool_with_depth(problem);
    const int64_t sizes[] = {d.sd, d.sh, d.sw, d.pd, d.ph, d.pw, d.dd, d.dh, d.dw}, most = INT_MAX / 4;
    int64_t taps = most;
    bool fits = cnn_mul4(d.kd, d.kh, d.kw, 1, &taps) && taps < most;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) fits = fits && sizes[i] < most;
    if (fits) return CNN_OK;
    return CNN_FAIL(err, CNN_UNSUPPORTED, "a window of %lld x %lld x %lld, stride %lld x %lld x %lld: more than %lld",
                    (long long)d.kd, (long long)d.kh, (long long)d.kw, (long long)d.sd, (long long)d.sh,
                    (long long)d.sw, (long long)most);
}

cnn_status cuda_pointwise_supports(const cnn_request *r, cnn_error *err)
{
    const cnn_op op = r->problem->op;
    const cnn_type *t = &r->problem->u.type;
    const cnn_dtype weights = cnn_weights_dtype(op, t->dtype);
    if (cnn_is_joined(t->dtype))
        return CNN_FAIL(err, CNN_UNSUPPORTED, "%s of dtype %s: it has no factors of another type than its results",
                        cnn_op_name(op), cnn_dtype_name(t->dtype));
    if (t->weights != weights)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "%s of dtype %s with weights in %s: here they are in %s", cnn_op_name(op),
                        cnn_dtype_name(t->dtype), cnn_dtype_name(t->weights), cnn_dtype_name(weights));
    /* Numbers that TF32 would round are not multiplied here: who allows it gets f32. */
    const cnn_status status = cuda_check_number(r->problem, true, err);
    return status == CNN_OK && cnn_is_pool(r->problem) ? check_pool(r->problem, err) : status;
}

cnn_status cuda_pointwise_prepare(cnn_plan *plan, cnn_error *err)
{
    if (plan->problem.op == CNN_OP_LOSS) return cuda_loss_prepare(plan, err);
    return plan->problem.op == CNN_OP_BATCHNORM ? cuda_batchnorm_prepare(plan, err) : CNN_OK;
}
