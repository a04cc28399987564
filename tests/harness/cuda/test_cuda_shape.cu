/* What impl_cuda_naive may count in 32 bits: sizes at the edge, where no tensor could be allocated to run them. */
#include "impl_cuda_naive/shape.h"
#include "tests/unit.h"

/* mb1ic21474ih1oc100003oh1kh1: 2,147,464,422 weights, and 100,003 biases behind them. */
static cnn_conv_desc many_weights(bool bias)
{
    cnn_conv_desc d = {};
    d.g = d.mb = d.ih = d.iw = d.oh = d.ow = d.kh = d.kw = d.sh = d.sw = 1;
    d.ic = 21474;
    d.oc = 100003;
    d.bias = bias;
    return d;
}

static void the_biases_behind_the_weights_count_too(void **)
{
    const cnn_conv_desc without = many_weights(false), with = many_weights(true);
    assert_true(conv_fits_32(&without, 1));
    assert_false(conv_fits_32(&with, 1));
}

static void who_is_refused_is_sent_to_an_algorithm_that_there_is(void **)
{
    static cuda_context context; /* a refusal asks nothing of it */
    const cnn_conv_desc conv = many_weights(true);
    cnn_fc_desc fc = {};
    cnn_error err;
    fc.mb = fc.ih = fc.iw = 1;
    fc.ic = conv.ic;
    fc.oc = conv.oc;
    fc.bias = true;
    assert_int_equal(naive_bwd_w_v3.check(&context, &conv, &err), CNN_UNSUPPORTED);
    assert_message(err, "use algorithm v2");
    assert_int_equal(naive_fc_tiled[CNN_BWD_W].check(&context, &fc, &err), CNN_UNSUPPORTED);
    assert_message(err, "use algorithm naive");
}

static void parts_of_the_batch_fit_the_workspace_limit(void **)
{
    static cuda_context context;
    cnn_conv_desc d = {};
    d.g = d.sh = d.sw = 1;
    d.mb = 64;
    d.ic = d.oc = d.ih = d.iw = d.oh = d.ow = 32;
    d.kh = d.kw = 3;
    d.ph = d.pw = 1;
    context.knobs[CUDA_KNOB_WORKSPACE_LIMIT] = -1;
    const size_t most = naive_bwd_w_v3.workspace(&context, &d), mib = (size_t)1 << 20;
    assert_true(most > mib);
    context.knobs[CUDA_KNOB_WORKSPACE_LIMIT] = 1;
    const size_t less = naive_bwd_w_v3.workspace(&context, &d);
    assert_true(less > 0 && less <= mib);
    context.knobs[CUDA_KNOB_WORKSPACE_LIMIT] = 0;
    assert_true(naive_bwd_w_v3.workspace(&context, &d) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_biases_behind_the_weights_count_too),
        cmocka_unit_test(parts_of_the_batch_fit_the_workspace_limit),
        cmocka_unit_test(who_is_refused_is_sent_to_an_algorithm_that_there_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
