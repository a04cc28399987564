/* Random problems: the same for a seed, valid, of every sort; a failure ends as the smallest descriptor that shows it.
 */
#include "tests/unit.h"

#include "verify_fake.h"

#include "harness/base/clock.h"
#include "harness/problem/names.h"
#include "invalid_texts.h"

static fuzz_space space_of(mutant m, uint32_t ops)
{
    fuzz_space space = {.ops = ops, .dirs = 7, .dtypes = 3, .layouts = 3, .device = (int)m, .flops = 3e4};
    space.impls[space.n_impls++] = &fake;
    return space;
}

static const uint32_t all_ops = (1u << CNN_OP_COUNT) - 1, conv_only = 1u << CNN_OP_CONV;

/* ---- Drawing. */

static void the_seed_decides(void **state)
{
    const fuzz_space space = space_of(MUTANT_NONE, all_ops);
    int different = 0;
    for (int64_t i = 0; i < 2000; i++) {
        fuzz_case a, b, c;
        fuzz_draw(&space, 5, 1999 - i, 0, &c); /* whatever is drawn before */
        fuzz_draw(&space, 5, i, 0, &a);
        fuzz_draw(&space, 5, i, 0, &b);
        assert_memory_equal(&a, &b, sizeof a);
        fuzz_draw(&space, 6, i, 0, &b);
        different += memcmp(&a.shape, &b.shape, sizeof a.shape) != 0;
    }
    assert_true(different > 1900);
}

typedef enum sort {
    GROUPS,
    DEPTHWISE,
    DILATED,
    ASYMMETRIC,
    UNREAD_ROWS,
    STRIDE_ABOVE_KERNEL,
    KERNEL_ABOVE_INPUT,
    ONE_ROW,
    WIDE_CHANNELS,
    ROWS_65535,
    ELEMENTS_2_31,
    FLIPPED,
    NO_BIAS,
    NHWC,
    F64,
    OTHER_MATH,
    THREADS,
    SORTS
} sort;

static void sort_of(const fuzz_case *c, bool is[SORTS])
{
    const cnn_conv_desc *d = &c->problem.u.conv;
    const double elements = (double)d->mb * (double)d->ic * (double)(d->ih * d->iw);
    is[GROUPS] = d->g > 1;
    is[DEPTHWISE] = d->g > 1 && d->g == d->ic;
    is[DILATED] = d->dh > 0 && d->kh > 1;
    is[ASYMMETRIC] = d->ph_r != d->ph;
    is[UNREAD_ROWS] = d->ph_r < 0 || d->pw_r < 0;
    is[STRIDE_ABOVE_KERNEL] = d->sh > d->kh;
    is[KERNEL_ABOVE_INPUT] = d->kh > d->ih;
    is[ONE_ROW] = d->ih == 1 && d->kh == 1 && d->iw > 1;
    is[WIDE_CHANNELS] = d->oc / d->g >= 63;
    is[ROWS_65535] = d->mb > 65534 || d->ic > 65534 || d->oc > 65534 || d->oh > 65534 || d->ow > 65534;
    is[ELEMENTS_2_31] = elements > 0x1p31 || (double)d->oc * (double)(d->oh * d->ow) * (double)d->mb > 0x1p31;
    is[FLIPPED] = d->flip;
    is[NO_BIAS] = !d->bias;
    is[NHWC] = d->t.layout == CNN_NHWC;
    is[F64] = d->t.dtype == CNN_F64;
    is[OTHER_MATH] = d->t.math != CNN_MATH_F32;
    is[THREADS] = c->threads == 3;
}

static void every_sort_is_drawn(void **state)
{
    enum { MANY = SANITIZED ? 10000 : 100000 };
    fuzz_space space = space_of(MUTANT_NONE, conv_only);
    int64_t counts[SORTS] = {0};
    space.flops = 0.0;
    for (int64_t i = 0; i < MANY; i++) {
        fuzz_case c;
        bool is[SORTS];
        cnn_error err;
        fuzz_draw(&space, 1, i, 0, &c);
        assert_int_equal(cnn_problem_check(&c.problem, &err), CNN_OK);
        sort_of(&c, is);
        for (int s = 0; s < SORTS; s++) counts[s] += is[s];
    }
    for (int s = 0; s < SORTS; s++) {
        const bool rare = s == ROWS_65535 || s == ELEMENTS_2_31;
        if (counts[s] < (rare ? !SANITIZED : MANY / 100))
            fail_msg("sort %d: %lld of %d cases", s, (long long)counts[s], MANY);
    }
}

/* ---- Running. */

static fuzz_outcome run_one(const fuzz_space *space, const fuzz_case *c)
{
    fuzz_runner *runner = fuzz_runner_new(space, NULL);
    fuzz_outcome outcome;
    cnn_error err;
    assert_non_null(runner);
    assert_int_equal(fuzz_run(runner, c, ~0u, &outcome, &err), CNN_OK);
    fuzz_runner_free(runner);
    return outcome;
}

