/* cpu.h: what the files of impl_cpu share: the context, the knobs, and one line for each kernel.
 *
 * Every kernel is deterministic: work is cut into tasks by the problem alone, never by the number of threads, and
 * partial sums are added in the order of the tasks; so the bits are the same for any --threads. */
#ifndef IMPL_CPU_CPU_H
#define IMPL_CPU_CPU_H

#include "harness/cnn.h"
#include "harness/cnn/shape.h"
#include "harness/cpu/limits.h"
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
    cnn_laps *laps; /* laps.c; NULL while none are in use */
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
enum {
    CPU_DIRECT,
    CPU_IM2COL,
    CPU_WINOGRAD,
    CPU_DEPTHWISE,
    CPU_MATRIX,
    CPU_SHALLOW,
    CPU_BF16,
    CPU_GEMM,
    CPU_NAIVE,
    CPU_DEFAULT,
    CPU_FUSED,
    CPU_EXEMPLAR,
    CPU_ALGORITHM_COUNT
};

/* The gate of conv and FC, CNN_UNSUPPORTED and why; and what a plan takes: bytes of workspace; and in *state, which may
 * be NULL, what its runs need to know of the problem, found once, in one piece of memory. */
typedef cnn_status cpu_plan_fn(const cpu_context *, const cnn_request *, void **state, size_t *bytes, cnn_error *);
/* Which instructions a plan uses, for the record's `choice`; "": as the knob `isa` says. */
typedef const char *cpu_choice_fn(const cpu_context *, const cnn_request *);
/* An algorithm: its plan (NULL: nothing is needed), and its run in every direction, which then cannot fail; its choice,
 * where it has one. */
typedef struct cpu_kernels {
    void (*run)(const cpu_context *, const cnn_plan *, const cnn_weighted_args *);
    cpu_plan_fn *plan;
    cpu_choice_fn *choice;
} cpu_kernels;
extern const cpu_kernels cpu_conv_naive, cpu_conv3d_naive, cpu_conv_direct, cpu_conv_im2col, cpu_conv_winograd,
    cpu_conv_depthwise, cpu_conv_matrix, cpu_conv_shallow, cpu_bf16, cpu_fc_naive, cpu_fc_gemm, cpu_whole_naive,
    cpu_whole_pairs;

/* plan.c: cnn_impl.supports, prepare and release, and the slots of conv and FC: the algorithm chooses the kernel. */
cnn_status cpu_supports(cnn_context *, const cnn_request *, cnn_error *);
cnn_status cpu_prepare(cnn_context *, cnn_plan *, cnn_error *);
void cpu_release(cnn_context *, cnn_plan *);
cnn_status cpu_weighted_run(cnn_context *, const cnn_plan *, const cnn_weighted_args *, cnn_error *);

/* act.c: the epilogue of a plan (cnn_epilogue), by rows, of f32 or f64, that have just been computed and are still in
 * the cache. `any`: there is something to do; `curved`: its activation has pieces that are no lines. */
typedef struct cpu_epilogue {
    cnn_epilogue what;
    cnn_dtype dtype;
    cpu_isa isa;
    bool any, curved;
    char *y;
    const char *z;
} cpu_epilogue;
cpu_epilogue cpu_epilogue_of(const cpu_context *, const cnn_plan *, const cnn_weighted_args *);
/* Elements [at, at + count) of y. */
void cpu_epilogue_row(const cpu_epilogue *, int64_t at, int64_t count);
/* The same of a curved activation alone, and nothing where it is not curved: behind what stores by a cpu_finish. */
void cpu_epilogue_curve(const cpu_epilogue *, int64_t at, int64_t count);
/* What is done to results in registers, as they are stored (finish.inc): z is added, NULL: nothing; then comes an
 * activation whose pieces are lines: IDENTITY, RELU, LEAKY_RELU, CLIPPED_RELU, SCALE. */
