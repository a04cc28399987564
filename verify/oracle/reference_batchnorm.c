/* reference_batchnorm.c: batch normalisation, training, inference and backward; a task is one channel.
 *
 * Bounds: n values are summed, so mean is off by gamma_n * mean|x| and the variance by at most gamma_n * mean(x^2),
 * whether it is computed in two passes or as E[x^2] - mean^2. Through 1/sqrt the latter counts half, relatively. */
#include "reference.h"

#include "roundings.h"

#include <math.h>

typedef struct bn_task {
    const vf_call *call;
    const cnn_batchnorm_desc *d;
    int64_t plane;
    double n; /* values per channel */
} bn_task;

typedef struct bn_stats {
    double mean, var, mean_abs, mean_sq;
} bn_stats;

static bn_stats statistics(const bn_task *t, const double *x, int64_t c)
{
    bn_stats s = {0.0, 0.0, 0.0, 0.0};
    for (int64_t n = 0; n < t->d->mb; n++)
        for (int64_t i = 0, e = (n * t->d->ic + c) * t->plane; i < t->plane; i++, e++) s.mean += x[e];
    s.mean /= t->n;
    for (int64_t n = 0; n < t->d->mb; n++)
        for (int64_t i = 0, e = (n * t->d->ic + c) * t->plane; i < t->plane; i++, e++) {
            s.var += (x[e] - s.mean) * (x[e] - s.mean) / t->n;
            s.mean_abs += fabs(x[e]) / t->n;
            s.mean_sq += x[e] * x[e] / t->n;
        }
    return s;
}

static void put_statistics(const bn_task *t, int64_t c, const bn_stats *s, double invstd, double k)
{
    vf_out mean = vf_output(t->call, "running_mean"), var = vf_output(t->call, "running_var");
    vf_out save_mean = vf_output(t->call, "save_mean"), save_invstd = vf_output(t->call, "save_invstd");
    double m = t->d->momentum, unbiased = t->n > 1.0 ? t->n / (t->n - 1.0) : 1.0, k2 = t->n + VF_ROUND_BN_RUNNING;
    double mean0 = vf_in(t->call, "running_mean")[c], var0 = vf_in(t->call, "running_var")[c];
    vf_put(&save_mean, c, s->mean, s->mean_abs, k);
    vf_put(&save_invstd, c, invstd, invstd * (1.0 + 0.5 * s->mean_sq / (s->var + t->d->eps)), k);
    vf_put(&mean, c, (1.0 - m) * mean0 + m * s->mean, fabs((1.0 - m) * mean0) + m * s->mean_abs, k2);
    vf_put(&var, c, (1.0 - m) * var0 + m * unbiased * s->var, fabs((1.0 - m) * var0) + m * unbiased * s->mean_sq, k2);
}

static void forward(void *arg, int64_t c, int worker)
{
    const bn_task *t = arg;
    const double *x = vf_in(t->call, "x");
    double gamma = vf_in(t->call, "gamma")[c], beta = vf_in(t->call, "beta")[c], k = VF_ROUND_BATCHNORM;
    bn_stats s = {.mean = vf_in(t->call, "running_mean")[c], .var = vf_in(t->call, "running_var")[c]};
    vf_out y = vf_output(t->call, "y");
    (void)worker;
    if (!t->d->inference) {
        s = statistics(t, x, c);
        k += t->n;
    }
    double invstd = 1.0 / sqrt(s.var + t->d->eps);
    if (!t->d->inference) put_statistics(t, c, &s, invstd, k);
    for (int64_t n = 0; n < t->d->mb; n++)
        for (int64_t i = 0, e = (n * t->d->ic + c) * t->plane; i < t->plane; i++, e++) {
            double scaled = fabs(gamma) * invstd, spread = 0.5 * s.mean_sq / (s.var + t->d->eps);
            double magnitude = scaled * (s.mean_abs + fabs(x[e]) + fabs(s.mean)) +
                               scaled * fabs(x[e] - s.mean) * (1.0 + spread) + fabs(beta);
            vf_put(&y, e, gamma * (x[e] - s.mean) * invstd + beta, magnitude, k);
        }
}

/* dx = gamma*invstd * (dy - mean(dy) - xhat * mean(dy*xhat)). In magnitudes x - mean counts as |x| + |mean|. */
static void backward(void *arg, int64_t c, int worker)
{
    const bn_task *t = arg;
    const double *x = vf_in(t->call, "x"), *dy = vf_in(t->call, "dy");
    double gamma = vf_in(t->call, "gamma")[c], mean = vf_in(t->call, "save_mean")[c];
    double invstd = vf_in(t->call, "save_invstd")[c], k = t->n + VF_ROUND_BATCHNORM;
    double dgamma = 0.0, dgamma_abs = 0.0, dbeta = 0.0, dbeta_abs = 0.0;
    vf_out dx = vf_output(t->call, "dx"), out_gamma = vf_output(t->call, "dgamma"),
           out_beta = vf_output(t->call, "dbeta");
    (void)worker;
    for (int64_t n = 0; n < t->d->mb; n++)
        for (int64_t i = 0, e = (n * t->d->ic + c) * t->plane; i < t->plane; i++, e++) {
            dgamma += dy[e] * (x[e] - mean) * invstd;
            dgamma_abs += fabs(dy[e]) * (fabs(x[e]) + fabs(mean)) * invstd;
            dbeta += dy[e];
            dbeta_abs += fabs(dy[e]);
        }
    vf_put(&out_gamma, c, dgamma, dgamma_abs, k);
    vf_put(&out_beta, c, dbeta, dbeta_abs, t->n);
    for (int64_t n = 0; n < t->d->mb; n++)
        for (int64_t i = 0, e = (n * t->d->ic + c) * t->plane; i < t->plane; i++, e++) {
            double xhat = (x[e] - mean) * invstd, xhat_abs = (fabs(x[e]) + fabs(mean)) * invstd;
            vf_put(&dx, e, gamma * invstd * (dy[e] - dbeta / t->n - xhat * dgamma / t->n),
                   fabs(gamma) * invstd * (fabs(dy[e]) + dbeta_abs / t->n + xhat_abs * dgamma_abs / t->n), k);
        }
}

void vf_reference_batchnorm(const vf_call *call)
{
    const cnn_batchnorm_desc *d = &call->problem->u.batchnorm;
    bn_task t = {.call = call, .d = d, .plane = d->ih * d->iw, .n = (double)(d->mb * d->ih * d->iw)};
    parallel_for(call->pool, d->ic, call->dir == CNN_FWD ? forward : backward, &t);
}
