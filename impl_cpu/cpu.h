/* cpu.h: what the files of impl_cpu share: the context, the knobs, and one line for each kernel.
 *
 * Every kernel is deterministic: work is cut into tasks by the problem alone, never by the number of threads, and
 * partial sums are added in the order of the tasks; so the bits are the same for any --threads. */
#ifndef IMPL_CPU_CPU_H
#define IMPL_CPU_CPU_H

#include "harness/cnn.h"
#include "harness/cnn/shape.h"
#include "harness/cpu/isa.h"
#include "harness/cpu/threads.h"

typedef enum cpu_knob_id {
#define KNOB(id, name, doc, min, max, def) CPU_KNOB_##id,
#include "knobs.inc"
#undef KNOB
    CPU_KNOB_COUNT
} cpu_knob_id;

typedef struct cpu_context {
    thread_pool *pool;
    int threads;
    cpu_isa isa;    /* the best one here, or less if the knob `isa` asks for it */
    cnn_laps *laps; /* laps.h; NULL while none are in use */
} cpu_context;

/* A bump allocator over a workspace, or over what a plan keeps; with a NULL base it only counts. Pieces start at
 * CNN_ALIGN: plan.c. */
typedef struct cpu_arena {
    char *base;
    int64_t used;
    bool overflow;
} cpu_arena;
void *cpu_take(cpu_arena *, int64_t count, int64_t each, size_t size);

/* f_float() or f_double(), which for_each_real.inc makes of one text. */
#define CPU_REAL(dtype, f, ...) ((dtype) == CNN_F32 ? f##_float(__VA_ARGS__) : f##_double(__VA_ARGS__))

/* cnn_algorithm.id of the rows of the table in cpu.c. */
enum { CPU_DIRECT, CPU_IM2COL, CPU_GEMM, CPU_NAIVE, CPU_DEFAULT, CPU_FUSED, CPU_ALGORITHM_COUNT };

/* The gate of conv and FC, CNN_UNSUPPORTED and why; and what a plan takes: bytes of workspace; and in *state, which may
 * be NULL, what its runs need to know of the problem, found once, in one piece of memory. */
typedef cnn_status cpu_plan_fn(const cpu_context *, const cnn_request *, void **state, size_t *bytes, cnn_error *);
/* An algorithm: its plan (NULL: nothing is needed), and its run in every direction, which then cannot fail. */
typedef struct cpu_kernels {
    void (*run)(const cpu_context *, const cnn_plan *, const cnn_weighted_args *);
    cpu_plan_fn *plan;
} cpu_kernels;
extern const cpu_kernels cpu_conv_naive, cpu_conv_direct, cpu_conv_im2col, cpu_fc_naive, cpu_fc_gemm;

/* plan.c: cnn_impl.supports, prepare and release, and the slots of conv and FC: the algorithm chooses the kernel. */
cnn_status cpu_supports(cnn_context *, const cnn_request *, cnn_error *);
cnn_status cpu_prepare(cnn_context *, cnn_plan *, cnn_error *);
void cpu_release(cnn_context *, cnn_plan *);
cnn_status cpu_weighted_run(cnn_context *, const cnn_plan *, const cnn_weighted_args *, cnn_error *);

/* The other operations: slots of cnn_impl as they stand (cnn_context is a cpu_context). */
cnn_status cpu_pool_fwd(cnn_context *, const cnn_plan *, const cnn_map_fwd_args *, cnn_error *);
cnn_status cpu_pool_bwd(cnn_context *, const cnn_plan *, const cnn_map_bwd_args *, cnn_error *);
cnn_status cpu_act_fwd(cnn_context *, const cnn_plan *, const cnn_map_fwd_args *, cnn_error *);
cnn_status cpu_act_bwd(cnn_context *, const cnn_plan *, const cnn_map_bwd_args *, cnn_error *);
cnn_status cpu_dropout_fwd(cnn_context *, const cnn_plan *, const cnn_map_fwd_args *, cnn_error *);
cnn_status cpu_dropout_bwd(cnn_context *, const cnn_plan *, const cnn_map_bwd_args *, cnn_error *);
cnn_status cpu_loss_fwd(cnn_context *, const cnn_plan *, const cnn_loss_args *, cnn_error *);
cnn_status cpu_loss_bwd(cnn_context *, const cnn_plan *, const cnn_loss_args *, cnn_error *);
cnn_status cpu_add_fwd(cnn_context *, const cnn_plan *, const cnn_join_args *, cnn_error *);
cnn_status cpu_concat_fwd(cnn_context *, const cnn_plan *, const cnn_join_args *, cnn_error *);
cnn_status cpu_concat_bwd(cnn_context *, const cnn_plan *, const cnn_split_args *, cnn_error *);
cnn_status cpu_batchnorm(cnn_context *, const cnn_plan *, const cnn_batchnorm_args *, cnn_error *); /* both ways */
cnn_status cpu_optimizer_step(cnn_context *, const cnn_plan *, const cnn_optimizer_args *, cnn_error *);
cnn_status cpu_gather(cnn_context *, const cnn_gather_args *, cnn_error *);

/* peaks.c: the processor's ceilings, then OpenBLAS's products. */
extern const cnn_peaks cpu_peaks;

/* Of the operations that are neither conv nor FC only the loss needs a workspace. */
size_t cpu_loss_workspace(const cnn_loss_desc *desc, cnn_dir dir);

#endif
