/* transforms.c: see transforms.h. */
#include "transforms.h"

#include "harness/cnn/shape.h"

static const vf_transform transforms[] = {
#define TRANSFORM(name, bound, mean, saved, least, most) {name, bound, mean, saved, least, most},
    VF_TRANSFORMS(TRANSFORM)
#undef TRANSFORM
};
enum { TRANSFORMS = sizeof transforms / sizeof transforms[0] };

/* A stride cuts a kernel into parts that each see every s-th pixel; such a part is what is transformed. */
static int64_t taps_of_part(int64_t k, int64_t s) { return (k + s - 1) / s; }

/* Taps of the longer side; 0: no sum of products. */
static int64_t taps_of(const cnn_problem *p)
{
    if (p->op == CNN_OP_FC) return p->u.fc.ih > p->u.fc.iw ? p->u.fc.ih : p->u.fc.iw;
    if (!cnn_is_conv(p)) return 0;
    const cnn_conv_desc *d = &p->u.conv;
    const int64_t high = taps_of_part(d->kh, d->sh), wide = taps_of_part(d->kw, d->sw);
    const int64_t deep = p->op == CNN_OP_CONV3D ? taps_of_part(d->kd, d->sd) : 1, most = high > wide ? high : wide;
    return most > deep ? most : deep;
}

const vf_transform *vf_transform_of(const cnn_problem *problem, const cnn_algorithm *algorithm)
{
    const vf_transform *found = NULL;
    if (algorithm == NULL || !(algorithm->flags & CNN_ALGO_TRANSFORMS)) return NULL;
    const int64_t taps = taps_of(problem);
    for (int i = 0; i < TRANSFORMS; i++) {
        if (taps < transforms[i].least_taps || taps > transforms[i].most_taps) continue;
        found = &transforms[i];
        if (algorithm->amplification <= found->bound) break;
    }
    return found;
}

double vf_transform_saves(const cnn_problem *problem, const cnn_algorithm *algorithm)
{
    const vf_transform *t = vf_transform_of(problem, algorithm);
    if (t == NULL) return 1;
    if (t->saved > 0) return t->saved;
    const bool fc = problem->op == CNN_OP_FC, deep = problem->op == CNN_OP_CONV3D;
    const cnn_conv_desc *d = &problem->u.conv;
    return fc ? (double)problem->u.fc.ih * (double)problem->u.fc.iw
              : (double)d->kh * (double)d->kw * (deep ? (double)d->kd : 1.0);
}
