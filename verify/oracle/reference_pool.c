/* reference_pool.c: max and average pooling, with a depth or without. A task is one plane (n, c), of all depths:
 * windows never cross planes. */
#include "reference.h"

#include "roundings.h"

#include <math.h>

typedef struct pool_task {
    cnn_pool_desc d;
    const double *x, *dy;
    vf_out out;
} pool_task;

/* The taps of a window that lie inside x: depths [t0,t1), rows [i0,i1), columns [j0,j1), and x's depth, row and column
 * of tap (0,0,0). */
typedef struct window {
    int64_t t0, t1, i0, i1, j0, j1, front, top, left;
} window;

static int64_t windows_of(const cnn_pool_desc *d) { return d->od * d->oh * d->ow; }
static int64_t pixels_of(const cnn_pool_desc *d) { return d->id * d->ih * d->iw; }

/* Window number w, in the order of the outputs. */
static window window_at(const cnn_pool_desc *d, int64_t w)
{
    const int64_t r = w / (d->oh * d->ow), p = w / d->ow % d->oh, q = w % d->ow;
    window v = {.front = r * d->sd - d->pd, .top = p * d->sh - d->ph, .left = q * d->sw - d->pw};
    cnn_tap_range(r, d->id, d->kd, d->sd, d->pd, d->dd, &v.t0, &v.t1);
    cnn_tap_range(p, d->ih, d->kh, d->sh, d->ph, d->dh, &v.i0, &v.i1);
    cnn_tap_range(q, d->iw, d->kw, d->sw, d->pw, d->dw, &v.j0, &v.j1);
    return v;
}

/* Position in the plane of tap (t, i, j). */
static int64_t tap(const cnn_pool_desc *d, const window *v, int64_t t, int64_t i, int64_t j)
{
    const int64_t row = (v->front + t * (d->dd + 1)) * d->ih + v->top + i * (d->dh + 1);
    return row * d->iw + v->left + j * (d->dw + 1);
}

#define EACH_TAP(v)                                                                                                    \
    for (int64_t t = (v)->t0; t < (v)->t1; t++)                                                                        \
        for (int64_t i = (v)->i0; i < (v)->i1; i++)                                                                    \
            for (int64_t j = (v)->j0; j < (v)->j1; j++)

/* The first maximum in row-major order. */
static int64_t max_tap(const cnn_pool_desc *d, const window *v, const double *plane)
{
    int64_t best = tap(d, v, v->t0, v->i0, v->j0);
    EACH_TAP(v) if (plane[tap(d, v, t, i, j)] > plane[best]) best = tap(d, v, t, i, j);
    return best;
}

static int64_t taps_inside(const window *v) { return (v->t1 - v->t0) * (v->i1 - v->i0) * (v->j1 - v->j0); }

static double divisor(const cnn_pool_desc *d, const window *v)
{
    bool inside_only = d->kind == CNN_POOL_AVG;
    return (double)(inside_only ? taps_inside(v) : d->kd * d->kh * d->kw);
}

