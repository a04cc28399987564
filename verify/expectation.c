/* expectation.c: see expectation.h. */
#include "expectation.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

/* Below 2^-14 f16 has no finer step than 2^-24: a product of two numbers that were rounded there is off by so much
 * times the larger of them. */
static double f16_step(const vf_case *c)
{
    double largest = 1.0;
    for (int i = 0; i < c->call.count; i++)
        for (int64_t e = 0; c->before[i] != NULL && e < c->call.operands[i].count; e++)
            largest = fmax(largest, fabs(c->before[i][e]));
    return 0x1p-24 * largest;
}

/* Without an arithmetic that was named, the file's type is it. */
static cnn_dtype dtype_of(const verify_arrays *a, int operand, cnn_math math)
{
    return a->math_given || math != CNN_MATH_F32 ? CNN_F32 : a->computed[operand];
}

static vf_theirs theirs_in(const vf_case *c, cnn_dtype dtype, cnn_math math)
{
    cnn_problem problem = *c->call.problem;
    if (cnn_is_quantized(problem.u.type.dtype)) return (vf_theirs){.rounding = vf_rounding_of(&problem, NULL)};
    problem.u.type = (cnn_type){dtype, dtype, CNN_NCHW, math};
    vf_theirs t = {.rounding = vf_rounding_of(&problem, NULL)};
    if (math == CNN_MATH_F16 || math == CNN_MATH_BF16) t.output = math == CNN_MATH_F16 ? 0x1p-11 : 0x1p-8;
    if (math == CNN_MATH_F16) t.rounding.tiny = f16_step(c);
    if (!cnn_is_weighted(&problem)) t.rounding.input = 2.0 * t.output; /* what is read, and what comes between */
    return t;
}

vf_theirs vf_theirs_of(const vf_case *c, const verify_arrays *a, int operand, cnn_math math)
{
    return theirs_in(c, dtype_of(a, operand, math), math);
}

double vf_theirs_allowed(const vf_theirs *t, const vf_allowance *allowance, int64_t e)
{
    return vf_allowed(allowance, e) + t->output * fabs(allowance->expected.value[e]);
}

/* How many elements of an expectation leave this arithmetic's bound. */
static int64_t outside_of(const vf_case *c, const verify_arrays *a, int i, const vf_theirs *t)
{
    const vf_rounding own = vf_rounding_in(&t->rounding, c, &c->call.operands[i]);
    const vf_allowance allowance = vf_allow(c->call.pool, &own, &c->call.out[i], c->call.operands[i].count);
    int64_t outside = 0;
    for (int64_t e = 0; a->expect[i] != NULL && e < c->call.operands[i].count; e++)
        outside += !vf_held(c->after[i][e], a->expect[i][e], vf_theirs_allowed(t, &allowance, e));
    return outside;
}

/* The precision that the expectations show; false: coarser than this arithmetic has it, though each element may be
 * within its bound, which of a long sum is loose. */
static bool name_precision(const vf_case *c, const verify_arrays *a, cnn_dtype dtype, cnn_math math, char name[16])
{
    vf_comparison sums = {0};
    verify_result told = {.state = VERIFY_PASSED};
    vf_rounding plain = theirs_in(c, dtype, math).rounding;
    plain.tiny = dtype == CNN_F64 ? DBL_MIN : (double)FLT_MIN;
    for (int i = 0; i < c->call.count; i++) {
        if (a->expect[i] == NULL || !cnn_elem_real(c->call.operands[i].elem)) continue;
        const vf_comparison v =
            vf_compare(c->call.pool, &c->call.out[i], a->expect[i], c->call.operands[i].count, &plain);
        vf_add_comparison(&sums, &v);
    }
    vf_judge_precision(c->call.problem, &plain, &sums, &told);
    snprintf(name, 16, "%s", told.precision);
    return told.state == VERIFY_PASSED || math == CNN_MATH_F16; /* whose small numbers have fewer bits */
}

/* The type of all expectations, the coarser where they have two. */
static cnn_dtype common_dtype(const vf_case *c, const verify_arrays *a, cnn_math math)
{
    for (int i = 0; i < c->call.count; i++)
        if (a->expect[i] != NULL && cnn_elem_real(c->call.operands[i].elem) && dtype_of(a, i, math) == CNN_F32)
            return CNN_F32;
    return CNN_F64;
}

static bool held_in(const vf_case *c, const verify_arrays *a, cnn_dtype dtype, cnn_math math, char name[16])
{
    const vf_theirs all = theirs_in(c, dtype, math);
    for (int i = 0; i < c->call.count; i++) {
        const vf_theirs its = dtype == CNN_F64 ? vf_theirs_of(c, a, i, math) : all;
        if (outside_of(c, a, i, &its) > 0) return false;
    }
    return name_precision(c, a, dtype, math, name);
}

