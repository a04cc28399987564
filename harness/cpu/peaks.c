/* peaks.c: the list of ceilings, their memory, and a run of one by all threads. */
#include "peaks.h"

#include "limits.h"
#include "peaks_table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* A run takes about a millisecond, beside which waking the threads is nothing. */
enum { ROUNDS = 200000, TILE_ROUNDS = ROUNDS / 8, CACHE_PASS_BYTES = 16 << 20 };
static const size_t least_memory = (size_t)64 << 20;

typedef enum peak_kind { FMA_F32, FMA_F64, DOT_BYTES, DOT_BF16, READ, COPY, TRIAD } peak_kind;

typedef struct peak_row {
    peak_kind kind;
    const char *what;
    cpu_isa isa; /* of FMA */
    int level;   /* of READ: the cache; 0: memory */
} peak_row;

static const peak_row rows[CPU_PEAK_COUNT] = {
    {FMA_F32, "fma", CPU_ISA_BASE, 0},     {FMA_F32, "fma", CPU_ISA_AVX2, 0},    {FMA_F32, "fma", CPU_ISA_AVX512, 0},
    {FMA_F64, "fma", CPU_ISA_BASE, 0},     {FMA_F64, "fma", CPU_ISA_AVX2, 0},    {FMA_F64, "fma", CPU_ISA_AVX512, 0},
    {DOT_BYTES, "dot", CPU_ISA_AVX512, 0}, {DOT_BF16, "dot", CPU_ISA_AVX512, 0}, {READ, "read", CPU_ISA_BASE, 0},
    {COPY, "copy", CPU_ISA_BASE, 0},       {TRIAD, "triad", CPU_ISA_BASE, 0},    {READ, "read", CPU_ISA_BASE, 1},
    {READ, "read", CPU_ISA_BASE, 2},       {READ, "read", CPU_ISA_BASE, 3},
};

/* What a run works on. Each thread has a share of its own: `share` bytes of each of up to three arrays. */
typedef struct peak_work {
    thread_pool *pool;
    int threads;
    peak_kind kind;
    bool tiles; /* products by matrix units */
    const cpu_peak_kernels *kernels;
    char *memory;
    size_t share;
    int64_t passes;
    volatile uint64_t sink; /* so that no result is nobody's */
} peak_work;

static const cpu_peak_kernels *kernels_of(cpu_isa isa)
{
#if defined(__x86_64__)
    if (isa == CPU_ISA_AVX512) return &cpu_peak_avx512_kernels;
    if (isa == CPU_ISA_AVX2) return &cpu_peak_avx2_kernels;
#endif
    (void)isa;
    return &cpu_peak_base_kernels;
}

static const char *isa_text(cpu_isa isa)
{
#if defined(__x86_64__)
    if (isa == CPU_ISA_BASE) return "sse2";
#endif
    return cpu_isa_name(isa);
}

static int arrays_of(peak_kind kind) { return kind == TRIAD ? 3 : kind == COPY ? 2 : 1; }

static char *array_of(const peak_work *w, int array, int64_t task)
{
    return w->memory + ((size_t)array * (size_t)w->threads + (size_t)task) * w->share;
}

static double multiply_add(const peak_work *w)
{
    if (w->kind == FMA_F32) return w->kernels->fma_f32(ROUNDS);
    if (w->kind == FMA_F64) return w->kernels->fma_f64(ROUNDS);
#if defined(__x86_64__)
    if (w->tiles)
        return w->kind == DOT_BYTES ? cpu_peak_tiles_of_bytes(TILE_ROUNDS) : cpu_peak_tiles_of_bf16(TILE_ROUNDS);
    return w->kind == DOT_BYTES ? cpu_peak_dot_bytes(ROUNDS) : cpu_peak_dot_bf16(ROUNDS);
#else
    return 1.0; /* open_dot() refuses these */
#endif
}

static void run_task(void *arg, int64_t task, int worker)
{
    peak_work *w = arg;
    uint64_t result = 0;
    (void)worker;
    if (w->kind < READ) {
        if (multiply_add(w) == 0.0) w->sink = 1; /* never */
        return;
    }
    for (int64_t i = 0; i < w->passes; i++) {
        char *a = array_of(w, 0, task), *b = w->kind == READ ? NULL : array_of(w, 1, task);
        if (w->kind == READ) result += w->kernels->read(a, w->share);
        if (w->kind == COPY) memcpy(a, b, w->share);
        if (w->kind == TRIAD)
            w->kernels->triad((float *)(void *)a, (const float *)(void *)b, (const float *)(void *)array_of(w, 2, task),
                              w->share);
    }
    if (result == 1) w->sink = result;
}

/* Each thread touches its own share first: there the system puts the pages. */
static void touch(void *arg, int64_t task, int worker)
{
    const peak_work *w = arg;
    (void)worker;
    for (int i = 0; i < arrays_of(w->kind); i++) memset(array_of(w, i, task), 0, w->share);
}

static cnn_status open_fma(const peak_row *row, peak_work *w, cnn_peak *peak, cnn_error *err)
{
    if (row->isa > cpu_isa_own() || kernels_of(row->isa)->lanes_f32 != 4 << (int)row->isa)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "this processor has no %s", cpu_isa_name(row->isa));
    w->kernels = kernels_of(row->isa);
    peak->unit = CNN_PEAK_FLOPS;
    peak->dtype = row->kind == FMA_F32 ? CNN_F32 : CNN_F64;
    const int lanes = row->kind == FMA_F32 ? w->kernels->lanes_f32 : w->kernels->lanes_f32 / 2;
    peak->amount = 2.0 * CPU_PEAK_CHAINS * lanes * ROUNDS * w->threads;
    snprintf(peak->variant, sizeof peak->variant, "%s", isa_text(row->isa));
    return CNN_OK;
}

