/* What Winograd's transforms amplify, computed from their matrices: the figures that impl_cudnn/amplification.h rests
 * on. The matrices are Toom's and Cook's for any points, the last one infinity; that they convolve is tested first. */
#include "impl_cudnn/amplification.h"
#include "unit.h"

#include <math.h>

enum { MOST = 13 };

/* F(m,r): y = A [(G g) * (B d)]; n = m + r - 1 points, of which points[0 .. n-2] are finite. */
typedef struct winograd {
    int m, r, n;
    double points[MOST], a[MOST][MOST], g[MOST][MOST], b[MOST][MOST];
} winograd;

/* The coefficients of the product of (x - points[k]) over all k but `left_out`, lowest first. */
static void product(const winograd *w, int left_out, double *coefficients)
{
    int degree = 0;
    memset(coefficients, 0, MOST * sizeof *coefficients);
    coefficients[0] = 1;
    for (int k = 0; k < w->n - 1; k++) {
        if (k == left_out) continue;
        for (int i = ++degree; i >= 0; i--)
            coefficients[i] = (i > 0 ? coefficients[i - 1] : 0) - w->points[k] * coefficients[i];
    }
}

static void make(winograd *w, int m, int r, const double *points)
{
    const int last = m + r - 2;
    *w = (winograd){.m = m, .r = r, .n = m + r - 1};
    memcpy(w->points, points, (size_t)last * sizeof *points);
    for (int p = 0; p < last; p++) {
        double scale = 1;
        for (int k = 0; k < last; k++) scale *= k == p ? 1 : points[p] - points[k];
        for (int i = 0; i < m; i++) w->a[i][p] = pow(points[p], i);
        for (int i = 0; i < r; i++) w->g[p][i] = pow(points[p], i) / scale;
        product(w, p, w->b[p]);
    }
    w->a[m - 1][last] = 1;
    w->g[last][r - 1] = 1;
    product(w, -1, w->b[last]);
}

/* ---- The two measures */

static double row_sum(const double *row)
{
    double sum = 0;
    for (int i = 0; i < MOST; i++) sum += fabs(row[i]);
    return sum;
}

static double norm(double (*const matrix)[MOST])
{
    double most = 0;
    for (int i = 0; i < MOST; i++) most = fmax(most, row_sum(matrix[i]));
    return most;
}

static double norms(winograd *w) { return norm(w->a) * norm(w->g) * norm(w->b); }

static double sum(const winograd *w)
{
    double most = 0;
    for (int i = 0; i < w->m; i++) {
        double result = 0;
        for (int p = 0; p < w->n; p++) result += fabs(w->a[i][p]) * row_sum(w->g[p]) * row_sum(w->b[p]);
        most = fmax(most, result);
    }
    return most;
}

static double sum_of(int m, int r, const double *points)
{
    winograd w;
    make(&w, m, r, points);
    return sum(&w);
}

/* ---- Points */

static const double small_tile[] = {0, 1, -1}, middle_tile[] = {0, 1, -1, 2, -2};
static const double thirds[] = {0, 1, -1, 2, -2, 1.0 / 2, -1.0 / 2, 3.0 / 2, -3.0 / 2, 2.0 / 3, -2.0 / 3, 3};
static const double quarters[] = {0, 1, -1, 2, -2, 1.0 / 2, -1.0 / 2, 3.0 / 4, -3.0 / 4, 4, -4, 1.0 / 4};
static const double powers[] = {0, 1, -1, 2, -2, 1.0 / 2, -1.0 / 2, 4, -4, 1.0 / 4, -1.0 / 4, 8};

static void the_matrices_convolve(void **state)
{
    (void)state;
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
    (void)state;
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
    (void)state;
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
    (void)state;
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
