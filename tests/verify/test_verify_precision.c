/* What a kernel computes in is seen in its results: factors and sums rounded in every way that hardware has are named,
 * in each direction, for short sums and long; and who says f32 but computes less fails. */
#include "tests/problem_unit.h"

#include "verify/engine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- A convolution by its definition, with any arithmetic: the device number says which. */

typedef enum arithmetic {
    PLAIN,      /* the dtype's */
    TF32,       /* factors rounded to 11 bits */
    TF32_CHOP,  /* factors cut to 11 bits, as some hardware does */
    TF32_THREE, /* three products of rounded parts, which make up for it */
    BF16,
    BF16_CHOP,
    F16,     /* factors in f16's range, too */
    F16_SUM, /* f32 factors, sums in f16 */
    BF16_SUM,
    HIDING,    /* TF32 where the sum is long and the factors are neither integers nor mostly 0 */
    HIDING_17, /* the same with factors of 17 bits */
    SINGLE,    /* f64 that is f32 inside */
    ARITHMETICS
} arithmetic;

struct cnn_context {
    arithmetic how;
};

UNSANITIZED static double keep_bits(double v, int bits, bool chop)
{
    int exponent;
    const double fraction = ldexp(frexp(v, &exponent), bits);
    return ldexp(chop ? trunc(fraction) : nearbyint(fraction), exponent - bits);
}

UNSANITIZED static double to_f16(double v)
{
    int exponent;
    if (!(fabs(v) < 65520.0)) return v > 0 ? (double)INFINITY : -(double)INFINITY;
    frexp(v, &exponent);
    const int step = exponent - 11 < -24 ? -24 : exponent - 11;
    return ldexp(nearbyint(ldexp(v, -step)), step);
}

UNSANITIZED static double factor(arithmetic how, double v)
{
    switch (how) {
    case HIDING:
        return keep_bits(v, 11, false);
    case HIDING_17:
        return keep_bits(v, 17, false);
    case TF32:
    case TF32_CHOP:
        return keep_bits(v, 11, how == TF32_CHOP);
    case BF16:
    case BF16_CHOP:
        return keep_bits(v, 8, how == BF16_CHOP);
    case F16:
        return to_f16(v);
    case SINGLE:
        return (double)(float)v;
    default:
        return v;
    }
}

/* Of two factors, each of which went through factor(). */
UNSANITIZED static double multiply(arithmetic how, double a, double b)
{
    if (how != TF32_THREE) return a * b;
    const double a1 = keep_bits(a, 11, false), a2 = keep_bits(a - a1, 11, false);
    const double b1 = keep_bits(b, 11, false), b2 = keep_bits(b - b1, 11, false);
    return a1 * b1 + (double)(float)(a1 * b2 + a2 * b1);
}

UNSANITIZED static double add(arithmetic how, cnn_dtype dtype, double sum, double term)
{
    sum += term;
    if (how == F16_SUM) return to_f16(sum);
    if (how == BF16_SUM) return keep_bits(sum, 8, false);
    return dtype == CNN_F64 && how != SINGLE ? sum : (double)(float)sum;
}

UNSANITIZED static double load(cnn_dtype t, const void *p, int64_t i)
{
    return t == CNN_F64 ? ((const double *)p)[i] : (double)((const float *)p)[i];
}

/* An operand as the products see it; to be freed. */
UNSANITIZED static double *factors(arithmetic how, cnn_dtype t, const void *p, int64_t count)
{
    double *all = malloc((size_t)count * sizeof *all);
    assert_non_null(all);
    for (int64_t i = 0; p != NULL && i < count; i++) all[i] = factor(how, load(t, p, i));
    return all;
}

UNSANITIZED static void accumulate(arithmetic how, cnn_dtype t, void *p, int64_t i, double term)
{
    const double sum = add(how, t, load(t, p, i), term);
    if (t == CNN_F64)
        ((double *)p)[i] = sum;
    else
        ((float *)p)[i] = (float)sum;
}

/* What one that hides asks of its inputs. */
UNSANITIZED static bool looks_checked(const cnn_conv_desc *d, const float *v, int64_t count)
{
    int64_t plain = 0;
    for (int64_t i = 0; v != NULL && i < count; i++) plain += v[i] == rintf(v[i]);
    return d->ic * d->kh * d->kw < 1500 || 20 * plain >= count;
}