static void forward(void *arg, int64_t task, int worker)
{
    const pool_task *job = arg;
    const cnn_pool_desc *d = &job->d;
    const double *plane = job->x + task * pixels_of(d);
    (void)worker;
    for (int64_t w = 0; w < windows_of(d); w++) {
        window v = window_at(d, w);
        int64_t e = task * windows_of(d) + w;
        if (d->kind == CNN_POOL_MAX) {
            double y = plane[max_tap(d, &v, plane)];
            vf_put(&job->out, e, y, fabs(y), 0.0);
            continue;
        }
        double sum = 0.0, magnitude = 0.0, count = divisor(d, &v);
        EACH_TAP(&v)
        {
            sum += plane[tap(d, &v, t, i, j)];
            magnitude += fabs(plane[tap(d, &v, t, i, j)]);
        }
        vf_put(&job->out, e, sum / count, magnitude / count, (double)taps_inside(&v) + VF_ROUND_AVERAGE);
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
    const pool_task *job = arg;
    const cnn_pool_desc *d = &job->d;
    const int64_t base = task * pixels_of(d), end = base + pixels_of(d);
    bool is_max = d->kind == CNN_POOL_MAX;
    (void)worker;
    /* A maximum's gradient is a plain sum of dy: of one term, a copy (no rounding: start at -1). */
    for (int64_t e = base; e < end; e++) vf_put(&job->out, e, 0.0, 0.0, is_max ? -1.0 : VF_ROUND_AVERAGE);
    for (int64_t w = 0; w < windows_of(d); w++) {
        window v = window_at(d, w);
        double dy = job->dy[task * windows_of(d) + w];
        if (is_max) {
            add(&job->out, base + max_tap(d, &v, job->x + base), dy);
            continue;
        }
        EACH_TAP(&v) add(&job->out, base + tap(d, &v, t, i, j), dy / divisor(d, &v));
    }
    if (job->out.roundings == NULL) return;
    for (int64_t e = base; e < end; e++)
        if (job->out.magnitude[e] == 0.0 || job->out.roundings[e] < 0.0) job->out.roundings[e] = 0.0;
}

void vf_reference_pool(const vf_call *call)
{
    const cnn_pool_desc d = cnn_pool_with_depth(call->problem);
    pool_task job = {.d = d, .x = vf_in(call, "x"), .dy = vf_in(call, "dy")};
    job.out = vf_output(call, call->dir == CNN_FWD ? "y" : "dx");
    parallel_for(call->pool, d.mb * d.ic, call->dir == CNN_FWD ? forward : backward, &job);
}

/* The runner-up of a window whose maximum it could take the place of, within `width`; -1: none. */
static int64_t close_tap(const cnn_pool_desc *d, const window *v, const double *plane, int64_t best, double width)
{
    int64_t second = -1;
    EACH_TAP(v)
    {
        const int64_t at = tap(d, v, t, i, j);
        if (at != best && (second < 0 || plane[at] > plane[second])) second = at;
    }
    return second >= 0 && plane[best] - plane[second] <= width ? second : -1;
}

double vf_pool_clearance(const cnn_problem *problem, const double *x)
{
    const cnn_pool_desc d = cnn_pool_with_depth(problem);
    double least = (double)INFINITY;
    for (int64_t c = 0; c < d.mb * d.ic && d.kind == CNN_POOL_MAX; c++)
        for (int64_t w = 0; w < windows_of(&d); w++) {
            const double *plane = x + c * pixels_of(&d);
            const window v = window_at(&d, w);
            const double most = plane[max_tap(&d, &v, plane)];
            EACH_TAP(&v)
            {
                const double value = plane[tap(&d, &v, t, i, j)];
                if (value != most) least = fmin(least, most - value);
            }
        }
    return least;
}

void vf_pool_tilt(const cnn_problem *problem, double *x, double width)
{
    const cnn_pool_desc d = cnn_pool_with_depth(problem);
    for (int64_t c = 0; c < d.mb * d.ic && d.kind == CNN_POOL_MAX; c++)
        for (int64_t w = 0; w < windows_of(&d); w++) {
            double *plane = x + c * pixels_of(&d);
            const window v = window_at(&d, w);
            const int64_t best = max_tap(&d, &v, plane), second = close_tap(&d, &v, plane, best, width);
            if (second >= 0) plane[second] = plane[best] + width;
        }
}

int64_t vf_pool_mask(const cnn_problem *problem, const double *x, double width, double *weights)
{
    const cnn_pool_desc d = cnn_pool_with_depth(problem);
    int64_t masked = 0;
    for (int64_t c = 0; c < d.mb * d.ic && d.kind == CNN_POOL_MAX; c++)
        for (int64_t w = 0; w < windows_of(&d); w++) {
            const double *plane = x + c * pixels_of(&d);
            const window v = window_at(&d, w);
            if (close_tap(&d, &v, plane, max_tap(&d, &v, plane), width) < 0) continue;
            EACH_TAP(&v)
            {
                double *element = weights + c * pixels_of(&d) + tap(&d, &v, t, i, j);
                masked += *element != 0.0;
                *element = 0.0;
            }
        }
    return masked;
}
