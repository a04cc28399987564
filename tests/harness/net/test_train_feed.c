/* test_train_feed.c: batches from host memory that several threads gather, on the mock device: the bits of images that
 * stand on the device. Batches of few bytes start no thread. */
#include "net_unit.h"
#include "tests/mock/mock_device.h"

#include <dirent.h>

enum { TRAIN = 250, TEST = 130, EPOCHS = 2 }; /* with 100 a batch, the last ones are smaller */

static const char net_text[] = "input 1 28 28\nconv 2 kernel=3 stride=4\nrelu\nfc 10\nsoftmax_cross_entropy\n";

typedef struct outcome {
    double params[4096];
    trainer_result results[EPOCHS];
    int threads; /* of this process, while the trainer is open */
} outcome;

static int threads_now(void)
{
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    assert_non_null(tasks);
    for (const struct dirent *e; (e = readdir(tasks)) != NULL;) count += e->d_name[0] != '.';
    closedir(tasks);
    return count;
}

static void train(int batch, int threads, bool host_data, int64_t shift, outcome *out)
{
    const cnn_session_params session_params = {.threads = threads};
    trainer_params params = {.seed = 3, .host_data = host_data, .shift = shift};
    dataset data = small_data(TRAIN, TEST, 1, 28, 28);
    cnn_network *n = build_net(net_text, CNN_F32, CNN_NCHW, batch);
    cnn_session session;
    trainer *t = NULL;
    memset(out, 0, sizeof *out);
    OK(cnn_optimizer_parse("adam,lr=0.01", &params.optimizer, err));
    OK(cnn_session_open(cnn_impl_mock(), &session_params, &session, err));
    OK(trainer_open(&session, n, &data, &params, &t, err));
    OK(trainer_start(t, err));
    out->threads = threads_now();
    for (int64_t epoch = 0; epoch < EPOCHS; epoch++) OK(trainer_epoch(t, epoch, NULL, &out->results[epoch], err));
    assert_true(n->net.param_elems <= (int64_t)(sizeof out->params / sizeof out->params[0]));
    OK(trainer_get_params(t, out->params, err));
    trainer_close(t);
    cnn_net_free(n);
    cnn_session_close(&session);
    dataset_free(&data);
}

static void any_number_of_threads_gathers_the_same(void **state)
{
    static outcome device, host;
    for (int64_t shift = 0; shift <= 3; shift += 3) {
        train(100, 1, false, shift, &device);
        for (int threads = 1; threads <= 4; threads++) {
            train(100, threads, true, shift, &host);
            assert_memory_equal(host.params, device.params, sizeof host.params);
            for (int e = 0; e < EPOCHS; e++)
                assert_true(host.results[e].train_loss == device.results[e].train_loss &&
                            host.results[e].test_accuracy == device.results[e].test_accuracy);
        }
    }
}

static void threads_are_started_where_they_are_worth_it(void **state)
{
    static outcome few, device, many; /* beside the mock's own threads */
    train(100, 4, false, 0, &device);
    train(3, 4, true, 0, &few);    /* 9 KiB */
    train(100, 4, true, 0, &many); /* 306 KiB */
    assert_int_equal(few.threads, device.threads);
    assert_int_equal(many.threads, device.threads + 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_threads_gathers_the_same),
        cmocka_unit_test(threads_are_started_where_they_are_worth_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
