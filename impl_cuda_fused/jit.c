/* jit.c: NVRTC, found when it is needed: the program runs without it. */
#include "impl_cuda_fused/jit.h"

#include "impl_cuda_fused/jit_cache.h"

#include <dlfcn.h>
#include <nvrtc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The functions that are called, by the types that the toolkit's header gives them. */
#define CALLS(X)                                                                                                       \
    X(nvrtcVersion)                                                                                                    \
    X(nvrtcCreateProgram)                                                                                              \
    X(nvrtcCompileProgram)                                                                                             \
    X(nvrtcDestroyProgram)                                                                                             \
    X(nvrtcGetProgramLogSize)                                                                                          \
    X(nvrtcGetProgramLog)                                                                                              \
    X(nvrtcGetCUBINSize)                                                                                               \
    X(nvrtcGetCUBIN)                                                                                                   \
    X(nvrtcGetErrorString)

typedef struct nvrtc {
    void *handle;
#define X(name) __typeof__(&name) name;
    CALLS(X)
#undef X
} nvrtc;

enum { TOOLKIT = CUDART_VERSION / 1000, LOG_SHOWN = 300 };

static cnn_status open_nvrtc(nvrtc *n, cnn_error *err)
{
    char name[64];
    (void)snprintf(name, sizeof name, "libnvrtc.so.%d", TOOLKIT);
    n->handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (n->handle == NULL)
        return CNN_FAIL(
            err, CNN_UNSUPPORTED,
            "cuda_fused:v2 compiles its kernels for the network with NVRTC of CUDA %d, and %s is not found: "
            "install it or add its folder to LD_LIBRARY_PATH; or take v1",
            TOOLKIT, name);
#define X(call)                                                                                                        \
    *(void **)&n->call = dlsym(n->handle, #call);                                                                      \
    if (n->call == NULL) return CNN_FAIL(err, CNN_UNSUPPORTED, "%s has no %s", name, #call);
    CALLS(X)
#undef X
    return CNN_OK;
}

static void close_nvrtc(nvrtc *n)
{
    if (n->handle != NULL) (void)dlclose(n->handle);
}

cnn_status fused_jit_available(cnn_error *err)
{
    nvrtc n = {NULL};
    const cnn_status status = open_nvrtc(&n, err);
    close_nvrtc(&n);
    return status;
}

/* ---- Compiling */

static cnn_status failed(const nvrtc *n, nvrtcProgram program, nvrtcResult result, cnn_error *err)
{
    size_t size = 0;
    char *log = NULL;
    if (program != NULL && n->nvrtcGetProgramLogSize(program, &size) == NVRTC_SUCCESS && size > 0)
        log = calloc(1, size + 1);
    if (log != NULL) (void)n->nvrtcGetProgramLog(program, log);
    (void)CNN_FAIL(err, CNN_DEVICE, "NVRTC cannot compile the kernels of cuda_fused: %s: %.*s",
                   n->nvrtcGetErrorString(result), LOG_SHOWN, log != NULL ? log : "no memory for what it says");
    free(log);
    return err->status;
}

static cnn_status compile(const nvrtc *n, const char *source, const char *arch, void **code, size_t *bytes,
                          cnn_error *err)
{
    const char *options[] = {arch, "--std=c++17", "--fmad=true"};
    nvrtcProgram program = NULL;
    nvrtcResult result = n->nvrtcCreateProgram(&program, source, "cuda_fused.cu", 0, NULL, NULL);
    *code = NULL;
    if (result == NVRTC_SUCCESS) result = n->nvrtcCompileProgram(program, sizeof options / sizeof *options, options);
    if (result == NVRTC_SUCCESS) result = n->nvrtcGetCUBINSize(program, bytes);
    if (result == NVRTC_SUCCESS && (*code = malloc(*bytes)) == NULL) result = NVRTC_ERROR_OUT_OF_MEMORY;
    if (result == NVRTC_SUCCESS) result = n->nvrtcGetCUBIN(program, *code);
    const cnn_status status = result == NVRTC_SUCCESS ? CNN_OK : failed(n, program, result, err);
    if (status != CNN_OK) free(*code);
    if (program != NULL) (void)n->nvrtcDestroyProgram(&program);
    return status;
}

static cnn_status load(cuda_context *c, const void *code, const char *entry, fused_jit *jit, cnn_error *err)
{
    if (cuda_enter(c, err) != CNN_OK) return err->status;
    CUDA_TRY(c, cudaLibraryLoadData(&jit->library, code, NULL, NULL, 0, NULL, NULL, 0), err);
    CUDA_TRY(c, cudaLibraryGetKernel(&jit->kernel, jit->library, entry), err);
    return CNN_OK;
}

/* All that decides over the code: the compiler, the device, the text. To be freed. */
static char *key_of(const nvrtc *n, const char *arch, const char *text)
{
    int major = 0, minor = 0;
    (void)n->nvrtcVersion(&major, &minor);
    const size_t size = strlen(fused_device_text) + strlen(text) + 128;
    char *key = malloc(size);
    if (key != NULL)
        (void)snprintf(key, size, "// NVRTC %d.%d %s\n%s\n%s", major, minor, arch, fused_device_text, text);
    return key;
}

cnn_status fused_jit_make(cuda_context *c, const char *text, const char *entry, fused_jit *jit, cnn_error *err)
{
    nvrtc n = {NULL};
    char arch[32], *source = NULL;
    size_t bytes = 0;
    void *code = NULL;
    *jit = (fused_jit){NULL, NULL};
    (void)snprintf(arch, sizeof arch, "-arch=sm_%d%d", c->properties.major, c->properties.minor);
    cnn_status status = open_nvrtc(&n, err);
    if (status != CNN_OK) goto done;
    source = key_of(&n, arch, text);
    if (source == NULL) {
        status = CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the text of cuda_fused's kernels");
        goto done;
    }
    code = fused_cache_get(source, &bytes);
    if (code != NULL && load(c, code, entry, jit, err) == CNN_OK) goto done;
    free(code);
    fused_jit_free(jit);
    status = compile(&n, source, arch, &code, &bytes, err);
    if (status != CNN_OK) {
        code = NULL;
        goto done;
    }
    status = load(c, code, entry, jit, err);
    if (status == CNN_OK) fused_cache_put(source, code, bytes);
done:
    free(code);
    free(source);
    close_nvrtc(&n);
    return status;
}

void fused_jit_free(fused_jit *jit)
{
    if (jit->library != NULL) (void)cudaLibraryUnload(jit->library);
    *jit = (fused_jit){NULL, NULL};
}