static void right_kernels_do_not_fail(void **state)
{
    const fuzz_space space = space_of(MUTANT_NONE, all_ops);
    fuzz_runner *runner = fuzz_runner_new(&space, NULL);
    int states[VERIFY_FAILED + 1] = {0};
    for (int64_t i = 0; i < 400; i++) {
        fuzz_case c;
        fuzz_outcome outcome;
        cnn_error err;
        fuzz_draw(&space, 11, i, 0, &c);
        if (c.problem.op == CNN_OP_CONCAT && c.problem.u.concat.n_inputs > 3) continue; /* the fake knows three */
        assert_int_equal(fuzz_run(runner, &c, ~0u, &outcome, &err), CNN_OK);
        states[outcome.state]++;
        if (outcome.state == VERIFY_FAILED) fail_msg("case %lld: %s %s", (long long)i, outcome.reason, outcome.worst);
    }
    fuzz_runner_free(runner);
    assert_true(states[VERIFY_PASSED] > 250);
    assert_true(states[VERIFY_MISTRUSTED] <= 2);
    assert_true(states[VERIFY_UNSUPPORTED] > 0); /* kernels above 7; counted apart */
}

/* ---- What tells something. */

static bool tells(cnn_op op, cnn_dir dir, const char *text)
{
    const cnn_problem_defaults defaults = {.no_bias = true};
    cnn_problem problem;
    cnn_error err;
    if (cnn_problem_parse(op, text, &defaults, &problem, &err) != CNN_OK) fail_msg("%s: %s", text, err.message);
    return fuzz_tells(&problem, dir);
}

static void what_no_data_decides_is_known(void **state)
{
    assert_true(tells(CNN_OP_CONV, CNN_FWD, "mb1ic3ih5oc4oh5kh3ph1"));
    assert_false(tells(CNN_OP_CONV, CNN_BWD_D, "mb9ic8ih2oc3oh1kh4ph7dh4"));
    assert_false(tells(CNN_OP_CONV, CNN_FWD, "mb2ic3ih9iw2oc7oh6ow2kh1kw1sw3ph2pw1"));
    assert_true(tells(CNN_OP_CONV, CNN_FWD, "mb2ic3ih9iw2oc7oh6ow2kh1kw2sw3ph2pw1"));
    assert_false(tells(CNN_OP_LOSS, CNN_BWD_D, "mb32ic1"));
    assert_true(tells(CNN_OP_LOSS, CNN_BWD_D, "mb32ic2"));
    assert_false(tells(CNN_OP_DROPOUT, CNN_FWD, "0.55:mb3ic1"));
    assert_true(tells(CNN_OP_DROPOUT, CNN_FWD, "0.55:mb33ic1"));
    assert_false(tells(CNN_OP_POOL, CNN_BWD_D, "global_avg:mb1ic1ih10"));
    assert_true(tells(CNN_OP_POOL, CNN_FWD, "global_avg:mb1ic1ih10"));
}

static void few_cases_prove_nothing(void **state)
{
    const fuzz_space space = space_of(MUTANT_NONE, all_ops);
    int mute = 0;
    for (int64_t i = 0; i < 20000; i++) {
        fuzz_case c;
        fuzz_draw(&space, 3, i, 0, &c);
        mute += !fuzz_tells(&c.problem, c.dir);
    }
    assert_in_range(mute, 1, 60); /* one of 32 is kept of what would be some 4 % */
}

/* ---- Shrinking. */

typedef struct hunt {
    const fuzz_space *space;
    uint32_t failed;
} hunt;

static bool fails(void *user, const fuzz_case *c)
{
    const hunt *h = user;
    const fuzz_outcome outcome = run_one(h->space, c);
    return outcome.state == VERIFY_FAILED && (outcome.failed & h->failed) != 0;
}

/* The first failure of a mutant, shrunk. */
static void hunt_down(mutant m, uint32_t ops, fuzz_case *c)
{
    const fuzz_space space = space_of(m, ops);
    hunt h = {&space, 0};
    fuzz_budget budget = {.tries = 2000};
    for (int64_t i = 0; h.failed == 0; i++) {
        if (i == 3000) fail_msg("mutant %d is not found", (int)m);
        fuzz_draw(&space, 3, i, 0, c);
        const fuzz_outcome outcome = run_one(&space, c);
        if (outcome.state != VERIFY_FAILED) continue;
        h.failed = outcome.failed;
        memcpy(c->algorithm, outcome.algorithm, sizeof c->algorithm);
    }
    fuzz_shrink(&space, c, fails, &h, &budget);
    assert_true(fails(&h, c));
    assert_true(budget.tried < budget.tries);
}

static void assert_least(const fuzz_case *c, uint32_t but)
{
    for (int f = 0; f < FUZZ_CAT; f++)
        if (!(but >> f & 1u) && fuzz_has(&c->problem, (fuzz_field)f, &c->shape))
            assert_int_equal(c->shape.v[f], fuzz_least((fuzz_field)f));
}

