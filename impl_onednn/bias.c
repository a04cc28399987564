/* bias.c: the bias of a transposed convolution, whose result has the shape of the convolution's x. */
#include "loops.h"

typedef struct bias_job {
    int64_t channels, pixels, images;
    bool nhwc;
    const cnn_bias_args *a;
} bias_job;

/* Rows: the pixels of one channel in NCHW, the channels of one pixel in NHWC. */
ONEDNN_CLONES static void add_rows(const void *job, int64_t first, int64_t last, int64_t task)
{
    const bias_job *j = job;
    const float *b = j->a->b;
    (void)task;
    for (int64_t row = first; row < last; row++) {
        float *y = (float *)j->a->y + row * (j->nhwc ? j->channels : j->pixels);
        const float of_row = b[row % j->channels];
        if (j->nhwc)
            for (int64_t c = 0; c < j->channels; c++) y[c] += b[c];
        else
            for (int64_t p = 0; p < j->pixels; p++) y[p] += of_row;
    }
}

/* Channels [first, last), summed in double: the order of a sum does not depend on the threads. */
ONEDNN_CLONES static void sum_channels(const void *job, int64_t first, int64_t last, int64_t task)
{
    const bias_job *j = job;
    const float *dy = j->a->dy;
    float *db = j->a->db;
    (void)task;
    for (int64_t c = first; c < last; c++) {
        const float *x = dy + (j->nhwc ? c : c * j->pixels);
        const int64_t step = j->nhwc ? j->channels : 1, image = j->channels * j->pixels;
        double sum = 0;
        for (int64_t n = 0; n < j->images; n++)
            for (int64_t p = 0; p < j->pixels; p++) sum += (double)x[n * image + p * step];
        db[c] = j->a->beta != 0 ? (float)((double)db[c] + sum) : (float)sum;
    }
}

static bias_job job_of(const cnn_plan *plan, const cnn_bias_args *a)
{
    const cnn_conv_desc *d = &plan->problem.u.conv;
    return (bias_job){d->ic, d->ih * d->iw, d->mb, d->t.layout == CNN_NHWC, a};
}

cnn_status onednn_bias_add(cnn_context *context, const cnn_plan *plan, const cnn_bias_args *a, cnn_error *err)
{
    const bias_job j = job_of(plan, a);
    const int64_t rows = j.images * (j.nhwc ? j.pixels : j.channels), length = j.nhwc ? j.channels : j.pixels;
    (void)err;
    onednn_parallel((const onednn_context *)context, rows, onednn_share(rows, length), add_rows, &j);
    return CNN_OK;
}

cnn_status onednn_bias_gradient(cnn_context *context, const cnn_plan *plan, const cnn_bias_args *a, cnn_error *err)
{
    const bias_job j = job_of(plan, a);
    (void)err;
    onednn_parallel((const onednn_context *)context, j.channels, 1, sum_channels, &j);
    return CNN_OK;
}
