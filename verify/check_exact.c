/* check_exact.c: results of small integers (of conv and FC times powers of two), equal in value to the last bit.
 *
 * Catches whatever computes something else: a tap too few or too many, swapped axes, a wrong border, a bias or a beta
 * left out; and factors rounded to fewer bits than stated (TF32, bf16), sums kept in f16: the integers need more bits
 * than these have, though every partial sum is exact in f32 in any order. The two zeros count as equal. Transforms
 * (FFT, Winograd) are not exact even on integers: check_bound.c holds them. */
#include "engine.h"
#include "harness/cnn/half.h"
#include "verify/oracle/epilogue.h"

#include <math.h>

static bool power_of_two(double v)
{
    int exponent;
    return v > 0.0 && frexp(v, &exponent) == 0.5;
}

/* Every count of taps that a mean divides by must be a power of two. */
static bool pool_is_exact(const cnn_problem *problem)
{
    const cnn_pool_desc d = cnn_pool_with_depth(problem);
    if (d.kind == CNN_POOL_MAX) return true;
    if (d.kind != CNN_POOL_AVG) return power_of_two((double)(d.kd * d.kh * d.kw));
    for (int64_t w = 0; w < d.od * d.oh * d.ow; w++) {
        int64_t t0, t1, i0, i1, j0, j1;
        cnn_tap_range(w / (d.oh * d.ow), d.id, d.kd, d.sd, d.pd, d.dd, &t0, &t1);
        cnn_tap_range(w / d.ow % d.oh, d.ih, d.kh, d.sh, d.ph, d.dh, &i0, &i1);
        cnn_tap_range(w % d.ow, d.iw, d.kw, d.sw, d.pw, d.dw, &j0, &j1);
        if (!power_of_two((double)((t1 - t0) * (i1 - i0) * (j1 - j0)))) return false;
    }
    return true;
}

/* NULL, or why there is nothing exact about this problem. */
static const char *why_not(const vf_subject *s)
{
    const cnn_problem *p = s->problem;
    if (cnn_is_half(p->u.type.dtype) && p->u.type.math != CNN_MATH_F32 && cnn_is_weighted(p))
        return "sums may be kept in 16 bits: they are held to their bound";
    if (vf_transform_of(p, s->algorithm) != NULL) return "the algorithm transforms: it is held to its bound";
    if (!vf_epilogue_is_exact(p) && !cnn_is_quantized(p->u.type.dtype))
        return "the epilogue's function is not exact on integers";
    switch (p->op) {
    case CNN_OP_POOL:
    case CNN_OP_POOL3D:
        return pool_is_exact(p) ? NULL : "means over counts that are no power of two";
    case CNN_OP_ACT:
        return vf_act_is_exact(&p->u.act) ? NULL : "the function is not exact on integers";
    case CNN_OP_DROPOUT:
        return p->u.dropout.inference || power_of_two(1.0 - p->u.dropout.rate) ? NULL : "1/(1 - rate) is not exact";
    case CNN_OP_LOSS:
    case CNN_OP_BATCHNORM:
    case CNN_OP_OPTIMIZER:
        return "the function is not exact on integers";
    default:
        return NULL;
    }
}

cnn_status vf_check_exact(const vf_subject *s, verify_result *result, cnn_error *err)
{
    if (vf_is_huge(&s->engine->options, s->problem)) return vf_huge_exact(s, result, err);
    const char *reason = why_not(s);
    /* of a quantized result two may be right */
    const vf_rounding *bounds = cnn_is_quantized(s->problem->u.type.dtype) ? &s->rounding : NULL;
    if (reason == NULL) return vf_judge_runs(s, VF_INTEGERS, bounds, result, err);
    vf_set(result, VERIFY_SKIPPED, "%s", reason);
    return CNN_OK;
}
