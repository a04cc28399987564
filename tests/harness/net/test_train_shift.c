/* test_train_shift.c: an epoch on moved images is that on images which the test itself has put in order and moved, and
 * its test that on images as they are; in every way that steps can be run, the same bits. What cannot be is refused. */
#include "train_shift_unit.h"

#include <math.h>

/* 41 = 20 batches of 2 and one of 1: a graph of 16 steps, four of a step, the last one's own. Images of more than one
 * channel, higher than wide. */
enum { TRAIN = 41, TEST = 5, BATCH = 2, EPOCHS = 2, C = 3, H = 9, W = 8 };

static const char net_text[] = "input 3 9 8\nconv 4 kernel=3 stride=2 pad=1\nbatch_norm\nrelu\ndropout 0.2\n"
                               "fc 10\nsoftmax_cross_entropy\n";

typedef struct outcome {
    char params[PARAMS_MAX * sizeof(double)];
    trainer_result results[EPOCHS];
} outcome;

typedef struct way {
    const char *name;
    bool mock, no_graph, host_data, profile, no_gather;
} way;

static cnn_network *make_net(cnn_type type)
{
    cnn_network *n = build_net(net_text, type.dtype, type.layout, BATCH);
    assert_true(n->net.param_elems <= PARAMS_MAX);
    return n;
}

static void train(const way *w, cnn_type type, const dataset *data, int64_t shift, outcome *out)
{
    cnn_impl impl = w->mock ? *cnn_impl_mock() : *cnn_impl_cpu();
    cnn_operations ops = *impl.ops;
    impl.ops = &ops;
    if (w->no_gather) ops.gather = NULL;
    cnn_session session = session_of(&impl);
    trainer_params params = shifting(shift);
    trainer *t = NULL;
    cnn_network *n = make_net(type);
    params.no_graph = w->no_graph;
    params.host_data = w->host_data;
    params.profile = w->profile;
    memset(out, 0, sizeof *out);
    OK(trainer_open(&session, n, data, &params, &t, err));
    OK(trainer_start(t, err));
    for (int64_t e = 0; e < EPOCHS; e++) OK(trainer_epoch(t, e, NULL, &out->results[e], err));
    OK(trainer_get_params(t, out->params, err));
    trainer_close(t);
    cnn_net_free(n);
    cnn_session_close(&session);
}

/* ---- By hand ---- */

/* Images [first, first + mb) of an epoch, as they are to be trained on, by trainer_step(); adds mb times the loss. */
static void step_by_hand(trainer *t, cnn_type type, const dataset *data, const int32_t *order, const cnn_shift *shifts,
                         int64_t mb, double *loss_sum)
{
    static double row[C * H * W], images[BATCH * C * H * W];
    int32_t labels[BATCH];
    double loss;
    cnn_gather_args picture = {.dtype = type.dtype};
    set_picture(&picture, type.layout, C, H, W);
    for (int64_t i = 0; i < mb; i++) {
        dataset_rows(data, &data->train, order[i], 1, &type, row);
        move_row(&picture, row, shifts[i].dy, shifts[i].dx, (char *)images + i * C * H * W * elem_bytes(type.dtype));
        labels[i] = data->train.labels[order[i]];
    }
    OK(trainer_step(t, images, labels, mb, &loss, NULL, err));
    *loss_sum += loss * (double)mb;
}

static void train_by_hand(cnn_type type, const dataset *data, int64_t shift, outcome *out)
{
    cnn_session session = session_of(cnn_impl_cpu());
    trainer_params params = shifting(0);
    trainer *t = NULL;
    params.host_data = true; /* for single steps */
    cnn_network *n = make_net(type);
    memset(out, 0, sizeof *out);
    OK(trainer_open(&session, n, data, &params, &t, err));
    OK(trainer_start(t, err));
    for (int64_t e = 0; e < EPOCHS; e++) {
        int32_t order[TRAIN];
        cnn_shift shifts[TRAIN];
        double loss_sum = 0;
        trainer_order(SEED, e, TRAIN, order);
        trainer_shifts(SEED, e, TRAIN, shift, shifts);
        for (int64_t first = 0; first < TRAIN; first += BATCH)
            step_by_hand(t, type, data, order + first, shifts + first, TRAIN - first < BATCH ? TRAIN - first : BATCH,
                         &loss_sum);
        OK(trainer_test(t, NULL, &out->results[e], err));
        out->results[e].train_loss = loss_sum / TRAIN;
    }
    OK(trainer_get_params(t, out->params, err));
    trainer_close(t);
    cnn_net_free(n);
    cnn_session_close(&session);
}

