/* The judge itself: what is not provably right never passes. And the data: exact sums really are exact. */
#include "tests/problem_unit.h"

#include "verify/engine.h"

#include <math.h>
#include <stdlib.h>

enum { N = 64 };

typedef struct sample {
    double expected[N], magnitude[N], roundings[N], got[N];
    vf_rounding rounding;
} sample;

static sample good(void)
{
    sample s = {.rounding = {.unit = 0x1p-24, .tiny = 0x1p-126, .amplification = 1.0, .mean = 1.0, .bits = 24}};
    for (int i = 0; i < N; i++) {
        s.expected[i] = s.got[i] = 0.5 + (double)i / 3.0;
        s.magnitude[i] = 2.0 * s.expected[i];
        s.roundings[i] = 9.0;
    }
    return s;
}

static vf_comparison judge(sample *s, bool exactly)
{
    return vf_compare(NULL, &(vf_out){s->expected, s->magnitude, s->roundings, NULL}, s->got, N,
                      exactly ? NULL : &s->rounding);
}

static void equal_results_pass(void **state)
{
    sample s = good();
    assert_false(judge(&s, false).failed);
    assert_false(judge(&s, true).failed);
    assert_null(vf_mistrust(&(vf_comparison){.live = 64, .zeros = 0}));
}

static void never_a_nan_or_infinity(void **state)
{
    const double wrong[] = {NAN, -NAN, INFINITY, -INFINITY};
    for (int k = 0; k < 4; k++)
        for (int exactly = 0; exactly < 2; exactly++) {
            sample s = good();
            s.got[N - 1] = wrong[k];
            vf_comparison v = judge(&s, exactly);
            assert_true(v.failed);
            assert_int_equal(v.worst, N - 1);
            s = good(); /* nor as an expected value, on either side */
            s.got[3] = s.expected[3] = wrong[k];
            assert_true(judge(&s, exactly).failed);
            s = good(); /* nor with a bound that is not a number */
            s.magnitude[3] = wrong[k];
            s.got[3] += 1.0;
            if (!exactly && k != 2) assert_true(judge(&s, exactly).failed);
        }
}

static void one_bad_corner_fails(void **state)
{
    for (int corner = 0; corner < N; corner += N - 1) {
        sample s = good();
        double bound = vf_bound(&s.rounding, s.roundings[corner], s.magnitude[corner]);
        s.got[corner] = s.expected[corner] + 0.99 * bound;
        assert_false(judge(&s, false).failed);
        assert_true(judge(&s, true).failed);
        s.got[corner] = s.expected[corner] + 1.01 * bound;
        vf_comparison v = judge(&s, false);
        assert_true(v.failed);
        assert_int_equal(v.worst, corner);
        assert_true(v.budget_used > 1.0 && v.budget_used < 1.02);
    }
}

static void copies_must_be_equal(void **state)
{
    sample s = good();
    s.roundings[5] = 0.0;
    assert_false(judge(&s, false).failed);
    s.got[5] = nextafter(s.got[5], 100.0);
    assert_true(judge(&s, false).failed);
}

static void all_zeros_are_mistrusted(void **state)
{
    sample s = good();
    for (int i = 0; i < N; i++) s.expected[i] = s.got[i] = 0.0;
    vf_comparison v = judge(&s, false);
    assert_non_null(vf_mistrust(&v));
    for (int i = 0; i < N; i++) s.magnitude[i] = 0.0;
    v = judge(&s, false);
    assert_non_null(vf_mistrust(&v));
    s = good(); /* zeros where there should be values fail */
    for (int i = 0; i < N; i++) s.got[i] = 0.0;
    assert_true(judge(&s, false).failed);
    s = good(); /* 95 % zeros, and a constant */
    for (int i = 0; i < N; i++) s.expected[i] = s.got[i] = i < 3 ? s.expected[i] : 0.0;
    v = judge(&s, false);
    assert_non_null(vf_mistrust(&v));
    for (int i = 0; i < N; i++) s.expected[i] = s.got[i] = 2.0;
    v = judge(&s, false);
    assert_non_null(vf_mistrust(&v));
}

