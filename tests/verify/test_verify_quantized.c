/* Quantized results: the rule of cnn_quantization, by hand; data that show where a kernel breaks it. */
#include "tests/problem_unit.h"

#include "verify/engine.h"
#include "verify/oracle/element.h"
#include "verify/oracle/quantize.h"

#include <math.h>
#include <stdlib.h>

static void one_number_is_right_or_two_are(void **state)
{
    static const struct {
        double sum, scale, zero, least, most, right;
    } rows[] = {
        {10, 0.25, 0, 0, 255, 2},
        {14, 0.25, 0, 0, 255, 4},
        {-10, 0.25, 5, 0, 255, 2.5},
        {-10, 0.25, 6, 0, 255, 4},
        {6, 0.25, 0, 0, 255, 2},
        {11, 0.25, 0, 0, 255, 3},
        {-14, 0.25, 0, -128, 127, -4},
        {-11, 0.25, 0, -128, 127, -3},
        {2000, 0.25, 0, 0, 255, 255},
        {-2000, 0.25, 0, 0, 255, 0},
        {2000, 0.25, 0, -128, 127, 127},
        {-2000, 0.25, 0, -128, 127, -128},
        {400, 0.25, -100, 0, 255, 0},
        {1200, 0.25, -100, 0, 255, 200},
        {-512, 0.25, 0, -128, 127, -128},
        {-510, 0.25, 1, -128, 127, -126.5},
        {-514, 0.25, 0, -128, 127, -128},
        {1022, 0.25, -1, 0, 255, 254.5},
        {1022, 0.25, 0, 0, 255, 255},
        {1018, 0.25, 0, 0, 255, 254},
        {1022, 0.25, 1, 0, 255, 255},
        {1e9, 1e-7, 0, 0, 255, 100},
        /* the middle itself is no number of f32's, and near it f32 may come out on either side */
        {16777217, 0x1p-25, 0, 0, 255, 0.5},
        {3, (double)0.83333331f, 0, 0, 255, 2.5},
        {3, (double)0.8333f, 0, 0, 255, 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const vf_quantizer q = {
            .scale = &rows[i].scale, .zero = rows[i].zero, .least = rows[i].least, .most = rows[i].most};
        assert_true(vf_quantized(&q, 0, 0, rows[i].sum) == rows[i].right);
    }
}

/* The same with an epilogue: what is rounded, once, is f(scale * sum + z - zero). */
static void an_epilogue_comes_before_the_rounding(void **state)
{
    const cnn_type f32 = {CNN_F32, CNN_F32, CNN_NCHW, CNN_MATH_F32};
    const struct {
        double sum, scale, zero, least, z; /* z below -500: none */
        cnn_act_kind act;
        double alpha, right;
    } rows[] = {
        {10, 1, 20, 0, 15, CNN_ACT_IDENTITY, 0, 25},
        {-10, 1, 20, 0, 15, CNN_ACT_RELU, 0, 20}, /* at zero_y, not at 0 */
        {-10, 1, -20, -128, -999, CNN_ACT_RELU, 0, -20},
        {-10, 1, -20, -128, 0, CNN_ACT_RELU, 0, -10}, /* z first: -10 + 20 */
        {300, 1, 0, -128, -100, CNN_ACT_IDENTITY, 0, 127},
        {400, 1, 0, -128, -100, CNN_ACT_CLIPPED_RELU, 31, 31}, /* nothing is saturated on the way */
        {400, 1, 4, 0, -999, CNN_ACT_CLIPPED_RELU, 30.4, 34},
        {400, 1, 4, 0, -999, CNN_ACT_CLIPPED_RELU, 30.5, 34},   /* 30.5: the even one */
        {400, 1, 5, 0, -999, CNN_ACT_CLIPPED_RELU, 30.5, 35.5}, /* who adds an odd zero first finds 36 */
        {-40, 1, 100, 0, -999, CNN_ACT_LEAKY_RELU, 0.25, 90},
        {-42, 1, 100, 0, -999, CNN_ACT_LEAKY_RELU, 0.25, 90}, /* -10.5: the even one */
        {-42, 1, 101, 0, -999, CNN_ACT_LEAKY_RELU, 0.25, 90.5},
        {-5, 1, 100, 0, -999, CNN_ACT_LEAKY_RELU, 0.1, 99.5}, /* no f32 holds 0.1 */
        {5, 0.5, 0, 0, 3, CNN_ACT_IDENTITY, 0, 6},            /* 2.5 + 3, once: 6, not 2 + 3 */
        {5, 0.5, 0, 0, 4, CNN_ACT_RELU, 0, 6},
        {16777217, 0x1p-25, 0, 0, 3, CNN_ACT_RELU, 0, 3.5}, /* the sum is no f32's */
        {-16777217, 0x1p-25, 0, 0, 0, CNN_ACT_RELU, 0, 0},  /* behind the kink that is all the same */
        {1e9, 1e-7, 0, 0, 7, CNN_ACT_RELU, 0, 107},
        {-2e9, 1, 10, 0, 255, CNN_ACT_RELU, 0, 10},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const vf_quantizer q = {.scale = &rows[i].scale,
                                .zero = rows[i].zero,
                                .least = rows[i].least,
                                .most = rows[i].least + 255.0,
                                .z = rows[i].z > -500.0 ? &rows[i].z : NULL,
                                .act = {.t = f32, .kind = rows[i].act, .alpha = rows[i].alpha}};
        const double got = vf_quantized(&q, 0, 0, rows[i].sum);
        if (got != rows[i].right) fail_msg("row %d: %g, not %g", (int)i, got, rows[i].right);
    }
}

/* What a ReLU cuts off, and what it lets through below the ceiling: an eighth of the results each, at least. */
static void data_reach_both_sides_of_the_kink(void **state)
{
    static const char *const texts[] = {
        "relu:mb4ic16ih12oc16kh3ph1zy100", "add+relu:mb4ic16ih12oc16kh3ph1zx100zy31soc1",
        "add+clipped_relu=20:mb4ic16ih12oc16kh3ph1zy60", "relu:mb8ic3ih16oc12kh5ph2zx8"};
    static const cnn_dtype dtypes[] = {CNN_U8_S8_U8, CNN_U8_S8_S8, CNN_S8_S8_S8, CNN_S8_S8_U8};
    cnn_error err = {.message = ""};
    for (int t = 0; t < 4; t++)
        for (int v = 0; v < 12; v++) {
            const cnn_problem p = problem_of(CNN_OP_CONV, texts[t], dtypes[v % 4], CNN_NCHW);
            vf_case c;
            if (is_left_out_when_quick((size_t)(12 * t + v), 4)) continue;
            assert_int_equal(
                vf_case_make(&c, &p, CNN_FWD, v < 8 ? VF_INTEGERS : VF_REALS, v < 8 ? v / 4 : 0, 3, NULL, &err),
                CNN_OK);
            const int y = vf_index(c.call.operands, c.call.count, "y");
            const int64_t count = c.call.operands[y].count;
            int64_t cut = 0, within = 0;
            for (int64_t e = 0; e < count; e++) {
                const double above = c.after[y][e] - p.u.conv.quant.zero_y;
                assert_true(above >= 0.0 && vf_element_make(&c, y, e).value == c.after[y][e]);
                cut += above == 0.0;
                within += above > 0.0 && above < (t == 2 ? 20.0 : 255.0);
            }
            assert_true(8 * cut > count && 8 * within > count);
            vf_case_free(&c);
        }
}

/* y of one pixel: 3 * (7 - 5) + -2 * (1 - 5) + 100 = 114 by hand; padding adds nothing. */
static void padding_is_the_zero_point(void **state)
{
    const cnn_problem p = problem_of(CNN_OP_CONV, "mb1ic2ih1oc2oh3kh1ph1zx5zy10soc1", CNN_U8_S8_U8, CNN_NCHW);
    const double x[] = {7, 1}, w[] = {3, -2, 0, 1}, b[] = {100, -41}, scale[] = {0.5, 2.0};
    double y[18];
    const struct {
        const char *name;
        const double *values;
    } in[] = {{"x", x}, {"w", w}, {"b", b}, {"scale", scale}};
    cnn_error err = {.message = ""};
    vf_call call;
    assert_int_equal(vf_call_init(&call, &p, CNN_FWD, NULL, &err), CNN_OK);
    for (size_t i = 0; i < sizeof in / sizeof *in; i++)
        call.in[vf_index(call.operands, call.count, in[i].name)] = in[i].values;
    call.out[vf_index(call.operands, call.count, "y")].value = y;
    vf_reference(&call);
    for (int i = 0; i < 9; i++) {
        assert_true(y[i] == (i == 4 ? 67 : 60)); /* 114 / 2 + 10; 100 / 2 + 10 */
        assert_true(y[9 + i] == 0);              /* 2 * (-4 - 41) + 10 is below 0 */
    }
}

typedef struct seen {
    bool least, most, level[256];
    int64_t ties, wide;
} seen;

static void look(const vf_case *c, const double *sums, seen *s)
{
    const int y = vf_index(c->call.operands, c->call.count, "y");
    vf_quantizer q;
    assert_true(vf_quantizer_of(&c->call, &q));
    for (int64_t e = 0; e < c->call.operands[y].count; e++) {
        const int64_t k = vf_quantized_channel(&c->call.operands[y], e);
        const double product = sums[e] * vf_scale_of(&q, k), right = c->after[y][e];
        const vf_element one = vf_element_make(c, y, e);
        assert_true(one.value == right && right >= q.least && right <= q.most);
        assert_true(c->magnitude[y][e] < 0x1p31);
        s->least = s->least || (product + q.zero < q.least - 1.0 && right == q.least);
        s->most = s->most || (product + q.zero > q.most + 1.0 && right == q.most);
        s->ties += product - floor(product) == 0.5;
        s->wide += fabs(sums[e]) > 0x1p15;
        s->level[(int)floor(right - q.least)] = true;
    }
}

static seen seen_in(const char *text, cnn_dtype dtype, vf_fill fill, int variant)
{
    const cnn_problem p = problem_of(CNN_OP_CONV, text, dtype, CNN_NCHW);
    cnn_error err = {.message = ""};
    seen s = {0};
    vf_case c;
    assert_int_equal(vf_case_make(&c, &p, CNN_FWD, fill, variant, 3, NULL, &err), CNN_OK);
    const int y = vf_index(c.call.operands, c.call.count, "y"), at = vf_index(c.call.operands, c.call.count, "scale");
    double *sums = malloc((size_t)c.call.operands[y].count * sizeof *sums);
    vf_call raw = c.call;
    assert_non_null(sums);
    assert_true(c.call.beta == 0.0);
    raw.sums = true;
    raw.out[y] = (vf_out){.value = sums};
    vf_reference(&raw);
    look(&c, sums, &s);
    for (int64_t k = 0; k + 1 < c.call.operands[at].count; k++) {
        const double ratio = c.before[at][k + 1] / c.before[at][k];
        assert_true(ratio >= 2.0 || ratio <= 0.5);
    }
    free(sums);
    vf_case_free(&c);
    return s;
}

/* In all of the types, wherever the zero points are: saturated at both ends, all over the range between; products in
 * the middle; sums that 16 bits do not hold. */
static void data_reach_both_ends_and_the_middle(void **state)
{
    static const char *const texts[] = {"mb4ic16ih12oc16kh3ph1zy100", "mb4ic16ih12oc16kh3ph1zx100zy31soc1",
                                        "mb8ic3ih16oc12kh5ph2zx8soc1"};
    static const cnn_dtype dtypes[] = {CNN_U8_S8_U8, CNN_U8_S8_S8, CNN_S8_S8_S8, CNN_S8_S8_U8};
    for (int t = 0; t < 3; t++)
        for (int d = 0; d < 4; d++)
            for (int variant = 0; variant < 3; variant++) {
                if (is_left_out_when_quick((size_t)(12 * t + 3 * d + variant), 4)) continue;
                const seen s = seen_in(texts[t], dtypes[d], variant == 2 ? VF_REALS : VF_INTEGERS, variant % 2);
                int levels = 0;
                for (int i = 0; i < 256; i++) levels += s.level[i];
                assert_true(s.least && s.most);
                assert_true(levels > 100);
                if (variant == 0) assert_true(s.ties > 1000);
                if (variant != 0) assert_true(s.wide > 1000);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_number_is_right_or_two_are),      cmocka_unit_test(an_epilogue_comes_before_the_rounding),
        cmocka_unit_test(data_reach_both_sides_of_the_kink),   cmocka_unit_test(padding_is_the_zero_point),
        cmocka_unit_test(data_reach_both_ends_and_the_middle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
