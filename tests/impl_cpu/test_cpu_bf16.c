/* test_cpu_bf16.c: cpu:bf16's convolutions: exact on small integers, whose sums f32 holds, on each instruction set,
 * with the processor's products of bf16 and without, on its matrix units, where it has them, and on imitated ones; and
 * the same bits for any number of threads. */
#include "cpu_conv.h"

#include "harness/cpu/limits.h"

static const shape shapes[] = {
    {"one of everything", 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0},
    {"3x3, odd channels and rows", 1, 3, 5, 7, 7, 3, 3, 3, 1, 1, 1, 1, 1, 1, 0, 0},
    {"3x3, no padding, nothing copied", 1, 2, 6, 8, 10, 66, 3, 3, 1, 1, 0, 0, 0, 0, 0, 0},
    {"several panels, parts of vectors", 1, 2, 70, 6, 5, 150, 3, 3, 1, 1, 1, 1, 1, 1, 0, 0},
    {"images after images", 1, 150, 4, 9, 9, 20, 3, 3, 1, 1, 1, 1, 1, 1, 0, 0},
    {"pointwise", 1, 3, 40, 7, 7, 24, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0},
    {"pointwise, long rows", 1, 1, 3, 21, 25, 33, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0},
    {"pointwise, strided, groups", 2, 3, 8, 6, 7, 6, 1, 1, 2, 3, 0, 0, 0, 0, 0, 0},
    {"pointwise, padded", 1, 2, 3, 4, 4, 2, 1, 1, 2, 2, 1, 2, 1, 2, 0, 0},
    {"pointwise, padded at the end", 1, 2, 3, 4, 4, 2, 1, 1, 1, 1, 0, 0, 1, 2, 0, 0},
    {"pointwise, cropped", 1, 2, 4, 6, 5, 2, 1, 1, 1, 1, 0, 0, -2, -1, 0, 0},
    {"groups of odd channels", 3, 2, 9, 5, 6, 15, 3, 2, 1, 2, 1, 0, 1, 1, 0, 0},
    {"depthwise", 7, 3, 7, 6, 6, 7, 3, 3, 1, 1, 1, 1, 1, 1, 0, 0},
    {"strides, dilation", 1, 2, 4, 13, 17, 5, 5, 3, 3, 2, 2, 1, 2, 1, 0, 1},
    {"stride beyond the kernel", 1, 2, 3, 11, 13, 4, 2, 3, 4, 5, 0, 1, 0, 1, 0, 0},
    {"stride beyond the image", 1, 2, 3, 2, 3, 4, 2, 2, 5, 7, 2, 3, 2, 3, 0, 0},
    {"padding beyond the kernel", 1, 2, 2, 4, 4, 3, 2, 3, 1, 1, 4, 5, 4, 5, 0, 0},
    {"negative right padding", 1, 4, 2, 9, 8, 3, 3, 2, 1, 1, 1, 0, -3, -2, 0, 0},
    {"dilation beyond the input", 1, 2, 2, 5, 5, 2, 3, 3, 1, 1, 7, 7, 7, 7, 6, 6},
    {"whole tiles of words, rows in place", 1, 2, 32, 3, 9, 40, 3, 3, 1, 1, 1, 1, 1, 1, 0, 0},
    {"whole tiles, strides", 2, 1, 64, 3, 19, 128, 3, 2, 2, 2, 1, 1, 1, 1, 0, 0},
    {"pointwise, whole tiles", 1, 2, 64, 3, 11, 40, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0},
    {"many taps, few channels", 1, 1, 3, 30, 31, 20, 7, 7, 2, 2, 3, 3, 3, 3, 0, 0},
};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

static const cnn_algorithm *bf16(void)
{
    const cnn_algorithm *algorithm = cnn_impl_cpu()->algorithms;
    while (strcmp(algorithm->name, "bf16") != 0) algorithm++;
    return algorithm;
}

/* amx: as the knob. */
static cpu_session session_of(int threads, int64_t isa, bool products, int64_t amx)
{
    cpu_session s = open_cpu(threads, isa, 256);
    for (int i = 0; i < cnn_impl_cpu()->n_knobs; i++) {
        if (strcmp(cnn_impl_cpu()->knobs[i].name, "bf16") == 0) s.knobs[i] = products;
        if (strcmp(cnn_impl_cpu()->knobs[i].name, "amx") == 0) s.knobs[i] = amx;
    }
    return s;
}

/* Direction, layout, with bias or without, flip, beta. What is imitated is slow: the last session takes one variant in
 * five, of each shape others. */
