/* test_verify_hidden.c: where a transform has products that no result has, its bound is that of the largest, too. */
#include "tests/problem_unit.h"
#include "tests/unit.h"
#include "verify/oracle/compare.h"

#include <math.h>

static const vf_rounding plain = {
    .unit = 0x1p-24, .tiny = 0x1p-126, .amplification = 1.0, .mean = 1.0, .bits = 24, .stored = CNN_F32};

static double largest(const double *v, int64_t count)
{
    double most = 0.0;
    for (int64_t i = 0; i < count; i++) most = fmax(most, fabs(v[i]));
    return most;
}

/* What is hidden in this problem, by a transform; the bound of the first result grows by it. */
static double hidden_of(const char *text, cnn_dir dir, double *product)
{
    static const char *const outputs[] = {[CNN_FWD] = "y", [CNN_BWD_D] = "dx", [CNN_BWD_W] = "dw"};
    const cnn_problem problem = problem_of(CNN_OP_CONV, text, CNN_F32, CNN_NCHW);
    vf_rounding transform = plain;
    vf_case c;
    cnn_error err;
    transform.normwise = true;
    if (vf_case_make(&c, &problem, dir, VF_REALS, 0, 5, NULL, &err) != CNN_OK) fail_msg("%s", err.message);
    const int at = vf_index(c.call.operands, c.call.count, outputs[dir]);
    const cnn_operand *o = &c.call.operands[at];
    *product = 1.0;
    for (int i = 0; i < c.call.count; i++)
        if (vf_is_factor(&c.call.operands[i]) && c.before[i] != NULL)
            *product *= largest(c.before[i], c.call.operands[i].count);
    assert_true(vf_rounding_in(&plain, &c, o).hidden == 0.0); /* no transform */
    const vf_rounding r = vf_rounding_in(&transform, &c, o);
    const vf_allowance a = vf_allow(NULL, &r, &c.call.out[at], o->count);
    assert_true(a.top >= r.hidden && a.most >= r.hidden_terms);
    if (r.hidden == 0.0) assert_true(a.top == largest(c.magnitude[at], o->count));
    vf_case_free(&c);
    return r.hidden;
}

static void an_image_that_some_output_sees_whole_hides_nothing(void **state)
{
    static const char *const texts[] = {"mb2ic3ih8oc4kh3ph1", "mb2ic3ih3oc4oh1kh3", "mb2ic3ih9iw4oc4kh3kw3ph1pw1"};
    double product;
    for (int i = 0; i < 3; i++)
        for (cnn_dir dir = CNN_FWD; dir <= CNN_BWD_W; dir++)
            if (i != 1 || dir != CNN_BWD_D) assert_true(hidden_of(texts[i], dir, &product) == 0.0);
}

/* Weights that meet nothing but padding, and an output that sees no pixel at all (its last columns are cut off). */
static void padding_and_cuts_hide_products(void **state)
{
    double product, hidden = hidden_of("mb2ic3ih8iw1oc4kh3kw3ph1pw1", CNN_FWD, &product);
    assert_true(hidden == 27.0 * product);
    hidden = hidden_of("mb1ic1ih9iw1oc1oh7ow1kh3kw3ph0pw3", CNN_FWD, &product);
    assert_true(hidden == 9.0 * product);
    hidden = hidden_of("mb2ic3ih8iw1oc4kh3kw3ph1pw1", CNN_BWD_W, &product);
    assert_true(hidden == 2.0 * 8.0 * product);
    hidden = hidden_of("mb2ic3ih3oc4oh1kh3", CNN_BWD_D, &product); /* one pixel of dy: each of dx has one tap */
    assert_true(hidden == 36.0 * product);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_image_that_some_output_sees_whole_hides_nothing),
        cmocka_unit_test(padding_and_cuts_hide_products),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
