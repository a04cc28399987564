/* reference_conv.c: thesis eq. 3.5 to 3.10, with groups, any padding, dilation and the flipped kernel.
 *
 * A tap i of the kernel reads row p*sh + i*(dh+1) - ph for output row p. Which output rows p a tap reaches is worked
 * out once (`span`, from cnn_tap_range), so that the innermost loop is a run over a row without a question in it.
 * Each task owns the elements it writes and adds to them in a fixed order: the same bits for any number of threads. */
#include "reference.h"

#include <math.h>
#include <stdlib.h>

/* Tap t contributes to the outputs [first[t], last[t]). */
typedef struct span {
    int64_t *first, *last;
} span;

typedef struct conv_task {
    const cnn_conv_desc *d;
    const double *x, *w, *b, *dy, *before, *before_b;
    vf_out out, out_b;
    span rows, cols;
} conv_task;

static bool span_make(span *s, int64_t o, int64_t i, int64_t k, int64_t stride, int64_t pad, int64_t dilation)
{
    s->first = calloc((size_t)k * 2, sizeof *s->first);
    if (s->first == NULL) return false;
    s->last = s->first + k;
    for (int64_t p = o - 1; p >= 0; p--) {
        int64_t first, last;
        cnn_tap_range(p, i, k, stride, pad, dilation, &first, &last);
        for (int64_t t = first; t < last; t++) {
            s->first[t] = p;
            if (s->last[t] == 0) s->last[t] = p + 1;
        }
    }
    return true;
}

/* The column (or row) of x that tap t reads for output o. */
static int64_t input_row(const cnn_conv_desc *d, int64_t p, int64_t i) { return p * d->sh + i * (d->dh + 1) - d->ph; }
static int64_t input_col(const cnn_conv_desc *d, int64_t q, int64_t j) { return q * d->sw + j * (d->dw + 1) - d->pw; }

/* Position of w[k][c][i][j], c within the group. */
static int64_t weight(const cnn_conv_desc *d, int64_t k, int64_t c, int64_t i, int64_t j)
{
    if (d->flip) i = d->kh - 1 - i, j = d->kw - 1 - j;
    return ((k * (d->ic / d->g) + c) * d->kh + i) * d->kw + j;
}

/* Starts an element: what stood there, if it is added to, and the bias. */
static void start(const vf_out *out, int64_t e, const double *before, const double *bias, double taps)
{
    double value = 0.0, magnitude = 0.0;
    if (bias != NULL) value += *bias, magnitude += fabs(*bias), taps += 1.0;
    if (before != NULL) value += before[e], magnitude += fabs(before[e]), taps += 1.0;
    vf_put(out, e, value, magnitude, taps);
}

/* value[a] += factor * in[a*step] for a < count, and the magnitudes: one pass, nothing overlaps. */
static void add_products(double *restrict value, double *restrict magnitude, const double *restrict in, int64_t step,
                         double factor, int64_t count)
{
    if (step == 1)
        for (int64_t a = 0; a < count; a++) {
            value[a] += factor * in[a];
            magnitude[a] += fabs(factor * in[a]);
        }
    else
        for (int64_t a = 0; a < count; a++) {
            value[a] += factor * in[a * step];
            magnitude[a] += fabs(factor * in[a * step]);
        }
}

/* out[a*out_step] += factor * in[a*in_step] for a < count, and the magnitudes where they are wanted. */
static void add_row(const vf_out *out, int64_t at, int64_t out_step, const double *in, int64_t in_step, double factor,
                    int64_t count)
{
    double *value = out->value + at, *magnitude = out->magnitude == NULL ? NULL : out->magnitude + at;
    if (out_step == 1 && magnitude != NULL) {
        add_products(value, magnitude, in, in_step, factor, count);
        return;
    }
    for (int64_t a = 0; a < count; a++) value[a * out_step] += factor * in[a * in_step];
    for (int64_t a = 0; magnitude != NULL && a < count; a++) magnitude[a * out_step] += fabs(factor * in[a * in_step]);
}

/* Task (n, k): the plane y[n][k]. */
static void forward(void *arg, int64_t task, int worker)
{
    const conv_task *t = arg;
    const cnn_conv_desc *d = t->d;
    int64_t n = task / d->oc, k = task % d->oc, icg = d->ic / d->g, c0 = k / (d->oc / d->g) * icg;
    (void)worker;
    for (int64_t p = 0; p < d->oh; p++) {
        int64_t i0, i1, j0, j1;
        cnn_tap_range(p, d->ih, d->kh, d->sh, d->ph, d->dh, &i0, &i1);
        for (int64_t q = 0; q < d->ow; q++) {
            cnn_tap_range(q, d->iw, d->kw, d->sw, d->pw, d->dw, &j0, &j1);
            start(&t->out, (task * d->oh + p) * d->ow + q, t->before, t->b == NULL ? NULL : t->b + k,
                  (double)(icg * (i1 - i0) * (j1 - j0)));
        }
    }
    for (int64_t c = 0; c < icg; c++) {
        const double *plane = t->x + (n * d->ic + c0 + c) * d->ih * d->iw;
        for (int64_t i = 0; i < d->kh; i++)
            for (int64_t p = t->rows.first[i]; p < t->rows.last[i]; p++)
                for (int64_t j = 0; j < d->kw; j++) {
                    int64_t q = t->cols.first[j];
                    if (q == t->cols.last[j]) continue;
                    add_row(&t->out, (task * d->oh + p) * d->ow + q, 1,
                            plane + input_row(d, p, i) * d->iw + input_col(d, q, j), d->sw, t->w[weight(d, k, c, i, j)],
                            t->cols.last[j] - q);
                }
    }
}

