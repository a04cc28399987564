/* fc.c: fully connected layers: y = x * w' + b, one matrix product a direction.
 *
 * An image is a row of `fan` = ic*ih*iw numbers in the order of the weights, c then h then w. That is NCHW's own
 * order; for NHWC images of more than one pixel x is first permuted into the workspace (BWD_D: dx permuted back).
 * `gemm` gives the products to OpenBLAS in tiles, `naive` to the three loops; both cut the work by its sizes alone. */
#include "cpu.h"
#include "harness/cnn/shape.h"

#include <string.h>

typedef struct fc_job {
    const cnn_fc_desc *d;
    const cnn_weighted_args *a;
    int64_t fan;
    const void *from; /* what is permuted, */
    void *to;         /* where to, */
    int64_t rows;     /* and into how many rows an image */
    bool add;
    cpu_epilogue epilogue;
} fc_job;

#define KERNELS "impl_cpu/fc.inc"
#include "for_each_real.inc"

static bool must_permute(const cnn_fc_desc *d) { return d->t.layout == CNN_NHWC && d->ih * d->iw > 1 && d->ic > 1; }

static fc_job job_of(const cpu_context *cpu, const cnn_plan *plan, const cnn_weighted_args *a)
{
    const cnn_fc_desc *d = &plan->problem.u.fc;
    return (fc_job){.d = d, .a = a, .fan = d->ic * d->ih * d->iw, .epilogue = cpu_epilogue_of(cpu, plan, a)};
}

static void finish_image(void *arg, int64_t n, int worker)
{
    const fc_job *job = arg;
    (void)worker;
    cpu_epilogue_row(&job->epilogue, n * job->d->oc, job->d->oc);
}

static void each(const cpu_context *cpu, fc_job *job, int64_t tasks, parallel_body *f32, parallel_body *f64)
{
    parallel_for(cpu->pool, tasks, job->d->t.dtype == CNN_F32 ? f32 : f64, job);
}

/* ---- gemm */

static cnn_status plan_gemm(const cpu_context *cpu, const cnn_request *r, void **state, size_t *bytes, cnn_error *err)
{
    const cnn_fc_desc *d = &r->problem->u.fc;
    (void)cpu, (void)state;
    if (must_permute(d)) *bytes = (size_t)(d->mb * d->ic * d->ih * d->iw) * cnn_dtype_size(d->t.dtype);
    const cnn_status status = cpu_fits_blas("a row of the weights (channels x pixels)", d->ic, d->ih * d->iw, err);
    return status == CNN_OK ? cpu_fits_blas("the larger of batch and neurons", cpu_max(d->mb, d->oc), 1, err) : status;
}

/* Images to the order of the weights, whose rows are channels, or back, to rows that are pixels. */
static void permute(const cpu_context *cpu, fc_job *job, const void *from, void *to, int64_t rows, bool add)
{
    job->from = from, job->to = to, job->rows = rows, job->add = add;
    each(cpu, job, job->d->mb, permute_image_float, permute_image_double);
    cpu_phase(cpu, "permute");
}

/* x in the order of the weights. */
static const void *canonical_x(const cpu_context *cpu, fc_job *job)
{
    if (!must_permute(job->d)) return job->a->x;
    permute(cpu, job, job->a->x, job->a->workspace, job->d->ic, false);
    return job->to;
}

static void gemm_fwd(const cpu_context *cpu, fc_job *job)
{
    const cnn_fc_desc *d = job->d;
    const cnn_weighted_args *a = job->a;
    const gemm_matrix x = {canonical_x(cpu, job), job->fan, false}, w = {a->w, job->fan, true};
    cpu_gemm_parallel(cpu->pool, d->t.dtype, d->mb, d->oc, job->fan, x, w, a->beta, a->y, d->oc);
    cpu_phase(cpu, "gemm");
    if (a->b) {
        CPU_REAL(d->t.dtype, add_bias, job);
        cpu_phase(cpu, "bias");
    }
    if (!job->epilogue.any) return;
    parallel_for(cpu->pool, d->mb, finish_image, job);
    cpu_phase(cpu, "epilogue");
}

static void gemm_bwd_data(const cpu_context *cpu, fc_job *job)
{
    const cnn_fc_desc *d = job->d;
    const cnn_weighted_args *a = job->a;
    const bool permuted = must_permute(d);
    const gemm_matrix dy = {a->dy, d->oc, false}, w = {a->w, job->fan, false};
    cpu_gemm_parallel(cpu->pool, d->t.dtype, d->mb, job->fan, d->oc, dy, w, permuted ? 0 : a->beta,
                      permuted ? a->workspace : a->dx, job->fan);
    cpu_phase(cpu, "gemm");
    if (permuted) permute(cpu, job, a->workspace, a->dx, d->ih * d->iw, a->beta != 0);
}

static void gemm_bwd_weights(const cpu_context *cpu, fc_job *job)
{
    const cnn_fc_desc *d = job->d;
    const cnn_weighted_args *a = job->a;
    const gemm_matrix dy = {a->dy, d->oc, true}, x = {canonical_x(cpu, job), job->fan, false};
    cpu_gemm_parallel(cpu->pool, d->t.dtype, d->oc, job->fan, d->mb, dy, x, a->beta, a->dw, job->fan);
    cpu_phase(cpu, "gemm");
    if (!a->db) return;
    CPU_REAL(d->t.dtype, sum_bias, job);
    cpu_phase(cpu, "bias");
}

static void run_gemm(const cpu_context *cpu, const cnn_plan *plan, const cnn_weighted_args *a)
{
    static void (*const runs[CNN_DIR_COUNT])(const cpu_context *, fc_job *) = {gemm_fwd, gemm_bwd_data,
                                                                               gemm_bwd_weights};
    fc_job job = job_of(cpu, plan, a);
    runs[plan->dir](cpu, &job);
}

/* ---- naive */

static void run_naive(const cpu_context *cpu, const cnn_plan *plan, const cnn_weighted_args *a)
{
    fc_job job = job_of(cpu, plan, a);
    if (plan->dir == CNN_FWD) each(cpu, &job, job.d->mb, naive_fwd_image_float, naive_fwd_image_double);
    if (plan->dir == CNN_BWD_D) each(cpu, &job, job.d->mb, naive_bwd_data_image_float, naive_bwd_data_image_double);
    if (plan->dir != CNN_BWD_W) return;
    each(cpu, &job, job.d->oc, naive_bwd_weights_neuron_float, naive_bwd_weights_neuron_double);
    if (a->db) CPU_REAL(job.d->t.dtype, sum_bias, &job);
}

const cpu_kernels cpu_fc_gemm = {run_gemm, plan_gemm, NULL};
const cpu_kernels cpu_fc_naive = {run_naive, NULL, NULL};
