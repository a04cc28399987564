/* test_measure_device.c: measuring on a device, by the mock: graphs, cold caches, an operation within its network, and
 * what it costs before the steady state. */
#include "bench/measure/candidates.h"
#include "bench/measure/parts.h"
#include "tests/mock/mock_device.h"

#include <math.h>

#include "tests/problem_unit.h"

typedef struct fixture {
    cnn_session session;
    vf_case c;
    candidate one;
} fixture;

static void set_up(fixture *f, cnn_op op, const char *text, cnn_dir dir, const char *algorithm)
{
    const cnn_session_params params = {.threads = 1};
    const cnn_problem problem = problem_of(op, text, CNN_F32, CNN_NCHW);
    cnn_error err;
    memset(f, 0, sizeof *f);
    assert_int_equal(cnn_session_open(cnn_impl_mock(), &params, &f->session, &err), CNN_OK);
    assert_int_equal(vf_case_make(&f->c, &problem, dir, VF_REALS, 0, 1, NULL, &err), CNN_OK);
    f->one.session = &f->session;
    assert_int_equal(cnn_algorithm_pick(&f->session, &problem, dir, algorithm, &f->one.algorithm, &err), CNN_OK);
}

static void tear_down(fixture *f)
{
    candidates_close(&f->one, 1);
    vf_case_free(&f->c);
    cnn_session_close(&f->session);
}

static void run(fixture *f, const measure_params *params)
{
    cnn_error err;
    assert_int_equal(candidates_time(&f->one, 1, &f->c, params, &err), CNN_OK);
    if (f->one.state != CANDIDATE_TIMED) fail_msg("%s", f->one.reason);
}

static void hot_samples_are_replays(void **state)
{
    const measure_params params = {.min_time = 0.005, .max_time = 0.2, .noise = 0.1};
    fixture f;
    set_up(&f, CNN_OP_CONV, "mb2ic4ih8oc4kh3ph1", CNN_FWD, "direct");
    run(&f, &params);
    const measure_result *r = &f.one.result;
    /* the graph's first replay, the samples, and what the timer was held against the harness's clock with */
    const int64_t replays = mock_counted(f.session.context).replays - r->stats.count - 1;
    assert_true(r->repeats >= 10 && replays >= 3);
    assert_true(r->launch_s >= 0);
    /* emulated, or on a GPU, another one reaches it or does not; a build without has none to try */
    bool others = false;
    for (int i = 0; i < cnn_impl_count(NULL); i++) others = others || cnn_impl_at(NULL, i)->memory != NULL;
    assert_true(others || (r->stats.marks & BENCH_UNWATCHED));
    size_t in = 0, out = 0;
    for (int i = 0; i < f.c.call.count; i++)
        *(f.c.call.operands[i].access == CNN_IN ? &in : &out) += f.c.call.operands[i].bytes;
    assert_true(r->costs.upload_bytes == in && r->costs.download_bytes == out);
    assert_true(r->costs.plan_s >= 0 && r->costs.setup_s > 0 && r->costs.first_s > 0 && r->costs.upload_s > 0);
    cnn_record *record = candidate_record("add", &f.one, &f.c, &params, "");
    static const char *const fields[] = {"plan_s",  "setup_s",   "upload_s", "download_s",
                                         "first_s", "warm_up_s", "clock_s",  "launch_s"};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) assert_false(isnan(record_get_real(record, fields[i])));
    record_free(record);
    tear_down(&f);
}

/* A context that captures nothing is measured all the same: launched, and no launch is told apart. */
static void samples_are_launched_where_nothing_is_captured(void **state)
{
    const measure_params params = {.min_time = 0.005, .max_time = 0.2, .noise = 0.1};
    const char *const waiting = "mock.sync_launches=1";
    const cnn_session_params session_params = {.threads = 1, .settings = &waiting, .n_settings = 1};
    fixture f;
    cnn_error err;
    set_up(&f, CNN_OP_CONV, "mb2ic4ih8oc4kh3ph1", CNN_FWD, "direct");
    cnn_session_close(&f.session);
    assert_int_equal(cnn_session_open(cnn_impl_mock(), &session_params, &f.session, &err), CNN_OK);
    run(&f, &params);
    assert_true(mock_counted(f.session.context).replays == 0 && f.one.result.stats.count > 0);
    assert_true(isnan(f.one.result.launch_s));
    tear_down(&f);
}

