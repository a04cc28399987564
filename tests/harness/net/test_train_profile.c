/* test_train_profile.c: a profiled epoch gives the same bits, its rows sum to its seconds, and every layer's time is
 * found with that layer: captured, launched one by one, fed from the host, on the mock device and on the CPU. */
#include "net_unit.h"
#include "tests/mock/mock_device.h"

#include <math.h>

/* 133 = 16 batches of 8, which unprofiled are one graph, and one of 5. */
enum { TRAIN = 133, TEST = 20, BATCH = 8, TRAIN_STEPS = 17, TEST_STEPS = 3 };

static const char net_text[] = "input 1 8 8\nconv 4 kernel=3 pad=1\nbatch_norm\nrelu\nsave a\nconv 4 kernel=3 pad=1\n"
                               "add a\nmax_pool kernel=2 stride=2\nfc 10\nsoftmax_cross_entropy\n";

typedef struct way {
    const char *algorithm, *net; /* net NULL: net_text */
    bool mock, no_graph, host_data, offload;
    int threads;
    cnn_layout layout;
} way;

typedef struct outcome {
    trainer_result result;
    double params[2048];
    epoch_profile profile; /* a copy */
    profile_row rows[256];
    char layers[256][CNN_NAME_MAX]; /* the network is freed */
} outcome;

static void train(const way *w, bool profile, const dataset *data, outcome *out)
{
    const cnn_impl *cnn_impl_cpu(void);
    const cnn_session_params open = {.threads = w->threads > 0 ? w->threads : 1};
    trainer_params params = {.algorithm = w->algorithm,
                             .seed = 3,
                             .no_graph = w->no_graph,
                             .host_data = w->host_data,
                             .offload = w->offload,
                             .profile = profile};
    cnn_session session;
    trainer *t = NULL;
    cnn_network *n = build_net(w->net != NULL ? w->net : net_text, CNN_F32, w->layout, BATCH);
    memset(out, 0, sizeof *out);
    OK(cnn_session_open(w->mock ? cnn_impl_mock() : cnn_impl_cpu(), &open, &session, err));
    OK(cnn_optimizer_parse("adam,lr=0.01", &params.optimizer, err));
    OK(trainer_open(&session, n, data, &params, &t, err));
    OK(trainer_start(t, err));
    for (int epoch = 0; epoch < 2; epoch++) OK(trainer_epoch(t, epoch, NULL, &out->result, err));
    OK(trainer_get_params(t, out->params, err));
    assert_int_equal(trainer_profiled(t) != NULL, profile);
    if (profile) {
        out->profile = *trainer_profiled(t);
        assert_in_range(out->profile.count, 1, 256);
        memcpy(out->rows, out->profile.rows, (size_t)out->profile.count * sizeof *out->rows);
        for (int i = 0; i < out->profile.count; i++)
            out->rows[i].layer = strcpy(out->layers[i], out->profile.rows[i].layer);
        out->profile.rows = NULL;
    }
    trainer_close(t);
    cnn_net_free(n);
    cnn_session_close(&session);
}

/* pass or phase NULL: any. */
static const profile_row *find(const outcome *o, const char *layer, const char *pass, const char *phase)
{
    for (int i = 0; i < o->profile.count; i++) {
        const profile_row *r = &o->rows[i];
        if (strcmp(r->layer, layer) == 0 && (pass == NULL || strcmp(r->pass, pass) == 0) &&
            (phase == NULL || strcmp(r->phase, phase) == 0))
            return r;
    }
    fail_msg("no row %s %s %s", layer, pass ? pass : "*", phase ? phase : "*");
    return NULL;
}

static void expect_sum(const outcome *o)
{
    double sum = 0.0, marked = 0.0;
    for (int i = 0; i < o->profile.count; i++) {
        const profile_row *r = &o->rows[i];
        sum += r->seconds;
        if (strcmp(r->layer, PROFILE_OVERHEAD) != 0) marked += r->seconds;
        if (r->seconds < -1e-6) fail_msg("%s %s %s took %g s", r->layer, r->pass, r->phase, r->seconds);
        if (r->calls < 1 || r->phase[0] == '\0') fail_msg("%s: a row without calls or phase", r->layer);
        if (i > 0) assert_true(r->place >= r[-1].place);
        for (int k = 0; k < i; k++)
            if (r->place == o->rows[k].place && strcmp(r->phase, o->rows[k].phase) == 0 && r->pass == o->rows[k].pass)
                fail_msg("%s %s %s has two rows", r->layer, r->pass, r->phase);
    }
    assert_true(o->profile.seconds > 0.0 && o->profile.seconds == o->result.seconds);
    assert_true(fabs(sum - o->profile.seconds) <= 1e-9 + 1e-9 * o->profile.seconds);
    assert_true(marked > 0.0 && marked <= o->profile.seconds);
}

