/* What `benchcnn verify` does not reach of the pointwise operations: totals that are added to, outputs left out,
 * results that no knob may change, the gate. */
#include "cuda_device.h"
#include "harness/cuda/bias.h"

struct totals {
    double loss;
    int64_t correct;
    std::vector<float> y;
};

/* Two calls on the same totals, then one without any. */
static totals losses(int64_t rows, int64_t classes, int64_t threads, int64_t blocks)
{
    const size_t elements = static_cast<size_t>(rows * classes);
    device d = {};
    open_device(&d, threads, blocks);
    cnn_problem p = {};
    p.op = CNN_OP_LOSS;
    p.u.loss = {{}, CNN_LOSS_CROSS_ENTROPY, rows, classes};
    const cnn_plan plan = plan_of(&d, p, CNN_FWD);
    std::vector<float> x = values<float>(elements, 3);
    std::vector<int32_t> labels(static_cast<size_t>(rows));
    for (size_t i = 0; i < labels.size(); i++) { /* even rows: a tie of the label with the last class; odd rows: lost */
        labels[i] = static_cast<int32_t>(i % static_cast<size_t>(classes - 1));
        x[i * static_cast<size_t>(classes) + static_cast<size_t>(classes) - 1] = 5;
        if (i % 2 == 0) x[i * static_cast<size_t>(classes) + static_cast<size_t>(labels[i])] = 5;
    }
    cnn_loss_args a = {};
    a.x = put(&d, x);
    a.labels = put(&d, labels);
    a.y = put(&d, std::vector<float>(elements));
    a.loss_sum = put(&d, std::vector<double>(1, 1000));
    a.correct = put(&d, std::vector<int64_t>(1, 7));
    a.workspace = workspace_for(&d, plan);
    cnn_loss_args none = a;
    none.loss_sum = NULL;
    none.correct = NULL;
    cnn_error err;
    for (int i = 0; i < 2; i++) assert_int_equal(cuda_loss_fwd(base(d), &plan, &a, &err), CNN_OK);
    assert_int_equal(cuda_loss_fwd(base(d), &plan, &none, &err), CNN_OK);
    const totals t = {get(d, a.loss_sum, 1)[0], get(d, a.correct, 1)[0],
                      get(d, static_cast<const float *>(a.y), elements)};
    close_device(&d);
    double expected = 0;
    for (size_t i = 0; i < labels.size(); i++) {
        double sum = 0;
        const float *row = &x[i * static_cast<size_t>(classes)];
        for (int64_t k = 0; k < classes; k++) sum += exp(static_cast<double>(row[k]) - 5);
        expected += log(sum) - (static_cast<double>(row[labels[i]]) - 5);
    }
    assert_true(fabs(t.loss - (1000 + 2 * expected)) <= 1e-12 * t.loss);
    assert_int_equal(t.correct, 7 + 2 * ((rows + 1) / 2));
    return t;
}

static void losses_are_added_up_and_no_knob_changes_them(void **)
{
    const int64_t shapes[][2] = {{1, 2}, {5, 10}, {70, 33}, {300, 10}, {1500, 10}, {2100, 100}, {3, 1000}};
    for (const int64_t *shape : shapes) {
        const totals a = losses(shape[0], shape[1], 32, 1), b = losses(shape[0], shape[1], 1024, 64);
        assert_true(a.loss == b.loss);
        assert_memory_equal(a.y.data(), b.y.data(), a.y.size() * sizeof(float));
    }
}

static void a_row_of_nan_is_no_hit(void **)
{
    device d = {};
    open_device(&d, 32, 1);
    cnn_problem p = {};
    p.op = CNN_OP_LOSS;
    p.u.loss = {{}, CNN_LOSS_CROSS_ENTROPY, 3, 4};
    const cnn_plan plan = plan_of(&d, p, CNN_FWD);
    std::vector<float> x(12, 0.0f);
    for (size_t i = 0; i < 8; i++) x[i] = NAN;
    x[9] = 1;
    cnn_loss_args a = {};
    a.x = put(&d, x);
    a.labels = put(&d, std::vector<int32_t>{0, 3, 1});
    a.y = put(&d, std::vector<float>(12));
    a.correct = put(&d, std::vector<int64_t>(1, 0));
    cnn_error err;
    assert_int_equal(cuda_loss_fwd(base(d), &plan, &a, &err), CNN_OK);
    assert_int_equal(get(d, a.correct, 1)[0], 1);
    close_device(&d);
}

