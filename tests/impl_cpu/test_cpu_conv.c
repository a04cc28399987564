/* test_cpu_conv.c: impl_cpu's convolutions against the defining sums, over shapes that have gone wrong somewhere
 * before.
 *
 * The operands are small integers, so every sum is exact in f32 too and results must be equal, whatever the order of
 * the additions. Outputs are poisoned with NaN where beta is 0, the workspace always. */
#include "cpu_conv.h"

static const shape shapes[] = {
    {"one of everything", 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0},
    {"plain 3x3", 1, 3, 5, 7, 6, 4, 3, 3, 1, 1, 1, 1, 1, 1, 0, 0},
    {"wide rows, one image", 1, 1, 3, 5, 31, 2, 3, 3, 1, 1, 1, 1, 1, 1, 0, 0},
    {"wide rows, strided, one image", 1, 1, 2, 9, 53, 3, 3, 5, 2, 2, 1, 2, 1, 2, 0, 0},
    {"thesis layer 1, narrow", 1, 5, 1, 28, 28, 3, 4, 4, 2, 2, 6, 6, 6, 6, 2, 2},
    {"thesis layer 3, narrow", 1, 18, 3, 8, 8, 5, 4, 4, 2, 2, 4, 4, 4, 4, 2, 2},
    {"pointwise", 1, 2, 6, 5, 4, 7, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0},
    {"pointwise, many images, groups", 2, 19, 6, 3, 3, 4, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0},
    {"pointwise, large image", 1, 2, 3, 17, 17, 4, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0},
    {"pointwise, strided", 1, 3, 4, 6, 7, 5, 1, 1, 2, 3, 0, 0, 0, 0, 0, 0},
    {"pointwise, padded", 1, 2, 3, 4, 4, 2, 1, 1, 1, 1, 1, 2, 1, 2, 0, 0},
    {"pointwise, cropped", 1, 2, 3, 6, 5, 2, 1, 1, 1, 1, 0, 0, -2, -1, 0, 0},
    {"pointwise, cropped below", 1, 2, 3, 6, 5, 2, 1, 1, 1, 1, 0, 0, -2, 0, 0, 0},
    {"groups", 3, 2, 6, 5, 5, 9, 3, 2, 1, 2, 1, 0, 1, 1, 0, 0},
    {"depthwise", 7, 3, 7, 6, 6, 7, 3, 3, 1, 1, 1, 1, 1, 1, 0, 0},
    {"depthwise, two filters each, strided", 4, 2, 4, 9, 9, 8, 3, 3, 2, 2, 1, 1, 0, 0, 0, 0},
    {"asymmetric padding", 1, 2, 3, 7, 8, 4, 3, 3, 2, 2, 0, 2, 3, 1, 0, 0},
    {"negative right padding", 1, 4, 2, 9, 8, 3, 3, 2, 1, 1, 1, 0, -3, -2, 0, 0},
    {"1 x N", 1, 3, 2, 1, 13, 3, 1, 5, 1, 2, 0, 2, 0, 2, 0, 1},
    {"N x 1", 1, 3, 2, 13, 1, 3, 5, 1, 2, 1, 2, 0, 2, 0, 1, 0},
    {"kernel larger than the input", 1, 2, 3, 3, 4, 2, 6, 5, 1, 1, 3, 2, 3, 2, 0, 0},
    {"padding beyond the kernel", 1, 2, 2, 4, 4, 3, 2, 3, 1, 1, 4, 5, 4, 5, 0, 0},
    {"stride beyond the kernel", 1, 2, 3, 11, 13, 4, 2, 3, 4, 5, 0, 1, 0, 1, 0, 0},
    {"dilation beyond the input", 1, 2, 2, 5, 5, 2, 3, 3, 1, 1, 7, 7, 7, 7, 6, 6},
    {"tails of channels and images", 1, 17, 9, 5, 5, 21, 3, 3, 1, 1, 1, 1, 1, 1, 0, 0},
};

