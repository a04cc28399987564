/* context.cu: what a CUDA error means for us; opening and closing, and what is said of the device. */
#include "harness/cuda/cuda.h"

#include <stdlib.h>
#include <string.h>

/* ---- Errors */

/* After one of these nothing of this process works on the device any more; cudaGetLastError() does not clear them. The
 * youngest stand as numbers, which do not change: older toolkits lack their names. */
static bool is_sticky(cudaError_t error)
{
    switch (static_cast<int>(error)) {
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case 226: /* cudaErrorContained */
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case 721: /* cudaErrorTensorMemoryLeak */
    case 810: /* cudaErrorMpsClientTerminated */
    case 911: /* cudaErrorExternalDevice */
    case cudaErrorUnknown:
        return true;
    default:
        return false;
    }
}

int cuda_call_length(const char *call) { return static_cast<int>(strcspn(call, "(")); }

/* The device does not say which kernel it was. What was launched last may be; of a graph nothing is known. */
static void put_suspect(const cuda_context *c, char *text, size_t size)
{
    if (c->replayed)
        snprintf(
            text, size,
            "it was in a replayed step, which does not tell its kernels apart: --set IMPL.sync_launches=1 (and, in "
            "train and sweep, --no-graph) finds the kernel");
    else
        snprintf(text, size, "the latest kernel was %s", c->last_kernel[0] != '\0' ? c->last_kernel : "none");
}

cnn_status cuda_check(cuda_context *context, cudaError_t error, const char *call, const char *file, int line,
                      cnn_error *err)
{
    char suspect[256];
    size_t left = 0, total = 0;
    if (context->dead) {
        *err = context->cause;
        return err->status;
    }
    if (error == cudaSuccess) return CNN_OK;
    (void)cudaGetLastError(); /* reported here; the next launch's check must not find it again */
    if (error == cudaErrorMemoryAllocation && cudaMemGetInfo(&left, &total) == cudaSuccess)
        return cnn_error_set(err, CNN_OUT_OF_MEMORY, file, line,
                             "%.*s: device %d is out of memory: %zu of %zu bytes free", cuda_call_length(call), call,
                             context->device, left, total);
    if (!is_sticky(error))
        return cnn_error_set(err, error == cudaErrorMemoryAllocation ? CNN_OUT_OF_MEMORY : CNN_DEVICE, file, line,
                             "%.*s: %s (%s)", cuda_call_length(call), call, cudaGetErrorString(error),
                             cudaGetErrorName(error));
    put_suspect(context, suspect, sizeof suspect);
    cnn_error_set(err, CNN_DEVICE, file, line, "%.*s: %s (%s); %s; device %d cannot be used any more by this process",
                  cuda_call_length(call), call, cudaGetErrorString(error), cudaGetErrorName(error), suspect,
                  context->device);
    context->dead = true;
    context->cause = *err;
    return CNN_DEVICE;
}

cnn_status cuda_enter(cuda_context *c, cnn_error *err)
{
    return c->dead ? CUDA_CHECK(c, cudaErrorUnknown, err) : CUDA_CHECK(c, cudaSetDevice(c->device), err);
}

/* ---- Opening */

static cnn_status open_scratch(cuda_context *c, cnn_error *err)
{
    void *memory = NULL;
    const cnn_status status = cuda_memory.alloc(reinterpret_cast<cnn_context *>(c), sizeof *c->scratch, &memory, err);
    c->scratch = static_cast<cuda_scratch *>(memory);
    return status == CNN_OK ? CUDA_CHECK(c, cudaMemsetAsync(c->scratch, 0, sizeof *c->scratch, c->stream), err)
                            : status;
}

