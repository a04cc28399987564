/* ops.h: what the operations beside conv and FC share: cutting work into tasks, and one kernel for every ISA.
 *
 * A kernel gets its job, which begins with a cpu_work, and its share of that. CPU_VARIANTS compiles its one text for
 * each instruction set, and CPU_RUN picks by the context. No variant may differ in its results: products and sums are
 * not contracted (-ffp-contract=off), and sums that are cut into lanes have the same lanes everywhere. */
#ifndef IMPL_CPU_OPS_H
#define IMPL_CPU_OPS_H

#include "cpu.h"
#include "harness/cnn/half.h"

/* What a kernel calls must be inlined into it, or it would be compiled for the base instruction set only. */
#define CPU_INLINE static inline __attribute__((always_inline))

#if defined(__x86_64__)
#define CPU_TARGET_AVX2 __attribute__((target("avx2,fma")))
#ifdef BENCHCNN_AVX512_BY_AVX2
#define CPU_TARGET_AVX512 CPU_TARGET_AVX2
#else
#define CPU_TARGET_AVX512 __attribute__((target("avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")))
#endif
#else
#define CPU_TARGET_AVX2
#define CPU_TARGET_AVX512
#endif

/* Defines f_variants, functions of this type with these parameters, from `f`, a CPU_INLINE function called with these
 * arguments. */
#define CPU_VARIANTS_OF(type, f, parameters, ...)                                                                      \
    static void f##_base parameters { f(__VA_ARGS__); }                                                                \
    CPU_TARGET_AVX2 static void f##_avx2 parameters { f(__VA_ARGS__); }                                                \
    CPU_TARGET_AVX512 static void f##_avx512 parameters { f(__VA_ARGS__); }                                            \
    static type *const f##_variants[CPU_ISA_COUNT] = {f##_base, f##_avx2, f##_avx512}

/* The same of a kernel(const job *, cpu_share). */
#define CPU_VARIANTS(kernel) CPU_VARIANTS_OF(cpu_kernel, kernel, (const void *job, cpu_share share), job, share)

/* Before a loop whose elements are independent even where its input and output are the same array (in place). */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed" /* it would warn of each loop that calls libm */
#define CPU_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define CPU_INDEPENDENT _Pragma("GCC ivdep")
#endif

/* A vector's worth of accumulators: sums run in this many lanes, which are then added in order. */
enum { CPU_LANES = 16 };

/* The one rule of when parallel work pays. A task has at least CPU_TASK_COST element operations (a multiply-add or a
 * load and store in a vector loop: about 0.1 ns), to be well above the hand-off of a microsecond; what is smaller runs
 * in the caller. The number of tasks depends on the problem alone, never on the threads, so that sums over tasks do
 * not either; it is bounded, for there is no use in many more tasks than cores. */
enum { CPU_TASK_COST = 16384, CPU_TASKS_MAX = 256 };

/* A task's items: [first, last). */
typedef struct cpu_share {
    int64_t first, last, task;
} cpu_share;

typedef void cpu_kernel(const void *job, cpu_share share);

/* The work of an operation, at the head of its job: so many items, for so many tasks, shared out by whole granules. */
typedef struct cpu_work {
    int64_t items, granule, tasks;
    cpu_kernel *kernel; /* set by cpu_run() */
} cpu_work;

/* Tasks for `items` items of `cost` element operations each; at least 1. */
static inline int64_t cpu_tasks(int64_t items, int64_t cost)
{
    double tasks = (double)items * (double)cost / CPU_TASK_COST;
    if (tasks > CPU_TASKS_MAX) tasks = CPU_TASKS_MAX;
    if (tasks > (double)items) tasks = (double)items;
    return tasks < 1 ? 1 : (int64_t)tasks;
}

static inline cpu_work cpu_items(int64_t items, int64_t cost)
{
    return (cpu_work){items, 1, cpu_tasks(items, cost), NULL};
}

/* Elements in shares of whole cache lines: two tasks never write the same one. */
static inline cpu_work cpu_elements(int64_t count, int64_t cost)
{
    return (cpu_work){count, CNN_ALIGN, cpu_tasks(count, cost), NULL};
}

/* Equal shares, rounded up to a multiple of the granule. The last tasks may get none. */
static inline void cpu_run_share(void *job, int64_t task, int worker)
{
    const cpu_work *w = job;
    const int64_t least = (w->items + w->tasks - 1) / w->tasks;
    const int64_t each = (least + w->granule - 1) / w->granule * w->granule, first = task * each, last = first + each;
    (void)worker;
    w->kernel(job, (cpu_share){first < w->items ? first : w->items, last < w->items ? last : w->items, task});
}

/* A kernel by CPU_VARIANTS, on all of the job that begins with this work. */
static inline void cpu_run(cnn_context *context, cpu_kernel *const variants[CPU_ISA_COUNT], cpu_work *work)
{
    const cpu_context *cpu = (const void *)context;
    work->kernel = variants[cpu->isa];
    parallel_for(cpu->pool, work->tasks, cpu_run_share, work);
}

/* The same, of a kernel that for_each_real.inc defines, for this dtype. */
#define CPU_RUN(context, dtype, kernel, job)                                                                           \
    cpu_run(context, (dtype) == CNN_F32 ? kernel##_float_variants : kernel##_double_variants, &(job)->work)

#endif