/* All directions, dtypes, layouts, with and without bias, flip, beta, of one shape by one algorithm. */
static void check_shape(cnn_context *context, const shape *s, const cnn_algorithm *algorithm)
{
    enum { VARIANTS = 3 * 2 * 2 * 2 * 2 * 2 };
    for (int v = 0; v < VARIANTS; v++) {
        const cnn_dir dir = (cnn_dir)(v % 3);
        const int bits = v / 3;
        const double beta = bits >> 4 & 1;
        const cnn_problem p =
            make_problem(s, (cnn_dtype)(bits & 1), (cnn_layout)(bits >> 1 & 1), bits >> 2 & 1, bits >> 3 & 1);
        operands all = make_operands(&p, dir, beta, false, (uint64_t)v);
        reference(&p.u.conv, dir, &all);
        run(context, &p, dir, algorithm, beta, &all);
        check_exact(s->what, &p, dir, algorithm->name, &all);
        free_operands(&all);
    }
}

/* The naive algorithm is the same for every instruction set: once will do. */
static void check_all(cnn_context *context, bool naive)
{
    const cnn_impl *cpu = cnn_impl_cpu();
    for (int a = 0; a < cpu->n_algorithms; a++) {
        const cnn_algorithm *algorithm = &cpu->algorithms[a];
        if (!(algorithm->ops & 1u << CNN_OP_CONV) || (strcmp(algorithm->name, "naive") == 0 && !naive)) continue;
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) check_shape(context, &shapes[s], algorithm);
    }
    cpu->close(context);
}

static void exact_on_base_isa(void **state) { check_all(open_cpu(1, 0, 256), false); }

static void exact_on_avx2_two_threads(void **state) { check_all(open_cpu(2, 1, 16), true); }

static void exact_on_best_isa_three_threads(void **state) { check_all(open_cpu(3, 2, 16), false); }

/* ---- The gate ---------------------------------------------------------------------------------------------------- */

static cnn_status ask(cnn_context *context, const cnn_problem *p, int algorithm, cnn_error *err)
{
    const cnn_request request = {p, CNN_FWD, &cnn_impl_cpu()->algorithms[algorithm], knobs};
    return cnn_impl_cpu()->supports(context, &request, err);
}

static void the_gate_refuses(void **state)
{
    const cnn_impl *cpu = cnn_impl_cpu();
    cnn_context *context = open_cpu(1, 2, 256);
    cnn_error err;
    cnn_problem p = make_problem(&shapes[1], CNN_F32, CNN_NCHW, true, false);
    assert_int_equal(ask(context, &p, 0, &err), CNN_OK);
    p.u.conv.t.math = CNN_MATH_TF32;
    assert_int_equal(ask(context, &p, 0, &err), CNN_UNSUPPORTED);
    assert_non_null(strstr(err.message, "tf32"));
    p.u.conv.t.math = CNN_MATH_F32;
    for (int a = 0; a < cpu->n_algorithms; a++)
        if (!(cpu->algorithms[a].ops & 1u << CNN_OP_CONV)) assert_int_equal(ask(context, &p, a, &err), CNN_UNSUPPORTED);
    p.u.conv.kh = 1 << 16, p.u.conv.kw = 1 << 16; /* a filter longer than OpenBLAS can count */
    for (int a = 0; a < cpu->n_algorithms; a++)
        if (strcmp(cpu->algorithms[a].name, "im2col") == 0)
            assert_int_equal(ask(context, &p, a, &err), CNN_UNSUPPORTED);
    cpu->close(context);
}

/* A context has no limit of its own: that of each request counts. */
static void knobs_are_the_requests(void **state)
{
    const cnn_impl *cpu = cnn_impl_cpu();
    cnn_context *context = open_cpu(1, 2, 256);
    const cnn_problem p = make_problem(&shapes[1], CNN_F32, CNN_NCHW, true, false);
    int im2col = 0, limit = 0;
    cnn_error err;
    while (strcmp(cpu->algorithms[im2col].name, "im2col") != 0) im2col++;
    while (strcmp(cpu->knobs[limit].name, "workspace_limit") != 0) limit++;
    assert_int_equal(ask(context, &p, im2col, &err), CNN_OK);
    knobs[limit] = 0;
    assert_int_equal(ask(context, &p, im2col, &err), CNN_UNSUPPORTED);
    assert_message(err, "the knob workspace_limit allows 0");
    cpu->close(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_on_base_isa),
        cmocka_unit_test(exact_on_avx2_two_threads),
        cmocka_unit_test(exact_on_best_isa_three_threads),
        cmocka_unit_test(the_gate_refuses),
        cmocka_unit_test(knobs_are_the_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
