/* test_net_train.c: the training loop: order, partial batches, learning, interrupts, what is refused. */
#include "net_unit.h"

#include <math.h>
#include <stdio.h>

static const char small_net[] = "input 1 8 8\nconv 4 kernel=3 stride=2 pad=1\ntanh\nfc 10\nsoftmax_cross_entropy\n";

static void test_order(void **state)
{
    enum { COUNT = 1000 };
    int32_t a[COUNT], b[COUNT], other_epoch[COUNT], other_seed[COUNT];
    int seen[COUNT] = {0}, fixed = 0;
    trainer_order(1, 0, COUNT, a);
    trainer_order(1, 1, COUNT, other_epoch);
    trainer_order(2, 0, COUNT, other_seed);
    for (int i = 0; i < COUNT; i++) {
        assert_in_range(a[i], 0, COUNT - 1);
        assert_int_equal(seen[a[i]]++, 0); /* each image once */
    }
    for (int epoch = 0; epoch < 40; epoch++) { /* one image an epoch, on average, stays where it is */
        trainer_order(1, epoch, COUNT, b);
        for (int i = 0; i < COUNT; i++) fixed += b[i] == i;
    }
    assert_in_range(fixed, 15, 70);
    trainer_order(1, 0, COUNT, b);
    assert_memory_equal(a, b, sizeof a);
    assert_memory_not_equal(a, other_epoch, sizeof a);
    assert_memory_not_equal(a, other_seed, sizeof a);
}

/* What a batch should do, image by image: the mean of the images' gradients, times the rate. */
static void sgd_by_hand(trainer *single, const dataset *data, const int32_t *images, int count, double lr,
                        double *params, double *loss_sum)
{
    enum { PIXELS = 64 };
    const cnn_type type = {CNN_F64, CNN_F64, CNN_NCHW, CNN_MATH_F32};
    double row[PIXELS], loss, grads[2048], sum[2048] = {0};
    OK(trainer_set_params(single, params, err));
    for (int i = 0; i < count; i++) {
        dataset_rows(data, &data->train, images[i], 1, &type, row);
        OK(trainer_gradients(single, row, &data->train.labels[images[i]], 1, grads, &loss, err));
        for (int k = 0; k < 2048; k++) sum[k] += grads[k];
        *loss_sum += loss;
    }
    for (int k = 0; k < 2048; k++) params[k] -= lr * sum[k] / count;
}

/* 10 images in batches of 4: 4, 4 and 2; then 7 test images: 4 and 3. Against single images, in float64. */
static void test_partial_batches(void **state)
{
    enum { TRAIN = 10, TEST = 7, BATCH = 4 };
    cnn_session session;
    int32_t order[TRAIN];
    double mine[2048] = {0}, params[2048] = {0}, loss_sum = 0, test_sum = 0;
    int64_t correct = 0;
    trainer_result result;
    if (!open_session(&session, 2)) skip();
    dataset data = small_data(TRAIN, TEST, 1, 8, 8);
    cnn_network *n = build_net(small_net, CNN_F64, CNN_NCHW, BATCH), *one = build_net(small_net, CNN_F64, CNN_NCHW, 1);
    trainer *t = open_trainer(&session, n, &data, "sgd,lr=0.1"), *single = open_trainer(&session, one, NULL, "sgd");
    assert_true(n->net.param_elems <= 2048);
    OK(trainer_get_params(t, mine, err));
    OK(trainer_epoch(t, 5, NULL, &result, err));
    OK(trainer_get_params(t, params, err));

    trainer_order(3, 5, TRAIN, order);
    for (int first = 0; first < TRAIN; first += BATCH)
        sgd_by_hand(single, &data, order + first, TRAIN - first < BATCH ? TRAIN - first : BATCH, 0.1, mine, &loss_sum);
    for (int i = 0; i < n->net.param_elems; i++) assert_true(fabs(mine[i] - params[i]) < 1e-13);
    assert_true(fabs(loss_sum / TRAIN - result.train_loss) < 1e-13);
    assert_int_equal(result.steps, 3);

    OK(trainer_set_params(single, params, err));
    for (int i = 0; i < TEST; i++) {
        double row[64], loss;
        int64_t right;
        dataset_rows(&data, &data.test, i, 1, &n->net.type, row);
        OK(trainer_infer(single, row, &data.test.labels[i], 1, &loss, &right, err));
        test_sum += loss;
        correct += right;
    }
    assert_true(fabs(test_sum / TEST - result.test_loss) < 1e-13);
    assert_true(fabs((double)correct / TEST - result.test_accuracy) < 1e-15);
    trainer_close(t);
    trainer_close(single);
    cnn_net_free(n);
    cnn_net_free(one);
    dataset_free(&data);
    cnn_session_close(&session);
}

