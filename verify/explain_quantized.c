/* explain_quantized.c: what authors of kernels with quantized results get wrong: how a sum is scaled, rounded, counted
 * from the zero point and saturated. Where nearly all that is wrong is what such a mistake makes of the exact sums, it
 * is named. Mistakes that another operand or problem stands for are in explain_changes.c's manner, below. */
#include "explain.h"

#include "harness/base/text.h"
#include "verify/oracle/element.h"
#include "verify/oracle/quantize.h"

#include <math.h>
#include <stdlib.h>

/* ---- What comes of the product of sum and scale, or of the sum. */

static double fit(const vf_quantizer *q, double nearest) { return vf_saturate(q, nearest + q->zero); }

static double wrapped(const vf_quantizer *q, double value) { return value - 256.0 * floor((value - q->least) / 256.0); }

static double clip(const vf_quantizer *q, double sum, double scale) { return vf_saturate(q, nearbyint(sum * scale)); }

static double wraps(const vf_quantizer *q, double sum, double scale)
{
    return wrapped(q, nearbyint(sum * scale) + q->zero);
}
static double truncates(const vf_quantizer *q, double sum, double scale) { return fit(q, trunc(sum * scale)); }
static double rounds_down(const vf_quantizer *q, double sum, double scale) { return fit(q, floor(sum * scale)); }
static double half_up(const vf_quantizer *q, double sum, double scale) { return fit(q, floor(sum * scale + 0.5)); }
static double half_away(const vf_quantizer *q, double sum, double scale) { return fit(q, round(sum * scale)); }
static double clips(const vf_quantizer *q, double sum, double scale) { return fit(q, clip(q, sum, scale)); }
static double clips_and_wraps(const vf_quantizer *q, double sum, double scale)
{
    return wrapped(q, clip(q, sum, scale) + q->zero);
}
static double narrow(const vf_quantizer *q, double sum, double scale)
{
    const double least = q->least < 0.0 ? q->least + 1.0 : q->least;
    return fmax(fit(q, nearbyint(sum * scale)), least);
}
static double of_bits(double scale, int bits)
{
    int exponent;
    const double fraction = frexp(scale, &exponent);
    return ldexp(nearbyint(ldexp(fraction, bits)), exponent - bits);
}
static double scale_8(const vf_quantizer *q, double sum, double scale)
{
    return fit(q, nearbyint(sum * of_bits(scale, 8)));
}
static double scale_11(const vf_quantizer *q, double sum, double scale)
{
    return fit(q, nearbyint(sum * of_bits(scale, 11)));
}
static double product_8(const vf_quantizer *q, double sum, double scale)
{
    return fit(q, nearbyint(of_bits(sum * scale, 8)));
}
static double sum_wraps(const vf_quantizer *q, double sum, double scale)
{
    return fit(q, nearbyint((sum - 65536.0 * floor((sum + 32768.0) / 65536.0)) * scale));
}
static double sum_stops(const vf_quantizer *q, double sum, double scale)
{
    return fit(q, nearbyint(fmin(fmax(sum, -32768.0), 32767.0) * scale));
}

static const struct {
    const char *what;
    double (*foretell)(const vf_quantizer *q, double sum, double scale);
} mistakes[] = {
    {"results beyond the range wrap: they are to saturate", wraps},
    {"fractions are cut off: round to the nearest", truncates},
    {"products are rounded down: round to the nearest", rounds_down},
    {"in the middle between two numbers the larger one is taken: take the even one", half_up},
    {"in the middle between two numbers the one farther from 0 is taken: take the even one", half_away},
    {"products are clipped to the range before zy is added: add it first", clips},
    {"products are clipped to the range before zy is added, and wrap then: add it first", clips_and_wraps},
    {"s8 ends at -127: its least number is -128", narrow},
    {"the scale has 8 bits: it is an f32", scale_8},
    {"the scale has 11 bits: it is an f32", scale_11},
    {"the product of sum and scale has 8 bits: it is an f32", product_8},
    {"the sum has 16 bits, and wraps: keep it in 32", sum_wraps},
    {"the sum has 16 bits, and stops at their ends: keep it in 32", sum_stops},
};

/* ---- Padding that is a 0 in memory. */

typedef struct live {
    const double *w;
    double sum; /* of the weights whose taps lie inside */
} live;

static void add_weight(void *user, const vf_product *p)
{
    live *l = user;
    l->sum += l->w[p->w];
}

/* What the taps outside add to a sum, as if x were 0 there. */
static double of_padding(const vf_case *c, const cnn_operand *y, int64_t index)
{
    const cnn_conv_desc d = vf_as_conv(&c->problem);
    const int64_t terms = d.ic / d.g * d.kh * d.kw, k = vf_quantized_channel(y, index);
    live l = {.w = vf_in(&c->call, "w")};
    double all = 0.0;
    vf_products_of(&d, 'y', index, add_weight, &l);
    for (int64_t t = 0; t < terms; t++) all += l.w[k * terms + t];
    return (l.sum - all) * d.quant.zero_x;
}

