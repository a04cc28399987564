/* test_shift_draws.c: trainer_shifts(): which shifts are drawn, how often, and on what they depend. Every draw is from
 * a fixed seed, so a test that passes once passes always; bounds are such that a right generator of another kind fails
 * them once in 10^8 times. */
#include "net_unit.h"

#include <math.h>
#include <stdio.h>

enum { EACH_CELL = 200, MOST_CELLS = 29 * 29 };

/* Counts of pairs (a, b), both of 0 .. values - 1, that should be alike likely and independent. */
typedef struct pairs {
    int values, count;
    int cells[MOST_CELLS];
} pairs;

static void add_pair(pairs *p, int64_t a, int64_t b)
{
    assert_true(a >= 0 && a < p->values && b >= 0 && b < p->values);
    p->cells[a * p->values + b]++;
    p->count++;
}

/* Pearson's sum is chi-square of k = cells - 1 degrees of freedom. By Laurent and Massart it is, with probability
 * exp(-x) at most, above k + 2 sqrt(kx) + 2x, and likewise below k - 2 sqrt(kx); exp(-19) < 10^-8. Below: draws that
 * are more even than chance. */
static void expect_uniform(const pairs *p, const char *what)
{
    const double cells = p->values * p->values, mean = p->count / cells, k = cells - 1, x = 19;
    double sum = 0;
    for (int i = 0; i < p->values * p->values; i++) {
        sum += (p->cells[i] - mean) * (p->cells[i] - mean) / mean;
        if (p->cells[i] == 0) fail_msg("%s: %d, %d does not occur", what, i / p->values, i % p->values);
    }
    if (!(sum >= k - 2 * sqrt(k * x) && sum <= k + 2 * sqrt(k * x) + 2 * x))
        fail_msg("%s: chi-square %.1f of %.0f degrees of freedom", what, sum, k);
}

static cnn_shift *drawn(uint64_t seed, int64_t epoch, int64_t count, int64_t most)
{
    cnn_shift *shifts = malloc((size_t)(count > 0 ? count : 1) * sizeof *shifts); /* no more than it may write */
    assert_non_null(shifts);
    memset(shifts, 0x7f, (size_t)count * sizeof *shifts);
    trainer_shifts(seed, epoch, count, most, shifts);
    return shifts;
}

/* dy and dx: each pair of values as often as any other; so is that of an image and the next one, either way. */
static void every_shift_is_alike_likely(void **state)
{
    static const int64_t mosts[] = {1, 2, 3, 14};
    for (size_t m = 0; m < sizeof mosts / sizeof mosts[0]; m++) {
        const int64_t most = mosts[m], values = 2 * most + 1, count = 2 * values * values * EACH_CELL;
        pairs both = {.values = (int)values}, next_dy = both, next_dx = both, crossed = both;
        cnn_shift *s = drawn(42, 3, count, most);
        for (int64_t i = 0; i < count; i += 2) { /* no draw twice in a table */
            add_pair(&both, s[i].dy + most, s[i].dx + most);
            add_pair(&next_dy, s[i].dy + most, s[i + 1].dy + most);
            add_pair(&next_dx, s[i].dx + most, s[i + 1].dx + most);
            add_pair(&crossed, s[i].dx + most, s[i + 1].dy + most);
        }
        expect_uniform(&both, "dy, dx");
        expect_uniform(&next_dy, "dy, the next dy");
        expect_uniform(&next_dx, "dx, the next dx");
        expect_uniform(&crossed, "dx, the next dy");
        free(s);
    }
}

