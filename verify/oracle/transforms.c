/* transforms.c: see transforms.h. */
#include "transforms.h"

static const vf_transform transforms[] = {
#define TRANSFORM(name, bound, mean, least, most) {name, bound, mean, least, most},
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
    if (p->op != CNN_OP_CONV) return 0;
    const int64_t high = taps_of_part(p->u.conv.kh, p->u.conv.sh), wide = taps_of_part(p->u.conv.kw, p->u.conv.sw);
    return high > wide ? high : wide;
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
