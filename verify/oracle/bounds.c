/* bounds.c: see bounds.h. */
#include "bounds.h"

#include "harness/cnn/half.h"

#include <float.h>
#include <math.h>

/* Volta's tensor cores; later ones add more (Fasi, Higham, Mikaitis, Pranesh, "Numerical behavior of NVIDIA tensor
 * cores", 2021). */
enum { CUT_AT_ONCE = 4 };

static const double unit_f64 = 0x1p-53, unit_f32 = 0x1p-24;

/* Significant bits of the factors in each math mode (of f32 problems). */
static const int math_bits[CNN_MATH_COUNT] = {
    [CNN_MATH_F32] = 24, [CNN_MATH_TF32] = 11, [CNN_MATH_F16] = 11, [CNN_MATH_BF16] = 8};

vf_rounding vf_rounding_of(const cnn_problem *problem, const cnn_algorithm *algorithm)
{
    const cnn_type *t = &problem->u.type;
    vf_rounding r = {.unit = unit_f64, .tiny = DBL_MIN, .amplification = 1.0, .mean = 1.0, .bits = 53};
    const vf_transform *transform = vf_transform_of(problem, algorithm);
    r.one_sided = !cnn_is_weighted(problem);
    if (transform != NULL) {
        r.amplification = fmin(fmax(algorithm->amplification, 1.0), transform->bound);
        r.mean = transform->mean;
        r.transform = transform->name;
        r.normwise = true;
    }
    if (t->dtype == CNN_F64) return r;
    r.unit = unit_f32;
    r.tiny = FLT_MIN;
    r.bits = 24;
    r.stored = t->dtype;
    if (cnn_sums_whole(t->dtype))
        return (vf_rounding){
            .stored = cnn_part_dtype(t->dtype, CNN_PART_RESULT), .amplification = 1.0, .mean = 1.0, .bits = 8};
    const bool halves = cnn_is_half(cnn_part_dtype(t->dtype, CNN_PART_FACTOR));
    if (halves && cnn_is_weighted(problem)) r.cut = CUT_AT_ONCE;
    if (cnn_is_joined(t->dtype)) { /* products of so few bits are exact, and the sum is stored as it is */
        r.stored = cnn_part_dtype(t->dtype, CNN_PART_RESULT);
        r.bits = cnn_half_of(cnn_part_dtype(t->dtype, CNN_PART_FACTOR)).fraction + 1;
        return r;
    }
    if (cnn_is_half(t->dtype)) {
        const cnn_half_format f = cnn_half_of(t->dtype);
        r.bits = f.fraction + 1;
        if (t->math == CNN_MATH_F32) return r;
        r.cut = 0;
        r.unit = ldexp(1.0, -r.bits); /* every sum may be stored, and the last one is no other */
        r.tiny = fmax(FLT_MIN, ldexp(1.0, cnn_half_least(f)));
        r.stored = CNN_F32;
        return r;
    }
    if (cnn_is_weighted(problem) && t->math != CNN_MATH_F32) {
        r.bits = math_bits[t->math];
        r.input = ldexp(1.0, -r.bits);
    }
    return r;
}

vf_rounding vf_rounding_for(const vf_rounding *r, const cnn_type *type, const cnn_operand *operand)
{
    vf_rounding own = *r;
    if (cnn_is_mixed(type) && r->stored == type->dtype) own.stored = cnn_elem_dtype(type, operand->elem);
    if (!cnn_elem_real(operand->elem)) own.stored = CNN_F64;
    return own;
}

double vf_gamma(double n, double unit) { return n * unit < 1.0 ? n * unit / (1.0 - n * unit) : (double)INFINITY; }

double vf_bound(const vf_rounding *r, double roundings, double magnitude)
{
    if (!(roundings > 0.0)) return 0.0;
    double factors = (2.0 + r->input) * r->input; /* both rounded: (1 + d)^2 - 1 */
    double share = r->amplification * (vf_gamma(roundings, r->unit) + factors) + vf_gamma(roundings, unit_f64);
    return share * magnitude + (roundings + 1.0) * r->tiny;
}

double vf_storing(const vf_rounding *r, double expected, double bound)
{
    const cnn_half_format f = cnn_half_of(r->stored);
    if (r->stored == CNN_U8 || r->stored == CNN_S8) return expected - floor(expected);
    return f.exponent == 0 ? 0.0 : 0.5 * cnn_power_of_two(cnn_half_place(f, fabs(expected) + bound));
}

double vf_rms_limit(const vf_rounding *r, double mean_sqrt_roundings)
{
    const double sum_itself = 1.33; /* of terms of either sign: the root mean square of sum*sqrt(n)/sum|ab| */
    const double cuts = r->cut > 0 ? 2.0 / 3.0 * sum_itself * mean_sqrt_roundings * mean_sqrt_roundings / r->cut : 0.0;
    return fmin(r->mean * (r->unit * (mean_sqrt_roundings + 2.0 + cuts) + 2.0 * r->input), 0.2 * sum_itself);
}

double vf_bound_below(const vf_rounding *r, double bound, double expected, double roundings, double magnitude)
{
    if (!(roundings > 0.0)) return bound;
    const double usual = vf_rms_limit(r, sqrt(roundings)) * magnitude / (r->one_sided ? 1.0 : sqrt(roundings));
    return fmin(bound, fmax(0.5 * fabs(expected), 8.0 * usual) + (roundings + 1.0) * r->tiny);
}

const char *vf_precision_name(const vf_rounding *r, double rms, double mean_sqrt_roundings)
{
    const struct {
        const char *name;
        vf_rounding rounding;
    } precisions[] = {{"f64", {.unit = 0x1p-53, .mean = 1.0}},
                      {"f32", {.unit = 0x1p-24, .mean = 1.0, .cut = r->cut}},
                      {"tf32", {.unit = 0x1p-24, .input = 0x1p-11, .mean = 1.0, .cut = r->cut}},
                      {"bf16", {.unit = 0x1p-24, .input = 0x1p-8, .mean = 1.0, .cut = r->cut}}};
    for (int i = 0; i < (int)(sizeof precisions / sizeof precisions[0]); i++)
        if (rms <= vf_rms_limit(&precisions[i].rounding, mean_sqrt_roundings)) return precisions[i].name;
    return "worse";
}
