/* reference_fc.c: fully connected layers. In canonical order an image and a filter are flat vectors of ic*ih*iw. */
#include "reference.h"

#include <math.h>

typedef struct fc_task {
    const cnn_fc_desc *d;
    int64_t m; /* ic*ih*iw */
    const double *x, *w, *b, *dy, *before, *before_b;
    vf_out out, out_b;
} fc_task;

/* Task n: y[n][k] = b[k] + <w[k], x[n]>. */
static void forward(void *arg, int64_t n, int worker)
{
    const fc_task *t = arg;
    (void)worker;
    for (int64_t k = 0; k < t->d->oc; k++) {
        const double *x = t->x + n * t->m, *w = t->w + k * t->m;
        double sum = 0.0, magnitude = 0.0, terms = (double)t->m;
        for (int64_t i = 0; i < t->m; i++) sum += w[i] * x[i], magnitude += fabs(w[i] * x[i]);
        if (t->b != NULL) sum += t->b[k], magnitude += fabs(t->b[k]), terms += 1.0;
        int64_t e = n * t->d->oc + k;
        if (t->before != NULL) sum += t->before[e], magnitude += fabs(t->before[e]), terms += 1.0;
        vf_put(&t->out, e, sum, magnitude, terms);
    }
}

/* Adds factor * v to the row of out that starts at `at`. */
static void add_scaled(const vf_out *out, int64_t at, double factor, const double *v, int64_t count)
{
    for (int64_t i = 0; i < count; i++) out->value[at + i] += factor * v[i];
    if (out->magnitude == NULL) return;
    for (int64_t i = 0; i < count; i++) out->magnitude[at + i] += fabs(factor * v[i]);
}

static void start_row(const fc_task *t, int64_t at, double terms)
{
    for (int64_t e = at; e < at + t->m; e++)
        if (t->before != NULL)
            vf_put(&t->out, e, t->before[e], fabs(t->before[e]), terms + 1.0);
        else
            vf_put(&t->out, e, 0.0, 0.0, terms);
}

/* Task n: dx[n] = sum_k dy[n][k] * w[k]. */
static void backward_data(void *arg, int64_t n, int worker)
{
    const fc_task *t = arg;
    (void)worker;
    start_row(t, n * t->m, (double)t->d->oc);
    for (int64_t k = 0; k < t->d->oc; k++)
        add_scaled(&t->out, n * t->m, t->dy[n * t->d->oc + k], t->w + k * t->m, t->m);
}

/* Task k: dw[k] = sum_n dy[n][k] * x[n], db[k] = sum_n dy[n][k]. */
static void backward_weights(void *arg, int64_t k, int worker)
{
    const fc_task *t = arg;
    double sum = 0.0, magnitude = 0.0, terms = (double)t->d->mb;
    (void)worker;
    start_row(t, k * t->m, terms);
    for (int64_t n = 0; n < t->d->mb; n++) {
        double dy = t->dy[n * t->d->oc + k];
        add_scaled(&t->out, k * t->m, dy, t->x + n * t->m, t->m);
        sum += dy, magnitude += fabs(dy);
    }
    if (t->before_b != NULL) sum += t->before_b[k], magnitude += fabs(t->before_b[k]), terms += 1.0;
    vf_put(&t->out_b, k, sum, magnitude, terms);
}

cnn_status vf_reference_fc(const vf_call *call, cnn_error *err)
{
    static const char *const result[] = {[CNN_FWD] = "y", [CNN_BWD_D] = "dx", [CNN_BWD_W] = "dw"};
    const cnn_fc_desc *d = &call->problem->u.fc;
    fc_task t = {.d = d, .m = d->ic * d->ih * d->iw};
    (void)err;
    t.x = vf_in(call, "x"), t.w = vf_in(call, "w"), t.b = vf_in(call, "b"), t.dy = vf_in(call, "dy");
    t.out = vf_output(call, result[call->dir]);
    t.out_b = vf_output(call, "db");
    if (call->beta != 0.0) t.before = vf_in(call, result[call->dir]), t.before_b = vf_in(call, "db");
    if (call->dir == CNN_FWD) parallel_for(call->pool, d->mb, forward, &t);
    if (call->dir == CNN_BWD_D) parallel_for(call->pool, d->mb, backward_data, &t);
    if (call->dir == CNN_BWD_W) parallel_for(call->pool, d->oc, backward_weights, &t);
    return CNN_OK;
}
