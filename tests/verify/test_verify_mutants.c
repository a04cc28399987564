/* Every check must be able to fail: kernels wrong in one known way each are caught, by the check that is there for it,
 * and a right one passes everything. */
#include "tests/unit.h"

#include "verify_fake.h"

/* ---- The right one. */

static void right_kernel_passes_everything(void **state)
{
    for (int op = 0; op < CNN_OP_COUNT; op++)
        for (const verify_default *d = verify_defaults; d->text != NULL; d++)
            for (int type = 0; (int)d->op == op && type < 4; type++) {
                cnn_problem p = problem_of(d->op, d->text, (cnn_dtype)(type / 2), (cnn_layout)(type % 2));
                if (cnn_flops(&p, CNN_FWD) > 3e5) continue;
                for (int dir = 0; dir < CNN_DIR_COUNT; dir++) {
                    if (!(cnn_op_dirs(&p) & 1u << dir)) continue;
                    verdict v = fake_verify(MUTANT_NONE, &p, (cnn_dir)dir, 0);
                    for (int k = 0; k < VERIFY_CHECK_COUNT; k++)
                        if (v.states[k] != VERIFY_PASSED && v.states[k] != VERIFY_SKIPPED)
                            fail_msg("%s dir %d type %d: %s %s %s", d->text, dir, type,
                                     verify_check_name((verify_check)k), v.last[k].reason, v.last[k].worst);
                    assert_int_equal(v.overall, VERIFY_PASSED);
                }
            }
}

static void precision_is_named(void **state)
{
    cnn_problem p = problem_of(CNN_OP_CONV, "mb2ic16ih9oc8kh3ph1", CNN_F32, CNN_NCHW);
    assert_string_equal(fake_verify(MUTANT_NONE, &p, CNN_FWD, 0).last[VERIFY_BOUND].precision, "f32");
    assert_string_equal(fake_verify(MUTANT_TF32, &p, CNN_FWD, 0).last[VERIFY_BOUND].precision, "tf32");
    assert_string_equal(fake_verify(MUTANT_BF16, &p, CNN_FWD, 0).last[VERIFY_BOUND].precision, "bf16");
    p.u.type.dtype = p.u.type.weights = CNN_F64;
    assert_string_equal(fake_verify(MUTANT_NONE, &p, CNN_FWD, 0).last[VERIFY_BOUND].precision, "f64");
}

/* With many taps the worst-case bound is too wide to see TF32; the mean square is not. Four channels or more hide
 * single products, whose bound sees it. */
static void tf32_is_caught_in_long_sums(void **state)
{
    cnn_problem p = problem_of(CNN_OP_CONV, "mb1ic600ih5oc4kh3ph1", CNN_F32, CNN_NCHW);
    verdict v = fake_verify(MUTANT_TF32, &p, CNN_FWD, 0);
    assert_int_equal(v.states[VERIFY_BOUND], VERIFY_FAILED);
    assert_true(v.last[VERIFY_BOUND].budget_used > 1.0);
    assert_non_null(strstr(v.last[VERIFY_BOUND].reason, "single products in sums of up to 5400 keep 11 of 24 bits"));
    p = problem_of(CNN_OP_CONV, "mb1ic600ih5oc3kh3ph1", CNN_F32, CNN_NCHW);
    v = fake_verify(MUTANT_TF32, &p, CNN_FWD, 0);
    assert_int_equal(v.states[VERIFY_BOUND], VERIFY_FAILED);
    assert_true(v.last[VERIFY_BOUND].budget_used < 1.0);
    assert_non_null(strstr(v.last[VERIFY_BOUND].reason, "precision of tf32"));
    assert_int_equal(v.states[VERIFY_EXACT], VERIFY_FAILED);
}

/* ---- Wrong convolutions and FC layers: which check must fail, for which directions. */

enum { ALL = 7, FWD = 1 << CNN_FWD, BWD_D = 1 << CNN_BWD_D, BWD_W = 1 << CNN_BWD_W };
enum {
    EXACT = 1 << VERIFY_EXACT,
    BOUND = 1 << VERIFY_BOUND,
    GRADIENT = 1 << VERIFY_GRADIENT,
    ADJOINT = 1 << VERIFY_ADJOINT,
    MEMORY = 1 << VERIFY_MEMORY,
    DETERMINISM = 1 << VERIFY_DETERMINISM
};

