/* explain_whole.c: what authors of kernels for integers get wrong: the sum. Where nearly all that is wrong is what such
 * a sum would be, it is named. */
#include "engine.h"

#include "harness/base/text.h"
#include "verify/oracle/element.h"

#include <math.h>

static double wraps(double exact) { return exact - 65536.0 * floor((exact + 32768.0) / 65536.0); }
static double stops(double exact) { return fmin(fmax(exact, -32768.0), 32767.0); }
static double as_float(double exact) { return (double)(float)exact; }

static const struct {
    const char *what;
    double (*foretell)(double exact);
} mistakes[] = {
    {"the sum has 16 bits, and wraps: keep it in 32", wraps},
    {"the sum has 16 bits, and stops at their ends: keep it in 32", stops},
    {"the sum passes through an f32, which holds no more than 24 bits: keep it in s32", as_float},
};

/* Of all that is wrong nineteen of twenty are as foretold, and of all that is right. */
static bool foretold(const double *exact, const double *got, int64_t count, double (*foretell)(double))
{
    int64_t wrong = 0, wrong_hit = 0, right = 0, right_hit = 0;
    for (int64_t e = 0; e < count; e++) {
        const bool hit = fabs(foretell(exact[e]) - got[e]) <= 0.0, is_right = fabs(exact[e] - got[e]) <= 0.0;
        *(is_right ? &right : &wrong) += 1;
        *(is_right ? &right_hit : &wrong_hit) += hit;
    }
    return wrong > 0 && 20 * wrong_hit >= 19 * wrong && 20 * right_hit >= 19 * right;
}

/* ---- Pairs of products that saturate at 16 bits before they are added to the sum, as vpmaddubsw's do. A pair is two
 * channels of one tap, or two terms in the order of the weights. */

static double product_of(const vf_case *c, const cnn_conv_desc *d, const int64_t at[4], int64_t term, bool by_tap)
{
    const int64_t icg = d->ic / d->g, taps = d->kh * d->kw, k = at[1];
    if (term >= icg * taps) return 0.0;
    const int64_t ch = by_tap ? term % icg : term / taps, tap = by_tap ? term / icg : term % taps;
    const int64_t h = at[2] * d->sh - d->ph + tap / d->kw * (d->dh + 1);
    const int64_t v = at[3] * d->sw - d->pw + tap % d->kw * (d->dw + 1);
    if (h < 0 || h >= d->ih || v < 0 || v >= d->iw) return 0.0;
    const int64_t x = ((at[0] * d->ic + k / (d->oc / d->g) * icg + ch) * d->ih + h) * d->iw + v;
    const int64_t w = (k * icg + ch) * taps + (d->flip ? taps - 1 - tap : tap);
    return vf_in(&c->call, "x")[x] * vf_in(&c->call, "w")[w];
}

/* What all saturated pairs leave out of a result. */
static double left_out(const vf_case *c, const cnn_conv_desc *d, int64_t element, bool by_tap)
{
    const int64_t plane = d->oh * d->ow, terms = d->ic / d->g * d->kh * d->kw;
    const int64_t at[4] = {element / plane / d->oc, element / plane % d->oc, element % plane / d->ow, element % d->ow};
    double lost = 0.0;
    for (int64_t term = 0; term < terms; term += 2) {
        const double pair = product_of(c, d, at, term, by_tap) + product_of(c, d, at, term + 1, by_tap);
        lost += pair - stops(pair);
    }
    return lost;
}

static bool pairs_saturate(const vf_case *c, const double *got, bool by_tap)
{
    enum { LOOKED_AT = 500 };
    const int y = vf_index(c->call.operands, c->call.count, "y");
    const cnn_conv_desc d = vf_as_conv(&c->problem);
    const int64_t count = c->call.operands[y].count, step = count / LOOKED_AT + 1;
    bool any = false;
    if (c->problem.op == CNN_OP_CONV3D) return false;
    for (int64_t e = 0; e < count; e += step) {
        const double lost = left_out(c, &d, e, by_tap);
        any = any || lost != 0.0;
        if (fabs(c->after[y][e] - lost - got[e]) > 0.0) return false;
    }
    return any;
}

void vf_explain_whole(const vf_subject *s, const vf_case *c, const vf_run *run, verify_result *result)
{
    const int y = vf_index(c->call.operands, c->call.count, "y");
    const char *what = NULL;
    if (cnn_is_quantized(s->problem->u.type.dtype)) return; /* results are no sums: explain_quantized.c */
    if (s->failed || !cnn_sums_whole(s->problem->u.type.dtype) || y < 0 || run->after[y] == NULL) return;
    const double *got = run->after[y];
    for (size_t m = 0; m < sizeof mistakes / sizeof *mistakes && what == NULL; m++)
        if (foretold(c->after[y], got, c->call.operands[y].count, mistakes[m].foretell)) what = mistakes[m].what;
    if (what == NULL && (pairs_saturate(c, got, true) || pairs_saturate(c, got, false)))
        what = "pairs of products saturate at 16 bits before they are added up (vpmaddubsw does that): widen first";
    if (what != NULL) cnn_append(result->reason, sizeof result->reason, ": %s", what);
}
