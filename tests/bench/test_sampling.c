/* test_sampling.c: the stop rule and the marks on made-up streams of samples: steady, drifting, in two modes, with an
 * outlier, with a clock that jumps, with one that stands still; and how often the interval of the median holds it. */
#include "bench/measure/sampling.h"
#include "harness/base/rng.h"

#include <math.h>
#include <stdlib.h>

#include "tests/unit.h"

/* Sample number i of a stream, in seconds. */
typedef double stream(int i, cnn_rng *rng);

static double steady(int i, cnn_rng *rng) { return 1e-3 * (1 + 0.002 * rng_normal(rng)); }
static double constant(int i, cnn_rng *rng) { return 1e-3; }
static double drifting(int i, cnn_rng *rng) { return 1e-3 * (1 + 0.001 * i + 0.002 * rng_normal(rng)); }
static double two_modes(int i, cnn_rng *rng) { return rng_unit(rng) < 0.5 ? 1e-3 : 1.4e-3; }
static double one_outlier(int i, cnn_rng *rng) { return i == 20 ? 1.0 : steady(i, rng); }
static double slow_mode(int i, cnn_rng *rng) { return rng_unit(rng) < 0.85 ? 1e-3 : 2e-3; }
static double clock_jump(int i, cnn_rng *rng) { return steady(i, rng) * (i < 60 ? 1.0 : 1.3); }
static double zero(int i, cnn_rng *rng) { return 0.0; }

/* Samples until the rule says enough; each costs its own time, and `cost` more. */
static bench_stats run(stream *from, sampling_rules rules, double cost, sampling *s)
{
    cnn_error err;
    bench_stats stats;
    cnn_rng rng = rng_stream(7, 0);
    *s = (sampling){.rules = rules};
    while (!sampling_done(s)) {
        const double seconds = from(s->count, &rng);
        assert_int_equal(sampling_reserve(s, &err), CNN_OK);
        sampling_add(s, seconds);
        s->spent += seconds + cost;
    }
    sampling_stats(s, &stats);
    assert_int_equal(stats.count, s->count);
    return stats;
}

static const sampling_rules usual = {.min_time = 0.1, .max_time = 0.5, .noise = 0.02};

static void a_steady_stream_ends_early_and_unmarked(void **state)
{
    sampling s;
    for (int k = 0; k < 2; k++) {
        const bench_stats stats = run(k ? steady : constant, usual, 1e-5, &s);
        assert_true(s.spent >= usual.min_time && s.spent < 0.3);
        assert_int_equal(stats.marks, 0);
        assert_true(fabs(stats.median / 1e-3 - 1) < 0.002);
        sampling_free(&s);
    }
}

static void drift_and_a_jump_of_the_clock_are_marked(void **state)
{
    sampling s;
    bench_stats stats = run(drifting, usual, 0, &s);
    assert_true(s.spent >= usual.max_time); /* never satisfied */
    assert_true(stats.marks & BENCH_DRIFTING && bench_noisy(&stats));
    assert_true(stats.drift > 0.1);
    sampling_free(&s);
    stats = run(clock_jump, (sampling_rules){0.12, 0.15, 0.02}, 0, &s);
    assert_true(stats.marks & BENCH_DRIFTING && bench_noisy(&stats));
    assert_true(stats.low <= 1.01e-3 && stats.high >= 1.29e-3); /* either may be the truth */
    sampling_free(&s);
}

static void two_modes_widen_the_interval_or_are_marked(void **state)
{
    sampling s;
    bench_stats stats = run(two_modes, usual, 0, &s);
    assert_true(stats.marks & BENCH_SPREAD);
    assert_true(stats.q1 == 1e-3 && stats.q3 == 1.4e-3);
    sampling_free(&s);
    stats = run(slow_mode, usual, 0, &s); /* the median is well known, but that is not all */
    assert_true(stats.median == 1e-3 && stats.noise == 0 && stats.marks == BENCH_OUTLIERS);
    sampling_free(&s);
}

