/* Counters that live on the device, and what they drive: batches gathered by a cursor, updates by a step. */
#include "cuda_device.h"

/* ---- gather */

/* `calls` batches of `count` rows, each where the cursor stands (or all from the start), against the host's own copy;
 * `shift` moves the rows off the alignment that wide copies need. */
template <typename T> static void gathers(int64_t count, int64_t row, int calls, bool cursor, bool labelled, int shift)
{
    const size_t rows = 37, n = static_cast<size_t>(count), width = static_cast<size_t>(row);
    device d = {};
    open_device(&d, 64, 2);
    std::vector<T> data = values<T>(rows * width + static_cast<size_t>(shift), 7);
    std::vector<int32_t> labels(rows), index(n * static_cast<size_t>(calls));
    for (size_t i = 0; i < rows; i++) labels[i] = static_cast<int32_t>(1000 + i);
    for (size_t i = 0; i < index.size(); i++) index[i] = static_cast<int32_t>(i * 11 % rows);
    cnn_gather_args a = {};
    a.dtype = sizeof(T) == 4 ? CNN_F32 : CNN_F64;
    a.count = count, a.row_elems = row;
    a.rows = put(&d, data) + shift, a.labels = put(&d, labels), a.index = put(&d, index);
    a.y = put(&d, std::vector<T>(n * width));
    if (labelled) a.y_labels = put(&d, std::vector<int32_t>(n));
    if (cursor) a.cursor = put(&d, std::vector<int64_t>(1, 0));
    for (int call = 0; call < calls; call++) {
        cnn_error err;
        assert_int_equal(cuda_gather(base(d), &a, &err), CNN_OK);
        const std::vector<T> y = get(d, static_cast<const T *>(a.y), n * width);
        for (size_t i = 0; i < n; i++) {
            const size_t from = static_cast<size_t>(index[(cursor ? static_cast<size_t>(call) * n : 0) + i]);
            assert_memory_equal(&y[i * width], &data[from * width + static_cast<size_t>(shift)], width * sizeof(T));
            if (labelled && i == n - 1) assert_int_equal(get(d, a.y_labels, n)[i], labels[from]);
        }
        if (cursor) assert_int_equal(get(d, a.cursor, 1)[0], (call + 1) * count);
    }
    close_device(&d);
}

static void batches_are_gathered(void **)
{
    gathers<float>(5, 784, 4, true, true, 0); /* whole packs of 16 bytes, more than a block has threads */
    gathers<float>(5, 7, 3, true, true, 0);   /* rows that are none */
    gathers<float>(9, 8, 1, false, false, 1); /* rows that are, at an address that is not */
    gathers<double>(3, 5, 2, true, false, 0); /* f64 as two words */
    gathers<double>(3, 6, 2, false, true, 0);
    gathers<float>(70001, 1, 2, true, true, 0); /* more rows than the grid has blocks */
}

/* ---- counters */

static cnn_problem sgd(int64_t count, double decay_steps)
{
    cnn_problem p = {};
    p.op = CNN_OP_OPTIMIZER;
    p.u.optimizer.kind = CNN_SGD;
    p.u.optimizer.count = count;
    p.u.optimizer.lr = 1;
    p.u.optimizer.decay_steps = decay_steps;
    return p;
}

/* The rate depends on the step, so a block that saw the counter already moved would write another value. */
static void every_block_sees_the_same_step(void **)
{
    const int64_t first = 3, count = 4099;
    for (const int64_t threads : {32, 1024}) {
        device d = {};
        open_device(&d, threads, 64);
        const cnn_plan plan = plan_of(&d, sgd(count, 16), CNN_FWD);
        float *w = put(&d, std::vector<float>(count, 0));
        int64_t *step = put(&d, std::vector<int64_t>(1, first));
        const cnn_optimizer_args a = {w, put(&d, std::vector<float>(count, 1)), {NULL, NULL}, step, NULL, NULL};
        float expected = 0;
        for (int64_t t = first; t < first + 20; t++) { /* beyond the end of the decay */
            cnn_error err;
            assert_int_equal(cuda_optimizer_step(base(d), &plan, &a, &err), CNN_OK);
            expected -= t < 16 ? static_cast<float>(16 - t) / 16 : 0;
            for (const float value : get(d, w, count)) assert_true(value == expected);
            assert_int_equal(get(d, step, 1)[0], t + 1);
        }
        close_device(&d);
    }
}

