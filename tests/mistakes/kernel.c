/* kernel.c: a plug-in as a kernel author writes it: convolution forward, f32, NCHW, threads of its own, packed weights
 * and a row of sums for each thread in the workspace. It is right as it stands; each mistake of `list` is one change in
 * it. */
#define _GNU_SOURCE
#include <cnn.h>

#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

enum { THREADS_MAX = 8 };

struct cnn_context {
    int threads, calls;
    const void *packed_from;
    float *packed;
};

typedef struct job {
    const cnn_conv_desc *d;
    const float *x, *w, *b; /* w: packed as [oc/g][ic/g][kh][kw] like the original, but in the workspace */
    float *y, *row;
    double beta;
    int64_t first, last; /* output planes: image * oc + channel */
} job;

static cnn_status kernel_open(const cnn_open_params *params, cnn_context **context, cnn_error *err)
{
    *context = calloc(1, sizeof **context);
    if (*context == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a context");
    (*context)->threads = params->threads < THREADS_MAX ? params->threads : THREADS_MAX;
    return CNN_OK;
}

static void kernel_close(cnn_context *context)
{
    if (context != NULL) free(context->packed);
    free(context);
}

static cnn_status kernel_supports(cnn_context *context, const cnn_request *request, cnn_error *err)
{
    (void)context;
    const cnn_conv_desc *d = &request->problem->u.conv;
    if (request->problem->op != CNN_OP_CONV || request->dir != CNN_FWD)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "kernel does convolution, direction FWD, only");
    if (d->t.dtype != CNN_F32 || d->t.math != CNN_MATH_F32 || d->t.layout != CNN_NCHW || d->flip)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "kernel computes cross-correlation in f32, in layout NCHW, only");
    return CNN_OK;
}

static size_t weights_of(const cnn_conv_desc *d) { return (size_t)(d->oc * (d->ic / d->g) * d->kh * d->kw); }

static cnn_status kernel_prepare(cnn_context *context, cnn_plan *plan, cnn_error *err)
{
    (void)err;
    const cnn_conv_desc *d = &plan->problem.u.conv;
    plan->workspace_bytes = (weights_of(d) + (size_t)context->threads * (size_t)d->ow) * sizeof(float);
    return CNN_OK;
}

/* Adds one tap to a row of sums: row[v] += w * x[h][v * sw - pw + kw * (dw + 1)]. */
static void add_tap(const job *j, float *row, const float *x, float w, int64_t kw)
{
    const cnn_conv_desc *d = j->d;
    for (int64_t v = 0; v < d->ow; v++) {
        const int64_t at = v * d->sw - d->pw + kw * (d->dw + 1);
        if (at >= 0 && at < d->iw) row[v] += w * x[at];
    }
}

static void compute_row(const job *j, float *row, int64_t n, int64_t k, int64_t h)
{
    const cnn_conv_desc *d = j->d;
    const int64_t channels = d->ic / d->g, first = k / (d->oc / d->g) * channels;
    memset(row, 0, (size_t)d->ow * sizeof *row);
    for (int64_t c = 0; c < channels; c++)
        for (int64_t kh = 0; kh < d->kh; kh++) {
            const int64_t at = h * d->sh - d->ph + kh * (d->dh + 1);
            if (at < 0 || at >= d->ih) continue;
            const float *x = j->x + ((n * d->ic + first + c) * d->ih + at) * d->iw;
            const float *w = j->w + ((k * channels + c) * d->kh + kh) * d->kw;
            for (int64_t kw = 0; kw < d->kw; kw++) add_tap(j, row, x, w[kw], kw);
        }
}

static void *work(void *arg)
{
    const job *j = arg;
    const cnn_conv_desc *d = j->d;
    for (int64_t plane = j->first; plane < j->last; plane++)
        for (int64_t h = 0; h < d->oh; h++) {
            const float bias = j->b != NULL ? j->b[plane % d->oc] : 0;
            float *y = j->y + (plane * d->oh + h) * d->ow;
            compute_row(j, j->row, plane / d->oc, plane % d->oc, h);
            for (int64_t v = 0; v < d->ow; v++) {
                const float sum = j->row[v] + bias;
                y[v] = j->beta != 0 ? y[v] + sum : sum;
            }
        }
    return NULL;
}

static cnn_status kernel_conv_fwd(cnn_context *context, const cnn_plan *plan, const cnn_weighted_args *args,
                                  cnn_error *err)
{
    const cnn_conv_desc *d = &plan->problem.u.conv;
    const int64_t planes = d->mb * d->oc;
    const int threads = planes < context->threads ? (int)planes : context->threads;
    pthread_t thread[THREADS_MAX];
    job jobs[THREADS_MAX];
    bool started[THREADS_MAX] = {false};
    float *packed = args->workspace, *rows = packed + weights_of(d);
    context->calls++;
    memcpy(packed, args->w, weights_of(d) * sizeof *packed);
    for (int i = 0; i < threads; i++) {
        jobs[i] = (job){d,
                        args->x,
                        packed,
                        args->b,
                        args->y,
                        rows + i * d->ow,
                        args->beta,
                        planes * i / threads,
                        planes * (i + 1) / threads};
        started[i] = i > 0 && pthread_create(&thread[i], NULL, work, &jobs[i]) == 0;
    }
    for (int i = 0; i < threads; i++)
        if (!started[i]) work(&jobs[i]);
    for (int i = 0; i < threads; i++)
        if (started[i]) pthread_join(thread[i], NULL);
    (void)err;
    return CNN_OK;
}

static const cnn_algorithm algorithms[] = {
    {.name = "rows",
     .doc = "a row of sums at a time",
     .ops = 1u << CNN_OP_CONV,
     .flags = CNN_ALGO_DETERMINISTIC,
     .amplification = 1},
};

static const cnn_operations ops = {
    .struct_size = sizeof(cnn_operations),
    .conv_fwd = kernel_conv_fwd,
};

static const cnn_impl impl = {
    .abi_version = CNN_ABI_VERSION,
    .struct_size = sizeof(cnn_impl),
    .name = "kernel",
    .doc = "convolution forward, as a kernel author writes it",
    .device_kind = CNN_DEVICE_CPU,
    .algorithms = algorithms,
    .n_algorithms = sizeof algorithms / sizeof algorithms[0],
    .open = kernel_open,
    .close = kernel_close,
    .supports = kernel_supports,
    .prepare = kernel_prepare,
    .ops = &ops,
};

const cnn_impl *cnn_plugin(void) { return &impl; }