static void one_outlier_is_counted_and_moves_nothing(void **state)
{
    sampling s;
    const bench_stats stats = run(one_outlier, (sampling_rules){0.1, 3.0, 0.02}, 0, &s);
    assert_int_equal(stats.outliers, 1);
    assert_int_equal(stats.marks, 0);
    assert_true(stats.max == 1.0 && fabs(stats.median / 1e-3 - 1) < 0.002 && stats.noise < 0.01);
    sampling_free(&s);
}

static void a_clock_that_stands_still_ends_and_is_marked(void **state)
{
    sampling s;
    bench_stats stats = run(zero, usual, 1e-4, &s); /* of the device: the wall clock goes on */
    assert_true(s.spent >= usual.max_time && stats.count < 6000);
    assert_true(isnan(stats.noise) && bench_noisy(&stats));
    sampling_free(&s);
    stats = run(zero, usual, 0, &s); /* both */
    assert_int_equal(stats.count, SAMPLING_MOST);
    assert_true(bench_noisy(&stats));
    sampling_free(&s);
}

static double slow(int i, cnn_rng *rng) { return 0.7; }
static double slowest(int i, cnn_rng *rng) { return 2.0; }

static void there_are_always_some_samples_unless_they_take_long(void **state)
{
    static const sampling_rules none = {0, 0, 0};
    static stream *const of[] = {steady, slow, slowest};
    static const int wanted[] = {3, 2, 1};
    sampling s;
    for (int k = 0; k < 3; k++) {
        const bench_stats stats = run(of[k], none, 0, &s);
        assert_int_equal(stats.count, wanted[k]);
        assert_true(stats.marks & BENCH_FEW && bench_noisy(&stats));
        sampling_free(&s);
    }
}

static void a_slow_run_ends_by_its_time(void **state)
{
    sampling s;
    (void)run(steady, (sampling_rules){1e9, 0.02, 0}, 0, &s); /* min_time beyond max_time cannot hold it up */
    assert_true(s.spent >= 0.02 && s.spent < 0.022);
    sampling_free(&s);
}

/* How often the interval holds the true median, of streams whose samples follow the one before by `memory`. */
static double coverage(double memory, int count)
{
    enum { TRIALS = 2000 };
    double samples[512], sorted[512];
    int held = 0;
    cnn_rng rng = rng_stream(3, (uint64_t)count);
    for (int t = 0; t < TRIALS; t++) {
        bench_stats stats;
        double x = rng_normal(&rng);
        for (int i = 0; i < count; i++) {
            x = memory * x + sqrt(1 - memory * memory) * rng_normal(&rng);
            samples[i] = exp(0.1 * x);
        }
        bench_stats_of(samples, count, sorted, &stats);
        held += stats.low <= 1.0 && 1.0 <= stats.high;
    }
    return (double)held / TRIALS;
}

static void the_interval_holds_the_median(void **state)
{
    assert_true(coverage(0, 6) > 0.94);
    assert_true(coverage(0, 20) > 0.94 && coverage(0, 200) > 0.94);
    /* Neighbours alike: without regard to that, 82 % and 59 % of the intervals hold it. */
    assert_true(coverage(0.5, 200) > 0.92);
    assert_true(coverage(0.8, 500) > 0.90);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_steady_stream_ends_early_and_unmarked),
        cmocka_unit_test(drift_and_a_jump_of_the_clock_are_marked),
        cmocka_unit_test(two_modes_widen_the_interval_or_are_marked),
        cmocka_unit_test(one_outlier_is_counted_and_moves_nothing),
        cmocka_unit_test(a_clock_that_stands_still_ends_and_is_marked),
        cmocka_unit_test(there_are_always_some_samples_unless_they_take_long),
        cmocka_unit_test(a_slow_run_ends_by_its_time),
        cmocka_unit_test(the_interval_holds_the_median),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
