/* test_tuning.c: a tuning file: what was kept is found again, by everything that tells figures apart and by what it
 * rests on; the last of several counts. */
#include "tests/problem_unit.h"

#include "harness/record/tuning.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct fixture {
    char path[64];
    cnn_session session;
} fixture;

static int set_up(void **state)
{
    static fixture f;
    cnn_error err;
    const cnn_session_params params = {.threads = 2};
    snprintf(f.path, sizeof f.path, "/tmp/test_tuning_XXXXXX");
    const int fd = mkstemp(f.path);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(cnn_session_open(cnn_impl_find(NULL, "cpu", &err), &params, &f.session, &err), CNN_OK);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    cnn_session_close(&f->session);
    unlink(f->path);
    return 0;
}

static cnn_problem conv_of(const char *text, bool no_bias, bool flip, cnn_layout layout)
{
    const cnn_problem_defaults defaults = {
        .type = {CNN_F32, CNN_F32, layout, CNN_MATH_F32}, .no_bias = no_bias, .flip = flip};
    return problem_with(CNN_OP_CONV, text, &defaults);
}

static void keep(const fixture *f, const cnn_problem *problem, cnn_dir dir, const char *algorithm, int blocks)
{
    tuning_choice choice = {.threads = 1, .n_settings = 1, .median_s = 1e-6, .default_s = NAN};
    record_sink *sink;
    cnn_error err;
    snprintf(choice.algorithm, sizeof choice.algorithm, "%s", algorithm);
    snprintf(choice.settings[0], sizeof choice.settings[0], "cpu.im2col.block_kib=%d", blocks);
    assert_int_equal(record_sink_open(f->path, NULL, &sink, &err), CNN_OK);
    assert_int_equal(record_write(sink, tuning_record(&f->session, problem, dir, &choice), &err), CNN_OK);
    record_sink_close(sink);
}

static void what_was_kept_is_found(void **state)
{
    const fixture *f = *state;
    const cnn_problem kept = conv_of("mb2ic3ih8oc4kh3n\"one\"", false, false, CNN_NCHW);
    const cnn_problem others[] = {
        conv_of("mb3ic3ih8oc4kh3", false, false, CNN_NCHW), conv_of("mb2ic3ih8oc4kh3", true, false, CNN_NCHW),
        conv_of("mb2ic3ih8oc4kh3", false, true, CNN_NCHW), conv_of("mb2ic3ih8oc4kh3", false, false, CNN_NHWC)};
    const cnn_problem renamed = conv_of("mb2ic3ih8oc4kh3n\"two\"", false, false, CNN_NCHW);
    const tuning_choice *choice = NULL;
    tuning *t;
    cnn_error err;
    char why[CNN_MESSAGE_MAX];
    keep(f, &kept, CNN_FWD, "im2col", 64);
    keep(f, &kept, CNN_FWD, "naive", 128);
    assert_int_equal(tuning_read(f->path, &t, &err), CNN_OK);
    assert_int_equal(tuning_find(t, &f->session, &renamed, CNN_FWD, &choice, why), TUNING_KEPT);
    assert_string_equal(choice->algorithm, "naive");
    assert_string_equal(choice->settings[0], "cpu.im2col.block_kib=128");
    assert_int_equal(choice->threads, 1);
    assert_true(isnan(choice->default_s) && choice->median_s > 0.9e-6 && choice->median_s < 1.1e-6);
    assert_int_equal(tuning_find(t, &f->session, &kept, CNN_BWD_W, &choice, why), TUNING_ABSENT);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_int_equal(tuning_find(t, &f->session, &others[i], CNN_FWD, &choice, why), TUNING_ABSENT);
    tuning_free(t);
}

/* One that can still be used is found behind one that cannot. */
static void the_latest_that_holds_counts(void **state)
{
    const fixture *f = *state;
    const cnn_problem kept = conv_of("mb2ic3ih8oc4kh3", false, false, CNN_NCHW);
    const tuning_choice *choice = NULL;
    tuning *t;
    cnn_error err;
    char why[CNN_MESSAGE_MAX];
    cnn_session fewer = f->session;
    keep(f, &kept, CNN_FWD, "im2col", 64);
    keep(f, &kept, CNN_FWD, "gone", 64);
    keep(f, &kept, CNN_BWD_D, "gone", 64);
    assert_int_equal(tuning_read(f->path, &t, &err), CNN_OK);
    assert_int_equal(tuning_find(t, &f->session, &kept, CNN_FWD, &choice, why), TUNING_KEPT);
    assert_string_equal(choice->algorithm, "im2col");
    assert_int_equal(tuning_find(t, &f->session, &kept, CNN_BWD_D, &choice, why), TUNING_STALE);
    assert_non_null(strstr(why, "no algorithm 'gone' any more"));
    fewer.threads = 1;
    assert_int_equal(tuning_find(t, &fewer, &kept, CNN_FWD, &choice, why), TUNING_STALE);
    tuning_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_was_kept_is_found, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_latest_that_holds_counts, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
