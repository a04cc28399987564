/* conv.c: convolution and FC by cuDNN's legacy calls: the gate, preparing, running.
 *
 * A run is up to four launches: the weights turned, cuDNN's own, the gradient of the weights turned back, the bias. */
#include "impl_cudnn/conv.h"

/* The same gate for all: descriptors are made and cuDNN is asked for the workspace, as `prepare` does, and thrown away.
 */
cnn_status conv_supports(cudnn_context *c, const cnn_request *r, cnn_error *err)
{
    conv_state *state;
    if (cudnn_check_tail(r, err) != CNN_OK) return err->status;
    if (conv_choose(c, r, false, &state, err) != CNN_OK) return err->status = CNN_UNSUPPORTED;
    conv_close(state);
    return CNN_OK;
}

/* Turned weights live in the workspace for one call; their gradient goes back from there. */
static cnn_status turn(cudnn_context *c, const conv_state *s, bool back, const void *from, double beta, void *to,
                       cnn_error *err)
{
    const cudnn_factor one = cudnn_factor_of(s->d.t.dtype, 1.0), add = cudnn_factor_of(s->d.t.dtype, beta);
    const cudnnTensorDescriptor_t source = back ? s->w_theirs : s->w_ours, target = back ? s->w_ours : s->w_theirs;
    CUDNN_TRY(c, cudnnTransformTensor(c->handle, &one, source, from, &add, target, to), err);
    return cuda_phase(&c->cuda, "weights", err);
}

cnn_status conv_run(cudnn_context *c, const cnn_plan *plan, const cnn_weighted_args *args, cnn_error *err)
{
    const conv_state *s = plan->state;
    unsigned char *workspace = args->workspace;
    if (workspace != NULL) workspace += (CONV_ALIGN - (uintptr_t)workspace % CONV_ALIGN) % CONV_ALIGN;
    void *turned = s->w_ours != NULL ? workspace + s->weights_offset : NULL;
    const bool back = turned != NULL && s->dir == CNN_BWD_W;
    cnn_weighted_args theirs = *args;
    theirs.workspace = s->cudnn_bytes > 0 ? workspace : NULL;
    cnn_status status = CNN_OK;
    if (back) {
        theirs.dw = turned;
        theirs.beta = 0;
    } else if (turned != NULL) {
        theirs.w = turned;
        status = turn(c, s, false, args->w, 0, turned, err);
    }
    if (status == CNN_OK) status = conv_call_run(c, s, &theirs, s->cudnn_bytes, err);
    if (status == CNN_OK) status = cuda_phase(&c->cuda, "conv", err);
    if (status == CNN_OK && back) status = turn(c, s, true, turned, args->beta, args->dw, err);
    cnn_conv_desc plane = s->d; /* to what follows, depths are more rows */
    plane.oh *= plane.od;
    return status == CNN_OK ? cudnn_tail_run(c, s->knobs, &plane, s->dir, args, err) : status;
}

/* Runs the plan once: an algorithm may fail where cuDNN said that it would not, and the first run of one loads and
 * allocates, which later runs must not. Without memory to try it in, it is not tried. */
static cnn_status try_once(cudnn_context *c, const cnn_request *r, const cnn_plan *plan, cnn_error *err)
{
    cudnn_arena a;
    cnn_error no_memory;
    if (cudnn_arena_open(c, r, &a, &no_memory) != CNN_OK) return CNN_OK;
    cnn_status status = CNN_OK;
    if (cudnn_arena_workspace(c, &a, plan->workspace_bytes, &no_memory) == CNN_OK) {
        status = conv_run(c, plan, &a.args, err);
        if (status == CNN_OK) status = cuda_sync((cnn_context *)c, err);
        if (status != CNN_OK && !c->cuda.dead) status = err->status = CNN_UNSUPPORTED;
    }
    cudnn_arena_close(c, &a);
    return status;
}

cnn_status conv_prepare(cudnn_context *c, cnn_plan *plan, cnn_error *err)
{
    const cnn_request request = cuda_request_of(plan);
    conv_state *state;
    char name[CNN_NAME_MAX];
    cnn_status status = cudnn_check_tail(&request, err);
    if (status == CNN_OK) status = conv_choose(c, &request, true, &state, err);
    if (status != CNN_OK) return status;
    plan->state = state;
    plan->workspace_bytes = state->workspace_bytes;
    if (plan->algorithm.id == CONV_FIND || plan->algorithm.id == CONV_HEURISTIC) {
        conv_algo_name(plan->dir, state->algo, name, sizeof name);
        cudnn_put_choice(plan, name, state->as_launched);
    }
    conv_settled(plan->dir, state->algo, state->d.kh, state->d.kw, &plan->algorithm);
    status = try_once(c, &request, plan, err);
    if (status == CNN_OK) return CNN_OK;
    conv_close(state);
    plan->state = NULL;
    return status;
}

void conv_release(cnn_plan *plan) { conv_close(plan->state); }
