/* test_cpu_conv_epilogue.c: what is done to a convolution's sums before they are stored: residuals and activations.
 *
 * The operands are small integers, so whatever has lines for pieces must be exact; curves must be near. */
#include "cpu_conv.h"

static const shape shapes[] = {
    {"plain 3x3", 1, 3, 5, 7, 6, 4, 3, 3, 1, 1, 1, 1, 1, 1, 0, 0},
    {"3x3, tiles that hang over, tails of channels", 1, 3, 5, 9, 11, 37, 3, 3, 1, 1, 1, 1, 1, 1, 0, 0},
    {"3x3 without padding, groups", 2, 2, 34, 10, 7, 38, 3, 3, 1, 1, 0, 0, 0, 0, 0, 0},
    {"3x3, rows of several strips", 1, 1, 2, 5, 150, 3, 3, 3, 1, 1, 3, 2, 3, 2, 0, 0},
    {"pointwise, images that end within a vector", 1, 5, 6, 5, 5, 7, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0},
    {"pointwise, blocks of terms", 1, 1, 260, 2, 3, 260, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0},
    {"pointwise, parts of rows and columns", 1, 1, 10, 10, 14, 200, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0},
    {"pointwise, shared panels, strided, groups", 2, 1, 280, 33, 33, 6, 1, 1, 2, 2, 0, 0, 0, 0, 0, 0},
    {"depthwise", 19, 2, 19, 9, 21, 19, 3, 3, 1, 1, 1, 1, 1, 1, 0, 0},
    {"depthwise, vectors of channels", 40, 1, 40, 6, 9, 40, 3, 3, 1, 1, 1, 1, 1, 1, 0, 0},
    {"depthwise, two outputs a channel", 4, 2, 4, 13, 37, 8, 3, 5, 2, 3, 2, 4, 1, 3, 1, 0},
    {"few channels, blocks of terms", 1, 2, 8, 9, 10, 20, 6, 6, 2, 2, 2, 2, 2, 2, 0, 0},
    {"few channels, strides, groups", 2, 2, 6, 11, 38, 10, 3, 5, 3, 2, 2, 4, 1, 3, 1, 2},
    {"few channels, blocks of columns", 1, 1, 2, 4, 300, 40, 2, 3, 1, 1, 0, 1, 0, 1, 0, 0},
};

static const cnn_epilogue epilogues[] = {
    {CNN_ACT_RELU, false, 0},        {CNN_ACT_IDENTITY, true, 0},      {CNN_ACT_RELU, true, 0},
    {CNN_ACT_LEAKY_RELU, true, 0.5}, {CNN_ACT_CLIPPED_RELU, false, 3}, {CNN_ACT_SCALE, true, 2},
    {CNN_ACT_TANH, false, 0},        {CNN_ACT_SIGMOID, true, 0},
};

static double activated(const cnn_epilogue *e, double v)
{
    switch (e->act) {
    case CNN_ACT_RELU:
        return v > 0 ? v : 0;
    case CNN_ACT_LEAKY_RELU:
        return v > 0 ? v : e->alpha * v;
    case CNN_ACT_CLIPPED_RELU:
        return v > 0 ? fmin(v, e->alpha) : 0;
    case CNN_ACT_SCALE:
        return e->alpha * v;
    case CNN_ACT_TANH:
        return tanh(v);
    case CNN_ACT_SIGMOID:
        return 1 / (1 + exp(-v));
    default:
        return v;
    }
}

/* Whether results must have the reference's bits. */
static bool is_exact(const cnn_epilogue *e, const cnn_algorithm *algorithm)
{
    return e->act != CNN_ACT_TANH && e->act != CNN_ACT_SIGMOID && (algorithm->flags & CNN_ALGO_TRANSFORMS) == 0;
}

/* `off`: how far a result may be from its value where bits may differ. */
static void check_near(const char *what, const cnn_problem *p, const cnn_algorithm *algorithm, const operand *y,
                       double off)
{
    const cnn_epilogue *e = &p->u.conv.epilogue;
    if (is_exact(e, algorithm)) off = 0;
    for (int64_t i = 0; i < y->info.count; i++) {
        const double got = cnn_number_get(dtype_of(p, y), y->memory, y->places[i]);
        if (!(fabs(got - y->values[i]) <= off))
            fail_msg("%s, %s, activation %d, residual %d, dtype %d, layout %d: y[%lld] is %g, not %g", what,
                     algorithm->name, (int)e->act, e->add, (int)p->u.type.dtype, (int)p->u.type.layout, (long long)i,
                     got, y->values[i]);
    }
}

static void check_variant(const cpu_session *sessions, int count, const shape *s, int v)
{
    const cnn_impl *cpu = cnn_impl_cpu();
    cnn_problem p = make_problem(s, (cnn_dtype)(v & 1), (cnn_layout)(v >> 1 & 1), (v >> 2 & 1) == 0, false);
    p.u.conv.epilogue = epilogues[v >> 2];
    operands all = make_operands(&p, CNN_FWD, 0, false, (uint64_t)v);
    operand *y = named(&all, "y");
    const double *z = values_of(&all, "z");
    assert_true((z != NULL) == p.u.conv.epilogue.add);
    reference(&p.u.conv, CNN_FWD, &all);
    for (int64_t i = 0; z != NULL && i < y->info.count; i++) y->values[i] += z[i];
    const double off = allowed(&p, y, CNN_ALGO_TRANSFORMS);
    for (int64_t i = 0; i < y->info.count; i++) y->values[i] = activated(&p.u.conv.epilogue, y->values[i]);
    for (int i = 0; i < count; i++)
        for (int a = 0; a < cpu->n_algorithms; a++) {
            const cnn_algorithm *algorithm = &cpu->algorithms[a];
            if (!(algorithm->ops & 1u << CNN_OP_CONV) || !takes(&sessions[i], &p, CNN_FWD, algorithm)) continue;
            assert_true(algorithm->flags & CNN_ALGO_EPILOGUES);
            run(&sessions[i], &p, CNN_FWD, algorithm, 0, &all);
            check_near(s->what, &p, algorithm, y, 2 * off);
        }
    free_operands(&all);
}

/* Each epilogue in both layouts and types; under a sanitizer in each layout with one type, and in the other with the
 * epilogue behind it. */
static bool is_tried(int v) { return !SANITIZED || (v & 1) == ((v >> 1 ^ v >> 2) & 1); }

/* On each instruction set, in both layouts and types, by every algorithm that takes the shape. */
static void epilogues_of_every_algorithm(void **state)
{
    enum { VARIANTS = 4 * sizeof epilogues / sizeof *epilogues };
    const cpu_session sessions[] = {open_cpu(2, 0, 256), open_cpu(1, 1, 16), open_cpu(3, 2, 16)};
    enum { SESSIONS = sizeof sessions / sizeof *sessions };
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int v = 0; v < (int)VARIANTS; v++)
            if (is_tried(v) && !is_left_out_when_quick(VARIANTS * s + (size_t)v, 4))
                check_variant(sessions, SESSIONS, &shapes[s], v);
    for (int i = 0; i < SESSIONS; i++) cnn_impl_cpu()->close(sessions[i].context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(epilogues_of_every_algorithm)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
