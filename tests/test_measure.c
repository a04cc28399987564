/* test_measure.c: what is timed is checked. A made-up implementation of `add` has algorithms that are right, wrong in
 * one corner, idle or broken after their first runs; only the right one may get a figure. */
#include "bench/contest.h"
#include "bench/epoch.h"
#include "bench/series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"

enum { RIGHT, WRONG_CORNER, IDLE, NAN_CORNER, REFUSING, BREAKING, ALGORITHMS };

struct cnn_context {
    int calls, breaking_calls;
    char order[64]; /* whose turn it was: the algorithms' numbers, each once a row of calls */
    int turns;
};

static cnn_status probe(cnn_error *err)
{
    (void)err;
    return CNN_OK;
}

static cnn_status open_context(const cnn_open_params *params, cnn_context **context, cnn_error *err)
{
    (void)params;
    *context = calloc(1, sizeof **context);
    return *context ? CNN_OK : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory");
}

static void close_context(cnn_context *context) { free(context); }

static cnn_status supports(cnn_context *context, const cnn_problem *problem, cnn_dir dir,
                           const cnn_algorithm *algorithm, cnn_error *err)
{
    (void)context;
    (void)problem;
    (void)dir;
    return algorithm->id == REFUSING ? CNN_FAIL(err, CNN_UNSUPPORTED, "not this one") : CNN_OK;
}

static cnn_status add(cnn_context *context, const cnn_plan *plan, const cnn_join_args *args, cnn_error *err)
{
    const cnn_add_desc *d = &plan->problem.u.add;
    int64_t count = d->mb * d->ic * d->ih * d->iw;
    const float *a = args->x[0], *b = args->x[1];
    float *y = args->y;
    const char id = (char)('0' + plan->algorithm.id);
    if (context->turns < (int)sizeof context->order &&
        (context->turns == 0 || context->order[context->turns - 1] != id))
        context->order[context->turns++] = id;
    if (plan->algorithm.id == BREAKING && context->breaking_calls++ > 5)
        return CNN_FAIL(err, CNN_DEVICE, "the device is gone");
    if (plan->algorithm.id == IDLE && context->calls++ > 5) return CNN_OK;
    for (int64_t i = 0; i < count; i++) y[i] = a[i] + b[i];
    if (plan->algorithm.id == WRONG_CORNER) y[count - 1] += 0.001f;
    if (plan->algorithm.id == NAN_CORNER) y[0] = NAN;
    return CNN_OK;
}

#define ALGORITHM(text, number)                                                                                        \
    {                                                                                                                  \
        .name = text, .doc = "", .ops = 1u << CNN_OP_ADD, .amplification = 1, .id = number                             \
    }
static const cnn_algorithm algorithms[ALGORITHMS] = {
    ALGORITHM("right", RIGHT),           ALGORITHM("wrong_corner", WRONG_CORNER), ALGORITHM("idle", IDLE),
    ALGORITHM("nan_corner", NAN_CORNER), ALGORITHM("refusing", REFUSING),         ALGORITHM("breaking", BREAKING),
};

static const cnn_impl fake = {.abi_version = CNN_ABI_VERSION,
                              .struct_size = sizeof(cnn_impl),
                              .name = "fake",
                              .doc = "",
                              .algorithms = algorithms,
                              .n_algorithms = ALGORITHMS,
                              .probe = probe,
                              .open = open_context,
                              .close = close_context,
                              .supports = supports,
                              .add_fwd = add};

typedef struct bench_fixture {
    cnn_session session;
    vf_case c;
    contender list[ALGORITHMS];
} bench_fixture;