static void expect_same(const outcome *a, const outcome *b)
{
    assert_memory_equal(a->params, b->params, sizeof a->params);
    assert_true(a->result.train_loss == b->result.train_loss && a->result.test_loss == b->result.test_loss);
    assert_true(a->result.train_accuracy == b->result.train_accuracy && a->result.steps == b->result.steps);
}

static void test_every_way(void **state)
{
    static const way ways[] = {
        {.mock = true},
        {.mock = true, .no_graph = true},
        {.mock = true, .host_data = true},
        {.mock = true, .no_graph = true, .host_data = true},
        {.mock = true, .offload = true},
        {.mock = true, .no_graph = true, .offload = true},
        {.algorithm = "direct"},
        {.algorithm = "im2col", .threads = 3},
        {.algorithm = "im2col", .layout = CNN_NHWC, .host_data = true},
        {.algorithm = "naive"},
    };
    static outcome plain, profiled;
    dataset data = small_data(TRAIN, TEST, 1, 8, 8);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        train(&ways[i], false, &data, &plain);
        train(&ways[i], true, &data, &profiled);
        expect_same(&plain, &profiled);
        expect_sum(&profiled);
        for (int k = 0; k < 5; k++) {
            static const char *const overheads[] = {"order", "sums", "launch, wait", "profiling", "other"};
            find(&profiled, PROFILE_OVERHEAD, "", overheads[k]);
        }
        assert_int_equal(find(&profiled, PROFILE_UPDATE, NULL, NULL)->calls, TRAIN_STEPS);
        if (!ways[i].offload) continue;
        const int64_t begun = find(&profiled, PROFILE_OFFLOAD, "", "begin a copy")->calls;
        assert_true(begun > 0 && begun % (2 * TRAIN_STEPS) == 0); /* out and back */
        assert_int_equal(find(&profiled, PROFILE_OFFLOAD, "", "wait for a copy")->calls, begun);
    }
    dataset_free(&data);
}

/* Each operation of the mock is one kernel, so how often each layer ran is known; the mark behind the kernel is a gap.
 */
static void test_who_is_who(void **state)
{
    static const way graph = {.mock = true}, eager = {.mock = true, .no_graph = true};
    static outcome out;
    dataset data = small_data(TRAIN, TEST, 1, 8, 8);
    for (int i = 0; i < 2; i++) {
        train(i == 0 ? &graph : &eager, true, &data, &out);
        assert_int_equal(find(&out, PROFILE_IMAGES, "", "kernel")->calls, TRAIN_STEPS);
        assert_int_equal(find(&out, PROFILE_IMAGES, "test", "kernel")->calls, TEST_STEPS);
        const char *layers[] = {"conv1", "batch_norm1", "relu1"};
        for (int k = 0; k < 3; k++) {
            assert_int_equal(find(&out, layers[k], "FWD", "kernel")->calls, TRAIN_STEPS);
            assert_int_equal(find(&out, layers[k], "test", "kernel")->calls, TEST_STEPS);
        }
        assert_int_equal(find(&out, "conv1", "BWD_W", "kernel")->calls, TRAIN_STEPS);
        assert_int_equal(find(&out, "batch_norm1", "BWD_D", "kernel")->calls, TRAIN_STEPS);
        const profile_row *fwd = find(&out, "conv1", "FWD", "kernel"); /* a tick of the mock's clock each */
        assert_true(fabs(fwd->seconds - 1e-7 * TRAIN_STEPS) < 1e-12);
        assert_true(fwd->flops == 2.0 * TRAIN * 4 * 22 * 22 + TRAIN * 4.0 * 64); /* 22 taps a row fall inside */
        assert_true(fwd->bytes == 4.0 * (TRAIN * (1 + 4) * 64 + TRAIN_STEPS * (4 * 9 + 4))); /* x and y; w and b */
    }
    dataset_free(&data);
}

