/* elements.h: honest operations, one element of the result at a time, for the cheats in C and in CUDA. An FC is a
 * convolution whose kernel is as large as its input. Sums are in double. */
#ifndef CHEATS_ELEMENTS_H
#define CHEATS_ELEMENTS_H
#include <cnn.h>

#include <math.h>
#include <string.h>

#ifdef __cplusplus
#define CHEAT_FN static inline __host__ __device__
#else
#define CHEAT_FN static inline
#endif

CHEAT_FN cnn_conv_desc as_conv(const cnn_problem *p)
{
    const cnn_fc_desc *f = &p->u.fc;
    cnn_conv_desc d;
    if (p->op == CNN_OP_CONV) return p->u.conv;
    memset(&d, 0, sizeof d);
    d.t = f->t, d.mb = f->mb, d.ic = f->ic, d.oc = f->oc, d.bias = f->bias;
    d.ih = d.kh = f->ih, d.iw = d.kw = f->iw, d.g = d.oh = d.ow = d.sh = d.sw = 1;
    return d;
}

CHEAT_FN int64_t x_count(const cnn_conv_desc *d) { return d->mb * d->ic * d->ih * d->iw; }
CHEAT_FN int64_t w_count(const cnn_conv_desc *d) { return d->oc * (d->ic / d->g) * d->kh * d->kw; }
CHEAT_FN int64_t y_count(const cnn_conv_desc *d) { return d->mb * d->oc * d->oh * d->ow; }
CHEAT_FN int64_t out_count(const cnn_conv_desc *d, cnn_dir dir)
{
    return dir == CNN_FWD ? y_count(d) : dir == CNN_BWD_D ? x_count(d) : w_count(d);
}

CHEAT_FN int64_t at4(cnn_layout l, int64_t cs, int64_t hs, int64_t ws, int64_t n, int64_t c, int64_t h, int64_t w)
{
    return l == CNN_NCHW ? ((n * cs + c) * hs + h) * ws + w : ((n * hs + h) * ws + w) * cs + c;
}
CHEAT_FN int64_t x_at(const cnn_conv_desc *d, int64_t n, int64_t c, int64_t h, int64_t v)
{
    return at4(d->t.layout, d->ic, d->ih, d->iw, n, c, h, v);
}
CHEAT_FN int64_t y_at(const cnn_conv_desc *d, int64_t n, int64_t k, int64_t p, int64_t q)
{
    return at4(d->t.layout, d->oc, d->oh, d->ow, n, k, p, q);
}
/* c counts within the group. */
CHEAT_FN int64_t w_at(const cnn_conv_desc *d, int64_t k, int64_t c, int64_t i, int64_t j)
{
    return ((k * (d->ic / d->g) + c) * d->kh + (d->flip ? d->kh - 1 - i : i)) * d->kw + (d->flip ? d->kw - 1 - j : j);
}

/* The four coordinates of an element: of an activation in its layout, or of a weight. */
CHEAT_FN void unravel(cnn_layout l, int64_t cs, int64_t hs, int64_t ws, int64_t i, int64_t r[4])
{
    if (l == CNN_NHWC) r[1] = i % cs, i /= cs;
    r[3] = i % ws, i /= ws;
    r[2] = i % hs, i /= hs;
    if (l == CNN_NCHW) r[1] = i % cs, i /= cs;
    r[0] = i;
}

/* v with `drop` bits fewer in the mantissa: 0 f32, 13 tf32, 16 bf16. */
CHEAT_FN double low(float v, int drop)
{
    uint32_t u;
    if (drop == 0) return (double)v;
    memcpy(&u, &v, sizeof u);
    u = (u + (1u << (drop - 1))) & ~((1u << drop) - 1);
    memcpy(&v, &u, sizeof v);
    return (double)v;
}

CHEAT_FN double fwd_element(const cnn_conv_desc *d, const float *x, const float *w, const int64_t r[4], int drop)
{
    const int64_t channels = d->ic / d->g, first = r[1] / (d->oc / d->g) * channels;
    double sum = 0;
    for (int64_t c = 0; c < channels; c++)
        for (int64_t i = 0; i < d->kh; i++)
            for (int64_t j = 0; j < d->kw; j++) {
                const int64_t h = r[2] * d->sh + i * (d->dh + 1) - d->ph, v = r[3] * d->sw + j * (d->dw + 1) - d->pw;
                if (h < 0 || h >= d->ih || v < 0 || v >= d->iw) continue;
                sum += low(x[x_at(d, r[0], first + c, h, v)], drop) * low(w[w_at(d, r[1], c, i, j)], drop);
            }
    return sum;
}

