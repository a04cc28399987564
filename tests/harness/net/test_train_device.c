/* test_train_device.c: training on every implementation here that captures steps (real devices and emulated ones):
 * captured or not, profiled or not, images on the device or on the host, moved or not, the same bits, for every
 * deterministic algorithm. */
#include "net_unit.h"

#include <math.h>

/* 41 = 20 batches of 2 and one of 1: a graph of 16 steps, four of a step, the last one's own. */
enum { TRAIN = 41, TEST = 5, BATCH = 2, SKIPPED = 77, PARAMS_MAX = 2048 };

static const char net_text[] = "input 1 8 8\nconv 4 kernel=3 stride=2 pad=1\nbatch_norm\nrelu\nsave a\n"
                               "conv 4 kernel=3 pad=1\nadd a\ndropout 0.2\nmax_pool kernel=2\nfc 10\n"
                               "softmax_cross_entropy\n";

typedef struct outcome {
    double params[PARAMS_MAX];
    trainer_result result;
} outcome;

typedef struct way {
    const char *name;
    bool no_graph, host_data, profile;
    int64_t shift;
} way;

/* The rows sum to the epoch, and each direction of the first convolution has phases with a name and some time, one
 * of them in each step. */
static void expect_profile(const trainer *t, const cnn_net *net)
{
    const epoch_profile *e = trainer_profiled(t);
    double sum = 0.0;
    uint32_t found = 0;
    for (int i = 0; i < e->count; i++) {
        const profile_row *row = &e->rows[i];
        sum += row->seconds;
        if (row->layer != net->layers[0].name || strcmp(row->pass, "test") == 0) continue;
        assert_true(row->phase[0] != '\0' && row->seconds > 0.0);
        if (row->calls >= (TRAIN + BATCH - 1) / BATCH) found |= strcmp(row->pass, "FWD") == 0 ? 1 : 2;
    }
    assert_int_equal(found, 3);
    assert_true(fabs(sum - e->seconds) <= 1e-9 * (1.0 + e->seconds));
}

/* False when the network cannot be trained with this algorithm. */
static bool train(const cnn_session *session, const char *algorithm, const way *w, const dataset *data, outcome *out)
{
    cnn_error why;
    trainer *t = NULL;
    trainer_params params = {.algorithm = algorithm,
                             .seed = 3,
                             .no_graph = w->no_graph,
                             .host_data = w->host_data,
                             .profile = w->profile,
                             .shift = w->shift};
    cnn_network *n = build_net(net_text, CNN_F64, CNN_NCHW, BATCH);
    memset(out, 0, sizeof *out);
    assert_true(n->net.param_elems <= PARAMS_MAX);
    OK(cnn_optimizer_parse("adam,lr=0.01", &params.optimizer, err));
    const cnn_status status = trainer_open(session, n, data, &params, &t, &why);
    if (status != CNN_OK && status != CNN_UNSUPPORTED) fail_msg("%s: %s", algorithm, why.message);
    if (status == CNN_OK) {
        OK(trainer_start(t, err));
        OK(trainer_epoch(t, 0, NULL, &out->result, err));
        if (w->profile) expect_profile(t, &n->net);
        OK(trainer_get_params(t, out->params, err));
    } else {
        print_message("%s:%s is left out: %s\n", session->impl->name, algorithm, why.message);
    }
    trainer_close(t);
    cnn_net_free(n);
    return status == CNN_OK;
}

static void expect_same(const outcome *a, const outcome *b, const char *impl, const char *algorithm, const char *name)
{
    const trainer_result *p = &a->result, *q = &b->result;
    if (memcmp(a->params, b->params, sizeof a->params) != 0)
        fail_msg("%s:%s, %s: other parameters", impl, algorithm, name);
    if (!(p->train_loss == q->train_loss && p->test_loss == q->test_loss && p->test_accuracy == q->test_accuracy))
        fail_msg("%s:%s, %s: loss %.17g, not %.17g", impl, algorithm, name, q->train_loss, p->train_loss);
}

/* Captured, then in every other way; false where this algorithm cannot train the network. */
static bool check_ways(const cnn_session *session, const char *algorithm, const dataset *data, int64_t shift,
                       outcome *expected)
{
    static const way others[] = {{.name = "no graph", .no_graph = true},
                                 {.name = "data on the host", .host_data = true},
                                 {.name = "profiled", .profile = true},
                                 {.name = "profiled, no graph", .no_graph = true, .profile = true}};
    static outcome got;
    const way graph = {.name = "graph", .shift = shift};
    if (!train(session, algorithm, &graph, data, expected)) return false;
    assert_true(isfinite(expected->result.train_loss) && isfinite(expected->result.test_loss));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        way other = others[i];
        other.shift = shift;
        assert_true(train(session, algorithm, &other, data, &got));
        expect_same(expected, &got, session->impl->name, algorithm, other.name);
    }
    return true;
}

/* Every algorithm on moved images. That images can stay where they are is no algorithm's matter: the first one shows
 * it, and that no way has left the shift out. */
static bool check_algorithm(const cnn_session *session, const char *algorithm, const dataset *data, bool first)
{
    static outcome still, moved;
    if (!check_ways(session, algorithm, data, 2, &moved)) return false;
    if (!first) return true;
    assert_true(check_ways(session, algorithm, data, 0, &still));
    assert_memory_not_equal(still.params, moved.params, sizeof still.params);
    assert_true(still.result.train_loss != moved.result.train_loss);
    return true;
}

static void test_same_bits(void **state)
{
    const cnn_session_params params = {.threads = 1};
    dataset data = small_data(TRAIN, TEST, 1, 8, 8);
    for (int i = 0; i < cnn_impl_count(NULL); i++) {
        const cnn_impl *impl = cnn_impl_at(NULL, i);
        cnn_session session;
        cnn_error why;
        if (impl->capture == NULL || cnn_session_open(impl, &params, &session, &why) != CNN_OK) continue;
        bool first = true;
        for (int a = 0; a < impl->n_algorithms; a++)
            if (impl->algorithms[a].ops & 1u << CNN_OP_CONV && impl->algorithms[a].flags & CNN_ALGO_DETERMINISTIC)
                first = !check_algorithm(&session, impl->algorithms[a].name, &data, first) && first;
        cnn_session_close(&session);
    }
    dataset_free(&data);
}

static bool any_device(void)
{
    for (int i = 0; i < cnn_impl_count(NULL); i++) {
        cnn_error why;
        const cnn_impl *impl = cnn_impl_at(NULL, i);
        if (impl->capture == NULL) continue;
        if (impl->probe(&why) == CNN_OK) return true;
        printf("%s: %s\n", impl->name, why.message);
    }
    return false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_bits)};
    const char *required = getenv("BENCHCNN_REQUIRE_GPU");
    if (!any_device()) {
        printf("no implementation that captures steps can run here\n");
        return required != NULL && strcmp(required, "1") == 0 ? 1 : SKIPPED;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