/* ---- Whether it is so. */

typedef struct judged {
    const vf_case *c;
    vf_quantizer q;
    const cnn_operand *y;
    const double *sums, *right, *got;
} judged;

static bool is_right(const judged *j, int64_t e, double got)
{
    return fabs(got - j->right[e]) <= j->right[e] - floor(j->right[e]);
}

/* Of all that is wrong nineteen of twenty are as foretold, and of all that is right; every `step`th is looked at. */
static bool foretold(const judged *j, double (*foretell)(const vf_quantizer *, double, double), int64_t step)
{
    int64_t wrong = 0, wrong_hit = 0, right = 0, right_hit = 0;
    for (int64_t e = 0; e < j->y->count; e += step) {
        const int64_t k = vf_quantized_channel(j->y, e);
        const double sum = j->sums[e] + (foretell == NULL ? of_padding(j->c, j->y, e) : 0.0);
        const double scale = vf_scale_of(&j->q, k);
        const double told = foretell == NULL ? vf_quantized(&j->q, k, sum) : foretell(&j->q, sum, scale);
        const bool good = is_right(j, e, j->got[e]);
        const bool hit = good ? is_right(j, e, told) : fabs(told - j->got[e]) <= told - floor(told);
        *(good ? &right : &wrong) += 1;
        *(good ? &right_hit : &wrong_hit) += hit;
    }
    return wrong > 0 && 20 * wrong_hit >= 19 * wrong && 20 * right_hit >= 19 * right;
}

static const char *find(const judged *j)
{
    enum { LOOKED_AT = 500 };
    for (size_t m = 0; m < sizeof mistakes / sizeof *mistakes; m++)
        if (foretold(j, mistakes[m].foretell, 1)) return mistakes[m].what;
    if (cnn_quantization_of(&j->c->problem).zero_x == 0) return NULL;
    return foretold(j, NULL, j->y->count / LOOKED_AT + 1)
               ? "padding is 0 less zx: it counts as zx, so that it adds nothing"
               : NULL;
}

void vf_explain_quantized(const vf_subject *s, const vf_case *c, const vf_run *run, verify_result *result)
{
    const int y = vf_index(c->call.operands, c->call.count, "y");
    judged j = {.c = c};
    if (s->failed || y < 0 || run->after[y] == NULL || !vf_quantizer_of(&c->call, &j.q)) return;
    double *sums = malloc((size_t)c->call.operands[y].count * sizeof *sums);
    vf_call raw = c->call;
    thread_pool *pool = NULL;
    cnn_error why;
    if (sums == NULL || thread_pool_open(s->engine->options.reference_threads, &pool, &why) != CNN_OK) goto cleanup;
    raw.sums = true;
    raw.pool = pool;
    raw.out[y] = (vf_out){.value = sums};
    vf_reference(&raw);
    j.y = &c->call.operands[y], j.sums = sums, j.right = c->after[y], j.got = run->after[y];
    const char *what = find(&j);
    if (what != NULL) cnn_append(result->reason, sizeof result->reason, ": %s", what);
cleanup:
    if (pool != NULL) thread_pool_close(pool);
    free(sums);
}

/* ---- Changes. */

static double *scales_of(vf_case *c, int64_t *count)
{
    const int i = vf_index(c->call.operands, c->call.count, "scale");
    *count = i < 0 ? 0 : c->call.operands[i].count;
    return i < 0 ? NULL : c->before[i];
}

bool vf_change_first_scale(vf_case *c, const vf_case *earlier)
{
    int64_t count;
    double *scale = scales_of(c, &count);
    (void)earlier;
    for (int64_t k = 1; k < count; k++) scale[k] = scale[0];
    return count > 1;
}

/* Of x, or of y. */
static bool clear_zero(vf_case *c, bool x)
{
    cnn_quantization *quant = cnn_is_conv(&c->problem)     ? &c->problem.u.conv.quant
                              : c->problem.op == CNN_OP_FC ? &c->problem.u.fc.quant
                                                           : NULL;
    if (quant == NULL) return false;
    int16_t *zero = x ? &quant->zero_x : &quant->zero_y;
    const bool any = *zero != 0;
    *zero = 0;
    return any;
}

bool vf_change_no_zero_x(vf_case *c, const vf_case *earlier)
{
    (void)earlier;
    return clear_zero(c, true);
}

bool vf_change_no_zero_y(vf_case *c, const vf_case *earlier)
{
    (void)earlier;
    return clear_zero(c, false);
}