static void bounds_follow_their_formula(void **state)
{
    assert_true(fabs(vf_gamma(100, 0x1p-24) / (100 * 0x1p-24) - 1.0) < 1e-5);
    assert_true(isinf(vf_gamma(0x1p24, 0x1p-24)));
    cnn_problem p = {.op = CNN_OP_CONV};
    p.u.type = (cnn_type){CNN_F32, CNN_F32, CNN_NCHW, CNN_MATH_F32};
    vf_rounding f32 = vf_rounding_of(&p, NULL);
    p.u.type.math = CNN_MATH_TF32;
    vf_rounding tf32 = vf_rounding_of(&p, NULL);
    assert_true(vf_bound(&tf32, 9, 1) > 500 * vf_bound(&f32, 9, 1));
    assert_int_equal(tf32.bits, 11);
    p.u.type.dtype = p.u.type.weights = CNN_F64;
    assert_int_equal(vf_rounding_of(&p, NULL).bits, 53);
    cnn_algorithm winograd = {.amplification = 12.0, .flags = CNN_ALGO_TRANSFORMS};
    p.u.conv = (cnn_conv_desc){.t = {CNN_F32, CNN_F32, CNN_NCHW, CNN_MATH_F32}, .kh = 3, .kw = 3, .sh = 1, .sw = 1};
    vf_rounding amplified = vf_rounding_of(&p, &winograd);
    assert_true(fabs(vf_bound(&amplified, 9, 1) / vf_bound(&f32, 9, 1) - 12.0) < 0.01);
}

/* Whatever the number of terms and the factor: random terms add up to about magnitude / sqrt(n), and of that more than
 * half must be there; what cancels below rounding may be lost. */
static void zeros_are_within_no_bound(void **state)
{
    static const double factors[] = {1.0, 96.0, 4000.0, 1e30, INFINITY};
    for (int f = 0; f < 5; f++)
        for (double n = 9; n < 1e9; n *= 10) {
            sample s = good();
            s.rounding.amplification = factors[f];
            for (int i = 0; i < N; i++) {
                s.magnitude[i] = 1.0, s.roundings[i] = n;
                s.expected[i] = s.got[i] = (i % 2 ? 1.3 : -1.3) / sqrt(n);
            }
            s.got[7] = 0.0;
            assert_true(judge(&s, false).failed);
            s.got[7] = 0.45 * s.expected[7];
            assert_true(judge(&s, false).failed);
            s.got[7] = s.expected[7] * (1.0 + 4.0 * 0x1p-24 * sqrt(n)); /* and what rounding makes, is */
            assert_false(judge(&s, false).failed);
            s.expected[7] = s.got[7] = 0.0; /* all cancelled, but for what was rounded */
            s.got[7] = 0x1p-24;
            assert_false(judge(&s, false).failed);
        }
}

/* As a whole: what has the size of the sums themselves is no rounding, whatever is allowed. */
static void no_factor_makes_noise_of_sums(void **state)
{
    vf_rounding r = {.unit = 0x1p-24, .input = 0x1p-8, .mean = 1e30, .amplification = 1e30};
    assert_true(vf_rms_limit(&r, 1e3) < 0.3);
}

/* Largest magnitude below the limit; some factor that 11 bits cannot hold; no factor but 0 is an integer to look at. */
/* A data gradient with stride and beta 1: one sum of 2048 products, all else is what was there before. Random-walk
 * errors of that one pass, those of factors in TF32 do not, and where all have the same number of terms nothing has
 * changed. */
static void one_long_sum_among_copies_has_its_error(void **state)
{
    (void)state;
    sample s = good();
    for (int i = 1; i < N; i++) s.roundings[i] = 1.0;
    s.roundings[0] = 2048.0;
    s.magnitude[0] = 1.0;
    s.got[0] = s.expected[0] + 0x1p-23; /* times sqrt(n)/magnitude: 90 units of roundoff, of the 45 that are usual */
    vf_comparison v = judge(&s, false);
    assert_int_equal(v.rounded, N);
    assert_true(vf_rms(&v) <= vf_rms_most(&s.rounding, &v));
    s.got[0] = s.expected[0] + 0x1p-12 / sqrt(2048.0);
    v = judge(&s, false);
    assert_true(vf_rms(&v) > vf_rms_most(&s.rounding, &v));
    s = good();
    v = judge(&s, false);
    const double most = vf_rms_most(&s.rounding, &v), few = vf_rms_limit(&s.rounding, 3.0) * vf_spread_of_few(N);
    assert_true(fabs(most - few) <= 1e-12 * few);
}