/* The first call that makes a context on the device is the stream's: here busy devices and full ones show. */
static cnn_status open_device(cuda_context *c, cnn_error *err)
{
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaSuccess && c->device >= count)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "device %d: there %s only %d CUDA device%s, numbered from 0", c->device,
                        count == 1 ? "is" : "are", count, count == 1 ? "" : "s");
    cnn_status status =
        error == cudaSuccess ? cuda_check_device(c->device, err) : cuda_unavailable(error, c->device, err);
    if (status != CNN_OK) return status;
    error = cudaGetDeviceProperties(&c->properties, c->device);
    if (error == cudaSuccess) error = cudaSetDevice(c->device);
    if (error == cudaSuccess) error = cudaStreamCreateWithFlags(&c->stream, cudaStreamNonBlocking);
    if (error == cudaSuccess) error = cudaEventCreate(&c->start);
    if (error == cudaSuccess) error = cudaEventCreate(&c->stop);
    if (error != cudaSuccess) return cuda_unavailable(error, c->device, err);
    status = cuda_check_code(c->device, err);
    if (status == CNN_OK) status = CUDA_CHECK(c, cuda_clusters_count(c), err);
    return status == CNN_OK ? open_scratch(c, err) : status;
}

cnn_status cuda_context_open(const cnn_open_params *params, size_t bytes, cnn_context **context, cnn_error *err)
{
    *context = NULL;
    cuda_context *c = static_cast<cuda_context *>(calloc(1, bytes));
    if (c == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a context of %zu bytes", bytes);
    c->device = params->device;
    memcpy(c->knobs, params->knobs, sizeof c->knobs);
    const cnn_status status = open_device(c, err);
    if (status != CNN_OK) {
        cuda_context_close(reinterpret_cast<cnn_context *>(c));
        return status;
    }
    *context = reinterpret_cast<cnn_context *>(c);
    return CNN_OK;
}

/* After a sticky error these calls fail, too; there is nobody left to tell. */
void cuda_context_close(cnn_context *context)
{
    cuda_context *c = cuda_context_of(context);
    if (c == NULL) return;
    if (c->stream != NULL) (void)cudaStreamSynchronize(c->stream);
    cuda_lanes_close(c);
    if (c->scratch != NULL) (void)cudaFree(c->scratch);
    if (c->start != NULL) (void)cudaEventDestroy(c->start);
    if (c->stop != NULL) (void)cudaEventDestroy(c->stop);
    if (c->stream != NULL) (void)cudaStreamDestroy(c->stream);
    (void)cudaGetLastError();
    free(c);
}

/* ---- For the record */

#ifdef BENCHCNN_CUDA_EMULATED
static void describe_platform(const cuda_context *, cnn_put_fn *put, void *user) { put(user, "emulated", "yes"); }
#else
static void put_version(cnn_put_fn *put, void *user, const char *key, int version)
{
    char text[32];
    snprintf(text, sizeof text, "%d.%d", version / 1000, version % 1000 / 10);
    put(user, key, text);
}

static void describe_platform(const cuda_context *c, cnn_put_fn *put, void *user)
{
    const cudaDeviceProp *p = &c->properties;
    char text[32];
    int driver = 0, runtime = 0;
    snprintf(text, sizeof text, "%d.%d", p->major, p->minor);
    put(user, "compute_capability", text);
    if (cudaDeviceGetPCIBusId(text, sizeof text, c->device) == cudaSuccess) put(user, "pci_bus_id", text);
    if (cudaDriverGetVersion(&driver) == cudaSuccess) put_version(put, user, "cuda_driver", driver);
    if (cudaRuntimeGetVersion(&runtime) == cudaSuccess) put_version(put, user, "cuda_runtime", runtime);
}
#endif

/* The host waits for every kernel then. Which devices are visible changes no figure. */
static void put_warnings(cnn_put_fn *put, void *user)
{
    const char *blocking = getenv("CUDA_LAUNCH_BLOCKING");
    if (blocking != NULL && blocking[0] != '\0' && strcmp(blocking, "0") != 0)
        put(user, CNN_WARNING "CUDA_LAUNCH_BLOCKING",
            "CUDA_LAUNCH_BLOCKING is set: the host waits for every kernel before it launches the next");
}

void cuda_describe(cnn_context *context, cnn_put_fn *put, void *user)
{
    const cuda_context *c = reinterpret_cast<const cuda_context *>(context);
    const cudaDeviceProp *p = &c->properties;
    char text[32];
    put(user, "gpu", p->name);
    describe_platform(c, put, user);
    snprintf(text, sizeof text, "%d", p->multiProcessorCount);
    put(user, "multiprocessors", text);
    snprintf(text, sizeof text, "%zu", p->totalGlobalMem);
    put(user, "gpu_memory_bytes", text);
    put_warnings(put, user);
}
