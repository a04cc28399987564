/* Comparing figures: two runs of the same program on a noisy machine are not called different more often than stated,
 * and real differences are found. */
#include "bench/compare.h"
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 200, FIGURES = 10, PAIRS = 400 };

typedef enum noise { SKEWED, DEPENDENT, DRIFT } noise;

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)((*state >> 11) + 1) / 9007199254740993.0;
}

/* A base time; a long right tail; bursts of a neighbour that last; a slow drift with a phase of its own. */
static void simulate(figure *f, noise kind, double scale, uint64_t *state)
{
    double sorted[SAMPLES], burst = 0;
    const double drift = 0.2 * (uniform(state) - 0.5);
    for (int i = 0; i < SAMPLES; i++) {
        double t = 1 - 0.05 * log(uniform(state));
        if (kind == DEPENDENT) {
            if (uniform(state) < 0.1) burst = uniform(state) < 0.5 ? 0 : 0.3 * uniform(state);
            t += burst;
        }
        if (kind == DRIFT) t *= 1 + drift * (i / (double)SAMPLES - 0.5);
        f->samples[i] = t * scale;
    }
    bench_stats_of(f->samples, SAMPLES, sorted, &f->stats);
    f->resolution = NAN;
}

/* How many of PAIRS comparisons, of FIGURES each, hold any FASTER or SLOWER; threshold 0, where nothing helps. */
static int alarms(noise kind, double scale, bool samples, int figures)
{
    double room[2][SAMPLES];
    uint64_t state = 7;
    int count = 0;
    for (int p = 0; p < PAIRS; p++) {
        bool any = false;
        for (int i = 0; i < figures; i++) {
            figure a = {.samples = room[0]}, b = {.samples = room[1]};
            comparison r;
            simulate(&a, kind, 1, &state);
            simulate(&b, kind, scale, &state);
            if (!samples) a.samples = b.samples = NULL;
            compare_figures(&a, &b, figures, 0, &r);
            any = any || r.verdict == COMPARE_FASTER || r.verdict == COMPARE_SLOWER;
        }
        count += any;
    }
    return count;
}

static void test_false_positives(void **state)
{
    (void)state;
    for (noise kind = SKEWED; kind <= DRIFT; kind++)
        for (int samples = 0; samples < 2; samples++) {
            const int ten = alarms(kind, 1, samples, FIGURES), one = alarms(kind, 1, samples, 1);
            print_message("noise %d, samples %d: any alarm in %d of %d comparisons of %d figures, %d of one\n",
                          (int)kind, samples, ten, PAIRS, FIGURES, one);
            /* 5 % and three standard deviations of a count */
            assert_true(ten <= 0.05 * PAIRS + 3 * sqrt(0.05 * 0.95 * PAIRS));
            assert_true(one <= 0.05 * PAIRS + 3 * sqrt(0.05 * 0.95 * PAIRS));
        }
}

static void test_finds_differences(void **state)
{
    (void)state;
    assert_int_equal(alarms(SKEWED, 1.1, true, 1), PAIRS);
    assert_int_equal(alarms(SKEWED, 1.1, false, 1), PAIRS);
}

static figure exactly(double median, double share)
{
    return (figure){.stats = {.count = 100,
                              .median = median,
                              .low = median * (1 - share),
                              .high = median * (1 + share),
                              .dependence = 1,
                              .drift = NAN},
                    .resolution = NAN};
}

static compare_verdict verdict(figure a, figure b, double threshold)
{
    comparison r;
    compare_figures(&a, &b, 1, threshold, &r);
    return r.verdict;
}

static void test_verdicts(void **state)
{
    (void)state;
    assert_int_equal(verdict(exactly(1, 0.01), exactly(1.2, 0.01), 0.05), COMPARE_SLOWER);
    assert_int_equal(verdict(exactly(1.2, 0.01), exactly(1, 0.01), 0.05), COMPARE_FASTER);
    assert_int_equal(verdict(exactly(1, 0.01), exactly(1.01, 0.01), 0.05), COMPARE_SAME);
    assert_int_equal(verdict(exactly(1, 0.05), exactly(1.06, 0.05), 0.05), COMPARE_CANNOT_TELL);
    figure few = exactly(1, 0.001), coarse = exactly(1, 0.01);
    few.stats.count = 5;
    assert_int_equal(verdict(few, exactly(3, 0.001), 0.05), COMPARE_CANNOT_TELL);
    figure disturbed = exactly(1, 0.001); /* by other work: the next run may be as much slower as it likes */
    disturbed.stats.marks = BENCH_DISTURBED;
    assert_int_equal(verdict(disturbed, exactly(3, 0.001), 0.05), COMPARE_CANNOT_TELL);
    coarse.resolution = 0.3; /* the control of that run differed from itself by as much */
    assert_int_equal(verdict(coarse, exactly(1.2, 0.01), 0.05), COMPARE_SAME);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_false_positives), cmocka_unit_test(test_finds_differences),
                                       cmocka_unit_test(test_verdicts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