/* A data set smaller than a batch for testing, a batch as large as the training set. */
static void test_batch_of_everything(void **state)
{
    cnn_session session;
    trainer_result a, b;
    if (!open_session(&session, 1)) skip();
    dataset data = small_data(12, 5, 1, 8, 8);
    cnn_network *all = build_net(small_net, CNN_F64, CNN_NCHW, 12), *some = build_net(small_net, CNN_F64, CNN_NCHW, 5);
    trainer *t = open_trainer(&session, all, &data, "sgd"), *u = open_trainer(&session, some, &data, "sgd");
    OK(trainer_test(t, NULL, &a, err));
    OK(trainer_test(u, NULL, &b, err));
    assert_true(fabs(a.test_loss - b.test_loss) < 1e-13);
    OK(trainer_epoch(t, 0, NULL, &a, err));
    assert_int_equal(a.steps, 1);
    trainer_close(t);
    trainer_close(u);
    cnn_net_free(all);
    cnn_net_free(some);
    dataset_free(&data);
    cnn_session_close(&session);
}

typedef struct watched {
    int calls, losses, stop_after;
    double loss_sum;
    int64_t total;
} watched;

static bool each(void *user, int64_t done, int64_t total)
{
    watched *w = user;
    assert_true(done <= total);
    w->total = total;
    return ++w->calls != w->stop_after;
}

static void on_loss(void *user, int64_t step, double loss)
{
    watched *w = user;
    assert_int_equal(step, w->losses++);
    w->loss_sum += loss * (step == 2 ? 2 : 4); /* images in the batch */
}

static void test_watching(void **state)
{
    cnn_session session;
    cnn_error why;
    trainer_result result;
    watched w = {0};
    const trainer_watch watch = {.each = each, .loss = on_loss, .user = &w};
    if (!open_session(&session, 1)) skip();
    dataset data = small_data(10, 7, 1, 8, 8);
    cnn_network *n = build_net(small_net, CNN_F32, CNN_NCHW, 4);
    trainer *t = open_trainer(&session, n, &data, "adam");
    OK(trainer_epoch(t, 0, &watch, &result, err));
    assert_int_equal(w.losses, 3);
    assert_int_equal(w.calls, 3 + 2);
    assert_int_equal(w.total, 17);
    assert_true(fabs(w.loss_sum / 10 - result.train_loss) < 1e-12);

    w = (watched){.stop_after = 2};
    assert_int_equal(trainer_epoch(t, 1, &watch, &result, &why), CNN_INTERRUPTED);
    assert_message(why, "after 8 of 17 images");
    trainer_close(t);
    cnn_net_free(n);
    dataset_free(&data);
    cnn_session_close(&session);
}

/* A small subset of the digits is learnt, and a linear classifier learns it less well. */
static void test_learning(void **state)
{
#ifdef __SANITIZE_THREAD__
    skip(); /* what is learnt needs many steps, and races are found in few: the other tests' */
#endif
    static const char linear[] = "input 1 28 28\nfc 10\nsoftmax_cross_entropy\n";
    static const char conv[] = "input 1 28 28\nconv 8 kernel=5 stride=2 pad=2\nrelu\nconv 16 kernel=5 stride=2 pad=2\n"
                               "relu\nfc 10\nsoftmax_cross_entropy\n";
    cnn_session session;
    trainer_result results[2], first;
    if (!open_session(&session, 2)) skip();
    dataset data = small_data(3000, 1000, 1, 28, 28);
    for (int i = 0; i < 2; i++) {
        cnn_network *n = build_net(i == 0 ? linear : conv, CNN_F32, CNN_NCHW, 20);
        trainer *t = open_trainer(&session, n, &data, "adam,lr=0.002");
        for (int64_t epoch = 0; epoch < 4; epoch++) {
            OK(trainer_epoch(t, epoch, NULL, &results[i], err));
            if (epoch == 0) first = results[i];
        }
        assert_true(results[i].train_loss < first.train_loss);
        trainer_close(t);
        cnn_net_free(n);
    }
    print_message("after 4 epochs of 3000 images: linear %.1f %%, convolutions %.1f %%\n",
                  results[0].test_accuracy * 100, results[1].test_accuracy * 100);
    assert_true(results[1].test_accuracy > 0.85);
    assert_true(results[1].test_accuracy > results[0].test_accuracy + 0.05);
    dataset_free(&data);
    cnn_session_close(&session);
}

/* The memory plan of a plain chain: a gradient for every value but the images and the probabilities, and no scratch.
 * Most is alive when pooling gives its gradient: its input, its output, and their gradients. */
static void test_memory(void **state)
{
    static const char chain[] = "input 1 8 8\nconv 4 kernel=3 stride=2 pad=1\ntanh\nmax_pool kernel=2\nfc 10\n"
                                "softmax_cross_entropy\n";
    enum { BATCH = 128 }; /* every buffer a multiple of the alignment: what is counted is what is used */
    cnn_session session;
    if (!open_session(&session, 1)) skip();
    cnn_network *n = build_net(chain, CNN_F64, CNN_NCHW, BATCH);
    trainer *t = open_trainer(&session, n, NULL, "adam");
    const trainer_bytes m = trainer_memory(t);
    assert_int_equal(m.apart, BATCH * (64 + 16 + 10 + 10 + 64 + 16 + 10) * sizeof(double));
    assert_int_equal(m.values, BATCH * (64 + 64 + 16 + 16 + 64) * sizeof(double));
    assert_int_equal(m.params, n->net.param_elems * sizeof(double));
    assert_int_equal(m.optimizer, 2 * m.grads);
    assert_int_equal(m.data, 0);
    assert_true(m.total >= m.values + m.params + m.grads + m.optimizer + m.workspace + m.small);
    trainer_close(t);
    cnn_net_free(n);
    cnn_session_close(&session);
}

