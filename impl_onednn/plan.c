/* plan.c: the one gate of impl_onednn, from a request to a plan, and the layouts that activations have. */
#include "loops.h"

#include <stdlib.h>

dnnl_format_tag_t onednn_tag(const onednn_shape *s, cnn_layout layout)
{
    static const dnnl_format_tag_t nchw[] = {dnnl_a, dnnl_ab, dnnl_abc, dnnl_abcd, dnnl_abcde, dnnl_abcdef};
    if (s->n_dims == 4 && layout == CNN_NHWC) return dnnl_acdb;
    if (s->n_dims == 5 && layout == CNN_NHWC) return dnnl_acdeb;
    return nchw[s->n_dims - 1];
}

dnnl_data_type_t onednn_type(const onednn_build *b, cnn_part part)
{
    switch (cnn_part_dtype(b->request->problem->u.type.dtype, part)) {
    case CNN_F16:
        return dnnl_f16;
    case CNN_BF16:
        return dnnl_bf16;
    case CNN_U8:
        return dnnl_u8;
    case CNN_S8:
        return dnnl_s8;
    case CNN_S32:
        return dnnl_s32;
    default:
        return dnnl_f32;
    }
}

onednn_md onednn_activations(onednn_build *b, cnn_part part, const onednn_shape *s, dnnl_format_tag_t tag)
{
    return onednn_layout(b, onednn_type(b, part), s->n_dims, s->dims, tag);
}

static size_t workspace_of(const onednn_program *p) { return p->workspace + p->scratch; }

/* What neither oneDNN nor the loops here have. */
static cnn_status check_kinds(const cnn_problem *p, int64_t id, cnn_error *err)
{
    const char *none = p->op == CNN_OP_ACT && p->u.act.kind == CNN_ACT_SELU                   ? "activation selu"
                       : p->op == CNN_OP_LOSS && p->u.loss.kind == CNN_LOSS_SOFTMAX_QUADRATIC ? "loss softmax_quadratic"
                       : p->op == CNN_OP_OPTIMIZER && p->u.optimizer.kind == CNN_NADAM        ? "optimizer nadam"
                                                                                              : NULL;
    const cnn_dtype dtype = p->u.type.dtype;
    if (dtype == CNN_F64) return CNN_FAIL(err, CNN_UNSUPPORTED, "oneDNN has no f64 on the CPU");
    if (dtype != CNN_F32 && id == ONEDNN_WINOGRAD)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "winograd in %s: impl onednn asks oneDNN for Winograd in f32 only",
                        cnn_dtype_name(dtype));
    if (dtype != CNN_F32 && id == ONEDNN_LOOPS && p->op != CNN_OP_CONCAT)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "%s in %s: the loops of impl onednn compute in f32; impl cpu has it",
                        cnn_op_name(p->op), cnn_dtype_name(dtype));
    return none == NULL ? CNN_OK : CNN_FAIL(err, CNN_UNSUPPORTED, "impl onednn has no %s; impl cpu has it", none);
}

/* What oneDNN has no kernel for shows when it is asked for one. */
cnn_status onednn_supports(cnn_context *context, const cnn_request *r, cnn_error *err)
{
    const cnn_type *t = &r->problem->u.type;
    onednn_program program = {.n_steps = 0};
    if (t->math != CNN_MATH_F32)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "math %s: impl onednn asks oneDNN for strict f32",
                        cnn_math_name(t->math));
    cnn_status status = check_kinds(r->problem, r->algorithm->id, err);
    if (status != CNN_OK || r->algorithm->id == ONEDNN_LOOPS) return status;
    status = onednn_build_program((const onednn_context *)context, r, true, &program, err);
    if (status != CNN_OK) return err->status = CNN_UNSUPPORTED;
    return cnn_is_weighted(r->problem)
               ? cnn_workspace_check(r->knobs[ONEDNN_KNOB_WORKSPACE_LIMIT], workspace_of(&program), err)
               : CNN_OK;
}

cnn_status onednn_prepare(cnn_context *context, cnn_plan *plan, cnn_error *err)
{
    const cnn_request r = {&plan->problem, plan->dir, &plan->algorithm, plan->knobs};
    if (plan->problem.op == CNN_OP_LOSS) plan->workspace_bytes = onednn_loss_workspace(&plan->problem, plan->dir);
    if (plan->algorithm.id == ONEDNN_LOOPS) return CNN_OK;
    onednn_program *program = calloc(1, sizeof *program);
    if (program == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a plan of impl onednn");
    cnn_status status = onednn_build_program((const onednn_context *)context, &r, false, program, err);
    if (status != CNN_OK) {
        onednn_free_program(program);
        free(program);
        return status == CNN_UNSUPPORTED ? (err->status = CNN_DEVICE) : status;
    }
    plan->state = program;
    plan->workspace_bytes = workspace_of(program);
    snprintf(plan->choice, sizeof plan->choice, "%s", program->choice);
    return CNN_OK;
}

void onednn_release(cnn_context *context, cnn_plan *plan)
{
    (void)context;
    onednn_free_program(plan->state);
    free(plan->state);
}