static void set_up(bench_fixture *f)
{
    cnn_error err;
    cnn_problem problem;
    cnn_problem_defaults defaults = {.type = {CNN_F32, CNN_NCHW, CNN_MATH_F32}};
    cnn_session_params params = {.threads = 1};
    memset(f, 0, sizeof *f);
    assert_int_equal(cnn_problem_parse(CNN_OP_ADD, "mb2ic3ih8", &defaults, &problem, &err), CNN_OK);
    assert_int_equal(cnn_session_open(&fake, &params, &f->session, &err), CNN_OK);
    assert_int_equal(vf_case_make(&f->c, &problem, CNN_FWD, VF_REALS, 0, 1, NULL, &err), CNN_OK);
    for (int i = 0; i < ALGORITHMS; i++) f->list[i] = (contender){.session = &f->session, .algorithm = algorithms[i]};
}

static void tear_down(bench_fixture *f)
{
    contest_close(f->list, ALGORITHMS);
    vf_case_free(&f->c);
    cnn_session_close(&f->session);
}

static void only_right_outputs_get_figures(void **state)
{
    bench_fixture f;
    cnn_error err;
    char text[8192];
    measure_params params = {.min_time = 0.01, .max_time = 0.2, .noise = 0.05};
    (void)state;
    set_up(&f);
    assert_int_equal(contest_run(f.list, ALGORITHMS, &f.c, &params, &err), CNN_OK);
    assert_int_equal(f.list[RIGHT].state, CONTENDER_TIMED);
    assert_int_equal(f.list[WRONG_CORNER].state, CONTENDER_WRONG);
    assert_int_equal(f.list[IDLE].state, CONTENDER_WRONG);
    assert_int_equal(f.list[NAN_CORNER].state, CONTENDER_WRONG);
    assert_int_equal(f.list[REFUSING].state, CONTENDER_UNSUPPORTED);
    assert_non_null(strstr(f.list[REFUSING].reason, "not this one"));
    assert_int_equal(f.list[BREAKING].state, CONTENDER_FAILED);
    assert_non_null(strstr(f.list[BREAKING].reason, "the device is gone"));
    assert_int_equal(contest_best(f.list, ALGORITHMS), RIGHT);

    cnn_record *record = contender_record(&f.list[WRONG_CORNER], &f.c, &params, "benchcnn bench");
    assert_false(record_get_json(record, "median_s", text, sizeof text));
    assert_true(record_get_json(record, "verified", text, sizeof text));
    assert_string_equal(text, "false");
    record_free(record);
    record = contender_record(&f.list[RIGHT], &f.c, &params, "benchcnn bench");
    assert_true(record_get_json(record, "median_s", text, sizeof text));
    assert_true(record_get_json(record, "verified", text, sizeof text));
    assert_string_equal(text, "true");
    record_free(record);
    tear_down(&f);
}

static void samples_are_many_and_long_enough(void **state)
{
    bench_fixture f;
    cnn_error err;
    measure_params params = {.min_time = 0.01, .max_time = 0.5, .noise = 0.05};
    (void)state;
    set_up(&f);
    assert_int_equal(contest_run(f.list, 1, &f.c, &params, &err), CNN_OK);
    const measure_result *r = &f.list[0].result;
    assert_true(r->stats.count >= 6);
    assert_true(r->repeats > 1); /* 384 additions take well under 20 us */
    assert_true(r->stats.min > 0 && r->stats.min <= r->stats.q1 && r->stats.q1 <= r->stats.median);
    assert_true(r->stats.median <= r->stats.q3 && r->stats.q3 <= r->stats.max);
    tear_down(&f);
}

static void there_is_always_a_sample(void **state)
{
    bench_fixture f;
    cnn_error err;
    measure_params params = {.min_time = 0, .max_time = 0, .noise = 0};
    (void)state;
    set_up(&f);
    assert_int_equal(contest_run(f.list, 1, &f.c, &params, &err), CNN_OK);
    assert_true(f.list[0].result.stats.count >= 1);
    tear_down(&f);
}

static bool at_once(void) { return true; }

static void an_interrupt_leaves_no_result(void **state)
{
    bench_fixture f;
    cnn_error err;
    measure_params params = {.min_time = 0, .max_time = 1, .noise = 0, .stop = at_once};
    (void)state;
    set_up(&f);
    assert_int_equal(contest_run(f.list, 1, &f.c, &params, &err), CNN_INTERRUPTED);
    tear_down(&f);
}

