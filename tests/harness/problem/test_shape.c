/* test_shape.c: shape arithmetic against sums taken one tap at a time, and its limits. */
#include "tests/unit.h"
#include <string.h>

#include "harness/base/rng.h"
#include "harness/problem/problem.h"
#include "harness/problem/shape.h"

static void tap_ranges_are_those_of_a_search(void **state)
{
    cnn_rng rng = {7};
    for (int trial = 0; trial < 20000; trial++) {
        const int64_t i = rng_int(&rng, 1, 12), k = rng_int(&rng, 1, 6), s = rng_int(&rng, 1, 4),
                      p = rng_int(&rng, 0, 9), d = rng_int(&rng, 0, 4), o = rng_int(&rng, 0, 12);
        int64_t first, last, count = 0, lowest = -1;
        for (int64_t t = 0; t < k; t++) {
            const int64_t at = o * s - p + t * (d + 1);
            if (at < 0 || at >= i) continue;
            if (lowest < 0) lowest = t;
            count++;
        }
        cnn_tap_range(o, i, k, s, p, d, &first, &last);
        assert_int_equal(last - first, count);
        if (count > 0) assert_int_equal(first, lowest);
    }
}

/* Every tap of every output, one at a time. */
static void uses_of_an_axis_are_those_of_a_search(void **state)
{
    cnn_rng rng = {8};
    for (int trial = 0; trial < 20000; trial++) {
        const int64_t i = rng_int(&rng, 1, 14), k = rng_int(&rng, 1, 6), s = rng_int(&rng, 1, 6),
                      p = rng_int(&rng, 0, 9), d = rng_int(&rng, 0, 5), o = rng_int(&rng, 1, 8);
        bool pixels[14] = {false}, taps[6] = {false}, outputs[8] = {false};
        cnn_axis_use count = {0, 0, 0};
        for (int64_t a = 0; a < o; a++)
            for (int64_t t = 0; t < k; t++) {
                const int64_t at = a * s - p + t * (d + 1);
                if (at >= 0 && at < i) pixels[at] = taps[t] = outputs[a] = true;
            }
        for (int64_t n = 0; n < 14; n++) count.pixels += pixels[n];
        for (int64_t n = 0; n < 6; n++) count.taps += taps[n];
        for (int64_t n = 0; n < 8; n++) count.outputs += outputs[n];
        const cnn_axis_use use = cnn_use_of_axis(i, o, k, s, p, d);
        assert_int_equal(use.pixels, count.pixels);
        assert_int_equal(use.taps, count.taps);
        assert_int_equal(use.outputs, count.outputs);
    }
}

static double flops(cnn_op op, const char *text, cnn_dir dir)
{
    const cnn_problem_defaults no_bias = {.type = {CNN_F32, CNN_F32, CNN_NCHW, CNN_MATH_F32}, .no_bias = true};
    cnn_problem p;
    cnn_error err;
    assert_int_equal(cnn_problem_parse(op, text, &no_bias, &p, &err), CNN_OK);
    return cnn_flops(&p, dir);
}

static void flops_count_real_taps_only(void **state)
{
    /* no padding: 2 * mb*oc*oh*ow*ic*kh*kw */
    assert_true(flops(CNN_OP_CONV, "mb2ic3ih5oc4kh3", CNN_FWD) == 2.0 * 2 * 4 * 3 * 3 * 3 * 9);
    /* 3 x 3 over 3 x 3 with padding 1: 4 corners of 4 taps, 4 edges of 6, a centre of 9 */
    assert_true(flops(CNN_OP_CONV, "mb1ic1ih3oc1kh3ph1", CNN_FWD) == 2.0 * (4 * 4 + 4 * 6 + 9));
    assert_true(flops(CNN_OP_CONV, "mb1ic1ih3oc1kh3ph1", CNN_BWD_W) == 2.0 * (4 * 4 + 4 * 6 + 9));
    assert_true(flops(CNN_OP_CONV, "g4mb1ic4ih3oc4kh3ph1", CNN_BWD_D) == 4 * 2.0 * (4 * 4 + 4 * 6 + 9));
    assert_true(flops(CNN_OP_FC, "mb100ic320oc10", CNN_FWD) == 2.0 * 100 * 320 * 10);
}

static void bytes_are_those_of_the_operands(void **state)
{
    const cnn_problem_defaults f64 = {.type = {CNN_F64, CNN_F64, CNN_NHWC, CNN_MATH_F32}};
    cnn_problem p;
    cnn_error err;
    assert_int_equal(cnn_problem_parse(CNN_OP_CONV, "mb2ic3ih5oc4kh3", &f64, &p, &err), CNN_OK);
    assert_true(cnn_bytes(&p, CNN_FWD) == 8.0 * (2 * 3 * 25 + 4 * 3 * 9 + 4 + 2 * 4 * 9));
    assert_int_equal(cnn_problem_parse(CNN_OP_OPTIMIZER, "adam:ic10", &f64, &p, &err), CNN_OK);
    assert_true(cnn_bytes(&p, CNN_FWD) == 8.0 * (2 * 10 + 10 + 2 * 10 + 2 * 10) + 16);
}

