/* The signed-rank test against published values, against all sign patterns counted one by one, and against noise: how
 * often it calls equal things different, and how often its interval misses. */
#include "bench/figures/signed_rank.h"
#include "tests/unit.h"

#include <math.h>
#include <stdlib.h>

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

/* The two-sided p of |d - margin| and |-d - margin| by all 2^count patterns of signs. */
static double count_all(const double *d, int count, double margin)
{
    double least = 1;
    for (int sign = -1; sign <= 1; sign += 2) {
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
                for (int i = table[t][0]; i > 0; i--) { /* ranks with a minus sign that add up to it */
                    d[i - 1] = left >= i ? -i : i;
                    left -= left >= i ? i : 0;
                }
                assert_int_equal(of(d, table[t][0], 0).p <= (level == 0 ? 0.05 : 0.01), !beyond);
            }
    assert_int_equal(signed_rank_least(0.01), 8);
    assert_int_equal(signed_rank_least(0.05), 6);
}

/* For 10 differences the interval of 95 % leaves out 8 averages at either end; of 5 there is none. */
static void test_interval(void **state)
{
    const double d[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    (void)state;
    const signed_rank ten = of(d, 10, 0), five = of(d, 5, 0);
    assert_true(fabs(ten.middle - 5.5) < 1e-12 && fabs(ten.low - 3) < 1e-12 && fabs(ten.high - 8) < 1e-12);
    assert_true(isinf(five.low) && isinf(five.high));
}

/* Equal things under symmetric noise with far outliers: no more alarms than stated, and the interval holds. */
static void test_rates(void **state)
{
    enum { TRIALS = 2000, COUNT = 10 };
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_all_patterns), cmocka_unit_test(test_tables),
                                       cmocka_unit_test(test_interval), cmocka_unit_test(test_rates),
                                       cmocka_unit_test(test_discoveries)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
