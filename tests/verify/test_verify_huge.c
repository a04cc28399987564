/* Judging without the reference: single elements and projections agree with it wherever it can be had; every wrong
 * kernel that the whole reference catches is caught by projection and samples alone, down to a single element. */
#include "tests/unit.h"

#include "verify/oracle/element.h"
#include "verify/oracle/modular.h"
#include "verify/oracle/projection.h"
#include "verify_fake.h"

static cnn_problem parse(cnn_op op, const char *text, cnn_dtype dtype, bool flip)
{
    return problem_with(op, text,
                        &(cnn_problem_defaults){.type = {dtype, dtype, CNN_NCHW, CNN_MATH_F32}, .flip = flip});
}

/* Calls `each` for the small default problems of conv, transposed too, and FC, flipped and not, in all directions and
 * variants. */
typedef void each_case(const vf_case *c, const char *text);

static void for_cases(vf_fill fill, each_case *each)
{
    static const cnn_op ops[] = {CNN_OP_CONV, CNN_OP_DECONV, CNN_OP_FC};
    for (int o = 0; o < 3; o++)
        for (const verify_default *d = verify_defaults; d->text != NULL; d++)
            for (int run = 0; d->op == ops[o] && run < CNN_DIR_COUNT * 4; run++) {
                const char *text = d->text;
                const cnn_problem p = parse(ops[o], text, CNN_F32, run / CNN_DIR_COUNT % 2);
                vf_case c;
                cnn_error err = {.message = ""};
                if (cnn_flops(&p, CNN_FWD) > 1e6) continue;
                if (SANITIZED && run / CNN_DIR_COUNT % 2 != run / (2 * CNN_DIR_COUNT)) continue;
                if (vf_case_make(&c, &p, (cnn_dir)(run % CNN_DIR_COUNT), fill, run / (2 * CNN_DIR_COUNT), 3, NULL,
                                 &err) != CNN_OK)
                    fail_msg("%s", err.message);
                each(&c, text);
                vf_case_free(&c);
            }
}

static void compare_elements(const vf_case *c, const char *text)
{
    for (int i = 0; i < c->call.count; i++)
        for (int64_t e = 0; c->after[i] != NULL && e < c->call.operands[i].count; e += 1 + e / 50) {
            const vf_element one = vf_element_make(c, i, e);
            if (fabs(one.value - c->after[i][e]) > 1e-12 || fabs(one.magnitude - c->magnitude[i][e]) > 1e-10 ||
                one.roundings < c->roundings[i][e] || one.roundings > c->roundings[i][e])
                fail_msg("%s, direction %d: %s element %lld is %.17g of %g roundings, not %.17g of %g", text,
                         (int)c->call.dir, c->call.operands[i].name, (long long)e, one.value, one.roundings,
                         c->after[i][e], c->roundings[i][e]);
        }
}

static void single_elements_are_the_references(void **state) { for_cases(VF_REALS, compare_elements); }

static void powers_of_two_divide(void **state)
{
    static const double values[] = {0.0, 1.0, -1.0, 4095.0, -0x1.fffffep23, 0x1.fffffffffffffp52, 0x1p-1022};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        assert_true(mod_add(mod_of(values[i]), mod_of(-values[i])) == 0);
        for (int k = 0; k < 200; k++) {
            if (values[i] < 0x1p-1000 && values[i] > 0 && k > 52) continue; /* it would lose its only bit */
            assert_true(mod_mul(mod_of(ldexp(values[i], -k)), mod_of(ldexp(1.0, k))) == mod_of(values[i]));
        }
    }
    assert_true(mod_of(-3.0) == VF_PRIME - 3);
}

/* The right result passes; with any one element off by 1 that very element is found. */
static void project_case(const vf_case *c, const char *text)
{
    cnn_rng rng = rng_stream(1, (uint64_t)c->call.dir);
    for (int i = 0; i < c->call.count; i++) {
        const int64_t count = c->call.operands[i].count;
        int64_t wrong;
        cnn_error err;
        if (c->after[i] == NULL) continue;
        assert_int_equal(vf_project(c, i, c->after[i], 9, NULL, &wrong, &err), CNN_OK);
        if (wrong != -1)
            fail_msg("%s, direction %d, variant %d: a right result fails", text, (int)c->call.dir, c->variant);
        for (int k = 0; k < 4; k++) {
            const int64_t at = k == 0 ? 0 : k == 1 ? count - 1 : rng_int(&rng, 0, count - 1);
            c->after[i][at] += k % 2 ? 1.0 : -1.0;
            assert_int_equal(vf_project(c, i, c->after[i], 9 + (uint64_t)k, NULL, &wrong, &err), CNN_OK);
            assert_int_equal(wrong, at);
            c->after[i][at] -= k % 2 ? 1.0 : -1.0;
        }
    }
}

static void projections_find_a_single_wrong_element(void **state) { for_cases(VF_INTEGERS, project_case); }

