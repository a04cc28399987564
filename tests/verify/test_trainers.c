/* test_trainers.c: cpu:fused on networks of every layer that it takes, in both layouts, with each instruction set, with
 * batches of less than a chunk of images and of more than one: gradients, steps and tests hold. What it does not take
 * it says. The bits are the same for any number of threads: test_trainer_threads.c. */
#include "tests/harness/net/net_unit.h"

#include "harness/device/registry.h"
#include "verify/verify.h"

static const struct {
    const char *what, *net;
} nets[] = {
    {"padding, dilation, stride", "input 2 9 7\nconv 5 kernel=3x2 stride=2x1 dilation=1x2 pad=2x1\nrelu\nfc 10\n"
                                  "softmax_cross_entropy\n"},
    {"groups, max pooling", "input 4 8 8\nconv 6 kernel=3 groups=2 pad=1\nelu\nmax_pool kernel=2\nconv 20 kernel=3\n"
                            "leaky_relu\nfc 10\nsoftmax_cross_entropy\n"},
    {"overlapping windows, average", "input 1 9 9\nconv 18 kernel=2 bias=0\ntanh\navg_pool kernel=3 stride=2 pad=1\n"
                                     "fc 7\nsigmoid\nfc 10\nsoftmax_cross_entropy\n"},
    {"global average, clipped", "input 3 6 6\nconv 20 kernel=3\nclipped_relu 2\nconv 10 kernel=1\nglobal_avg_pool\n"
                                "softmax_cross_entropy\n"},
    {"images pooled first", "input 1 8 8\navg_pool kernel=2\nrelu\nfc 20\nrelu\nfc 10 bias=0\nquadratic\n"},
    {"channels of whole vectors, and more", "input 5 4 4\nconv 36 kernel=2\nrelu\nconv 24 kernel=1\nsigmoid\n"
                                            "conv 52 kernel=3\nrelu\nfc 16\nclipped_relu 3\nfc 10\n"
                                            "softmax_cross_entropy\n"},
    {"a channel a group", "input 1 8 8\nconv 12 kernel=3 pad=1\nsigmoid\nconv 12 kernel=3 groups=12\nidentity\n"
                          "conv 10 kernel=2 groups=2\nrelu\navg_pool kernel=2\nfc 10\nsoftmax_cross_entropy\n"},
    {"images of two channels", "input 2 8 8\nconv 20 kernel=4x3 stride=2 dilation=1x2 pad=3x2\nleaky_relu 0.1\n"
                               "conv 4 kernel=3\nrelu\nfc 10\nsoftmax_cross_entropy\n"},
    {"lines of eight", "input 1 3 8\nconv 20 kernel=3 pad=1\nleaky_relu\nconv 20 kernel=1x5 pad=0x2\nclipped_relu 2\n"
                       "global_avg_pool\nfc 10\nsoftmax_cross_entropy\n"},
    {"lines of eight, strides, dilation", "input 2 4 16\nconv 20 kernel=1x3 pad=0x1\nrelu\nconv 20 kernel=2x4 stride=2 "
                                          "pad=0x1\nleaky_relu\nconv 20 kernel=2x3 dilation=1x2 pad=0x2\nrelu\nfc 10\n"
                                          "softmax_cross_entropy\n"},
    {"dropout behind pooling, activations, fc", "input 1 8 8\nconv 20 kernel=3 pad=1\nrelu\nmax_pool kernel=2\n"
                                                "dropout 0.2\nconv 6 kernel=2\ntanh\ndropout 0.5\nfc 37\ndropout 0\n"
                                                "clipped_relu 2\nfc 10\nsoftmax_cross_entropy\n"},
    {"dropout of images", "input 3 5 6\ndropout 0.1\nconv 10 kernel=3\nleaky_relu\ndropout 0.3\nglobal_avg_pool\n"
                          "softmax_cross_entropy\n"},
    {"a perceptron", "input 1 5 6\nfc 33\nidentity\nfc 10\nsoftmax_cross_entropy\n"},
    {"many weights of images", "input 4 8 8\nfc 100\nclipped_relu 2\nfc 164 bias=0\nsigmoid\nfc 10\n"
                               "softmax_cross_entropy\n"},
    {"many weights behind pooling", "input 1 9 9\nconv 20 kernel=2\nrelu\nmax_pool kernel=2\ndropout 0.1\nfc 60\n"
                                    "leaky_relu 0.1\nfc 10\nsoftmax_cross_entropy\n"},
};

typedef struct seen {
    const char *what;
    int passed, steps;
} seen;

/* The k-th of four ways for network i. Sanitizers see both layouts and both sizes of batch, of every other network on
 * the same instruction set. */
static bool is_tried(size_t i, int k) { return !SANITIZED || (k == 0 || k == 3) == (i % 2 == 0); }

static void see(void *user, const verify_result *r)
{
    seen *s = user;
    if (r->state == VERIFY_FAILED || r->state == VERIFY_MISTRUSTED)
        fail_msg("%s: %s %s: %s", s->what, verify_state_name(r->state), r->check, r->reason);
    s->passed += r->state == VERIFY_PASSED;
    s->steps += strcmp(r->check, "steps") == 0 && r->state == VERIFY_PASSED;
}

static void judge(const cnn_session *session, cnn_network *n, const char *what)
{
    const verify_options options = {.seed = 5, .reference_threads = 2};
    seen s = {.what = what};
    OK(verify_net_trained(session, n, "fused", &options, see, &s, err));
    if (s.passed < 2 || s.steps != 1) fail_msg("%s: %d checks passed", what, s.passed);
}

