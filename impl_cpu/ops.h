/* ops.h: what the operations beside conv and FC share: cutting work into tasks, and one kernel for every ISA.
 *
 * A kernel is a parallel_body: it finds its share of the work from the task number alone. CPU_VARIANTS compiles its one
 * text for each instruction set, and cpu_run picks by the context. No variant may differ in its results: products and
 * sums are not contracted (-ffp-contract=off), and sums that are cut into lanes have the same lanes everywhere. */
#ifndef IMPL_CPU_OPS_H
#define IMPL_CPU_OPS_H

#include "cpu.h"

/* What a kernel calls must be inlined into it, or it would be compiled for the base instruction set only. */
#define CPU_INLINE static inline __attribute__((always_inline))

#if defined(__x86_64__)
#define CPU_TARGET_AVX2 __attribute__((target("avx2,fma")))
#define CPU_TARGET_AVX512 __attribute__((target("avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")))
#else
#define CPU_TARGET_AVX2
#define CPU_TARGET_AVX512
#endif

/* Defines body_variants from `body`, a CPU_INLINE parallel_body. (The step between lets `body` be a macro call.) */
#define CPU_VARIANTS(body) CPU_VARIANTS_OF(body)
#define CPU_VARIANTS_OF(body)                                                                                          \
    static void body##_base(void *arg, int64_t task, int worker) { body(arg, task, worker); }                          \
    CPU_TARGET_AVX2 static void body##_avx2(void *arg, int64_t task, int worker) { body(arg, task, worker); }          \
    CPU_TARGET_AVX512 static void body##_avx512(void *arg, int64_t task, int worker) { body(arg, task, worker); }      \
    static parallel_body *const body##_variants[CPU_ISA_COUNT] = {body##_base, body##_avx2, body##_avx512}

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

/* Tasks for `items` items of `cost` element operations each; at least 1. */
static inline int64_t cpu_tasks(int64_t items, int64_t cost)
{
    double tasks = (double)items * (double)cost / CPU_TASK_COST;
    if (tasks > CPU_TASKS_MAX) tasks = CPU_TASKS_MAX;
    if (tasks > (double)items) tasks = (double)items;
    return tasks < 1 ? 1 : (int64_t)tasks;
}

typedef struct cpu_span {
    int64_t first, last; /* [first, last) */
} cpu_span;

/* The items of one task: equal shares, rounded up to a multiple of `granule` items. The last tasks may get none. */
static inline cpu_span cpu_share(int64_t items, int64_t granule, int64_t tasks, int64_t task)
{
    int64_t share = (items + tasks - 1) / tasks;
    share = (share + granule - 1) / granule * granule;
    cpu_span span = {task * share, (task + 1) * share};
    if (span.first > items) span.first = items;
    if (span.last > items) span.last = items;
    return span;
}

/* Elements in shares of whole cache lines: two tasks never write the same one. */
static inline cpu_span cpu_elements(int64_t count, int64_t tasks, int64_t task)
{
    return cpu_share(count, CNN_ALIGN, tasks, task);
}

static inline void cpu_run(cnn_context *context, int64_t tasks, parallel_body *const variants[CPU_ISA_COUNT], void *arg)
{
    const cpu_context *cpu = (const void *)context;
    parallel_for(cpu->pool, tasks, variants[cpu->isa], arg);
}

/* `kernel`, defined by for_each_real.inc and CPU_VARIANTS, for this dtype. */
#define CPU_RUN(context, dtype, kernel, tasks, arg)                                                                    \
    cpu_run(context, tasks, (dtype) == CNN_F32 ? kernel##_float_variants : kernel##_double_variants, arg)

/* For a body that only copies: memcpy chooses its own instructions. */
static inline void cpu_run_plain(cnn_context *context, int64_t tasks, parallel_body *body, void *arg)
{
    const cpu_context *cpu = (const void *)context;
    parallel_for(cpu->pool, tasks, body, arg);
}

#endif