typedef struct cpu_finish {
    const void *z;
    cnn_act_kind act;
    double alpha;
} cpu_finish;
/* z from the place on that is y's `from`; a curved activation is left to cpu_epilogue_curve(). */
cpu_finish cpu_finish_at(const cpu_epilogue *, const void *from);
/* Channels [c0, c1) of pixels [p0, p1) of an image of y, which has `channels` and `pixels`. */
typedef struct cpu_epilogue_part {
    int64_t image, channels, pixels, c0, c1, p0, p1;
} cpu_epilogue_part;
void cpu_epilogue_image(const cpu_epilogue *, cnn_layout, const cpu_epilogue_part *);

/* half.c: f16 and bf16, by the kernels for f32: the problem that these are for, and the workspace that it takes, *bytes
 * of which are the kernel's own. */
static inline bool cpu_reads_half(const cnn_problem *problem)
{
    const cnn_dtype factor = cnn_part_dtype(problem->u.type.dtype, CNN_PART_FACTOR);
    return factor == CNN_F16 || factor == CNN_BF16;
}
cnn_problem cpu_as_f32(const cnn_problem *);
cnn_status cpu_half_workspace(const cnn_problem *, size_t *bytes, cnn_error *);
typedef cnn_status cpu_map_fwd(cnn_context *, const cnn_plan *, const cnn_map_fwd_args *, cnn_error *);
typedef cnn_status cpu_map_bwd(cnn_context *, const cnn_plan *, const cnn_map_bwd_args *, cnn_error *);
cnn_status cpu_half_weighted(cnn_context *, const cnn_plan *, const cnn_weighted_args *, cnn_error *);
cnn_status cpu_half_map_fwd(cnn_context *, const cnn_plan *, const cnn_map_fwd_args *, cpu_map_fwd *, cnn_error *);
cnn_status cpu_half_map_bwd(cnn_context *, const cnn_plan *, const cnn_map_bwd_args *, cpu_map_bwd *, cnn_error *);
cnn_status cpu_half_batchnorm(cnn_context *, const cnn_plan *, const cnn_batchnorm_args *, cnn_error *);
cnn_status cpu_half_loss_fwd(cnn_context *, const cnn_plan *, const cnn_loss_args *, cnn_error *);
cnn_status cpu_half_loss_bwd(cnn_context *, const cnn_plan *, const cnn_loss_args *, cnn_error *);
/* to = from, rounded to the type of 16 bits. */
void cpu_half_narrow(cnn_context *, cnn_dtype, const float *from, void *to, int64_t count);
void cpu_half_add(cnn_context *, const cnn_add_desc *, const cnn_join_args *);

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
cnn_status cpu_bias_add(cnn_context *, const cnn_plan *, const cnn_bias_args *, cnn_error *);
cnn_status cpu_bias_gradient(cnn_context *, const cnn_plan *, const cnn_bias_args *, cnn_error *);
/* db of a convolution's BWD_W; nothing where there is no bias. */
void cpu_conv_bias_gradient(const cpu_context *, const cnn_plan *, const cnn_weighted_args *);
cnn_status cpu_gather(cnn_context *, const cnn_gather_args *, cnn_error *);

/* trainers.c: all of impl_cpu's. What each opens begins with a cpu_trainer, which says whose it is. */
typedef struct cpu_trainer {
    const cnn_trainers *table;
} cpu_trainer;
extern const cnn_trainers cpu_trainers;

/* peaks.c: the processor's ceilings, then OpenBLAS's products. */
extern const cnn_peaks cpu_peaks;

/* Of the operations that are neither conv nor FC only the loss needs a workspace. */
size_t cpu_loss_workspace(const cnn_loss_desc *desc, cnn_dir dir);

