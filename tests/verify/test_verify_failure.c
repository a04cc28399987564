/* Where it went wrong: patterns of errors are recognised and drawn, arrays are handed on; and the determinism check
 * says in which runs the bits are the same. */
#include "tests/unit.h"

#include "verify/engine.h"
#include "verify_fake.h"

/* ---- Patterns: a failure whose wrong elements are those for which `is_wrong` holds. */

typedef bool pattern(int64_t n, int64_t c, int64_t h, int64_t w);

static vf_failure collect(const cnn_operand *o, pattern *is_wrong, double got)
{
    vf_failure f;
    int64_t index = 0;
    vf_failure_start(&f, o);
    for (int64_t n = 0; n < o->dims[0]; n++)
        for (int64_t c = 0; c < o->dims[1]; c++)
            for (int64_t h = 0; h < o->dims[2]; h++)
                for (int64_t w = 0; w < o->dims[3]; w++, index++)
                    if (is_wrong(n, c, h, w)) vf_failure_add(&f, &(vf_wrong_element){index, 3.0, got, 1e-6});
    return f;
}

static cnn_operand tensor(int64_t n, int64_t c, int64_t h, int64_t w)
{
    return (cnn_operand){
        .name = "y", .access = CNN_OUT, .shape = CNN_SHAPE_TENSOR, .dims = {n, c, h, w}, .count = n * c * h * w};
}

static bool last_channels(int64_t n, int64_t c, int64_t h, int64_t w) { return c >= 16; }
static bool last_column(int64_t n, int64_t c, int64_t h, int64_t w) { return w == 20; }
static bool border(int64_t n, int64_t c, int64_t h, int64_t w) { return h == 0 || h == 16 || w == 0 || w == 20; }
static bool lanes(int64_t n, int64_t c, int64_t h, int64_t w) { return w % 8 == 7; }
static bool edges(int64_t n, int64_t c, int64_t h, int64_t w) { return h % 8 == 0 || h % 8 == 7; }
static bool everything(int64_t n, int64_t c, int64_t h, int64_t w) { return true; }
static bool one(int64_t n, int64_t c, int64_t h, int64_t w) { return n == 1 && c == 2 && h == 3 && w == 4; }
static bool scattered(int64_t n, int64_t c, int64_t h, int64_t w) { return (n * 7 + c * 5 + h * 3 + w * 11) % 13 == 0; }

static void patterns_are_recognised(void **state)
{
    static const struct {
        pattern *is_wrong;
        const char *guess;
    } cases[] = {{last_channels, "errors only in the last 3 of 19 c"},
                 {last_column, "errors only at w = 20, the last of 21"},
                 {border, "errors only within 1 of the border of h and w"},
                 {lanes, "errors only at w % 8 = 7"},
                 {edges, "errors only at h % 8 = 0 or 7"},
                 {everything, "every element is wrong"},
                 {one, "errors only at n = 1, the last of 2 and at c = 2 of 19 and at h = 3 of 17 and at w = 4 of 21"},
                 {scattered, "errors all over the array"}};
    const cnn_operand o = tensor(2, 19, 17, 21);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char guess[320], text[VERIFY_WHERE_MAX];
        const vf_failure f = collect(&o, cases[i].is_wrong, 4.0);
        vf_failure_guess(&f, guess, sizeof guess);
        assert_string_equal(guess[0] == ' ' ? guess + 1 : guess, cases[i].guess);
        vf_failure_text(&f, text);
        assert_non_null(strstr(text, cases[i].guess));
    }
}

static void values_are_recognised(void **state)
{
    static const struct {
        double got;
        const char *says;
    } cases[] = {{NAN, "all are NaN or infinite"}, {0.0, "not computed?"}, {6.0, "added twice?"}, {5.0, NULL}};
    const cnn_operand o = tensor(2, 19, 17, 21);
    for (int i = 0; i < 4; i++) {
        char guess[320];
        const vf_failure f = collect(&o, last_channels, cases[i].got);
        vf_failure_guess(&f, guess, sizeof guess);
        if (cases[i].says != NULL)
            assert_non_null(strstr(guess, cases[i].says));
        else
            assert_null(strchr(guess, ';'));
    }
}

static void ten_elements_and_a_picture(void **state)
{
    const cnn_operand o = tensor(2, 19, 4, 6);
    char text[VERIFY_WHERE_MAX];
    const vf_failure f = collect(&o, last_channels, 4.0);
    vf_failure_text(&f, text);
    assert_non_null(strstr(text, "144 of 912 elements of y are wrong"));
    assert_non_null(strstr(text, "y[n=0,c=16,h=0,w=0]: expected 3, got 4, error 1, bound 1e-06\n"));
    assert_non_null(strstr(text, "y[n=0,c=16,h=1,w=3]")); /* the tenth */
    assert_null(strstr(text, "y[n=0,c=16,h=1,w=4]"));
    assert_non_null(strstr(text, "by c     ................###\n"));
    assert_non_null(strstr(text, "by n     ++\n"));
    assert_non_null(strstr(text, "        ++++++\n"));
}

/* The longest text there can be, of a large array, is cut nowhere. */
static void large_arrays_fit(void **state)
{
    const cnn_operand o = tensor(70, 200, 100, 300);
    vf_failure f;
    char text[VERIFY_WHERE_MAX];
    vf_failure_start(&f, &o);
    for (int64_t i = 0; i < 3000; i++)
        vf_failure_add(&f, &(vf_wrong_element){o.count - 1 - i * 137777, -1.23456789e-300, -9.87654321e+300, 1e-300});
    vf_failure_text(&f, text);
    const char *last = strstr(text, "w across");
    assert_non_null(last);
    int lines = 0;
    for (; *last != '\0'; last++) lines += *last == '\n';
    assert_int_equal(lines, 1 + VF_BINS / 3);
}

