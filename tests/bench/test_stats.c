/* test_stats.c: the statistics against values worked out by hand. */
#include "tests/unit.h"

#include "bench/measure/stats.h"

#include <math.h>
#include <stdlib.h>

static bench_stats stats_of(const double *samples, int count)
{
    double sorted[64];
    bench_stats stats;
    assert_true(count <= 64);
    bench_stats_of(samples, count, sorted, &stats);
    for (int i = 1; i < count; i++) assert_true(sorted[i - 1] <= sorted[i]);
    return stats;
}

static void one_sample_has_no_noise_figure(void **state)
{
    bench_stats s = stats_of((const double[]){3.0}, 1);
    assert_int_equal(s.count, 1);
    assert_true(s.min == 3 && s.q1 == 3 && s.median == 3 && s.q3 == 3 && s.max == 3 && s.low == 3 && s.high == 3);
    assert_true(isnan(s.noise) && bench_noisy(&s));
}

static void two_samples(void **state)
{
    bench_stats s = stats_of((const double[]){4.0, 2.0}, 2);
    assert_true(s.min == 2 && s.q1 == 2.5 && s.median == 3 && s.q3 == 3.5 && s.max == 4);
    assert_true(s.low == 2 && s.high == 4);
    assert_true(fabs(s.noise - 1.0 / 3.0) < 1e-15);
}

static void three_samples(void **state)
{
    bench_stats s = stats_of((const double[]){9.0, 1.0, 2.0}, 3);
    assert_true(s.min == 1 && s.q1 == 1.5 && s.median == 2 && s.q3 == 5.5 && s.max == 9);
}

static void four_samples(void **state)
{
    bench_stats s = stats_of((const double[]){4.0, 1.0, 3.0, 2.0}, 4);
    assert_true(s.min == 1 && s.q1 == 1.75 && s.median == 2.5 && s.q3 == 3.25 && s.max == 4);
}

static void ties(void **state)
{
    bench_stats s = stats_of((const double[]){2.0, 2.0, 5.0, 2.0, 2.0}, 5);
    assert_true(s.min == 2 && s.q1 == 2 && s.median == 2 && s.q3 == 2 && s.max == 5);
    s = stats_of((const double[]){2.0, 2.0, 2.0, 2.0, 2.0, 2.0}, 6);
    assert_true(s.noise == 0 && !bench_noisy(&s));
    s = stats_of((const double[]){2.0, 2.0, 2.0, 2.0, 2.0}, 5); /* too few to say */
    assert_true(bench_noisy(&s));
}

/* Ranks of the usual tables (e.g. Conover): n = 6..8 give 1, 9..11 give 2, 20 gives 6, 100 gives 40. */
static void interval_of_the_median(void **state)
{
    static const int table[][2] = {{1, 0},  {5, 0},  {6, 1},  {8, 1},  {9, 2},
                                   {11, 2}, {12, 3}, {20, 6}, {25, 8}, {100, 40}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        assert_int_equal(bench_median_rank(table[i][0]), table[i][1]);
    /* Large counts, beyond where 2^-n underflows: the normal approximation must agree. */
    int rank = bench_median_rank(10000), normal = (int)((10001 - 1.959964 * 100.0) / 2);
    assert_true(abs(rank - normal) <= 1);
}

/* Outliers on the right, as timings have them, must not move the interval. */
static void outliers_do_not_widen_the_interval(void **state)
{
    double samples[20];
    for (int i = 0; i < 20; i++) { /* in an order without a trend: 7 steps at a time through all of them */
        const int rank = 7 * i % 20;
        samples[i] = rank < 17 ? 1.0 + 0.001 * rank : 50.0;
    }
    bench_stats s = stats_of(samples, 20);
    assert_true(s.dependence == 1);
    assert_true(s.low == 1.0 + 0.001 * 5 && s.high == 1.0 + 0.001 * 14);
    assert_true(s.noise < 0.01 && s.max == 50);
    assert_int_equal(s.outliers, 3);
    assert_true(s.marks & BENCH_OUTLIERS && !(s.marks & (BENCH_NOISY | BENCH_DRIFTING)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_sample_has_no_noise_figure),
        cmocka_unit_test(two_samples),
        cmocka_unit_test(three_samples),
        cmocka_unit_test(four_samples),
        cmocka_unit_test(ties),
        cmocka_unit_test(interval_of_the_median),
        cmocka_unit_test(outliers_do_not_widen_the_interval),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