/* Whole-number arithmetic of cutting a problem into pieces, and how many pieces its work is worth. */
static inline int64_t cpu_min(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t cpu_max(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t cpu_clamp(int64_t v, int64_t lo, int64_t hi) { return cpu_max(lo, cpu_min(v, hi)); }
/* Rounded up, for a of either sign; b > 0. */
static inline int64_t cpu_ceil_div(int64_t a, int64_t b) { return a / b + (a % b > 0); }

/* The largest power of two <= v, at least 1: what few threads can share evenly. */
static inline int64_t cpu_power_of_two(int64_t v)
{
    int64_t power = 1;
    while (power <= v / 2) power *= 2;
    return power;
}

/* How many tasks `macs` multiply-adds are worth: one for each CPU_MACS_PER_TASK, so that handing a task over costs
 * little beside it, but no more than `most`; a power of two. */
enum { CPU_MACS_PER_TASK = 1 << 17 };
static inline int64_t cpu_task_count(double macs, int64_t most)
{
    const double tasks = macs / CPU_MACS_PER_TASK;
    return cpu_power_of_two(tasks < 1 ? 1 : tasks > (double)most ? most : (int64_t)tasks);
}

/* laps.c: where the time of an operation goes: cnn_impl's laps. Kernels mark their phases by cpu_phase(), after each
 * parallel region; tasks that alternate between phases keep clocks, one a worker, and cpu_phases() cuts the region's
 * time in their proportion. Without laps in use either costs one comparison. */
enum { CPU_CLOCK_PHASES = 4 };

extern const cnn_profile cpu_profile;

/* What ran since the last mark is `phase`. A mark for which there is no memory is left out: the next one takes its
 * time. */
void cpu_phase(const cpu_context *, const char *phase);

/* A task's clock. Its place in the laps is the worker's own cache line, so nobody waits for it. */
typedef struct cpu_clock {
    double *seconds, last; /* seconds[phase]; NULL: no laps in use */
} cpu_clock;
cpu_clock cpu_clock_start(cnn_laps *, int worker);
/* What the task did since the clock's last tick was phase number `phase`. */
void cpu_clock_tick(cpu_clock *, int phase);
/* After the region: a mark for each phase on which a clock ran, and all clocks back to 0. */
void cpu_phases(const cpu_context *, const char *const names[CPU_CLOCK_PHASES]);

/* gemm.c: matrix products in f32 and f64 by OpenBLAS, row-major, one thread a call. */
/* A matrix in memory: `ld` elements from one row to the next. With `trans` its transpose is meant, in rows and columns
 * of the product; `ld` still describes what lies in memory. */
typedef struct gemm_matrix {
    const void *p;
    int64_t ld;
    bool trans;
} gemm_matrix;

/* C[m][n] = A[m][k] * B[k][n] + beta * C; with beta 0, C is not read. */
void cpu_gemm(cnn_dtype dtype, int64_t m, int64_t n, int64_t k, gemm_matrix a, gemm_matrix b, double beta, void *c,
              int64_t ldc);

/* The same, C cut into tiles that the pool's threads compute. The cut depends on the sizes alone: the same bits for any
 * number of threads. */
void cpu_gemm_parallel(thread_pool *pool, cnn_dtype dtype, int64_t m, int64_t n, int64_t k, gemm_matrix a,
                       gemm_matrix b, double beta, void *c, int64_t ldc);

/* OpenBLAS counts rows, columns and leading dimensions in 32-bit integers: CNN_UNSUPPORTED where `what`, a x b, is
 * more. */
cnn_status cpu_fits_blas(const char *what, int64_t a, int64_t b, cnn_error *err);

/* p + count elements. */
static inline void *cpu_at(cnn_dtype dtype, void *p, int64_t count)
{
    return (char *)p + count * (int64_t)cnn_dtype_size(dtype);
}
static inline const void *cpu_at_const(cnn_dtype dtype, const void *p, int64_t count)
{
    return (const char *)p + count * (int64_t)cnn_dtype_size(dtype);
}

#endif