/* ---- Through the checks. */

typedef struct seen {
    verdict v;
    int failures;
    bool right, wrong;
} seen;

static void take_arrays(void *user, const verify_failure *f)
{
    seen *s = user;
    s->failures++;
    for (int i = 0; i < f->count; i++) {
        if (strcmp(f->operands[i].name, "x") == 0)
            s->right = f->before[i] != NULL && f->expected[i] == NULL && f->got[i] == NULL;
        if (strcmp(f->operands[i].name, "y") == 0) {
            const int64_t last = f->operands[i].count - 1;
            s->wrong = memcmp(f->expected[i], f->got[i], (size_t)last * sizeof(double)) != 0 ||
                       fabs(f->expected[i][last] - f->got[i][last]) >= 1.0;
        }
    }
}

static seen ask(mutant m, const char *text, cnn_dir dir, int algorithm, bool all_bits)
{
    seen s = {.failures = 0};
    const verify_options options = {.checks = ~0u,
                                    .seed = 7,
                                    .reference_threads = 1,
                                    .all_bits = all_bits,
                                    .failed = take_arrays,
                                    .failed_user = &s};
    const cnn_problem problem = problem_of(CNN_OP_CONV, text, CNN_F32, CNN_NHWC);
    s.v = fake_ask(m, &problem, dir, algorithm, &options);
    return s;
}

static void failures_say_where_and_hand_on_their_arrays(void **state)
{
    seen s = ask(MUTANT_CORNER, "mb2ic5ih9oc6kh3ph1", CNN_FWD, 0, false);
    assert_int_equal(s.failures, 2); /* exact and bound */
    assert_true(s.right && s.wrong);
    assert_non_null(
        strstr(s.v.last[VERIFY_BOUND].where, "1 of 972 elements of y is wrong: errors only at n = 1, the last of 2"));
    assert_non_null(strstr(s.v.last[VERIFY_EXACT].where, "y[n=1,c=5,h=8,w=8]"));
    s = ask(MUTANT_NONE, "mb2ic5ih9oc6kh3ph1", CNN_FWD, 0, false);
    assert_int_equal(s.failures, 0);
    assert_string_equal(s.v.last[VERIFY_BOUND].where, "");
}

static void expect_bits(mutant m, cnn_dir dir, const char *text, const char *wanted)
{
    const seen s = ask(m, text, dir, 1, true);
    const verify_bits *bits = &s.v.last[VERIFY_DETERMINISM].bits;
    for (int a = 0; a < VERIFY_SAME_COUNT; a++)
        if ((bits->same[a] == 0 ? '-' : bits->same[a]) != wanted[a])
            fail_msg("%s, mutant %d, direction %d: aspect %d is '%c', not '%c'", text, (int)m, dir, a, bits->same[a],
                     wanted[a]);
    assert_true(bits->digest != 0);
}

/* In the order of verify_same: runs, threads, position, contexts. */
static void bits_are_told_apart(void **state)
{
    expect_bits(MUTANT_NONE, CNN_FWD, "mb3ic5ih9oc6kh3ph1", "yyyy");
    expect_bits(MUTANT_NONE, CNN_BWD_D, "mb3ic5ih9oc6kh3ph1", "yyyy");
    expect_bits(MUTANT_NONE, CNN_BWD_W, "mb3ic5ih9oc6kh3ph1", "yy-y");
    expect_bits(MUTANT_NONE, CNN_FWD, "mb1ic5ih9oc6kh3ph1", "yy-y");
    expect_bits(MUTANT_THREADS, CNN_FWD, "mb3ic5ih9oc6kh3ph1", "ynyy");
    expect_bits(MUTANT_TF32, CNN_FWD, "mb3ic5ih9oc6kh3ph1", "yyyy");
    expect_bits(TWO_THREADS, CNN_FWD, "mb3ic5ih9oc6kh3ph1", "y-yy");
    const seen two_threads = ask(TWO_THREADS, "mb3ic5ih9oc6kh3ph1", CNN_FWD, 0, true);
    assert_int_equal(two_threads.v.last[VERIFY_DETERMINISM].state, VERIFY_PASSED);
    const seen other = ask(MUTANT_TF32, "mb3ic5ih9oc6kh3ph1", CNN_FWD, 1, true),
               own = ask(MUTANT_NONE, "mb3ic5ih9oc6kh3ph1", CNN_FWD, 0, true),
               again = ask(MUTANT_NONE, "mb3ic5ih9oc6kh3ph1", CNN_FWD, 1, true);
    assert_true(own.v.last[VERIFY_DETERMINISM].bits.digest == again.v.last[VERIFY_DETERMINISM].bits.digest);
    assert_true(own.v.last[VERIFY_DETERMINISM].bits.digest != other.v.last[VERIFY_DETERMINISM].bits.digest);
    const seen random = ask(MUTANT_RANDOM, "mb3ic5ih9oc6kh3ph1", CNN_FWD, 1, true);
    assert_int_equal(random.v.last[VERIFY_DETERMINISM].bits.same[VERIFY_SAME_RUNS], 'n');
    assert_int_equal(random.v.last[VERIFY_DETERMINISM].bits.same[VERIFY_SAME_CONTEXTS], 'n');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_are_recognised),
        cmocka_unit_test(values_are_recognised),
        cmocka_unit_test(ten_elements_and_a_picture),
        cmocka_unit_test(large_arrays_fit),
        cmocka_unit_test(failures_say_where_and_hand_on_their_arrays),
        cmocka_unit_test(bits_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