/* An epoch of several batches, the last one not full, and its test: all that a sanitizer can see. The reference in
 * float64, which other builds judge by, would take a hundred times as long. */
static void watch(const cnn_session *session, cnn_network *n)
{
    const cnn_value *image = &n->net.values[0];
    trainer_params how = {.algorithm = "fused", .seed = 3};
    trainer_result result;
    trainer *t = NULL;
    dataset data = small_data(2 * n->net.batch + 2, 23, image->c, image->h, image->w);
    OK(cnn_optimizer_parse("adam,lr=0.01,l1=0.0001,l2=0.001", &how.optimizer, err));
    OK(trainer_open(session, n, &data, &how, &t, err));
    OK(trainer_start(t, err));
    OK(trainer_epoch(t, 0, NULL, &result, err));
    assert_int_equal(result.steps, 3);
    trainer_close(t);
    dataset_free(&data);
}

static void fused_trains_chains(void **state)
{
    static const char *const isas[] = {"cpu.isa=2", "cpu.isa=1", "cpu.isa=0"};
    for (size_t i = 0; i < sizeof nets / sizeof nets[0]; i++)
        for (int k = 0; k < 4; k++) {
            cnn_session session;
            if (!is_tried(i, k) || is_left_out_when_quick(4 * i + (size_t)k, 8)) continue;
            if (!open_session_with(&session, k / 2 == 0 ? 1 : 3, &isas[k % 3], 1)) skip();
            cnn_network *n = build_net(nets[i].net, CNN_F32, k % 2 == 0 ? CNN_NCHW : CNN_NHWC, k / 2 == 0 ? 3 : 19);
            if (SANITIZED)
                watch(&session, n);
            else
                judge(&session, n, nets[i].what);
            cnn_net_free(n);
            cnn_session_close(&session);
        }
}

static void what_it_does_not_take_it_says(void **state)
{
    static const struct {
        const char *net, *word;
        cnn_dtype dtype;
    } cases[] = {
        {"input 1 8 8\nfc 10\nsoftmax_cross_entropy\n", "f64", CNN_F64},
        {"input 1 8 8\nfc 10\nsave a\nfc 10\nadd a\nsoftmax_cross_entropy\n", "add1", CNN_F32},
        {"input 1 8 8\nconv 4 kernel=3\nbatch_norm\nfc 10\nsoftmax_cross_entropy\n", "batch_norm1", CNN_F32},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cnn_session session;
        cnn_error why;
        trainer *t = NULL;
        const trainer_params params = {.algorithm = "fused"};
        if (!open_session(&session, 1)) skip();
        cnn_network *n = build_net(cases[i].net, cases[i].dtype, CNN_NCHW, 4);
        assert_int_equal(trainer_open(&session, n, NULL, &params, &t, &why), CNN_UNSUPPORTED);
        assert_message(why, cases[i].word);
        cnn_net_free(n);
        cnn_session_close(&session);
    }
}

typedef struct way {
    bool host_data;
    int threads;
    int64_t shift;
    const char *algorithm;
} way;

static void train(const way *w, const dataset *data, float *params, trainer_result *result)
{
    cnn_session session;
    trainer *t = NULL;
    trainer_params how = {.algorithm = w->algorithm, .seed = 3, .host_data = w->host_data, .shift = w->shift};
    if (!open_session(&session, w->threads)) skip();
    cnn_network *n =
        build_net("input 1 8 8\nconv 6 kernel=3\ntanh\nfc 10\nsoftmax_cross_entropy\n", CNN_F32, CNN_NCHW, 20);
    OK(cnn_optimizer_parse("adam,lr=0.01", &how.optimizer, err));
    OK(trainer_open(&session, n, data, &how, &t, err));
    OK(trainer_start(t, err));
    for (int64_t e = 0; e < 2; e++) OK(trainer_epoch(t, e, NULL, result, err));
    assert_in_range(n->net.param_elems, 1, 4096);
    OK(trainer_get_params(t, params, err));
    OK(trainer_set_params(t, NULL, err)); /* and from the start the same */
    trainer_result again;
    for (int64_t e = 0; e < 2; e++) OK(trainer_epoch(t, e, NULL, &again, err));
    assert_true(again.train_loss == result->train_loss && again.test_loss == result->test_loss);
    trainer_close(t);
    cnn_net_free(n);
    cnn_session_close(&session);
}

/* Images on the host or the device, one thread or several: the same bits; and near to the composition's, moved images
 * as well. */
static void every_way_is_the_same(void **state)
{
    static float first[4096], other[4096];
    trainer_result a, b;
    dataset data = small_data(107, 33, 1, 8, 8);
    for (int64_t shift = 0; shift <= 2; shift += 2) {
        const way ways[] = {{false, 1, shift, "fused"}, {true, 1, shift, "fused"}, {false, 3, shift, "fused"}};
        const way composed = {false, 1, shift, NULL};
        train(&ways[0], &data, first, &a);
        for (int i = 1; i < 3; i++) {
            train(&ways[i], &data, other, &b);
            assert_memory_equal(first, other, sizeof first);
            assert_true(a.test_loss == b.test_loss && a.train_loss == b.train_loss);
        }
        train(&composed, &data, other, &b);
        assert_true(fabs(a.train_loss - b.train_loss) < 1e-4 && fabs(a.test_loss - b.test_loss) < 1e-4);
        assert_int_equal(a.steps, b.steps);
    }
    dataset_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fused_trains_chains),
                                       cmocka_unit_test(what_it_does_not_take_it_says),
                                       cmocka_unit_test(every_way_is_the_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
