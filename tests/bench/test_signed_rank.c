/* The signed-rank test against published values, against all sign patterns counted one by one, and against noise: how
 * often it calls equal things different, and how often its interval misses. */
#include "bench/figures/signed_rank.h"
#include "tests/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)((*state >> 11) + 1) / 9007199254740993.0;
}

static signed_rank of(const double *d, int count, double margin)
{
    signed_rank r;
    cnn_error err;
    assert_int_equal(signed_rank_of(d, count, margin, 0.05, &r, &err), CNN_OK);
    return r;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Those that are no more than four times as far from the margin as the median one; their number. */
static int without_far(const double *all, int count, double sign, double margin, double *d)
{
    double sizes[16];
    int kept = 0;
    for (int i = 0; i < count; i++) sizes[i] = fabs(sign * all[i] - margin);
    qsort(sizes, (size_t)count, sizeof *sizes, ascending);
    for (int i = 0; i < count; i++)
        if (fabs(sign * all[i] - margin) <= 4 * sizes[(count - 1) / 2]) d[kept++] = all[i];
    return kept;
}

/* The two-sided p of |d - margin| and |-d - margin| by all 2^count patterns of signs. */
static double count_all(const double *all, int whole, double margin)
{
    double least = 1, d[16];
    for (int sign = -1; sign <= 1; sign += 2) {
        const int count = without_far(all, whole, sign, margin, d);
        double ranks[16], above = 0;
        int64_t as_far = 0;
        for (int i = 0; i < count; i++) {
            const double own = fabs(sign * d[i] - margin);
            ranks[i] = 0;
            for (int k = 0; k < count; k++) {
                const double other = fabs(sign * d[k] - margin);
                ranks[i] += other < own ? 1 : other > own ? 0 : 0.5;
            }
            ranks[i] += 0.5;
            above += sign * d[i] > margin ? ranks[i] : 0;
        }
        for (int64_t pattern = 0; pattern < INT64_C(1) << count; pattern++) {
            double sum = 0;
            for (int i = 0; i < count; i++) sum += pattern >> i & 1 ? ranks[i] : 0;
            as_far += sum >= above;
        }
        least = fmin(least, (double)as_far / (double)(INT64_C(1) << count));
    }
    return fmin(1, 2 * least);
}

static void test_against_all_patterns(void **state)
{
    uint64_t seed = 5;
    (void)state;
    for (int round = 0; round < 200; round++) {
        double d[12];
        const int count = 1 + round % 12;
        for (int i = 0; i < count; i++) d[i] = floor(9 * uniform(&seed)) / 8 - 0.4; /* with ties, none at the margin */
        if (round % 3 == 0) d[0] *= 8;
        for (int m = 0; m < 2; m++) {
            const double margin = m * 0.015625, p = of(d, count, margin).p, counted = count_all(d, count, margin);
            if (fabs(p - counted) > 1e-12) fail_msg("%d differences: p is %g, and not %g", count, p, counted);
        }
    }
}

/* Critical values of the tables: n, the largest sum with p <= 0.05 and with p <= 0.01, two-sided. */
static void test_tables(void **state)
{
    static const int table[][3] = {{8, 3, 0}, {10, 8, 3}, {15, 25, 15}, {20, 52, 37}, {25, 89, 68}};
    (void)state;
    for (size_t t = 0; t < sizeof table / sizeof *table; t++)
        for (int level = 0; level < 2; level++)
            for (int beyond = 0; beyond < 2; beyond++) {
                double d[25];
                int left = table[t][1 + level] + beyond;
                for (int i = table[t][0]; i > 0; i--) { /* ranks with a minus sign that add up to it; none is far */
                    d[i - 1] = (left >= i ? -1 : 1) * (1 + i * 0.01);
                    left -= left >= i ? i : 0;
                }
                assert_int_equal(of(d, table[t][0], 0).p <= (level == 0 ? 0.05 : 0.01), !beyond);
            }
    assert_int_equal(signed_rank_least(0.01), 8);
    assert_int_equal(signed_rank_least(0.05), 6);
}

static double p_about(const double *d, int count, double place)
{
    double from[16];
    for (int i = 0; i < count; i++) from[i] = d[i] - place;
    return of(from, count, 0).p;
}

/* What lies within the interval is not rejected, what lies just outside is; of 5 differences there is none. */
static void test_interval(void **state)
{
    const double d[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 5.5, 5.6};
    (void)state;
    const signed_rank all = of(d, 12, 0), five = of(d, 5, 0);
    assert_true(all.low < all.middle && all.middle < all.high && fabs(all.middle - 5.5) < 0.1);
    assert_true(all.low > 2.5 && all.high < 8.5);
    assert_true(p_about(d, 12, all.low - 1e-6) <= 0.05 && p_about(d, 12, all.low + 1e-6) > 0.05);
    assert_true(p_about(d, 12, all.high + 1e-6) <= 0.05 && p_about(d, 12, all.high - 1e-6) > 0.05);
    assert_true(isinf(five.low) && isinf(five.high));
}

/* Equal things under symmetric noise with far outliers: no more alarms than stated, and the interval holds. */
static void test_rates(void **state)
{
    enum { TRIALS = 2000, COUNT = 12 };
    uint64_t seed = 11;
    int alarms = 0, missed = 0, found = 0;
    (void)state;
    for (int t = 0; t < TRIALS; t++) {
        double d[COUNT];
        for (int i = 0; i < COUNT; i++) {
            const double a = 0.02 * log(uniform(&seed)), b = 0.02 * log(uniform(&seed));
            d[i] = (a - b) * (uniform(&seed) < 0.1 ? 20 : 1);
        }
        const signed_rank r = of(d, COUNT, 0);
        alarms += r.p <= 0.01;
        missed += r.low > 0 || r.high < 0;
        for (int i = 0; i < COUNT; i++) d[i] += 0.2;
        found += of(d, COUNT, 0.01).p <= 0.01;
    }
    print_message("alarms %d, missed %d, found %d of %d\n", alarms, missed, found, TRIALS);
    assert_true(alarms <= 0.01 * TRIALS + 3 * sqrt(0.01 * 0.99 * TRIALS));
    assert_true(missed <= 0.05 * TRIALS + 3 * sqrt(0.05 * 0.95 * TRIALS));
    assert_true(found > 0.8 * TRIALS);
}

/* Far ones decide over nothing, of whichever sign, and are counted. */
static void test_far(void **state)
{
    const double near[] = {0.04, 0.044, 0.046, 0.049, 0.051, 0.054, 0.056, 0.06};
    double with[12] = {0.6, -0.5, -0.7, -0.55};
    (void)state;
    memcpy(with + 4, near, sizeof near);
    const signed_rank clean = of(near, 8, 0.01), far = of(with, 12, 0.01);
    assert_true(fabs(clean.p - 2.0 / 256) < 1e-12 && fabs(far.p - clean.p) < 1e-12);
    assert_true(fabs(far.middle - clean.middle) < 1e-3 && fabs(far.low - clean.low) < 4e-3);
    assert_int_equal(far.far_above, 1);
    assert_int_equal(far.far_below, 3);
    assert_int_equal(clean.far_above + clean.far_below, 0);
}

/* The example of Benjamini and Hochberg (1995): of its 15 four are discoveries at 5 %; a NaN is no comparison. */
static void test_discoveries(void **state)
{
    double p[] = {0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                  0.0459, 0.3240, NAN,    0.4262, 0.5719, 0.6528, 0.7590, 1.0000};
    int count = 0;
    (void)state;
    false_discovery_rates(p, 16);
    for (int i = 0; i < 16; i++) count += p[i] <= 0.05;
    assert_int_equal(count, 4);
    assert_true(fabs(p[0] - 0.0015) < 1e-12 && fabs(p[3] - 0.035625) < 1e-12 && isnan(p[10]) && p[15] <= 1);
    assert_true(p[6] <= p[7] && fabs(p[5] - p[6]) < 0.01);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_all_patterns),
                                       cmocka_unit_test(test_tables),
                                       cmocka_unit_test(test_interval),
                                       cmocka_unit_test(test_rates),
                                       cmocka_unit_test(test_far),
                                       cmocka_unit_test(test_discoveries)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
