/* test_solved.c: how many problems are solved, and how fast, of records whose numbers are worked out by hand. */
#include "bench/figures/solved.h"
#include "tests/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static cnn_error failure;

/* Three algorithms at four problems. a:x is wrong in the second run of p3, however fast the first was. */
static const char records[] = "{\"kind\":\"env\",\"date\":\"2026-11-20T10:00:00Z\"}\n"
                              "{\"kind\":\"env\",\"date\":\"2026-11-22T10:00:00Z\"}\n"
#define ROW(algorithm, problem, rest)                                                                                  \
    "{\"kind\":\"conv\",\"op\":\"conv\"," algorithm ",\"dir\":\"FWD\",\"problem\":\"" problem "\"," rest "}\n"
#define TIME(median, low, high)                                                                                        \
    "\"state\":\"PASSED\",\"verified\":true,\"median_s\":" median ",\"low_s\":" low ",\"high_s\":" high
#define X "\"impl\":\"a\",\"algorithm\":\"x\""
#define Y "\"impl\":\"a\",\"algorithm\":\"y\""
#define Z "\"impl\":\"b\",\"algorithm\":\"z\""
    ROW(X, "p1", TIME("0.9", "0.8", "1.1")) ROW(X, "p1", TIME("1.1", "0.95", "1.2"))
        ROW(X, "p2", TIME("2.0", "1.9", "4.5")) ROW(X, "p3", TIME("0.1", "0.1", "0.1"))
            ROW(X, "p3", "\"state\":\"FAILED\",\"verified\":false") ROW(X, "p4", TIME("1.0", "1.0", "1.0"))
                ROW(Y, "p1", TIME("2.0", "1.15", "2.1")) ROW(Y, "p2", TIME("1.0", "0.9", "1.1"))
                    ROW(Y, "p3", TIME("3.0", "2.9", "3.1")) ROW(Y, "p4", "\"state\":\"UNSUPPORTED\",\"verified\":false")
                        ROW(Z, "p1", TIME("1.5", "1.4", "1.6")) ROW(Z, "p2", TIME("4.0", "3.9", "4.1"))
                            ROW(Z, "p3", TIME("1.0", "0.9", "1.1"));

/* set->request says what of it. */
static cnn_status read_request(solved_set *set, const char *text, size_t length)
{
    char path[] = "/tmp/test_solved.XXXXXX";
    const int file = mkstemp(path);
    int bad = 0;
    assert_true(file >= 0);
    assert_int_equal(write(file, text, length), length);
    close(file);
    assert_int_equal(solved_read(set, path, &bad, &failure), CNN_OK);
    unlink(path);
    assert_int_equal(bad, 0);
    return solved_make(set, &failure);
}

static cnn_status read_text(solved_set *set, const char *text, size_t length, const char *impl, const char *baseline)
{
    *set = (solved_set){.request = {impl, baseline, NULL}};
    return read_request(set, text, length);
}

static cnn_status read_into(solved_set *set, const char *impl, const char *baseline)
{
    return read_text(set, records, sizeof records - 1, impl, baseline);
}

static int find(const solved_set *set, const char *label)
{
    for (int c = 0; c < set->n_candidates; c++)
        if (strcmp(set->candidates[c].label, label) == 0) return c;
    fail_msg("no candidate '%s'", label);
    return -1;
}

static void holds(const solved_set *set, const char *label, const int counts[4], const double factors[3],
                  const double shares[3])
{
    const int number = find(set, label);
    const solved_candidate *c = &set->candidates[number];
    const int got[4] = {c->all.right, c->all.wrong, c->all.refused, c->all.not_asked};
    for (int i = 0; i < 4; i++)
        if (got[i] != counts[i]) fail_msg("%s: count %d is %d, not %d", label, i, got[i], counts[i]);
    for (int i = 0; i < 3; i++)
        if (fabs(solved_share(set, number, factors[i]) - shares[i]) > 1e-12)
            fail_msg("%s: a share of %g within %g, not %g", label, solved_share(set, number, factors[i]), factors[i],
                     shares[i]);
}