static void cold_samples_are_single_runs(void **state)
{
    bench_fixture f;
    cnn_error err;
    measure_params params = {.min_time = 0, .max_time = 0.01, .noise = 0.05, .cold = true};
    (void)state;
    set_up(&f);
    assert_int_equal(contest_run(f.list, 1, &f.c, &params, &err), CNN_OK);
    assert_int_equal(f.list[0].state, CONTENDER_TIMED);
    assert_int_equal(f.list[0].result.repeats, 1);
    tear_down(&f);
}

/* Round and back: A B C, C B A, A B C; a turn after the same one's turn shows as one. */
static void turns_go_round_and_back(void **state)
{
    bench_fixture f;
    cnn_error err;
    measure_params params = {.min_time = 10, .max_time = 0.25, .noise = 0};
    (void)state;
    set_up(&f);
    assert_int_equal(contest_run(f.list, 3, &f.c, &params, &err), CNN_OK);
    assert_memory_equal(f.session.context->order, "01201210", 8); /* warming up, then the turns */
    tear_down(&f);
}

static void a_control_says_what_can_be_told_apart(void **state)
{
    bench_fixture f;
    cnn_error err;
    char text[64];
    measure_params params = {.min_time = 0.02, .max_time = 0.5, .noise = 0.05, .control = true};
    (void)state;
    set_up(&f);
    f.list[1].algorithm = algorithms[RIGHT];
    assert_int_equal(contest_run(f.list, 2, &f.c, &params, &err), CNN_OK);
    assert_true(f.list[0].resolution >= 0 && f.list[0].resolution < 10);
    assert_true(f.list[0].resolution == f.list[1].resolution);
    cnn_record *record = contender_record(&f.list[1], &f.c, &params, "");
    assert_true(record_get_json(record, "resolution", text, sizeof text));
    record_free(record);
    contest_close(f.list, 2);
    assert_int_equal(contest_run(f.list, 1, &f.c, &params, &err), CNN_OK); /* nobody to be compared with */
    assert_true(isnan(f.list[0].resolution));
    tear_down(&f);
}

static void within_the_resolution_is_tied(void **state)
{
    contender a = {.state = CONTENDER_TIMED, .resolution = NAN}, b = a;
    (void)state;
    a.result.stats = (bench_stats){.low = 0.99, .median = 1.0, .high = 1.01};
    b.result.stats = (bench_stats){.low = 1.02, .median = 1.03, .high = 1.04};
    assert_false(contest_tied(&a, &b));
    a.resolution = 0.05;
    assert_true(contest_tied(&a, &b));
    a.resolution = 0.02;
    assert_false(contest_tied(&a, &b));
    b.result.stats.low = 1.005; /* the intervals meet */
    assert_true(contest_tied(&a, &b));
    b.state = CONTENDER_WRONG;
    assert_false(contest_tied(&a, &b));
}

/* What the harness itself adds to a timed call: the idle algorithm computes nothing once it is warm. */
static void the_harness_takes_less_than_a_microsecond(void **state)
{
    bench_fixture f;
    cnn_error err;
    measure_params params = {.min_time = 0.05, .max_time = 0.5, .noise = 0.01};
    (void)state;
    set_up(&f);
    assert_int_equal(contest_run(&f.list[IDLE], 1, &f.c, &params, &err), CNN_OK);
    const measure_result *r = &f.list[IDLE].result;
    print_message("overhead a timed call: %.1f ns; of the clock around a sample: %.0f ns\n", r->stats.median * 1e9,
                  r->costs.clock_s * 1e9);
    assert_true(r->stats.median < 1e-6);
    tear_down(&f);
}

/* A timer of the device that stands still, or is far off: the wall clock bounds what is spent. */
static cnn_status still_start(cnn_context *context, cnn_error *err) { return (void)context, (void)err, CNN_OK; }
static cnn_status still_stop(cnn_context *context, double *seconds, cnn_error *err)
{
    (void)context, (void)err;
    *seconds = 0;
    return CNN_OK;
}

