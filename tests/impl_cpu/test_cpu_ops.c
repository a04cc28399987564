/* test_cpu_ops.c: impl_cpu's elementwise operations, loss and data movement against formulas in double. */
#include "cpu_ops.h"

/* ---- Activations ---------------------------------------------------------------------------------------------------
 */

static double act_value(cnn_act_kind kind, double alpha, double x)
{
    switch (kind) {
    case CNN_ACT_RELU:
        return x > 0 ? x : 0;
    case CNN_ACT_LEAKY_RELU:
        return x > 0 ? x : alpha * x;
    case CNN_ACT_CLIPPED_RELU:
        return x > 0 ? (x < alpha ? x : alpha) : 0;
    case CNN_ACT_ELU:
        return x > 0 ? x : alpha * expm1(x);
    case CNN_ACT_SIGMOID:
        return x > 0 ? 1 / (1 + exp(-x)) : exp(x) / (1 + exp(x));
    case CNN_ACT_TANH:
        return tanh(x);
    case CNN_ACT_SELU:
        return CNN_SELU_SCALE * (x > 0 ? x : CNN_SELU_ALPHA * expm1(x));
    case CNN_ACT_SCALE:
        return alpha * x;
    default:
        return x;
    }
}

static double act_slope(cnn_act_kind kind, double alpha, double x)
{
    switch (kind) {
    case CNN_ACT_RELU:
        return x > 0;
    case CNN_ACT_LEAKY_RELU:
        return x > 0 ? 1 : alpha;
    case CNN_ACT_CLIPPED_RELU:
        return x > 0 && x < alpha;
    case CNN_ACT_ELU:
        return x > 0 ? 1 : alpha * exp(x);
    case CNN_ACT_SIGMOID:
        return act_value(kind, 0, x) * act_value(kind, 0, -x);
    case CNN_ACT_SELU:
        return CNN_SELU_SCALE * (x > 0 ? 1 : CNN_SELU_ALPHA * exp(x));
    case CNN_ACT_SCALE:
        return alpha;
    case CNN_ACT_TANH:
        return 1 / (cosh(x) * cosh(x));
    default:
        return 1;
    }
}

static const double act_alphas[CNN_ACT_COUNT] = {
    [CNN_ACT_LEAKY_RELU] = 0.01, [CNN_ACT_CLIPPED_RELU] = 1.5, [CNN_ACT_ELU] = 0.5, [CNN_ACT_SCALE] = 0.3};

static cnn_plan act_plan(cnn_act_kind kind, cnn_type type)
{
    cnn_plan plan = {.problem.op = CNN_OP_ACT};
    plan.problem.u.act =
        (cnn_act_desc){.t = type, .kind = kind, .alpha = act_alphas[kind], .mb = 3, .ic = 19, .ih = 40, .iw = 41};
    return plan;
}
enum { ACT_COUNT = 3 * 19 * 40 * 41 };

/* Random values, and where it matters most: both sides of the kinks, and far out, where exp() would overflow. */
static vec act_input(cnn_dtype dtype)
{
    static const double special[] = {0, -0.0, 1.5, 1e-30, -1e-30, 1000, -1000, 88, -88, 40, -40, 1e-4, -1e-4};
    vec x = vec_random(dtype, ACT_COUNT, 11, -6, 6);
    for (int i = 0; i < (int)(sizeof special / sizeof *special); i++) vec_set(&x, 100 + i, special[i]);
    return x;
}

static void check_activation(void **state, cnn_act_kind kind, cnn_type type)
{
    const cnn_plan plan = act_plan(kind, type);
    const double alpha = type.dtype == CNN_F32 ? (double)(float)act_alphas[kind] : act_alphas[kind];
    vec x = act_input(type.dtype), dy = vec_random(type.dtype, ACT_COUNT, 12, -1, 1);
    vec y = vec_new(type.dtype, ACT_COUNT), dx = vec_new(type.dtype, ACT_COUNT), dx_from_y = dx;
    dx_from_y = vec_new(type.dtype, ACT_COUNT);
    cnn_error err;
    EACH_CONTEXT(v)
    {
        vec_poison(&y), vec_poison(&dx), vec_poison(&dx_from_y);
        const cnn_map_fwd_args fwd = {.x = x.data, .y = y.data};
        const cnn_map_bwd_args bwd = {.x = x.data, .y = y.data, .dy = dy.data, .dx = dx.data};
        const cnn_map_bwd_args bwd_from_y = {.y = y.data, .dy = dy.data, .dx = dx_from_y.data};
        assert_int_equal(cpu_act_fwd(CONTEXT(v), &plan, &fwd, &err), CNN_OK);
        assert_int_equal(cpu_act_bwd(CONTEXT(v), &plan, &bwd, &err), CNN_OK);
        assert_int_equal(cpu_act_bwd(CONTEXT(v), &plan, &bwd_from_y, &err), CNN_OK);
        vec_same_bits(&y, v), vec_same_bits(&dx, v), vec_same_bits(&dx_from_y, v);
    }
    for (int64_t i = 0; i < ACT_COUNT; i++) {
        const double at = vec_get(&x, i), g = vec_get(&dy, i), want = act_value(kind, alpha, at);
        const double slope = act_slope(kind, alpha, at), tiny = type.dtype == CNN_F32 ? 1e-30 : 0;
        assert_near(&y, i, want, fabs(want) + tiny, 6);
        /* relative, but for the rounding of x in exp(-2|x|) */
        assert_near(&dx, i, slope * g, slope * fabs(g) * (1 + fabs(at)) + tiny, 8);
        assert_near(&dx_from_y, i, slope * g, fabs(g), 8);
    }
    vec_free(&x), vec_free(&y), vec_free(&dy), vec_free(&dx), vec_free(&dx_from_y);
}

