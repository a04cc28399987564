/* test_verify_pieces.c: large arrays in pieces: what is drawn, compared and found is that of one loop, with any number
 * of threads. */
#include "tests/problem_unit.h"
#include "tests/unit.h"
#include "verify/oracle/compare.h"
#include "verify/oracle/pieces.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 100001 };

static thread_pool *open_pool(int threads)
{
    thread_pool *pool;
    cnn_error err;
    assert_int_equal(thread_pool_open(threads, &pool, &err), CNN_OK);
    return pool;
}

static void draw_two(void *user, int64_t first, int64_t last, cnn_rng *rng)
{
    double *const v = user;
    for (int64_t i = first; i < last; i++) {
        v[i] = rng_unit(rng);
        v[i] -= rng_unit(rng);
    }
}

static void draws_are_those_of_one_loop(void **state)
{
    double *one = malloc(COUNT * sizeof *one), *pieces = malloc(COUNT * sizeof *pieces);
    cnn_rng rng = rng_stream(7, 1), same = rng;
    thread_pool *pool = open_pool(3);
    draw_two(one, 0, COUNT, &rng);
    vf_draw_pieces(pool, COUNT, 2, &same, draw_two, pieces);
    assert_memory_equal(one, pieces, COUNT * sizeof *one);
    assert_true(rng_u64(&rng) == rng_u64(&same)); /* and it goes on behind them */
    thread_pool_close(pool);
    free(one);
    free(pieces);
}

/* As many numbers as each element likes. */
static void draw_some(void *user, int64_t first, int64_t last, cnn_rng *rng)
{
    double *const v = user;
    for (int64_t i = first; i < last; i++) v[i] = rng_int(rng, 0, 3) == 0 ? rng_unit(rng) : 2.0;
}

static void any_draws_are_the_same_for_any_threads(void **state)
{
    double *a = malloc(COUNT * sizeof *a), *b = malloc(COUNT * sizeof *b);
    cnn_rng rng = rng_stream(7, 1), same = rng, alone = rng;
    thread_pool *pool = open_pool(3);
    vf_draw_pieces(NULL, COUNT, VF_ANY_DRAWS, &rng, draw_some, a);
    vf_draw_pieces(pool, COUNT, VF_ANY_DRAWS, &same, draw_some, b);
    assert_memory_equal(a, b, COUNT * sizeof *a);
    draw_some(b, 0, 1000, &alone); /* few are those of the generator itself */
    assert_memory_equal(a, b, 1000 * sizeof *a);
    int equal = 0; /* the second piece is not the first one again */
    for (int64_t i = 0; i < 1000; i++) equal += a[i] != 2.0 && a[i] == a[i + 32768];
    assert_int_equal(equal, 0);
    thread_pool_close(pool);
    free(a);
    free(b);
}

static void largest_is_found_anywhere(void **state)
{
    double *v = calloc(COUNT, sizeof *v);
    thread_pool *pool = open_pool(3);
    static const int64_t places[] = {0, 32767, 32768, 70000, COUNT - 1};
    for (int i = 0; i < 5; i++) {
        v[places[i]] = -3.0;
        assert_true(vf_largest_size(pool, v, COUNT) == 3.0 && vf_largest(pool, v, COUNT) == 0.0);
        v[places[i]] = 2.5;
        assert_true(vf_largest(pool, v, COUNT) == 2.5);
        v[places[i]] = NAN;
        assert_true(isnan(vf_largest_size(pool, v, COUNT)) && vf_largest(pool, v, COUNT) == 0.0);
        v[places[i]] = 0.0;
    }
    assert_true(vf_largest(pool, v, 0) == 0.0);
    thread_pool_close(pool);
    free(v);
}

typedef struct compared {
    double *expected, *magnitude, *roundings, *got;
} compared;

static compared make_compared(void)
{
    double *all = malloc(4 * COUNT * sizeof *all);
    compared c = {all, all + COUNT, all + 2 * (size_t)COUNT, all + 3 * (size_t)COUNT};
    cnn_rng rng = rng_stream(3, 3);
    for (int64_t i = 0; i < COUNT; i++) {
        c.expected[i] = rng_real(&rng, 1.0, 2.0);
        c.magnitude[i] = 2.0;
        c.roundings[i] = 4.0;
        c.got[i] = c.expected[i] * (1.0 + 0x1p-26 * rng_unit(&rng));
    }
    return c;
}

static const vf_rounding f32 = {
    .unit = 0x1p-24, .tiny = 0x1p-126, .amplification = 1.0, .mean = 1.0, .bits = 24, .stored = CNN_F32};

