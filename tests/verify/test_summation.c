/* test_summation.c: what verify/summation/ finds out of sums of known order (summation_kernels.h), and of what is none.
 */
#include "tests/unit.h"

#include "summation_kernels.h"
#include "verify/summation/summation.h"

#include <stdio.h>

enum { MOST = 256 };

/* Counted as a convolution's products are, ic x 3 x 3, as BWD_W's (images of 3 x 4 pixels), or by one axis. */
typedef enum grid { TAPS, PIXELS, ROW } grid;

typedef struct known {
    known_sum *sum;
    grid grid;
    int n;
    const char *order, *bias;
    int inner, outer; /* bits */
    sum_rounding rounding;
    sum_product product;
    int factor;   /* bits */
    int foretold; /* -1: not all */
} known;

static cnn_status run_known(void *user, const double *a, const double *b, double *sum, cnn_error *err)
{
    const known *k = user;
    float fa[MOST], fb[MOST];
    for (int i = 0; i < k->n; i++) fa[i] = (float)a[i], fb[i] = (float)b[i];
    *sum = (double)k->sum(fa, fb, k->n, (float)a[k->n]);
    return CNN_OK;
}

static void count(const known *k, int (*at)[SUM_AXES_MAX], sum_axes *axes)
{
    static const char *const names[][SUM_AXES_MAX] = {{"ic", "kh", "kw"}, {"mb", "oh", "ow"}, {"ic", "", ""}};
    static const int sizes[][2] = {{3, 3}, {3, 4}, {1, 1}};
    const int *size = sizes[k->grid];
    *axes = (sum_axes){.count = SUM_AXES_MAX, .at = (const int(*)[SUM_AXES_MAX])at};
    for (int i = 0; i < k->n; i++) {
        at[i][0] = i / (size[0] * size[1]);
        at[i][1] = i / size[1] % size[0];
        at[i][2] = i % size[1];
    }
    for (int a = 0; a < SUM_AXES_MAX; a++) snprintf(axes->name[a], sizeof axes->name[a], "%s", names[k->grid][a]);
}

static cnn_status find(const known *k, sum_findings *found, cnn_error *err)
{
    int at[MOST][SUM_AXES_MAX];
    sum_axes axes;
    sum_tree tree;
    known copy = *k;
    const sum_kernel kernel = {.products = k->n, .addends = 1, .digits = 24, .run = run_known, .user = &copy};
    count(k, at, &axes);
    const cnn_status status = sum_find(&kernel, &axes, 1, &tree, found, err);
    if (status == CNN_OK) sum_tree_free(&tree);
    return status;
}

static void check(const known *k)
{
    static sum_findings found;
    cnn_error err;
    const cnn_status status = find(k, &found, &err);
    if (status != CNN_OK) fail_msg("'%s': %s", k->order, err.message);
    assert_string_equal(found.order, k->order);
    assert_string_equal(found.place[0], k->bias);
    assert_true(found.regular);
    if (found.inner_bits != k->inner || found.outer_bits != k->outer)
        fail_msg("'%s': accumulators of %d and %d bits, not %d and %d", k->order, found.inner_bits, found.outer_bits,
                 k->inner, k->outer);
    assert_string_equal(sum_rounding_name(found.rounding), sum_rounding_name(k->rounding));
    assert_string_equal(sum_product_name(found.product), sum_product_name(k->product));
    assert_int_equal(found.a_bits, k->factor);
    assert_int_equal(found.b_bits, k->factor);
    assert_int_equal(found.asked, k->sum == in_fours ? 0 : SUM_FORETELLS);
    if (k->foretold < 0 ? found.foretold == SUM_FORETELLS : found.foretold != k->foretold)
        fail_msg("'%s': %d foretold, not %d", k->order, found.foretold, k->foretold);
}