static void activations_agree_with_their_formulas(void **state)
{
    EACH_TYPE(dtype, layout)
    for (cnn_act_kind kind = 0; kind < CNN_ACT_COUNT; kind++) check_activation(state, kind, type_of(dtype, layout));
}

static void activations_in_place(void **state)
{
    EACH_TYPE(dtype, layout)
    for (cnn_act_kind kind = 0; kind < CNN_ACT_COUNT; kind++) {
        const cnn_plan plan = act_plan(kind, type_of(dtype, layout));
        vec x = act_input(dtype), y = vec_new(dtype, ACT_COUNT), dx = vec_new(dtype, ACT_COUNT);
        vec g = vec_random(dtype, ACT_COUNT, 12, -1, 1);
        cnn_error err;
        cpu_act_fwd(CONTEXT(0), &plan, &(cnn_map_fwd_args){.x = x.data, .y = y.data}, &err);
        cpu_act_fwd(CONTEXT(0), &plan, &(cnn_map_fwd_args){.x = x.data, .y = x.data}, &err);
        assert_memory_equal(x.data, y.data, y.bytes);
        cpu_act_bwd(CONTEXT(0), &plan, &(cnn_map_bwd_args){.y = y.data, .dy = g.data, .dx = dx.data}, &err);
        cpu_act_bwd(CONTEXT(0), &plan, &(cnn_map_bwd_args){.y = y.data, .dy = g.data, .dx = g.data}, &err);
        assert_memory_equal(g.data, dx.data, dx.bytes);
        vec_free(&x), vec_free(&y), vec_free(&dx), vec_free(&g);
    }
}

static void activations_let_nan_through(void **state)
{
    EACH_TYPE(dtype, layout)
    for (cnn_act_kind kind = 0; kind < CNN_ACT_COUNT; kind++) EACH_CONTEXT(v)
        {
            const cnn_plan plan = act_plan(kind, type_of(dtype, layout));
            vec x = vec_random(dtype, ACT_COUNT, 5, -1, 1), y = vec_new(dtype, ACT_COUNT);
            vec_set(&x, 77, NAN);
            cnn_error err;
            cpu_act_fwd(CONTEXT(v), &plan, &(cnn_map_fwd_args){.x = x.data, .y = y.data}, &err);
            assert_true(isnan(vec_get(&y, 77)));
            assert_false(isnan(vec_get(&y, 78)));
            vec_free(&x), vec_free(&y);
        }
}

/* ---- Dropout -------------------------------------------------------------------------------------------------------
 */

static cnn_plan dropout_plan(cnn_type type, double rate, bool inference)
{
    cnn_plan plan = {.problem.op = CNN_OP_DROPOUT};
    plan.problem.u.dropout = (cnn_dropout_desc){
        .t = type, .rate = rate, .seed = 42, .inference = inference, .mb = 4, .ic = 13, .ih = 30, .iw = 31};
    return plan;
}
enum { DROPOUT_COUNT = 4 * 13 * 30 * 31 };

