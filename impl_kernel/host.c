/* host.c: a kernel that is a C function: called on the calling thread, in host memory. */
#include "impl_kernel/parts.h"

#include <stdlib.h>
#include <string.h>

struct cnn_context {
    const kernel *k;
    int threads;
};

static cnn_status open_host(const cnn_open_params *params, cnn_context **context, cnn_error *err)
{
    *context = malloc(sizeof **context);
    if (*context == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a context");
    **context = (cnn_context){(const kernel *)params->impl, params->threads};
    return CNN_OK;
}

static void close_host(cnn_context *context) { free(context); }

static void describe(cnn_context *context, cnn_put_fn *put, void *user) { kernel_describe(context->k, put, user); }

static cnn_status supports(cnn_context *context, const cnn_request *request, cnn_error *err)
{
    kernel_plan plan;
    return kernel_evaluate(context->k, request, request->knobs, context->threads, &plan, err);
}

static cnn_status prepare(cnn_context *context, cnn_plan *plan, cnn_error *err)
{
    return kernel_prepare(context->k, plan, plan->knobs, context->threads, err);
}

static cnn_status copy(cnn_context *context, void *dst, const void *src, size_t bytes, cnn_error *err)
{
    (void)context, (void)err;
    memcpy(dst, src, bytes);
    return CNN_OK;
}

static cnn_status add(cnn_context *context, const cnn_plan *plan, void *y, const void *x, int64_t count, cnn_error *err)
{
    (void)context, (void)err;
    if (plan->problem.u.type.dtype == CNN_F64)
        for (int64_t i = 0; i < count; i++) ((double *)y)[i] += ((const double *)x)[i];
    else
        for (int64_t i = 0; i < count; i++) ((float *)y)[i] += ((const float *)x)[i];
    return CNN_OK;
}

static cnn_status call(cnn_context *context, const kernel *k, const kernel_plan *plan, void *const *arrays,
                       const double *reals, cnn_error *err)
{
    long long sizes[KERNEL_ARGS_MAX];
    (void)context, (void)err;
    for (int i = 0; i < k->n_args; i++) sizes[i] = plan->sizes[i];
    k->call(arrays, sizes, reals);
    return CNN_OK;
}

static cnn_status run(cnn_context *context, const cnn_plan *plan, const cnn_weighted_args *args, cnn_error *err)
{
    static const kernel_device host = {copy, add, call};
    return kernel_run(&host, context, context->k, plan, args, err);
}

void kernel_fill_host(kernel *k)
{
    k->ops = (cnn_operations){.struct_size = sizeof(cnn_operations), CNN_WEIGHTED_SLOTS(run)};
    k->impl = (cnn_impl){.device_kind = CNN_DEVICE_CPU,
                         .open = open_host,
                         .close = close_host,
                         .describe = describe,
                         .supports = supports,
                         .prepare = prepare,
                         .release = kernel_release};
}