typedef struct expectation {
    mutant m;
    int dirs, checks; /* these must not pass */
    int pure;         /* and if set, no other may fail */
} expectation;

static const expectation weighted[] = {
    {MUTANT_NAN, ALL, EXACT | BOUND, 0},
    {MUTANT_NAN, BWD_D | BWD_W, GRADIENT | ADJOINT, 0},
    {MUTANT_CORNER, ALL, EXACT | BOUND, 0},
    {MUTANT_CORNER, BWD_D | BWD_W, ADJOINT, 0},
    {MUTANT_ZEROS, ALL, EXACT | BOUND, 0},
    {MUTANT_ZEROS, BWD_D | BWD_W, GRADIENT, 0},
    {MUTANT_LAST_TAP, ALL, EXACT | BOUND, 0},
    {MUTANT_LAST_TAP, BWD_D | BWD_W, GRADIENT, 0},
    {MUTANT_SCRIBBLE, ALL, MEMORY, 0},
    {MUTANT_PAST_END, ALL, MEMORY, 1},
    {MUTANT_BEFORE_START, ALL, MEMORY, 1},
    {MUTANT_SWAPPED, FWD | BWD_D, EXACT | BOUND, 0},
    {MUTANT_TF32, ALL, EXACT | BOUND, 0},
    {MUTANT_BF16, ALL, EXACT | BOUND, 0},
    {MUTANT_HALF_SUM, ALL, EXACT | BOUND, 0},
    {MUTANT_NO_BIAS, FWD | BWD_W, EXACT | BOUND, 0},
    {MUTANT_NO_BETA, ALL, EXACT | BOUND, 0},
    {MUTANT_STALE, ALL, EXACT | BOUND | MEMORY, 0},
    {MUTANT_UNWRITTEN, ALL, EXACT | BOUND | MEMORY, 0},
    {MUTANT_RANDOM, ALL, DETERMINISM, 0},
    {MUTANT_THREADS, ALL, DETERMINISM, 1},
};

static void expect_caught(const cnn_problem *p, const char *text)
{
    for (size_t i = 0; i < sizeof weighted / sizeof weighted[0]; i++)
        for (int dir = 0; dir < CNN_DIR_COUNT; dir++) {
            const expectation *e = &weighted[i];
            if (!(e->dirs & 1 << dir)) continue;
            verdict v = fake_verify(e->m, p, (cnn_dir)dir, 0);
            for (int k = 0; k < VERIFY_CHECK_COUNT; k++) {
                bool caught = v.states[k] > VERIFY_PASSED, must = e->checks & 1 << k;
                if (must ? !caught : e->pure && caught)
                    fail_msg("%s: mutant %d, direction %d: check %s says %s (%s)", text, (int)e->m, dir,
                             verify_check_name((verify_check)k), verify_state_name((verify_state)v.states[k]),
                             v.last[k].reason);
            }
        }
}

static void wrong_convolutions_are_caught(void **state)
{
    static const char *const texts[] = {"mb2ic5ih9oc6kh3ph1", "g2mb3ic4ih10oc6kh3sh2ph1", "mb2ic16ih6oc7kh3ph2dh1"};
    for (int i = 0; i < 3; i++) {
        cnn_problem p = problem_of(CNN_OP_CONV, texts[i], CNN_F32, i % 2 ? CNN_NHWC : CNN_NCHW);
        expect_caught(&p, texts[i]);
    }
}

static void wrong_fc_layers_are_caught(void **state)
{
    cnn_problem p = problem_of(CNN_OP_FC, "mb6ic5ih3oc7", CNN_F32, CNN_NHWC);
    expect_caught(&p, "fc");
}

/* ---- Buffers that stay where they are. */

static void *given[64]; /* by alloc_once(), which gives no address a second time */
static int given_count;

static cnn_status alloc_once(cnn_context *c, size_t bytes, void **memory, cnn_error *err)
{
    if (given_count == 64) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "all is given");
    *memory = aligned_alloc(CNN_ALIGN, (bytes + CNN_ALIGN - 1) / CNN_ALIGN * CNN_ALIGN);
    given[given_count++] = *memory;
    return CNN_OK;
}

static void keep_memory(cnn_context *c, void *memory) {}

static cnn_status move(cnn_context *c, void *dst, const void *src, size_t bytes, cnn_error *err)
{
    memcpy(dst, src, bytes);
    return CNN_OK;
}