static void warm_up_lasts_as_long_as_asked(void **state)
{
    const measure_params params = {.min_time = 0, .max_time = 0.2, .noise = 1, .warm_up = 0.08};
    fixture f;
    set_up(&f, CNN_OP_CONV, "mb2ic4ih8oc4kh3ph1", CNN_FWD, "direct");
    run(&f, &params);
    assert_true(f.one.result.costs.warm_up_s >= 0.08);
    tear_down(&f);
}

static void cold_samples_follow_a_flush(void **state)
{
    const measure_params params = {.min_time = 0, .max_time = 0.2, .noise = 0.1, .cold = true};
    fixture f;
    set_up(&f, CNN_OP_CONV, "mb2ic4ih8oc4kh3ph1", CNN_FWD, "direct");
    run(&f, &params);
    const mock_counts counted = mock_counted(f.session.context);
    assert_int_equal(f.one.result.repeats, 1);
    assert_int_equal(counted.replays, 0);
    /* a fill and a run for each */
    assert_true(counted.launches >= 2 * f.one.result.stats.count);
    tear_down(&f);
}

/* Every direction of a layer, in a step of the network; the network's own buffers are not the operation's. */
static void in_network_a_network_a_step_precedes_each_sample(void **state)
{
    static const cnn_type type = {CNN_F32, CNN_F32, CNN_NCHW, CNN_MATH_F32};
    cnn_network *network;
    cnn_error err;
    assert_int_equal(cnn_net_load("thesis", &type, 4, 1, &network, &err), CNN_OK);
    for (int dir = 0; dir < CNN_DIR_COUNT; dir++) {
        const measure_params params = {.min_time = 0, .max_time = 0.05, .noise = 0.1, .network = network};
        fixture f;
        set_up(&f, CNN_OP_CONV, "mb4ic20ih16oc20oh8kh4sh2ph4dh2", (cnn_dir)dir, "direct");
        run(&f, &params);
        assert_int_equal(f.one.result.repeats, 1);
        assert_true(mock_counted(f.session.context).launches >= 20 * f.one.result.stats.count);
        cnn_record *record = candidate_record("add", &f.one, &f.c, &params, "");
        assert_string_equal(record_get_text(record, "cache"), "network");
        assert_string_equal(record_get_text(record, "net"), "thesis");
        record_free(record);
        tear_down(&f);
    }
    cnn_net_free(network);
}

/* Where the device was told to copy to. */
static const cnn_impl *mock_itself;
static const void *copied_to[256];
static int copies;
static cnn_status note_copy(cnn_context *context, void *dst, const void *src, size_t bytes, cnn_error *err)
{
    if (copies < 256) copied_to[copies++] = dst;
    return mock_itself->memory->copy(context, dst, src, bytes, err);
}

static bool was_copied_to(const void *buffer)
{
    for (int i = 0; i < copies; i++)
        if (copied_to[i] == buffer) return true;
    return false;
}

/* What a neighbour writes afresh, as it stands: x going forward, dy going back, and nothing else. */
static void the_neighbours_hand_over_x_or_dy(void **state)
{
    static const struct {
        cnn_op op;
        const char *text, *algorithm, *handed;
        cnn_dir dir;
    } cases[] = {{CNN_OP_CONV, "mb2ic4ih8oc4kh3ph1", "direct", "x", CNN_FWD},
                 {CNN_OP_CONV, "mb2ic4ih8oc4kh3ph1", "direct", "dy", CNN_BWD_D},
                 {CNN_OP_FC, "mb2ic8oc4", "gemm", "dy", CNN_BWD_W}};
    static const cnn_type type = {CNN_F32, CNN_F32, CNN_NCHW, CNN_MATH_F32};
    cnn_network *network;
    cnn_error err;
    assert_int_equal(cnn_net_load("thesis", &type, 4, 1, &network, &err), CNN_OK);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        fixture f;
        in_network *a;
        void *buffers[CNN_MAX_OPERANDS] = {NULL};
        set_up(&f, cases[k].op, cases[k].text, cases[k].dir, cases[k].algorithm);
        mock_itself = f.session.impl;
        cnn_impl noting = *mock_itself;
        cnn_memory noting_memory = *mock_itself->memory;
        noting_memory.copy = note_copy;
        noting.memory = &noting_memory;
        f.session.impl = &noting;
        copies = 0;
        for (int i = 0; i < f.c.call.count; i++) {
            const size_t bytes = f.c.call.operands[i].bytes;
            assert_int_equal(cnn_mem_alloc(&f.session, bytes, &buffers[i], &err), CNN_OK);
            assert_int_equal(cnn_mem_fill(&f.session, buffers[i], 1, bytes, &err), CNN_OK);
        }
        assert_int_equal(in_network_open(&f.session, network, &f.c, buffers, &a, &err), CNN_OK);
        for (int i = 0; i < f.c.call.count; i++)
            assert_int_equal(cnn_mem_fill(&f.session, buffers[i], 2, f.c.call.operands[i].bytes, &err), CNN_OK);
        assert_int_equal(in_network_run(a, &err), CNN_OK);
        for (int i = 0; i < f.c.call.count; i++) {
            char byte;
            assert_int_equal(cnn_mem_download(&f.session, &byte, buffers[i], 1, &err), CNN_OK);
            assert_int_equal(byte, 2);
            assert_int_equal(was_copied_to(buffers[i]), strcmp(f.c.call.operands[i].name, cases[k].handed) == 0);
            cnn_mem_free(&f.session, buffers[i]);
        }
        in_network_close(a);
        tear_down(&f);
    }
    cnn_net_free(network);
}