static void check_variant(const cpu_session *sessions, int count, const shape *s, int v)
{
    enum { IN = 5 };
    const cnn_dir dir = (cnn_dir)(v % 3);
    const int bits = v / 3;
    const double beta = bits >> 3;
    const cnn_problem p = make_problem(s, CNN_BF16_BF16_F32, (cnn_layout)(bits & 1), bits >> 1 & 1, bits >> 2 & 1);
    operands all = make_operands(&p, dir, beta, false, (uint64_t)v);
    reference(&p.u.conv, dir, &all);
    for (int i = 0; i < count; i++) {
        if (i == count - 1 && v % IN != (s - shapes) % IN) continue;
        run(&sessions[i], &p, dir, bf16(), beta, &all);
        check_exact(s->what, &p, dir, bf16(), &all);
    }
    free_operands(&all);
}

static void is_exact(void **state)
{
    enum { SESSIONS = 6, VARIANTS = 3 * 2 * 2 * 2 * 2 };
    const cpu_session sessions[SESSIONS] = {session_of(1, 0, true, 0),  session_of(2, 1, true, 0),
                                            session_of(3, 2, false, 0), session_of(2, 2, true, 0),
                                            session_of(2, 2, true, 1),  session_of(2, 0, true, 2)};
    for (int s = 0; s < N_SHAPES; s++)
        for (int v = 0; v < VARIANTS; v++)
            if (!is_left_out_when_quick((size_t)(VARIANTS * s + v), 8))
                check_variant(sessions, SESSIONS, &shapes[s], v);
    for (int i = 0; i < SESSIONS; i++) cnn_impl_cpu()->close(sessions[i].context);
}

static void check_threads(int64_t amx)
{
    enum { THREADS = 3 };
    for (int v = 0; v < N_SHAPES * 3 * 2; v++) {
        const shape *s = &shapes[v % N_SHAPES];
        const cnn_dir dir = (cnn_dir)(v / N_SHAPES % 3);
        const cnn_problem p = make_problem(s, CNN_BF16_BF16_F32, (cnn_layout)(v / N_SHAPES / 3), true, false);
        operands runs[THREADS];
        if (is_left_out_when_quick((size_t)v, 8)) continue;
        for (int t = 0; t < THREADS; t++) {
            const cpu_session session = session_of(t + 1, 2, true, amx);
            runs[t] = make_operands(&p, dir, 0, true, 11);
            run(&session, &p, dir, bf16(), 0, &runs[t]);
            cnn_impl_cpu()->close(session.context);
        }
        for (int t = 1; t < THREADS; t++)
            for (int i = 0; i < runs[t].count; i++)
                if (memcmp(runs[0].list[i].memory, runs[t].list[i].memory, runs[0].list[i].info.bytes) != 0)
                    fail_msg("%s, direction %d: %s differs between 1 and %d threads", s->what, (int)dir,
                             runs[t].list[i].info.name, t + 1);
        for (int t = 0; t < THREADS; t++) free_operands(&runs[t]);
    }
}

static void has_the_same_bits_for_any_thread_count(void **state)
{
    check_threads(0);
    if (cpu_may_use_amx()) check_threads(1);
    check_threads(2);
}

static void refuses_other_types(void **state)
{
    const cpu_session s = session_of(1, 2, true, 1);
    for (int dtype = 0; dtype < CNN_DTYPE_COUNT; dtype++) {
        cnn_problem p = make_problem(&shapes[1], CNN_BF16, CNN_NCHW, false, false);
        p.u.type.dtype = p.u.type.weights = (cnn_dtype)dtype;
        assert_int_equal(takes(&s, &p, CNN_FWD, bf16()), dtype == CNN_BF16 || dtype == CNN_BF16_BF16_F32);
    }
    cnn_impl_cpu()->close(s.context);
}

static void names_what_it_multiplies_by(void **state)
{
    const struct {
        int64_t isa, amx;
        const char *choice;
    } rows[] = {{0, 1, "base"}, {0, 2, "amx imitated"}, {2, 2, "amx imitated"}, {2, 1, "amx"}};
    for (int i = 0; i < (cpu_may_use_amx() ? 4 : 3); i++) {
        const cpu_session s = session_of(1, rows[i].isa, true, rows[i].amx);
        cnn_plan plan = {.problem = make_problem(&shapes[1], CNN_BF16, CNN_NCHW, false, false),
                         .dir = CNN_FWD,
                         .algorithm = *bf16(),
                         .knobs = s.knobs};
        cnn_error err;
        assert_int_equal(cnn_impl_cpu()->prepare(s.context, &plan, &err), CNN_OK);
        assert_string_equal(plan.choice, rows[i].choice);
        cnn_impl_cpu()->release(s.context, &plan);
        cnn_impl_cpu()->close(s.context);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_exact),
        cmocka_unit_test(has_the_same_bits_for_any_thread_count),
        cmocka_unit_test(refuses_other_types),
        cmocka_unit_test(names_what_it_multiplies_by),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
