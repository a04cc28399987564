/* test_candidates.c: candidates by turns: what is timed is checked, and only the right one gets a figure; who is told
 * apart from whom. */
#include "fake_add.h"

static void only_right_outputs_get_figures(void **state)
{
    bench_fixture f;
    cnn_error err;
    measure_params params = {.min_time = 0.01, .max_time = 0.2, .noise = 0.05};
    set_up(&f);
    assert_int_equal(candidates_time(f.list, ALGORITHMS, &f.c, &params, &err), CNN_OK);
    assert_int_equal(f.list[RIGHT].state, CANDIDATE_TIMED);
    assert_int_equal(f.list[WRONG_CORNER].state, CANDIDATE_WRONG);
    assert_int_equal(f.list[IDLE].state, CANDIDATE_WRONG);
    assert_int_equal(f.list[NAN_CORNER].state, CANDIDATE_WRONG);
    assert_int_equal(f.list[REFUSING].state, CANDIDATE_UNSUPPORTED);
    assert_non_null(strstr(f.list[REFUSING].reason, "not this one"));
    assert_int_equal(f.list[BREAKING].state, CANDIDATE_FAILED);
    assert_non_null(strstr(f.list[BREAKING].reason, "the device is gone"));
    assert_int_equal(candidates_best(f.list, ALGORITHMS), RIGHT);

    cnn_record *record = candidate_record("add", &f.list[WRONG_CORNER], &f.c, &params, "benchcnn bench");
    assert_true(isnan(record_get_real(record, "median_s")));
    assert_true(record_is(record, "verified", false));
    record_free(record);
    record = candidate_record("add", &f.list[RIGHT], &f.c, &params, "benchcnn bench");
    assert_true(record_get_real(record, "median_s") > 0);
    assert_true(record_is(record, "verified", true));
    record_free(record);
    tear_down(&f);
}

/* Round and back: A B C, C B A, A B C; a turn after the same one's turn shows as one. Turns are counted, not timed: on
 * a busy machine a candidate may have spent its time before the third round. */
static const char *turns_so_far;
static bool after_eight(void) { return strlen(turns_so_far) >= 8; }

static void turns_go_round_and_back(void **state)
{
    bench_fixture f;
    cnn_error err;
    measure_params params = {.min_time = 1e3, .max_time = 1e3, .noise = 0, .stop = after_eight};
    set_up(&f);
    turns_so_far = f.session.context->order;
    assert_int_equal(candidates_time(f.list, 3, &f.c, &params, &err), CNN_INTERRUPTED);
    assert_memory_equal(f.session.context->order, "01201210", 8); /* warming up, then the turns */
    tear_down(&f);
}

static void a_control_says_what_can_be_told_apart(void **state)
{
    bench_fixture f;
    cnn_error err;
    measure_params params = {.min_time = 0.02, .max_time = 0.5, .noise = 0.05, .control = true};
    set_up(&f);
    f.list[1].algorithm = algorithms[RIGHT];
    assert_int_equal(candidates_time(f.list, 2, &f.c, &params, &err), CNN_OK);
    assert_true(f.list[0].resolution >= 0 && f.list[0].resolution < 10);
    assert_true(f.list[0].resolution == f.list[1].resolution);
    cnn_record *record = candidate_record("add", &f.list[1], &f.c, &params, "");
    assert_false(isnan(record_get_real(record, "resolution")));
    record_free(record);
    candidates_close(f.list, 2);
    assert_int_equal(candidates_time(f.list, 1, &f.c, &params, &err), CNN_OK); /* nobody to be compared with */
    assert_true(isnan(f.list[0].resolution));
    tear_down(&f);
}

static void within_the_resolution_is_tied(void **state)
{
    candidate a = {.state = CANDIDATE_TIMED, .resolution = NAN}, b = a;
    a.result.stats = (bench_stats){.low = 0.99, .median = 1.0, .high = 1.01};
    b.result.stats = (bench_stats){.low = 1.02, .median = 1.03, .high = 1.04};
    assert_false(candidates_tied(&a, &b));
    a.resolution = 0.05;
    assert_true(candidates_tied(&a, &b));
    a.resolution = 0.02;
    assert_false(candidates_tied(&a, &b));
    b.result.stats.low = 1.005; /* the intervals meet */
    assert_true(candidates_tied(&a, &b));
    b.state = CANDIDATE_WRONG;
    assert_false(candidates_tied(&a, &b));
}

