/* test_train_device.c: training on every implementation here that captures steps (real devices and emulated ones):
 * captured or not, images on the device or on the host, the same bits, for every deterministic algorithm. */
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

/* False when the network cannot be trained with this algorithm. */
static bool train(const cnn_session *session, const char *algorithm, bool no_graph, bool host_data, const dataset *data,
                  outcome *out)
{
    cnn_error why;
    trainer *t = NULL;
    trainer_params params = {.algorithm = algorithm, .seed = 3, .no_graph = no_graph, .host_data = host_data};
    cnn_network *n = build_net(net_text, CNN_F64, CNN_NCHW, BATCH);
    memset(out, 0, sizeof *out);
    assert_true(n->net.param_elems <= PARAMS_MAX);
    OK(cnn_optimizer_parse("adam,lr=0.01", &params.optimizer, err));
    const cnn_status status = trainer_open(session, n, data, &params, &t, &why);
    if (status != CNN_OK && status != CNN_UNSUPPORTED) fail_msg("%s: %s", algorithm, why.message);
    if (status == CNN_OK) {
        OK(trainer_start(t, err));
        OK(trainer_epoch(t, 0, NULL, &out->result, err));
        OK(trainer_get_params(t, out->params, err));
    } else {
        print_message("%s:%s is left out: %s\n", session->impl->name, algorithm, why.message);
    }
    trainer_close(t);
    cnn_net_free(n);
    return status == CNN_OK;
}

static void expect_same(const outcome *a, const outcome *b, const char *impl, const char *algorithm, const char *way)
{
    const trainer_result *p = &a->result, *q = &b->result;
    if (memcmp(a->params, b->params, sizeof a->params) != 0)
        fail_msg("%s:%s, %s: other parameters", impl, algorithm, way);
    if (!(p->train_loss == q->train_loss && p->test_loss == q->test_loss && p->test_accuracy == q->test_accuracy))
        fail_msg("%s:%s, %s: loss %.17g, not %.17g", impl, algorithm, way, q->train_loss, p->train_loss);
}

static void check_algorithm(const cnn_session *session, const char *algorithm, const dataset *data)
{
    static outcome graph, other;
    if (!train(session, algorithm, false, false, data, &graph)) return;
    assert_true(isfinite(graph.result.train_loss) && isfinite(graph.result.test_loss));
    assert_true(train(session, algorithm, true, false, data, &other));
    expect_same(&graph, &other, session->impl->name, algorithm, "no graph");
    assert_true(train(session, algorithm, false, true, data, &other));
    expect_same(&graph, &other, session->impl->name, algorithm, "data on the host");
}

static void test_same_bits(void **state)
{
    const cnn_session_params params = {.threads = 1};
    (void)state;
    dataset data = small_data(TRAIN, TEST, 1, 8, 8);
    for (int i = 0; i < cnn_impl_count(NULL); i++) {
        const cnn_impl *impl = cnn_impl_at(NULL, i);
        cnn_session session;
        cnn_error why;
        if (impl->capture_begin == NULL || cnn_session_open(impl, &params, &session, &why) != CNN_OK) continue;
        for (int a = 0; a < impl->n_algorithms; a++)
            if (impl->algorithms[a].ops & 1u << CNN_OP_CONV && impl->algorithms[a].flags & CNN_ALGO_DETERMINISTIC)
                check_algorithm(&session, impl->algorithms[a].name, &data);
        cnn_session_close(&session);
    }
    dataset_free(&data);
}

static bool any_device(void)
{
    for (int i = 0; i < cnn_impl_count(NULL); i++) {
        cnn_error why;
        const cnn_impl *impl = cnn_impl_at(NULL, i);
        if (impl->capture_begin == NULL) continue;
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
