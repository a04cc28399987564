/* cuda.c: a kernel on a GPU, or emulated: what harness/cuda gives every implementation, and one launch. */
#include "impl_kernel/cuda.h"

#include <string.h>

static const cnn_knob cuda_knobs[] = {
#define KNOB CUDA_KNOB_ROW
#define CONTEXT_KNOB CUDA_CONTEXT_KNOB_ROW
#define STEPS CUDA_STEPS_ROW
#include "harness/cuda/knobs.inc"
#undef KNOB
#undef CONTEXT_KNOB
#undef STEPS
};

static kernel_context *context_of(cnn_context *context) { return (kernel_context *)context; }

#ifdef BENCHCNN_CUDA_EMULATED
static cnn_status open_kernel(kernel_context *c, cnn_error *err)
{
    (void)c, (void)err; /* it was compiled before the run began */
    return CNN_OK;
}

static void close_kernel(kernel_context *c) { (void)c; }
#else
/* Whether the text is all that decides over the code. */
static bool is_alone(const char *text)
{
    static const char word[] = "include";
    static const char *const known[] = {"<cuda_runtime.h>", "<cuda_fp16.h>", "<cuda_bf16.h>"}; /* the compiler's own */
    for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word)) {
        const char *what = at + strlen(word) + strspn(at + strlen(word), " \t");
        bool found = false;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            found = found || strncmp(what, known[i], strlen(known[i])) == 0;
        if (!found) return false;
    }
    return true;
}

static cnn_status open_kernel(kernel_context *c, cnn_error *err)
{
    const kernel *k = c->k;
    char folder[sizeof k->file];
    kernel_folder(k, folder, sizeof folder);
    const cuda_jit_source source = {.what = k->spec.kernel,
                                    .file = k->file,
                                    .text = k->source,
                                    .entry = k->function,
                                    .include = folder,
                                    .kept = is_alone(k->source),
                                    .refused = CNN_BAD_ARGUMENT};
    return cuda_jit_make(&c->cuda, &source, &c->jit, err);
}

static void close_kernel(kernel_context *c) { cuda_jit_free(&c->jit); }
#endif

static void close_cuda(cnn_context *context)
{
    close_kernel(context_of(context));
    cuda_context_close(context);
}

static cnn_status open_cuda(const cnn_open_params *params, cnn_context **context, cnn_error *err)
{
    cnn_status status = cuda_context_open(params, sizeof(kernel_context), context, err);
    if (status != CNN_OK) return status;
    kernel_context *c = context_of(*context);
    c->k = (const kernel *)params->impl;
    c->threads = params->threads;
    status = open_kernel(c, err);
    if (status == CNN_OK) return CNN_OK;
    close_cuda(*context);
    *context = NULL;
    return status;
}

static void describe(cnn_context *context, cnn_put_fn *put, void *user)
{
    cuda_describe(context, put, user);
    kernel_describe(context_of(context)->k, put, user);
}

/* ---- Plans. */

static cnn_status check_extent(const char *what, const int64_t size[3], const int most[3], cnn_error *err)
{
    for (int i = 0; i < 3; i++)
        if (size[i] < 1 || size[i] > most[i])
            return CNN_FAIL(err, CNN_UNSUPPORTED, "%s is %lld in %c, but must be from 1 to %d", what,
                            (long long)size[i], "xyz"[i], most[i]);
    return CNN_OK;
}

static cnn_status check_device(const struct cudaDeviceProp *device, const kernel_plan *p, cnn_error *err)
{
    cnn_status status = check_extent("--grid", p->grid, device->maxGridSize, err);
    if (status == CNN_OK) status = check_extent("--block", p->block, device->maxThreadsDim, err);
    if (status != CNN_OK) return status;
    if (p->block[0] * p->block[1] * p->block[2] > device->maxThreadsPerBlock)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "--block: %lld threads, more than the device's %d",
                        (long long)(p->block[0] * p->block[1] * p->block[2]), device->maxThreadsPerBlock);
    if (p->shared < 0 || (uint64_t)p->shared > device->sharedMemPerBlockOptin)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "--shared is %lld bytes, but must be from 0 to %zu", (long long)p->shared,
                        device->sharedMemPerBlockOptin);
    return CNN_OK;
}

static cnn_status supports(cnn_context *context, const cnn_request *request, cnn_error *err)
{
    const kernel_context *c = context_of(context);
    kernel_plan plan;
    const cnn_status status = kernel_evaluate(c->k, request, request->knobs + CUDA_KNOB_COUNT, c->threads, &plan, err);
    return status == CNN_OK ? check_device(&c->cuda.properties, &plan, err) : status;
}

static cnn_status prepare(cnn_context *context, cnn_plan *plan, cnn_error *err)
{
    const kernel_context *c = context_of(context);
    return kernel_prepare(c->k, plan, plan->knobs + CUDA_KNOB_COUNT, c->threads, err);
}

/* ---- Runs. */

/* y += x, as the operation `add` in place does it. */
static cnn_status add(cnn_context *context, const cnn_plan *plan, void *y, const void *x, int64_t count, cnn_error *err)
{
    cnn_plan sum = *plan;
    const cnn_join_args args = {.x = {y, x}, .y = y};
    const cnn_type *t = &plan->problem.u.type;
    const cnn_dtype dtype = cnn_part_dtype(t->dtype, CNN_PART_RESULT);
    const cnn_add_desc desc = {.t = {dtype, dtype, t->layout, t->math}, .mb = 1, .ic = 1, .ih = 1, .iw = count};
    sum.problem.op = CNN_OP_ADD;
    sum.problem.u.add = desc;
    return cuda_add_fwd(context, &sum, &args, err);
}

static cnn_status call(cnn_context *context, const kernel *k, const kernel_plan *plan, void *const *arrays,
                       const double *reals, cnn_error *err)
{
    (void)k;
    return kernel_launch(context_of(context), plan, arrays, reals, err);
}

static cnn_status run(cnn_context *context, const cnn_plan *plan, const cnn_weighted_args *args, cnn_error *err)
{
    const kernel_device device = {cuda_memory.copy, add, call};
    return kernel_run(&device, context, context_of(context)->k, plan, args, err);
}

/* A name that every CUDA implementation has as a knob is no value of the kernel's own. */
void kernel_leave_cuda_knobs(kernel_spec *spec)
{
    int kept = 0;
    for (int i = 0; i < spec->n_knobs; i++) {
        bool taken = false;
        for (int j = 0; j < CUDA_KNOB_COUNT; j++) taken = taken || strcmp(spec->knobs[i].name, cuda_knobs[j].name) == 0;
        if (!taken) spec->knobs[kept++] = spec->knobs[i];
    }
    spec->n_knobs = kept;
}

void kernel_fill_cuda(kernel *k)
{
    _Static_assert((int)CUDA_KNOB_COUNT <= (int)KERNEL_DEVICE_KNOBS_MAX, "room for the knobs of harness/cuda");
    memcpy(k->knobs, cuda_knobs, sizeof cuda_knobs);
    k->n_device_knobs = CUDA_KNOB_COUNT;
    k->ops = (cnn_operations){.struct_size = sizeof(cnn_operations), CNN_WEIGHTED_SLOTS(run)};
    k->impl = (cnn_impl){CUDA_COMMON_SLOTS,    .open = open_cuda,  .close = close_cuda,      .describe = describe,
                         .supports = supports, .prepare = prepare, .release = kernel_release};
}