static void a_timer_that_stands_still_comes_to_an_end(void **state)
{
    const cnn_problem_defaults defaults = {.type = {CNN_F32, CNN_NCHW, CNN_MATH_F32}};
    bench_fixture f;
    cnn_error err;
    cnn_problem slow; /* long enough that as many runs as the timer asks for would take a minute */
    cnn_impl still = fake;
    measure_params params = {.min_time = 0.05, .max_time = 0.2, .noise = 0.01, .warm_up = 0.01};
    (void)state;
    set_up(&f);
    vf_case_free(&f.c);
    assert_int_equal(cnn_problem_parse(CNN_OP_ADD, "mb64ic16ih32", &defaults, &slow, &err), CNN_OK);
    assert_int_equal(vf_case_make(&f.c, &slow, CNN_FWD, VF_REALS, 0, 1, NULL, &err), CNN_OK);
    still.timer_start = still_start;
    still.timer_stop = still_stop;
    f.session.impl = &still;
    const double start = cnn_now();
    assert_int_equal(contest_run(f.list, 1, &f.c, &params, &err), CNN_OK);
    assert_true(cnn_now() - start < 5);
    assert_true(f.list[0].result.stats.count >= 1);
    assert_true(bench_noisy(&f.list[0].result.stats));
    assert_true(f.list[0].result.stats.marks & BENCH_COARSE);
    tear_down(&f);
}

static void samples_are_recorded_on_request(void **state)
{
    bench_fixture f;
    cnn_error err;
    static char text[1 << 20];
    measure_params params = {.min_time = 0, .max_time = 0.01, .noise = 0.05};
    (void)state;
    set_up(&f);
    assert_int_equal(contest_run(f.list, 1, &f.c, &params, &err), CNN_OK);
    for (int k = 0; k < 2; k++) {
        params.samples = k == 1;
        cnn_record *record = contender_record(&f.list[0], &f.c, &params, "");
        assert_true(record_get_json(record, "samples_s", text, sizeof text) == params.samples);
        int commas = 0;
        for (const char *at = text; params.samples && *at; at++) commas += *at == ',';
        if (params.samples) assert_int_equal(commas + 1, f.list[0].result.stats.count);
        record_free(record);
    }
    tear_down(&f);
}