/* The same bits of parameters and test; the training loss is another sum of the same 41 terms. */
static void expect_by_hand(const outcome *hand, const outcome *got, const char *name)
{
    if (memcmp(hand->params, got->params, sizeof hand->params) != 0) fail_msg("%s: other parameters", name);
    for (int e = 0; e < EPOCHS; e++) {
        const trainer_result *p = &hand->results[e], *q = &got->results[e];
        if (!(p->test_loss == q->test_loss && p->test_accuracy == q->test_accuracy))
            fail_msg("%s, epoch %d: test loss %.17g, not %.17g", name, e, q->test_loss, p->test_loss);
        if (!(fabs(p->train_loss - q->train_loss) <= 1e-13 * fabs(p->train_loss)))
            fail_msg("%s, epoch %d: training loss %.17g, not %.17g", name, e, q->train_loss, p->train_loss);
    }
}

static const way ways[] = {{.name = "cpu"},
                           {.name = "cpu, host", .host_data = true},
                           {.name = "cpu without gather", .no_gather = true},
                           {.name = "cpu without gather, host", .no_gather = true, .host_data = true},
                           {.name = "graph", .mock = true},
                           {.name = "no graph", .mock = true, .no_graph = true},
                           {.name = "host", .mock = true, .host_data = true},
                           {.name = "host, no graph", .mock = true, .host_data = true, .no_graph = true},
                           {.name = "host without gather", .mock = true, .host_data = true, .no_gather = true},
                           {.name = "profile", .mock = true, .profile = true},
                           {.name = "profile, no graph", .mock = true, .profile = true, .no_graph = true}};

static void an_epoch_is_what_it_says(void **state)
{
    static const int64_t shifts[] = {0, 1, 2, 7}; /* 7: some images are all but out */
    static outcome hand, got, moved_less;
    dataset data = small_data(TRAIN, TEST, C, H, W);
    for (cnn_dtype dtype = CNN_F32; dtype <= CNN_F64; dtype++)
        for (cnn_layout layout = CNN_NCHW; layout < CNN_LAYOUT_COUNT; layout++)
            for (size_t s = 0; s < sizeof shifts / sizeof shifts[0]; s++) {
                const cnn_type type = {dtype, dtype, layout, CNN_MATH_F32};
                train_by_hand(type, &data, shifts[s], &hand);
                assert_true(isfinite(hand.results[1].train_loss) && isfinite(hand.results[1].test_loss));
                for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
                    train(&ways[i], type, &data, shifts[s], &got);
                    expect_by_hand(&hand, &got, ways[i].name);
                }
                if (s > 0) assert_memory_not_equal(hand.params, moved_less.params, sizeof hand.params);
                moved_less = hand;
            }
    dataset_free(&data);
}

/* Only training moves images: before any step, a test finds what it finds without a shift; and after one again. */
static void tests_are_on_images_as_they_are(void **state)
{
    trainer_result found[2];
    dataset data = small_data(TRAIN, TEST, C, H, W);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        if (ways[i].no_gather || ways[i].profile) continue;
        for (int shifted = 0; shifted <= 1; shifted++) {
            cnn_session session = session_of(ways[i].mock ? cnn_impl_mock() : cnn_impl_cpu());
            cnn_network *n = make_net((cnn_type){CNN_F64, CNN_F64, CNN_NHWC, CNN_MATH_F32});
            trainer_params params = shifting(shifted ? 7 : 0);
            trainer *t = NULL;
            trainer_result ignored;
            params.host_data = ways[i].host_data;
            params.no_graph = ways[i].no_graph;
            OK(trainer_open(&session, n, &data, &params, &t, err));
            OK(trainer_start(t, err));
            OK(trainer_test(t, NULL, &found[shifted], err));
            OK(trainer_epoch(t, 0, NULL, &ignored, err));
            OK(trainer_set_params(t, NULL, err)); /* the first parameters, behind an epoch's shifts */
            OK(trainer_test(t, NULL, &ignored, err));
            assert_true(ignored.test_loss == found[shifted].test_loss);
            trainer_close(t);
            cnn_net_free(n);
            cnn_session_close(&session);
        }
        assert_true(found[0].test_loss == found[1].test_loss && found[0].test_accuracy == found[1].test_accuracy);
    }
    dataset_free(&data);
}

/* An epoch's order and shifts are its own, whatever was trained before: epoch 1 from the start, or behind epoch 0,
 * which draws it ahead, or behind epoch 5, which draws another, and a reset. */
static void epochs_do_not_depend_on_each_other(void **state)
{
    static char params[3][PARAMS_MAX * sizeof(double)];
    dataset data = small_data(TRAIN, TEST, C, H, W);
    for (int again = 0; again <= 2; again++) {
        cnn_session session = session_of(cnn_impl_mock());
        cnn_network *n = make_net((cnn_type){CNN_F64, CNN_F64, CNN_NCHW, CNN_MATH_F32});
        const trainer_params how = shifting(2);
        trainer *t = NULL;
        trainer_result result;
        OK(trainer_open(&session, n, &data, &how, &t, err));
        OK(trainer_start(t, err));
        if (again) {
            OK(trainer_epoch(t, again == 1 ? 0 : 5, NULL, &result, err));
            OK(trainer_set_params(t, NULL, err));
        }
        OK(trainer_epoch(t, 1, NULL, &result, err));
        OK(trainer_get_params(t, params[again], err));
        trainer_close(t);
        cnn_net_free(n);
        cnn_session_close(&session);
    }
    assert_memory_equal(params[0], params[1], sizeof params[0]);
    assert_memory_equal(params[0], params[2], sizeof params[0]);
    dataset_free(&data);
}

