/* explain_quantized.c: what authors of kernels with quantized results get wrong: how a sum is scaled, rounded, counted
 * from the zero point and saturated. Where nearly all that is wrong is what such a mistake makes of the exact sums, it
 * is named. Mistakes that another operand or problem stands for are in explain_changes.c's manner, below. */
#include "explain.h"

#include "harness/base/text.h"
#include "verify/oracle/element.h"
#include "verify/oracle/quantize.h"

#include <math.h>
#include <stdlib.h>

/* ---- What comes of the sum of an element. */

typedef struct amount {
    const vf_quantizer *q;
    double sum, scale, residual; /* of z, less its zero point */
} amount;

/* What is to be rounded, of a product as the mistake has it. */
static double of_product(const amount *a, double product) { return vf_finished(a->q, product, a->residual); }
static double value(const amount *a) { return of_product(a, a->sum * a->scale); }

static double fit(const amount *a, double nearest) { return vf_saturate(a->q, nearest + a->q->zero); }

static double wrapped(const vf_quantizer *q, double v) { return v - 256.0 * floor((v - q->least) / 256.0); }

static double clip(const amount *a) { return vf_saturate(a->q, nearbyint(value(a))); }

static double wraps(const amount *a) { return wrapped(a->q, nearbyint(value(a)) + a->q->zero); }
static double truncates(const amount *a) { return fit(a, trunc(value(a))); }
static double rounds_down(const amount *a) { return fit(a, floor(value(a))); }
static double half_up(const amount *a) { return fit(a, floor(value(a) + 0.5)); }
static double half_away(const amount *a) { return fit(a, round(value(a))); }
static double clips(const amount *a) { return fit(a, clip(a)); }
static double clips_and_wraps(const amount *a) { return wrapped(a->q, clip(a) + a->q->zero); }
static double narrow(const amount *a)
{
    const double least = a->q->least < 0.0 ? a->q->least + 1.0 : a->q->least;
    return fmax(fit(a, nearbyint(value(a))), least);
}
static double of_bits(double scale, int bits)
{
    int exponent;
    const double fraction = frexp(scale, &exponent);
    return ldexp(nearbyint(ldexp(fraction, bits)), exponent - bits);
}
static double scaled(const amount *a, double sum, double scale)
{
    return fit(a, nearbyint(of_product(a, sum * scale)));
}
static double scale_8(const amount *a) { return scaled(a, a->sum, of_bits(a->scale, 8)); }
static double scale_11(const amount *a) { return scaled(a, a->sum, of_bits(a->scale, 11)); }
static double product_8(const amount *a) { return fit(a, nearbyint(of_product(a, of_bits(a->sum * a->scale, 8)))); }
static double sum_wraps(const amount *a)
{
    return scaled(a, a->sum - 65536.0 * floor((a->sum + 32768.0) / 65536.0), a->scale);
}
static double sum_stops(const amount *a) { return scaled(a, fmin(fmax(a->sum, -32768.0), 32767.0), a->scale); }
static double rounds_first(const amount *a) { return fit(a, nearbyint(of_product(a, nearbyint(a->sum * a->scale)))); }
/* As if it were a result without an epilogue, which the epilogue is done to then. */
static double saturates_first(const amount *a)
{
    return fit(a, nearbyint(of_product(a, fit(a, nearbyint(a->sum * a->scale)) - a->q->zero)));
}

static const struct {
    const char *what;
    double (*foretell)(const amount *a);
} mistakes[] = {
    {"results beyond the range wrap: they are to saturate", wraps},
    {"fractions are cut off: round to the nearest", truncates},
    {"products are rounded down: round to the nearest", rounds_down},
    {"in the middle between two numbers the larger one is taken: take the even one", half_up},
    {"in the middle between two numbers the one farther from 0 is taken: take the even one", half_away},
    {"products are rounded before z is added or the activation taken: round once, behind both", rounds_first},
    {"products are rounded and saturated before z is added or the activation taken: do it once, behind both",
     saturates_first},
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
static bool foretold(const judged *j, double (*foretell)(const amount *), int64_t step)
{
    int64_t wrong = 0, wrong_hit = 0, right = 0, right_hit = 0;
    for (int64_t e = 0; e < j->y->count; e += step) {
        const int64_t k = vf_quantized_channel(j->y, e);
        const double sum = j->sums[e] + (foretell == NULL ? of_padding(j->c, j->y, e) : 0.0);
        const amount all = {&j->q, sum, vf_scale_of(&j->q, k), vf_residual_of(&j->q, e)};
        const double told = foretell == NULL ? vf_quantized(&j->q, k, e, sum) : foretell(&all);
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

static cnn_quantization *quantization_of(vf_case *c)
{
    if (c->problem.op == CNN_OP_FC) return &c->problem.u.fc.quant;
    return cnn_is_conv(&c->problem) ? &c->problem.u.conv.quant : NULL;
}

/* z = factor * z + add * zero_y. */
static bool change_z(vf_case *c, double factor, double add)
{
    const int z = vf_index(c->call.operands, c->call.count, "z");
    const double zero = cnn_quantization_of(&c->problem).zero_y;
    if (z < 0) return false;
    for (int64_t i = 0; i < c->call.operands[z].count; i++) c->before[z][i] = factor * c->before[z][i] + add * zero;
    return true;
}

/* Of z that is counted from zero_y on; beside reals that is 0. */
bool vf_change_no_add(vf_case *c, const vf_case *earlier)
{
    (void)earlier;
    return change_z(c, 0.0, 1.0);
}

bool vf_change_add_twice(vf_case *c, const vf_case *earlier)
{
    (void)earlier;
    return change_z(c, 2.0, -1.0);
}

bool vf_change_zero_of_z(vf_case *c, const vf_case *earlier)
{
    (void)earlier;
    return cnn_quantization_of(&c->problem).zero_y != 0 && change_z(c, 1.0, 1.0);
}

bool vf_change_no_zero_x(vf_case *c, const vf_case *earlier)
{
    cnn_quantization *quant = quantization_of(c);
    (void)earlier;
    if (quant == NULL || quant->zero_x == 0) return false;
    quant->zero_x = 0;
    return true;
}

/* z is still taken less its zero point. */
bool vf_change_no_zero_y(vf_case *c, const vf_case *earlier)
{
    cnn_quantization *quant = quantization_of(c);
    (void)earlier;
    if (quant == NULL || quant->zero_y == 0) return false;
    (void)change_z(c, 1.0, -1.0);
    quant->zero_y = 0;
    return true;
}

/* Behind zero_y the activation has its kink at 0, where u8 ends: then it changes nothing, but for a ceiling. */
static bool take_act_late(vf_case *c, bool at_the_end)
{
    const cnn_epilogue e = cnn_epilogue_of(&c->problem);
    const cnn_dtype result = cnn_part_dtype(c->problem.u.type.dtype, CNN_PART_RESULT);
    const bool is_end = result == CNN_U8 && e.act != CNN_ACT_CLIPPED_RELU;
    if (e.act == CNN_ACT_IDENTITY || cnn_quantization_of(&c->problem).zero_y == 0 || is_end != at_the_end) return false;
    c->call.late = VF_LATE_ACT;
    return true;
}

bool vf_change_act_at_0(vf_case *c, const vf_case *earlier)
{
    (void)earlier;
    return take_act_late(c, false);
}

bool vf_change_act_at_end(vf_case *c, const vf_case *earlier)
{
    (void)earlier;
    return take_act_late(c, true);
}
