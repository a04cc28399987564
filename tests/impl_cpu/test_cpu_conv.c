/* test_cpu_conv.c: impl_cpu's convolutions against the defining sums, over shapes that have gone wrong somewhere
 * before.
 * Winograd's must be near.
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
    {"pointwise, padded at the end", 1, 2, 3, 4, 4, 2, 1, 1, 1, 1, 0, 0, 1, 2, 0, 0},
    {"pointwise, cropped", 1, 2, 3, 6, 5, 2, 1, 1, 1, 1, 0, 0, -2, -1, 0, 0},
    {"pointwise, cropped below", 1, 2, 3, 6, 5, 2, 1, 1, 1, 1, 0, 0, -2, 0, 0, 0},
    {"pointwise, strided, several images", 2, 9, 8, 7, 5, 6, 1, 1, 2, 3, 0, 0, 0, 0, 0, 0},
    {"pointwise, blocks of terms", 1, 1, 260, 2, 3, 260, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0},
    {"pointwise, parts of rows and columns", 1, 1, 10, 10, 14, 200, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0},
    {"pointwise, parts of the pixels", 1, 6, 12, 20, 20, 10, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0},
    {"pointwise, shared panels", 1, 1, 140, 17, 17, 8, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0},
    {"pointwise, shared panels, strided, groups", 2, 1, 280, 33, 33, 6, 1, 1, 2, 2, 0, 0, 0, 0, 0, 0},
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
    {"3x3, tiles that hang over", 1, 3, 5, 9, 11, 6, 3, 3, 1, 1, 1, 1, 1, 1, 0, 0},
    {"3x3 without padding, groups", 2, 2, 34, 10, 7, 38, 3, 3, 1, 1, 0, 0, 0, 0, 0, 0},
    {"3x3, rows of several strips", 1, 1, 2, 5, 150, 3, 3, 3, 1, 1, 3, 2, 3, 2, 0, 0},
    {"depthwise", 19, 2, 19, 9, 21, 19, 3, 3, 1, 1, 1, 1, 1, 1, 0, 0},
    {"depthwise, parts of a batch", 3, 40, 3, 4, 5, 3, 3, 3, 1, 1, 1, 1, 1, 1, 0, 0},
    {"depthwise, strides, dilation", 5, 2, 5, 13, 17, 5, 5, 3, 3, 2, 2, 1, 2, 1, 0, 1},
    {"depthwise, two outputs a channel", 4, 2, 4, 13, 37, 8, 3, 5, 2, 3, 2, 4, 1, 3, 1, 0},
    {"depthwise, taps beyond registers", 2, 2, 2, 11, 40, 2, 7, 5, 1, 1, 3, 2, 3, 2, 0, 0},
    {"few channels, blocks of terms", 1, 2, 8, 9, 10, 20, 6, 6, 2, 2, 2, 2, 2, 2, 0, 0},
    {"few channels, strides, groups", 2, 2, 6, 11, 38, 10, 3, 5, 3, 2, 2, 4, 1, 3, 1, 2},
    {"few channels, blocks of columns", 1, 1, 2, 4, 300, 5, 2, 3, 1, 1, 0, 1, 0, 1, 0, 0},
    {"few channels, bands and parts", 1, 3, 3, 47, 30, 24, 5, 5, 1, 2, 2, 2, 2, 2, 0, 0},
    {"tails of channels and images", 1, 17, 9, 5, 5, 21, 3, 3, 1, 1, 1, 1, 1, 1, 0, 0},
};

/* The naive algorithm is the same for every instruction set: one will do. The thread sanitizer looks for races: the
 * session with one thread has none. */
#ifdef __SANITIZE_THREAD__
enum { SESSIONS = 3, NAIVE_IN = 1, FIRST = 1, RACES_ALONE = 1 };
#else
enum { SESSIONS = 3, NAIVE_IN = 1, FIRST = 0, RACES_ALONE = 0 };
#endif

/* Where races alone are looked for, each direction, dtype and layout is tried once, with a bias, and with a flip and
 * beta that go with those: which thread writes where is the same for all of these. The address sanitizer sees each with
 * a bias and without, and a flip and beta with either of these. */
static bool is_tried(int bits)
{
    const int dtype = bits & 1, layout = bits >> 1 & 1, bias = bits >> 2 & 1, flip = bits >> 3 & 1, beta = bits >> 4;
    if (RACES_ALONE && !bias) return false;
    return !SANITIZED || (flip == (dtype ^ !bias) && beta == (layout ^ !bias));
}

