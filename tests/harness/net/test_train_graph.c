/* test_train_graph.c: captured steps, images on the host, and failures in mid-run, on the mock device: whatever the
 * way, the same bits. */
#include "net_unit.h"
#include "tests/mock/mock_device.h"

#include <math.h>

/* 100 = 33 batches of 3 and one of 1: two graphs of 16 steps, one of a step, the last one's own; 50 = 16 and one of 2.
 */
enum { TRAIN = 100, TEST = 50, BATCH = 3, STEPS = 34, EPOCHS = 2 };

/* Whatever a step leaves behind for the next is here: running statistics, the dropout's step, optimizer state. */
static const char net_text[] = "input 1 8 8\nconv 4 kernel=3 stride=2 pad=1\nbatch_norm\nrelu\nsave a\n"
                               "conv 4 kernel=3 pad=1\nadd a\ndropout 0.2\nfc 10\nsoftmax_cross_entropy\n";

typedef struct way {
    const char *name;
    bool mock, no_graph, host_data, losses, watched, recompute, offload, streams;
    const char *knobs[2];
} way;

typedef struct outcome {
    double params[2048], losses[STEPS];
    trainer_result results[EPOCHS];
    mock_counts before, after; /* an epoch */
} outcome;

static void open_mock(cnn_session *session, const char *a, const char *b)
{
    const char *const settings[2] = {a, b};
    const cnn_session_params params = {.threads = 1,
                                       .settings = settings,
                                       .n_settings = a == NULL   ? 0
                                                     : b == NULL ? 1
                                                                 : 2};
    OK(cnn_session_open(cnn_impl_mock(), &params, session, err));
}

static cnn_status open_way(const cnn_session *session, const cnn_network *n, const dataset *data, const way *w,
                           trainer **t, cnn_error *why)
{
    trainer_params params = {.seed = 3,
                             .no_graph = w->no_graph,
                             .host_data = w->host_data,
                             .recompute = w->recompute,
                             .offload = w->offload,
                             .streams = w->streams ? 2 : 1};
    OK(cnn_optimizer_parse("adam,lr=0.01", &params.optimizer, err));
    const cnn_status status = trainer_open(session, n, data, &params, t, why);
    return status == CNN_OK ? trainer_start(*t, why) : status;
}

static void keep_loss(void *user, int64_t step, double loss)
{
    double *losses = user;
    losses[step] = loss;
}

static bool go_on(void *user, int64_t done, int64_t total) { return done <= total; }

static void train(const way *w, const dataset *data, outcome *out)
{
    cnn_session session;
    trainer *t = NULL;
    const trainer_watch watch = {
        .each = w->watched ? go_on : NULL, .loss = w->losses ? keep_loss : NULL, .user = out->losses};
    cnn_network *n = build_net(net_text, CNN_F64, CNN_NCHW, BATCH);
    memset(out, 0, sizeof *out);
    if (w->mock)
        open_mock(&session, w->knobs[0], w->knobs[1]);
    else
        assert_true(open_session(&session, 1));
    OK(open_way(&session, n, data, w, &t, err));
    for (int64_t epoch = 0; epoch < EPOCHS; epoch++) {
        if (w->mock) out->before = mock_counted(session.context);
        OK(trainer_epoch(t, epoch, w->losses || w->watched ? &watch : NULL, &out->results[epoch], err));
        if (w->mock) out->after = mock_counted(session.context);
    }
    assert_true(n->net.param_elems <= 2048);
    OK(trainer_get_params(t, out->params, err));
    trainer_close(t);
    cnn_net_free(n);
    cnn_session_close(&session);
}

static void expect_same(const outcome *a, const outcome *b, const char *name)
{
    if (memcmp(a->params, b->params, sizeof a->params) != 0) fail_msg("%s: other parameters", name);
    for (int e = 0; e < EPOCHS; e++) {
        const trainer_result *p = &a->results[e], *q = &b->results[e];
        if (!(p->train_loss == q->train_loss && p->test_loss == q->test_loss &&
              p->train_accuracy == q->train_accuracy && p->test_accuracy == q->test_accuracy && p->steps == q->steps))
            fail_msg("%s: epoch %d differs: loss %.17g, not %.17g", name, e, q->train_loss, p->train_loss);
    }
}

