/* test_train_fuse.c: activations that are epilogues of the layer before them: the same bits as operations of their own,
 * and only where they work in place, behind an algorithm that fuses. */
#include "net_unit.h"

#include <string.h>

enum { BATCH = 6, TRAIN = 20, TEST = 9, EPOCHS = 2 }; /* the last batches are smaller */

/* Two in place behind conv, one behind fc; one behind a pooling, one behind a sum, one behind a value that is read
 * again. */
static const char text[] = "input 2 9 9\nconv 4 kernel=3 pad=1\nleaky_relu 0.1\nsave a\nconv 4 kernel=3 pad=1\ntanh\n"
                           "add a\nrelu\nmax_pool kernel=2\nrelu\nconv 3 kernel=2\nsave b\nsigmoid\nadd b\n"
                           "fc 8\nclipped_relu 1.5\nfc 10\nsoftmax_cross_entropy\n";

/* The weights behind all epochs, and how many activations were fused. */
static void *train(const cnn_session *session, const cnn_network *n, const dataset *data, trainer_params params,
                   int *fused)
{
    trainer *t = NULL;
    trainer_result result;
    void *weights = calloc((size_t)n->net.param_elems, sizeof(double));
    params.seed = 3;
    assert_non_null(weights);
    OK(cnn_optimizer_parse("adam,lr=0.01", &params.optimizer, err));
    *fused = trainer_fused(session, n, &params);
    OK(trainer_open(session, n, data, &params, &t, err));
    OK(trainer_start(t, err));
    for (int i = 0; i < EPOCHS; i++) OK(trainer_epoch(t, i + 1, NULL, &result, err));
    OK(trainer_get_params(t, weights, err));
    trainer_close(t);
    return weights;
}

static void test_the_same_bits(void **state)
{
    static const struct {
        cnn_dtype dtype;
        cnn_layout layout;
        bool recompute;
        int fused; /* in 16 bits, of leaky_relu, tanh and clipped_relu the last alone */
    } ways[] = {{CNN_F32, CNN_NCHW, false, 3},
                {CNN_F32, CNN_NHWC, true, 3},
                {CNN_F64, CNN_NCHW, true, 3},
                {CNN_BF16, CNN_NCHW, false, 1},
                {CNN_F16, CNN_NHWC, false, 1}};
    dataset data = small_data(TRAIN, TEST, 2, 9, 9);
    cnn_session session;
    (void)state;
    if (!open_session(&session, 2)) skip();
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        cnn_network *n = build_net(text, ways[i].dtype, ways[i].layout, BATCH);
        const trainer_params apart = {.recompute = ways[i].recompute},
                             together = {.recompute = ways[i].recompute, .fuse = true};
        const size_t elem = ways[i].dtype == CNN_F64 ? sizeof(double) : sizeof(float);
        int none, some;
        void *plain = train(&session, n, &data, apart, &none), *fused = train(&session, n, &data, together, &some);
        assert_int_equal(none, 0);
        assert_int_equal(some, ways[i].fused);
        assert_memory_equal(plain, fused, (size_t)n->net.param_elems * elem);
        free(plain), free(fused);
        cnn_net_free(n);
    }
    cnn_session_close(&session);
    dataset_free(&data);
}

/* The algorithm that was asked for, or a layer's own, is never changed for its sake. */
static const char *only_one(void *user, int layer, cnn_dir dir)
{
    (void)dir;
    return layer == 0 ? user : NULL;
}

static void test_who_fuses(void **state)
{
    cnn_session session;
    (void)state;
    if (!open_session(&session, 1)) skip();
    cnn_network *n = build_net(text, CNN_F32, CNN_NCHW, BATCH);
    cnn_impl *impl = calloc(1, sizeof *impl);
    const cnn_impl *own = session.impl;
    cnn_algorithm *list = calloc((size_t)own->n_algorithms, sizeof *list);
    assert_true(impl != NULL && list != NULL);
    *impl = *own;
    memcpy(list, own->algorithms, (size_t)own->n_algorithms * sizeof *list);
    impl->algorithms = list;
    const char *off = NULL; /* the first algorithm of conv loses the flag */
    for (int i = 0; i < own->n_algorithms && off == NULL; i++)
        if (list[i].ops & 1u << CNN_OP_CONV && list[i].flags & CNN_ALGO_FUSES)
            off = list[i].name, list[i].flags &= ~(uint32_t)CNN_ALGO_FUSES;
    if (off == NULL) fail_msg("no algorithm of conv fuses");
    session.impl = impl;
    const trainer_params all = {.algorithm = off, .fuse = true}, naive = {.algorithm = "naive", .fuse = true},
                         first = {.pick = only_one, .pick_user = (void *)(uintptr_t)off, .fuse = true};
    assert_int_equal(trainer_fused(&session, n, &all), 1); /* fc */
    assert_int_equal(trainer_fused(&session, n, &naive), 3);
    const int others = trainer_fused(&session, n, &first);
    assert_in_range(others, 1, 2); /* the second conv's algorithm may be the same one */
    session.impl = own;
    cnn_session_close(&session);
    cnn_net_free(n);
    free(list), free(impl);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_the_same_bits), cmocka_unit_test(test_who_fuses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