/* The bias's gradient of small integers, which is exact in any order, added to 1. */
static void bias_gradient(cnn_layout layout, int64_t mb, int64_t channels, int64_t pixels, int threads, int parts)
{
    device d = {};
    open_device(&d, 256, 8);
    const cuda_bias bias = {{CNN_F32, CNN_F32, layout, CNN_MATH_F32}, mb, channels, pixels, threads, parts, d.c->knobs};
    std::vector<float> dy(static_cast<size_t>(mb * channels * pixels)), db(static_cast<size_t>(channels), 1);
    std::vector<double> expected(db.size(), 1);
    for (size_t i = 0; i < dy.size(); i++) {
        dy[i] = static_cast<float>(static_cast<int>(i % 7) - 2);
        const size_t c = layout == CNN_NHWC ? i % db.size() : i / static_cast<size_t>(pixels) % db.size();
        expected[c] += static_cast<double>(dy[i]);
    }
    float *out = put(&d, db);
    cnn_error err;
    for (int i = 0; i < 2; i++) /* the second finds what the first has left of its counters */
        assert_int_equal(cuda_bias_gradient(d.c, &bias, put(&d, dy), out, i == 0 ? 1 : 0, &err), CNN_OK);
    const std::vector<float> result = get(d, out, db.size());
    for (size_t c = 0; c < db.size(); c++) assert_true(static_cast<double>(result[c]) == expected[c] - 1);
    close_device(&d);
}

static void bias_gradients_at_every_setting(void **)
{
    const int settings[][2] = {{32, 1}, {64, 3}, {256, 256}, {1024, 32}};
    for (const int *s : settings) {
        bias_gradient(CNN_NCHW, 37, 3, 1001, s[0], s[1]);
        bias_gradient(CNN_NCHW, 200, 2, 500, s[0], s[1]);
        bias_gradient(CNN_NCHW, 5, 40, 1, s[0], s[1]);
        bias_gradient(CNN_NHWC, 3, 70, 33, s[0], s[1]);
    }
}

/* Images far from zero, so large that blocks share a channel: the mean must keep more digits than an f32 has. */
enum { MB = 9, CHANNELS = 5, HEIGHT = 43, WIDTH = 47, ELEMENTS = MB * CHANNELS * HEIGHT * WIDTH };

static std::vector<float> far_from_zero()
{
    std::vector<float> x = values<float>(ELEMENTS, 5);
    for (float &value : x) value += 10000.3f;
    return x;
}

static std::vector<float> normalised(cnn_layout layout, int64_t threads, int64_t blocks)
{
    device d = {};
    open_device(&d, threads, blocks);
    cnn_problem p = {};
    p.op = CNN_OP_BATCHNORM;
    p.u.batchnorm = {{CNN_F32, CNN_F32, layout, CNN_MATH_F32}, 1e-5, 0.1, false, MB, CHANNELS, HEIGHT, WIDTH};
    const cnn_plan plan = plan_of(&d, p, CNN_FWD);
    float *y = put(&d, std::vector<float>(ELEMENTS));
    cnn_batchnorm_args a = {};
    a.x = put(&d, far_from_zero());
    a.gamma = put(&d, std::vector<float>(CHANNELS, 1));
    a.beta = put(&d, std::vector<float>(CHANNELS, 0));
    a.y = y;
    a.running_mean = put(&d, std::vector<float>(CHANNELS, 0));
    a.running_var = put(&d, std::vector<float>(CHANNELS, 1));
    a.save_mean = put(&d, std::vector<float>(CHANNELS));
    a.save_invstd = put(&d, std::vector<float>(CHANNELS));
    a.workspace = workspace_for(&d, plan);
    cnn_error err;
    assert_int_equal(cuda_batchnorm(base(d), &plan, &a, &err), CNN_OK);
    const std::vector<float> result = get(d, y, ELEMENTS);
    close_device(&d);
    return result;
}

static size_t channel_of(cnn_layout layout, size_t i)
{
    return layout == CNN_NHWC ? i % CHANNELS : i / (HEIGHT * WIDTH) % CHANNELS;
}

static void batch_norm_keeps_its_digits_and_no_knob_changes_it(void **)
{
    const std::vector<float> x = far_from_zero();
    for (const cnn_layout layout : {CNN_NCHW, CNN_NHWC}) {
        const std::vector<float> y = normalised(layout, 32, 1), again = normalised(layout, 1000, 64);
        double mean[CHANNELS] = {0}, var[CHANNELS] = {0};
        assert_memory_equal(y.data(), again.data(), y.size() * sizeof(float));
        for (size_t i = 0; i < x.size(); i++) mean[channel_of(layout, i)] += static_cast<double>(x[i]);
        for (double &m : mean) m /= ELEMENTS / CHANNELS;
        for (size_t i = 0; i < x.size(); i++) {
            const double d = static_cast<double>(x[i]) - mean[channel_of(layout, i)];
            var[channel_of(layout, i)] += d * d / (ELEMENTS / CHANNELS);
        }
        for (size_t i = 0; i < x.size(); i++) {
            const size_t c = channel_of(layout, i);
            const double expected = (static_cast<double>(x[i]) - mean[c]) / sqrt(var[c] + 1e-5);
            assert_true(fabs(static_cast<double>(y[i]) - expected) < 1e-6);
        }
    }
}