/* Errors that cancel in every plain sum: two elements swapped, a row moved, a sign pattern. */
static void projections_see_what_sums_do_not(void **state)
{
    const cnn_problem p = parse(CNN_OP_CONV, "mb2ic3ih8oc4kh3ph1", CNN_F32, false);
    cnn_error err;
    vf_case c;
    int64_t wrong;
    assert_int_equal(vf_case_make(&c, &p, CNN_FWD, VF_INTEGERS, 0, 3, NULL, &err), CNN_OK);
    const int y = vf_index(c.call.operands, c.call.count, "y");
    double *v = c.after[y];
    v[10] += 1.0, v[11] -= 1.0;
    assert_int_equal(vf_project(&c, y, v, 1, NULL, &wrong, &err), CNN_OK);
    assert_int_equal(wrong, 10);
    v[74] -= 1.0, v[75] += 1.0; /* the same in the next channel, the other way round: each sum is right again */
    assert_int_equal(vf_project(&c, y, v, 1, NULL, &wrong, &err), CNN_OK);
    assert_int_equal(wrong, 10);
    v[10] -= 1.0, v[11] += 1.0, v[74] += 1.0, v[75] -= 1.0;
    assert_int_equal(vf_project(&c, y, v, 1, NULL, &wrong, &err), CNN_OK);
    assert_int_equal(wrong, -1);
    vf_case_free(&c);
}

/* ---- Whole checks, as if the problem were huge. */

static verdict ask_of(int algorithm, mutant m, const cnn_problem *problem, cnn_dir dir)
{
    const verify_options options = {.checks = ~0u, .seed = 7, .reference_threads = 2, .reference_flops = 1.0};
    return fake_ask(m, problem, dir, algorithm, &options);
}

static verdict ask(mutant m, const cnn_problem *problem, cnn_dir dir) { return ask_of(FAKE_EXACT, m, problem, dir); }

static void right_kernels_pass_unseen(void **state)
{
    static const cnn_op ops[] = {CNN_OP_CONV, CNN_OP_DECONV, CNN_OP_FC};
    for (int o = 0; o < 3; o++)
        for (const verify_default *d = verify_defaults; d->text != NULL; d++)
            for (int run = 0; d->op == ops[o] && run < 2 * CNN_DIR_COUNT; run++) {
                const cnn_problem p = parse(ops[o], d->text, (cnn_dtype)(run % 2), (d - verify_defaults) % 2);
                if (cnn_flops(&p, CNN_FWD) > 3e5) continue;
                if (SANITIZED && run % 2 == (d - verify_defaults) / 2 % 2) continue; /* f32 or f64 */
                const verdict v = ask(MUTANT_NONE, &p, (cnn_dir)(run / 2));
                if (v.overall != VERIFY_PASSED)
                    fail_msg("%s direction %d: %s %s", d->text, run / 2, v.last[VERIFY_EXACT].reason,
                             v.last[VERIFY_BOUND].reason);
                assert_non_null(strstr(v.last[VERIFY_EXACT].reason, "below 2e-18"));
                assert_non_null(strstr(v.last[VERIFY_BOUND].reason, "sampled elements"));
                assert_int_equal(v.states[VERIFY_GRADIENT], VERIFY_SKIPPED);
            }
}

static void wrong_kernels_are_caught_unseen(void **state)
{
    enum { ALL = 7, FWD = 1 << CNN_FWD, BWD_D = 1 << CNN_BWD_D, BWD_W = 1 << CNN_BWD_W };
    static const struct {
        mutant m;
        int dirs, check;
    } cases[] = {{MUTANT_NAN, ALL, VERIFY_EXACT},         {MUTANT_NAN, ALL, VERIFY_BOUND},
                 {MUTANT_CORNER, ALL, VERIFY_EXACT},      {MUTANT_CORNER, ALL, VERIFY_BOUND},
                 {MUTANT_ZEROS, ALL, VERIFY_EXACT},       {MUTANT_LAST_TAP, ALL, VERIFY_EXACT},
                 {MUTANT_LAST_TAP, ALL, VERIFY_BOUND},    {MUTANT_SWAPPED, FWD | BWD_D, VERIFY_EXACT},
                 {MUTANT_TF32, ALL, VERIFY_EXACT},        {MUTANT_BF16, ALL, VERIFY_EXACT},
                 {MUTANT_HALF_SUM, ALL, VERIFY_EXACT},    {MUTANT_NO_BIAS, FWD | BWD_W, VERIFY_EXACT},
                 {MUTANT_NO_BETA, ALL, VERIFY_EXACT},     {MUTANT_STALE, ALL, VERIFY_EXACT},
                 {MUTANT_UNWRITTEN, ALL, VERIFY_EXACT},   {MUTANT_UNWRITTEN, ALL, VERIFY_MEMORY},
                 {MUTANT_SCRIBBLE, ALL, VERIFY_MEMORY},   {MUTANT_PAST_END, ALL, VERIFY_MEMORY},
                 {MUTANT_RANDOM, ALL, VERIFY_DETERMINISM}};
    static const char *const texts[] = {"mb2ic5ih9oc6kh3ph1", "g2mb3ic4ih10oc6kh3sh2ph1", "mb2ic16ih6oc7kh3ph2dh1"};
    for (int t = 0; t < 3; t++)
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
            for (int dir = 0; dir < CNN_DIR_COUNT; dir++) {
                const cnn_problem p = parse(CNN_OP_CONV, texts[t], CNN_F32, false);
                if (!(cases[i].dirs >> dir & 1) || (SANITIZED && t != (int)(i % 3))) continue;
                const verdict v = ask(cases[i].m, &p, (cnn_dir)dir);
                if (v.states[cases[i].check] <= VERIFY_PASSED)
                    fail_msg("%s: mutant %d, direction %d: check %s does not fail", texts[t], (int)cases[i].m, dir,
                             verify_check_name((verify_check)cases[i].check));
            }
}

