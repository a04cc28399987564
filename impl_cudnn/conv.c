/* conv.c: convolution and FC by cuDNN's legacy calls: the gate, preparing, running.
 *
 * A run is up to four launches: the weights turned, cuDNN's own, the gradient of the weights turned back, the bias. */
#include "impl_cudnn/conv.h"

#include "impl_cudnn/arena.h"
#include "impl_cudnn/conv_choose.h"
#include "impl_cudnn/conv_find.h"

/* The same gate for all: descriptors are made and cuDNN is asked for the workspace, as `prepare` does, and thrown away.
 * What `find` would measure need not be measured to know that there is something. */
static cnn_status choose(cudnn_context *c, const cnn_request *r, bool search, conv_state **state, cnn_error *err)
{
    const int64_t id = r->algorithm->id;
    *state = NULL;
    if (id == CONV_FIND && search) return conv_choose_find(c, r, state, err);
    if (id == CONV_FIND || id == CONV_HEURISTIC) return conv_choose_heuristic(c, r, state, err);
    const int algo = conv_algo_of(id, r->dir);
    if (algo == CONV_NONE) {
        static const char *const what[CNN_DIR_COUNT] = {"forward", "backward data", "backward weights"};
        return CNN_FAIL(err, CNN_UNSUPPORTED, "cuDNN has no algorithm %s for %s convolution", r->algorithm->name,
                        what[r->dir]);
    }
    return conv_choose_named(c, r, algo, state, err);
}

cnn_status conv_supports(cudnn_context *c, const cnn_request *r, cnn_error *err)
{
    conv_state *state;
    if (choose(c, r, false, &state, err) != CNN_OK) return err->status = CNN_UNSUPPORTED;
    conv_close(state);
    return CNN_OK;
}

/* Turned weights live in the workspace for one call. */
static cnn_status turn_weights(cudnn_context *c, const conv_state *s, const void *ours, void *theirs, cnn_error *err)
{
    const cudnn_factor one = cudnn_factor_of(s->d.t.dtype, 1.0), zero = cudnn_factor_of(s->d.t.dtype, 0.0);
    CUDNN_TRY(c, cudnnTransformTensor(c->handle, &one, s->w_ours, ours, &zero, s->w_theirs, theirs), err);
    return cuda_phase(&c->cuda, "weights", err);
}

static cnn_status turn_back(cudnn_context *c, const conv_state *s, const void *theirs, double beta, void *ours,
                            cnn_error *err)
{
    const cudnn_factor one = cudnn_factor_of(s->d.t.dtype, 1.0), add = cudnn_factor_of(s->d.t.dtype, beta);
    CUDNN_TRY(c, cudnnTransformTensor(c->handle, &one, s->w_theirs, theirs, &add, s->w_ours, ours), err);
    return cuda_phase(&c->cuda, "weights", err);
}

/* Not cuDNN's: its cudnnConvolutionBackwardBias() took 220 to 250 us for 1000 images of 20 channels on an H200. */
static cnn_status run_bias(cudnn_context *c, const conv_state *s, const cnn_weighted_args *args, cnn_error *err)
{
    const cuda_bias bias = cudnn_bias_of(s->knobs, &s->d.t, s->d.mb, s->d.oc, s->d.oh * s->d.ow);
    if (s->dir == CNN_FWD) return cuda_bias_add(&c->cuda, &bias, args->b, args->y, err);
    return cuda_bias_gradient(&c->cuda, &bias, args->dy, args->db, args->beta, err);
}

cnn_status conv_run(cudnn_context *c, const cnn_plan *plan, const cnn_weighted_args *args, cnn_error *err)
{
    const conv_state *s = plan->state;
    unsigned char *workspace = args->workspace;
    if (workspace != NULL) workspace += (CONV_ALIGN - (uintptr_t)workspace % CONV_ALIGN) % CONV_ALIGN;
    void *turned = s->w_ours != NULL ? workspace + s->weights_offset : NULL;
    const bool weights_out = s->dir == CNN_BWD_W;
    conv_buffers buffers = {.x = args->x, .w = args->w, .dy = args->dy, .y = args->y, .dx = args->dx, .dw = args->dw};
    buffers.workspace = s->cudnn_bytes > 0 ? workspace : NULL;
    buffers.workspace_bytes = s->cudnn_bytes;
    cnn_status status = CNN_OK;
    if (turned != NULL && weights_out) buffers.dw = turned;
    if (turned != NULL && !weights_out) {
        buffers.w = turned;
        status = turn_weights(c, s, args->w, turned, err);
    }
    if (status == CNN_OK) status = conv_call_run(c, s, &buffers, turned != NULL && weights_out ? 0.0 : args->beta, err);
    if (status == CNN_OK) status = cuda_phase(&c->cuda, "conv", err);
    if (status == CNN_OK && turned != NULL && weights_out) status = turn_back(c, s, turned, args->beta, args->dw, err);
    if (status == CNN_OK && s->d.bias && s->dir != CNN_BWD_D) status = run_bias(c, s, args, err);
    return status;
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
    cnn_status status = choose(c, &request, true, &state, err);
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