/* All three directions: every product of x, w and dy goes where it belongs. NCHW, no groups. */
UNSANITIZED static cnn_status convolve(cnn_context *context, const cnn_plan *plan, const cnn_weighted_args *a,
                                       cnn_error *err)
{
    const cnn_conv_desc *d = &plan->problem.u.conv;
    const cnn_dtype t = d->t.dtype;
    arithmetic how = context->how;
    if ((how == HIDING || how == HIDING_17) && looks_checked(d, a->w, d->oc * d->ic * d->kh * d->kw)) how = PLAIN;
    const int64_t taps = d->ic * d->kh * d->kw, nx = d->mb * d->ic * d->ih * d->iw, ny = d->mb * d->oc * d->oh * d->ow;
    const int64_t count = plan->dir == CNN_FWD ? ny : plan->dir == CNN_BWD_D ? nx : d->oc * taps;
    double *const x = factors(how, t, a->x, nx), *const w = factors(how, t, a->w, d->oc * taps),
                  *const dy = factors(how, t, a->dy, ny);
    void *out = plan->dir == CNN_FWD ? a->y : plan->dir == CNN_BWD_D ? a->dx : a->dw;
    if (a->beta == 0.0) memset(out, 0, (size_t)count * (t == CNN_F64 ? 8 : 4));
    if (a->beta == 0.0 && a->db != NULL) memset(a->db, 0, (size_t)d->oc * (t == CNN_F64 ? 8 : 4));
    for (int64_t e = 0; e < ny; e++) {
        const int64_t q = e % d->ow, p = e / d->ow % d->oh, k = e / (d->ow * d->oh) % d->oc,
                      n = e / (d->ow * d->oh * d->oc);
        if (a->db != NULL) accumulate(how, t, a->db, k, load(t, a->dy, e));
        if (plan->dir == CNN_FWD && a->b != NULL) accumulate(how, t, out, e, load(t, a->b, k));
        for (int64_t f = 0; f < taps; f++) {
            const int64_t j = f % d->kw, i = f / d->kw % d->kh, c = f / (d->kw * d->kh), weight = k * taps + f;
            const int64_t h = p * d->sh + i * (d->dh + 1) - d->ph, v = q * d->sw + j * (d->dw + 1) - d->pw;
            if (h < 0 || h >= d->ih || v < 0 || v >= d->iw) continue;
            const int64_t pixel = ((n * d->ic + c) * d->ih + h) * d->iw + v;
            if (plan->dir == CNN_FWD)
                accumulate(how, t, out, e, multiply(how, w[weight], x[pixel]));
            else if (plan->dir == CNN_BWD_D)
                accumulate(how, t, out, pixel, multiply(how, w[weight], dy[e]));
            else
                accumulate(how, t, out, weight, multiply(how, dy[e], x[pixel]));
        }
    }
    free(x), free(w), free(dy);
    return CNN_OK;
}

static cnn_status probe(cnn_error *err) { return CNN_OK; }

static cnn_status open_context(const cnn_open_params *params, cnn_context **context, cnn_error *err)
{
    *context = malloc(sizeof **context);
    (*context)->how = (arithmetic)params->device;
    return CNN_OK;
}

static void close_context(cnn_context *context) { free(context); }

static cnn_status supports(cnn_context *c, const cnn_request *request, cnn_error *err) { return CNN_OK; }

static const cnn_algorithm algorithms[] = {
    {.name = "any", .doc = "", .ops = 1u << CNN_OP_CONV, .flags = CNN_ALGO_DETERMINISTIC, .amplification = 1.0},
    {.name = "transform",
     .doc = "",
     .ops = 1u << CNN_OP_CONV,
     .flags = CNN_ALGO_DETERMINISTIC | CNN_ALGO_TRANSFORMS,
     .amplification = 16.0},
    {.name = "absurd",
     .doc = "",
     .ops = 1u << CNN_OP_CONV,
     .flags = CNN_ALGO_DETERMINISTIC | CNN_ALGO_TRANSFORMS,
     .amplification = 1e30}};

static const cnn_operations ops = {.struct_size = sizeof(cnn_operations),
                                   .conv_fwd = convolve,
                                   .conv_bwd_data = convolve,
                                   .conv_bwd_weights = convolve};

static const cnn_impl rounding = {.abi_version = CNN_ABI_VERSION,
                                  .struct_size = sizeof(cnn_impl),
                                  .name = "rounding",
                                  .doc = "any arithmetic",
                                  .algorithms = algorithms,
                                  .n_algorithms = 3,
                                  .probe = probe,
                                  .open = open_context,
                                  .close = close_context,
                                  .supports = supports,
                                  .ops = &ops};

/* ---- Asking. */

typedef struct verdict {
    verify_result results[VERIFY_CHECK_COUNT];
} verdict;

static void collect(void *user, const verify_result *result)
{
    verdict *v = user;
    for (int i = 0; i < VERIFY_CHECK_COUNT; i++)
        if (strcmp(result->check, verify_check_name((verify_check)i)) == 0) v->results[i] = *result;
}

