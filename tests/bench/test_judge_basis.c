/* test_judge_basis.c: whatever stands in an input, the pulled-back factors say what the outputs project to. */
#include "bench/measure/judge_basis.h"
#include "tests/problem_unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What output k projects to, by its elements; and the sum of the absolute values. */
static double projection(const judge_basis *b, const vf_case *c, int k, double *size)
{
    const cnn_operand *o = &c->call.operands[k];
    double sum = *size = 0;
    for (int64_t e = 0; e < o->count; e++) {
        const double term = judge_factor_at(b, o, e) * c->after[k][e];
        sum += term;
        *size += fabs(term);
    }
    return sum;
}

/* By the elements of input i, which stand as the problem's layout has them. */
static double by_pullback(const judge_basis *b, const vf_case *c, int i, int k)
{
    const cnn_operand *o = &c->call.operands[i];
    double sum = b->pullback[i].rest[k];
    for (int64_t e = 0; e < o->count; e++)
        sum += b->pullback[i].factors[k][vf_position(&c->problem, o, e)] * c->before[i][e];
    return sum;
}

static int hold(const judge_basis *b, const vf_case *base, int i, cnn_rng *rng)
{
    vf_case c;
    cnn_error err;
    int held = 0;
    assert_int_equal(vf_case_copy(base, &c, &err), CNN_OK);
    for (int64_t e = 0; e < c.call.operands[i].count; e++) c.before[i][e] = rng_real(rng, -1, 1);
    assert_int_equal(vf_case_again(&c, 1, &err), CNN_OK);
    for (int k = 0; k < c.call.count; k++) {
        double size, before;
        if (!c.after[k]) continue;
        const double expected = projection(b, &c, k, &size);
        if (!b->pullback[i].factors[k]) { /* it does not depend on the input */
            assert_true(expected == projection(b, base, k, &before));
            continue;
        }
        assert_true(fabs(by_pullback(b, &c, i, k) - expected) <= 1e-12 * size);
        assert_true(fabs(expected - projection(b, base, k, &before)) > 1e-6 * size); /* so it would show */
        held++;
    }
    vf_case_free(&c);
    return held;
}

/* All inputs of the direction; how many pairs of an input and an output there were. */
static int check(cnn_op op, const char *text, cnn_layout layout, cnn_dir dir)
{
    cnn_error err;
    judge_basis *b;
    vf_case c;
    cnn_rng rng = rng_stream(1, 2);
    const cnn_problem problem = problem_of(op, text, CNN_F32, layout);
    int held = 0;
    assert_int_equal(vf_case_make(&c, &problem, dir, VF_REALS, 0, 1, NULL, &err), CNN_OK);
    assert_int_equal(judge_basis_open(&c, 1, &b, &err), CNN_OK);
    for (int i = 0; i < c.call.count; i++)
        if (judge_has_pullback(b, i)) held += hold(b, &c, i, &rng);
    judge_basis_close(b);
    vf_case_free(&c);
    return held;
}

/* FWD: y by x and by w. BWD_D: dx by dy and by w. BWD_W: dw by x and by dy, db by dy alone. */
static void check_all(cnn_op op, const char *text)
{
    for (int layout = 0; layout < CNN_LAYOUT_COUNT; layout++) {
        assert_int_equal(check(op, text, (cnn_layout)layout, CNN_FWD), 2);
        assert_int_equal(check(op, text, (cnn_layout)layout, CNN_BWD_D), 2);
        assert_int_equal(check(op, text, (cnn_layout)layout, CNN_BWD_W), 3);
    }
}

static void convolutions(void **state)
{
    check_all(CNN_OP_CONV, "mb2g2ic4ih7iw6oc6kh3kw2sh2sw1ph1pw1dh1");
    check_all(CNN_OP_CONV3D, "mb2ic3id4ih5iw4oc2kd2kh3kw2pd1");
    check_all(CNN_OP_DECONV, "mb2ic3ih4iw5oc2kh3kw2sh2sw1ph1");
}

static void full_connection(void **state) { check_all(CNN_OP_FC, "mb3ic5oc4"); }

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convolutions),
        cmocka_unit_test(full_connection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