static void comparisons_are_the_same_for_any_threads(void **state)
{
    compared c = make_compared();
    const vf_out e = {c.expected, c.magnitude, c.roundings, NULL};
    thread_pool *pool = open_pool(3);
    const vf_comparison one = vf_compare(NULL, &e, c.got, COUNT, &f32), many = vf_compare(pool, &e, c.got, COUNT, &f32);
    assert_true(!one.failed && one.rounded == COUNT && one.live == COUNT && !one.uniform && one.worst >= 0);
    assert_true(one.sum_sq == many.sum_sq && one.worst == many.worst && one.budget_used == many.budget_used);
    assert_true(many.rounded == COUNT && many.live == COUNT && many.zeros == 0 && !many.empty);
    thread_pool_close(pool);
    free(c.expected);
}

/* One element of a later piece: it fails alone, and is the worst; the first of two that are equally wrong is named. */
static void one_wrong_element_is_seen_in_any_piece(void **state)
{
    static const int64_t places[] = {0, 32767, 32768, 65536, COUNT - 1};
    compared c = make_compared();
    const vf_out e = {c.expected, c.magnitude, c.roundings, NULL};
    thread_pool *pool = open_pool(3);
    for (int i = 0; i < 5; i++) {
        const double kept = c.got[places[i]];
        c.got[places[i]] = i % 2 ? NAN : kept + 1.0;
        const vf_comparison v = vf_compare(pool, &e, c.got, COUNT, &f32);
        assert_true(v.failed && v.worst == places[i] && v.budget_used > 1.0);
        c.got[places[i]] = kept;
    }
    c.got[40000] = c.got[90000] = NAN;
    assert_int_equal(vf_compare(pool, &e, c.got, COUNT, &f32).worst, 40000);
    thread_pool_close(pool);
    free(c.expected);
}

static void uniform_results_are_uniform_in_all_pieces(void **state)
{
    compared c = make_compared();
    const vf_out e = {c.expected, c.magnitude, c.roundings, NULL};
    for (int64_t i = 0; i < COUNT; i++) c.expected[i] = c.got[i] = i < 32768 ? 1.0 : 2.0; /* each piece is */
    assert_false(vf_compare(NULL, &e, c.got, COUNT, &f32).uniform);
    for (int64_t i = 0; i < COUNT; i++) c.expected[i] = c.got[i] = 1.0;
    assert_true(vf_compare(NULL, &e, c.got, COUNT, &f32).uniform);
    c.expected[COUNT - 1] = c.got[COUNT - 1] = 0.0;
    const vf_comparison v = vf_compare(NULL, &e, c.got, COUNT, &f32);
    assert_true(!v.uniform && v.zeros == 1);
    free(c.expected);
}

/* Each element where vf_position() says, from any piece on: shapes whose pieces end within a row, a plane, an image. */
static void elements_stand_where_their_layout_has_them(void **state)
{
    static const char *const shapes[] = {"mb3ic7ih101oc2kh3", "mb70000ic3ih1oc2kh1", "mb2ic40000ih1iw2oc1kh1kw1",
                                         "mb1ic1ih1iw70000oc1kh1kw1", "mb2ic5ih3iw9000oc1kh3kw3pw1"};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        for (int layout = 0; layout < CNN_LAYOUT_COUNT; layout++) {
            cnn_error err;
            cnn_operand list[CNN_MAX_OPERANDS];
            const cnn_type type = {CNN_F16, CNN_F16, (cnn_layout)layout, CNN_MATH_F32};
            const cnn_problem p = problem_with(CNN_OP_CONV, shapes[i], &(cnn_problem_defaults){.type = type});
            assert_true(cnn_operands(&p, CNN_FWD, list, &err) > 0);
            const cnn_operand *x = &list[0];
            const int64_t count = x->count;
            double *values = malloc((size_t)count * sizeof *values), *back = malloc((size_t)count * sizeof *back);
            void *bytes = malloc(x->bytes);
            for (int64_t e = 0; e < count; e++) values[e] = (double)(e % 2039);
            vf_pack(&p, x, values, bytes);
            for (int64_t e = 0; e < count; e++)
                assert_true(vf_unpack_element(&p, x, bytes, vf_position(&p, x, e)) == values[e]);
            vf_unpack(&p, x, bytes, back);
            assert_memory_equal(values, back, (size_t)count * sizeof *back);
            free(values);
            free(back);
            free(bytes);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_are_those_of_one_loop),
        cmocka_unit_test(any_draws_are_the_same_for_any_threads),
        cmocka_unit_test(largest_is_found_anywhere),
        cmocka_unit_test(comparisons_are_the_same_for_any_threads),
        cmocka_unit_test(one_wrong_element_is_seen_in_any_piece),
        cmocka_unit_test(elements_stand_where_their_layout_has_them),
        cmocka_unit_test(uniform_results_are_uniform_in_all_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
