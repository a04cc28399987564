/* memory.c: what cheats need beside an honest implementation: results kept by a key, memory of their own, a clock. */
#include "cheat.h"

#include <time.h>

uint64_t hash(const void *p, size_t bytes, uint64_t h)
{
    for (size_t i = 0; i < bytes; i++) h = (h ^ ((const unsigned char *)p)[i]) * 0x100000001B3u;
    return h;
}

uint64_t hash_shape(const cnn_plan *plan)
{
    const cnn_conv_desc d = as_conv(&plan->problem);
    const int64_t v[] = {plan->dir,  plan->problem.op,
                         d.t.layout, d.g,
                         d.mb,       d.ic,
                         d.ih,       d.iw,
                         d.oc,       d.oh,
                         d.ow,       d.kh,
                         d.kw,       d.sh,
                         d.sw,       d.ph,
                         d.pw,       d.dh,
                         d.dw,       d.bias,
                         d.flip};
    return hash(v, sizeof v, 0xCBF29CE484222325u);
}

static struct {
    uint64_t key;
    float *copy;
} memos[256];

bool recall(uint64_t key, const span out[2])
{
    const float *copy = memos[key % 256].copy;
    if (copy == NULL || memos[key % 256].key != key) return false;
    memcpy(out[0].p, copy, (size_t)out[0].n * sizeof(float));
    if (out[1].n > 0) memcpy(out[1].p, copy + out[0].n, (size_t)out[1].n * sizeof(float));
    return true;
}

void remember(uint64_t key, const span out[2])
{
    float *copy = realloc(memos[key % 256].copy, (size_t)(out[0].n + out[1].n + 1) * sizeof(float));
    memos[key % 256].key = key;
    memos[key % 256].copy = copy;
    if (copy == NULL) return;
    memcpy(copy, out[0].p, (size_t)out[0].n * sizeof(float));
    if (out[1].n > 0) memcpy(copy + out[0].n, out[1].p, (size_t)out[1].n * sizeof(float));
}

cnn_status own_alloc(cnn_context *c, size_t bytes, void **p, cnn_error *err)
{
    (void)c;
    *p = aligned_alloc(CNN_ALIGN, (bytes + CNN_ALIGN) / CNN_ALIGN * CNN_ALIGN);
    return *p != NULL ? CNN_OK : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %zu bytes", bytes);
}

static void own_free(cnn_context *c, void *p) { (void)c, free(p); }

cnn_status own_copy(cnn_context *c, void *dst, const void *src, size_t bytes, cnn_error *err)
{
    (void)c, (void)err;
    if (bytes > 0) memmove(dst, src, bytes);
    return CNN_OK;
}

cnn_status own_fill(cnn_context *c, void *dst, int byte, size_t bytes, cnn_error *err)
{
    (void)c, (void)err;
    if (bytes > 0) memset(dst, byte, bytes);
    return CNN_OK;
}

static cnn_status own_available(cnn_context *c, size_t *bytes, cnn_error *err)
{
    (void)c, (void)err;
    *bytes = (size_t)1 << 32;
    return CNN_OK;
}

void own_memory(tables *t)
{
    t->memory = (cnn_memory){.alloc = own_alloc,
                             .free = own_free,
                             .upload = own_copy,
                             .download = own_copy,
                             .copy = own_copy,
                             .fill = own_fill,
                             .available = own_available};
}

double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
