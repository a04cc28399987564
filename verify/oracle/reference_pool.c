/* reference_pool.c: max and average pooling. A task is one plane (n, c): windows never cross planes. */
#include "reference.h"

#include "roundings.h"

#include <math.h>

typedef struct pool_task {
    const cnn_pool_desc *d;
    const double *x, *dy;
    vf_out out;
} pool_task;

/* The taps of a window that lie inside x: rows [i0,i1), columns [j0,j1), and x's row and column of tap (0,0). */
typedef struct window {
    int64_t i0, i1, j0, j1, top, left;
} window;

static window window_at(const cnn_pool_desc *d, int64_t p, int64_t q)
{
    window v = {.top = p * d->sh - d->ph, .left = q * d->sw - d->pw};
    cnn_tap_range(p, d->ih, d->kh, d->sh, d->ph, d->dh, &v.i0, &v.i1);
    cnn_tap_range(q, d->iw, d->kw, d->sw, d->pw, d->dw, &v.j0, &v.j1);
    return v;
}

/* Position in the plane of tap (i, j). */
static int64_t tap(const cnn_pool_desc *d, const window *v, int64_t i, int64_t j)
{
    return (v->top + i * (d->dh + 1)) * d->iw + v->left + j * (d->dw + 1);
}

/* The first maximum in row-major order. */
static int64_t max_tap(const cnn_pool_desc *d, const window *v, const double *plane)
{
    int64_t best = tap(d, v, v->i0, v->j0);
    for (int64_t i = v->i0; i < v->i1; i++)
        for (int64_t j = v->j0; j < v->j1; j++)
            if (plane[tap(d, v, i, j)] > plane[best]) best = tap(d, v, i, j);
    return best;
}

static double divisor(const cnn_pool_desc *d, const window *v)
{
    bool inside_only = d->kind == CNN_POOL_AVG;
    return (double)(inside_only ? (v->i1 - v->i0) * (v->j1 - v->j0) : d->kh * d->kw);
}

static void forward(void *arg, int64_t task, int worker)
{
    const pool_task *t = arg;
    const cnn_pool_desc *d = t->d;
    const double *plane = t->x + task * d->ih * d->iw;
    (void)worker;
    for (int64_t p = 0; p < d->oh; p++)
        for (int64_t q = 0; q < d->ow; q++) {
            window v = window_at(d, p, q);
            int64_t e = (task * d->oh + p) * d->ow + q;
            if (d->kind == CNN_POOL_MAX) {
                double y = plane[max_tap(d, &v, plane)];
                vf_put(&t->out, e, y, fabs(y), 0.0);
                continue;
            }
            double sum = 0.0, magnitude = 0.0, count = divisor(d, &v);
            for (int64_t i = v.i0; i < v.i1; i++)
                for (int64_t j = v.j0; j < v.j1; j++) {
                    sum += plane[tap(d, &v, i, j)];
                    magnitude += fabs(plane[tap(d, &v, i, j)]);
                }
            vf_put(&t->out, e, sum / count, magnitude / count,
                   (double)((v.i1 - v.i0) * (v.j1 - v.j0)) + VF_ROUND_AVERAGE);
        }
}

/* Adds g to element e, one more rounding. */
static void add(const vf_out *out, int64_t e, double g)
{
    out->value[e] += g;
    if (out->magnitude == NULL) return;
    out->magnitude[e] += fabs(g);
    out->roundings[e] += 1.0;
}

