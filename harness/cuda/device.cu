/* device.cu: whether there is a device that can be used, and if not, why, and what to do about it. */
#include "harness/cuda/cuda.h"

cnn_status cuda_unavailable(cudaError_t error, int device, cnn_error *err)
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
cnn_status cuda_check_device(int device, cnn_error *err)
{
    int mode = 0, major = 0, minor = 0, least = built_for[0];
    cudaError_t error = cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, device);
    if (error == cudaSuccess) error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    if (error == cudaSuccess) error = cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
    if (error != cudaSuccess) return cuda_unavailable(error, device, err);
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
    if (error != cudaSuccess) return cuda_unavailable(error, 0, err);
    if (count == 0) return cuda_unavailable(cudaErrorNoDevice, 0, err);
    cnn_status status = cuda_check_device(0, err);
    for (int device = 1; device < count && status != CNN_OK; device++)
        if (cuda_check_device(device, &other) == CNN_OK) status = CNN_OK;
    return status;
}

static __global__ void loaded_at_open() {}

/* The driver takes code that was compiled for the device, or compiles PTX for it. */
cnn_status cuda_check_code(int device, cnn_error *err)
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
        return cuda_unavailable(error, device, err);
    }
}