static void dropout_keeps_what_the_draw_says(void **state)
{
    static const double rates[] = {0, 0.2, 0.55, 0.999};
    EACH_TYPE(dtype, layout)
    for (int r = 0; r < 4; r++) {
        const double rate = rates[r];
        const cnn_plan plan = dropout_plan(type_of(dtype, layout), rate, false);
        const int64_t step = 1000003;
        vec x = vec_random(dtype, DROPOUT_COUNT, 1, 1, 2), y = vec_new(dtype, DROPOUT_COUNT);
        vec dy = vec_random(dtype, DROPOUT_COUNT, 2, 1, 2), dx = vec_new(dtype, DROPOUT_COUNT);
        cnn_error err;
        EACH_CONTEXT(v)
        {
            vec_poison(&y), vec_poison(&dx);
            cpu_dropout_fwd(CONTEXT(v), &plan, &(cnn_map_fwd_args){.x = x.data, .y = y.data, .step = &step}, &err);
            cpu_dropout_bwd(CONTEXT(v), &plan, &(cnn_map_bwd_args){.dy = dy.data, .dx = dx.data, .step = &step}, &err);
            vec_same_bits(&y, v), vec_same_bits(&dx, v);
        }
        int64_t dropped = 0;
        for (int64_t i = 0; i < DROPOUT_COUNT; i++) {
            const double scale = cnn_dropout_keep(42, step, i, rate) ? 1 / (1 - rate) : 0;
            assert_near(&y, i, vec_get(&x, i) * scale, 2 * scale, rate == 0 ? 0 : 3);
            assert_near(&dx, i, vec_get(&dy, i) * scale, 2 * scale, rate == 0 ? 0 : 3);
            dropped += vec_get(&y, i) == 0;
        }
        const double expected = rate * DROPOUT_COUNT, sigma = sqrt(expected * (1 - rate));
        assert_true(fabs((double)dropped - expected) <= 5 * sigma);
        vec_free(&x), vec_free(&y), vec_free(&dy), vec_free(&dx);
    }
}

static void dropout_in_inference_is_the_identity(void **state)
{
    EACH_TYPE(dtype, layout)
    EACH_CONTEXT(v)
    {
        const cnn_plan plan = dropout_plan(type_of(dtype, layout), 0.5, true);
        vec x = vec_random(dtype, DROPOUT_COUNT, 1, 1, 2), y = vec_new(dtype, DROPOUT_COUNT);
        cnn_error err;
        cpu_dropout_fwd(CONTEXT(v), &plan, &(cnn_map_fwd_args){.x = x.data, .y = y.data}, &err);
        assert_memory_equal(x.data, y.data, y.bytes);
        cpu_dropout_fwd(CONTEXT(v), &plan, &(cnn_map_fwd_args){.x = x.data, .y = x.data}, &err);
        assert_memory_equal(x.data, y.data, y.bytes);
        vec_free(&x), vec_free(&y);
    }
}

/* ---- Add, concat, gather -------------------------------------------------------------------------------------------
 */

static void add_is_exact_and_works_in_place(void **state)
{
    EACH_TYPE(dtype, layout)
    {
        cnn_plan plan = {.problem.op = CNN_OP_ADD};
        plan.problem.u.add = (cnn_add_desc){.t = type_of(dtype, layout), .mb = 5, .ic = 31, .ih = 20, .iw = 23};
        const int64_t count = 5 * 31 * 20 * 23;
        vec a = vec_integers(dtype, count, 1, -1000, 1000), b = vec_integers(dtype, count, 2, -1000, 1000);
        vec y = vec_new(dtype, count);
        cnn_error err;
        EACH_CONTEXT(v)
        {
            vec_poison(&y);
            cpu_add_fwd(CONTEXT(v), &plan, &(cnn_join_args){.x = {a.data, b.data}, .y = y.data}, &err);
            vec_same_bits(&y, v);
        }
        for (int64_t i = 0; i < count; i++) assert_true(vec_get(&y, i) == vec_get(&a, i) + vec_get(&b, i));
        cpu_add_fwd(CONTEXT(0), &plan, &(cnn_join_args){.x = {a.data, b.data}, .y = a.data}, &err);
        assert_memory_equal(a.data, y.data, y.bytes);
        vec_free(&a), vec_free(&b), vec_free(&y);
    }
}

