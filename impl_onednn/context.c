/* context.c: an engine and a stream of oneDNN, the threads, and what there is to tell of the library. */
#include "onednn.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* The number of threads can be set through OpenMP only. */
cnn_status onednn_probe(cnn_error *err)
{
    const dnnl_version_t *v = dnnl_version();
    if (v->major != DNNL_VERSION_MAJOR)
        return CNN_FAIL(err, CNN_UNAVAILABLE, "built for oneDNN %d, and oneDNN %d.%d.%d was loaded: build again",
                        DNNL_VERSION_MAJOR, v->major, v->minor, v->patch);
    if (v->cpu_runtime != DNNL_RUNTIME_OMP)
        return CNN_FAIL(err, CNN_UNAVAILABLE,
                        "oneDNN %d.%d.%d runs its threads by %s: install one with the CPU runtime OMP", v->major,
                        v->minor, v->patch, dnnl_runtime2str(v->cpu_runtime));
    return CNN_OK;
}

int onednn_threads_begin(const onednn_context *c)
{
    const int before = omp_get_max_threads();
    if (before != c->threads) omp_set_num_threads(c->threads);
    return before;
}

void onednn_threads_end(const onednn_context *c, int before)
{
    if (before != c->threads) omp_set_num_threads(before);
}

const char *onednn_isa(void)
{
    static const char prefix[] = "cpu_isa_";
    const char *name = dnnl_cpu_isa2str(dnnl_get_effective_cpu_isa());
    return strncmp(name, prefix, sizeof prefix - 1) == 0 ? name + sizeof prefix - 1 : name;
}

bool onednn_has_half(void)
{
    const dnnl_cpu_isa_t isa = dnnl_get_effective_cpu_isa();
    return isa != dnnl_cpu_isa_sse41 && isa != dnnl_cpu_isa_avx && isa != dnnl_cpu_isa_avx2 &&
           isa != dnnl_cpu_isa_avx2_vnni;
}

bool onednn_has_vnni(void)
{
    const dnnl_cpu_isa_t isa = dnnl_get_effective_cpu_isa();
    return isa != dnnl_cpu_isa_sse41 && isa != dnnl_cpu_isa_avx && isa != dnnl_cpu_isa_avx2 &&
           isa != dnnl_cpu_isa_avx512_core;
}

cnn_status onednn_fail(dnnl_status_t status, const char *what, cnn_error *err)
{
    const dnnl_version_t *v = dnnl_version();
    if (status == dnnl_out_of_memory) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "oneDNN has no memory for %s", what);
    return CNN_FAIL(err,
                    status == dnnl_unimplemented || status == dnnl_invalid_arguments ? CNN_UNSUPPORTED : CNN_DEVICE,
                    "oneDNN %d.%d.%d says of %s: %s", v->major, v->minor, v->patch, what, dnnl_status2str(status));
}

cnn_status onednn_open(const cnn_open_params *params, cnn_context **context, cnn_error *err)
{
    onednn_context *c = calloc(1, sizeof *c);
    if (c == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a context of impl onednn");
    c->threads = params->threads;
    dnnl_status_t made = dnnl_engine_create(&c->engine, dnnl_cpu, 0);
    if (made == dnnl_success) made = dnnl_stream_create(&c->stream, c->engine, dnnl_stream_default_flags);
    if (made == dnnl_success) {
        *context = (cnn_context *)c;
        return CNN_OK;
    }
    onednn_close((cnn_context *)c);
    return onednn_fail(made, "an engine on the CPU", err);
}

void onednn_close(cnn_context *context)
{
    onednn_context *c = (onednn_context *)context;
    if (c == NULL) return;
    if (c->stream != NULL) (void)dnnl_stream_destroy(c->stream);
    if (c->engine != NULL) (void)dnnl_engine_destroy(c->engine);
    free(c);
}

/* What decides, in the place of the processor and of --threads, over oneDNN's kernels and its threads. How many threads
 * there are, and the arithmetic, the environment does not decide. */
static void put_variables(cnn_put_fn *put, void *user)
{
    static const struct {
        const char *name, *what;
    } variables[] = {
        {"ONEDNN_MAX_CPU_ISA", "oneDNN leaves instructions of the processor unused"},
        {"DNNL_MAX_CPU_ISA", "oneDNN leaves instructions of the processor unused"},
        {"ONEDNN_CPU_ISA_HINTS", "it tunes oneDNN, in place of what the processor is"},
        {"DNNL_CPU_ISA_HINTS", "it tunes oneDNN, in place of what the processor is"},
        {"ONEDNN_VERBOSE", "oneDNN prints within what is timed"},
        {"DNNL_VERBOSE", "oneDNN prints within what is timed"},
        {"OMP_DYNAMIC", "OpenMP may take fewer threads than asked for"},
        {"OMP_THREAD_LIMIT", "OpenMP may take fewer threads than asked for"},
        {"OMP_WAIT_POLICY", "it decides whether OpenMP's idle threads spin, in the runtime's place"},
        {"GOMP_SPINCOUNT", "it decides whether OpenMP's idle threads spin, in the runtime's place"},
        {"OMP_PROC_BIND", "it ties OpenMP's threads to processors"},
        {"OMP_PLACES", "it ties OpenMP's threads to processors"},
        {"GOMP_CPU_AFFINITY", "it ties OpenMP's threads to processors"},
    };
    char key[64], text[200];
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *name = variables[i].name, *value = getenv(name);
        if (value == NULL || value[0] == '\0' || (strstr(name, "VERBOSE") != NULL && strcmp(value, "0") == 0)) continue;
        snprintf(key, sizeof key, CNN_WARNING "%s", name);
        snprintf(text, sizeof text, "%s=%.64s is set: %s", name, value, variables[i].what);
        put(user, key, text);
    }
}

void onednn_describe(cnn_context *context, cnn_put_fn *put, void *user)
{
    const onednn_context *c = (const onednn_context *)context;
    const dnnl_version_t *v = dnnl_version();
    char text[64];
    snprintf(text, sizeof text, "%d", c->threads);
    put(user, "threads", text);
    snprintf(text, sizeof text, "%d.%d.%d", v->major, v->minor, v->patch);
    put(user, "onednn", text);
    put(user, "onednn_runtime", dnnl_runtime2str(v->cpu_runtime));
    put(user, "isa", dnnl_cpu_isa2str(dnnl_get_effective_cpu_isa()));
    put_variables(put, user);
}