/* ---- Coarser than it says. */

/* Every number has no more than so many bits: a result of f16 has 11, of bf16 8. */
static bool all_fit(const vf_case *c, const verify_arrays *a, int bits)
{
    for (int i = 0; i < c->call.count; i++)
        for (int64_t e = 0; a->expect[i] != NULL && e < c->call.operands[i].count; e++) {
            int exponent;
            const double scaled = ldexp(frexp(a->expect[i][e], &exponent), bits);
            if (cnn_elem_real(c->call.operands[i].elem) && scaled != rint(scaled)) return false;
        }
    return true;
}

/* Half of all elements are off by what rounding of this unit leaves, not just a few; and not all by one factor, as a
 * wrong scale has it: cutting bits off, which also makes everything smaller, leaves more of a spread. */
static bool is_common(const vf_case *c, const verify_arrays *a, double unit)
{
    double errors = 0.0, truths = 0.0, both = 0.0;
    int64_t off = 0, all = 0;
    for (int i = 0; i < c->call.count; i++)
        for (int64_t e = 0; a->expect[i] != NULL && e < c->call.operands[i].count; e++) {
            const double n = c->roundings[i][e], truth = c->after[i][e], error = a->expect[i][e] - truth;
            if (!(n > 0.0 && c->magnitude[i][e] > 0.0)) continue;
            all++;
            errors += error * error, truths += truth * truth, both += error * truth;
            off += fabs(error) * sqrt(n) / c->magnitude[i][e] > unit / 16.0;
        }
    const bool one_factor = errors * truths - both * both < 0.01 * errors * truths;
    return all > 0 && 2 * off >= all && !one_factor;
}

/* The finest arithmetic below its type's that leaves such results: said, with what to do. */
static bool tell_coarser(const vf_case *c, const verify_arrays *a, verify_result *result)
{
    const bool products = cnn_is_weighted(c->call.problem), f64 = common_dtype(c, a, CNN_MATH_F32) == CNN_F64;
    const bool f16 = all_fit(c, a, 11), bf16 = all_fit(c, a, 8);
    const struct {
        cnn_math math;
        bool asked;
        double unit;
        const char *why;
    } rows[] = {{CNN_MATH_F32, f64, 0x1p-24, "the file is f64, but what is in it has no more than f32's precision"},
                {CNN_MATH_TF32, products && !f16, 0x1p-11,
                 "PyTorch does that by default for convolutions on GPUs, TensorFlow for products, too; "
                 "torch.backends.cudnn.allow_tf32 = False (Linear: torch.backends.cuda.matmul.allow_tf32) gives f32"},
                {CNN_MATH_F16, f16 && !bf16, 0x1p-11, "as under autocast or in half precision"},
                {CNN_MATH_BF16, bf16 || products, 0x1p-8, "as under autocast or in bfloat16"}};
    for (size_t m = 0; m < sizeof rows / sizeof rows[0]; m++) {
        char name[16];
        if (!rows[m].asked || !held_in(c, a, CNN_F32, rows[m].math, name) || !is_common(c, a, rows[m].unit)) continue;
        vf_set(result, VERIFY_FAILED, "your expectation was computed in %s: %s; or say --expect-math %s",
               cnn_math_name(rows[m].math), rows[m].why, cnn_math_name(rows[m].math));
        return true;
    }
    return false;
}

bool vf_judge_expectation(const vf_case *c, const verify_arrays *a, verify_result *result)
{
    const cnn_dtype dtype = common_dtype(c, a, a->math);
    char name[16] = "";
    if (held_in(c, a, dtype, a->math, name)) {
        if (result->state == VERIFY_PASSED && name[0] != '\0')
            snprintf(result->reason, sizeof result->reason, "your expectation has the precision of %s", name);
        return true;
    }
    if (!a->math_given && tell_coarser(c, a, result)) return true;
    for (int i = 0; i < c->call.count; i++) {
        const vf_theirs t = vf_theirs_of(c, a, i, a->math);
        const int64_t outside = outside_of(c, a, i, &t);
        if (outside > 0)
            vf_set(result, VERIFY_FAILED,
                   "the expected %s itself leaves the float64 reference's bound in %lld of %lld elements",
                   c->call.operands[i].name, (long long)outside, (long long)c->call.operands[i].count);
    }
    if (!name_precision(c, a, dtype, a->math, name))
        vf_set(result, VERIFY_FAILED, "the expected results have the precision of %s, which is coarser than %s", name,
               a->math_given ? cnn_math_name(a->math) : cnn_dtype_name(dtype));
    return false;
}