/* The same one as by the whole reference. */
static void the_wrong_element_is_named(void **state)
{
    const cnn_problem p = parse(CNN_OP_CONV, "mb2ic5ih9oc6kh3ph1", CNN_F32, false);
    const verdict v = ask(MUTANT_CORNER, &p, CNN_FWD), whole = fake_verify(MUTANT_CORNER, &p, CNN_FWD, FAKE_EXACT);
    assert_non_null(strstr(v.last[VERIFY_EXACT].worst, "y[n=1,c=5,h=8,w=8]: expected "));
    assert_non_null(strstr(whole.last[VERIFY_EXACT].worst, "y[n=1,c=5,h=8,w=8]: expected "));
}

/* Sums of more than 2^12 and of more than 2^16 products stay exact. */
static void long_sums_stay_exact(void **state)
{
    static const struct {
        const char *text;
        cnn_dir dir;
    } cases[] = {
        {"mb1ic600ih5oc2kh3ph1", CNN_FWD}, {"mb1ic2ih5oc600kh3ph1", CNN_BWD_D}, {"mb30ic1ih50oc2kh2ph0", CNN_BWD_W}};
    for (int i = 0; i < 3; i++) {
        const cnn_problem p = parse(CNN_OP_CONV, cases[i].text, CNN_F32, false);
        assert_int_equal(ask(MUTANT_NONE, &p, cases[i].dir).overall, VERIFY_PASSED);
        assert_int_equal(ask(MUTANT_TF32, &p, cases[i].dir).states[VERIFY_EXACT], VERIFY_FAILED);
        assert_int_equal(ask(MUTANT_LAST_TAP, &p, cases[i].dir).states[VERIFY_EXACT], VERIFY_FAILED);
    }
}

/* A transform with a sum so long that its bound spans integers: the exact check can say nothing. That is said, and the
 * others still tell: sums in f16, elements that are wrong, zeros. */
static void long_sums_of_transforms_are_judged_otherwise(void **state)
{
    static const struct {
        mutant m;
        int checks[3];
    } cases[] = {{MUTANT_HALF, {VERIFY_PRECISION, VERIFY_PRECISION, VERIFY_PRECISION}},
                 {MUTANT_TF32, {VERIFY_PRECISION, VERIFY_PRECISION, VERIFY_PRECISION}},
                 {MUTANT_NAN, {VERIFY_BOUND, VERIFY_ADJOINT, VERIFY_BOUND}},
                 {MUTANT_ZEROS, {VERIFY_BOUND, VERIFY_PRECISION, VERIFY_BOUND}},
                 {MUTANT_LAST_TAP, {VERIFY_BOUND, VERIFY_BOUND, VERIFY_BOUND}}};
    const cnn_problem p = parse(CNN_OP_CONV, "mb4ic2ih204oc3kh2ph0", CNN_F32, false);
    verdict v = ask_of(FAKE_TRANSFORM, MUTANT_NONE, &p, CNN_BWD_W);
    assert_int_equal(v.overall, VERIFY_PASSED);
    assert_int_equal(v.states[VERIFY_EXACT], VERIFY_SKIPPED);
    assert_non_null(strstr(v.last[VERIFY_EXACT].reason, "too wide for integers"));
    assert_non_null(strstr(v.last[VERIFY_BOUND].reason, "adjoint and precision"));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int k = 0; k < 3; k++) { /* each by itself: beside one that failed precision may leave the word to it */
            const verify_options options = {
                .checks = 1u << cases[i].checks[k], .seed = 7, .reference_threads = 2, .reference_flops = 1.0};
            v = fake_ask(cases[i].m, &p, CNN_BWD_W, FAKE_TRANSFORM, &options);
            if (v.states[cases[i].checks[k]] != VERIFY_FAILED)
                fail_msg("mutant %d: check %s does not fail", (int)cases[i].m,
                         verify_check_name((verify_check)cases[i].checks[k]));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_elements_are_the_references),
        cmocka_unit_test(powers_of_two_divide),
        cmocka_unit_test(projections_find_a_single_wrong_element),
        cmocka_unit_test(projections_see_what_sums_do_not),
        cmocka_unit_test(right_kernels_pass_unseen),
        cmocka_unit_test(wrong_kernels_are_caught_unseen),
        cmocka_unit_test(the_wrong_element_is_named),
        cmocka_unit_test(long_sums_stay_exact),
        cmocka_unit_test(long_sums_of_transforms_are_judged_otherwise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
