/* Whole-network gradients: the reference agrees with its own differences; an implementation's wrong ones are caught. */
#include "tests/unit.h"

#include "verify/training/network_pass.h"
#include "verify/verify.h"

#include <math.h>
#include <stdlib.h>

static const char net_text[] = "input 2 9 8\n"
                               "conv 6 kernel=3 pad=1\nbatch_norm\nrelu\nsave a\n"
                               "conv 6 kernel=3 pad=1 groups=2\nadd a\nleaky_relu 0.1\n"
                               "max_pool kernel=2 stride=2\nsave b\n"
                               "conv 4 kernel=1 bias=0\ntanh\nsave c\n"
                               "from b\nconv 3 kernel=1\nconcat c\ndropout 0.2\n"
                               "avg_pool kernel=2 stride=2\nfc 12\nelu 0.5\nfc 5\nsoftmax_cross_entropy\n";

typedef struct outcome {
    int states[2], count;
    char reasons[2][VERIFY_TEXT_MAX], worst[VERIFY_TEXT_MAX];
} outcome;

static void collect(void *user, const verify_result *result)
{
    outcome *o = user;
    if (o->count >= 2) return;
    o->states[o->count] = (int)result->state;
    memcpy(o->reasons[o->count], result->reason, VERIFY_TEXT_MAX);
    memcpy(o->worst, result->worst, VERIFY_TEXT_MAX);
    o->count++;
}

/* The reference's gradients, spoilt in element `spoil` of the flat vector (-1: not at all); or those of the other side
 * of all kinks within `tilt`, as rounding may lead there. */
typedef struct spoiler {
    int64_t spoil;
    double by, tilt;
} spoiler;

static cnn_status spoilt_gradient(void *user, const cnn_net *net, const double *params, const double *images,
                                  const int32_t *labels, double *grads, cnn_error *err)
{
    const spoiler *s = user;
    vf_pass pass;
    double loss;
    cnn_status status = vf_pass_open(&pass, net, NULL, err);
    if (status != CNN_OK) return status;
    status = vf_pass_forward(&pass, params, images, labels, &loss, NULL, err);
    if (status == CNN_OK && s->tilt > 0.0) vf_pass_tilt(&pass, s->tilt);
    if (status == CNN_OK) status = vf_pass_backward(&pass, grads, err);
    if (s->spoil >= 0) grads[s->spoil] += s->by;
    vf_pass_close(&pass);
    return status;
}

static outcome ask_batch(int64_t batch, uint64_t seed, cnn_dtype dtype, cnn_layout layout, spoiler s)
{
    const cnn_type type = {dtype, dtype, layout, CNN_MATH_F32};
    const verify_options options = {.checks = ~0u, .seed = seed, .reference_threads = 2};
    cnn_network *network;
    cnn_error err = {.message = ""};
    outcome o = {.count = 0};
    if (cnn_net_build("test", net_text, &type, batch, 1, &network, &err) != CNN_OK) fail_msg("%s", err.message);
    assert_int_equal(verify_net(&network->net, &options, spoilt_gradient, &s, collect, &o, &err), CNN_OK);
    cnn_net_free(network);
    assert_int_equal(o.count, 2);
    return o;
}

static outcome ask(cnn_dtype dtype, cnn_layout layout, spoiler s) { return ask_batch(3, 11, dtype, layout, s); }

static void right_gradients_pass(void **state)
{
    for (int i = 0; i < 4; i++) {
        outcome o = ask((cnn_dtype)(i / 2), (cnn_layout)(i % 2), (spoiler){-1, 0.0, 0.0});
        if (o.states[0] != VERIFY_PASSED) fail_msg("differences: %s", o.reasons[0]);
        if (o.states[1] != VERIFY_PASSED) fail_msg("gradient: %s %s", o.reasons[1], o.worst);
    }
}

static void wrong_gradients_fail(void **state)
{
    assert_int_equal(ask(CNN_F32, CNN_NCHW, (spoiler){0, 0.01, 0.0}).states[1], VERIFY_FAILED);
    assert_int_equal(ask(CNN_F64, CNN_NCHW, (spoiler){0, 1e-8, 0.0}).states[1], VERIFY_FAILED);
    assert_int_equal(ask(CNN_F32, CNN_NCHW, (spoiler){0, NAN, 0.0}).states[1], VERIFY_FAILED);
    assert_int_equal(ask(CNN_F32, CNN_NCHW, (spoiler){5, INFINITY, 0.0}).states[1], VERIFY_FAILED);
}

/* Of these seeds the first draw has values within eight units in the last place of a kink. */
static const uint64_t seeds[] = {36, 57, 60};

static void gradients_from_the_other_side(double units, int state)
{
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
        const outcome o = ask_batch(60, seeds[i], CNN_F32, CNN_NCHW, (spoiler){-1, 0.0, units * 0x1p-24});
        if (o.states[1] != state) fail_msg("seed %d: %s %s", (int)seeds[i], o.reasons[1], o.worst);
    }
}

/* What rounding decides is nobody's fault. */
static void values_beside_kinks_pass(void **state) { gradients_from_the_other_side(8.0, VERIFY_PASSED); }

static void data_keep_clear_of_kinks(void **state)
{
    gradients_from_the_other_side(63.0, VERIFY_PASSED);
    gradients_from_the_other_side(2000.0, VERIFY_FAILED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_gradients_pass),
        cmocka_unit_test(wrong_gradients_fail),
        cmocka_unit_test(values_beside_kinks_pass),
        cmocka_unit_test(data_keep_clear_of_kinks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
