/* test_cpu_conv_tasks.c: convolutions large enough to be cut into many tasks, blocks and partial sums.
 *
 * They must be exact on small integers, and on reals, whose rounding shows the order of additions, give the same bits
 * with 1, 2 and 3 threads. */
#include "cpu_conv.h"

/* ---- Large enough for many tasks and partial sums ------------------------------------------------------------------
 */

static const shape large[] = {
    {"thesis layer 1", 1, 151, 1, 28, 28, 20, 4, 4, 2, 2, 6, 6, 6, 6, 2, 2},
    {"thesis layer 2", 1, 20, 20, 16, 16, 20, 4, 4, 2, 2, 4, 4, 4, 4, 2, 2},
    {"thesis layer 2, batch 5", 1, 5, 20, 16, 16, 20, 4, 4, 2, 2, 4, 4, 4, 4, 2, 2},
    {"residual block", 1, 2, 24, 28, 28, 32, 3, 3, 1, 1, 1, 1, 1, 1, 0, 0},
    {"small images, many tiles", 1, 90, 24, 14, 14, 40, 3, 3, 1, 1, 1, 1, 1, 1, 0, 0},
    {"groups, strided", 4, 9, 32, 15, 17, 48, 3, 3, 2, 2, 1, 1, 1, 1, 0, 0},
    {"pointwise", 1, 18, 64, 7, 7, 48, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0},
};
/* Sanitizers see all there is to see in one run of several threads: the same bits for any number of threads come
 * without them. Races are in the same places where results are compared, and once is enough. */
enum { N_LARGE = sizeof large / sizeof *large, MOST_THREADS = 3, LEAST_THREADS = SANITIZED ? MOST_THREADS : 1 };
#ifdef __SANITIZE_THREAD__
enum { RACES_ALONE = 1 };
#else
enum { RACES_ALONE = 0 };
#endif
enum { RUNS = MOST_THREADS - LEAST_THREADS + 1 };

static void exact_when_large(void **state)
{
    if (RACES_ALONE) skip(); /* same_bits_for_any_thread_count runs the same */
    const cnn_impl *cpu = cnn_impl_cpu();
    const cpu_session session = open_cpu(2, 2, 256);
    for (int v = 0; v < N_LARGE * 6; v++) {
        const cnn_dir dir = (cnn_dir)(v / N_LARGE % 3);
        const shape *s = &large[v % N_LARGE];
        if (is_left_out_when_quick((size_t)v, 6)) continue;
        const cnn_problem p = make_problem(s, CNN_F32, (cnn_layout)(v / N_LARGE / 3), true, false);
        operands all = make_operands(&p, dir, 1, false, 7);
        reference(&p.u.conv, dir, &all);
        for (int a = 0; a < cpu->n_algorithms; a++) {
            if (!(cpu->algorithms[a].ops & 1u << CNN_OP_CONV) || strcmp(cpu->algorithms[a].name, "naive") == 0)
                continue;
            if (!takes(&session, &p, dir, &cpu->algorithms[a])) continue;
            run(&session, &p, dir, &cpu->algorithms[a], 1, &all);
            check_exact(s->what, &p, dir, &cpu->algorithms[a], &all);
        }
        free_operands(&all);
    }
    cpu->close(session.context);
}

static void same_bits(const shape *s, cnn_dir dir, cnn_layout layout, const cnn_algorithm *algorithm, int64_t isa)
{
    const cnn_problem p = make_problem(s, CNN_F32, layout, true, false);
    operands runs[RUNS];
    const cpu_session one = open_cpu(1, isa, 256);
    const bool there = takes(&one, &p, dir, algorithm);
    cnn_impl_cpu()->close(one.context);
    if (!there) return;
    for (int t = 0; t < RUNS; t++) {
        const cpu_session session = open_cpu(LEAST_THREADS + t, isa, 256);
        runs[t] = make_operands(&p, dir, 0, true, 11);
        run(&session, &p, dir, algorithm, 0, &runs[t]);
        cnn_impl_cpu()->close(session.context);
    }
    for (int t = 1; t < RUNS; t++)
        for (int i = 0; i < runs[t].count; i++)
            if (memcmp(runs[0].list[i].memory, runs[t].list[i].memory, runs[0].list[i].info.bytes) != 0)
                fail_msg("%s, %s, direction %d: %s differs between %d and %d threads", s->what, algorithm->name,
                         (int)dir, runs[t].list[i].info.name, LEAST_THREADS, LEAST_THREADS + t);
    for (int t = 0; t < RUNS; t++) free_operands(&runs[t]);
}

static void same_bits_for_any_thread_count(void **state)
{
    const cnn_impl *cpu = cnn_impl_cpu();
    for (int a = 0; a < cpu->n_algorithms; a++) {
        if (!(cpu->algorithms[a].ops & 1u << CNN_OP_CONV)) continue;
        const bool naive = strcmp(cpu->algorithms[a].name, "naive") == 0;
        for (int v = 0; v < (naive ? 1 : N_LARGE) * 3 * 2; v++)
            if (!is_left_out_when_quick((size_t)(a * 64 + v), 6))
                same_bits(&large[v / 6], (cnn_dir)(v % 3), (cnn_layout)(v / 3 % 2), &cpu->algorithms[a], v % 2 ? 2 : 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_when_large),
        cmocka_unit_test(same_bits_for_any_thread_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