static void large_steps_are_counted(void **)
{
    device d = {};
    open_device(&d, 32, 64);
    const cnn_plan plan = plan_of(&d, sgd(3000, 0), CNN_FWD);
    const int64_t large = ((int64_t)1 << 40) - 3;
    int64_t *step = put(&d, std::vector<int64_t>(1, large));
    const cnn_optimizer_args a = {
        put(&d, std::vector<double>(3000)), put(&d, std::vector<double>(3000)), {NULL, NULL}, step, NULL, NULL};
    cnn_plan doubles = plan;
    cnn_error err;
    doubles.problem.u.type.dtype = doubles.problem.u.type.weights = CNN_F64;
    assert_int_equal(cuda_optimizer_step(base(d), &doubles, &a, &err), CNN_OK);
    assert_int_equal(get(d, step, 1)[0], large + 1);
    close_device(&d);
}

/* ---- steps that are left out */

static void upload(const device &d, float *memory, const std::vector<float> &host)
{
    cnn_error err;
    assert_int_equal(cuda_memory.upload(base(d), memory, host.data(), host.size() * sizeof(float), &err), CNN_OK);
}

/* Of one step of several blocks with a dynamic loss scale: the gradient of most weights, that of one of them, and what
 * each weight, its copy in f16 and the scaling are then. */
struct scaled_step {
    float grad, odd;
    size_t at;
    float w;
    uint16_t copy;
    std::vector<double> scaling;
    int64_t step;
};

static void runs_scaled_steps(int64_t threads, bool captured)
{
    const size_t count = 4099;
    const scaled_step steps[] = {
        {8, 8, 0, -1, 0xBC00, {8, 1, 0}, 1},           /* divided by 8 */
        {8, INFINITY, 4098, -1, 0xBC00, {4, 0, 1}, 1}, /* found by another block than that of most weights */
        {8, 8, 0, -3, 0xC200, {4, 1, 1}, 2},           /* nothing is left of that; by 4 */
        {8, 8, 0, -5, 0xC500, {8, 0, 1}, 3},           /* two in a row */
        {8, NAN, 0, -5, 0xC500, {4, 0, 2}, 3},         {8, -INFINITY, 2048, -5, 0xC500, {2, 0, 3}, 3},
        {8, 8, 0, -9, 0xC880, {2, 1, 3}, 4},
    };
    device d = {};
    open_device(&d, threads, 64);
    cnn_problem p = sgd(static_cast<int64_t>(count), 0);
    p.u.type.dtype = CNN_F16;
    p.u.optimizer.growth = 2;
    const cnn_plan plan = plan_of(&d, p, CNN_FWD);
    float *w = put(&d, std::vector<float>(count, 0)), *grad = put(&d, std::vector<float>(count, 0));
    uint16_t *copy = put(&d, std::vector<uint16_t>(count, 0));
    double *scaling = put(&d, std::vector<double>{8, 0, 0});
    int64_t *step = put(&d, std::vector<int64_t>(1, 0));
    const cnn_optimizer_args a = {w, grad, {NULL, NULL}, step, copy, scaling};
    cnn_graph *graph = NULL;
    cnn_error err;
    if (captured) {
        assert_int_equal(cuda_capture.begin(base(d), &err), CNN_OK);
        assert_int_equal(cuda_optimizer_step(base(d), &plan, &a, &err), CNN_OK);
        assert_int_equal(cuda_capture.end(base(d), &graph, &err), CNN_OK);
    }
    for (const scaled_step &s : steps) {
        std::vector<float> gradients(count, s.grad);
        gradients[s.at] = s.odd;
        upload(d, grad, gradients);
        if (captured)
            assert_int_equal(cuda_capture.run(base(d), graph, &err), CNN_OK);
        else
            assert_int_equal(cuda_optimizer_step(base(d), &plan, &a, &err), CNN_OK);
        for (const float value : get(d, w, count)) assert_true(value == s.w);
        for (const uint16_t bits : get(d, copy, count)) assert_int_equal(bits, s.copy);
        assert_true(get(d, scaling, 3) == s.scaling);
        assert_int_equal(get(d, step, 1)[0], s.step);
    }
    if (captured) cuda_capture.free(base(d), graph);
    close_device(&d);
}

static void a_step_is_left_out_as_a_whole(void **)
{
    for (const int64_t threads : {32, 100, 1024}) {
        runs_scaled_steps(threads, false);
        runs_scaled_steps(threads, true);
    }
}

