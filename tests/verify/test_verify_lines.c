/* Lines of the data that one product alone decides: they are there in every direction, they are found where they are,
 * element by element as by the whole reference, and their bound knows no length of the sum. */
#include "tests/problem_unit.h"

#include "verify/oracle/compare.h"
#include "verify/oracle/element.h"
#include "verify/oracle/lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    cnn_op op;
    const char *text;
} shapes[] = {{CNN_OP_CONV, "mb2ic16ih7oc16kh3ph1"},
              {CNN_OP_CONV, "g4mb2ic16ih9oc32kh3sh2ph1"},
              {CNN_OP_CONV, "mb3ic8ih6oc12kh5ph2dh1"},
              {CNN_OP_DECONV, "mb2ic12ih5oc16kh3sh2ph1"},
              {CNN_OP_FC, "mb8ic24oc20"},
              {CNN_OP_FC, "mb8ic6ih3oc16"},
              {CNN_OP_CONV3D, "mb1ic8oc8id4ih5iw5kd3kh3kw3pd1ph1pw1"}};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static const char *const outputs[] = {[CNN_FWD] = "y", [CNN_BWD_D] = "dx", [CNN_BWD_W] = "dw"};

static void make(vf_case *c, int shape, cnn_dir dir, int variant, cnn_dtype dtype)
{
    const cnn_type type = {dtype, dtype, CNN_NCHW, CNN_MATH_F32};
    const cnn_problem problem =
        problem_with(shapes[shape].op, shapes[shape].text, &(cnn_problem_defaults){.type = type});
    cnn_error err;
    if (vf_case_make(c, &problem, dir, VF_REALS, variant, 11, NULL, &err) != CNN_OK) fail_msg("%s", err.message);
}

static int64_t count_of(const unsigned char *kind, int64_t count, int which)
{
    int64_t n = 0;
    for (int64_t i = 0; i < count; i++) n += kind[i] == which;
    return n;
}

/* An eighth of the lines is hidden: some results are products, most are sums; no other tells them from the range. */
static void some_results_are_single_products(void **state)
{
    for (int s = 0; s < SHAPES; s++)
        for (int dir = 0; dir < CNN_DIR_COUNT; dir++)
            for (int variant = 0; variant < 2; variant++) {
                vf_case c;
                make(&c, s, (cnn_dir)dir, variant, CNN_F32);
                const int at = vf_index(c.call.operands, c.call.count, outputs[dir]);
                const int64_t count = c.call.operands[at].count, alone = count_of(c.kind[at], count, VF_ALONE);
                /* of an FC layer's x of several pixels one result in as many as there are pixels */
                if (alone == 0 || alone > count / 2)
                    fail_msg("%s, direction %d, variant %d: %lld of %lld alone", shapes[s].text, dir, variant,
                             (long long)alone, (long long)count);
                vf_case_free(&c);
            }
}

/* What is said to be alone is: all other terms together are lost beside the largest. */
static void they_are_alone(void **state)
{
    for (int s = 0; s < SHAPES; s++)
        for (int dir = 0; dir < CNN_DIR_COUNT; dir++)
            for (int type = 0; type < 2; type++) {
                vf_case c;
                make(&c, s, (cnn_dir)dir, 1, type == 0 ? CNN_F32 : CNN_F64);
                const int at = vf_index(c.call.operands, c.call.count, outputs[dir]);
                const double unit = type == 0 ? 0x1p-24 : 0x1p-53;
                for (int64_t i = 0; i < c.call.operands[at].count; i++) {
                    const vf_element e = vf_element_make(&c, at, i);
                    if (c.kind[at][i] == VF_ALONE) assert_true(e.rest <= unit / 4 * e.largest);
                    if (c.kind[at][i] == VF_ALONE) assert_int_equal(e.kind, VF_ALONE);
                }
                vf_case_free(&c);
            }
}

/* Of products alone 20 bits are outside, however many the sum has; a few units in the last place are not. */
static void their_bound_knows_no_length(void **state)
{
    const vf_rounding f32 = {.unit = 0x1p-24, .tiny = 0x1p-126, .amplification = 1.0, .mean = 1.0, .bits = 24};
    vf_case c;
    make(&c, 0, CNN_FWD, 0, CNN_F32);
    const int at = vf_index(c.call.operands, c.call.count, "y");
    const vf_allowance a = vf_allow(NULL, &f32, &c.call.out[at], c.call.operands[at].count);
    for (int64_t i = 0; i < c.call.operands[at].count; i++) {
        const double size = c.magnitude[at][i];
        if (c.kind[at][i] != VF_ALONE) continue;
        assert_true(vf_allowed(&a, i) > 11 * 0x1p-24 * size);
        assert_true(vf_allowed(&a, i) < 0x1p-20 * size);
    }
    vf_case_free(&c);
}

/* All of x is tiny but for a pixel of each channel, and a channel's bias outweighs its products: what comes first is
 * rounded to by every addition. (The seed of an honest kernel that was held to a random walk.) */
static void a_bias_may_outweigh(void **state)
{
    const cnn_problem problem = problem_of(CNN_OP_CONV, "mb4ic4ih32oc16kh3ph1", CNN_F32, CNN_NCHW);
    cnn_error err;
    vf_case c;
    int64_t outweighed = 0;
    assert_int_equal(vf_case_make(&c, &problem, CNN_FWD, VF_REALS, 0, 338918934, NULL, &err), CNN_OK);
    const int at = vf_index(c.call.operands, c.call.count, "y");
    const double *b = vf_in(&c.call, "b");
    for (int64_t e = 0; e < c.call.operands[at].count; e++) {
        if (fabs(b[e / 1024 % 16]) < 0.6 * c.magnitude[at][e]) continue;
        assert_int_not_equal(c.kind[at][e], VF_EVEN);
        assert_int_not_equal(vf_element_make(&c, at, e).kind, VF_EVEN);
        outweighed++;
    }
    assert_true(outweighed > 1000);
    vf_case_free(&c);
}

static void bits_are_counted(void **state)
{
    cnn_rng rng = rng_stream(3, 1);
    for (int bits = 8; bits <= 23; bits += 5) {
        double squares = 0.0;
        for (int i = 0; i < 4000; i++) {
            const double a = 1.0 + rng_unit(&rng), b = 1.0 + rng_unit(&rng), unit = ldexp(1.0, bits - 1);
            const double error = nearbyint(a * unit) * nearbyint(b * unit) / (unit * unit) / (a * b) - 1.0;
            squares += error * error;
        }
        assert_int_equal(vf_bits_kept(sqrt(squares / 4000), 24), bits);
    }
    assert_int_equal(vf_bits_kept(0.0, 24), 24);
    assert_int_equal(vf_bits_kept(0.4 * 0x1p-24, 24), 24);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(some_results_are_single_products),
        cmocka_unit_test(they_are_alone),
        cmocka_unit_test(their_bound_knows_no_length),
        cmocka_unit_test(a_bias_may_outweigh),
        cmocka_unit_test(bits_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