/* ---- What is refused ---- */

static cnn_status try_open(const cnn_impl *impl, const char *net, const dataset *data, trainer_params params,
                           cnn_error *why)
{
    cnn_session session = session_of(impl);
    cnn_network *n = build_net(net, CNN_F32, CNN_NCHW, 1);
    trainer *t = NULL;
    const cnn_status status = trainer_open(&session, n, data, &params, &t, why);
    assert_true((t != NULL) == (status == CNN_OK));
    trainer_close(t);
    cnn_net_free(n);
    cnn_session_close(&session);
    return status;
}

/* Moved by its whole height or width, nothing of an image is left. */
static void shifts_that_are_none(void **state)
{
    static const char high[] = "input 1 9 8\nfc 10\nsoftmax_cross_entropy\n",
                      wide[] = "input 1 8 9\nfc 10\nsoftmax_cross_entropy\n";
    static const int64_t wrong[] = {-1, 8, 9, INT32_MIN, INT64_MIN, INT64_MAX, 1 << 16, 65537, ((int64_t)1 << 32) + 1};
    for (int is_wide = 0; is_wide <= 1; is_wide++) {
        const char *net = is_wide ? wide : high;
        dataset data = small_data(5, 2, 1, is_wide ? 8 : 9, is_wide ? 9 : 8);
        for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
            for (int host = 0; host <= 1; host++) {
                char value[32];
                cnn_error why = {.message = ""};
                trainer_params params = shifting(wrong[i]);
                params.host_data = host;
                assert_int_equal(try_open(cnn_impl_cpu(), net, &data, params, &why), CNN_BAD_ARGUMENT);
                snprintf(value, sizeof value, "%lld", (long long)wrong[i]);
                assert_message(why, value);
                assert_message(why, "shift");
            }
        cnn_error why;
        assert_int_equal(try_open(cnn_impl_cpu(), net, &data, shifting(0), &why), CNN_OK);
        assert_int_equal(try_open(cnn_impl_cpu(), net, &data, shifting(7), &why), CNN_OK);
        dataset_free(&data);
    }
}

/* A cnn_shift is of 16 bits: on images that are large enough, a shift beyond is refused, too, rather than cut. The
 * images are only told of. */
static void shifts_beyond_16_bits(void **state)
{
    static const char huge[] = "input 1 40000 40000\nglobal_avg_pool\nfc 10\nsoftmax_cross_entropy\n";
    const dataset data = {
        .name = "huge", .c = 1, .h = 40000, .w = 40000, .classes = 10, .train = {.count = 2}, .test = {.count = 1}};
    cnn_error why = {.message = ""};
    assert_int_equal(try_open(cnn_impl_cpu(), huge, &data, shifting(INT16_MAX), &why), CNN_OK);
    assert_int_equal(try_open(cnn_impl_cpu(), huge, &data, shifting(INT16_MAX + 1), &why), CNN_BAD_ARGUMENT);
    assert_message(why, "32768");
    assert_int_equal(try_open(cnn_impl_cpu(), huge, &data, shifting(39999), &why), CNN_BAD_ARGUMENT);
}

/* Without a gather, images on a device of its own cannot be moved: said at once, with what can be done. */
static void no_gather_on_a_device(void **state)
{
    static const char net[] = "input 1 9 8\nfc 10\nsoftmax_cross_entropy\n";
    cnn_impl bare = *cnn_impl_mock();
    cnn_operations ops = *bare.ops;
    cnn_error why = {.message = ""};
    trainer_params on_host = shifting(1), no_graph = shifting(1);
    bare.ops = &ops;
    ops.gather = NULL;
    on_host.host_data = true;
    no_graph.no_graph = true;
    dataset data = small_data(5, 2, 1, 9, 8);
    assert_int_equal(try_open(&bare, net, &data, shifting(1), &why), CNN_UNSUPPORTED);
    assert_message(why, "--data-on host");
    assert_message(why, "mock");
    assert_int_equal(try_open(&bare, net, &data, no_graph, &why), CNN_UNSUPPORTED);
    assert_message(why, "--data-on host");
    assert_int_equal(try_open(&bare, net, &data, on_host, &why), CNN_OK);
    assert_int_equal(try_open(&bare, net, &data, shifting(0), &why), CNN_OK);
    dataset_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_epoch_is_what_it_says),
        cmocka_unit_test(tests_are_on_images_as_they_are),
        cmocka_unit_test(epochs_do_not_depend_on_each_other),
        cmocka_unit_test(shifts_that_are_none),
        cmocka_unit_test(shifts_beyond_16_bits),
        cmocka_unit_test(no_gather_on_a_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
