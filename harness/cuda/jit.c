/* jit.c: NVRTC, found when it is needed. What it makes is kept together with the kernel's name in it, which C++
 * mangles. */
#include "harness/cuda/jit.h"

#include "harness/cuda/jit_cache.h"

#include <dlfcn.h>
#include <nvrtc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The functions that are called, by the types that the toolkit's header gives them. */
#define CALLS(X)                                                                                                       \
    X(nvrtcVersion)                                                                                                    \
    X(nvrtcCreateProgram)                                                                                              \
    X(nvrtcCompileProgram)                                                                                             \
    X(nvrtcDestroyProgram)                                                                                             \
    X(nvrtcAddNameExpression)                                                                                          \
    X(nvrtcGetLoweredName)                                                                                             \
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

enum { TOOLKIT = CUDART_VERSION / 1000, LOG_SHOWN = 340 };

static cnn_status open_nvrtc(nvrtc *n, cnn_error *err)
{
    char name[64];
    (void)snprintf(name, sizeof name, "libnvrtc.so.%d", TOOLKIT);
    n->handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (n->handle == NULL)
        return CNN_FAIL(err, CNN_UNSUPPORTED,
                        "it is compiled by NVRTC of CUDA %d, and %s is not found: install it or add its folder to "
                        "LD_LIBRARY_PATH",
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

cnn_status cuda_jit_available(cnn_error *err)
{
    nvrtc n = {NULL};
    const cnn_status status = open_nvrtc(&n, err);
    close_nvrtc(&n);
    return status;
}

/* ---- Compiling */

/* A message is one line. */
static void squeeze(char *log)
{
    char *to = log;
    for (const char *at = log; *at != '\0'; at++) {
        const bool blank = strchr(" \t\r\n", *at) != NULL;
        if (!blank || (to > log && to[-1] != ' ')) *to++ = blank ? ' ' : *at;
    }
    *to = '\0';
}

/* The first thing that it says has the text's line. */
static cnn_status failed(const nvrtc *n, const cuda_jit_source *s, nvrtcProgram program, nvrtcResult result,
                         cnn_error *err)
{
    size_t size = 0;
    char *log = NULL;
    if (program != NULL && n->nvrtcGetProgramLogSize(program, &size) == NVRTC_SUCCESS && size > 0)
        log = calloc(1, size + 1);
    if (log != NULL && n->nvrtcGetProgramLog(program, log) == NVRTC_SUCCESS) squeeze(log);
    (void)CNN_FAIL(err, result == NVRTC_ERROR_COMPILATION ? s->refused : CNN_DEVICE,
                   "NVRTC cannot compile %.80s: %s: %.*s", s->what, n->nvrtcGetErrorString(result), LOG_SHOWN,
                   log != NULL ? log : "no memory for what it says");
    free(log);
    return err->status;
}

/* The name, a NUL, the code. */
static nvrtcResult take_code(const nvrtc *n, nvrtcProgram program, const char *entry, char **code, size_t *bytes)
{
    const char *lowered;
    size_t size = 0;
    nvrtcResult result = n->nvrtcGetLoweredName(program, entry, &lowered);
    if (result == NVRTC_SUCCESS) result = n->nvrtcGetCUBINSize(program, &size);
    if (result != NVRTC_SUCCESS) return result;
    const size_t name = strlen(lowered) + 1;
    *bytes = name + size;
    if ((*code = malloc(*bytes)) == NULL) return NVRTC_ERROR_OUT_OF_MEMORY;
    memcpy(*code, lowered, name);
    return n->nvrtcGetCUBIN(program, *code + name);
}

/* "-I" and the folder of the toolkit's own headers (cuda_fp16.h, cuda_bf16.h, mma.h); "": they are not here. */
static void toolkit_option(char *option, size_t size)
{
    const char *const roots[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda", "/usr"};
    char header[1024];
    option[0] = '\0';
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        if (roots[i] == NULL || roots[i][0] == '\0') continue;
        if ((size_t)snprintf(header, sizeof header, "%s/include/cuda_fp16.h", roots[i]) >= sizeof header) continue;
        if (access(header, R_OK) != 0) continue;
        (void)snprintf(option, size, "-I%s/include", roots[i]);
        return;
    }
}

static cnn_status compile(const nvrtc *n, const cuda_jit_source *s, int capability, char **code, size_t *bytes,
                          cnn_error *err)
{
    static const char *const empty[] = {""}, *const names[] = {"cuda_runtime.h"};
    char arch[32], include[1024], toolkit[1024];
    const char *options[] = {arch, "--std=c++17", "--fmad=true", include, toolkit};
    nvrtcProgram program = NULL;
    *code = NULL;
    (void)snprintf(arch, sizeof arch, "-arch=sm_%d", capability);
    (void)snprintf(include, sizeof include, "-I%s", s->include != NULL ? s->include : "");
    toolkit_option(toolkit, sizeof toolkit);
    const int count = s->include == NULL ? 3 : toolkit[0] == '\0' ? 4 : 5;
    nvrtcResult result = n->nvrtcCreateProgram(&program, s->text, s->file, 1, empty, names);
    if (result == NVRTC_SUCCESS) result = n->nvrtcAddNameExpression(program, s->entry);
    if (result == NVRTC_SUCCESS) result = n->nvrtcCompileProgram(program, count, options);
    if (result == NVRTC_SUCCESS) result = take_code(n, program, s->entry, code, bytes);
    const cnn_status status = result == NVRTC_SUCCESS ? CNN_OK : failed(n, s, program, result, err);
    if (status != CNN_OK) {
        free(*code);
        *code = NULL;
    }
    if (program != NULL) (void)n->nvrtcDestroyProgram(&program);
    return status;
}

cnn_status cuda_jit_compile(const cuda_jit_source *s, int capability, char **code, size_t *bytes, cnn_error *err)
{
    nvrtc n = {NULL};
    *code = NULL;
    cnn_status status = open_nvrtc(&n, err);
    if (status == CNN_OK) status = compile(&n, s, capability, code, bytes, err);
    close_nvrtc(&n);
    return status;
}

/* ---- Kernels */

static cnn_status load(cuda_context *c, const char *code, size_t bytes, cuda_jit *jit, cnn_error *err)
{
    const size_t name = strnlen(code, bytes);
    if (name + 1 >= bytes) return CNN_FAIL(err, CNN_INTERNAL, "what was compiled before has no code");
    if (cuda_enter(c, err) != CNN_OK) return err->status;
    CUDA_TRY(c, cudaLibraryLoadData(&jit->library, code + name + 1, NULL, NULL, 0, NULL, NULL, 0), err);
    CUDA_TRY(c, cudaLibraryGetKernel(&jit->kernel, jit->library, code), err);
    return CNN_OK;
}

/* All that decides over the code: the compiler, the device, the kernel, the text. To be freed. */
static char *key_of(const nvrtc *n, const cuda_jit_source *s, int capability)
{
    int major = 0, minor = 0;
    (void)n->nvrtcVersion(&major, &minor);
    const size_t size = strlen(s->text) + strlen(s->entry) + 128;
    char *key = malloc(size);
    if (key != NULL)
        (void)snprintf(key, size, "// NVRTC %d.%d sm_%d, %s\n%s", major, minor, capability, s->entry, s->text);
    return key;
}

static cnn_status make(const nvrtc *n, cuda_context *c, const cuda_jit_source *s, cuda_jit *jit, cnn_error *err)
{
    const int capability = c->properties.major * 10 + c->properties.minor;
    size_t bytes = 0;
    char *key = key_of(n, s, capability);
    if (key == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the text of %.80s", s->what);
    char *code = s->kept ? cuda_cache_get(key, &bytes) : NULL;
    cnn_status status = code != NULL ? load(c, code, bytes, jit, err) : CNN_UNAVAILABLE;
    if (status != CNN_OK) { /* or what was kept is of no use */
        free(code);
        cuda_jit_free(jit);
        status = compile(n, s, capability, &code, &bytes, err);
        if (status == CNN_OK) status = load(c, code, bytes, jit, err);
        if (status == CNN_OK && s->kept) cuda_cache_put(key, code, bytes);
    }
    free(code);
    free(key);
    return status;
}

cnn_status cuda_jit_make(cuda_context *c, const cuda_jit_source *s, cuda_jit *jit, cnn_error *err)
{
    nvrtc n = {NULL};
    *jit = (cuda_jit){NULL, NULL};
    cnn_status status = open_nvrtc(&n, err);
    if (status == CNN_OK) status = make(&n, c, s, jit, err);
    close_nvrtc(&n);
    return status;
}

void cuda_jit_free(cuda_jit *jit)
{
    if (jit->library != NULL) (void)cudaLibraryUnload(jit->library);
    *jit = (cuda_jit){NULL, NULL};
}