CHEAT_FN double bwd_d_element(const cnn_conv_desc *d, const float *dy, const float *w, const int64_t r[4], int drop)
{
    const int64_t channels = d->oc / d->g, first = r[1] / (d->ic / d->g) * channels;
    double sum = 0;
    for (int64_t k = first; k < first + channels; k++)
        for (int64_t i = 0; i < d->kh; i++)
            for (int64_t j = 0; j < d->kw; j++) {
                const int64_t h = r[2] + d->ph - i * (d->dh + 1), v = r[3] + d->pw - j * (d->dw + 1);
                if (h < 0 || h % d->sh != 0 || h / d->sh >= d->oh) continue;
                if (v < 0 || v % d->sw != 0 || v / d->sw >= d->ow) continue;
                sum += low(dy[y_at(d, r[0], k, h / d->sh, v / d->sw)], drop) *
                       low(w[w_at(d, k, r[1] % (d->ic / d->g), i, j)], drop);
            }
    return sum;
}

CHEAT_FN double bwd_w_element(const cnn_conv_desc *d, const float *dy, const float *x, const int64_t r[4], int drop)
{
    const int64_t i = d->flip ? d->kh - 1 - r[2] : r[2], j = d->flip ? d->kw - 1 - r[3] : r[3];
    const int64_t channel = r[0] / (d->oc / d->g) * (d->ic / d->g) + r[1];
    double sum = 0;
    for (int64_t n = 0; n < d->mb; n++)
        for (int64_t p = 0; p < d->oh; p++)
            for (int64_t q = 0; q < d->ow; q++) {
                const int64_t h = p * d->sh + i * (d->dh + 1) - d->ph, v = q * d->sw + j * (d->dw + 1) - d->pw;
                if (h < 0 || h >= d->ih || v < 0 || v >= d->iw) continue;
                sum += low(dy[y_at(d, n, r[0], p, q)], drop) * low(x[x_at(d, n, channel, h, v)], drop);
            }
    return sum;
}

/* Makes element i of the result, of out_count(); its factors have `drop` bits fewer. */
CHEAT_FN void conv_element(const cnn_conv_desc *d, cnn_dir dir, const cnn_weighted_args *a, int64_t i, int drop)
{
    const float *x = (const float *)a->x, *w = (const float *)a->w, *dy = (const float *)a->dy;
    float *out = (float *)(dir == CNN_FWD ? a->y : dir == CNN_BWD_D ? a->dx : a->dw);
    int64_t r[4] = {0, 0, 0, 0};
    double sum = 0;
    if (dir == CNN_FWD) {
        unravel(d->t.layout, d->oc, d->oh, d->ow, i, r);
        sum = fwd_element(d, x, w, r, drop) + (a->b != NULL ? (double)((const float *)a->b)[r[1]] : 0);
    } else if (dir == CNN_BWD_D) {
        unravel(d->t.layout, d->ic, d->ih, d->iw, i, r);
        sum = bwd_d_element(d, dy, w, r, drop);
    } else {
        unravel(CNN_NCHW, d->ic / d->g, d->kh, d->kw, i, r);
        sum = bwd_w_element(d, dy, x, r, drop);
    }
    out[i] = (float)(a->beta != 0 ? (double)out[i] + sum : sum);
}

/* Makes db[k]. */
CHEAT_FN void bias_element(const cnn_conv_desc *d, const cnn_weighted_args *a, int64_t k)
{
    float *db = (float *)a->db;
    double sum = a->beta != 0 ? (double)db[k] : 0;
    for (int64_t n = 0; n < d->mb; n++)
        for (int64_t p = 0; p < d->oh; p++)
            for (int64_t q = 0; q < d->ow; q++) sum += (double)((const float *)a->dy)[y_at(d, n, k, p, q)];
    db[k] = (float)sum;
}

/* Of image n: softmax, the loss and whether it is right. */
CHEAT_FN void loss_element(const cnn_loss_desc *d, const cnn_loss_args *a, int64_t n)
{
    const float *x = (const float *)a->x + n * d->ic;
    float *y = (float *)a->y + n * d->ic;
    int64_t best = 0;
    double sum = 0;
    for (int64_t k = 1; k < d->ic; k++)
        if (x[k] > x[best]) best = k;
    for (int64_t k = 0; k < d->ic; k++) sum += exp((double)x[k] - (double)x[best]);
    for (int64_t k = 0; k < d->ic; k++) y[k] = (float)(exp((double)x[k] - (double)x[best]) / sum);
    if (a->loss_sum != NULL) *a->loss_sum += log(sum) + (double)x[best] - (double)x[a->labels[n]];
    if (a->correct != NULL) *a->correct += best == a->labels[n];
}

CHEAT_FN void loss_bwd_element(const cnn_loss_desc *d, const cnn_loss_args *a, int64_t i)
{
    const float *y = (const float *)a->y;
    ((float *)a->dx)[i] = (float)(((double)y[i] - (a->labels[i / d->ic] == i % d->ic)) * a->scale);
}

/* Of parameter i; *step is added to elsewhere. */
CHEAT_FN void sgd_element(const cnn_optimizer_desc *d, const cnn_optimizer_args *a, int64_t i)
{
    float *w = (float *)a->w;
    const double fall = d->decay_steps > 0 ? fmax(0.0, 1 - (double)*a->step / d->decay_steps) : 1, v = (double)w[i];
    const double g = (double)((const float *)a->grad)[i] + d->l1 * ((v > 0) - (v < 0)) + d->l2 * v;
    w[i] = (float)(v - d->lr * fall * g);
}

#endif