/* Towards zero, or to the nearest number of so many bits. */
static double of_bits(double value, int bits, bool cut)
{
    int exponent;
    const double scaled = ldexp(frexp(value, &exponent), bits);
    return ldexp(cut ? trunc(scaled) : nearbyint(scaled), exponent - bits);
}

/* N sums of n products of numbers in -1..1, `at_once` in each addition, whose result keeps `bits`. */
static sample sums_of(int n, int at_once, int bits, bool cut)
{
    sample s = good();
    cnn_rng rng = rng_stream(7, (uint64_t)n);
    for (int i = 0; i < N; i++) {
        s.expected[i] = s.magnitude[i] = s.got[i] = 0.0;
        s.roundings[i] = n;
        for (int k = 0; k < n; k += at_once) {
            double part = 0.0;
            for (int j = 0; j < at_once; j++) {
                const double product = (2.0 * rng_unit(&rng) - 1.0) * (2.0 * rng_unit(&rng) - 1.0);
                part += product;
                s.magnitude[i] += fabs(product);
            }
            s.expected[i] += part;
            s.got[i] = of_bits(s.got[i] + part, bits, cut);
        }
    }
    return s;
}

static bool held(sample *s)
{
    const vf_comparison v = judge(s, false);
    return !v.failed && vf_rms(&v) <= vf_rms_most(&s->rounding, &v);
}

/* Factors of 16 bits: an adder may cut sums of four products and more, as tensor cores do. f32 is held to rounding, and
 * sums in fewer bits are seen in either. */
static void sums_of_halves_may_be_cut(void **state)
{
    (void)state;
    const cnn_problem half = problem_of(CNN_OP_FC, "ic64oc8", CNN_F16_F16_F32, CNN_NCHW),
                      full = problem_of(CNN_OP_FC, "ic64oc8", CNN_F32, CNN_NCHW);
    const vf_rounding halves = vf_rounding_of(&half, NULL), floats = vf_rounding_of(&full, NULL);
    assert_true(halves.cut > 0 && floats.cut == 0);
    for (int n = 16; n <= 1 << 14; n *= 4) {
        for (int at_once = 4; at_once <= 16; at_once *= 2) {
            sample s = sums_of(n, at_once, 24, true);
            s.rounding = halves;
            assert_true(held(&s));
        }
        sample cut = sums_of(n, 4, 24, true), nearest = sums_of(n, 1, 24, false), few = sums_of(n, 4, 16, true),
               half_sums = sums_of(n, 16, 11, false);
        cut.rounding = nearest.rounding = floats;
        few.rounding = half_sums.rounding = halves;
        assert_true(held(&nearest));
        assert_true(n < 1024 || !held(&cut));
        assert_false(held(&few));
        assert_false(held(&half_sums));
    }
}

static void check_integers(const char *text, cnn_dir dir, int variant, cnn_dtype dtype)
{
    const cnn_problem p = problem_of(CNN_OP_CONV, text, dtype, CNN_NCHW);
    cnn_error err = {.message = ""};
    vf_case c;
    bool wide = false;
    static const double least[CNN_DTYPE_COUNT] = {
        [CNN_F32] = 0x1p11, [CNN_F64] = 0x1p29,         [CNN_F16] = 0x1p10,
        [CNN_BF16] = 0x1p7, [CNN_F16_F16_F32] = 0x1p10, [CNN_BF16_BF16_F32] = 0x1p7};
    assert_int_equal(vf_case_make(&c, &p, dir, VF_INTEGERS, variant, 3, NULL, &err), CNN_OK);
    for (int i = 0; i < c.call.count; i++)
        for (int64_t e = 0; e < c.call.operands[i].count; e++) {
            if (c.before[i] != NULL) {
                const double v = c.before[i][e] / c.unit[i];
                assert_true(v == floor(v));
                if (vf_is_factor(&c.call.operands[i])) assert_true(fabs(c.before[i][e]) < 1.0);
                wide = wide || (fmod(v, 2.0) != 0.0 && fabs(v) > least[dtype]);
            }
            if (c.magnitude[i] != NULL)
                assert_true(c.magnitude[i][e] < (dtype == CNN_F64 ? 0x1p53 : 0x1p24) * c.unit[i]);
        }
    assert_true(wide);
    vf_case_free(&c);
}