static void what_does_not_fit_is_said_beforehand(void **state)
{
    static const char *const settings[] = {"mock.memory=1000"};
    const cnn_session_params small = {.threads = 1, .settings = settings, .n_settings = 1};
    const measure_params params = {.max_time = 0.05};
    cnn_error err;
    fixture f;
    set_up(&f, CNN_OP_CONV, "mb2ic4ih8oc4kh3ph1", CNN_FWD, "direct");
    cnn_session_close(&f.session);
    assert_int_equal(cnn_session_open(cnn_impl_mock(), &small, &f.session, &err), CNN_OK);
    assert_int_equal(candidates_time(&f.one, 1, &f.c, &params, &err), CNN_OK);
    assert_int_equal(f.one.state, CANDIDATE_NO_MEMORY);
    assert_int_equal(mock_counted(f.session.context).allocations, 0);
    tear_down(&f);
}

/* An operation that fails in mid-turn puts its algorithm out, whatever state the caches are brought into. */
static void a_device_that_dies_is_said(void **state)
{
    static const char *const settings[] = {"mock.fail_at=1000", "mock.fail_at=12"}; /* flushing takes long */
    cnn_error err;
    for (int cold = 0; cold < 2; cold++) {
        const cnn_session_params dying = {.threads = 1, .settings = &settings[cold], .n_settings = 1};
        const measure_params params = {.min_time = 30, .max_time = 30, .cold = cold == 1};
        fixture f;
        set_up(&f, CNN_OP_CONV, "mb2ic4ih8oc4kh3ph1", CNN_FWD, "direct");
        cnn_session_close(&f.session);
        assert_int_equal(cnn_session_open(cnn_impl_mock(), &dying, &f.session, &err), CNN_OK);
        assert_int_equal(candidates_time(&f.one, 1, &f.c, &params, &err), CNN_OK);
        assert_int_equal(f.one.state, CANDIDATE_FAILED);
        assert_non_null(strstr(f.one.reason, "mock"));
        tear_down(&f);
    }
}

/* Contenders of two problems, each checked on its own, and a control with a session of its own. */
static void candidates_have_cases_and_the_control_a_session(void **state)
{
    const measure_params params = {.min_time = 0.002, .max_time = 0.1, .noise = 0.1, .control = true};
    fixture f, other;
    cnn_error err;
    set_up(&f, CNN_OP_CONV, "mb2ic4ih8oc4kh3ph1", CNN_FWD, "direct");
    set_up(&other, CNN_OP_CONV, "mb3ic2ih9oc5kh3", CNN_FWD, "direct");
    candidate list[2] = {f.one, f.one};
    list[0].own = &f.c;
    list[0].again = &other.session;
    list[1].own = &other.c;
    assert_int_equal(candidates_time(list, 2, NULL, &params, &err), CNN_OK);
    assert_true(list[0].state == CANDIDATE_TIMED && list[1].state == CANDIDATE_TIMED);
    assert_true(mock_counted(other.session.context).replays > 0);
    assert_true(list[0].resolution >= 0 && list[1].resolution >= 0);
    candidates_close(list, 2);
    tear_down(&f);
    tear_down(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hot_samples_are_replays),
        cmocka_unit_test(samples_are_launched_where_nothing_is_captured),
        cmocka_unit_test(warm_up_lasts_as_long_as_asked),
        cmocka_unit_test(cold_samples_follow_a_flush),
        cmocka_unit_test(in_network_a_network_a_step_precedes_each_sample),
        cmocka_unit_test(the_neighbours_hand_over_x_or_dy),
        cmocka_unit_test(what_does_not_fit_is_said_beforehand),
        cmocka_unit_test(a_device_that_dies_is_said),
        cmocka_unit_test(candidates_have_cases_and_the_control_a_session),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