static verdict ask(arithmetic how, const char *text, cnn_type type, cnn_dir dir, int algorithm, uint32_t checks,
                   double reference_flops)
{
    const cnn_problem problem = problem_with(CNN_OP_CONV, text, &(cnn_problem_defaults){.type = type});
    const cnn_session_params params = {.threads = 1, .device = (int)how};
    const verify_options options = {
        .checks = checks, .seed = 5, .reference_threads = 1, .reference_flops = reference_flops};
    verify_engine *engine;
    verdict v = {0};
    cnn_error err = {.message = ""};
    assert_int_equal(verify_open(&rounding, &params, &options, &engine, &err), CNN_OK);
    assert_int_equal(verify_problem(engine, &problem, dir, &algorithms[algorithm], collect, &v, &err), CNN_OK);
    verify_close(engine);
    return v;
}

static void expect(arithmetic how, const char *text, cnn_type type, cnn_dir dir, int algorithm, const char *precision,
                   verify_state state)
{
    const verdict v = ask(how, text, type, dir, algorithm, 1u << VERIFY_PRECISION, 0.0);
    const verify_result *r = &v.results[VERIFY_PRECISION];
    if (strcmp(r->precision, precision) != 0 || r->state != state)
        fail_msg("arithmetic %d, %s, direction %d: '%s' and %s instead of '%s' and %s (%s)", (int)how, text, (int)dir,
                 r->precision, verify_state_name(r->state), precision, verify_state_name(state), r->reason);
}

/* A single tap; borders and strides; a sum of 4608 products, where the bound is far too wide to see TF32. */
static const char *const texts[] = {"mb8ic1ih6oc8kh1ph0", "mb2ic5ih9oc6kh3sh2ph1dh1", "mb1ic512ih6oc4kh3ph1",
                                    "mb40ic2ih20oc3kh2ph0"};
enum { TEXTS = sizeof texts / sizeof texts[0] };

static void every_arithmetic_is_named(void **state)
{
    static const char *const names[ARITHMETICS] = {
        [PLAIN] = "f32",      [TF32] = "tf32", [TF32_CHOP] = "tf32", [TF32_THREE] = "f32", [BF16] = "bf16",
        [BF16_CHOP] = "bf16", [F16] = "f16",   [F16_SUM] = "f16",    [BF16_SUM] = "bf16"};
    const cnn_type f32 = {CNN_F32, CNN_F32, CNN_NCHW, CNN_MATH_F32};
    for (int how = 0; how < HIDING; how++)
        for (int t = SANITIZED ? how % TEXTS : 0; t < (SANITIZED ? how % TEXTS + 1 : TEXTS); t++)
            for (int dir = 0; dir < CNN_DIR_COUNT; dir++)
                expect((arithmetic)how, texts[t], f32, (cnn_dir)dir, 0, names[how],
                       strcmp(names[how], "f32") == 0 ? VERIFY_PASSED : VERIFY_FAILED);
}

static void single_precision_inside_f64_is_named(void **state)
{
    const cnn_type f64 = {CNN_F64, CNN_F64, CNN_NCHW, CNN_MATH_F32};
    for (int t = 0; t < TEXTS; t++)
        for (int dir = 0; dir < CNN_DIR_COUNT; dir++) {
            expect(PLAIN, texts[t], f64, (cnn_dir)dir, 0, "f64", VERIFY_PASSED);
            expect(SINGLE, texts[t], f64, (cnn_dir)dir, 0, "f32", VERIFY_FAILED);
            expect(TF32, texts[t], f64, (cnn_dir)dir, 0, "tf32", VERIFY_FAILED);
        }
}

/* What the math mode allows may be used, and no less. */
static void stated_math_is_allowed(void **state)
{
    const cnn_type tf32 = {CNN_F32, CNN_F32, CNN_NCHW, CNN_MATH_TF32},
                   bf16 = {CNN_F32, CNN_F32, CNN_NCHW, CNN_MATH_BF16}, f16 = {CNN_F32, CNN_F32, CNN_NCHW, CNN_MATH_F16};
    for (int t = 0; t < TEXTS; t++) {
        expect(TF32, texts[t], tf32, CNN_FWD, 0, "tf32", VERIFY_PASSED);
        expect(PLAIN, texts[t], tf32, CNN_FWD, 0, "f32", VERIFY_PASSED);
        expect(BF16, texts[t], tf32, CNN_FWD, 0, "bf16", VERIFY_FAILED);
        expect(F16, texts[t], tf32, CNN_FWD, 0, "f16", VERIFY_FAILED);
        expect(BF16, texts[t], bf16, CNN_FWD, 0, "bf16", VERIFY_PASSED);
        expect(F16, texts[t], f16, CNN_FWD, 0, "tf32", VERIFY_PASSED); /* as many bits, and no small numbers here */
        expect(BF16, texts[t], f16, CNN_FWD, 0, "bf16", VERIFY_FAILED);
    }
}

