/* test_half.c: f16 and bf16: numbers that are known, the two sets of conversions against each other. */
#include "harness/cpu/half.h"

#include "harness/base/rng.h"
#include "harness/cnn/half.h"
#include "tests/unit.h"

#include <math.h>

static const cnn_half_format f16 = {5, 10}, bf16 = {8, 7};

static void known_numbers(void **state)
{
    (void)state;
    static const struct {
        double value;
        uint16_t f16, bf16;
    } known[] = {
        {0.0, 0x0000, 0x0000},        {-0.0, 0x8000, 0x8000},
        {1.0, 0x3c00, 0x3f80},        {-2.0, 0xc000, 0xc000},
        {65504.0, 0x7bff, 0x4780},    {65520.0, 0x7c00, 0x4780},
        {65519.0, 0x7bff, 0x4780},    {0x1p-24, 0x0001, 0x3380},
        {0x1p-25, 0x0000, 0x3300},    {0x1.8p-24, 0x0002, 0x33c0} /* a tie: 1 or 2 */,
        {0x1.8p-25, 0x0001, 0x3340},  {0x1p-14, 0x0400, 0x3880},
        {1.0 / 3.0, 0x3555, 0x3eab},  {0x1.002p0, 0x3c00, 0x3f80} /* a tie of f16 */,
        {0x1.006p0, 0x3c02, 0x3f80},  {0x1.01p0, 0x3c04, 0x3f80} /* a tie of bf16 */,
        {0x1.03p0, 0x3c0c, 0x3f82},   {1e39, 0x7c00, 0x7f80},
        {-1e300, 0xfc00, 0xff80},     {0x1.fep127, 0x7c00, 0x7f7f},
        {0x1.ffp127, 0x7c00, 0x7f80}, {0x1p-133, 0x0000, 0x0001},
        {0x1p-134, 0x0000, 0x0000},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        assert_int_equal(cnn_half_from(f16, known[i].value), known[i].f16);
        assert_int_equal(cnn_half_from(bf16, known[i].value), known[i].bf16);
        assert_int_equal(half_float_to_f16((float)known[i].value), known[i].f16);
        assert_int_equal(half_float_to_bf16((float)known[i].value), known[i].bf16);
    }
    assert_true(isnan(cnn_half_to(f16, cnn_half_from(f16, NAN))) && isnan(cnn_half_to(bf16, cnn_half_from(bf16, NAN))));
    assert_true(isnan(half_f16_to_float(half_float_to_f16(NAN))) && isnan(half_bf16_to_float(half_float_to_bf16(NAN))));
    assert_true(cnn_largest(CNN_F16) >= 65504.0 && cnn_largest(CNN_F16) <= 65504.0);
    assert_true(cnn_largest(CNN_BF16) >= 0x1.fep127 && cnn_largest(CNN_BF16) <= 0x1.fep127);
}

/* Every code stands for a number, and comes back. */
static void every_code(void **state)
{
    (void)state;
    for (int code = 0; code < 1 << 16; code++) {
        const double half = cnn_half_to(f16, (uint16_t)code), brain = cnn_half_to(bf16, (uint16_t)code);
        const double fast = (double)half_f16_to_float((uint16_t)code),
                     upper = (double)half_bf16_to_float((uint16_t)code);
        assert_true(isnan(half) ? isnan(fast) : memcmp(&half, &fast, sizeof half) == 0);
        assert_true(isnan(brain) ? isnan(upper) : memcmp(&brain, &upper, sizeof brain) == 0);
        if (!isnan(half)) assert_int_equal(cnn_half_from(f16, half), code);
        if (!isnan(brain)) assert_int_equal(cnn_half_from(bf16, brain), code);
    }
}

/* Numbers of all sizes, those half way between two and beside these among them. */
static void roundings_agree(void **state)
{
    (void)state;
    cnn_rng rng = rng_stream(1, 1);
    for (int i = 0; i < 2000000; i++) {
        uint32_t bits = (uint32_t)rng_u64(&rng);
        const int kept = (int)rng_int(&rng, 0, 3);
        if (kept == 1) bits = (bits & ~0xffffu) | 0x8000u;
        if (kept == 2) bits = (bits & ~0x1fffu) | 0x1000u;
        if (kept == 3) bits = (bits & ~0x1fffu) + (uint32_t)rng_int(&rng, 0, 2) - 1;
        const float value = half_float(bits);
        if (isnan(value)) continue;
        assert_int_equal(half_float_to_f16(value), cnn_half_from(f16, (double)value));
        assert_int_equal(half_float_to_bf16(value), cnn_half_from(bf16, (double)value));
    }
}

/* A number is rounded once, not by way of f32: what lies just above a tie goes up. */
static void doubles_are_rounded_once(void **state)
{
    (void)state;
    assert_int_equal(cnn_half_from(f16, 0x1.002p0 + 0x1p-40), 0x3c01);
    assert_int_equal(cnn_half_from(bf16, 0x1.01p0 + 0x1p-40), 0x3f81);
    assert_int_equal(cnn_half_from(bf16, 0x1.03p0 - 0x1p-40), 0x3f81);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_numbers),
        cmocka_unit_test(every_code),
        cmocka_unit_test(roundings_agree),
        cmocka_unit_test(doubles_are_rounded_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