static cnn_status fill(cnn_context *c, void *dst, int byte, size_t bytes, cnn_error *err)
{
    memset(dst, byte, bytes);
    return CNN_OK;
}

static cnn_status plenty(cnn_context *c, size_t *bytes, cnn_error *err)
{
    *bytes = (size_t)1 << 30;
    return CNN_OK;
}

static const cnn_memory own_memory = {alloc_once, keep_memory, move, move, move, fill, plenty};

/* The bound check alone, though it has one run of pooling, and though no address comes back by itself. */
static void what_is_kept_by_address_is_caught(void **state)
{
    cnn_impl device = fake;
    device.memory = &own_memory;
    const cnn_problem p = problem_of(CNN_OP_POOL, "max:mb2ic5ih9kh3sh2", CNN_F32, CNN_NCHW);
    const verify_options options = {.checks = 1u << VERIFY_BOUND, .seed = 7, .reference_threads = 1};
    for (int m = 0; m < 2; m++) {
        const cnn_session_params params = {.threads = 1, .device = (int)(m ? MUTANT_BY_ADDRESS : MUTANT_NONE)};
        verify_engine *engine;
        verdict v = {.overall = VERIFY_UNSUPPORTED};
        cnn_error err = {.message = ""};
        assert_int_equal(verify_open(&device, &params, &options, &engine, &err), CNN_OK);
        assert_int_equal(verify_problem(engine, &p, CNN_FWD, &fake_algorithms[FAKE_EXACT], fake_each, &v, &err),
                         CNN_OK);
        assert_int_equal(v.states[VERIFY_BOUND], m ? VERIFY_FAILED : VERIFY_PASSED);
        verify_close(engine);
    }
    while (given_count > 0) free(given[--given_count]);
}

/* f64 that is f32 inside: what TF32 is to f32. */
static void single_precision_in_f64_is_caught(void **state)
{
    cnn_problem p = problem_of(CNN_OP_CONV, "mb2ic16ih9oc6kh3ph1", CNN_F64, CNN_NCHW);
    for (int dir = 0; dir < CNN_DIR_COUNT; dir++) {
        verdict v = fake_verify(MUTANT_SINGLE, &p, (cnn_dir)dir, 0);
        assert_int_equal(v.states[VERIFY_EXACT], VERIFY_FAILED);
        assert_int_equal(v.states[VERIFY_BOUND], VERIFY_FAILED);
    }
}

static void wrong_layout_is_caught(void **state)
{
    cnn_problem p = problem_of(CNN_OP_CONV, "mb2ic5ih9oc6kh3ph1", CNN_F32, CNN_NHWC);
    for (int dir = 0; dir < CNN_DIR_COUNT; dir++)
        assert_int_equal(fake_verify(MUTANT_LAYOUT, &p, (cnn_dir)dir, 0).overall, VERIFY_FAILED);
}

/* ---- The other operations, by what is wrong with any of them. */

static void wrong_operations_are_caught(void **state)
{
    static const struct {
        cnn_op op;
        const char *text;
    } problems[] = {{CNN_OP_POOL, "max:mb2ic5ih8kh2sh2"},
                    {CNN_OP_POOL, "avg:mb2ic7ih11kh3sh2ph1"},
                    {CNN_OP_ACT, "leaky_relu=0.01:mb2ic20ih5"},
                    {CNN_OP_ACT, "tanh:mb2ic7ih9"},
                    {CNN_OP_LOSS, "mb7ic37"},
                    {CNN_OP_DROPOUT, "0.2:mb3ic20ih4"},
                    {CNN_OP_ADD, "mb2ic20ih5"},
                    {CNN_OP_CONCAT, "3+5+7:mb2ih6"},
                    {CNN_OP_BATCHNORM, "mb8ic20ih3"},
                    {CNN_OP_OPTIMIZER, "adam:ic1003"}};
    static const struct {
        mutant m;
        int check;
    } wrongs[] = {{MUTANT_NAN, VERIFY_BOUND},       {MUTANT_CORNER, VERIFY_BOUND},
                  {MUTANT_ZEROS, VERIFY_BOUND},     {MUTANT_SCRIBBLE, VERIFY_MEMORY},
                  {MUTANT_PAST_END, VERIFY_MEMORY}, {MUTANT_HALF_SUM, VERIFY_BOUND},
                  {MUTANT_UNWRITTEN, VERIFY_BOUND}, {MUTANT_THREADS, VERIFY_DETERMINISM}};
    for (int i = 0; i < 10; i++)
        for (int k = 0; k < 8; k++)
            for (int dir = 0; dir < CNN_DIR_COUNT; dir++) {
                cnn_problem p = problem_of(problems[i].op, problems[i].text, CNN_F32, CNN_NHWC);
                if (!(cnn_op_dirs(&p) & 1u << dir)) continue;
                verdict v = fake_verify(wrongs[k].m, &p, (cnn_dir)dir, 0);
                if (v.states[wrongs[k].check] <= VERIFY_PASSED)
                    fail_msg("%s, direction %d: mutant %d passed", problems[i].text, dir, (int)wrongs[k].m);
            }
}

