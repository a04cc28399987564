/* test_trainer_threads.c: cpu:fused gives the same bits for any number of threads: parameters, loss and right answers
 * behind an epoch, for batches whose gradients are added up in different ways, and last batches that are not full. */
#include "tests/harness/net/net_unit.h"

#include "harness/device/registry.h"

static const char early[] =
    "input 1 8 8\nconv 20 kernel=3 stride=2 pad=1\nleaky_relu 0.1\nconv 6 kernel=2 groups=2\ntanh\n"
    "max_pool kernel=2 stride=1\ndropout 0.2\nfc 10\nsoftmax_cross_entropy\n";
/* Weights of which each worker has the whole batch's gradient. */
static const char late[] =
    "input 1 8 8\nconv 8 kernel=3 stride=2 pad=1\nrelu\nfc 132\nleaky_relu 0.1\nfc 140\nrelu\ndropout 0.2\nfc 10\n"
    "softmax_cross_entropy\n";

typedef struct outcome {
    float params[40000];
    trainer_result result;
} outcome;

static void train(const char *net, int threads, int64_t batch, const char *isa, const dataset *data, outcome *o)
{
    cnn_session session;
    trainer *t = NULL;
    trainer_params how = {.algorithm = "fused", .seed = 3};
    if (!open_session_with(&session, threads, &isa, 1)) skip();
    cnn_network *n = build_net(net, CNN_F32, CNN_NCHW, batch);
    OK(cnn_optimizer_parse("adam,lr=0.01,l2=0.001", &how.optimizer, err));
    OK(trainer_open(&session, n, data, &how, &t, err));
    OK(trainer_start(t, err));
    OK(trainer_epoch(t, 0, NULL, &o->result, err));
    assert_in_range(n->net.param_elems, 1, 40000);
    OK(trainer_get_params(t, o->params, err));
    trainer_close(t);
    cnn_net_free(n);
    cnn_session_close(&session);
}

static void any_number_of(const char *net)
{
    static const int64_t batches[] = {1, 2, 5, 7, 16, 50, 100, 257, 600};
    static const char *const isas[] = {"cpu.isa=2", "cpu.isa=0"};
    static outcome one, other;
    dataset data = small_data(613, 133, 1, 8, 8);
    for (size_t i = 0; i < sizeof batches / sizeof batches[0]; i++) {
        const char *isa = isas[i % 2];
        if (SANITIZED && i % 3 != 1) continue; /* 2, 16 and 257 images, by 1, 3 and 7 threads */
        train(net, 1, batches[i], isa, &data, &one);
        for (int threads = SANITIZED ? 3 : 2; threads <= 7; threads += SANITIZED ? 4 : threads == 4 ? 3 : 1) {
            memset(&other, 0, sizeof other);
            train(net, threads, batches[i], isa, &data, &other);
            const trainer_result *a = &one.result, *b = &other.result;
            if (memcmp(one.params, other.params, sizeof one.params) != 0)
                fail_msg("batch %lld: other parameters with %d threads", (long long)batches[i], threads);
            assert_true(a->train_loss == b->train_loss && a->test_loss == b->test_loss);
            assert_true(a->train_accuracy == b->train_accuracy && a->test_accuracy == b->test_accuracy);
        }
    }
    dataset_free(&data);
}

static void any_number_of_threads(void **state) { any_number_of(early); }

static void any_number_of_threads_late(void **state) { any_number_of(late); }

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_number_of_threads),
                                       cmocka_unit_test(any_number_of_threads_late)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