static void test_cpu_phases(void **state)
{
    static const way im2col = {.algorithm = "im2col", .threads = 2}, direct = {.algorithm = "direct"};
    static outcome out;
    dataset data = small_data(TRAIN, TEST, 1, 8, 8);
    train(&im2col, true, &data, &out);
    static const char *const named[][3] = {{"conv1", "FWD", "im2col"}, {"conv1", "FWD", "gemm"},
                                           {"conv1", "BWD_W", "gemm"}, {"fc1", "FWD", "bias"},
                                           {"fc1", "BWD_D", "gemm"},   {"relu1", "FWD", "act"}};
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) find(&out, named[i][0], named[i][1], named[i][2]);
    train(&direct, true, &data, &out);
    find(&out, "conv1", "FWD", "pack");
    find(&out, "conv1", "BWD_W", "direct");
    dataset_free(&data);
}

/* Which says where its time goes as well as single operations do: all that is not in place in a neighbour. */
static void test_cpu_fused(void **state)
{
    static const char net[] = "input 1 8 8\nconv 4 kernel=3 pad=1\nrelu\nmax_pool kernel=2 stride=2\n"
                              "conv 4 kernel=3 pad=1\ntanh\nfc 10\nsoftmax_cross_entropy\n";
    static const char *const named[][3] = {{"conv1", "FWD", "forward"},
                                           {"conv1", "BWD_W", "weights"},
                                           {"max_pool1", "FWD", "forward"},
                                           {"max_pool1", "BWD_D", "data"},
                                           {"conv2", "FWD", "forward"},
                                           {"conv2", "BWD_D", "data"},
                                           {"conv2", "BWD_W", "weights"},
                                           {"conv2", "test", "forward"},
                                           {"tanh1", "FWD", "forward"},
                                           {"tanh1", "BWD_D", "data"},
                                           {"fc1", "BWD_D", "data"},
                                           {"softmax_cross_entropy1", "FWD", "loss"},
                                           {"softmax_cross_entropy1", "test", "loss"},
                                           {PROFILE_IMAGES, "", "gather"},
                                           {PROFILE_IMAGES, "test", "gather"},
                                           {PROFILE_UPDATE, "", "sum over workers, update"}};
    static outcome plain, profiled;
    dataset data = small_data(TRAIN, TEST, 1, 8, 8);
    for (int threads = 1; threads <= 3; threads += 2) {
        const way w = {.algorithm = "fused", .net = net, .threads = threads};
        train(&w, false, &data, &plain);
        train(&w, true, &data, &profiled);
        expect_same(&plain, &profiled);
        expect_sum(&profiled);
        for (size_t i = 0; i < sizeof named / sizeof named[0]; i++)
            assert_true(find(&profiled, named[i][0], named[i][1], named[i][2])->seconds > 0.0);
        if (threads > 1) find(&profiled, PROFILE_UPDATE, "", "wait for workers");
        for (int i = 0; i < profiled.profile.count; i++)
            assert_false(strcmp(profiled.rows[i].layer, "relu1") == 0 && strcmp(profiled.rows[i].pass, "FWD") == 0);
    }
    dataset_free(&data);
}

/* ---- An implementation's own trainer: that of the CPU, which here says where its time goes. */

enum { LAPS = 5 };
static cnn_trainer_lap laps[LAPS];
static int asked, lap_count;

static cnn_status own_laps(cnn_context *c, cnn_trainer *t, const cnn_trainer_lap **list, int *count, cnn_error *why)
{
    static cnn_trainer_lap now[LAPS];
    asked++;
    for (int i = 0; i < LAPS; i++) {
        now[i] = laps[i];
        now[i].seconds *= asked; /* what comes before an epoch is none of it */
    }
    *list = now;
    *count = lap_count;
    return CNN_OK;
}

static cnn_status own_epochs(bool profiles, const dataset *data, outcome *out, cnn_error *why)
{
    const cnn_impl *cnn_impl_cpu(void);
    static cnn_impl impl;
    static cnn_trainers table;
    static cnn_algorithm rows[64];
    const cnn_session_params open = {.threads = 1};
    trainer_params params = {.algorithm = "fused", .profile = true};
    cnn_session session;
    trainer *t = NULL;
    cnn_network *n =
        build_net("input 1 8 8\nconv 4 kernel=3 pad=1\nrelu\nfc 10\nsoftmax_cross_entropy\n", CNN_F32, CNN_NCHW, BATCH);
    impl = *cnn_impl_cpu();
    table = *impl.trainers;
    table.profile = own_laps;
    impl.trainers = &table;
    assert_in_range(impl.n_algorithms, 1, 64);
    for (int i = 0; i < impl.n_algorithms; i++) {
        rows[i] = impl.algorithms[i];
        if (!profiles) rows[i].flags &= ~(uint32_t)CNN_ALGO_PROFILES;
    }
    impl.algorithms = rows;
    asked = 0;
    memset(out, 0, sizeof *out);
    OK(cnn_session_open(&impl, &open, &session, err));
    OK(cnn_optimizer_parse("sgd", &params.optimizer, err));
    cnn_status status = trainer_open(&session, n, data, &params, &t, why);
    if (status == CNN_OK) OK(trainer_start(t, err));
    for (int epoch = 0; epoch < 2 && status == CNN_OK; epoch++)
        status = trainer_epoch(t, epoch, NULL, &out->result, why);
    if (status == CNN_OK) {
        out->profile = *trainer_profiled(t);
        memcpy(out->rows, out->profile.rows, (size_t)out->profile.count * sizeof *out->rows);
        for (int i = 0; i < out->profile.count; i++)
            out->rows[i].layer = strcpy(out->layers[i], out->profile.rows[i].layer);
    }
    trainer_close(t);
    cnn_net_free(n);
    cnn_session_close(&session);
    return status;
}