static void test_every_way_the_same(void **state)
{
    static const way ways[] = {
        {.name = "graph", .mock = true},
        {.name = "graph, watched", .mock = true, .watched = true},
        {.name = "no graph", .mock = true, .no_graph = true},
        {.name = "graph, losses", .mock = true, .losses = true},
        {.name = "no graph, losses", .mock = true, .no_graph = true, .losses = true},
        {.name = "host, graph", .mock = true, .host_data = true},
        {.name = "host, graph, watched", .mock = true, .host_data = true, .watched = true},
        {.name = "host, graph, early", .mock = true, .host_data = true, .knobs = {"mock.early_uploads=1"}},
        {.name = "host, no graph", .mock = true, .host_data = true, .no_graph = true},
        {.name = "host, no graph, early, losses",
         .mock = true,
         .host_data = true,
         .no_graph = true,
         .losses = true,
         .knobs = {"mock.early_uploads=1"}},
        {.name = "graph, recompute", .mock = true, .recompute = true},
        {.name = "host, no graph, recompute", .mock = true, .host_data = true, .no_graph = true, .recompute = true},
        {.name = "graph, offload", .mock = true, .offload = true},
        {.name = "graph, offload, early", .mock = true, .offload = true, .knobs = {"mock.early_uploads=1"}},
        {.name = "no graph, offload, recompute", .mock = true, .no_graph = true, .offload = true, .recompute = true},
        {.name = "host, graph, offload", .mock = true, .host_data = true, .offload = true},
        {.name = "graph, streams", .mock = true, .streams = true},
        {.name = "graph, streams, early", .mock = true, .streams = true, .knobs = {"mock.early_uploads=1"}},
        {.name = "no graph, streams", .mock = true, .no_graph = true, .streams = true},
        {.name = "host, graph, streams, offload", .mock = true, .host_data = true, .streams = true, .offload = true},
        {.name = "cpu, recompute, losses", .recompute = true, .losses = true},
        {.name = "cpu, host", .host_data = true, .losses = true},
    };
    static const way plain = {.name = "cpu", .losses = true};
    static outcome expected, got;
    dataset data = small_data(TRAIN, TEST, 1, 8, 8);
    train(&plain, &data, &expected);
    assert_int_equal(expected.results[0].steps, STEPS);
    assert_true(isfinite(expected.results[1].train_loss));
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        train(&ways[i], &data, &got);
        expect_same(&expected, &got, ways[i].name);
        if (ways[i].losses && memcmp(expected.losses, got.losses, sizeof got.losses) != 0)
            fail_msg("%s: other losses of the steps", ways[i].name);
    }
    dataset_free(&data);
}

/* That graphs are graphs: an epoch launches a handful of calls, however many its steps. */
static void test_what_is_launched(void **state)
{
    static const way graph = {.mock = true}, losses = {.mock = true, .losses = true},
                     none = {.mock = true, .no_graph = true};
    static const way host = {.mock = true, .host_data = true};
    static outcome out;
    dataset data = small_data(TRAIN, TEST, 1, 8, 8);
    train(&graph, &data, &out);
    assert_int_equal(out.after.replays - out.before.replays, (2 + 1 + 1) + (1 + 1));
    assert_in_range(out.after.launches - out.before.launches, 1, 8); /* sums and cursor cleared */
    assert_int_equal(out.after.allocations, 1);                      /* the data, and what the steps need */
    train(&losses, &data, &out);
    assert_int_equal(out.after.replays - out.before.replays, STEPS + (1 + 1));
    train(&none, &data, &out);
    assert_int_equal(out.after.replays, 0);
    assert_true(out.after.launches - out.before.launches > STEPS * 10);
    train(&host, &data, &out);
    assert_int_equal(out.after.replays - out.before.replays, STEPS + 17);
    assert_int_equal(out.after.uploads_beside - out.before.uploads_beside, STEPS + 17);
    assert_true(out.results[1].transfer_s == STEPS + 17); /* the mock says a second each */
    dataset_free(&data);
}

static void test_transfer_time(void **state)
{
    static const way host = {.host_data = true}, device = {.no_graph = true};
    static outcome out;
    dataset data = small_data(TRAIN, TEST, 1, 8, 8);
    train(&host, &data, &out);
    assert_true(out.results[1].transfer_s > 0.0);
    train(&device, &data, &out);
    assert_true(out.results[1].transfer_s == 0.0);
    dataset_free(&data);
}

static void test_capture_refused(void **state)
{
    static const char *const refusals[] = {"mock.refuse=1", "mock.refuse=2", "mock.refuse=3"};
    static const way graph = {.mock = true}, none = {.mock = true, .no_graph = true};
    dataset data = small_data(TRAIN, TEST, 1, 8, 8);
    for (int i = 0; i < 3; i++) {
        cnn_session session;
        cnn_error why;
        trainer *t = NULL;
        trainer_result result;
        cnn_network *n = build_net(net_text, CNN_F64, CNN_NCHW, BATCH);
        open_mock(&session, refusals[i], NULL);
        assert_int_equal(open_way(&session, n, &data, &graph, &t, &why), CNN_DEVICE);
        assert_message(why, "3 images");
        assert_message(why, "--no-graph");
        assert_message(why, "mock: ");
        trainer_close(t);
        OK(open_way(&session, n, &data, &none, &t, err)); /* as advised */
        OK(trainer_epoch(t, 0, NULL, &result, err));
        trainer_close(t);
        cnn_net_free(n);
        cnn_session_close(&session);
    }
    dataset_free(&data);
}