static void integers_stay_exact(void **state)
{
    static const char *const texts[] = {"mb2ic5ih9oc6kh3ph1", "mb64ic3ih40oc2kh5ph2", "mb1ic600ih5oc4kh3ph1"};
    for (int i = 0; i < 3; i++)
        for (int dir = 0; dir < CNN_DIR_COUNT; dir++)
            for (int variant = 0; variant < 2; variant++)
                for (int dtype = 0; dtype < CNN_DTYPE_COUNT; dtype++)
                    if (!cnn_sums_whole((cnn_dtype)dtype) &&
                        !is_left_out_when_quick((size_t)(((3 * i + dir) * 2 + variant) * CNN_DTYPE_COUNT + dtype), 3))
                        check_integers(texts[i], (cnn_dir)dir, variant, (cnn_dtype)dtype);
}

/* Each type within its range, the ends met; sums that 16 bits do not hold, or 24, and that 32 do, however long. */
static void check_whole(const char *text, cnn_dtype dtype, vf_fill fill)
{
    const cnn_problem p = problem_of(CNN_OP_CONV, text, dtype, CNN_NCHW);
    cnn_error err = {.message = ""};
    vf_case c;
    double largest = 0.0;
    assert_int_equal(vf_case_make(&c, &p, CNN_FWD, fill, 1, 3, NULL, &err), CNN_OK);
    const int y = vf_index(c.call.operands, c.call.count, "y");
    for (int i = 0; i < y; i++) {
        const cnn_dtype its = cnn_elem_dtype(&p.u.type, c.call.operands[i].elem);
        double low = 0.0, high = 0.0;
        for (int64_t e = 0; e < c.call.operands[i].count; e++)
            low = fmin(low, c.before[i][e]), high = fmax(high, c.before[i][e]);
        assert_true(its == (i == 0 ? cnn_part_dtype(dtype, CNN_PART_FACTOR) : i == 1 ? CNN_S8 : CNN_S32));
        if (i < 2) assert_true(high == cnn_largest(its) && (fill != VF_INTEGERS || low == (its == CNN_U8 ? 0 : -128)));
    }
    for (int64_t e = 0; e < c.call.operands[y].count; e++) {
        assert_true(c.magnitude[y][e] < 0x1p31);
        largest = fmax(largest, fabs(c.after[y][e]));
    }
    assert_true(largest > 0x1p25);
    vf_case_free(&c);
}

static void whole_sums_fit(void **state)
{
    static const char *const texts[] = {"mb2ic5ih9oc6kh3ph1", "mb1ic600ih5oc4kh3ph1", "mb1ic40000ih3oc2kh3"};
    for (int i = 0; i < 3; i++)
        for (int fill = 0; fill < 2; fill++) {
            check_whole(texts[i], CNN_U8_S8_S32, fill ? VF_REALS : VF_INTEGERS);
            check_whole(texts[i], CNN_S8_S8_S32, fill ? VF_REALS : VF_INTEGERS);
        }
}

static void checks_have_names(void **state)
{
    cnn_error err = {.message = ""};
    assert_int_equal(cnn_name_mask(&verify_check_names, "exact,memory", &err),
                     1u << VERIFY_EXACT | 1u << VERIFY_MEMORY);
    assert_int_equal(cnn_name_mask(&verify_check_names, NULL, &err), (1u << VERIFY_CHECK_COUNT) - 1);
    assert_int_equal(cnn_name_mask(&verify_check_names, "exakt", &err), 0);
    assert_message(err, "exact");
    assert_int_equal(cnn_name_mask(&verify_check_names, "", &err), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_results_pass),
        cmocka_unit_test(never_a_nan_or_infinity),
        cmocka_unit_test(one_bad_corner_fails),
        cmocka_unit_test(copies_must_be_equal),
        cmocka_unit_test(all_zeros_are_mistrusted),
        cmocka_unit_test(bounds_follow_their_formula),
        cmocka_unit_test(zeros_are_within_no_bound),
        cmocka_unit_test(no_factor_makes_noise_of_sums),
        cmocka_unit_test(one_long_sum_among_copies_has_its_error),
        cmocka_unit_test(sums_of_halves_may_be_cut),
        cmocka_unit_test(integers_stay_exact),
        cmocka_unit_test(checks_have_names),
        cmocka_unit_test(whole_sums_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