static void backward(void *arg, int64_t task, int worker)
{
    const pool_task *t = arg;
    const cnn_pool_desc *d = t->d;
    int64_t base = task * d->ih * d->iw;
    bool is_max = d->kind == CNN_POOL_MAX;
    (void)worker;
    /* A maximum's gradient is a plain sum of dy: of one term, a copy (no rounding: start at -1). */
    for (int64_t e = 0; e < d->ih * d->iw; e++) vf_put(&t->out, base + e, 0.0, 0.0, is_max ? -1.0 : VF_ROUND_AVERAGE);
    for (int64_t p = 0; p < d->oh; p++)
        for (int64_t q = 0; q < d->ow; q++) {
            window v = window_at(d, p, q);
            double dy = t->dy[(task * d->oh + p) * d->ow + q];
            if (is_max) {
                add(&t->out, base + max_tap(d, &v, t->x + base), dy);
                continue;
            }
            for (int64_t i = v.i0; i < v.i1; i++)
                for (int64_t j = v.j0; j < v.j1; j++) add(&t->out, base + tap(d, &v, i, j), dy / divisor(d, &v));
        }
    if (t->out.roundings == NULL) return;
    for (int64_t e = base; e < base + d->ih * d->iw; e++)
        if (t->out.magnitude[e] == 0.0 || t->out.roundings[e] < 0.0) t->out.roundings[e] = 0.0;
}

void vf_reference_pool(const vf_call *call)
{
    const cnn_pool_desc *d = &call->problem->u.pool;
    pool_task t = {.d = d, .x = vf_in(call, "x"), .dy = vf_in(call, "dy")};
    t.out = vf_output(call, call->dir == CNN_FWD ? "y" : "dx");
    parallel_for(call->pool, d->mb * d->ic, call->dir == CNN_FWD ? forward : backward, &t);
}

/* The runner-up of a window whose maximum it could take the place of, within `width`; -1: none. */
static int64_t close_tap(const cnn_pool_desc *d, const window *v, const double *plane, int64_t best, double width)
{
    int64_t second = -1;
    for (int64_t i = v->i0; i < v->i1; i++)
        for (int64_t j = v->j0; j < v->j1; j++) {
            const int64_t at = tap(d, v, i, j);
            if (at != best && (second < 0 || plane[at] > plane[second])) second = at;
        }
    return second >= 0 && plane[best] - plane[second] <= width ? second : -1;
}

double vf_pool_clearance(const cnn_pool_desc *d, const double *x)
{
    double least = (double)INFINITY;
    for (int64_t c = 0; c < d->mb * d->ic && d->kind == CNN_POOL_MAX; c++)
        for (int64_t w = 0; w < d->oh * d->ow; w++) {
            const double *plane = x + c * d->ih * d->iw;
            const window v = window_at(d, w / d->ow, w % d->ow);
            const double most = plane[max_tap(d, &v, plane)];
            for (int64_t i = v.i0; i < v.i1; i++)
                for (int64_t j = v.j0; j < v.j1; j++)
                    if (plane[tap(d, &v, i, j)] != most) least = fmin(least, most - plane[tap(d, &v, i, j)]);
        }
    return least;
}

void vf_pool_tilt(const cnn_pool_desc *d, double *x, double width)
{
    if (d->kind != CNN_POOL_MAX) return;
    for (int64_t c = 0; c < d->mb * d->ic; c++)
        for (int64_t w = 0; w < d->oh * d->ow; w++) {
            double *plane = x + c * d->ih * d->iw;
            const window v = window_at(d, w / d->ow, w % d->ow);
            const int64_t best = max_tap(d, &v, plane), second = close_tap(d, &v, plane, best, width);
            if (second >= 0) plane[second] = plane[best] + width;
        }
}

int64_t vf_pool_mask(const cnn_pool_desc *d, const double *x, double width, double *v)
{
    int64_t masked = 0;
    for (int64_t c = 0; c < d->mb * d->ic && d->kind == CNN_POOL_MAX; c++)
        for (int64_t w = 0; w < d->oh * d->ow; w++) {
            const double *plane = x + c * d->ih * d->iw;
            const window at = window_at(d, w / d->ow, w % d->ow);
            if (close_tap(d, &at, plane, max_tap(d, &at, plane), width) < 0) continue;
            for (int64_t i = at.i0; i < at.i1; i++)
                for (int64_t j = at.j0; j < at.j1; j++) {
                    double *element = v + c * d->ih * d->iw + tap(d, &at, i, j);
                    masked += *element != 0.0;
                    *element = 0.0;
                }
        }
    return masked;
}
