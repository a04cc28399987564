/* test_train_rate.c: schedules of the learning rate, and a trainer that takes another one between two epochs: it goes
 * on as one would that was opened with it, whatever the way its steps are run. */
#include "net_unit.h"
#include "tests/mock/mock_device.h"

#include "harness/net/schedule.h"

#include <math.h>

enum { TRAIN = 100, TEST = 50, BATCH = 3 };

static const char net_text[] = "input 1 8 8\nconv 4 kernel=3 stride=2 pad=1\nbatch_norm\nrelu\ndropout 0.2\nfc 10\n"
                               "softmax_cross_entropy\n";

typedef struct way {
    const char *name;
    bool mock, no_graph, host_data, profile;
} way;

static trainer *open_way(const cnn_session *session, const cnn_network *n, const dataset *data, const way *w, double lr)
{
    trainer_params params = {.seed = 3, .no_graph = w->no_graph, .host_data = w->host_data, .profile = w->profile};
    trainer *t = NULL;
    OK(cnn_optimizer_parse("adam", &params.optimizer, err));
    params.optimizer.lr = lr;
    OK(trainer_open(session, n, data, &params, &t, err));
    OK(trainer_start(t, err));
    return t;
}

/* Epoch 0 at 0.01, epoch 1 at 0.002: by one trainer that takes the rate, or by two, the second of which begins with
 * what the first left. */
static void train(const way *w, const dataset *data, bool one, double params[2048])
{
    cnn_session session;
    trainer_result result;
    cnn_network *n = build_net(net_text, CNN_F64, CNN_NCHW, BATCH);
    const cnn_session_params on = {.threads = 1};
    if (w->mock)
        OK(cnn_session_open(cnn_impl_mock(), &on, &session, err));
    else
        assert_true(open_session(&session, 1));
    trainer *t = open_way(&session, n, data, w, 0.01);
    OK(trainer_epoch(t, 0, NULL, &result, err));
    if (one) {
        OK(trainer_set_rate(t, 0.002, err));
    } else {
        trainer_state state;
        OK(trainer_state_make(t, &state, err));
        OK(trainer_state_get(t, &state, err));
        trainer_close(t);
        t = open_way(&session, n, data, w, 0.002);
        OK(trainer_state_put(t, &state, err));
        trainer_state_free(&state);
    }
    OK(trainer_epoch(t, 1, NULL, &result, err));
    assert_true(isfinite(result.train_loss));
    assert_true(n->net.param_elems <= 2048);
    memset(params, 0, 2048 * sizeof *params);
    OK(trainer_get_params(t, params, err));
    trainer_close(t);
    cnn_net_free(n);
    cnn_session_close(&session);
}

static void another_rate_is_taken_in_every_way(void **state)
{
    static const way ways[] = {{.name = "cpu"},
                               {.name = "cpu, host", .host_data = true},
                               {.name = "graph", .mock = true},
                               {.name = "no graph", .mock = true, .no_graph = true},
                               {.name = "host, graph", .mock = true, .host_data = true},
                               {.name = "graph, profile", .mock = true, .profile = true},
                               {.name = "no graph, profile", .mock = true, .no_graph = true, .profile = true}};
    static double expected[2048], got[2048];
    dataset data = small_data(TRAIN, TEST, 1, 8, 8);
    train(&ways[0], &data, false, expected);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        train(&ways[i], &data, true, got);
        if (memcmp(expected, got, sizeof got) != 0) fail_msg("%s: other parameters", ways[i].name);
    }
    dataset_free(&data);
}

/* ---- Schedules ---- */

static double rate(const char *text, int64_t epochs, int64_t epoch)
{
    rate_schedule s, again;
    char canonical[RATE_SCHEDULE_TEXT];
    OK(rate_schedule_parse(text, epochs, &s, err));
    rate_schedule_format(&s, canonical);
    OK(rate_schedule_parse(canonical[0] != '\0' ? canonical : "constant", 0, &again, err));
    const double is = rate_at(&s, 2.0, epoch), reads_back = rate_at(&again, 2.0, epoch);
    if (memcmp(&is, &reads_back, sizeof is) != 0) fail_msg("%s is not %s", text, canonical);
    return is;
}

static void rates_follow_their_schedule(void **state)
{
    static const struct {
        const char *text;
        int64_t epochs, epoch;
        double rate; /* of 2 */
    } rows[] = {{"constant", 5, 4, 2.0},
                {"constant,warmup=3", 5, 0, 0.5},
                {"constant,warmup=3", 5, 2, 1.5},
                {"constant,warmup=3", 5, 3, 2.0},
                {"step,every=2,by=0.5", 0, 1, 2.0},
                {"step,every=2,by=0.5", 0, 2, 1.0},
                {"step,every=2,by=0.5", 0, 5, 0.5},
                {"step,every=2,by=0.5,warmup=1", 0, 0, 1.0},
                {"step,every=2,by=0.5,warmup=1", 0, 2, 2.0},
                {"step,every=2,by=0.5,warmup=1", 0, 3, 1.0},
                {"step,every=3", 0, 3, 0.2},
                {"linear", 4, 0, 2.0},
                {"linear", 4, 3, 0.5},
                {"linear", 4, 9, 0.5},
                {"linear,epochs=8", 4, 3, 1.25},
                {"linear,warmup=2", 6, 1, 4.0 / 3.0},
                {"linear,warmup=2", 6, 3, 1.5},
                {"cosine", 4, 0, 2.0},
                {"cosine", 4, 2, 1.0},
                {"cosine", 4, 1, 1.7071067811865475},
                {"cosine,epochs=4", 0, 3, 0.29289321881345254}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const double got = rate(rows[i].text, rows[i].epochs, rows[i].epoch);
        if (!(fabs(got - rows[i].rate) < 1e-15))
            fail_msg("%s, epoch %lld: %.17g, not %.17g", rows[i].text, (long long)rows[i].epoch, got, rows[i].rate);
    }
}

static void what_is_no_schedule_is_refused(void **state)
{
    static const char *const rows[][2] = {{"cosin", "cosine"},
                                          {"cosine", "give --epochs N"},
                                          {"linear", "give --epochs N"},
                                          {"step", "needs every=EPOCHS"},
                                          {"step,by=0.5", "needs every=EPOCHS"},
                                          {"step,every=0", "needs every=EPOCHS"},
                                          {"step,every=2,by=0", "by is 0"},
                                          {"step,every=2,by=2", "by is 2"},
                                          {"step,every=2,by=-1", "by is -1"},
                                          {"step,every=1.5", "whole number"},
                                          {"step,every=2,epochs=3", "belongs to cosine and linear"},
                                          {"cosine,epochs=0", "at least 1"},
                                          {"cosine,epochs=4,warmup=4", "a warm-up of 4 leaves nothing of 4 epochs"},
                                          {"cosine,epochs=4,every=2", "belong to step alone"},
                                          {"constant,by=0.5", "belong to step alone"},
                                          {"cosine,epochs=99999999", "more than 1000000 epochs"},
                                          {"constant,warmup", "warmup=NUMBER"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        rate_schedule s;
        cnn_error err = {.message = ""};
        if (rate_schedule_parse(rows[i][0], 0, &s, &err) == CNN_OK) fail_msg("%s is accepted", rows[i][0]);
        assert_int_equal(err.status, CNN_BAD_ARGUMENT);
        assert_message(err, rows[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(another_rate_is_taken_in_every_way),
                                       cmocka_unit_test(rates_follow_their_schedule),
                                       cmocka_unit_test(what_is_no_schedule_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
