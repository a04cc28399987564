/* kernels.c: the loops that take a worker's time, for every instruction set. Weights are read once in the forward, and
 * once in the backward, where they are updated in the same pass: they are in the core's second-level cache. */
#include "exemplar.h"
#include "impl_cpu/ops.h"

typedef void exemplar_kernel(const exemplar_fc *);
typedef void exemplar_merging(const exemplar_merge *);

#define LAYER_VARIANTS(kernel) CPU_VARIANTS_OF(exemplar_kernel, kernel, (const exemplar_fc *f), f)
#define MERGE_VARIANTS(kernel) CPU_VARIANTS_OF(exemplar_merging, kernel, (const exemplar_merge *m), m)

#define KERNELS "impl_cpu/exemplar/kernels.inc"
#include "impl_cpu/for_each_real.inc"

#define RUN(cpu, dtype, kernel, job)                                                                                   \
    ((dtype) == CNN_F32 ? kernel##_float_variants : kernel##_double_variants)[(cpu)->isa](job)

void exemplar_fc_forward(const cpu_context *cpu, cnn_dtype dtype, exemplar_fc *f) { RUN(cpu, dtype, fc_forward, f); }
void exemplar_fc_train(const cpu_context *cpu, cnn_dtype dtype, exemplar_fc *f) { RUN(cpu, dtype, fc_train, f); }
void exemplar_fc_gradient(const cpu_context *cpu, cnn_dtype dtype, exemplar_fc *f) { RUN(cpu, dtype, fc_gradient, f); }
void exemplar_merge_run(const cpu_context *cpu, cnn_dtype dtype, exemplar_merge *m) { RUN(cpu, dtype, merge, m); }
