/* tensor.c: impl_cuda_tensor's face: its tables, its gate, from a plan to its launches, and the one struct through
 * which the harness knows it. */
#include "impl_cuda_tensor/tensor.h"

#include "harness/cnn/half.h"
#include "harness/cnn/shape.h"

enum { ID_implicit_gemm, ID_default };

static const cnn_algorithm algorithms[] = {
    {"implicit_gemm", "patches in shared memory, warpgroup products: f16, bf16; f32 as three of TF32, or one",
     CUDA_CONVS | CUDA_OP(FC), CNN_ALGO_DETERMINISTIC | CNN_ALGO_EPILOGUES | CNN_ALGO_FUSES, 1, ID_implicit_gemm},
    {"default", "the one kernel of an operation without a choice", CUDA_POINTWISE_OPS, CNN_ALGO_DETERMINISTIC, 1,
     ID_default},
};

static const cnn_knob knobs[] = {
#define KNOB CUDA_KNOB_ROW
#define CONTEXT_KNOB CUDA_CONTEXT_KNOB_ROW
#define STEPS CUDA_STEPS_ROW
#include "harness/cuda/knobs.inc"
#include "knobs.inc"
#undef KNOB
#undef CONTEXT_KNOB
#undef STEPS
};

static cnn_status open_context(const cnn_open_params *params, cnn_context **context, cnn_error *err)
{
    return cuda_context_open(params, sizeof(cuda_context), context, err);
}

/* ---- Plans. */

/* Code for wgmma runs on no other capability, older or newer. */
static cnn_status check_capability(const cuda_context *c, cnn_error *err)
{
    const struct cudaDeviceProp *p = &c->properties;
    if (p->major == 9 && p->minor == 0) return CNN_OK;
    return CNN_FAIL(err, CNN_UNSUPPORTED,
                    "its warpgroup instructions (wgmma) are those of compute capability 9.0, and this device has %d.%d",
                    p->major, p->minor);
}

static cnn_status settle(const cuda_context *c, const cnn_request *r, cutensor_plan *m, cnn_error *err)
{
    cnn_status status = check_capability(c, err);
    if (status == CNN_OK && r->problem->u.type.dtype == CNN_F64)
        status = CNN_FAIL(err, CNN_UNSUPPORTED, "dtype f64: the tensor cores are used for f32, f16 and bf16 here");
    if (status == CNN_OK) status = cuda_check_epilogue(r->problem, cuda_epilogue_rest(r->problem), err);
    if (status == CNN_OK) status = cutensor_plan_make(c, r, m, err);
    return status == CNN_OK ? cnn_workspace_check(r->knobs[CUDA_KNOB_WORKSPACE_LIMIT], m->bytes, err) : status;
}

static cnn_status supports(cnn_context *context, const cnn_request *r, cnn_error *err)
{
    cutensor_plan m;
    cnn_status status = cuda_check_served(r, err);
    if (status != CNN_OK) return status;
    if (!cuda_is_weighted(r->problem)) return cuda_pointwise_supports(r, err);
    status = cuda_check_number(r->problem, true, err);
    return status == CNN_OK ? settle((const cuda_context *)context, r, &m, err) : status;
}

static cnn_status prepare(cnn_context *context, cnn_plan *plan, cnn_error *err)
{
    const cnn_request request = cuda_request_of(plan);
    cutensor_plan m;
    if (!cuda_is_weighted(&plan->problem)) return cuda_pointwise_prepare(plan, err);
    const cnn_status status = settle((const cuda_context *)context, &request, &m, err);
    if (status != CNN_OK) return status;
    plan->workspace_bytes = m.bytes;
    return cuda_keep(plan, &m, sizeof m, err);
}

/* ---- Running. */

static cutensor_finish finish_of(const cnn_plan *plan, const cnn_weighted_args *args)
{
    const void *from = cuda_epilogue_from(plan, args), *out = plan->dir == CNN_FWD ? args->y : args->dx;
    const cuda_line line = cuda_epilogue_line(&plan->problem);
    return (cutensor_finish){.away = from ? (int64_t)((uintptr_t)from - (uintptr_t)out) : 0,
                             .adds = from != NULL,
                             .acts = line.kind == CNN_ACT_IDENTITY ? CUTENSOR_NO_ACT
                                     : line.kind == CNN_ACT_RELU   ? CUTENSOR_RELU
                                                                   : CUTENSOR_LINE,
                             .down = (float)line.down,
                             .up = (float)line.up,
                             .top = (float)line.top};
}

/* Of a plan that repacks its input: where that lies then. */
static const void *repacked(const cutensor_planes *p, const void *lies, const char *space)
{
    return p->blocks > 0 ? space + p->at : lies;
}