static void weights_have_a_dtype_of_their_own(void **state)
{
    const cnn_problem_defaults f32 = {.type = {CNN_F32, CNN_F32, CNN_NCHW, CNN_MATH_F32}};
    cnn_operand list[CNN_MAX_OPERANDS];
    cnn_problem p;
    cnn_error err;
    assert_int_equal(cnn_problem_parse(CNN_OP_CONV, "mb2ic3ih5oc4kh3", &f32, &p, &err), CNN_OK);
    p.u.type.weights = CNN_F64;
    assert_int_equal(cnn_operands(&p, CNN_FWD, list, &err), 4);
    assert_int_equal(list[0].bytes, 4 * 2 * 3 * 25);
    assert_int_equal(list[1].bytes, 8 * 4 * 3 * 9);
    assert_int_equal(list[2].bytes, 8 * 4);
    assert_int_equal(list[3].bytes, 4 * 2 * 4 * 9);
    assert_int_equal(cnn_problem_check(&p, &err), CNN_UNSUPPORTED);
    assert_non_null(strstr(err.message, "weights in f64 beside activations in f32"));
}

/* In floats. */
static double traffic(cnn_op op, const char *text, cnn_dir dir)
{
    const cnn_problem_defaults no_bias = {.type = {CNN_F32, CNN_F32, CNN_NCHW, CNN_MATH_F32}, .no_bias = true};
    cnn_problem p;
    cnn_error err;
    assert_int_equal(cnn_problem_parse(op, text, &no_bias, &p, &err), CNN_OK);
    return cnn_bytes(&p, dir) / 4;
}

static void bytes_are_only_those_that_a_kernel_needs(void **state)
{
    /* 1 x 1 with stride 2 reads a quarter of the pixels; 2 x 2 with stride 3 four ninths */
    assert_true(traffic(CNN_OP_CONV, "mb2ic3ih8oc4oh4kh1sh2", CNN_FWD) == 2 * 3 * 16 + 4 * 3 + 2 * 4 * 16);
    assert_true(traffic(CNN_OP_CONV, "mb2ic3ih8oc4oh4kh1sh2", CNN_BWD_W) == 2 * 3 * 16 + 4 * 3 + 2 * 4 * 16);
    assert_true(traffic(CNN_OP_CONV, "mb2ic3ih8oc4oh4kh1sh2", CNN_BWD_D) == 2 * 3 * 64 + 4 * 3 + 2 * 4 * 16);
    assert_true(traffic(CNN_OP_CONV, "mb1ic1ih9oc1oh3kh2sh3", CNN_FWD) == 36 + 4 + 9);
    /* of 3 x 3 taps only the centre meets the one pixel, but all of dw is written */
    assert_true(traffic(CNN_OP_CONV, "mb1ic1ih1oc1oh1kh3ph1", CNN_FWD) == 1 + 1 + 1);
    assert_true(traffic(CNN_OP_CONV, "mb1ic1ih1oc1oh1kh3ph1", CNN_BWD_W) == 1 + 1 + 9);
    assert_true(traffic(CNN_OP_CONV, "mb1ic1ih1oc1oh3kh1ph1", CNN_BWD_D) == 1 + 1 + 1); /* eight see only padding */
    assert_true(traffic(CNN_OP_POOL, "avg:mb1ic2ih4oh2kh2sh2", CNN_FWD) == 2 * (16 + 4));
    assert_true(traffic(CNN_OP_POOL, "avg:mb1ic2ih4oh2kh2sh2", CNN_BWD_D) == 2 * (4 + 16));
    assert_true(traffic(CNN_OP_POOL, "max:mb1ic2ih4oh2kh2sh2", CNN_BWD_D) == 2 * (16 + 4 + 16));
    assert_true(traffic(CNN_OP_POOL, "max:mb1ic2ih4oh2kh1sh2", CNN_FWD) == 2 * (4 + 4));
    assert_true(traffic(CNN_OP_POOL, "max:mb1ic2ih4oh2kh1sh2", CNN_BWD_D) == 2 * (4 + 16));
    assert_true(traffic(CNN_OP_ACT, "identity:mb1ic10", CNN_FWD) == 20);
    assert_true(traffic(CNN_OP_ACT, "identity:mb1ic10", CNN_BWD_D) == 20);
    assert_true(traffic(CNN_OP_ACT, "relu:mb1ic10", CNN_BWD_D) == 30);
    assert_true(traffic(CNN_OP_ACT, "tanh:mb1ic10", CNN_FWD) == 20);
}

static void products_that_overflow_are_found(void **state)
{
    int64_t product;
    assert_true(cnn_mul4(1 << 15, 1 << 15, 1 << 15, 1 << 17, &product));
    assert_int_equal(product, 1ll << 62);
    assert_false(cnn_mul4(1 << 16, 1 << 16, 1 << 16, 1 << 15, &product));
    assert_false(cnn_mul(-1, 2, &product));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tap_ranges_are_those_of_a_search),  cmocka_unit_test(uses_of_an_axis_are_those_of_a_search),
        cmocka_unit_test(flops_count_real_taps_only),        cmocka_unit_test(bytes_are_those_of_the_operands),
        cmocka_unit_test(weights_have_a_dtype_of_their_own), cmocka_unit_test(bytes_are_only_those_that_a_kernel_needs),
        cmocka_unit_test(products_that_overflow_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