static void test_own_trainer(void **state)
{
    static const cnn_trainer_lap right[LAPS] = {{CNN_LAP_IMAGES, CNN_FWD, false, "image", 1e-9},
                                                {0, CNN_BWD_W, false, "weights", 2e-9},
                                                {0, CNN_FWD, true, "forward", 3e-9},
                                                {CNN_LAP_UPDATE, CNN_FWD, false, "sum", 4e-9},
                                                {CNN_LAP_OTHER, CNN_FWD, false, "wait", 5e-9}};
    static outcome out;
    cnn_error why;
    dataset data = small_data(TRAIN, TEST, 1, 8, 8);
    memcpy(laps, right, sizeof laps);
    lap_count = LAPS;
    OK(own_epochs(true, &data, &out, err));
    assert_int_equal(asked, 4); /* before and behind each epoch */
    expect_sum(&out);
    const profile_row *weights = find(&out, "conv1", "BWD_W", "weights");
    assert_true(fabs(weights->seconds - 8e-9) < 1e-15 && weights->calls == TRAIN_STEPS);
    assert_true(weights->flops == 2.0 * TRAIN * 4 * 22 * 22 + TRAIN * 4.0 * 64);
    assert_true(fabs(find(&out, "conv1", "test", "forward")->seconds - 12e-9) < 1e-15);
    assert_true(fabs(find(&out, PROFILE_IMAGES, "", "image")->seconds - 4e-9) < 1e-15);
    assert_true(fabs(find(&out, PROFILE_UPDATE, "", "sum")->seconds - 16e-9) < 1e-15);
    find(&out, PROFILE_OVERHEAD, "", "wait");
    find(&out, PROFILE_OVERHEAD, "", "other");

    laps[1].layer = 4;
    assert_int_equal(own_epochs(true, &data, &out, &why), CNN_INTERNAL);
    assert_message(why, "a lap of layer 4");
    laps[1] = right[1];
    laps[3].seconds = NAN;
    assert_int_equal(own_epochs(true, &data, &out, &why), CNN_INTERNAL);
    assert_message(why, "a lap of nan seconds");
    lap_count = -1;
    assert_int_equal(own_epochs(true, &data, &out, &why), CNN_INTERNAL);
    assert_message(why, "gave -1 laps");
    assert_int_equal(own_epochs(false, &data, &out, &why), CNN_UNSUPPORTED);
    assert_message(why, "cannot be profiled: its steps are one piece");
    dataset_free(&data);
}

static void test_refused(void **state)
{
    cnn_error why;
    trainer *t = NULL;
    cnn_session session;
    const cnn_session_params open = {.threads = 1};
    trainer_params params = {.profile = true};
    cnn_network *n = build_net(net_text, CNN_F32, CNN_NCHW, BATCH);
    static cnn_impl bare;
    bare = *cnn_impl_mock();
    bare.profile = NULL;
    OK(cnn_session_open(&bare, &open, &session, err));
    OK(cnn_optimizer_parse("sgd", &params.optimizer, err));
    dataset data = small_data(TRAIN, TEST, 1, 8, 8);
    assert_int_equal(trainer_open(&session, n, &data, &params, &t, &why), CNN_UNSUPPORTED);
    assert_message(why, "mock");
    assert_message(why, "cannot be profiled");
    cnn_session_close(&session);
    cnn_net_free(n);
    dataset_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_way),   cmocka_unit_test(test_who_is_who),
                                       cmocka_unit_test(test_cpu_phases),  cmocka_unit_test(test_cpu_fused),
                                       cmocka_unit_test(test_own_trainer), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