/* Zeros and constants are computed faster or cooler by some hardware, denormal numbers far slower by some. */
static void inputs_are_realistic(void **state)
{
    static const struct {
        cnn_op op;
        const char *text;
    } problems[] = {
#define PROBLEM(op, text) {CNN_OP_##op, text},
#include "bench/default_problems.inc"
#undef PROBLEM
    };
    const cnn_problem_defaults defaults = {.type = {CNN_F32, CNN_NCHW, CNN_MATH_F32}};
    (void)state;
    for (size_t k = 0; k < sizeof problems / sizeof *problems; k++) {
        cnn_problem problem;
        cnn_error err;
        vf_case c;
        assert_int_equal(cnn_problem_parse(problems[k].op, problems[k].text, &defaults, &problem, &err), CNN_OK);
        assert_int_equal(vf_case_make(&c, &problem, CNN_FWD, VF_DATA, 0, 1, NULL, &err), CNN_OK);
        for (int i = 0; i < c.call.count; i++) {
            const cnn_operand *o = &c.call.operands[i];
            int64_t zeros = 0, same = 0;
            for (int64_t e = 0; o->access == CNN_IN && o->elem == CNN_ELEM_DTYPE && e < o->count; e++) {
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

/* ---- Epoch records: what was written is found again, and nothing else is taken for it. ---- */

static epoch_row make_row(const cnn_session *session, int64_t batch, int64_t epoch, double seconds)
{
    epoch_row row;
    memset(&row, 0, sizeof row);
    epoch_setting_of_session(session, &row.setting);
    strcpy(row.setting.algorithm, "direct");
    strcpy(row.setting.net, "thesis");
    strcpy(row.setting.net_crc, "12345678");
    row.setting.net_params = 1000;
    strcpy(row.setting.data, "mnist");
    strcpy(row.setting.dtype, "f32");
    strcpy(row.setting.layout, "nchw");
    strcpy(row.setting.math, "f32");
    strcpy(row.setting.optimizer, "adam,l1=1e-05");
    strcpy(row.setting.data_on, "host");
    row.setting.graph = true;
    row.setting.batch = batch;
    row.setting.seed = 1;
    row.setting.train_images = 60000;
    row.setting.test_images = 10000;
    row.epoch = epoch;
    row.seconds = seconds;
    row.train_loss = NAN;
    return row;
}

static void epochs_are_found_again(void **state)
{
    char path[] = "/tmp/test_measure_XXXXXX";
    bench_fixture f;
    cnn_error err;
    record_sink *sink;
    epoch_table table = {0};
    double seconds;
    int bad, fd = mkstemp(path);
    (void)state;
    assert_true(fd >= 0);
    close(fd);
    set_up(&f);
    assert_int_equal(record_sink_open(path, false, &sink, &err), CNN_OK);
    assert_int_equal(record_environment(sink, &f.session, "test", &err), CNN_OK);
    static const double times[] = {2.0, 9.0, 3.0};
    for (int e = 0; e < 3; e++) {
        epoch_row row = make_row(&f.session, 100, e + 1, times[e]);
        assert_int_equal(record_write(sink, epoch_record(&f.session, &row), &err), CNN_OK);
    }
    record_sink_close(sink);
    assert_int_equal(epoch_table_read(&table, path, &bad, &err), CNN_OK);
    unlink(path);
    assert_int_equal(table.count, 3);
    assert_true(isnan(table.rows[0].train_loss));

    epoch_row same = make_row(&f.session, 100, 1, 1), other = make_row(&f.session, 200, 1, 1);
    assert_int_equal(epoch_median(&table, &same.setting, &seconds, NULL), 3);
    assert_true(seconds == 3.0);
    assert_true(epoch_finished(&table, &same.setting, 3));
    assert_false(epoch_finished(&table, &same.setting, 4));
    assert_false(epoch_finished(&table, &other.setting, 1));
    strcpy(same.setting.knobs, "{\"isa\":1}");
    assert_false(epoch_finished(&table, &same.setting, 1));
    same = make_row(&f.session, 100, 1, 1);
    strcpy(same.setting.net_crc, "0badcafe"); /* another network of that name */
    assert_false(epoch_finished(&table, &same.setting, 1));
    same = make_row(&f.session, 100, 1, 1);
    strcpy(same.setting.cpu, "another machine");
    assert_false(epoch_finished(&table, &same.setting, 1));
    epoch_table_free(&table);
    tear_down(&f);
}

/* Two settings that differ at the end of more text than a row keeps are two, on paper, too. */
static void long_knobs_are_told_apart(void **state)
{
    enum { KNOBS = 12 };
    char path[] = "/tmp/test_measure_XXXXXX", names[KNOBS][80];
    int64_t values[2][KNOBS];
    cnn_knob knobs[KNOBS];
    cnn_impl long_winded = fake;
    bench_fixture f;
    cnn_error err;
    record_sink *sink;
    epoch_table table = {0};
    epoch_row rows[2];
    int bad, fd = mkstemp(path);
    (void)state;
    assert_true(fd >= 0);
    close(fd);
    set_up(&f);
    for (int i = 0; i < KNOBS; i++) {
        snprintf(names[i], sizeof names[i], "knob_%070d", i);
        knobs[i] = (cnn_knob){names[i], "", 0, 9, 0, NULL, 0};
        values[0][i] = values[1][i] = 1;
    }
    values[1][KNOBS - 1] = 2;
    long_winded.knobs = knobs;
    long_winded.n_knobs = KNOBS;
    cnn_session session = f.session;
    session.impl = &long_winded;
    assert_int_equal(record_sink_open(path, false, &sink, &err), CNN_OK);
    assert_int_equal(record_environment(sink, &session, "test", &err), CNN_OK);
    for (int k = 0; k < 2; k++) {
        session.knobs = values[k];
        rows[k] = make_row(&session, 100, 1, 1);
        if (k == 0) assert_int_equal(record_write(sink, epoch_record(&session, &rows[k]), &err), CNN_OK);
    }
    record_sink_close(sink);
    assert_int_equal(epoch_table_read(&table, path, &bad, &err), CNN_OK);
    unlink(path);
    assert_int_equal(table.count, 1);
    assert_true(epoch_finished(&table, &rows[0].setting, 1));
    assert_false(epoch_finished(&table, &rows[1].setting, 1));
    epoch_table_free(&table);
    tear_down(&f);
}

/* What a killed sweep left of a point does not mix with the point's new run; a finished run's epochs do count. */
static void a_run_begun_anew_counts_anew(void **state)
{
    static const struct {
        int64_t batch, epoch, epochs;
        double seconds;
    } rows[] = {{50, 1, 2, 4},  {50, 2, 2, 2},  {100, 1, 3, 9}, {50, 1, 1, 3},
                {100, 2, 3, 9}, {100, 1, 3, 1}, {100, 2, 3, 1}, {100, 3, 3, 1}};
    bench_fixture f;
    cnn_error err;
    epoch_table table = {0};
    double seconds;
    unsigned marks;
    (void)state;
    set_up(&f);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        epoch_row row = make_row(&f.session, rows[i].batch, rows[i].epoch, rows[i].seconds);
        row.epochs = rows[i].epochs;
        row.marks = i == 3 ? BENCH_DISTURBED : 0;
        assert_int_equal(epoch_table_add(&table, &row, &err), CNN_OK);
    }
    const epoch_row fifty = make_row(&f.session, 50, 1, 1), hundred = make_row(&f.session, 100, 1, 1);
    assert_int_equal(epoch_median(&table, &hundred.setting, &seconds, &marks), 3);
    assert_true(seconds == 1.0 && marks == 0);
    assert_int_equal(epoch_median(&table, &fifty.setting, &seconds, &marks), 3);
    assert_true(seconds == 3.0 && marks == BENCH_SPREAD); /* one disturbed epoch of three is no disturbed median */
    epoch_row again = make_row(&f.session, 50, 1, 3);
    again.marks = BENCH_DISTURBED;
    assert_int_equal(epoch_table_add(&table, &again, &err), CNN_OK);
    assert_int_equal(epoch_median(&table, &fifty.setting, &seconds, &marks), 4);
    assert_int_equal(marks & BENCH_DISTURBED, BENCH_DISTURBED);
    epoch_table_free(&table);
    tear_down(&f);
}

/* Its time is no figure: not recorded, not drawn, and yet the point is done. */
static void a_diverged_training_has_no_figure(void **state)
{
    const trainer_result result = {.seconds = 2, .train_s = 1, .test_s = 1, .train_loss = NAN, .test_loss = 1};
    const clock_report clocks = {.wall_s = 1, .busy_s = 1.5, .own_s = 1, .processors = 2};
    char path[] = "/tmp/test_measure_XXXXXX";
    bench_fixture f;
    cnn_error err;
    record_sink *sink;
    epoch_table table = {0};
    series_set set;
    double seconds;
    int bad, fd = mkstemp(path);
    (void)state;
    assert_true(fd >= 0);
    close(fd);
    set_up(&f);
    const epoch_row like = make_row(&f.session, 50, 1, 1);
    const epoch_row row = epoch_row_of(&like.setting, 1, 1, &result, &clocks);
    assert_int_equal(record_sink_open(path, false, &sink, &err), CNN_OK);
    assert_int_equal(record_environment(sink, &f.session, "test", &err), CNN_OK);
    assert_int_equal(record_write(sink, epoch_record(&f.session, &row), &err), CNN_OK);
    record_sink_close(sink);
    assert_int_equal(epoch_table_read(&table, path, &bad, &err), CNN_OK);
    unlink(path);
    assert_int_equal(table.count, 1);
    assert_true(isnan(table.rows[0].seconds) && table.rows[0].diverged);
    assert_int_equal(table.rows[0].marks, BENCH_DISTURBED);
    assert_int_equal(epoch_median(&table, &like.setting, &seconds, NULL), 0);
    assert_true(epoch_finished(&table, &like.setting, 1));
    assert_int_equal(series_make(&table, &set, &err), CNN_BAD_ARGUMENT);
    assert_message(err, "diverged");
    const epoch_row other = make_row(&f.session, 100, 1, 1);
    assert_int_equal(epoch_table_add(&table, &other, &err), CNN_OK);
    assert_int_equal(series_make(&table, &set, &err), CNN_OK);
    assert_true(set.count == 1 && set.list[0].count == 1 && set.diverged == 1);
    series_free(&set);
    epoch_table_free(&table);
    tear_down(&f);
}

static void curves_are_sorted_and_named(void **state)
{
    bench_fixture f;
    cnn_error err;
    epoch_table table = {0};
    series_set set;
    (void)state;
    set_up(&f);
    assert_int_equal(series_make(&table, &set, &err), CNN_BAD_ARGUMENT);
    for (int i = 0; i < 6; i++) {
        epoch_row row = make_row(&f.session, i % 3 == 0 ? 200 : i % 3 == 1 ? 5 : 50, 1, 1.0 + i);
        row.setting.threads = i < 3 ? 1 : 2;
        assert_int_equal(epoch_table_add(&table, &row, &err), CNN_OK);
    }
    epoch_row row = make_row(&f.session, 5, 1, 1);
    row.setting.train_images = 100; /* not the same epoch */
    assert_int_equal(epoch_table_add(&table, &row, &err), CNN_OK);
    assert_int_equal(series_make(&table, &set, &err), CNN_OK);
    assert_int_equal(set.count, 2);
    assert_int_equal(set.left_out, 1);
    assert_int_equal(set.list[0].count, 3);
    assert_true(set.list[0].points[0].batch == 5 && set.list[0].points[2].batch == 200);
    assert_string_equal(set.list[0].label, "fake:direct, 1 thread");
    assert_string_equal(set.list[1].label, "fake:direct, 2 threads");
    series_free(&set);
    epoch_table_free(&table);
    tear_down(&f);
}

static void labels_keep_their_distance(void **state)
{
    double places[] = {1.0, 1.05, 3.0, 1.02, 0.0};
    (void)state;
    series_spread(places, 5, 0.5, 0.0, 3.0);
    for (int i = 0; i < 5; i++) {
        assert_true(places[i] >= -1e-9 && places[i] <= 3.0 + 1e-9);
        for (int k = 0; k < i; k++) assert_true(fabs(places[i] - places[k]) >= 0.49);
    }
    assert_true(places[0] < places[3] && places[3] < places[1] && places[1] < places[2]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_right_outputs_get_figures),
        cmocka_unit_test(samples_are_many_and_long_enough),
        cmocka_unit_test(there_is_always_a_sample),
        cmocka_unit_test(cold_samples_are_single_runs),
        cmocka_unit_test(epochs_are_found_again),
        cmocka_unit_test(long_knobs_are_told_apart),
        cmocka_unit_test(a_run_begun_anew_counts_anew),
        cmocka_unit_test(a_diverged_training_has_no_figure),
        cmocka_unit_test(curves_are_sorted_and_named),
        cmocka_unit_test(labels_keep_their_distance),
        cmocka_unit_test(an_interrupt_leaves_no_result),
        cmocka_unit_test(turns_go_round_and_back),
        cmocka_unit_test(a_control_says_what_can_be_told_apart),
        cmocka_unit_test(within_the_resolution_is_tied),
        cmocka_unit_test(the_harness_takes_less_than_a_microsecond),
        cmocka_unit_test(a_timer_that_stands_still_comes_to_an_end),
        cmocka_unit_test(samples_are_recorded_on_request),
        cmocka_unit_test(inputs_are_realistic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