static void beside_the_fastest(void **state)
{
    solved_set set;
    const double factors[] = {1.0, 1.5, 3.0};
    assert_int_equal(read_into(&set, NULL, NULL), CNN_OK);
    assert_int_equal(set.n_candidates, 3);
    assert_int_equal(set.n_problems, 4);
    holds(&set, "a:x", (const int[]){3, 1, 0, 0}, factors, (const double[]){0.5, 0.5, 0.75});
    holds(&set, "a:y", (const int[]){3, 0, 1, 0}, factors, (const double[]){0.25, 0.25, 0.75});
    holds(&set, "b:z", (const int[]){3, 0, 0, 1}, factors, (const double[]){0.25, 0.5, 0.5});
    assert_int_equal(set.candidates[find(&set, "a:x")].all.fastest, 2);
    assert_int_equal(set.candidates[find(&set, "a:y")].all.fastest, 2); /* at p1 its interval meets the fastest's */
    const solved_count *x = &set.candidates[find(&set, "a:x")].all;     /* 1, 2 and 1 times as long as the fastest */
    assert_true(fabs(x->mean - cbrt(2.0)) < 1e-12 && x->median == 1.0 && x->worst == 2.0);
    assert_string_equal(set.asked[x->worst_problem].name, "conv p2 FWD");
    assert_string_equal(set.from, "2026-11-20");
    assert_string_equal(set.to, "2026-11-22");
    solved_free(&set);
}

/* What one algorithm has wrong another may have right: the implementation has it right, then. */
static void a_name_is_its_fastest_algorithm(void **state)
{
    solved_set set;
    assert_int_equal(read_into(&set, "a,b:z", NULL), CNN_OK);
    assert_int_equal(set.n_candidates, 2);
    holds(&set, "a", (const int[]){4, 0, 0, 0}, (const double[]){1.0, 2.9, 3.0}, (const double[]){0.75, 0.75, 1.0});
    solved_free(&set);
}

/* A name that another one begins with is a name of its own. */
static void all_of_a_baseline_are_named(void **state)
{
    static const char runs[] = ROW("\"impl\":\"a\",\"algorithm\":\"xx\"", "p1", TIME("1", "1", "1"))
        ROW(X, "p1", TIME("2", "2", "2")) ROW(X, "p2", TIME("2", "2", "2")) ROW(Z, "p1", TIME("1", "1", "1"));
    solved_set set;
    assert_int_equal(read_text(&set, runs, sizeof runs - 1, NULL, "a"), CNN_OK);
    assert_string_equal(set.baseline, "a:xx, a:x");
    solved_free(&set);
}

static void over_a_baseline(void **state)
{
    solved_set set;
    const double factors[] = {1.0, 1.5, 2.0};
    assert_int_equal(read_into(&set, NULL, "b"), CNN_OK);
    assert_int_equal(set.n_candidates, 2);
    assert_int_equal(set.n_problems, 3);
    assert_int_equal(set.left_out, 1);
    assert_string_equal(set.baseline, "b:z");
    holds(&set, "a:x", (const int[]){2, 1, 0, 0}, factors, (const double[]){2 / 3.0, 2 / 3.0, 1 / 3.0});
    holds(&set, "a:y", (const int[]){3, 0, 0, 0}, factors, (const double[]){1 / 3.0, 1 / 3.0, 1 / 3.0});
    const solved_candidate *x = &set.candidates[find(&set, "a:x")];
    assert_int_equal(x->all.sure, 1); /* p1: 0.8 to 1.2 beside 1.4 to 1.6; p2: up to 4.5 beside 3.9 to 4.1 */
    assert_true(fabs(x->all.mean - sqrt(1.5 * 2.0)) < 1e-12);
    solved_free(&set);
}

/* Three directions and batches; p1 has an mb of 4 within its name only. The group of BWD_W has no figure of the
 * baseline. */
