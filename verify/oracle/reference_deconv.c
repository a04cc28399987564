/* reference_deconv.c: the transposed convolution, as PyTorch defines ConvTranspose2d: each pixel of x, times the
 * kernel, is added to what it reaches in y, y[n,k, h*sh - ph + i*(dh+1), v*sw - pw + j*(dw+1)] += x[n,c,h,v] *
 * w[c,k,i,j], and both gradients follow from that line. Plain loops of their own: nothing is shared with the
 * convolution's. */
#include "reference.h"

#include <math.h>

/* Sizes as the transposed convolution has them. */
typedef struct deconv {
    const cnn_conv_desc *d; /* strides, padding, dilation, kernel */
    int64_t in, out;        /* channels */
    int64_t ih, iw, oh, ow;
    int64_t g_in, g_out; /* of a group */
    const double *x, *w, *dy;
    vf_out result;
} deconv;

static void add(const vf_out *out, int64_t e, double term)
{
    out->value[e] += term;
    if (out->magnitude == NULL) return;
    out->magnitude[e] += fabs(term);
    out->roundings[e] += 1.0;
}

/* Where pixel (h,v) of x reaches in y by tap (i,j); -1: beyond it. */
static int64_t reached(const deconv *t, int64_t h, int64_t v, int64_t i, int64_t j)
{
    const cnn_conv_desc *d = t->d;
    const int64_t p = h * d->sh - d->ph + i * (d->dh + 1), q = v * d->sw - d->pw + j * (d->dw + 1);
    return p >= 0 && p < t->oh && q >= 0 && q < t->ow ? p * t->ow + q : -1;
}

static int64_t weight(const deconv *t, int64_t c, int64_t k, int64_t i, int64_t j)
{
    const cnn_conv_desc *d = t->d;
    if (d->flip) i = d->kh - 1 - i, j = d->kw - 1 - j;
    return ((c * t->g_out + k % t->g_out) * d->kh + i) * d->kw + j;
}

/* All products of channel c of image n with channel k, each added to what `dir` computes. */
static void add_products(const deconv *t, cnn_dir dir, int64_t n, int64_t c, int64_t k)
{
    const int64_t x0 = (n * t->in + c) * t->ih * t->iw, y0 = (n * t->out + k) * t->oh * t->ow;
    for (int64_t i = 0; i < t->d->kh; i++)
        for (int64_t j = 0; j < t->d->kw; j++) {
            const int64_t w = weight(t, c, k, i, j);
            for (int64_t h = 0; h < t->ih; h++)
                for (int64_t v = 0; v < t->iw; v++) {
                    const int64_t at = reached(t, h, v, i, j), x = x0 + h * t->iw + v;
                    if (at < 0) continue;
                    if (dir == CNN_FWD) add(&t->result, y0 + at, t->x[x] * t->w[w]);
                    if (dir == CNN_BWD_D) add(&t->result, x, t->dy[y0 + at] * t->w[w]);
                    if (dir == CNN_BWD_W) add(&t->result, w, t->dy[y0 + at] * t->x[x]);
                }
        }
}

/* Tasks own what they write: an output plane; an input plane; the weights of an input channel. */
static void forward(void *arg, int64_t task, int worker)
{
    const deconv *t = arg;
    const int64_t n = task / t->out, k = task % t->out, first = k / t->g_out * t->g_in;
    (void)worker;
    for (int64_t c = first; c < first + t->g_in; c++) add_products(t, CNN_FWD, n, c, k);
}

static void backward_data(void *arg, int64_t task, int worker)
{
    const deconv *t = arg;
    const int64_t n = task / t->in, c = task % t->in, first = c / t->g_in * t->g_out;
    (void)worker;
    for (int64_t k = first; k < first + t->g_out; k++) add_products(t, CNN_BWD_D, n, c, k);
}

static void backward_weights(void *arg, int64_t c, int worker)
{
    const deconv *t = arg;
    const int64_t first = c / t->g_in * t->g_out;
    (void)worker;
    for (int64_t k = first; k < first + t->g_out; k++)
        for (int64_t n = 0; n < t->d->mb; n++) add_products(t, CNN_BWD_W, n, c, k);
}

/* What stood there, if it is added to; else zeros. And a bias for each of `channels`, `plane` elements apart. */
static void start(const vf_out *out, int64_t count, const double *before, const double *bias, int64_t plane,
                  int64_t channels)
{
    for (int64_t e = 0; out->value != NULL && e < count; e++) {
        vf_put(out, e, 0.0, 0.0, 0.0);
        if (bias != NULL) add(out, e, bias[e / plane % channels]);
        if (before != NULL) add(out, e, before[e]);
    }
}

static void add_bias_gradient(const deconv *t, const vf_out *db)
{
    const int64_t plane = t->oh * t->ow;
    for (int64_t e = 0; e < t->d->mb * t->out * plane; e++) add(db, e / plane % t->out, t->dy[e]);
}

void vf_reference_deconv(const vf_call *call)
{
    static const char *const names[] = {[CNN_FWD] = "y", [CNN_BWD_D] = "dx", [CNN_BWD_W] = "dw"};
    const cnn_conv_desc *d = &call->problem->u.conv; /* the other way round: its y is what x is here */
    const int result = vf_index(call->operands, call->count, names[call->dir]);
    const vf_out db = vf_output(call, "db");
    const bool adds = call->beta != 0.0;
    deconv t = {.d = d,
                .in = d->oc,
                .out = d->ic,
                .ih = d->oh,
                .iw = d->ow,
                .oh = d->ih,
                .ow = d->iw,
                .g_in = d->oc / d->g,
                .g_out = d->ic / d->g,
                .x = vf_in(call, "x"),
                .w = vf_in(call, "w"),
                .dy = vf_in(call, "dy"),
                .result = call->out[result]};
    start(&t.result, call->operands[result].count, adds ? call->in[result] : NULL, vf_in(call, "b"), t.oh * t.ow,
          t.out);
    start(&db, t.out, adds ? vf_in(call, "db") : NULL, NULL, 1, 1);
    if (t.result.value != NULL && call->dir == CNN_FWD) parallel_for(call->pool, d->mb * t.out, forward, &t);
    if (t.result.value != NULL && call->dir == CNN_BWD_D) parallel_for(call->pool, d->mb * t.in, backward_data, &t);
    if (t.result.value != NULL && call->dir == CNN_BWD_W) parallel_for(call->pool, t.in, backward_weights, &t);
    if (db.value != NULL) add_bias_gradient(&t, &db);
}
