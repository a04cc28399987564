/* context.c: can cuDNN run here; opening and closing its handle; what its statuses mean for us. */
#include "impl_cudnn/context.h"

#include "harness/cnn/half.h"
#include "harness/cnn/shape.h"

#include <string.h>

/* ---- Can it run here? */

/* cuDNN 9 is one small library that loads the others when they are first needed; the checks make it load them. */
static cnn_status check_library(cnn_error *err)
{
    const size_t version = cudnnGetVersion();
    if (version / 10000 != CUDNN_MAJOR || version < CUDNN_MAJOR * 10000 + CUDNN_MINOR * 100)
        return CNN_FAIL(err, CNN_UNAVAILABLE,
                        "built for cuDNN %d.%d, but the library found is %zu.%zu.%zu: install %d.%d or newer of %d.x, "
                        "or build again",
                        CUDNN_MAJOR, CUDNN_MINOR, version / 10000, version / 100 % 100, version % 100, CUDNN_MAJOR,
                        CUDNN_MINOR, CUDNN_MAJOR);
    const struct {
        const char *name;
        cudnnStatus_t status;
    } parts[] = {{"graph", cudnnGraphVersionCheck()}, {"ops", cudnnOpsVersionCheck()}, {"cnn", cudnnCnnVersionCheck()}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (parts[i].status != CUDNN_STATUS_SUCCESS)
            return CNN_FAIL(err, CNN_UNAVAILABLE,
                            "cuDNN's library libcudnn_%s is missing or of another version than libcudnn (%s): install "
                            "all of one cuDNN",
                            parts[i].name, cudnnGetErrorString(parts[i].status));
    return CNN_OK;
}

cnn_status cudnn_probe(cnn_error *err)
{
    const cnn_status status = cuda_probe(err);
    return status == CNN_OK ? check_library(err) : status;
}

/* ---- Opening and closing. */

static cnn_status follow(cuda_context *context, bool second, cnn_error *err)
{
    cudnn_context *c = (cudnn_context *)context;
    CUDNN_TRY(c, cudnnSetStream(c->handle, context->stream), err);
    return cuda_blas_follow(context, &c->blas, second, err);
}

static cnn_status open_handles(cudnn_context *c, cnn_error *err)
{
    enum { BLAS_WORKSPACE_MIB = 32 };
    c->cuda.follow = follow;
    CUDNN_TRY(c, cudnnCreate(&c->handle), err);
    CUDNN_TRY(c, cudnnSetStream(c->handle, c->cuda.stream), err);
    return cuda_blas_open(&c->cuda, &c->blas, (size_t)BLAS_WORKSPACE_MIB << 20, err);
}

cnn_status cudnn_context_open(const cnn_open_params *params, cnn_context **context, cnn_error *err)
{
    cnn_status status = cuda_context_open(params, sizeof(cudnn_context), context, err);
    if (status != CNN_OK) return status;
    if ((status = open_handles((cudnn_context *)*context, err)) == CNN_OK) return CNN_OK;
    cudnn_context_close(*context);
    *context = NULL;
    return status;
}

void cudnn_context_close(cnn_context *context)
{
    cudnn_context *c = (cudnn_context *)context;
    if (c != NULL) cuda_blas_close(&c->blas);
    if (c != NULL && c->handle != NULL) (void)cudnnDestroy(c->handle);
    cuda_context_close(context);
}

void cudnn_describe(cnn_context *context, cnn_put_fn *put, void *user)
{
    const size_t version = cudnnGetVersion(), cudart = cudnnGetCudartVersion();
    char text[32];
    cuda_describe(context, put, user);
    snprintf(text, sizeof text, "%zu.%zu.%zu", version / 10000, version / 100 % 100, version % 100);
    put(user, "cudnn", text);
    snprintf(text, sizeof text, "%zu.%zu", cudart / 1000, cudart % 1000 / 10);
    put(user, "cudnn_cuda", text);
}

/* ---- Errors. */

cnn_status cudnn_status_of(cudnnStatus_t status)
{
    if (status == CUDNN_STATUS_SUCCESS) return CNN_OK;
    if (status == CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED ||
        status == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED)
        return CNN_OUT_OF_MEMORY;
    const int category = CUDNN_STATUS_CATEGORY((int)status);
    if (category == CUDNN_STATUS_NOT_SUPPORTED || category == CUDNN_STATUS_BAD_PARAM) return CNN_UNSUPPORTED;
    return category == CUDNN_STATUS_EXECUTION_FAILED ? CNN_DEVICE : CNN_INTERNAL;
}

void cudnn_reason(char reason[CUDNN_REASON_MAX])
{
    reason[0] = '\0';
    cudnnGetLastErrorString(reason, CUDNN_REASON_MAX);
    reason[CUDNN_REASON_MAX - 1] = '\0';
    for (char *c = reason; *c != '\0'; c++)
        if (*c == '\n' || *c == '\r' || *c == '\t') *c = ' ';
}

/* The knob sync_launches: what a call launched is waited for, so that its fault names the call. A plan of the graph API
 * has named its engine. */
static cnn_status wait_if_asked(cudnn_context *context, const char *call, const char *file, int line, cnn_error *err)
{
    cuda_context *c = &context->cuda;
    if (c->knobs[CUDA_KNOB_SYNC_LAUNCHES] == 0) return CNN_OK;
    const cudaError_t error = cudaStreamSynchronize(c->stream);
    if (error != cudaSuccess && strncmp(call, "cudnnBackend", strlen("cudnnBackend")) != 0)
        snprintf(c->last_kernel, sizeof c->last_kernel, "one of %.*s", cuda_call_length(call), call);
    return cuda_check(c, error, call, file, line, err);
}

cnn_status cudnn_check(cudnn_context *context, cudnnStatus_t status, const char *call, const char *file, int line,
                       cnn_error *err)
{
    char reason[CUDNN_REASON_MAX];
    if (status == CUDNN_STATUS_SUCCESS && !context->cuda.dead) return wait_if_asked(context, call, file, line, err);
    /* cuDNN hides the CUDA error that made an execution fail; a sticky one must still kill the context. */
    if (context->cuda.dead || CUDNN_STATUS_CATEGORY((int)status) == CUDNN_STATUS_EXECUTION_FAILED) {
        const cnn_status cuda = cuda_check(&context->cuda, cudaGetLastError(), call, file, line, err);
        if (cuda != CNN_OK) return cuda;
    }
    cudnn_reason(reason);
    return cnn_error_set(err, cudnn_status_of(status), file, line, "%.*s: %s%s%s", cuda_call_length(call), call,
                         cudnnGetErrorString(status), reason[0] != '\0' ? ": " : "", reason);
}

cnn_status cudnn_check_tail(const cnn_request *r, cnn_error *err)
{
    const cnn_problem *p = r->problem;
    const bool bias = p->op == CNN_OP_FC ? p->u.fc.bias : p->u.conv.bias; /* of three dimensions, too */
    if (r->dir != CNN_FWD || !cnn_is_half(p->u.type.dtype)) return CNN_OK;
    if (!bias) return cuda_check_epilogue(p, cnn_epilogue_of(p), err);
    return CNN_FAIL(err, CNN_UNSUPPORTED,
                    "%s: the bias is added to the stored result in a call of its own, which rounds it a second time; "
                    "--no-bias leaves it out, and graph:find may find an engine that adds it",
                    cnn_dtype_name(p->u.type.dtype));
}

cnn_status cudnn_check_sums(const cnn_request *r, cnn_error *err)
{
    const cnn_type *t = &r->problem->u.type;
    if (r->dir != CNN_BWD_D || r->problem->op == CNN_OP_FC || t->dtype != CNN_F16 || t->math != CNN_MATH_F32)
        return CNN_OK;
    return CNN_FAIL(
        err, CNN_UNSUPPORTED,
        "f16: cuDNN keeps sums of some data gradients in f16 (seen with few channels); --math f16 allows it");
}

cnn_status cudnn_check_half(cnn_dtype dtype, bool transforms, bool deterministic, const char *name, cnn_error *err)
{
    if (!cnn_is_half(dtype) || (!transforms && deterministic)) return CNN_OK;
    if (transforms)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "%s: what %s keeps of its transforms may be of 16 bits, and sums are f32",
                        cnn_dtype_name(dtype), name);
    return CNN_FAIL(err, CNN_UNSUPPORTED,
                    "%s: %s adds with atomics to what is stored, which would round at each addition",
                    cnn_dtype_name(dtype), name);
}

cnn_status cudnn_tail_run(cudnn_context *c, const int64_t *knobs, const cnn_conv_desc *d, cnn_dir dir,
                          const cnn_weighted_args *args, cnn_error *err)
{
    const int threads = (int)knobs[CUDNN_KNOB_BIAS_THREADS], parts = (int)knobs[CUDNN_KNOB_BIAS_PARTS];
    const cuda_bias bias = {d->t, d->mb, d->oc, d->oh * d->ow, threads, parts, knobs};
    const cuda_pass pass = {d->epilogue, d->t.dtype, d->mb * d->oc * d->oh * d->ow, args->z, args->y, knobs};
    cnn_status status = CNN_OK;
    if (dir == CNN_FWD && d->bias) status = cuda_bias_add(&c->cuda, &bias, args->b, args->y, err);
    if (dir == CNN_FWD && status == CNN_OK) return cuda_epilogue_pass(&c->cuda, &pass, err);
    if (dir != CNN_BWD_W || !d->bias) return status;
    return cuda_bias_gradient(&c->cuda, &bias, args->dy, args->db, args->beta, err);
}