static void a_wrong_element_shrinks_to_one(void **state)
{
    fuzz_case c;
    hunt_down(MUTANT_CORNER, conv_only, &c);
    assert_least(&c, 0);
    assert_int_equal(c.threads, 1);
    assert_int_equal(c.problem.u.type.layout, CNN_NCHW);
    assert_int_equal(c.problem.u.type.dtype, CNN_F32);
}

/* Square kernels transposed: two sizes must stay equal, and above 1, for it to fail. */
static void what_must_stay_stays(void **state)
{
    fuzz_case c;
    hunt_down(MUTANT_SWAPPED, conv_only, &c);
    assert_int_equal(c.shape.v[FUZZ_KH], 2);
    assert_int_equal(c.shape.v[FUZZ_KW], 2);
    assert_int_equal(c.shape.v[FUZZ_MB] * c.shape.v[FUZZ_G] * c.shape.v[FUZZ_ICG] * c.shape.v[FUZZ_OCG], 1);
}

static void a_layout_mistaken_needs_its_layout(void **state)
{
    fuzz_case c;
    hunt_down(MUTANT_LAYOUT, 1u << CNN_OP_POOL, &c);
    assert_int_equal(c.problem.u.type.layout, CNN_NHWC);
    assert_true(c.shape.v[FUZZ_ICG] == 2);
}

static void stopping_keeps_what_was_found(void **state)
{
    const fuzz_space space = space_of(MUTANT_CORNER, conv_only);
    hunt h = {&space, 1u << VERIFY_BOUND};
    fuzz_budget none = {.tries = 0};
    fuzz_case c, same;
    fuzz_draw(&space, 3, 0, 0, &c);
    same = c;
    fuzz_budget late = {.tries = 100, .until = cnn_now() - 1.0};
    fuzz_shrink(&space, &c, fails, &h, &none);
    fuzz_shrink(&space, &c, fails, &h, &late);
    assert_memory_equal(&c, &same, sizeof c);
    assert_int_equal(none.tried + late.tried, 0);
}

/* ---- Invalid descriptors. */

static void invalid_texts_are_refused_or_mean_themselves(void **state)
{
    enum { MANY = SANITIZED ? 20000 : 100000 };
    int counts[FUZZ_WRONG + 1] = {0};
    for (int64_t i = 0; i < MANY; i++) {
        char text[CNN_PROBLEM_TEXT_MAX], again[CNN_PROBLEM_TEXT_MAX], why[VERIFY_TEXT_MAX];
        cnn_op op, same;
        fuzz_invalid_text(2, i, &op, text);
        fuzz_invalid_text(2, i, &same, again);
        assert_string_equal(text, again);
        assert_int_equal(op, same);
        const fuzz_verdict came = fuzz_invalid_try(op, text, why);
        counts[came]++;
        if (came == FUZZ_WRONG) fail_msg("case %lld: %s", (long long)i, why);
    }
    assert_true(counts[FUZZ_REFUSED] > MANY / 2);
    assert_true(counts[FUZZ_ACCEPTED] > MANY / 100); /* a damage that leaves it valid */
}

/* The number behind the words' colon is a size as any other, of every operation that has words. */
static void sizes_behind_words_are_judged(void **state)
{
    static const struct {
        cnn_op op;
        const char *text;
    } rows[] = {{CNN_OP_POOL, "global_avg:id3ic33ih7iw5"},
                {CNN_OP_POOL3D, "global_avg:id3ic33ih7iw5"},
                {CNN_OP_POOL, "max:ic7ih3ow2oh2kd4od8kh3kw3"},
                {CNN_OP_POOL3D, "max:id3ic2ih6iw5kd2kh2kw2"},
                {CNN_OP_CONV, "relu:mb2ic3ih5oc4kh3"},
                {CNN_OP_ACT, "relu:id2ic3ih5"},
                {CNN_OP_BATCHNORM, "inference:id2ic3ih5"},
                {CNN_OP_CONV3D, "id3ic2ih6iw5oc2kd2kh3kw3ph1"},
                {CNN_OP_DROPOUT, "0.5:id2ic3ih5"},
                {CNN_OP_DECONV, "mb9ic3ih5oc4kh3na:mb8"},
                {CNN_OP_ADD, "mb9ic3ih5na:mb8"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char why[VERIFY_TEXT_MAX];
        if (fuzz_invalid_try(rows[i].op, rows[i].text, why) != FUZZ_ACCEPTED) fail_msg("%s: %s", rows[i].text, why);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_seed_decides),
        cmocka_unit_test(every_sort_is_drawn),
        cmocka_unit_test(right_kernels_do_not_fail),
        cmocka_unit_test(what_no_data_decides_is_known),
        cmocka_unit_test(few_cases_prove_nothing),
        cmocka_unit_test(a_wrong_element_shrinks_to_one),
        cmocka_unit_test(what_must_stay_stays),
        cmocka_unit_test(a_layout_mistaken_needs_its_layout),
        cmocka_unit_test(stopping_keeps_what_was_found),
        cmocka_unit_test(invalid_texts_are_refused_or_mean_themselves),
        cmocka_unit_test(sizes_behind_words_are_judged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