/* The first images' shifts over epochs and seeds: what one run never tells, each epoch being short. */
static void epochs_and_seeds_are_independent(void **state)
{
    enum { RUNS = 25 * EACH_CELL, MOST = 2 };
    pairs epoch = {.values = 2 * MOST + 1}, seed = epoch, next_epoch = epoch, next_seed = epoch;
    for (int64_t i = 0; i < RUNS; i++) {
        cnn_shift *e = drawn(1, 2 * i, 3, MOST), *f = drawn(1, 2 * i + 1, 3, MOST);
        cnn_shift *s = drawn((uint64_t)(2 * i), 0, 3, MOST), *t = drawn((uint64_t)(2 * i + 1), 0, 3, MOST);
        add_pair(&epoch, e[0].dy + MOST, e[0].dx + MOST);
        add_pair(&seed, s[0].dy + MOST, s[0].dx + MOST);
        add_pair(&next_epoch, e[2].dy + MOST, f[2].dy + MOST);
        add_pair(&next_seed, s[1].dx + MOST, t[1].dx + MOST);
        free(e), free(f), free(s), free(t);
    }
    expect_uniform(&epoch, "the first image's dy, dx, by epoch");
    expect_uniform(&seed, "the first image's dy, dx, by seed");
    expect_uniform(&next_epoch, "dy in an epoch and the next");
    expect_uniform(&next_seed, "dx of a seed and the next");
}

/* The same again; other epochs and seeds (those beyond 32 bits as well) are others; a longer epoch begins the same. */
static void seed_and_epoch_alone_decide(void **state)
{
    enum { COUNT = 1000, MOST = 5 };
    static const struct {
        uint64_t seed;
        int64_t epoch;
    } others[] = {
        {7, 5}, {8, 4}, {4, 7}, {7, 4 + ((int64_t)1 << 32)}, {7 + ((uint64_t)1 << 32), 4}, {7 | (uint64_t)1 << 63, 4}};
    cnn_shift *a = drawn(7, 4, COUNT, MOST), *again = drawn(7, 4, COUNT, MOST), *shorter = drawn(7, 4, 333, MOST);
    assert_memory_equal(a, again, COUNT * sizeof *a);
    assert_memory_equal(a, shorter, 333 * sizeof *a);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        cnn_shift *b = drawn(others[i].seed, others[i].epoch, COUNT, MOST);
        int same = 0;
        for (int k = 0; k < COUNT; k++) same += a[k].dy == b[k].dy && a[k].dx == b[k].dx;
        assert_true(same < 40); /* 8.3 of 1000 by chance, and 11 standard deviations */
        free(b);
    }
    free(a), free(again), free(shorter);
}

/* The order's last place is its generator's first draw; so if shifts came of the same numbers it would show here. And
 * which image stands somewhere says nothing of how it is moved. */
static void the_order_tells_nothing_of_the_shifts(void **state)
{
    enum { COUNT = 1000, RUNS = 25 * EACH_CELL, MOST = 2, VALUES = 2 * MOST + 1 };
    pairs dy = {.values = VALUES}, dx = dy, second = dy, place = dy;
    int32_t order[COUNT];
    for (int64_t i = 0; i < RUNS; i++) {
        cnn_shift *s = drawn((uint64_t)(i % 7), i / 7, 2, MOST);
        trainer_order((uint64_t)(i % 7), i / 7, COUNT, order);
        add_pair(&dy, order[COUNT - 1] % VALUES, s[0].dy + MOST);
        add_pair(&dx, order[COUNT - 1] % VALUES, s[0].dx + MOST);
        add_pair(&second, order[COUNT - 1] % VALUES, s[1].dy + MOST);
        free(s);
    }
    for (int64_t epoch = 0; epoch < 25 * EACH_CELL / COUNT; epoch++) {
        cnn_shift *s = drawn(3, epoch, COUNT, MOST);
        trainer_order(3, epoch, COUNT, order);
        for (int i = 0; i < COUNT; i++) add_pair(&place, order[i] % VALUES, s[i].dx + MOST);
        free(s);
    }
    expect_uniform(&dy, "the order's first draw, the first dy");
    expect_uniform(&dx, "the order's first draw, the first dx");
    expect_uniform(&second, "the order's first draw, the second dy");
    expect_uniform(&place, "an image's number, its dx");
}

