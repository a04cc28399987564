/* explain_half.c: what authors of kernels for f16 and bf16 get wrong: where the one rounding is made, and how. Each
 * mistake foretells a value for each result; where nearly all that is wrong is as foretold, it is named. */
#include "explain.h"

#include "harness/base/text.h"
#include "harness/cnn/half.h"

#include <math.h>

/* A result: without any rounding, what is in it of the bias and of what was there before. */
typedef struct half_result {
    cnn_dtype dtype;
    double exact, bias, before;
} half_result;

static double cut(const half_result *r)
{
    const double place = ldexp(1.0, cnn_half_place(cnn_half_of(r->dtype), fabs(r->exact)));
    return trunc(r->exact / place) * place;
}

static double away(const half_result *r)
{
    const double place = ldexp(1.0, cnn_half_place(cnn_half_of(r->dtype), fabs(r->exact)));
    return round(r->exact / place) * place;
}

static double bias_later(const half_result *r)
{
    return cnn_stored(r->dtype, cnn_stored(r->dtype, r->exact - r->bias) + r->bias);
}

static double before_later(const half_result *r)
{
    return cnn_stored(r->dtype, cnn_stored(r->dtype, r->exact - r->before) + r->before);
}

static double flushed(const half_result *r)
{
    const double value = cnn_stored(r->dtype, r->exact);
    const cnn_half_format f = cnn_half_of(r->dtype);
    return fabs(value) < ldexp(1.0, cnn_half_least(f) + f.fraction) ? 0.0 : value;
}

static const struct {
    const char *what;
    double (*foretell)(const half_result *);
} mistakes[] = {
    {"results are cut when they are stored, not rounded to the nearest", cut},
    {"results half way between two numbers are rounded away from zero, not to the even one", away},
    {"the sum is stored before the bias is added, and so rounded twice: add it in f32", bias_later},
    {"the sum is stored before the old result is added (beta 1), and so rounded twice: add it in f32", before_later},
    {"subnormal numbers are flushed to zero", flushed},
};

static half_result result_at(const vf_case *c, int operand, int64_t e)
{
    const cnn_operand *o = &c->call.operands[operand];
    const double *b = o->shape == CNN_SHAPE_TENSOR && c->call.dir == CNN_FWD ? vf_in(&c->call, "b") : NULL;
    return (half_result){.dtype = c->problem.u.type.dtype,
                         .exact = c->after[operand][e],
                         .bias = b != NULL ? b[e / (o->dims[2] * o->dims[3]) % o->dims[1]] : 0.0,
                         .before = c->call.beta != 0.0 ? c->before[operand][e] : 0.0};
}

/* Of all that is wrong nineteen of twenty are as foretold, and of all that is right. */
static bool foretold(const vf_case *c, int operand, const double *got, double (*foretell)(const half_result *))
{
    int64_t wrong = 0, wrong_hit = 0, right = 0, right_hit = 0;
    for (int64_t e = 0; e < c->call.operands[operand].count; e++) {
        const half_result r = result_at(c, operand, e);
        const bool hit = fabs(foretell(&r) - got[e]) <= 0.0,
                   is_right = fabs(cnn_stored(r.dtype, r.exact) - got[e]) <= 0.0;
        *(is_right ? &right : &wrong) += 1;
        *(is_right ? &right_hit : &wrong_hit) += hit;
    }
    return wrong > 0 && 20 * wrong_hit >= 19 * wrong && 20 * right_hit >= 19 * right;
}

/* Errors as sums leave whose every partial sum is rounded to the type of 16 bits, or whose products are. */
static bool summed_in_half(const vf_subject *s, const vf_case *c, int operand, const double *got)
{
    const vf_comparison v =
        vf_compare(c->call.pool, &c->call.out[operand], got, c->call.operands[operand].count, &s->rounding);
    const vf_rounding half = {.unit = ldexp(1.0, -s->rounding.bits), .mean = 1.0};
    if (v.rounded == 0) return false;
    return vf_rms(&v) <= vf_rms_most(&half, &v);
}

void vf_explain_half(const vf_subject *s, const vf_case *c, const vf_run *run, verify_result *result)
{
    const cnn_type *t = &s->problem->u.type;
    vf_case exact; /* integers are compared with what is stored of them */
    cnn_error why;
    if (s->failed || !cnn_is_half(t->dtype) || t->math != CNN_MATH_F32 || !cnn_is_weighted(s->problem)) return;
    if (vf_case_copy(c, &exact, &why) != CNN_OK) return;
    bool named = vf_case_again(&exact, s->engine->options.reference_threads, &why) != CNN_OK;
    for (int i = 0; i < exact.call.count && !named; i++) {
        if (exact.after[i] == NULL || run->after[i] == NULL) continue;
        for (size_t m = 0; m < sizeof mistakes / sizeof *mistakes && !named; m++) {
            named = foretold(&exact, i, run->after[i], mistakes[m].foretell);
            if (named) cnn_append(result->reason, sizeof result->reason, ": %s", mistakes[m].what);
        }
        if (named || !summed_in_half(s, &exact, i, run->after[i])) continue;
        named = true;
        cnn_append(result->reason, sizeof result->reason,
                   ": the errors are those of sums, or products, that are kept in %s: keep them in f32",
                   cnn_dtype_name(t->dtype));
    }
    vf_case_free(&exact);
}
