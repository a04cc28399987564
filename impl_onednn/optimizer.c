/* optimizer.c: one pass over all parameters. What is the same for each of them is computed once, in double. */
#include "loops.h"

#include <math.h>

typedef struct update {
    cnn_optimizer_kind kind;
    float *w, *m, *s; /* m and s as cnn/desc.h names them: the state */
    const float *grad;
    float lr, l1, l2, eps, keep1, take1, keep2, take2, grow1, grow2; /* grow: Adam's 1 / (1 - beta^(t+1)) */
} update;

static inline float decayed(const update *u, int64_t i)
{
    const float w = u->w[i];
    return u->grad[i] + u->l1 * (float)((w > 0) - (w < 0)) + u->l2 * w;
}

#define EACH(...)                                                                                                      \
    for (int64_t i = first; i < last; i++) {                                                                           \
        const float g = decayed(&u, i);                                                                                \
        __VA_ARGS__                                                                                                    \
    }                                                                                                                  \
    break

ONEDNN_CLONES static void step(const void *job, int64_t first, int64_t last, int64_t task)
{
    const update u = *(const update *)job; /* its own: stores to w cannot change it */
    float *restrict w = u.w, *restrict m = u.m, *restrict s = u.s;
    (void)task;
    switch (u.kind) {
    case CNN_SGD:
        EACH(w[i] -= u.lr * g;);
    case CNN_MOMENTUM:
        EACH(m[i] = u.keep1 * m[i] - u.lr * g; w[i] += m[i];);
    case CNN_ADAGRAD:
        EACH(s[i] += g * g; w[i] -= u.lr * g / (sqrtf(s[i]) + u.eps););
    case CNN_RMSPROP:
        EACH(s[i] = u.keep2 * s[i] + u.take2 * (g * g); w[i] -= u.lr * g / (sqrtf(s[i]) + u.eps););
    default:
        EACH(m[i] = u.keep1 * m[i] + u.take1 * g; s[i] = u.keep2 * s[i] + u.take2 * (g * g);
             w[i] -= u.lr * (m[i] * u.grow1) / (sqrtf(s[i] * u.grow2) + u.eps););
    }
}

cnn_status onednn_optimizer_step(cnn_context *context, const cnn_plan *plan, const cnn_optimizer_args *a,
                                 cnn_error *err)
{
    const cnn_optimizer_desc *d = &plan->problem.u.optimizer;
    const double t = (double)*a->step;
    const double rate = d->decay_steps > 0 ? d->lr * fmax(0.0, 1 - t / d->decay_steps) : d->lr;
    const bool adam = d->kind == CNN_ADAM, only_m = d->kind == CNN_MOMENTUM;
    const update u = {
        .kind = d->kind,
        .w = a->w,
        .m = adam || only_m ? a->state[0] : NULL,
        .s = adam ? a->state[1] : a->state[0],
        .grad = a->grad,
        .lr = (float)rate,
        .l1 = (float)d->l1,
        .l2 = (float)d->l2,
        .eps = (float)d->eps,
        .keep1 = (float)d->beta1,
        .take1 = (float)(1 - d->beta1),
        .keep2 = (float)d->beta2,
        .take2 = (float)(1 - d->beta2),
        .grow1 = adam ? (float)(1 / (1 - pow(d->beta1, t + 1))) : 1,
        .grow2 = adam ? (float)(1 / (1 - pow(d->beta2, t + 1))) : 1,
    };
    (void)err;
    onednn_parallel((const onednn_context *)context, d->count, onednn_share(d->count, 4), step, &u);
    *a->step += 1;
    return CNN_OK;
}