static void without_scaling_and_copy(void **)
{
    device d = {};
    open_device(&d, 32, 64);
    cnn_problem p = sgd(5, 0);
    p.u.type.dtype = CNN_BF16;
    const cnn_plan plan = plan_of(&d, p, CNN_FWD);
    float *w = put(&d, std::vector<float>(5, 0));
    int64_t *step = put(&d, std::vector<int64_t>(1, 0));
    const cnn_optimizer_args a = {w, put(&d, std::vector<float>(5, 3)), {NULL, NULL}, step, NULL, NULL};
    cnn_error err;
    assert_int_equal(cuda_optimizer_step(base(d), &plan, &a, &err), CNN_OK);
    assert_true(get(d, w, 5) == std::vector<float>(5, -3));
    assert_int_equal(get(d, step, 1)[0], 1);
    close_device(&d);
}

/* A step of training in small: gather by the cursor, dropout and update by the step. */
struct small_step {
    cnn_plan dropout, update;
    cnn_gather_args gather;
    cnn_map_fwd_args map;
    cnn_optimizer_args optimizer;
};

static void run_step(const device &d, const small_step &s)
{
    cnn_error err;
    assert_int_equal(cuda_gather(base(d), &s.gather, &err), CNN_OK);
    assert_int_equal(cuda_dropout_fwd(base(d), &s.dropout, &s.map, &err), CNN_OK);
    assert_int_equal(cuda_optimizer_step(base(d), &s.update, &s.optimizer, &err), CNN_OK);
}

/* Weights, step and cursor after `steps`, one by one or as a captured step that is replayed. */
static std::vector<float> weights_after(int steps, bool captured)
{
    const int64_t batch = 3, row = 300;
    const size_t elements = static_cast<size_t>(batch * row);
    device d = {};
    open_device(&d, 64, 2);
    small_step s = {};
    cnn_problem dropout = {};
    dropout.op = CNN_OP_DROPOUT;
    dropout.u.dropout = {{}, 0.4, 11, false, batch, row, 1, 1};
    s.dropout = plan_of(&d, dropout, CNN_FWD);
    s.update = plan_of(&d, sgd(batch * row, 10), CNN_FWD);
    int64_t *step = put(&d, std::vector<int64_t>(1, 0)), *cursor = put(&d, std::vector<int64_t>(1, 0));
    float *x = put(&d, std::vector<float>(elements)), *y = put(&d, std::vector<float>(elements));
    float *w = put(&d, std::vector<float>(elements, 0));
    s.gather = {};
    s.gather.count = batch, s.gather.row_elems = row;
    s.gather.rows = put(&d, values<float>(20 * static_cast<size_t>(row), 1));
    s.gather.index = put(&d, std::vector<int32_t>{4, 0, 9, 19, 7, 7, 1, 2, 3, 12, 11, 10});
    s.gather.y = x, s.gather.cursor = cursor;
    s.map = {x, y, step, NULL};
    s.optimizer = {w, y, {NULL, NULL}, step, NULL, NULL};
    cnn_graph *graph = NULL;
    cnn_error err;
    if (captured) {
        assert_int_equal(cuda_capture.begin(base(d), &err), CNN_OK);
        run_step(d, s);
        assert_int_equal(cuda_capture.end(base(d), &graph, &err), CNN_OK);
    }
    for (int i = 0; i < steps; i++) {
        if (captured)
            assert_int_equal(cuda_capture.run(base(d), graph, &err), CNN_OK);
        else
            run_step(d, s);
    }
    assert_int_equal(get(d, step, 1)[0], steps);
    assert_int_equal(get(d, cursor, 1)[0], steps * batch);
    const std::vector<float> result = get(d, w, elements);
    if (captured) cuda_capture.free(base(d), graph);
    close_device(&d);
    return result;
}

static void captured_steps_move_the_counters_on(void **)
{
    const std::vector<float> once = weights_after(1, false), one_by_one = weights_after(4, false);
    const std::vector<float> replayed = weights_after(4, true);
    assert_memory_equal(one_by_one.data(), replayed.data(), replayed.size() * sizeof(float));
    assert_memory_not_equal(once.data(), replayed.data(), replayed.size() * sizeof(float));
}

int main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_are_gathered),     cmocka_unit_test(every_block_sees_the_same_step),
        cmocka_unit_test(large_steps_are_counted),  cmocka_unit_test(a_step_is_left_out_as_a_whole),
        cmocka_unit_test(without_scaling_and_copy), cmocka_unit_test(captured_steps_move_the_counters_on),
    };
    const int skip = gpu_or_skip();
    return skip != 0 ? skip : cmocka_run_group_tests(tests, NULL, NULL);
}
