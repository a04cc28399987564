/* context.cu: choosing a device, what it can do, and what a CUDA error means for us. */
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

/* Why there is no device to be had, and what to do about it. */
static cnn_status unavailable(cudaError_t error, int device, cnn_error *err)
{
    int driver = 0, runtime = 0;
    (void)cudaGetLastError();
    switch (error) {
    case cudaErrorNoDevice:
        return CNN_FAIL(err, CNN_UNAVAILABLE,
                        "no CUDA device: none in this machine, or hidden (CUDA_VISIBLE_DEVICES, container)");
    case cudaErrorInsufficientDriver:
        (void)cudaDriverGetVersion(&driver);
        (void)cudaRuntimeGetVersion(&runtime);
        if (driver == 0)
            return CNN_FAIL(err, CNN_UNAVAILABLE, "no NVIDIA driver: this program needs one for CUDA %d.%d",
                            runtime / 1000, runtime % 1000 / 10);
        return CNN_FAIL(err, CNN_UNAVAILABLE,
                        "the NVIDIA driver is too old: it serves CUDA %d.%d, this program needs %d.%d; update the "
                        "driver, or build with an older toolkit",
                        driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
    case cudaErrorDevicesUnavailable:
        return CNN_FAIL(err, CNN_UNAVAILABLE,
                        "CUDA device %d is busy or closed: another process has it for itself, or its compute mode "
                        "forbids contexts (nvidia-smi -q -d COMPUTE)",
                        device);
    case cudaErrorMemoryAllocation:
        return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "CUDA device %d has no memory left for a context: %s", device,
                        "perhaps another process holds it (nvidia-smi)");
    default:
        return CNN_FAIL(err, CNN_UNAVAILABLE, "CUDA device %d: %s (%s)", device, cudaGetErrorString(error),
                        cudaGetErrorName(error));
    }
}

/* ---- Whether a device can be used */

/* The architectures that nvcc compiled this file for: 900 is 9.0. Other compilers do not say. */
#ifdef __CUDA_ARCH_LIST__
static const int built_for[] = {__CUDA_ARCH_LIST__};
#else
static const int built_for[] = {0};
#endif
enum { BUILT_FOR = sizeof built_for / sizeof built_for[0] };

/* `why` is the runtime's word for it, or "". */
static cnn_status no_code(int device, const char *why, cnn_error *err)
{
    char list[128] = "";
    int major = 0, minor = 0;
    size_t used = 0;
    (void)cudaGetLastError();
    (void)cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    (void)cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
    for (int i = 0; i < BUILT_FOR && used < sizeof list - 8; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%d.%d", i > 0 ? ", " : "", built_for[i] / 100,
                                 built_for[i] / 10 % 10);
    return CNN_FAIL(
        err, CNN_UNAVAILABLE,
        "CUDA device %d has compute capability %d.%d, and this program, built for %s, holds no code that it "
        "and its driver can run%s%s%s: build again with -DCMAKE_CUDA_ARCHITECTURES=%d%d (or native)",
        device, major, minor, list, why[0] != '\0' ? " (" : "", why, why[0] != '\0' ? ")" : "", major, minor);
}

/* What is known of a device without a context on it, which takes long to make and may take memory from others. Code
 * runs on its own and on younger architectures, if at all. */
static cnn_status check_device(int device, cnn_error *err)
{
    int mode = 0, major = 0, minor = 0, least = built_for[0];
    cudaError_t error = cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, device);
    if (error == cudaSuccess) error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    if (error == cudaSuccess) error = cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
    if (error != cudaSuccess) return unavailable(error, device, err);
    if (mode == cudaComputeModeProhibited)
        return CNN_FAIL(
            err, CNN_UNAVAILABLE,
            "CUDA device %d is closed: its compute mode is prohibited (nvidia-smi -i %d -c DEFAULT opens it)", device,
            device);
    for (int i = 1; i < BUILT_FOR; i++)
        if (built_for[i] < least) least = built_for[i];
    return 100 * major + 10 * minor >= least ? CNN_OK : no_code(device, "", err);
}

/* One usable device is enough; where there is none, the first one's reason. */
cnn_status cuda_probe(cnn_error *err)
{
    cnn_error other;
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess) return unavailable(error, 0, err);
    if (count == 0) return unavailable(cudaErrorNoDevice, 0, err);
    cnn_status status = check_device(0, err);
    for (int device = 1; device < count && status != CNN_OK; device++)
        if (check_device(device, &other) == CNN_OK) status = CNN_OK;
    return status;
}

static __global__ void loaded_at_open() {}