/* Nor does the order of any other epoch share its numbers: of two draws alike likely in 5, 64 in a row do not agree in
 * half (12.8 are expected, 3.2 is the standard deviation). */
static void no_epoch_has_the_numbers_of_an_order(void **state)
{
    enum { DRAWS = 64, EPOCHS = 40, MOST = 2 };
    for (int64_t of_order = 0; of_order < 2 * EPOCHS + 4; of_order++) {
        int64_t draws[2 * DRAWS];
        cnn_rng rng = rng_stream(3, (uint64_t)of_order); /* trainer_order()'s */
        for (int i = 0; i < 2 * DRAWS; i++) draws[i] = rng_int(&rng, -MOST, MOST);
        for (int64_t epoch = 0; epoch < EPOCHS; epoch++) {
            cnn_shift *s = drawn(3, epoch, DRAWS, MOST);
            int dy = 0, in_turn = 0;
            for (int i = 0; i < DRAWS; i++) {
                dy += draws[i] == s[i].dy;
                in_turn += draws[2 * i] == s[i].dy && draws[2 * i + 1] == s[i].dx;
            }
            if (dy > DRAWS / 2 || in_turn > DRAWS / 4)
                fail_msg("epoch %lld is moved by the numbers of the order of epoch %lld", (long long)epoch,
                         (long long)of_order);
            free(s);
        }
    }
}

/* None; and as far as an int16_t goes: within the range, up to its ends, in the middle on average. */
static void no_shift_and_the_farthest(void **state)
{
    enum { COUNT = 200000 };
    static const int64_t mosts[] = {127, 128, 255, 1000, INT16_MAX};
    cnn_shift *none = drawn(9, 9, 1000, 0);
    for (int i = 0; i < 1000; i++) assert_true(none[i].dy == 0 && none[i].dx == 0);
    free(none);
    trainer_shifts(9, 9, 0, 3, NULL); /* no images */
    for (size_t m = 0; m < sizeof mosts / sizeof mosts[0]; m++) {
        const double most = (double)mosts[m], sigma = sqrt(most * (most + 1) / 3);
        double sum[2] = {0}, squares = 0;
        int64_t lowest = 0, highest = 0;
        cnn_shift *s = drawn(9, 9, COUNT, mosts[m]);
        for (int i = 0; i < COUNT; i++) {
            const int64_t low = s[i].dy < s[i].dx ? s[i].dy : s[i].dx, high = s[i].dy + s[i].dx - low;
            lowest = low < lowest ? low : lowest;
            highest = high > highest ? high : highest;
            sum[0] += s[i].dy;
            sum[1] += s[i].dx;
            squares += (double)s[i].dy * s[i].dy + (double)s[i].dx * s[i].dx;
        }
        /* 400000 draws all miss the outer 1/8192 of a range with probability exp(-48) */
        assert_true(lowest >= -mosts[m] && highest <= mosts[m]);
        assert_true((double)lowest <= -most * (1 - 1.0 / 4096) && (double)highest >= most * (1 - 1.0 / 4096));
        for (int i = 0; i < 2; i++) assert_true(fabs(sum[i] / COUNT) <= 6 * sigma / sqrt(COUNT));
        /* a uniform value's square has the variance 0.8 sigma^4, but for terms of 1/most^2 */
        assert_true(fabs(squares / (2.0 * COUNT) - sigma * sigma) <= 6 * sigma * sigma / sqrt(2.0 * COUNT));
        free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shift_is_alike_likely),          cmocka_unit_test(epochs_and_seeds_are_independent),
        cmocka_unit_test(seed_and_epoch_alone_decide),          cmocka_unit_test(the_order_tells_nothing_of_the_shifts),
        cmocka_unit_test(no_epoch_has_the_numbers_of_an_order), cmocka_unit_test(no_shift_and_the_farthest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
