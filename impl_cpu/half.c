/* half.c: f16 and bf16. Each operation is the kernel for f32, between copies in its workspace: what it reads is made
 * wider, which is exact; it is computed as f32; what it writes is rounded once. So every algorithm has both types, and
 * none a kernel of its own for them. What that costs is a pass over each array. */
#include "harness/cpu/half.h"

#include "harness/cnn/half.h"
#include "ops.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define CPU_TARGET_F16C __attribute__((target("avx2,fma,f16c")))
#endif

typedef struct half_job {
    cpu_work work;
    bool f16;
    const void *from, *other; /* other: what is added to it (add) */
    void *to;
} half_job;

/* f16 by the processor's own conversions (F16C), which every processor with AVX2 has; the same numbers as by half.h,
 * but for a NaN's lower bits. */
#if defined(__x86_64__)
#define CPU_F16C(f) f##_by_f16c
#define HALF_LANES 8

CPU_TARGET_F16C static inline __m256 half_load(const uint16_t *from)
{
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)from));
}
CPU_TARGET_F16C static inline void half_store(uint16_t *to, __m256 v)
{
    _mm_storeu_si128((__m128i *)(void *)to, _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
}

CPU_TARGET_F16C static void half_widen_by_f16c(const half_job *job, cpu_share share)
{
    const uint16_t *from = job->from;
    float *to = job->to;
    int64_t i = share.first;
    for (; i + HALF_LANES <= share.last; i += HALF_LANES) _mm256_storeu_ps(to + i, half_load(from + i));
    for (; i < share.last; i++) to[i] = half_f16_to_float(from[i]);
}

CPU_TARGET_F16C static void half_narrow_by_f16c(const half_job *job, cpu_share share)
{
    const float *from = job->from;
    uint16_t *to = job->to;
    int64_t i = share.first;
    for (; i + HALF_LANES <= share.last; i += HALF_LANES) half_store(to + i, _mm256_loadu_ps(from + i));
    for (; i < share.last; i++) to[i] = half_float_to_f16(from[i]);
}

CPU_TARGET_F16C static void half_add_by_f16c(const half_job *job, cpu_share share)
{
    const uint16_t *a = job->from, *b = job->other;
    uint16_t *to = job->to;
    int64_t i = share.first;
    for (; i + HALF_LANES <= share.last; i += HALF_LANES)
        half_store(to + i, _mm256_add_ps(half_load(a + i), half_load(b + i)));
    for (; i < share.last; i++) to[i] = half_float_to_f16(half_f16_to_float(a[i]) + half_f16_to_float(b[i]));
}
#else
#define CPU_F16C(f) f
#endif

/* A kernel for each instruction set: from AVX2 on, f16 by F16C. */
#define HALF_VARIANTS(f)                                                                                               \
    static void f##_base(const void *job, cpu_share share) { f(job, share); }                                          \
    CPU_TARGET_AVX2 static void f##_avx2(const void *job, cpu_share share)                                             \
    {                                                                                                                  \
        if (((const half_job *)job)->f16)                                                                              \
            CPU_F16C(f)(job, share);                                                                                   \
        else                                                                                                           \
            f(job, share);                                                                                             \
    }                                                                                                                  \
    CPU_TARGET_AVX512 static void f##_avx512(const void *job, cpu_share share)                                         \
    {                                                                                                                  \
        if (((const half_job *)job)->f16)                                                                              \
            CPU_F16C(f)(job, share);                                                                                   \
        else                                                                                                           \
            f(job, share);                                                                                             \
    }                                                                                                                  \
    static cpu_kernel *const f##_variants[CPU_ISA_COUNT] = {f##_base, f##_avx2, f##_avx512}

CPU_INLINE void half_widen(const half_job *job, cpu_share share)
{
    const uint16_t *from = job->from;
    float *to = job->to;
    if (job->f16)
        for (int64_t i = share.first; i < share.last; i++) to[i] = half_f16_to_float(from[i]);
    else
        for (int64_t i = share.first; i < share.last; i++) to[i] = half_bf16_to_float(from[i]);
}
HALF_VARIANTS(half_widen);

CPU_INLINE void half_narrow(const half_job *job, cpu_share share)
{
    const float *from = job->from;
    uint16_t *to = job->to;
    if (job->f16)
        for (int64_t i = share.first; i < share.last; i++) to[i] = half_float_to_f16(from[i]);
    else
        for (int64_t i = share.first; i < share.last; i++) to[i] = half_float_to_bf16(from[i]);
}
HALF_VARIANTS(half_narrow);

CPU_INLINE void half_add(const half_job *job, cpu_share share)
{
    const uint16_t *a = job->from, *b = job->other;
    uint16_t *to = job->to;
    if (job->f16)
        for (int64_t i = share.first; i < share.last; i++)
            to[i] = half_float_to_f16(half_f16_to_float(a[i]) + half_f16_to_float(b[i]));
    else
        for (int64_t i = share.first; i < share.last; i++)
            to[i] = half_float_to_bf16(half_bf16_to_float(a[i]) + half_bf16_to_float(b[i]));
}
HALF_VARIANTS(half_add);

/* ---- Which arrays there are. */

typedef struct sizes {
    int64_t x, w, y, b; /* elements; y: of the result, w and b: 0 where there are none */
} sizes;

static sizes sizes_of(const cnn_problem *p)
{
    if (p->op == CNN_OP_CONV || p->op == CNN_OP_CONV3D) {
        const cnn_conv_desc d = cnn_with_depth(p);
        return (sizes){d.mb * d.ic * d.id * d.ih * d.iw, d.oc * (d.ic / d.g) * d.kd * d.kh * d.kw,
                       d.mb * d.oc * d.od * d.oh * d.ow, d.oc};
    }
    if (p->op == CNN_OP_FC) {
        const cnn_fc_desc *d = &p->u.fc;
        return (sizes){d->mb * d->ic * d->ih * d->iw, d->oc * d->ic * d->ih * d->iw, d->mb * d->oc, d->oc};
    }
    if (cnn_is_pool(p)) {
        const cnn_pool_desc d = cnn_pool_with_depth(p);
        return (sizes){.x = d.mb * d.ic * d.id * d.ih * d.iw, .y = d.mb * d.ic * d.od * d.oh * d.ow};
    }
    const cnn_act_desc *a = &p->u.act;
    const cnn_dropout_desc *o = &p->u.dropout;
    const cnn_batchnorm_desc *n = &p->u.batchnorm;
    const int64_t count = p->op == CNN_OP_ACT         ? a->mb * a->ic * a->ih * a->iw
                          : p->op == CNN_OP_DROPOUT   ? o->mb * o->ic * o->ih * o->iw
                          : p->op == CNN_OP_BATCHNORM ? n->mb * n->ic * n->ih * n->iw
                                                      : 0;
    if (p->op == CNN_OP_LOSS) return (sizes){.x = p->u.loss.mb * p->u.loss.ic}; /* y is f32 as it is */
    return (sizes){.x = count, .y = count};
}

cnn_problem cpu_as_f32(const cnn_problem *problem)
{
    cnn_problem p = *problem;
    if (p.op == CNN_OP_ACT && p.u.act.kind == CNN_ACT_CLIPPED_RELU) p.u.act.alpha = cnn_act_ceiling(&p.u.act);
    p.u.type.dtype = p.u.type.weights = CNN_F32;
    return p;
}

cnn_status cpu_half_workspace(const cnn_problem *problem, size_t *bytes, cnn_error *err)
{
    const sizes s = sizes_of(problem);
    const bool weighted = cnn_is_weighted(problem);
    cpu_arena arena = {.base = NULL};
    cpu_take(&arena, (int64_t)*bytes, 1, 1);
    cpu_take(&arena, s.x, weighted ? 1 : 2, sizeof(float)); /* x and dx of a backward pass */
    cpu_take(&arena, s.y, weighted ? 1 : 2, sizeof(float));
    cpu_take(&arena, s.w, 1, sizeof(float));
    cpu_take(&arena, s.b, 1, sizeof(float));
    cpu_take(&arena, cnn_epilogue_of(problem).add ? s.y : 0, 1, sizeof(float));
    if (arena.overflow) return CNN_FAIL(err, CNN_OVERFLOW, "copies as f32 have no 64-bit size");
    *bytes = (size_t)arena.used + 2 * CNN_ALIGN;
    return CNN_OK;
}

/* ---- Running. */

typedef struct half_run {
    cnn_context *context;
    cnn_plan plan; /* of the same problem in f32 */
    cpu_arena arena;
    bool f16, joined; /* joined: results are f32 as they are */
    sizes size;
} half_run;

/* What the kernel's own workspace leaves is for the copies. */
static half_run begin(cnn_context *context, const cnn_plan *plan, void *workspace)
{
    const cnn_dtype dtype = plan->problem.u.type.dtype;
    half_run r = {.context = context,
                  .plan = *plan,
                  .f16 = cnn_part_dtype(dtype, CNN_PART_FACTOR) == CNN_F16,
                  .joined = cnn_is_joined(dtype)};
    r.plan.problem = cpu_as_f32(&plan->problem);
    r.size = sizes_of(&plan->problem);
    size_t copies = 0;
    cnn_error err;
    cpu_half_workspace(&plan->problem, &copies, &err); /* prepare has counted them: no overflow */
    r.arena = (cpu_arena){.base = workspace, .used = (int64_t)(plan->workspace_bytes - copies) / CNN_ALIGN * CNN_ALIGN};
    return r;
}

static void convert(half_run *r, cpu_kernel *const variants[CPU_ISA_COUNT], const void *from, void *to, int64_t count)
{
    half_job job = {.work = cpu_elements(count, 1), .f16 = r->f16, .from = from, .to = to};
    cpu_run(r->context, variants, &job.work);
}

/* A copy of `from` as f32 (NULL: of nothing, to be written); NULL where there is no such array. */
static void *copy(half_run *r, const void *array, bool read, int64_t count)
{
    if (array == NULL) return NULL;
    void *made = cpu_take(&r->arena, count, 1, sizeof(float));
    if (read) convert(r, half_widen_variants, array, made, count);
    return made;
}

/* Of what is computed, or added to it. */
static void *result(half_run *r, void *array, bool read, int64_t count)
{
    return r->joined ? array : copy(r, array, read, count);
}

static void store(half_run *r, const void *from, void *to, int64_t count)
{
    if (to != NULL && from != to) convert(r, half_narrow_variants, from, to, count);
}

cnn_status cpu_half_weighted(cnn_context *context, const cnn_plan *plan, const cnn_weighted_args *args, cnn_error *err)
{
    half_run r = begin(context, plan, args->workspace);
    const bool adds = args->beta != 0.0, forward = plan->dir == CNN_FWD, data = plan->dir == CNN_BWD_D;
    cnn_weighted_args a = {.beta = args->beta, .workspace = args->workspace};
    if (!data) a.x = copy(&r, args->x, true, r.size.x);
    if (plan->dir != CNN_BWD_W) a.w = copy(&r, args->w, true, r.size.w);
    if (!forward) a.dy = copy(&r, args->dy, true, r.size.y);
    if (forward) a.b = r.joined ? args->b : copy(&r, args->b, true, r.size.b);
    if (forward) a.z = r.joined ? args->z : copy(&r, args->z, true, r.size.y);
    if (forward) a.y = result(&r, args->y, adds, r.size.y);
    if (data) a.dx = result(&r, args->dx, adds, r.size.x);
    if (!forward && !data) a.dw = result(&r, args->dw, adds, r.size.w), a.db = result(&r, args->db, adds, r.size.b);
    cpu_phase((const cpu_context *)context, "widen");
    const cnn_status status = cpu_weighted_run(context, &r.plan, &a, err);
    store(&r, a.y, args->y, forward ? r.size.y : 0);
    store(&r, a.dx, args->dx, data ? r.size.x : 0);
    store(&r, a.dw, args->dw, a.dw != NULL ? r.size.w : 0);
    store(&r, a.db, args->db, a.db != NULL ? r.size.b : 0);
    cpu_phase((const cpu_context *)context, "narrow");
    return status;
}

cnn_status cpu_half_map_fwd(cnn_context *context, const cnn_plan *plan, const cnn_map_fwd_args *args, cpu_map_fwd *run,
                            cnn_error *err)
{
    half_run r = begin(context, plan, args->workspace);
    const cnn_map_fwd_args a = {.x = copy(&r, args->x, true, r.size.x),
                                .y = copy(&r, args->y, false, r.size.y),
                                .step = args->step,
                                .workspace = args->workspace};
    const cnn_status status = run(context, &r.plan, &a, err);
    store(&r, a.y, args->y, r.size.y);
    return status;
}

cnn_status cpu_half_map_bwd(cnn_context *context, const cnn_plan *plan, const cnn_map_bwd_args *args, cpu_map_bwd *run,
                            cnn_error *err)
{
    half_run r = begin(context, plan, args->workspace);
    const cnn_map_bwd_args a = {.x = copy(&r, args->x, true, r.size.x),
                                .y = copy(&r, args->y, true, r.size.y),
                                .dy = copy(&r, args->dy, true, r.size.y),
                                .dx = copy(&r, args->dx, false, r.size.x),
                                .step = args->step,
                                .workspace = args->workspace};
    const cnn_status status = run(context, &r.plan, &a, err);
    store(&r, a.dx, args->dx, r.size.x);
    return status;
}

/* Statistics and parameters are f32 as they are. */
cnn_status cpu_half_batchnorm(cnn_context *context, const cnn_plan *plan, const cnn_batchnorm_args *args,
                              cnn_error *err)
{
    half_run r = begin(context, plan, args->workspace);
    cnn_batchnorm_args a = *args;
    a.x = copy(&r, args->x, true, r.size.x);
    a.dy = copy(&r, args->dy, true, r.size.y);
    a.y = copy(&r, args->y, false, r.size.y);
    a.dx = copy(&r, args->dx, false, r.size.x);
    const cnn_status status = cpu_batchnorm(context, &r.plan, &a, err);
    store(&r, a.y, args->y, r.size.y);
    store(&r, a.dx, args->dx, r.size.x);
    return status;
}

cnn_status cpu_half_loss_fwd(cnn_context *context, const cnn_plan *plan, const cnn_loss_args *args, cnn_error *err)
{
    half_run r = begin(context, plan, args->workspace);
    cnn_loss_args a = *args;
    a.x = copy(&r, args->x, true, r.size.x);
    return cpu_loss_fwd(context, &r.plan, &a, err);
}

cnn_status cpu_half_loss_bwd(cnn_context *context, const cnn_plan *plan, const cnn_loss_args *args, cnn_error *err)
{
    half_run r = begin(context, plan, args->workspace);
    cnn_loss_args a = *args;
    a.scale *= *args->loss_scale;
    a.dx = copy(&r, args->dx, false, r.size.x);
    const cnn_status status = cpu_loss_bwd(context, &r.plan, &a, err);
    store(&r, a.dx, args->dx, r.size.x);
    return status;
}

void cpu_half_narrow(cnn_context *context, cnn_dtype dtype, const float *from, void *to, int64_t count)
{
    half_run r = {.context = context, .f16 = dtype == CNN_F16};
    convert(&r, half_narrow_variants, from, to, count);
}

void cpu_half_add(cnn_context *context, const cnn_add_desc *d, const cnn_join_args *args)
{
    half_job job = {.work = cpu_elements(d->mb * d->ic * d->ih * d->iw, 1),
                    .f16 = d->t.dtype == CNN_F16,
                    .from = args->x[0],
                    .other = args->x[1],
                    .to = args->y};
    cpu_run(context, half_add_variants, &job.work);
}