/* Whether the program's kernels can be loaded: the driver takes those compiled for the device, or compiles their PTX.
 */
static cnn_status check_code(int device, cnn_error *err)
{
    cudaFuncAttributes attributes;
    const cudaError_t error = cudaFuncGetAttributes(&attributes, loaded_at_open);
    switch (error) {
    case cudaSuccess:
        return CNN_OK;
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidPtx:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorJitCompilerNotFound:
    case cudaErrorJitCompilationDisabled:
        return no_code(device, cudaGetErrorString(error), err);
    default:
        return unavailable(error, device, err);
    }
}

/* ---- Opening */

static void read_limits(const cudaDeviceProp *p, cuda_limits *l)
{
    snprintf(l->name, sizeof l->name, "%.*s", (int)sizeof l->name - 1, p->name);
    l->major = p->major;
    l->minor = p->minor;
    l->multiprocessors = p->multiProcessorCount;
    l->warp = p->warpSize;
    l->block_threads = p->maxThreadsPerBlock;
    for (int i = 0; i < 3; i++) {
        l->block_dim[i] = p->maxThreadsDim[i];
        l->grid_dim[i] = p->maxGridSize[i];
    }
    l->shared_bytes = p->sharedMemPerBlock;
    l->shared_bytes_optin = p->sharedMemPerBlockOptin;
    l->l2_bytes = (size_t)p->l2CacheSize;
    l->memory_bytes = p->totalGlobalMem;
}

static cnn_status open_scratch(cuda_context *c, cnn_error *err)
{
    void *memory = NULL;
    const cnn_status status = cuda_alloc(reinterpret_cast<cnn_context *>(c), sizeof *c->scratch, &memory, err);
    c->scratch = static_cast<cuda_scratch *>(memory);
    return status == CNN_OK ? CUDA_CHECK(c, cudaMemset(c->scratch, 0, sizeof *c->scratch), err) : status;
}

/* The first call that makes a context on the device is the stream's: here busy devices and full ones show. */
static cnn_status open_device(cuda_context *c, cnn_error *err)
{
    cudaDeviceProp properties;
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaSuccess && c->device >= count)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "device %d: there %s only %d CUDA device%s, numbered from 0", c->device,
                        count == 1 ? "is" : "are", count, count == 1 ? "" : "s");
    cnn_status status = error == cudaSuccess ? check_device(c->device, err) : unavailable(error, c->device, err);
    if (status != CNN_OK) return status;
    error = cudaGetDeviceProperties(&properties, c->device);
    if (error == cudaSuccess) error = cudaSetDevice(c->device);
    if (error == cudaSuccess) error = cudaStreamCreateWithFlags(&c->stream, cudaStreamNonBlocking);
    if (error == cudaSuccess) error = cudaEventCreate(&c->start);
    if (error == cudaSuccess) error = cudaEventCreate(&c->stop);
    if (error != cudaSuccess) return unavailable(error, c->device, err);
    read_limits(&properties, &c->limits);
    status = check_code(c->device, err);
    return status == CNN_OK ? open_scratch(c, err) : status;
}

cnn_status cuda_context_open(const cnn_open_params *params, const cnn_knob *knobs, int n_knobs, size_t bytes,
                             cnn_context **context, cnn_error *err)
{
    *context = NULL;
    if (n_knobs > CUDA_KNOBS_MAX || bytes < sizeof(cuda_context))
        return CNN_FAIL(err, CNN_INTERNAL, "%d knobs (at most %d), a context of %zu bytes (at least %zu)", n_knobs,
                        (int)CUDA_KNOBS_MAX, bytes, sizeof(cuda_context));
    cuda_context *c = static_cast<cuda_context *>(calloc(1, bytes));
    if (c == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a context of %zu bytes", bytes);
    c->device = params->device;
    for (int i = 0; i < n_knobs; i++) c->knobs[i] = params->knobs != NULL ? params->knobs[i] : knobs[i].def;
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
    cuda_context *c = reinterpret_cast<cuda_context *>(context);
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
    const cuda_limits *l = &c->limits;
    char text[32];
    int driver = 0, runtime = 0;
    snprintf(text, sizeof text, "%d.%d", l->major, l->minor);
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
    const cuda_limits *l = &c->limits;
    char text[32];
    put(user, "gpu", l->name);
    describe_platform(c, put, user);
    snprintf(text, sizeof text, "%d", l->multiprocessors);
    put(user, "multiprocessors", text);
    snprintf(text, sizeof text, "%zu", l->memory_bytes);
    put(user, "gpu_memory_bytes", text);
    put_warnings(put, user);
}