/* Element (n, c, h, w) of y is that of the input which holds channel c; the backward gives each its own part back. */
static void check_concat(void **state, const cnn_concat_desc *d)
{
    const cnn_plan plan = {.problem = {.op = CNN_OP_CONCAT, .u.concat = *d}};
    const int64_t pixels = d->ih * d->iw;
    vec x[3], dx[3], y = vec_new(d->t.dtype, d->mb * (3 + 17 + 1) * pixels);
    cnn_join_args join = {.y = y.data};
    cnn_split_args split = {.dy = y.data};
    cnn_error err;
    for (int i = 0; i < 3; i++) {
        x[i] = vec_random(d->t.dtype, d->mb * d->ic[i] * pixels, (uint64_t)i + 1, -1, 1);
        dx[i] = vec_new(d->t.dtype, d->mb * d->ic[i] * pixels);
        join.x[i] = x[i].data;
        split.dx[i] = i == 1 ? NULL : dx[i].data;
    }
    EACH_CONTEXT(v)
    {
        vec_poison(&y);
        for (int i = 0; i < 3; i++) vec_poison(&dx[i]);
        assert_int_equal(cpu_concat_fwd(CONTEXT(v), &plan, &join, &err), CNN_OK);
        assert_int_equal(cpu_concat_bwd(CONTEXT(v), &plan, &split, &err), CNN_OK);
        vec_same_bits(&y, v);
        assert_memory_equal(dx[0].data, x[0].data, x[0].bytes);
        assert_memory_equal(dx[2].data, x[2].data, x[2].bytes);
        assert_true(isnan(vec_get(&dx[1], 0)));
    }
    for (int64_t n = 0; n < d->mb; n++)
        for (int i = 0, before = 0; i < 3; before += (int)d->ic[i++])
            for (int64_t c = 0; c < d->ic[i]; c++)
                for (int64_t h = 0; h < d->ih; h++)
                    for (int64_t w = 0; w < d->iw; w++) {
                        const int64_t from = cnn_offset(d->t.layout, d->ic[i], d->ih, d->iw, n, c, h, w);
                        const int64_t to = cnn_offset(d->t.layout, 21, d->ih, d->iw, n, before + c, h, w);
                        assert_true(vec_get(&y, to) == vec_get(&x[i], from));
                    }
    for (int i = 0; i < 3; i++) vec_free(&x[i]), vec_free(&dx[i]);
    vec_free(&y);
}

static void concat_and_its_backward(void **state)
{
    EACH_TYPE(dtype, layout)
    {
        const cnn_concat_desc d = {
            .t = type_of(dtype, layout), .mb = 6, .ih = 17, .iw = 19, .n_inputs = 3, .ic = {3, 17, 1}};
        check_concat(state, &d);
    }
}

static void gather_picks_rows_and_labels(void **state)
{
    enum { ROWS = 500, ELEMS = 211, COUNT = 333 };
    int32_t labels[ROWS], index[COUNT], y_labels[COUNT];
    cnn_rng rng = rng_stream(9, 9);
    for (int i = 0; i < ROWS; i++) labels[i] = (int32_t)rng_int(&rng, 0, 9);
    for (int i = 0; i < COUNT; i++) index[i] = (int32_t)rng_int(&rng, 0, ROWS - 1);
    index[0] = ROWS - 1;
    for (cnn_dtype dtype = CNN_F32; dtype <= CNN_F64; dtype++) {
        vec rows = vec_random(dtype, ROWS * ELEMS, 5, 0, 1), y = vec_new(dtype, COUNT * ELEMS);
        int64_t cursor = 0;
        cnn_gather_args args = {.dtype = dtype,
                                .count = COUNT,
                                .row_elems = ELEMS,
                                .rows = rows.data,
                                .labels = labels,
                                .index = index,
                                .y = y.data,
                                .y_labels = y_labels},
                        next = args;
        next.count = 100, next.cursor = &cursor;
        cnn_error err;
        EACH_CONTEXT(v)
        {
            vec_poison(&y);
            memset(y_labels, 0xff, sizeof y_labels);
            assert_int_equal(cpu_gather(CONTEXT(v), &args, &err), CNN_OK);
            for (int i = 0; i < COUNT; i++) {
                assert_int_equal(y_labels[i], labels[index[i]]);
                for (int e = 0; e < ELEMS; e++)
                    assert_true(vec_get(&y, i * ELEMS + e) == vec_get(&rows, (int64_t)index[i] * ELEMS + e));
            }
            cursor = 17; /* the same call twice: the second takes the next hundred */
            assert_int_equal(cpu_gather(CONTEXT(v), &next, &err), CNN_OK);
            assert_int_equal(cpu_gather(CONTEXT(v), &next, &err), CNN_OK);
            assert_int_equal(cursor, 217);
            for (int i = 0; i < 100; i++) {
                assert_int_equal(y_labels[i], labels[index[117 + i]]);
                assert_true(vec_get(&y, (i + 1) * ELEMS - 1) ==
                            vec_get(&rows, (int64_t)(index[117 + i] + 1) * ELEMS - 1));
            }
        }
        vec_free(&rows), vec_free(&y);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(activations_agree_with_their_formulas),
        cmocka_unit_test(activations_in_place),
        cmocka_unit_test(activations_let_nan_through),
        cmocka_unit_test(dropout_keeps_what_the_draw_says),
        cmocka_unit_test(dropout_in_inference_is_the_identity),
        cmocka_unit_test(add_is_exact_and_works_in_place),
        cmocka_unit_test(concat_and_its_backward),
        cmocka_unit_test(gather_picks_rows_and_labels),
    };
    return cmocka_run_group_tests(tests, open_contexts, close_contexts);
}