static void gradients_nobody_wants_are_left_out(void **)
{
    device d = {};
    open_device(&d, 64, 2);
    cnn_problem p = {};
    p.op = CNN_OP_CONCAT;
    p.u.concat = {{}, 2, 1, 2, 3, {1, 2, 3}};
    const cnn_plan plan = plan_of(&d, p, CNN_BWD_D);
    std::vector<float> dy(24);
    for (size_t i = 0; i < dy.size(); i++) dy[i] = static_cast<float>(i);
    float *dx0 = put(&d, std::vector<float>(4)), *dx2 = put(&d, std::vector<float>(12));
    const cnn_split_args a = {put(&d, dy), {dx0, NULL, dx2}};
    cnn_error err;
    assert_int_equal(cuda_concat_bwd(base(d), &plan, &a, &err), CNN_OK);
    assert_true(get(d, dx0, 4) == (std::vector<float>{0, 1, 12, 13}));
    assert_true(get(d, dx2, 12) == (std::vector<float>{6, 7, 8, 9, 10, 11, 18, 19, 20, 21, 22, 23}));
    close_device(&d);
}

/* y - t, times 2 and the loss scale, in f16. */
static void the_loss_scale_is_on_the_device(void **)
{
    device d = {};
    open_device(&d, 32, 2);
    cnn_problem p = {};
    p.op = CNN_OP_LOSS;
    p.u.loss.t.dtype = CNN_F16;
    p.u.loss.kind = CNN_LOSS_CROSS_ENTROPY;
    p.u.loss.mb = 1, p.u.loss.ic = 3;
    const cnn_plan plan = plan_of(&d, p, CNN_BWD_D);
    uint16_t *dx = put(&d, std::vector<uint16_t>(3));
    cnn_loss_args a = {};
    a.y = put(&d, std::vector<float>{0.25f, 0.5f, 0.25f}), a.dx = dx;
    a.labels = put(&d, std::vector<int32_t>{1}), a.scale = 2;
    cnn_error err;
    assert_int_equal(cuda_loss_bwd(base(d), &plan, &a, &err), CNN_OK);
    assert_true(get(d, dx, 3) == (std::vector<uint16_t>{0x3800, 0xBC00, 0x3800})); /* 0.5, -1, 0.5 */
    a.loss_scale = put(&d, std::vector<double>{8});
    assert_int_equal(cuda_loss_bwd(base(d), &plan, &a, &err), CNN_OK);
    assert_true(get(d, dx, 3) == (std::vector<uint16_t>{0x4400, 0xC800, 0x4400})); /* 4, -8, 4 */
    close_device(&d);
}

static void the_gate_knows_the_arithmetic(void **)
{
    static const bool allowed[CNN_DTYPE_COUNT][CNN_MATH_COUNT] = {{true, true, false, false},
                                                                  {true, false, false, false},
                                                                  {true, false, false, false},
                                                                  {true, false, false, false}};
    cnn_problem p = {};
    for (int dtype = 0; dtype < CNN_DTYPE_COUNT; dtype++) {
        for (int math = 0; math < CNN_MATH_COUNT; math++) {
            cnn_error err;
            const cnn_request request = {&p, CNN_FWD, NULL, NULL};
            p.u.type = {static_cast<cnn_dtype>(dtype), static_cast<cnn_dtype>(dtype), CNN_NHWC,
                        static_cast<cnn_math>(math)};
            const cnn_status status = allowed[dtype][math] ? CNN_OK : CNN_UNSUPPORTED;
            const bool half = dtype == CNN_F16 || dtype == CNN_BF16; /* statistics are not kept in them, but in f32 */
            p.op = CNN_OP_ADD;
            assert_int_equal(cuda_pointwise_supports(&request, &err), status);
            p.op = CNN_OP_BATCHNORM;
            assert_int_equal(cuda_pointwise_supports(&request, &err), half ? CNN_UNSUPPORTED : status);
            p.u.type = cnn_type_for(p.op, p.u.type);
            assert_int_equal(cuda_pointwise_supports(&request, &err), status);
        }
    }
}

int main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(losses_are_added_up_and_no_knob_changes_them),
        cmocka_unit_test(a_row_of_nan_is_no_hit),
        cmocka_unit_test(bias_gradients_at_every_setting),
        cmocka_unit_test(batch_norm_keeps_its_digits_and_no_knob_changes_it),
        cmocka_unit_test(gradients_nobody_wants_are_left_out),
        cmocka_unit_test(the_loss_scale_is_on_the_device),
        cmocka_unit_test(the_gate_knows_the_arithmetic),
    };
    const int skip = gpu_or_skip();
    return skip != 0 ? skip : cmocka_run_group_tests(tests, NULL, NULL);
}
