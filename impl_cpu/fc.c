/* fc.c: fully connected layers: y = x * w' + b, one matrix product a direction.
 *
 * An image is a row of `fan` = ic*ih*iw numbers in the order of the weights, c then h then w. That is NCHW's own
 * order; for NHWC images of more than one pixel x is first permuted into the workspace (BWD_D: dx permuted back).
 * `gemm` gives the products to OpenBLAS in tiles, `naive` to the three loops; both cut the work by its sizes alone. */
#include "harness/cnn/shape.h"
#include "impl_cpu/gemm.h"
#include "impl_cpu/laps.h"

#include <string.h>

typedef struct fc_job {
    const cnn_fc_desc *d;
    const cnn_weighted_args *a;
    int64_t fan;
    const void *from; /* what is permuted ... */
    void *to;         /* ... and where to */
} fc_job;

#define KERNELS "impl_cpu/fc.inc"
#include "for_each_real.inc"

static int64_t fan_of(const cnn_fc_desc *d) { return d->ic * d->ih * d->iw; }

static bool must_permute(const cnn_fc_desc *d) { return d->t.layout == CNN_NHWC && d->ih * d->iw > 1 && d->ic > 1; }

static void each(const cpu_context *cpu, fc_job *job, int64_t tasks, parallel_body *f32, parallel_body *f64)
{
    parallel_for(cpu->pool, tasks, job->d->t.dtype == CNN_F32 ? f32 : f64, job);
}

static cnn_status plan_gemm(const cpu_context *cpu, const cnn_request *r, void **state, size_t *bytes, cnn_error *err)
{
    const cnn_fc_desc *d = &r->problem->u.fc;
    int64_t count;
    (void)cpu, (void)state;
    if (!must_permute(d)) return CNN_OK;
    if (!cnn_mul4(d->mb, d->ic, d->ih * d->iw, (int64_t)cnn_dtype_size(d->t.dtype), &count))
        return CNN_FAIL(err, CNN_OVERFLOW, "the workspace of %lld images overflows", (long long)d->mb);
    *bytes = (size_t)count;
    return CNN_OK;
}

/* x in the order of the weights. */
static const void *canonical_x(const cpu_context *cpu, fc_job *job)
{
    if (!must_permute(job->d)) return job->a->x;
    job->from = job->a->x, job->to = job->a->workspace;
    each(cpu, job, job->d->mb, to_canonical_float, to_canonical_double);
    cpu_phase(cpu, "permute");
    return job->to;
}

static cnn_status gemm_fwd(const cpu_context *cpu, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const cnn_fc_desc *d = &plan->problem.u.fc;
    (void)err;
    fc_job job = {.d = d, .a = a, .fan = fan_of(d)};
    const gemm_matrix x = {canonical_x(cpu, &job), job.fan, false}, w = {a->w, job.fan, true};
    cpu_gemm_parallel(cpu->pool, d->t.dtype, d->mb, d->oc, job.fan, x, w, a->beta, a->y, d->oc);
    cpu_phase(cpu, "gemm");
    if (!a->b) return CNN_OK;
    d->t.dtype == CNN_F32 ? add_bias_float(&job) : add_bias_double(&job);
    cpu_phase(cpu, "bias");
    return CNN_OK;
}

static cnn_status gemm_bwd_data(const cpu_context *cpu, const cnn_plan *plan, const cnn_weighted_args *a,
                                cnn_error *err)
{
    const cnn_fc_desc *d = &plan->problem.u.fc;
    (void)err;
    fc_job job = {.d = d, .a = a, .fan = fan_of(d)};
    const gemm_matrix dy = {a->dy, d->oc, false}, w = {a->w, job.fan, false};
    if (!must_permute(d)) {
        cpu_gemm_parallel(cpu->pool, d->t.dtype, d->mb, job.fan, d->oc, dy, w, a->beta, a->dx, job.fan);
        cpu_phase(cpu, "gemm");
        return CNN_OK;
    }
    cpu_gemm_parallel(cpu->pool, d->t.dtype, d->mb, job.fan, d->oc, dy, w, 0, a->workspace, job.fan);
    cpu_phase(cpu, "gemm");
    job.from = a->workspace, job.to = a->dx;
    each(cpu, &job, d->mb, from_canonical_float, from_canonical_double);
    cpu_phase(cpu, "permute");
    return CNN_OK;
}

static cnn_status gemm_bwd_weights(const cpu_context *cpu, const cnn_plan *plan, const cnn_weighted_args *a,
                                   cnn_error *err)
{
    const cnn_fc_desc *d = &plan->problem.u.fc;
    (void)err;
    fc_job job = {.d = d, .a = a, .fan = fan_of(d)};
    const gemm_matrix dy = {a->dy, d->oc, true}, x = {canonical_x(cpu, &job), job.fan, false};
    cpu_gemm_parallel(cpu->pool, d->t.dtype, d->oc, job.fan, d->mb, dy, x, a->beta, a->dw, job.fan);
    cpu_phase(cpu, "gemm");
    if (!a->db) return CNN_OK;
    d->t.dtype == CNN_F32 ? sum_bias_float(&job) : sum_bias_double(&job);
    cpu_phase(cpu, "bias");
    return CNN_OK;
}

static cnn_status naive_fwd(const cpu_context *cpu, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const cnn_fc_desc *d = &plan->problem.u.fc;
    (void)err;
    fc_job job = {.d = d, .a = a, .fan = fan_of(d)};
    each(cpu, &job, d->mb, naive_fwd_image_float, naive_fwd_image_double);
    return CNN_OK;
}

static cnn_status naive_bwd_data(const cpu_context *cpu, const cnn_plan *plan, const cnn_weighted_args *a,
                                 cnn_error *err)
{
    const cnn_fc_desc *d = &plan->problem.u.fc;
    (void)err;
    fc_job job = {.d = d, .a = a, .fan = fan_of(d)};
    each(cpu, &job, d->mb, naive_bwd_data_image_float, naive_bwd_data_image_double);
    return CNN_OK;
}

static cnn_status naive_bwd_weights(const cpu_context *cpu, const cnn_plan *plan, const cnn_weighted_args *a,
                                    cnn_error *err)
{
    const cnn_fc_desc *d = &plan->problem.u.fc;
    (void)err;
    fc_job job = {.d = d, .a = a, .fan = fan_of(d)};
    each(cpu, &job, d->oc, naive_bwd_weights_neuron_float, naive_bwd_weights_neuron_double);
    if (a->db) d->t.dtype == CNN_F32 ? sum_bias_float(&job) : sum_bias_double(&job);
    return CNN_OK;
}

const cpu_kernels cpu_fc_gemm = {{gemm_fwd, gemm_bwd_data, gemm_bwd_weights}, plan_gemm};
const cpu_kernels cpu_fc_naive = {{naive_fwd, naive_bwd_data, naive_bwd_weights}, NULL};