/* One direction, dtype, layout, with bias or without, flip, beta, of one shape: all algorithms in all sessions. */
static void check_variant(const cpu_session *sessions, const shape *s, int v)
{
    const cnn_impl *cpu = cnn_impl_cpu();
    const cnn_dir dir = (cnn_dir)(v % 3);
    const int bits = v / 3;
    if (!is_tried(bits)) return;
    const double beta = bits >> 4;
    const cnn_problem p =
        make_problem(s, (cnn_dtype)(bits & 1), (cnn_layout)(bits >> 1 & 1), bits >> 2 & 1, bits >> 3 & 1);
    operands all = make_operands(&p, dir, beta, false, (uint64_t)v);
    reference(&p.u.conv, dir, &all);
    for (int i = FIRST; i < SESSIONS; i++)
        for (int a = 0; a < cpu->n_algorithms; a++) {
            const cnn_algorithm *algorithm = &cpu->algorithms[a];
            if (!(algorithm->ops & 1u << CNN_OP_CONV)) continue;
            if (strcmp(algorithm->name, "naive") == 0 && i != NAIVE_IN) continue;
            if (is_choosy(algorithm) && !takes(&sessions[i], &p, dir, algorithm)) continue;
            run(&sessions[i], &p, dir, algorithm, beta, &all);
            check_exact(s->what, &p, dir, algorithm, &all);
        }
    free_operands(&all);
}

/* On each instruction set, with one thread, two and three, and with a block for im2col that is large or small. */
static void every_algorithm_is_exact(void **state)
{
    enum { VARIANTS = 3 * 2 * 2 * 2 * 2 * 2 };
    const cpu_session sessions[SESSIONS] = {open_cpu(1, 0, 256), open_cpu(2, 1, 16), open_cpu(3, 2, 16)};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int v = 0; v < VARIANTS; v++)
            if (!is_left_out_when_quick(VARIANTS * s + (size_t)v, 12)) check_variant(sessions, &shapes[s], v);
    for (int i = 0; i < SESSIONS; i++) cnn_impl_cpu()->close(sessions[i].context);
}

/* ---- The gate ---------------------------------------------------------------------------------------------------- */

static cnn_status ask(const cpu_session *s, const cnn_problem *p, int algorithm, cnn_error *err)
{
    const cnn_request request = {p, CNN_FWD, &cnn_impl_cpu()->algorithms[algorithm], s->knobs};
    return cnn_impl_cpu()->supports(s->context, &request, err);
}

static void the_gate_refuses(void **state)
{
    const cnn_impl *cpu = cnn_impl_cpu();
    const cpu_session s = open_cpu(1, 2, 256);
    cnn_error err;
    cnn_problem p = make_problem(&shapes[1], CNN_F32, CNN_NCHW, true, false);
    assert_int_equal(ask(&s, &p, 0, &err), CNN_OK);
    p.u.conv.t.math = CNN_MATH_TF32;
    assert_int_equal(ask(&s, &p, 0, &err), CNN_UNSUPPORTED);
    assert_non_null(strstr(err.message, "tf32"));
    p.u.conv.t.math = CNN_MATH_F32;
    p.u.conv.kh = 1 << 16, p.u.conv.kw = 1 << 16; /* a filter longer than OpenBLAS can count */
    for (int a = 0; a < cpu->n_algorithms; a++)
        if (strcmp(cpu->algorithms[a].name, "im2col") == 0) assert_int_equal(ask(&s, &p, a, &err), CNN_UNSUPPORTED);
    cpu->close(s.context);
}

/* A context has no limit of its own: that of each request counts. */
static void knobs_are_the_requests(void **state)
{
    const cnn_impl *cpu = cnn_impl_cpu();
    cpu_session s = open_cpu(1, 2, 256);
    const cnn_problem p = make_problem(&shapes[1], CNN_F32, CNN_NCHW, true, false);
    int im2col = 0, limit = 0;
    cnn_error err;
    while (strcmp(cpu->algorithms[im2col].name, "im2col") != 0) im2col++;
    while (strcmp(cpu->knobs[limit].name, "workspace_limit") != 0) limit++;
    assert_int_equal(ask(&s, &p, im2col, &err), CNN_OK);
    s.knobs[limit] = 0;
    assert_int_equal(ask(&s, &p, im2col, &err), CNN_UNSUPPORTED);
    assert_message(err, "the knob workspace_limit allows 0");
    cpu->close(s.context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_algorithm_is_exact),
        cmocka_unit_test(the_gate_refuses),
        cmocka_unit_test(knobs_are_the_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