static void samples_are_recorded_on_request(void **state)
{
    bench_fixture f;
    cnn_error err;
    measure_params params = {.min_time = 0, .max_time = 0.01, .noise = 0.05};
    set_up(&f);
    assert_int_equal(candidates_time(f.list, 1, &f.c, &params, &err), CNN_OK);
    for (int k = 0; k < 2; k++) {
        params.samples = k == 1;
        cnn_record *record = candidate_record("add", &f.list[0], &f.c, &params, "");
        char *text = record_json(record, "samples_s");
        assert_true((text != NULL) == params.samples);
        int commas = 0;
        for (const char *at = text; params.samples && *at; at++) commas += *at == ',';
        if (params.samples) assert_int_equal(commas + 1, f.list[0].result.stats.count);
        free(text);
        record_free(record);
    }
    tear_down(&f);
}

/* Two ceilings of the session's device, which allow an `add` of that fixture no less than `seconds`. */
static void put_ceilings(bench_peaks *peaks, const bench_fixture *f, double seconds, unsigned marks)
{
    const double bytes = cnn_bytes(&f->c.problem, CNN_FWD);
    bench_peak p = {.unit = CNN_PEAK_FLOPS, .threads = 1, .value = 1e18, .what = "fma"};
    cnn_error err;
    machine_name(&f->session, p.machine, sizeof p.machine);
    peaks->count = 0;
    assert_int_equal(bench_peaks_add(peaks, &p, &err), CNN_OK);
    p = (bench_peak){.unit = CNN_PEAK_BYTES, .threads = 1, .value = bytes / seconds, .marks = marks, .what = "read"};
    p.holds = 1 << 20;
    machine_name(&f->session, p.machine, sizeof p.machine);
    assert_int_equal(bench_peaks_add(peaks, &p, &err), CNN_OK);
}

typedef struct again {
    bench_fixture f;
    bench_peaks peaks;
    double seconds;
    unsigned marks;
    int asked;
} again;

static cnn_status measure_again(void *user, cnn_error *err)
{
    again *a = user;
    a->asked++;
    put_ceilings(&a->peaks, &a->f, a->seconds, a->marks);
    return CNN_OK;
}

/* A ceiling of a second says that it cannot be; what is measured then has the last word. */
static candidate_state beside_ceilings(unsigned marks, double then, unsigned then_marks, bool *beyond)
{
    again a = {.seconds = then, .marks = then_marks};
    cnn_error err;
    set_up(&a.f);
    put_ceilings(&a.peaks, &a.f, 1.0, marks);
    const measure_params params = {.min_time = 0,
                                   .max_time = 0.01,
                                   .noise = 0.05,
                                   .peaks = &a.peaks,
                                   .peaks_again = measure_again,
                                   .peaks_user = &a};
    assert_int_equal(candidates_time(a.f.list, 1, &a.f.c, &params, &err), CNN_OK);
    assert_int_equal(a.asked, then_marks != 0 && then > 1e-6 ? 3 : 1);
    *beyond = a.f.list[0].beyond;
    const candidate_state state = a.f.list[0].state;
    bench_peaks_free(&a.peaks);
    tear_down(&a.f);
    return state;
}

static void a_ceiling_is_measured_again_before_it_accuses(void **state)
{
    bool beyond;
    assert_int_equal(beside_ceilings(0, 1e-12, 0, &beyond), CANDIDATE_TIMED);
    assert_false(beyond);
    assert_int_equal(beside_ceilings(0, 1.0, 0, &beyond), CANDIDATE_WRONG);
    assert_int_equal(beside_ceilings(BENCH_DISTURBED, 1e-12, BENCH_DISTURBED, &beyond), CANDIDATE_TIMED);
    assert_false(beyond);
    /* in doubt to the end: no figure either */
    assert_int_equal(beside_ceilings(BENCH_DISTURBED, 1.0, BENCH_DISTURBED, &beyond), CANDIDATE_WRONG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_right_outputs_get_figures),
        cmocka_unit_test(turns_go_round_and_back),
        cmocka_unit_test(a_control_says_what_can_be_told_apart),
        cmocka_unit_test(within_the_resolution_is_tied),
        cmocka_unit_test(samples_are_recorded_on_request),
        cmocka_unit_test(a_ceiling_is_measured_again_before_it_accuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