static cnn_status repack(cuda_context *c, const cnn_plan *plan, const cnn_weighted_args *args, cnn_error *err)
{
    const cutensor_repack *r = &((const cutensor_plan *)plan->state)->repack;
    char *space = args->workspace;
    if (r->x.blocks + r->dy.blocks == 0) return CNN_OK;
    const cutensor_copy x = {&r->x, args->x, space + r->x.at}, dy = {&r->dy, args->dy, space + r->dy.at};
    const bool half = cnn_is_half(cnn_part_dtype(plan->problem.u.type.dtype, CNN_PART_FACTOR));
    return cutensor_to_rows_run(c, half, &x, &dy, err);
}

static cnn_status run_phases(cuda_context *c, const cutensor_plan *plan, const cutensor_operands *of, char *space,
                             cnn_error *err)
{
    cutensor_plan m = *plan;
    cutensor_operands o = *of;
    for (int32_t i = 0; i < plan->phases; i++) {
        m.forward = plan->phase[i].forward;
        m.blocks = plan->phase[i].blocks;
        m.shared_bytes = plan->phase[i].shared_bytes;
        o.flags = (unsigned *)(space + plan->phase[i].flags_at);
        const cnn_status status = cutensor_forward_run(c, &m, &o, err);
        if (status != CNN_OK) return status;
    }
    return CNN_OK;
}

static cnn_status run_sums(cuda_context *c, const cnn_plan *plan, const cnn_weighted_args *args, cutensor_operands o,
                           cnn_error *err)
{
    const cutensor_plan m = *(const cutensor_plan *)plan->state;
    char *space = args->workspace;
    const bool forward = plan->dir == CNN_FWD;
    const cnn_dtype dtype = plan->problem.u.type.dtype;
    if (m.is_few)
        return cutensor_few_run(c, &m.few, dtype, o.in, args->w, forward ? args->b : NULL, o.out, &o.finish, err);
    if (m.is_direct) {
        const cutensor_factors factors = {args->w, o.in, forward ? args->b : NULL, o.out, o.finish};
        return cutensor_direct_run(c, &m.direct, &factors, err);
    }
    if (m.is_matrix) {
        const cutensor_matrices matrices = {
            .in = o.in, .other = args->w, .bias = o.bias, .out = o.out, .finish = o.finish};
        return cutensor_matrix_run(c, &m.matrix, dtype, &matrices, err);
    }
    cnn_status status = CNN_OK;
    if (m.clears > 0 && args->beta == 0) status = CUDA_CHECK(c, cudaMemsetAsync(o.out, 0, m.clears, c->stream), err);
    if (status == CNN_OK)
        status = cutensor_weights_run(c, &m.weights, dtype, args->w, space + m.weights_at, space + m.flags_at, err);
    if (status != CNN_OK) return status;
    return m.phases > 0 ? run_phases(c, &m, &o, space, err) : cutensor_forward_run(c, &m, &o, err);
}

/* What sums are added to lies where they go: copied there, where that is NHWC in the workspace. */
static cnn_status run_forward(cuda_context *c, const cnn_plan *plan, const cnn_weighted_args *args, cnn_error *err)
{
    const cutensor_plan *m = plan->state;
    char *space = args->workspace;
    const bool forward = plan->dir == CNN_FWD;
    const cutensor_planes *p = &m->repack.out;
    cutensor_operands o = {.in = forward ? repacked(&m->repack.x, args->x, space)
                                         : repacked(&m->repack.dy, args->dy, space),
                           .bias = args->b,
                           .out = forward ? args->y : args->dx,
                           .weights = (const unsigned char *)space + m->weights_at,
                           .partials = (float *)(space + m->partials_at),
                           .flags = (unsigned *)(space + m->flags_at),
                           .finish = finish_of(plan, args)};
    const void *from = cuda_epilogue_from(plan, args);
    const cutensor_copy added = {p, from, space + p->at}, back = {p, space + p->at, o.out};
    cnn_status status = repack(c, plan, args, err);
    if (p->blocks == 0) return status == CNN_OK ? run_sums(c, plan, args, o, err) : status;
    if (status == CNN_OK && from) status = cutensor_to_rows_run(c, true, &added, NULL, err);
    o.out = added.to;
    o.finish.away = 0;
    if (status == CNN_OK) status = run_sums(c, plan, args, o, err);
    return status == CNN_OK ? cutensor_to_planes_run(c, &back, err) : status;
}