/* One of each kind of layer, in every type, over partial batches: finite, and the same again from the same seed. */
static void test_every_layer(void **state)
{
    cnn_session session;
    if (!open_session(&session, 2)) skip();
    dataset data = small_data(30, 10, 2, 9, 8);
    for (int i = 0; i < 4; i++) {
        const cnn_type type = {i % 2 ? CNN_F64 : CNN_F32, i % 2 ? CNN_F64 : CNN_F32, i / 2 ? CNN_NHWC : CNN_NCHW,
                               CNN_MATH_F32};
        cnn_network *n = NULL;
        trainer_result a, b;
        OK(cnn_net_load("every_layer", &type, 8, 1, &n, err));
        trainer *t = open_trainer(&session, n, &data, "momentum,lr=0.01");
        OK(trainer_epoch(t, 0, NULL, &a, err));
        OK(trainer_set_params(t, NULL, err));
        OK(trainer_epoch(t, 0, NULL, &b, err));
        assert_true(isfinite(a.train_loss) && isfinite(a.test_loss));
        assert_true(a.train_loss == b.train_loss && a.test_loss == b.test_loss);
        trainer_close(t);
        cnn_net_free(n);
    }
    dataset_free(&data);
    cnn_session_close(&session);
}

static void expect_refusal(const cnn_session *session, const cnn_network *n, const dataset *data, cnn_status status,
                           const char *word, const char *other)
{
    trainer_params params = {.algorithm = NULL};
    trainer *t = NULL;
    cnn_error why;
    OK(cnn_optimizer_parse("sgd", &params.optimizer, err));
    assert_int_equal(trainer_open(session, n, data, &params, &t, &why), status);
    assert_null(t);
    assert_message(why, word);
    assert_message(why, other);
}

static void test_refusals(void **state)
{
    static const char two_classes[] = "input 1 8 8\nfc 2\nsoftmax_cross_entropy\n";
    static const char huge[] = "input 1 8 8\nconv 100000 kernel=3\nrelu\nfc 10\nsoftmax_cross_entropy\n";
    cnn_session session;
    cnn_error why;
    if (!open_session(&session, 1)) skip();
    dataset data = small_data(10, 7, 1, 8, 8), other = small_data(10, 7, 1, 9, 9);
    cnn_network *n = build_net(small_net, CNN_F32, CNN_NCHW, 11), *two = build_net(two_classes, CNN_F32, CNN_NCHW, 2);
    cnn_network *big = build_net(huge, CNN_F64, CNN_NCHW, 2000000);
    expect_refusal(&session, n, &data, CNN_BAD_ARGUMENT, "batch 11", "10 training images");
    expect_refusal(&session, n, &other, CNN_BAD_ARGUMENT, "1 x 8 x 8", "1 x 9 x 9");
    expect_refusal(&session, two, &data, CNN_BAD_ARGUMENT, "2 classes", "10");

    trainer_params params = {.algorithm = NULL};
    trainer *t = NULL;
    OK(cnn_optimizer_parse("sgd", &params.optimizer, err));
    OK(trainer_open(&session, big, NULL, &params, &t, err)); /* planning allocates nothing */
    assert_true(trainer_memory(t).total > (size_t)1 << 40);
    assert_int_equal(trainer_start(t, &why), CNN_OUT_OF_MEMORY);
    assert_message(why, "needed");
    trainer_close(t);

    const int32_t label = 10;
    const float image[64] = {0};
    float grads[2048];
    cnn_network *one = build_net(small_net, CNN_F32, CNN_NCHW, 1);
    t = open_trainer(&session, one, NULL, "sgd");
    assert_int_equal(trainer_gradients(t, image, &label, 1, grads, NULL, &why), CNN_BAD_ARGUMENT);
    assert_message(why, "label 10 at image 0");
    assert_int_equal(trainer_gradients(t, image, &label, 2, grads, NULL, &why), CNN_BAD_ARGUMENT);
    assert_message(why, "2 images");
    trainer_close(t);
    cnn_net_free(one);
    cnn_net_free(n);
    cnn_net_free(two);
    cnn_net_free(big);
    dataset_free(&data);
    dataset_free(&other);
    cnn_session_close(&session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_partial_batches),
        cmocka_unit_test(test_batch_of_everything),
        cmocka_unit_test(test_watching),
        cmocka_unit_test(test_learning),
        cmocka_unit_test(test_every_layer),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
