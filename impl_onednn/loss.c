/* loss.c: softmax with cross-entropy, and the quadratic loss. oneDNN's softmax knows no labels, and the logarithm of
 * its result is infinite where the network is sure. */
#include "loops.h"

#include <math.h>

/* What a share of the images adds to the sums. */
typedef struct part {
    double loss;
    int64_t correct;
} part;

typedef struct loss_job {
    const cnn_loss_desc *d;
    const cnn_loss_args *a;
    part *parts;
} loss_job;

enum { EXP_COST = 50 };

static int64_t share_of(const cnn_loss_desc *d) { return onednn_share(d->mb, d->ic * EXP_COST); }

size_t onednn_loss_workspace(const cnn_problem *p, cnn_dir dir)
{
    const int64_t share = share_of(&p->u.loss);
    return dir == CNN_FWD ? (size_t)((p->u.loss.mb + share - 1) / share) * sizeof(part) : 0;
}

/* The first of the largest is at the label. A NaN makes the answer no. */
static bool is_right(const float *x, int64_t classes, int64_t label)
{
    bool right = true;
    for (int64_t c = 0; c < classes; c++) right = right && (c < label ? x[c] < x[label] : x[c] <= x[label]);
    return right;
}

/* Relative to the largest x: then each exponential is at most 1, one is 1, and the sum is no less. */
static double cross_entropy(const float *x, float *y, int64_t classes, int64_t label)
{
    float top = x[0];
    double sum = 0;
    for (int64_t c = 1; c < classes; c++) top = x[c] > top ? x[c] : top;
    const double at_label = (double)x[label] - (double)top;
    for (int64_t c = 0; c < classes; c++) {
        const double e = exp((double)x[c] - (double)top);
        y[c] = (float)e;
        sum += e;
    }
    for (int64_t c = 0; c < classes; c++) y[c] = (float)((double)y[c] / sum);
    return log(sum) - at_label;
}

static double quadratic(const float *x, float *y, int64_t classes, int64_t label)
{
    double sum = 0;
    for (int64_t c = 0; c < classes; c++) {
        const double off = (double)x[c] - (c == label ? 1 : 0);
        y[c] = x[c];
        sum += off * off;
    }
    return sum / 2;
}

static void forward(const void *job, int64_t first, int64_t last, int64_t task)
{
    const loss_job *j = job;
    const int64_t classes = j->d->ic;
    part sum = {0, 0};
    for (int64_t n = first; n < last; n++) {
        const float *x = (const float *)j->a->x + n * classes;
        float *y = (float *)j->a->y + n * classes;
        const int64_t label = j->a->labels[n];
        sum.correct += is_right(x, classes, label);
        sum.loss +=
            j->d->kind == CNN_LOSS_QUADRATIC ? quadratic(x, y, classes, label) : cross_entropy(x, y, classes, label);
    }
    j->parts[task] = sum;
}

static void backward(const void *job, int64_t first, int64_t last, int64_t task)
{
    const loss_job *j = job;
    const int64_t classes = j->d->ic;
    const float scale = (float)j->a->scale;
    (void)task;
    for (int64_t n = first; n < last; n++) {
        const float *y = (const float *)j->a->y + n * classes;
        float *dx = (float *)j->a->dx + n * classes;
        for (int64_t c = 0; c < classes; c++) dx[c] = (c == j->a->labels[n] ? y[c] - 1 : y[c]) * scale;
    }
}

cnn_status onednn_loss_fwd(cnn_context *context, const cnn_plan *plan, const cnn_loss_args *a, cnn_error *err)
{
    const cnn_loss_desc *d = &plan->problem.u.loss;
    const loss_job job = {d, a, a->workspace};
    const int64_t share = share_of(d), shares = (d->mb + share - 1) / share;
    part sum = {0, 0};
    (void)err;
    onednn_parallel((const onednn_context *)context, d->mb, share, forward, &job);
    for (int64_t i = 0; i < shares; i++) {
        sum.loss += job.parts[i].loss;
        sum.correct += job.parts[i].correct;
    }
    if (a->loss_sum != NULL) *a->loss_sum += sum.loss;
    if (a->correct != NULL) *a->correct += sum.correct;
    return CNN_OK;
}

cnn_status onednn_loss_bwd(cnn_context *context, const cnn_plan *plan, const cnn_loss_args *a, cnn_error *err)
{
    const cnn_loss_desc *d = &plan->problem.u.loss;
    const loss_job job = {d, a, NULL};
    (void)err;
    onednn_parallel((const onednn_context *)context, d->mb, onednn_share(d->mb, d->ic), backward, &job);
    return CNN_OK;
}