static const known rows[] = {
    {in_sequence, TAPS, 36, "in sequence over ic, kh, kw", "first", 24, 24, SUM_TO_NEAREST_EVEN, SUM_ROUNDED, 24, 16},
    {backwards, TAPS, 36, "in sequence over ic backwards, kh backwards, kw backwards", "last", 24, 24,
     SUM_TO_NEAREST_EVEN, SUM_ROUNDED, 24, 16},
    {with_fma, TAPS, 36, "in sequence over ic, kh, kw", "last", 24, 24, SUM_TO_NEAREST_EVEN, SUM_FMA, 24, 16},
    {channels_inside, TAPS, 36, "in sequence over kh, kw, ic", "first", 24, 24, SUM_TO_NEAREST_EVEN, SUM_ROUNDED, 24,
     16},
    {in_blocks_of_8, ROW, 64, "8 partial sums (8 ic), each in sequence over 8 ic; added in sequence over ic by 8",
     "first", 24, 24, SUM_TO_NEAREST_EVEN, SUM_ROUNDED, 24, 16},
    {in_blocks_of_8, ROW, 60, "7 partial sums (8 ic), each in sequence over 8 ic, and one of 4; added in sequence",
     "first", 24, 24, SUM_TO_NEAREST_EVEN, SUM_ROUNDED, 24, 16},
    {in_4_lanes, ROW, 64, "4 partial sums (every 4th ic), each in sequence over ic by 4; added in sequence over 4 ic",
     "last", 24, 24, SUM_TO_NEAREST_EVEN, SUM_FMA, 24, 16},
    {in_8_lanes, ROW, 64, "8 partial sums (every 8th ic), each in sequence over ic by 8; added pairwise", "last", 24,
     24, SUM_TO_NEAREST_EVEN, SUM_FMA, 24, 16},
    {in_8_lanes_and_rest, ROW, 67,
     "8 partial sums (every 8th ic), each in sequence over ic by 8; added pairwise; then 3 more in sequence over 3 ic",
     "last", 24, 24, SUM_TO_NEAREST_EVEN, SUM_FMA, 24, 16},
    {pairwise, ROW, 64, "pairwise (32 ic)", "last", 24, 24, SUM_TO_NEAREST_EVEN, SUM_ROUNDED, 24, 16},
    {pairwise, TAPS, 36, "pairwise (2 ic)", "last", 24, 24, SUM_TO_NEAREST_EVEN, SUM_ROUNDED, 24, 16},
    {by_images, PIXELS, 36, "3 partial sums (each mb), each in sequence over oh, ow; added in sequence over mb",
     "first", 24, 24, SUM_TO_NEAREST_EVEN, SUM_ROUNDED, 24, 16},
    {in_double, TAPS, 36, "in sequence over ic, kh, kw", "first", 53, 53, SUM_TO_NEAREST_EVEN, SUM_EXACT, 24, 16},
    {in_double_of_rounded, TAPS, 36, "in sequence over ic, kh, kw", "first", 53, 53, SUM_TO_NEAREST_EVEN, SUM_ROUNDED,
     24, 16},
    {wide_between_blocks, ROW, 64, "8 partial sums (8 ic), each in sequence over 8 ic; added in sequence over ic by 8",
     "last", 24, 53, SUM_TO_NEAREST_EVEN, SUM_ROUNDED, 24, -1},
    {of_bf16, TAPS, 36, "in sequence over ic, kh, kw", "first", 24, 24, SUM_TO_NEAREST_EVEN, SUM_PRODUCT_UNKNOWN, 8, 0},
    {in_f16, TAPS, 36, "in sequence over ic, kh, kw", "first", 11, 11, SUM_TO_NEAREST_EVEN, SUM_PRODUCT_UNKNOWN, 11, 0},
    {toward_zero, TAPS, 36, "in sequence over ic, kh, kw", "first", 24, 24, SUM_TOWARD_ZERO, SUM_ROUNDED, 24, -1},
    {downward, TAPS, 36, "in sequence over ic, kh, kw", "first", 24, 24, SUM_DOWNWARD, SUM_ROUNDED, 24, -1},
    {ties_away, TAPS, 36, "in sequence over ic, kh, kw", "first", 24, 24, SUM_TO_NEAREST_AWAY, SUM_ROUNDED, 24, -1},
    {compensated, TAPS, 36, "in sequence over ic, kh, kw", "first", 25, 25, SUM_TO_NEAREST_EVEN, SUM_ROUNDED, 24, -1},
    {in_fours, TAPS, 36, "4 at a time, in one addition with the sum before, in sequence over ic, kh, kw", "last", 24,
     24, SUM_TOWARD_ZERO, SUM_ROUNDED, 24, 0},
};

static void test_known(void **state)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) check(&rows[i]);
}

/* What cannot be found is said with its reason, and is no error of the kernel. */
static void test_no_tree(void **state)
{
    static const struct {
        known_sum *sum;
        const char *word;
    } none[] = {{at_random, "no tree fits"}, {winograd, "no count of ones"}, {in_bins, "exact"}};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        static sum_findings found;
        cnn_error err;
        const known k = {none[i].sum, TAPS, 36, .order = ""};
        if (find(&k, &found, &err) != CNN_UNSUPPORTED) fail_msg("'%s' has an order: %s", none[i].word, found.tree);
        assert_message(err, none[i].word);
    }
}

/* ---- One addend more, as with beta 1. */

/* The row's sum, and the old value before it or behind it. */
static cnn_status run_more(void *user, const double *a, const double *b, double *sum, cnn_error *err)
{
    const known *k = user;
    const float old = (float)a[k->n + 1];
    double rest;
    if (k->sum == in_sequence && k->foretold) { /* old first */
        float fa[MOST], fb[MOST];
        for (int i = 0; i < k->n; i++) fa[i] = (float)a[i], fb[i] = (float)b[i];
        *sum = (double)(in_sequence(fa, fb, k->n, old) + (float)a[k->n]);
        return CNN_OK;
    }
    const cnn_status status = run_known(user, a, b, &rest, err);
    *sum = (double)((float)rest + old);
    return status;
}

static void test_more(void **state)
{
    static const struct {
        known_sum *before, *more;
        int first;
        const char *beta;
    } cases[] = {{backwards, backwards, 0, "last"},
                 {in_8_lanes, in_8_lanes, 0, "last"},
                 {in_sequence, in_sequence, 1, "first, and the bias then last"},
                 {in_sequence, backwards, 0,
                  "last, in another order: in sequence over ic backwards, kh backwards, kw backwards"},
                 {in_sequence, winograd, 0, "cannot tell: among 36 ones"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        static sum_findings found;
        int at[MOST][SUM_AXES_MAX];
        sum_axes axes;
        sum_tree tree;
        cnn_error err;
        known before = {cases[i].before, TAPS, 36, .order = ""}, more = {cases[i].more, TAPS, 36, .order = ""};
        more.foretold = cases[i].first;
        sum_kernel kernel = {.products = 36, .addends = 1, .digits = 24, .run = run_known, .user = &before};
        count(&before, at, &axes);
        assert_int_equal(sum_find(&kernel, &axes, 1, &tree, &found, &err), CNN_OK);
        kernel.addends = 2, kernel.run = run_more, kernel.user = &more;
        assert_int_equal(sum_find_more(&kernel, &axes, 1, &tree, &found, &err), CNN_OK);
        if (strncmp(found.beta, cases[i].beta, strlen(cases[i].beta)) != 0)
            fail_msg("beta: %s, not %s", found.beta, cases[i].beta);
        sum_tree_free(&tree);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_known), cmocka_unit_test(test_no_tree),
                                       cmocka_unit_test(test_more)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