static cnn_status run_weights(cuda_context *c, const cnn_plan *plan, const cnn_weighted_args *args, cnn_error *err)
{
    const cutensor_plan *m = plan->state;
    const bool flip = plan->problem.op != CNN_OP_FC && plan->problem.u.conv.flip;
    if (m->is_few) {
        cutensor_few few = m->few;
        few.add = args->beta != 0;
        return cutensor_few_weights_run(c, &few, plan->problem.u.type.dtype, args->x, args->dy, args->dw, err);
    }
    if (m->is_direct) {
        const cutensor_factors factors = {
            args->dy, args->x, NULL, args->dw, {.adds = args->beta != 0, .acts = CUTENSOR_NO_ACT}};
        return cutensor_direct_run(c, &m->direct, &factors, err);
    }
    cnn_status status = repack(c, plan, args, err);
    if (status != CNN_OK) return status;
    char *partials = (char *)args->workspace + m->partials_at;
    const cutensor_gradients o = {.x = repacked(&m->repack.x, args->x, args->workspace),
                                  .dy = repacked(&m->repack.dy, args->dy, args->workspace),
                                  .partials = (float *)partials,
                                  .dw = args->dw,
                                  .db = args->db,
                                  .add = args->beta != 0};
    if (m->is_matrix) {
        cutensor_matrix matrix = m->matrix;
        const cutensor_matrices matrices = {.in = o.dy, .other = o.x, .out = args->dw, .partials = (float *)partials};
        matrix.add = args->beta != 0;
        return cutensor_matrix_run(c, &matrix, plan->problem.u.type.dtype, &matrices, err);
    }
    if (m->is_product) return cutensor_product_run(c, &m->product, &o, err);
    status = cutensor_gradient_run(c, m, &o, flip, err);
    return status == CNN_OK && !m->gradient.whole ? cutensor_sum_run(c, m, &o, flip, err) : status;
}

static cnn_status run_gradient(cuda_context *c, const cnn_plan *plan, const cnn_weighted_args *args, cnn_error *err)
{
    const cutensor_plan *m = plan->state;
    const cnn_status status = run_weights(c, plan, args, err);
    const bool done = m->is_product || m->gradient.sums_bias;
    if (status != CNN_OK || !args->db || done) return status;
    cuda_bias bias = m->bias;
    bias.knobs = plan->knobs;
    return cuda_bias_gradient(c, &bias, args->dy, args->db, args->beta, err);
}

/* `args` with what is folded in the place of what is not. */
static cnn_status fold(cuda_context *c, const cnn_plan *plan, cnn_weighted_args *args, cnn_error *err)
{
    const cutensor_fold *f = &((const cutensor_plan *)plan->state)->fold;
    char *space = args->workspace;
    if (f->places == 0) return CNN_OK;
    const void *weights = plan->dir == CNN_FWD ? args->w : args->beta != 0 ? args->dw : NULL;
    const cnn_status status = cutensor_fold_run(c, f, args->x, weights, space, err);
    args->x = space + f->x_at;
    args->w = space + f->w_at;
    args->dw = space + f->w_at;
    return status;
}

static cnn_status run(cnn_context *context, const cnn_plan *plan, const cnn_weighted_args *args, cnn_error *err)
{
    cuda_context *c = cuda_context_of(context);
    const cutensor_plan *m = plan->state;
    cnn_weighted_args of = *args;
    cnn_status status = fold(c, plan, &of, err);
    if (status == CNN_OK)
        status = plan->dir == CNN_BWD_W ? run_gradient(c, plan, &of, err) : run_forward(c, plan, &of, err);
    if (plan->dir == CNN_BWD_W) {
        const bool folded = status == CNN_OK && m->fold.places > 0;
        return folded ? cutensor_unfold_run(c, &m->fold, args->workspace, args->dw, err) : status;
    }
    cuda_pass pass = cuda_pass_of(&plan->problem, plan->knobs, args);
    pass.left = cuda_epilogue_rest(&plan->problem);
    return status == CNN_OK ? cuda_epilogue_pass(c, &pass, err) : status;
}

const cnn_impl *cnn_impl_cuda_tensor(void);
const cnn_impl *cnn_impl_cuda_tensor(void)
{
    static const cnn_operations ops = {
        .struct_size = sizeof(cnn_operations),
        CNN_WEIGHTED_SLOTS(run),
        CUDA_POINTWISE_SLOTS,
    };
    static const cnn_impl impl = {
        .abi_version = CNN_ABI_VERSION,
        .struct_size = sizeof(cnn_impl),
        .name = "cuda_tensor",
        .doc = "convolution on the tensor cores of compute capability 9.0: f16, bf16, f32 at full accuracy",
        CUDA_COMMON_SLOTS,
        .algorithms = algorithms,
        .n_algorithms = sizeof algorithms / sizeof *algorithms,
        .knobs = knobs,
        .n_knobs = CUTENSOR_KNOB_COUNT,
        .open = open_context,
        .close = cuda_context_close,
        .describe = cuda_describe,
        .supports = supports,
        .prepare = prepare,
        .release = cuda_release,
        .ops = &ops,
        .dtypes = 1u << CNN_F32 | 1u << CNN_F64 | 1u << CNN_F16 | 1u << CNN_BF16 | 1u << CNN_F16_F16_F32 |
                  1u << CNN_BF16_BF16_F32,
    };
    return &impl;
}
