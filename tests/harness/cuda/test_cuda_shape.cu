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

static cnn_status fit(const naive_kernel &kernel, const cnn_problem &problem, int64_t limit_mib, naive_launch *launch,
                      cnn_error *err)
{
    static const cuda_context context = {}; /* is asked nothing */
    int64_t knobs[NAIVE_KNOB_COUNT] = {};
    const cnn_request request = {&problem, CNN_BWD_W, NULL, knobs};
    knobs[CUDA_KNOB_WORKSPACE_LIMIT] = limit_mib;
    *launch = {};
    launch->kernel = kernel.name;
    return kernel.fit(&context, &request, launch, err);
}

static void who_is_refused_is_sent_to_an_algorithm_that_there_is(void **)
{
    cnn_problem conv = {}, fc = {};
    naive_launch launch;
    cnn_error err;
    conv.u.conv = many_weights(true);
    fc.u.fc.mb = fc.u.fc.ih = fc.u.fc.iw = 1;
    fc.u.fc.ic = conv.u.conv.ic;
    fc.u.fc.oc = conv.u.conv.oc;
    fc.u.fc.bias = true;
    assert_int_equal(fit(naive_bwd_w_v3, conv, 0, &launch, &err), CNN_UNSUPPORTED);
    assert_message(err, "use algorithm v2");
    assert_int_equal(fit(naive_fc_tiled_bwd_weights, fc, 0, &launch, &err), CNN_UNSUPPORTED);
    assert_message(err, "use algorithm naive");
}

static size_t workspace_within(int64_t limit_mib)
{
    cnn_problem p = {};
    cnn_conv_desc *d = &p.u.conv;
    naive_launch launch;
    cnn_error err;
    d->g = d->sh = d->sw = 1;
    d->mb = 64;
    d->ic = d->oc = d->ih = d->iw = d->oh = d->ow = 32;
    d->kh = d->kw = 3;
    d->ph = d->pw = 1;
    assert_int_equal(fit(naive_bwd_w_v3, p, limit_mib, &launch, &err), CNN_OK);
    return launch.workspace_bytes;
}

static void parts_of_the_batch_fit_the_workspace_limit(void **)
{
    const size_t mib = (size_t)1 << 20, less = workspace_within(1);
    assert_true(workspace_within(-1) > mib);
    assert_true(less > 0 && less <= mib);
    assert_true(workspace_within(0) == 0);
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