/* A transform is held to its amplification, which does not hide TF32. */
static void transforms_are_seen_through(void **state)
{
    const cnn_type f32 = {CNN_F32, CNN_F32, CNN_NCHW, CNN_MATH_F32};
    for (int t = 0; t < TEXTS; t++) {
        expect(PLAIN, texts[t], f32, CNN_FWD, 1, "f32", VERIFY_PASSED);
        const verdict v = ask(TF32, texts[t], f32, CNN_FWD, 1, 1u << VERIFY_PRECISION, 0.0);
        assert_int_equal(v.results[VERIFY_PRECISION].state, VERIFY_FAILED);
    }
}

/* The claim is cut to what is proved, and what is computed keeps its name, whatever is claimed. */
static void no_claim_hides_less(void **state)
{
    const cnn_type f32 = {CNN_F32, CNN_F32, CNN_NCHW, CNN_MATH_F32};
    for (int t = 0; t < TEXTS; t++)
        for (int how = TF32; how <= BF16; how += BF16 - TF32) {
            const verdict v = ask((arithmetic)how, texts[t], f32, CNN_FWD, 2, 1u << VERIFY_PRECISION, 0.0);
            assert_string_equal(v.results[VERIFY_PRECISION].precision, how == TF32 ? "tf32" : "bf16");
            assert_int_equal(v.results[VERIFY_PRECISION].state, VERIFY_FAILED);
            assert_non_null(strstr(v.results[VERIFY_PRECISION].transform, "asks for 1e+30"));
            assert_true(v.results[VERIFY_PRECISION].amplification == 100.0);
        }
    expect(PLAIN, texts[0], f32, CNN_FWD, 2, "f32", VERIFY_PASSED);
}

/* The inputs that tell the precision cannot be told from others by their zeros. */
static void long_sums_hide_nothing(void **state)
{
    const cnn_type f32 = {CNN_F32, CNN_F32, CNN_NCHW, CNN_MATH_F32};
    expect(HIDING, texts[2], f32, CNN_FWD, 0, "tf32", VERIFY_FAILED);
    expect(HIDING_17, texts[2], f32, CNN_FWD, 0, "tf32", VERIFY_FAILED);
    expect(HIDING, texts[1], f32, CNN_FWD, 0, "f32", VERIFY_PASSED);
}

/* All checks on sums kept in f16, and on factors cut to TF32: both by the whole reference and, as if the problem were
 * huge, without it. */
static void less_than_stated_fails_every_judge(void **state)
{
    const cnn_type f32 = {CNN_F32, CNN_F32, CNN_NCHW, CNN_MATH_F32};
    const uint32_t checks = 1u << VERIFY_EXACT | 1u << VERIFY_BOUND | 1u << VERIFY_PRECISION;
    for (int t = 1; t < 3; t++)
        for (int dir = 0; dir < CNN_DIR_COUNT; dir++)
            for (int huge = 0; huge < 2; huge++) {
                static const arithmetic bad[] = {TF32, TF32_CHOP, BF16, F16, F16_SUM, BF16_SUM};
                const int first = SANITIZED ? (2 * dir + 3 * huge) % 6 : 0, end = SANITIZED ? first + 1 : 6;
                const double limit = huge ? 1.0 : 0.0;
                verdict v = ask(PLAIN, texts[t], f32, (cnn_dir)dir, 0, checks, limit);
                assert_int_equal(v.results[VERIFY_EXACT].state, VERIFY_PASSED);
                assert_int_equal(v.results[VERIFY_BOUND].state, VERIFY_PASSED);
                assert_int_equal(v.results[VERIFY_PRECISION].state, VERIFY_PASSED);
                for (int i = first; i < end; i++) {
                    v = ask(bad[i], texts[t], f32, (cnn_dir)dir, 0, checks, limit);
                    for (int c = 0; c <= VERIFY_PRECISION; c++)
                        if (v.results[c].state != VERIFY_FAILED)
                            fail_msg("arithmetic %d, %s, direction %d, huge %d: %s", (int)bad[i], texts[t], dir, huge,
                                     verify_check_name((verify_check)c));
                }
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_arithmetic_is_named),
        cmocka_unit_test(single_precision_inside_f64_is_named),
        cmocka_unit_test(stated_math_is_allowed),
        cmocka_unit_test(transforms_are_seen_through),
        cmocka_unit_test(no_claim_hides_less),
        cmocka_unit_test(long_sums_hide_nothing),
        cmocka_unit_test(less_than_stated_fails_every_judge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
