/* test_verify_retouch.c: a case that follows its inputs, change by change, comes to what the reference computes afresh.
 */
#include "harness/problem/problem.h"
#include "tests/problem_unit.h"

#include "harness/base/rng.h"
#include "verify/oracle/case.h"

#include <math.h>
#include <string.h>

static const char *const problems[] = {"mb2ic3ih7iw5oc4kh3kw2sh2sw1ph1pw0", "g2mb3ic4ih6oc6kh3ph1dh1",
                                       "mb1ic1ih1oc1kh1ph0", "mb2ic2ih9oc3kh4sh3ph2", "g4mb2ic4ih5oc4kh2ph0"};

static void follow(void *user, int operand, int64_t index, double difference)
{
    double *sums = user;
    sums[operand] += difference;
}

/* Of every input but the bias, which is no factor. */
static void retouch_any(vf_case *c, cnn_rng *rng, double *sums)
{
    int operand;
    do operand = (int)rng_int(rng, 0, c->call.count - 1);
    while (c->call.operands[operand].access != CNN_IN || strcmp(c->call.operands[operand].name, "b") == 0);
    vf_retouch(c, operand, rng_int(rng, 0, c->call.operands[operand].count - 1), (double)rng_int(rng, -64, 64) / 8,
               follow, sums);
}

static void near_each(const double *a, const double *b, int64_t count, const char *text)
{
    for (int64_t e = 0; e < count; e++)
        if (!(fabs(a[e] - b[e]) <= 1e-9)) fail_msg("%s: element %lld is %g, not %g", text, (long long)e, a[e], b[e]);
}

static void check(cnn_op op, const char *text, bool flip, cnn_dir dir)
{
    const cnn_problem_defaults defaults = {.type = {CNN_F32, CNN_F32, CNN_NHWC, CNN_MATH_F32}, .flip = flip};
    const cnn_problem problem = problem_with(op, text, &defaults);
    cnn_error err = {.message = ""};
    vf_case c, copy, fresh;
    double sums[CNN_MAX_OPERANDS] = {0};
    cnn_rng rng = rng_stream(5, (uint64_t)dir);
    if (vf_case_make(&c, &problem, dir, VF_REALS, 0, 3, NULL, &err) != CNN_OK) fail_msg("%s", err.message);
    assert_int_equal(vf_case_copy(&c, &copy, &err), CNN_OK);
    for (int i = 0; i < 200; i++) retouch_any(&copy, &rng, sums);
    assert_int_equal(vf_case_copy(&copy, &fresh, &err), CNN_OK);
    assert_int_equal(vf_case_again(&fresh, 1, &err), CNN_OK);
    for (int i = 0; i < c.call.count; i++) {
        double sum = 0;
        if (!c.after[i]) continue;
        near_each(copy.after[i], fresh.after[i], c.call.operands[i].count, text);
        near_each(copy.magnitude[i], fresh.magnitude[i], c.call.operands[i].count, text);
        near_each(copy.roundings[i], fresh.roundings[i], c.call.operands[i].count, text);
        for (int64_t e = 0; e < c.call.operands[i].count; e++) sum += copy.after[i][e] - c.after[i][e];
        assert_true(fabs(sum - sums[i]) < 1e-6); /* each was told of every difference */
    }
    vf_case_free(&fresh);
    vf_case_free(&copy);
    vf_case_free(&c);
}

static void every_change_is_followed(void **state)
{
    for (int dir = 0; dir < CNN_DIR_COUNT; dir++) {
        for (size_t i = 0; i < sizeof problems / sizeof *problems; i++)
            for (int flip = 0; flip < 2; flip++) check(CNN_OP_CONV, problems[i], flip, (cnn_dir)dir);
        check(CNN_OP_FC, "mb3ic4ih2oc5", false, (cnn_dir)dir);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_change_is_followed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