/* By matrix units, where there are some: beside these the others are slow. One that this process may not use is no
 * ceiling of it, but of a plug-in that asked for more: better none than one too low. */
static cnn_status open_dot(const peak_row *row, peak_work *w, cnn_peak *peak, cnn_error *err)
{
    const bool bytes = row->kind == DOT_BYTES;
    const char *name = bytes ? "AVX512_VNNI" : "AVX512_BF16";
    if (!(bytes ? cpu_has_vnni() : cpu_has_bf16()))
        return CNN_FAIL(err, CNN_UNSUPPORTED, "this processor has no %s", name);
    w->tiles = cpu_may_use_amx();
    if (cpu_has_amx() && !w->tiles)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "the system does not let this process use AMX, beside which %s is slow",
                        name);
    peak->unit = CNN_PEAK_FLOPS;
    peak->dtype = bytes ? CNN_U8_S8_S32 : CNN_F32;
    peak->math = bytes ? CNN_MATH_F32 : CNN_MATH_BF16;
    const double each = bytes ? CPU_PEAK_DOT_BYTES : CPU_PEAK_DOT_BF16;
    const double words = w->tiles ? (double)CPU_PEAK_TILES * CPU_PEAK_TILE_WORDS * TILE_ROUNDS
                                  : (double)CPU_PEAK_CHAINS * CPU_PEAK_DOT_LANES * ROUNDS;
    peak->amount = 2.0 * words * each * w->threads;
    snprintf(peak->variant, sizeof peak->variant, "%s", w->tiles ? "amx" : bytes ? "vnni" : "avx512_bf16");
    return CNN_OK;
}

/* Bytes of the caches of a level that the threads have together: each its own; or those of the last level, of which
 * there may be several. */
static size_t held_by(int level, int threads)
{
    if (level < 3) return cpu_cache_bytes(level) * (size_t)threads;
    return cpu_cache_bytes(level) > 0 ? cpu_last_cache_bytes(0, threads) : 0;
}

/* Memory's ceilings go through four times this. Under a sanitizer no time is a figure, and a gigabyte takes minutes. */
static size_t caches_of(int threads)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    (void)threads;
    return least_memory / 4;
#else
    return cpu_last_cache_bytes(least_memory / 4, threads);
#endif
}

/* A thread's part, in each of the arrays, of half of those, which must be more than what it has of its own where they
 * are shared; of memory, of four times what the last ones hold. */
static size_t share_of(int level, int threads, int arrays)
{
    if (level == 0) return 4 * caches_of(threads) / (size_t)(threads * arrays);
    const size_t share = held_by(level, threads) / 2 / (size_t)threads;
    return level < 3 || share > 2 * cpu_cache_bytes(level - 1) ? share : 0;
}

/* In huge pages, where the system gives them: a gigabyte in small ones takes longer to be had than to be measured. */
static char *allocate(size_t bytes)
{
    const size_t page = (size_t)2 << 20;
    if (bytes < page) return aligned_alloc(CNN_ALIGN, bytes);
    char *memory = aligned_alloc(page, (bytes + page - 1) / page * page);
#ifdef MADV_HUGEPAGE
    if (memory != NULL) (void)madvise(memory, bytes, MADV_HUGEPAGE);
#endif
    return memory;
}

static cnn_status open_memory(const peak_row *row, peak_work *w, cnn_peak *peak, cnn_error *err)
{
    const int arrays = arrays_of(row->kind);
    w->kernels = kernels_of(cpu_isa_own());
    w->share = share_of(row->level, w->threads, arrays) / CPU_PEAK_READ_BYTES * CPU_PEAK_READ_BYTES;
    if (w->share == 0)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "no L%d cache whose bandwidth could be told apart", row->level);
    w->passes = row->level > 0 ? (int64_t)(1 + CACHE_PASS_BYTES / w->share) : 1;
    const size_t bytes = w->share * (size_t)arrays * (size_t)w->threads;
    if (cnn_host_check(bytes, err) != CNN_OK) return err->status;
    w->memory = allocate(bytes);
    if (!w->memory) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to measure its bandwidth with");
    parallel_for(w->pool, w->threads, touch, w);
    peak->unit = CNN_PEAK_BYTES;
    peak->amount = (double)bytes * (double)w->passes;
    if (row->level == 0) return CNN_OK;
    peak->holds = held_by(row->level, w->threads);
    snprintf(peak->variant, sizeof peak->variant, "L%d", row->level);
    return CNN_OK;
}

cnn_status cpu_peak_open(thread_pool *pool, int index, cnn_peak *peak, cnn_error *err)
{
    memset(peak, 0, sizeof *peak);
    if (index < 0 || index >= CPU_PEAK_COUNT)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "there is no ceiling number %d", index);
    const peak_row *row = &rows[index];
    peak_work *w = calloc(1, sizeof *w);
    if (!w) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a ceiling");
    w->pool = pool;
    w->threads = thread_pool_threads(pool);
    w->kind = row->kind;
    peak->state = w;
    snprintf(peak->what, sizeof peak->what, "%s", row->what);
    const cnn_status status = row->kind <= FMA_F64 ? open_fma(row, w, peak, err)
                              : row->kind < READ   ? open_dot(row, w, peak, err)
                                                   : open_memory(row, w, peak, err);
    if (status != CNN_OK) cpu_peak_close(peak);
    return status;
}

void cpu_peak_run(const cnn_peak *peak)
{
    peak_work *w = peak->state;
    parallel_for(w->pool, w->threads, run_task, w);
}

void cpu_peak_close(cnn_peak *peak)
{
    peak_work *w = peak->state;
    if (w) free(w->memory);
    free(w);
    peak->state = NULL;
}