static void groups_are_counted_by_themselves(void **state)
{
#define AT(who, dir, math, problem, seconds)                                                                           \
    "{\"kind\":\"conv\",\"op\":\"conv\"," who ",\"dir\":\"" dir "\",\"math\":\"" math "\",\"problem\":\"" problem      \
    "\"," TIME(seconds, seconds, seconds) "}\n"
    static const char runs[] = AT(Y, "BWD_W", "f32", "mb2ic1", "1") AT(X, "FWD", "f32", "ic3n\\\"p1mb4\\\"", "2")
        AT(Y, "FWD", "f32", "ic3n\\\"p1mb4\\\"", "1") AT(X, "FWD", "f32", "g2mb32ic4", "6")
            AT(Y, "FWD", "f32", "g2mb32ic4", "3") AT(X, "FWD", "tf32", "mb32ic5", "1")
                AT(Y, "FWD", "tf32", "mb32ic5", "4") AT(X, "FWD", "f32", "mb32ic6", "8")
                    AT(Y, "FWD", "f32", "mb32ic6", "1");
    solved_set set = {.request = {.baseline = "a:x", .by = "batch,math"}};
    solved_count n;
    assert_int_equal(read_request(&set, runs, sizeof runs - 1), CNN_OK);
    assert_int_equal(set.groups.count, 4);
    assert_string_equal(set.groups.texts[0], "2\nf32\n");
    assert_string_equal(set.groups.texts[1], "1\nf32\n");
    assert_string_equal(set.groups.texts[2], "32\nf32\n");
    assert_string_equal(set.groups.texts[3], "32\ntf32\n");
    assert_false(solved_has(&set, 0));
    assert_true(solved_has(&set, 1));
    assert_int_equal(solved_count_answers(&set, 0, 2, &n, &failure), CNN_OK);
    assert_true(n.problems == 2 && n.right == 2 && n.fastest == 2 && n.sure == 2);
    assert_true(fabs(n.mean - 4.0) < 1e-12 && n.median == 5.0 && n.worst == 2.0); /* of 2 and 8 */
    assert_string_equal(set.asked[n.worst_problem].name, "conv g2mb32ic4 FWD");
    assert_int_equal(solved_count_answers(&set, 0, 3, &n, &failure), CNN_OK);
    assert_true(n.problems == 1 && n.sure == 0 && n.worst == 0.25);
    cnn_record *record = solved_record(&set, 0, 2);
    assert_string_equal(record_get_text(record, "batch"), "32");
    assert_string_equal(record_get_text(record, "math"), "f32");
    assert_true(record_get_real(record, "fast_2") == 1.0 && record_get_real(record, "fast_1_5") == 1.0);
    record_free(record);
    record = solved_record(&set, 0, SOLVED_ALL);
    assert_string_equal(record_get_text(record, "batch"), "all");
    assert_true(record_get_real(record, "fast_1") == 0.75 && record_get_real(record, "problems") == 4);
    record_free(record);
    solved_free(&set);
}

/* The baseline is compared, too, where --impl names it; a problem that it has wrong has no baseline. */
static void a_baseline_that_is_wrong_is_none(void **state)
{
    solved_set set;
    assert_int_equal(read_into(&set, "a:x,b", "a:x"), CNN_OK);
    assert_int_equal(set.n_problems, 3); /* without p3 */
    holds(&set, "a:x", (const int[]){3, 0, 0, 0}, (const double[]){1.0, 1.0, 1.1}, (const double[]){1.0, 1.0, 0.0});
    holds(&set, "b", (const int[]){2, 0, 0, 1}, (const double[]){0.5, 0.6, 0.7}, (const double[]){2 / 3.0, 1 / 3.0, 0});
    solved_free(&set);
}

/* Kernels that are compiled for a run have one name: their environment tells which is whose. */
static void kernels_are_told_apart_by_their_source(void **state)
{
#define ENV(source) "{\"kind\":\"env\",\"impl\":\"kernel\",\"implementation\":{\"kernel_source\":\"" source "\"}}\n"
#define K "\"impl\":\"kernel\",\"algorithm\":\"conv\""
    static const char runs[] = ENV("/tmp/a.c:conv, 1") ROW(K, "p1", TIME("1", "1", "1")) ENV("/tmp/b.c:conv, 2")
        ROW(K, "p1", TIME("2", "2", "2")) ENV("b/b.c:conv, 3") ROW(K, "p1", TIME("4", "4", "4"));
    solved_set set;
    assert_int_equal(read_text(&set, runs, sizeof runs - 1, "kernel", NULL), CNN_OK);
    assert_int_equal(set.n_candidates, 3);
    assert_int_equal(set.candidates[find(&set, "kernel a.c:conv")].all.fastest, 1);
    assert_int_equal(set.candidates[find(&set, "kernel b.c:conv, 2")].all.fastest, 0);
    assert_true(solved_share(&set, find(&set, "kernel b.c:conv, 3"), 4.0) == 1.0);
    solved_free(&set);
}

static void what_cannot_be_counted_is_said(void **state)
{
    solved_set set;
    assert_int_equal(read_into(&set, NULL, "nothing"), CNN_BAD_ARGUMENT);
    assert_message(failure, "of the baseline nothing");
    solved_free(&set);
    assert_int_equal(read_into(&set, "nothing", NULL), CNN_BAD_ARGUMENT);
    assert_message(failure, "no timed operation to count");
    solved_free(&set);
    assert_int_equal(read_into(&set, NULL, "a,b"), CNN_BAD_ARGUMENT);
    solved_free(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(beside_the_fastest),
        cmocka_unit_test(a_name_is_its_fastest_algorithm),
        cmocka_unit_test(all_of_a_baseline_are_named),
        cmocka_unit_test(over_a_baseline),
        cmocka_unit_test(groups_are_counted_by_themselves),
        cmocka_unit_test(a_baseline_that_is_wrong_is_none),
        cmocka_unit_test(kernels_are_told_apart_by_their_source),
        cmocka_unit_test(what_cannot_be_counted_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
