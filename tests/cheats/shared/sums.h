/* sums.h: convolutions in f32 whose sums are added up by a function of the plug-in's own: honest ones in an order of
 * their own, others with fewer bits. */
#ifndef CHEATS_SUMS_H
#define CHEATS_SUMS_H
#include "cheat.h"

/* The sum of the n products p[i] * q[i]. */
typedef float sum_fn(const float *p, const float *q, int64_t n);

/* The factors of element i of the result, of out_count(): how many. */
static inline int64_t gather(const cnn_conv_desc *d, cnn_dir dir, const cnn_weighted_args *a, const int64_t at[4],
                             float *p, float *q)
{
    const float *x = (const float *)a->x, *w = (const float *)a->w, *dy = (const float *)a->dy;
    const int64_t icg = d->ic / d->g, ocg = d->oc / d->g;
    int64_t n = 0;
    for (int64_t c = 0; dir == CNN_FWD && c < icg; c++)
        for (int64_t i = 0; i < d->kh; i++)
            for (int64_t j = 0; j < d->kw; j++) {
                const int64_t h = at[2] * d->sh + i * (d->dh + 1) - d->ph, v = at[3] * d->sw + j * (d->dw + 1) - d->pw;
                if (h < 0 || h >= d->ih || v < 0 || v >= d->iw) continue;
                p[n] = x[x_at(d, at[0], at[1] / ocg * icg + c, h, v)], q[n++] = w[w_at(d, at[1], c, i, j)];
            }
    for (int64_t k = 0; dir == CNN_BWD_D && k < ocg; k++)
        for (int64_t i = 0; i < d->kh; i++)
            for (int64_t j = 0; j < d->kw; j++) {
                const int64_t h = at[2] + d->ph - i * (d->dh + 1), v = at[3] + d->pw - j * (d->dw + 1);
                const int64_t channel = at[1] / icg * ocg + k;
                if (h < 0 || h % d->sh != 0 || h / d->sh >= d->oh) continue;
                if (v < 0 || v % d->sw != 0 || v / d->sw >= d->ow) continue;
                p[n] = dy[y_at(d, at[0], channel, h / d->sh, v / d->sw)],
                q[n++] = w[w_at(d, channel, at[1] % icg, i, j)];
            }
    for (int64_t b = 0; dir == CNN_BWD_W && b < d->mb; b++)
        for (int64_t r = 0; r < d->oh; r++)
            for (int64_t s = 0; s < d->ow; s++) {
                const int64_t i = d->flip ? d->kh - 1 - at[2] : at[2], j = d->flip ? d->kw - 1 - at[3] : at[3];
                const int64_t h = r * d->sh + i * (d->dh + 1) - d->ph, v = s * d->sw + j * (d->dw + 1) - d->pw;
                if (h < 0 || h >= d->ih || v < 0 || v >= d->iw) continue;
                p[n] = dy[y_at(d, b, at[0], r, s)], q[n++] = x[x_at(d, b, at[0] / ocg * icg + at[1], h, v)];
            }
    return n;
}

/* All elements; the bias, and what beta leaves, are added last. */
static inline cnn_status conv_summed(const cnn_plan *plan, const cnn_weighted_args *a, sum_fn *sum, cnn_error *err)
{
    const cnn_conv_desc conv = as_conv(&plan->problem), *d = &conv;
    const cnn_dir dir = plan->dir;
    const int64_t channels = dir == CNN_BWD_D ? d->oc / d->g : d->ic / d->g;
    const int64_t most = dir == CNN_BWD_W ? d->mb * d->oh * d->ow : channels * d->kh * d->kw;
    float *p = (float *)malloc((size_t)most * 2 * sizeof *p);
    float *out = (float *)(dir == CNN_FWD ? a->y : dir == CNN_BWD_D ? a->dx : a->dw);
    if (p == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %lld factors", (long long)most);
    for (int64_t e = 0; e < out_count(d, dir); e++) {
        int64_t at[4] = {0};
        if (dir == CNN_BWD_W)
            unravel(CNN_NCHW, d->ic / d->g, d->kh, d->kw, e, at);
        else if (dir == CNN_FWD)
            unravel(d->t.layout, d->oc, d->oh, d->ow, e, at);
        else
            unravel(d->t.layout, d->ic, d->ih, d->iw, e, at);
        const int64_t n = gather(d, dir, a, at, p, p + most);
        float value = sum(p, p + most, n);
        if (dir == CNN_FWD && a->b != NULL) value += ((const float *)a->b)[at[1]];
        out[e] = a->beta != 0 ? out[e] + value : value;
    }
    for (int64_t k = 0; dir == CNN_BWD_W && a->db != NULL && k < d->oc; k++) bias_element(d, a, k);
    free(p);
    return CNN_OK;
}

#endif
