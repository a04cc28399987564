/* plan.c: the one gate of impl_cpu: what passes here runs; what cannot run is refused here, with the reason. From a
 * request to a plan, and from a plan to a kernel, which the algorithm's id picks. */
#include "harness/cnn/half.h"
#include "impl_cpu/cpu.h"

#include <stdlib.h>

static const cpu_kernels *kernels_of(const cnn_problem *p, int64_t id)
{
    const cnn_op op = p->op;
    if (cnn_sums_whole(p->u.type.dtype)) return id == CPU_NAIVE ? &cpu_whole_naive : &cpu_whole_pairs;
    if (id == CPU_BF16) return &cpu_bf16;
    if (op == CNN_OP_FC) return id == CPU_GEMM ? &cpu_fc_gemm : &cpu_fc_naive;
    if (id == CPU_DIRECT) return &cpu_conv_direct;
    if (id == CPU_IM2COL) return &cpu_conv_im2col;
    if (id == CPU_WINOGRAD) return &cpu_conv_winograd;
    if (id == CPU_DEPTHWISE) return &cpu_conv_depthwise;
    if (id == CPU_MATRIX) return &cpu_conv_matrix;
    if (id == CPU_SHALLOW) return &cpu_conv_shallow;
    return op == CNN_OP_CONV3D ? &cpu_conv3d_naive : &cpu_conv_naive;
}

/* A cpu_plan_fn of every operation. */
static cnn_status make_plan(const cpu_context *cpu, const cnn_request *r, void **state, size_t *bytes, cnn_error *err)
{
    const cnn_problem *p = r->problem;
    if (cpu_reads_half(p) && p->op != CNN_OP_OPTIMIZER && r->algorithm->id != CPU_BF16) {
        const cnn_problem wide = cpu_as_f32(p);
        const cnn_request its = {&wide, r->dir, r->algorithm, r->knobs};
        const cnn_status status = make_plan(cpu, &its, state, bytes, err);
        return status == CNN_OK ? cpu_half_workspace(p, bytes, err) : status;
    }
    const int64_t id = r->algorithm->id;
    if (cnn_sums_whole(p->u.type.dtype) && id != CPU_DIRECT && id != CPU_DEPTHWISE && id != CPU_GEMM && id != CPU_NAIVE)
        return CNN_FAIL(err, CNN_UNSUPPORTED,
                        "%s in %s: integers are multiplied by the algorithms direct, depthwise, gemm and naive",
                        r->algorithm->name, cnn_dtype_name(p->u.type.dtype));
    *bytes = p->op == CNN_OP_LOSS ? cpu_loss_workspace(&p->u.loss, r->dir) : 0;
    if (!cnn_is_weighted(p)) return CNN_OK;
    cpu_plan_fn *const plan = kernels_of(p, r->algorithm->id)->plan;
    return plan ? plan(cpu, r, state, bytes, err) : CNN_OK;
}

/* The harness has asked whether the operation has this direction and the algorithm serves it. The problem has passed
 * cnn_problem_check, so the elements of each tensor can be counted in 64 bits. */
cnn_status cpu_supports(cnn_context *context, const cnn_request *r, cnn_error *err)
{
    const cnn_problem *problem = r->problem;
    const cnn_math math = problem->u.type.math;
    if (math != CNN_MATH_F32)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "math %s: impl cpu computes in the dtype itself", cnn_math_name(math));
    size_t bytes;
    const cnn_status status = make_plan((const cpu_context *)context, r, NULL, &bytes, err);
    return status == CNN_OK && cnn_is_weighted(problem)
               ? cnn_workspace_check(r->knobs[CPU_KNOB_WORKSPACE_LIMIT], bytes, err)
               : status;
}

cnn_status cpu_prepare(cnn_context *context, cnn_plan *plan, cnn_error *err)
{
    const cnn_request r = {&plan->problem, plan->dir, &plan->algorithm, plan->knobs};
    const cnn_status status = make_plan((const cpu_context *)context, &r, &plan->state, &plan->workspace_bytes, err);
    if (status != CNN_OK || !cnn_is_weighted(r.problem)) return status;
    cpu_choice_fn *const choice = kernels_of(r.problem, plan->algorithm.id)->choice;
    if (choice != NULL) snprintf(plan->choice, sizeof plan->choice, "%s", choice((const cpu_context *)context, &r));
    return status;
}

void cpu_release(cnn_context *context, cnn_plan *plan)
{
    (void)context;
    free(plan->state);
}

cnn_status cpu_weighted_run(cnn_context *context, const cnn_plan *plan, const cnn_weighted_args *args, cnn_error *err)
{
    if (cpu_reads_half(&plan->problem) && plan->algorithm.id != CPU_BF16)
        return cpu_half_weighted(context, plan, args, err);
    kernels_of(&plan->problem, plan->algorithm.id)->run((const cpu_context *)context, plan, args);
    return CNN_OK;
}

void *cpu_take(cpu_arena *arena, int64_t count, int64_t each, size_t size)
{
    int64_t bytes, at = arena->used;
    if (!cnn_mul(count, each, &bytes) || !cnn_mul(bytes, (int64_t)size, &bytes) ||
        __builtin_add_overflow(at, bytes, &arena->used) ||
        __builtin_add_overflow(arena->used, CNN_ALIGN - 1, &arena->used)) {
        arena->overflow = true;
        arena->used = at;
        return NULL;
    }
    arena->used = arena->used / CNN_ALIGN * CNN_ALIGN;
    return arena->base ? arena->base + at : NULL;
}