/* An operation fails in the middle: late (at the next synchronisation), or at once, when its layer is known. */
static void test_failures(void **state)
{
    static const struct {
        way way;
        const char *words[4];
    } cases[] = {
        {{.knobs = {"mock.fail_at=2000"}}, {"test at batch 3", "training", "steps queued", "operation 2000"}},
        {{.no_graph = true, .knobs = {"mock.fail_at=2000"}}, {"batch 3", "training", "steps queued", "operation 2000"}},
        {{.host_data = true, .knobs = {"mock.fail_at=2000"}}, {"batch 3", "training", "steps queued", "operation"}},
        {{.no_graph = true, .knobs = {"mock.fail_at=366", "mock.sync_launches=1"}},
         {"batch 3", "training", "(", "mb3"}},
    };
    dataset data = small_data(TRAIN, TEST, 1, 8, 8);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cnn_session session;
        cnn_error why = {.message = ""};
        trainer *t = NULL;
        trainer_result result;
        cnn_status status = CNN_OK;
        cnn_network *n = build_net(net_text, CNN_F64, CNN_NCHW, BATCH);
        open_mock(&session, cases[i].way.knobs[0], cases[i].way.knobs[1]);
        OK(open_way(&session, n, &data, &cases[i].way, &t, err));
        for (int64_t e = 0; e < 8 && status == CNN_OK; e++) status = trainer_epoch(t, e, NULL, &result, &why);
        assert_int_equal(status, CNN_DEVICE);
        for (int k = 0; k < 4; k++) assert_message(why, cases[i].words[k]);
        assert_int_equal(trainer_epoch(t, 9, NULL, &result, &why), CNN_DEVICE); /* dead, and stays so */
        trainer_close(t);
        cnn_net_free(n);
        cnn_session_close(&session);
    }
    dataset_free(&data);
}

static void test_too_large(void **state)
{
    static const way graph = {.mock = true};
    cnn_session session;
    cnn_error why;
    trainer *t = NULL;
    dataset data = small_data(TRAIN, TEST, 1, 8, 8);
    cnn_network *n = build_net(net_text, CNN_F64, CNN_NCHW, BATCH);
    open_mock(&session, "mock.memory=4567", NULL);
    assert_int_equal(open_way(&session, n, &data, &graph, &t, &why), CNN_OUT_OF_MEMORY);
    assert_message(why, "batch 3");
    assert_message(why, "needed");
    assert_message(why, "4567");
    assert_int_equal(mock_counted(session.context).allocations, 0);
    trainer_close(t);
    cnn_net_free(n);
    cnn_session_close(&session);
    dataset_free(&data);
}

/* 10^6 images of 64 x 512 x 512 are 134 TB as f64. They are only told of: nothing may be read or taken. */
static void test_too_much_on_the_host(void **state)
{
    static const char wide[] = "input 64 512 512\nglobal_avg_pool\nfc 10\nsoftmax_cross_entropy\n";
    const way ways[] = {{.mock = true, .host_data = true}, {.host_data = true}};
    const dataset data = {
        .name = "wide", .c = 64, .h = 512, .w = 512, .classes = 10, .train = {.count = 1000000}, .test = {.count = 1}};
    for (int i = 0; i < 2; i++) {
        cnn_session session;
        cnn_error why;
        trainer *t = NULL;
        cnn_network *n = build_net(wide, CNN_F64, CNN_NCHW, 1);
        if (ways[i].mock)
            open_mock(&session, NULL, NULL);
        else
            assert_true(open_session(&session, 1));
        assert_int_equal(open_way(&session, n, &data, &ways[i], &t, &why), CNN_OUT_OF_MEMORY);
        assert_message(why, "of host memory are free");
        if (ways[i].mock) assert_int_equal(mock_counted(session.context).allocations, 0);
        trainer_close(t);
        cnn_net_free(n);
        cnn_session_close(&session);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_way_the_same),
        cmocka_unit_test(test_what_is_launched),
        cmocka_unit_test(test_transfer_time),
        cmocka_unit_test(test_capture_refused),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_too_much_on_the_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
