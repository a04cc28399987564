/* test_fused_laps.c: where cuda_fused says its time goes: of clocks, and of an epoch. */
#include "impl_cuda_fused/fused.h"
#include "tests/harness/net/net_unit.h"

#include <math.h>

enum { TRAIN = 14, TEST = 6, BATCH = 4 };

const cnn_impl *cnn_impl_cuda_fused(void);

/* Shares of the nanoseconds are shares of the clocks. */
static void clocks_become_seconds(void **state)
{
    static unsigned long long numbers[2 * FUSED_LAPS];
    static cnn_trainer_lap list[FUSED_LAPS_MOST];
    fused_net net = {.n_stages = 2, .layers = {0, 3}, .loss = 5};
    numbers[FUSED_LAP_LOSS] = 100;
    numbers[FUSED_LAP_STAGES + FUSED_LAPS_A_STAGE + FUSED_LAP_WEIGHTS] = 300;
    numbers[FUSED_LAPS_NS] = 8000;
    numbers[FUSED_LAPS + FUSED_LAP_STAGES + FUSED_LAP_FORWARD] = 7;
    numbers[FUSED_LAPS + FUSED_LAPS_NS] = 1000;
    assert_int_equal(fused_laps_read(&net, numbers, list), 3);
    assert_true(list[0].layer == 5 && !list[0].test && fabs(list[0].seconds - 2e-6) < 1e-15);
    assert_true(list[1].layer == 3 && list[1].dir == CNN_BWD_W && fabs(list[1].seconds - 6e-6) < 1e-15);
    assert_true(list[2].layer == 0 && list[2].test && fabs(list[2].seconds - 1e-6) < 1e-15);
    assert_string_equal(list[2].phase, "forward");
}

static double seconds_of(const epoch_profile *p, const char *layer, const char *pass)
{
    for (int i = 0; i < p->count; i++)
        if (strcmp(p->rows[i].layer, layer) == 0 && strcmp(p->rows[i].pass, pass) == 0) return p->rows[i].seconds;
    fail_msg("no row of %s %s", layer, pass);
    return 0.0;
}

static void train(const cnn_session *session, const cnn_network *network, const dataset *data, bool profile,
                  double *params)
{
    trainer_params way = {.algorithm = "v3", .seed = 3, .profile = profile};
    trainer_result result;
    trainer *t = NULL;
    OK(cnn_optimizer_parse("adam,lr=0.01", &way.optimizer, err));
    OK(trainer_open(session, network, data, &way, &t, err));
    OK(trainer_start(t, err));
    for (int epoch = 0; epoch < 2; epoch++) OK(trainer_epoch(t, epoch, NULL, &result, err));
    OK(trainer_get_params(t, params, err));
    const epoch_profile *p = trainer_profiled(t);
    assert_true((p != NULL) == profile);
    for (int l = 0; l < network->net.n_layers && profile; l++) {
        const cnn_layer *layer = &network->net.layers[l];
        const cnn_op op = layer->problem.op;
        if (op == CNN_OP_ACT || op == CNN_OP_DROPOUT) continue; /* part of the layer before it */
        assert_true(seconds_of(p, layer->name, "FWD") > 0.0 && seconds_of(p, layer->name, "test") > 0.0);
        if (op == CNN_OP_CONV || op == CNN_OP_FC) assert_true(seconds_of(p, layer->name, "BWD_W") > 0.0);
        if (l > 0 && op != CNN_OP_LOSS) assert_true(seconds_of(p, layer->name, "BWD_D") > 0.0);
    }
    for (int i = 0; i < 3 && profile; i++)
        assert_true(seconds_of(p, ((const char *[]){"images", "update", "overhead"})[i], "") > 0.0);
    trainer_close(t);
}

/* All layers have laps, and the weights are the same bits. */
static void an_epoch_has_laps(void **state)
{
    const cnn_type type = {CNN_F32, CNN_F32, CNN_NCHW, CNN_MATH_F32};
    const cnn_session_params open = {.threads = 1};
    static double plain[1 << 14], profiled[1 << 14];
    cnn_network *network = NULL;
    cnn_session session;
    OK(cnn_net_load("small", &type, BATCH, 1, &network, err));
    OK(cnn_session_open(cnn_impl_cuda_fused(), &open, &session, err));
    assert_in_range(network->net.param_elems, 1, 1 << 14);
    dataset data = small_data(TRAIN, TEST, (int)network->net.values[0].c, (int)network->net.values[0].h,
                              (int)network->net.values[0].w);
    train(&session, network, &data, false, plain);
    train(&session, network, &data, true, profiled);
    assert_memory_equal(plain, profiled, sizeof plain);
    dataset_free(&data);
    cnn_session_close(&session);
    cnn_net_free(network);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(clocks_become_seconds), cmocka_unit_test(an_epoch_has_laps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