/* How many (output, tap) pairs read input position `at`. */
static int64_t readers(const span *s, int64_t k, int64_t stride, int64_t pad, int64_t dilation, int64_t at)
{
    int64_t count = 0;
    for (int64_t t = 0; t < k; t++) {
        int64_t offset = at + pad - t * (dilation + 1); /* = p * stride */
        count += offset % stride == 0 && offset / stride >= s->first[t] && offset / stride < s->last[t];
    }
    return count;
}

/* Task (n, c): the plane dx[n][c]. */
static void backward_data(void *arg, int64_t task, int worker)
{
    const conv_task *t = arg;
    const cnn_conv_desc *d = t->d;
    int64_t n = task / d->ic, c = task % d->ic, icg = d->ic / d->g, ocg = d->oc / d->g, k0 = c / icg * ocg;
    (void)worker;
    for (int64_t h = 0; h < d->ih; h++) {
        int64_t in_column = ocg * readers(&t->rows, d->kh, d->sh, d->ph, d->dh, h);
        for (int64_t v = 0; v < d->iw; v++)
            start(&t->out, (task * d->ih + h) * d->iw + v, t->before, NULL,
                  (double)(in_column * readers(&t->cols, d->kw, d->sw, d->pw, d->dw, v)));
    }
    for (int64_t k = k0; k < k0 + ocg; k++)
        for (int64_t i = 0; i < d->kh; i++)
            for (int64_t p = t->rows.first[i]; p < t->rows.last[i]; p++)
                for (int64_t j = 0; j < d->kw; j++) {
                    int64_t q = t->cols.first[j];
                    if (q == t->cols.last[j]) continue;
                    add_row(&t->out, (task * d->ih + input_row(d, p, i)) * d->iw + input_col(d, q, j), d->sw,
                            t->dy + ((n * d->oc + k) * d->oh + p) * d->ow + q, 1, t->w[weight(d, k, c % icg, i, j)],
                            t->cols.last[j] - q);
                }
}

/* Sum and sum of absolute values of x[a*step] * y[a]. */
static void add_dot(double *sum, double *magnitude, const double *x, int64_t step, const double *y, int64_t count)
{
    for (int64_t a = 0; a < count; a++) {
        double product = x[a * step] * y[a];
        *sum += product;
        *magnitude += fabs(product);
    }
}

/* Task (k, c): the kernel dw[k][c]; with c = 0 also db[k]. */
static void backward_weights(void *arg, int64_t task, int worker)
{
    const conv_task *t = arg;
    const cnn_conv_desc *d = t->d;
    int64_t icg = d->ic / d->g, k = task / icg, c = task % icg, channel = k / (d->oc / d->g) * icg + c;
    (void)worker;
    for (int64_t i = 0; i < d->kh; i++)
        for (int64_t j = 0; j < d->kw; j++) {
            int64_t e = weight(d, k, c, i, j), q = t->cols.first[j], width = t->cols.last[j] - q;
            double sum = 0.0, magnitude = 0.0, terms = (double)(d->mb * (t->rows.last[i] - t->rows.first[i]) * width);
            for (int64_t n = 0; n < d->mb && width > 0; n++)
                for (int64_t p = t->rows.first[i]; p < t->rows.last[i]; p++)
                    add_dot(&sum, &magnitude,
                            t->x + ((n * d->ic + channel) * d->ih + input_row(d, p, i)) * d->iw + input_col(d, q, j),
                            d->sw, t->dy + ((n * d->oc + k) * d->oh + p) * d->ow + q, width);
            if (t->before != NULL) sum += t->before[e], magnitude += fabs(t->before[e]), terms += 1.0;
            vf_put(&t->out, e, sum, magnitude, terms);
        }
    if (c != 0 || t->out_b.value == NULL) return;
    double sum = 0.0, magnitude = 0.0, terms = (double)(d->mb * d->oh * d->ow);
    static const double one = 1.0;
    for (int64_t n = 0; n < d->mb; n++)
        add_dot(&sum, &magnitude, &one, 0, t->dy + (n * d->oc + k) * d->oh * d->ow, d->oh * d->ow);
    if (t->before_b != NULL) sum += t->before_b[k], magnitude += fabs(t->before_b[k]), terms += 1.0;
    vf_put(&t->out_b, k, sum, magnitude, terms);
}

cnn_status vf_reference_conv(const vf_call *call, cnn_error *err)
{
    static const char *const result[] = {[CNN_FWD] = "y", [CNN_BWD_D] = "dx", [CNN_BWD_W] = "dw"};
    const cnn_conv_desc *d = &call->problem->u.conv;
    conv_task t = {
        .d = d, .x = vf_in(call, "x"), .w = vf_in(call, "w"), .b = vf_in(call, "b"), .dy = vf_in(call, "dy")};
    t.out = vf_output(call, result[call->dir]);
    t.out_b = vf_output(call, "db");
    if (call->beta != 0.0) t.before = vf_in(call, result[call->dir]), t.before_b = vf_in(call, "db");

    bool made = span_make(&t.rows, d->oh, d->ih, d->kh, d->sh, d->ph, d->dh) &&
                span_make(&t.cols, d->ow, d->iw, d->kw, d->sw, d->pw, d->dw);
    if (made && call->dir == CNN_FWD) parallel_for(call->pool, d->mb * d->oc, forward, &t);
    if (made && call->dir == CNN_BWD_D) parallel_for(call->pool, d->mb * d->ic, backward_data, &t);
    if (made && call->dir == CNN_BWD_W) parallel_for(call->pool, d->oc * (d->ic / d->g), backward_weights, &t);
    free(t.rows.first);
    free(t.cols.first);
    return made ? CNN_OK : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the reference's windows");
}
