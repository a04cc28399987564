/* What Winograd's transforms amplify, computed from their matrices: the figures that impl_cudnn/amplification.h rests
 * on. That the matrices convolve is tested first. */
#include "impl_cudnn/amplification.h"
#include "winograd_unit.h"

static void the_matrices_convolve(void **state)
{
    const struct {
        int m, r;
        const double *points;
    } list[] = {{2, 3, small_tile}, {4, 3, middle_tile}, {9, 5, thirds}, {5, 9, thirds},
                {9, 5, quarters},   {5, 9, quarters},    {9, 5, powers}, {5, 9, powers}};
    for (size_t t = 0; t < sizeof list / sizeof list[0]; t++) {
        winograd w;
        make(&w, list[t].m, list[t].r, list[t].points);
        for (int i = 0; i < w.m; i++) {
            for (int k = 0; k < w.r; k++)
                for (int j = 0; j < w.n; j++) { /* of tap k and element j: 1 where j = i + k */
                    double y = 0;
                    for (int p = 0; p < w.n; p++) y += w.a[i][p] * w.g[p][k] * w.b[p][j];
                    assert_true(fabs(y - (j == i + k)) < 1e-9);
                }
        }
    }
}

#define assert_figure(value, figure) assert_true(fabs((value) - (figure)) < 0.5)

static void small_tiles(void **state)
{
    winograd w;
    make(&w, 2, 3, small_tile);
    assert_figure(norms(&w), 9);
    assert_figure(sum(&w), 8);
    assert_figure(2 * sum(&w), AMPLIFICATION_4X4);
    make(&w, 4, 3, middle_tile);
    assert_figure(norms(&w), 190);
    assert_figure(sum(&w), 48);
    assert_figure(2 * sum(&w), AMPLIFICATION_6X6);
}

static void large_tiles(void **state)
{
    assert_figure(sum_of(9, 5, thirds), 4029);
    assert_figure(sum_of(5, 9, thirds), 4539);
    assert_figure(sum_of(9, 5, quarters), 1881);
    assert_figure(sum_of(5, 9, quarters), 2147);
    assert_figure(sum_of(9, 5, powers), 8238);
    assert_figure(sum_of(5, 9, powers), 8304);
    assert_true(fabs(AMPLIFICATION_13X13 / sum_of(9, 5, thirds) - 1) < 0.01);
}

/* Of 0, five pairs and one more of either sign: none is better than `quarters`. */
static void no_fractions_do_better(void **state)
{
    static const double choice[] = {1.0 / 4, 1.0 / 3, 1.0 / 2, 2.0 / 3, 3.0 / 4, 1, 4.0 / 3, 3.0 / 2, 2, 3, 4};
    enum { CHOICES = sizeof choice / sizeof choice[0], PAIRS = 5 };
    double least[2] = {INFINITY, INFINITY};
    for (unsigned set = 0; set < 1u << CHOICES; set++) {
        double points[MOST] = {0};
        int count = 1;
        for (int i = 0; i < CHOICES; i++) {
            if (!(set & 1u << i)) continue;
            if (count <= 2 * PAIRS) points[count] = choice[i], points[count + 1] = -choice[i];
            count += 2;
        }
        for (int i = 0; i < CHOICES && count == 1 + 2 * PAIRS; i++) {
            if (set & 1u << i) continue;
            for (int sign = -1; sign <= 1; sign += 2) {
                points[count] = sign * choice[i];
                least[0] = fmin(least[0], sum_of(9, 5, points));
                least[1] = fmin(least[1], sum_of(5, 9, points));
            }
        }
    }
    assert_figure(least[0], sum_of(9, 5, quarters));
    assert_figure(least[1], sum_of(5, 9, quarters));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_matrices_convolve), cmocka_unit_test(small_tiles),
                                       cmocka_unit_test(large_tiles), cmocka_unit_test(no_fractions_do_better)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
