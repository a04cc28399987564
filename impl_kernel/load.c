/* load.c: the code that was compiled of a kernel. */
#include "impl_kernel/parts.h"

#include "harness/base/text.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

void kernel_built(kernel *k, const char *compiler, uint64_t checksum)
{
    char shown[sizeof k->compiler];
    snprintf(k->compiler, sizeof k->compiler, "%s", cnn_visible(compiler, shown, sizeof shown));
    cnn_append(k->label, sizeof k->label, ", %016llx", (unsigned long long)checksum);
}

void kernel_describe(const kernel *k, cnn_put_fn *put, void *user)
{
    put(user, "kernel_source", k->label);
    put(user, "kernel_compiler", k->compiler);
}

static cnn_status find(const kernel *k, const char *name, void **symbol, cnn_error *err)
{
    *symbol = dlsym(k->handle, name);
    if (*symbol != NULL) return CNN_OK;
    return CNN_FAIL(err, CNN_UNAVAILABLE, "--kernel %.200s: %.280s", k->spec.kernel, dlerror());
}

static cnn_status load_host(kernel *k, cnn_error *err)
{
    union {
        void *object;
        kernel_call *function;
    } symbol; /* what POSIX means by dlsym() and C has no cast for */
    const cnn_status status = find(k, "benchcnn_call", &symbol.object, err);
    if (status == CNN_OK) k->call = symbol.function;
    return status;
}

static cnn_status load_emulated(kernel *k, cnn_error *err)
{
    union {
        void *object;
        kernel_emulated_launch *function;
    } symbol;
    void *itself;
    cnn_status status = find(k, "benchcnn_call", &symbol.object, err);
    if (status == CNN_OK) status = find(k, "benchcnn_kernel", &itself, err);
    if (status != CNN_OK) return status;
    k->emulated.launch = symbol.function;
    memcpy(&k->emulated.kernel, itself, sizeof k->emulated.kernel);
    return CNN_OK;
}

cnn_status kernel_load(kernel *k, const char *path, cnn_error *err)
{
    if (kernel_compiled_by(k) == KERNEL_NVRTC) return kernel_read_file(path, &k->source, err);
    k->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (k->handle == NULL) return CNN_FAIL(err, CNN_UNAVAILABLE, "--kernel %.200s: %.280s", k->spec.kernel, dlerror());
    return kernel_is_cuda(k) ? load_emulated(k, err) : load_host(k, err);
}

void kernel_free(kernel *k)
{
    if (k != NULL && k->handle != NULL) (void)dlclose(k->handle);
    if (k != NULL) free(k->source);
    free(k);
}
