/* memory.c: what cheats need beside an honest implementation: results kept by a key, calls that are noted, memory of
 * their own, a timer, ceilings. */
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

int earlier_calls(const cnn_plan *plan)
{
    static uint64_t shape;
    static int calls;
    calls = shape == hash_shape(plan) ? calls + 1 : 0;
    shape = hash_shape(plan);
    return calls;
}

/* ---- Results that are kept. */
static struct {
    uint64_t key;
    float *copy;
} memos[256];

static bool recall(uint64_t key, const span out[2])
{
    const float *copy = memos[key % 256].copy;
    if (copy == NULL || memos[key % 256].key != key) return false;
    memcpy(out[0].p, copy, (size_t)out[0].n * sizeof(float));
    if (out[1].n > 0) memcpy(out[1].p, copy + out[0].n, (size_t)out[1].n * sizeof(float));
    return true;
}

static void remember(uint64_t key, const span out[2])
{
    float *copy = realloc(memos[key % 256].copy, (size_t)(out[0].n + out[1].n + 1) * sizeof(float));
    memos[key % 256].key = key;
    memos[key % 256].copy = copy;
    if (copy == NULL) return;
    memcpy(copy, out[0].p, (size_t)out[0].n * sizeof(float));
    if (out[1].n > 0) memcpy(copy + out[0].n, out[1].p, (size_t)out[1].n * sizeof(float));
}

cnn_status recalled(uint64_t key, cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const cnn_conv_desc d = as_conv(&plan->problem);
    span in[3], out[2];
    spans(&d, plan->dir, a, in, out);
    if (a->beta == 0 && recall(key, out)) return CNN_OK;
    const cnn_status status = honest_weighted(c, plan, a, err);
    if (a->beta == 0) remember(key, out);
    return status;
}

/* ---- A call that is noted. */
static struct {
    bool pending;
    cnn_plan plan;
    cnn_weighted_args args;
} noted;

bool is_noted(const cnn_plan *plan, const cnn_weighted_args *a)
{
    return noted.pending && a->beta == 0 && memcmp(&noted.args, a, sizeof *a) == 0 &&
           hash_shape(&noted.plan) == hash_shape(plan);
}

void note(const cnn_plan *plan, const cnn_weighted_args *a)
{
    if (!is_noted(plan, a)) do_noted();
    noted.pending = true, noted.plan = *plan, noted.args = *a;
}

void do_noted(void)
{
    cnn_error err;
    if (noted.pending) honest_weighted(NULL, &noted.plan, &noted.args, &err);
    noted.pending = false;
}

void forget_noted(void) { noted.pending = false; }

/* ---- Memory. */
cnn_status own_alloc(cnn_context *c, size_t bytes, void **p, cnn_error *err)
{
    *p = aligned_alloc(CNN_ALIGN, (bytes + CNN_ALIGN) / CNN_ALIGN * CNN_ALIGN);
    return *p != NULL ? CNN_OK : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %zu bytes", bytes);
}

static void own_free(cnn_context *c, void *p) { free(p); }

cnn_status own_copy(cnn_context *c, void *dst, const void *src, size_t bytes, cnn_error *err)
{
    if (bytes > 0) memmove(dst, src, bytes);
    return CNN_OK;
}

cnn_status own_fill(cnn_context *c, void *dst, int byte, size_t bytes, cnn_error *err)
{
    if (bytes > 0) memset(dst, byte, bytes);
    return CNN_OK;
}

static cnn_status own_available(cnn_context *c, size_t *bytes, cnn_error *err)
{
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

/* ---- The clock, ceilings. */
double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double started;
double elapsed(void) { return now() - started; }

static cnn_status start(cnn_context *c, cnn_error *err)
{
    started = now();
    return CNN_OK;
}

void own_timer(tables *t, cnn_status (*stop)(cnn_context *, double *, cnn_error *))
{
    t->timing.start = start, t->timing.stop = stop;
}

static double most; /* a ceiling's amount */

static cnn_status peak_open(cnn_context *c, int index, cnn_peak *peak, cnn_error *err)
{
    *peak = index == 1 ? (cnn_peak){.what = "read", .unit = CNN_PEAK_BYTES, .amount = most}
                       : (cnn_peak){.what = "fma", .unit = CNN_PEAK_FLOPS, .amount = most};
    return CNN_OK;
}

static cnn_status peak_run(cnn_context *c, const cnn_peak *peak, cnn_error *err)
{
    for (volatile int i = 0; i < 100000; i++) {}
    return CNN_OK;
}

static void peak_close(cnn_context *c, cnn_peak *peak) {}

void own_peaks(tables *t, double amount)
{
    most = amount;
    t->peaks = (cnn_peaks){2, peak_open, peak_run, peak_close};
}