/* ---- States. */

static void differences_of_a_loose_algorithm_are_stated(void **state)
{
    cnn_problem p = problem_of(CNN_OP_CONV, "mb2ic5ih9oc6kh3ph1", CNN_F32, CNN_NCHW);
    verdict v = fake_verify(MUTANT_THREADS, &p, CNN_FWD, 1);
    assert_int_equal(v.states[VERIFY_DETERMINISM], VERIFY_PASSED);
    assert_non_null(strstr(v.last[VERIFY_DETERMINISM].reason, "not deterministic"));
    assert_int_equal(fake_verify(MUTANT_PAST_END, &p, CNN_FWD, 1).overall, VERIFY_FAILED);
}

static void refused_problems_are_unsupported(void **state)
{
    cnn_problem p = problem_of(CNN_OP_CONV, "mb2ic5ih9oc6kh9ph4", CNN_F32, CNN_NCHW);
    verdict v = fake_verify(MUTANT_NONE, &p, CNN_FWD, 0);
    assert_int_equal(v.overall, VERIFY_UNSUPPORTED);
}

static void zeros_of_empty_windows_must_be_written(void **state)
{
    /* the kernel lies wholly in the padding, and there is no bias: 0 is right, whatever the data */
    cnn_problem p = problem_of(CNN_OP_CONV, "mb2ic1ih1oc20oh9kh1ph4n\"padding\"", CNN_F32, CNN_NCHW);
    p.u.conv.bias = false;
    p.u.conv.ph = p.u.conv.pw = 40;
    p.u.conv.ph_r = cnn_right_pad(1, 9, 1, 1, 40, 0);
    p.u.conv.pw_r = p.u.conv.ph_r;
    verdict v = fake_verify(MUTANT_NONE, &p, CNN_FWD, 0);
    assert_int_equal(v.states[VERIFY_BOUND], VERIFY_PASSED);
    assert_int_equal(fake_verify(MUTANT_UNWRITTEN, &p, CNN_FWD, 0).states[VERIFY_BOUND], VERIFY_FAILED);
    assert_int_equal(fake_verify(MUTANT_NAN, &p, CNN_FWD, 0).states[VERIFY_BOUND], VERIFY_FAILED);
}

static void failures_name_the_element(void **state)
{
    cnn_problem p = problem_of(CNN_OP_CONV, "mb2ic5ih9oc6kh3ph1", CNN_F32, CNN_NHWC);
    verdict v = fake_verify(MUTANT_CORNER, &p, CNN_FWD, 0);
    assert_non_null(strstr(v.last[VERIFY_BOUND].worst, "y[n=1,c=5,h=8,w=8]: expected "));
    assert_true(v.last[VERIFY_BOUND].budget_used > 1.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_kernel_passes_everything),
        cmocka_unit_test(precision_is_named),
        cmocka_unit_test(tf32_is_caught_in_long_sums),
        cmocka_unit_test(wrong_convolutions_are_caught),
        cmocka_unit_test(wrong_fc_layers_are_caught),
        cmocka_unit_test(what_is_kept_by_address_is_caught),
        cmocka_unit_test(single_precision_in_f64_is_caught),
        cmocka_unit_test(wrong_layout_is_caught),
        cmocka_unit_test(wrong_operations_are_caught),
        cmocka_unit_test(differences_of_a_loose_algorithm_are_stated),
        cmocka_unit_test(refused_problems_are_unsupported),
        cmocka_unit_test(zeros_of_empty_windows_must_be_written),
        cmocka_unit_test(failures_name_the_element),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
