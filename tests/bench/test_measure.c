/* test_measure.c: samples: how many and how long, cold ones, interrupted ones, and what they are taken of. */
#include "fake_add.h"
#include "verify/verify.h"

#include <time.h>

static void samples_are_many_and_long_enough(void **state)
{
    bench_fixture f;
    cnn_error err;
    measure_params params = {.min_time = 0.01, .max_time = 0.5, .noise = 0.05};
    bool long_enough = false;
    set_up(&f);
    const measure_result *r = &f.list[0].result;
    for (int i = 0; i < 5 && !long_enough;
         i++) { /* a core may run at half its speed while the samples' length is chosen */
        assert_int_equal(candidates_time(f.list, 1, &f.c, &params, &err), CNN_OK);
        assert_true(r->stats.count >= 6);
        long_enough =
            r->stats.median * r->repeats > 20 * r->costs.clock_s; /* 384 additions: well below a microsecond */
    }
    assert_true(long_enough);
    assert_true(r->stats.min > 0 && r->stats.min <= r->stats.q1 && r->stats.q1 <= r->stats.median);
    assert_true(r->stats.median <= r->stats.q3 && r->stats.q3 <= r->stats.max);
    tear_down(&f);
}

static void there_is_always_a_sample(void **state)
{
    bench_fixture f;
    cnn_error err;
    measure_params params = {.min_time = 0, .max_time = 0, .noise = 0};
    set_up(&f);
    assert_int_equal(candidates_time(f.list, 1, &f.c, &params, &err), CNN_OK);
    assert_true(f.list[0].result.stats.count >= 1);
    tear_down(&f);
}

static bool at_once(void) { return true; }

static void an_interrupt_leaves_no_result(void **state)
{
    bench_fixture f;
    cnn_error err;
    measure_params params = {.min_time = 0, .max_time = 1, .noise = 0, .stop = at_once};
    set_up(&f);
    assert_int_equal(candidates_time(f.list, 1, &f.c, &params, &err), CNN_INTERRUPTED);
    tear_down(&f);
}

static void cold_samples_are_single_runs(void **state)
{
    bench_fixture f;
    cnn_error err;
    measure_params params = {.min_time = 0, .max_time = 0.01, .noise = 0.05, .cold = true};
    set_up(&f);
    assert_int_equal(candidates_time(f.list, 1, &f.c, &params, &err), CNN_OK);
    assert_int_equal(f.list[0].state, CANDIDATE_TIMED);
    assert_int_equal(f.list[0].result.repeats, 1);
    tear_down(&f);
}

/* What the harness itself adds to a timed call: the idle algorithm computes nothing once it is warm. */
static void the_harness_takes_less_than_a_microsecond(void **state)
{
    bench_fixture f;
    cnn_error err;
    measure_params params = {.min_time = 0.05, .max_time = 0.5, .noise = 0.01};
#ifdef __SANITIZE_THREAD__
    const double most = 10e-6; /* every access to memory is a call there */
#else
    const double most = 1e-6;
#endif
    set_up(&f);
    assert_int_equal(candidates_time(&f.list[IDLE], 1, &f.c, &params, &err), CNN_OK);
    const measure_result *r = &f.list[IDLE].result;
    print_message("overhead a timed call: %.1f ns; of the clock around a sample: %.0f ns\n", r->stats.median * 1e9,
                  r->costs.clock_s * 1e9);
    assert_true(r->stats.median < most);
    tear_down(&f);
}

/* A timer of the device that stands still, or is far off: the wall clock bounds what is spent. */
static cnn_status still_start(cnn_context *context, cnn_error *err) { return CNN_OK; }
static cnn_status still_stop(cnn_context *context, double *seconds, cnn_error *err)
{
    *seconds = 0;
    return CNN_OK;
}
static const cnn_timing still_timing = {still_start, still_stop};

static void a_timer_that_stands_still_comes_to_an_end(void **state)
{
    bench_fixture f;
    cnn_error err;
    /* long enough that as many runs as the timer asks for would take a minute */
    const cnn_problem slow = problem_of(CNN_OP_ADD, "mb64ic16ih32", CNN_F32, CNN_NCHW);
    cnn_impl still = fake;
    measure_params params = {.min_time = 0.05, .max_time = 0.2, .noise = 0.01, .warm_up = 0.01};
    set_up(&f);
    vf_case_free(&f.c);
    assert_int_equal(vf_case_make(&f.c, &slow, CNN_FWD, VF_REALS, 0, 1, NULL, &err), CNN_OK);
    still.timing = &still_timing;
    still.device_kind = CNN_DEVICE_CUDA; /* of what runs on the host the harness's own clock is read */
    f.session.impl = &still;
    const clock_t start = clock(); /* of this process: another one's work may take what time it likes */
    assert_int_equal(candidates_time(f.list, 1, &f.c, &params, &err), CNN_OK);
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 10);
    assert_true(f.list[0].result.stats.count >= 1);
    assert_true(bench_noisy(&f.list[0].result.stats));
    assert_true(f.list[0].result.stats.marks & BENCH_COARSE);
    assert_int_equal(f.list[0].state, CANDIDATE_WRONG);
    assert_non_null(strstr(f.list[0].reason, "its timer says"));
    tear_down(&f);
}

/* Zeros and constants are computed faster or cooler by some hardware, denormal numbers far slower by some. */
static void inputs_are_realistic(void **state)
{
    static const verify_default problems[] = {
#define PROBLEM(op, text) {CNN_OP_##op, text},
#include "bench/default_problems.inc"
#undef PROBLEM
    };
    for (size_t k = 0; k < sizeof problems / sizeof *problems; k++) {
        const cnn_problem problem = problem_of(problems[k].op, problems[k].text, CNN_F32, CNN_NCHW);
        cnn_error err;
        vf_case c;
        assert_int_equal(vf_case_make(&c, &problem, CNN_FWD, VF_DATA, 0, 1, NULL, &err), CNN_OK);
        for (int i = 0; i < c.call.count; i++) {
            const cnn_operand *o = &c.call.operands[i];
            int64_t zeros = 0, same = 0;
            for (int64_t e = 0; o->access == CNN_IN && cnn_elem_real(o->elem) && e < o->count; e++) {
                const double v = c.before[i][e];
                assert_true(isfinite(v) && (v == 0 || fabs(v) >= 1.2e-38));
                zeros += v == 0;
                same += v == c.before[i][0];
            }
            assert_true(zeros <= o->count / 10 && (o->count < 10 || same <= o->count / 10));
        }
        vf_case_free(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_are_many_and_long_enough),
        cmocka_unit_test(there_is_always_a_sample),
        cmocka_unit_test(cold_samples_are_single_runs),
        cmocka_unit_test(an_interrupt_leaves_no_result),
        cmocka_unit_test(the_harness_takes_less_than_a_microsecond),
        cmocka_unit_test(a_timer_that_stands_still_comes_to_an_end),
        cmocka_unit_test(inputs_are_realistic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
