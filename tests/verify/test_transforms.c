/* The table of verify/oracle/transforms.h, made again: what Winograd's matrices and an FFT are off by when they are
 * evaluated in f32 on data like the checks', and what is proved for any data. And what a kernel may claim of it. */
#include "impl_cudnn/amplification.h"
#include "winograd_unit.h"

#include "harness/base/rng.h"
#include "tests/problem_unit.h"
#include "verify/oracle/bounds.h"

#include <complex.h>
#include <stdlib.h>

static const double u = 0x1p-24;
enum { TILES = 300, ERRORS_MAX = TILES * 1024 };

/* ---- What comes out of many tiles. */

typedef struct outcome {
    double worst, top, squares, sizes; /* error, magnitude; sum of errors squared, of magnitudes */
    double list[ERRORS_MAX];
    int count;
} outcome;

static void look(outcome *o, double got, double expected, double magnitude)
{
    const double error = fabs(got - expected);
    if (magnitude == 0) return;
    o->worst = fmax(o->worst, error), o->top = fmax(o->top, magnitude);
    o->squares += error * error, o->sizes += magnitude;
    assert_true(o->count < ERRORS_MAX);
    o->list[o->count++] = error;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The factor over a plain sum's bound, with n roundings, that the worst element needs. */
static double needs_bound(const outcome *o, double n) { return o->worst / (n * u * o->top); }

/* The same of the root mean square (vf_rms_limit). */
static double needs_mean(const outcome *o, double n)
{
    const double rms = sqrt(o->squares / o->count) * sqrt(n) / o->top;
    return rms / (u * (sqrt(n) + 2));
}

/* The same of nine in ten single products, of which plain ones stay below 2^-22 (check_precision.c). */
static double needs_precision(outcome *o)
{
    qsort(o->list, (size_t)o->count, sizeof o->list[0], compare);
    return o->list[9 * o->count / 10] / (o->sizes / o->count) / 0x1p-22;
}

/* ---- Winograd in two dimensions, in f32: result = T in T^t, T of rows x inner. */

typedef float tile[MOST][MOST];

static void sandwich(double (*const t)[MOST], int rows, int inner, tile in, tile out)
{
    tile half = {{0}};
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < inner; j++)
            for (int k = 0; k < inner; k++) half[i][j] += (float)t[i][k] * in[k][j];
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < rows; j++) {
            out[i][j] = 0;
            for (int k = 0; k < inner; k++) out[i][j] += half[i][k] * (float)t[j][k];
        }
}

static float number(cnn_rng *rng, bool single)
{
    return (float)(single ? (rng_u64(rng) & 1 ? 1 : -1) * (1 + rng_unit(rng)) : rng_real(rng, -1, 1));
}

/* One channel: what follows needs less. `single`: a kernel with one tap that is not 0. */
static void winograd_tile(winograd *w, bool single, cnn_rng *rng, outcome *o)
{
    tile g = {{0}}, d = {{0}}, tg, td, product = {{0}}, y;
    for (int i = 0; i < w->n; i++)
        for (int j = 0; j < w->n; j++) d[i][j] = number(rng, single);
    if (single) g[rng_int(rng, 0, w->r - 1)][rng_int(rng, 0, w->r - 1)] = number(rng, true);
    for (int i = 0; i < w->r && !single; i++)
        for (int j = 0; j < w->r; j++) g[i][j] = number(rng, false);
    sandwich(w->g, w->n, w->r, g, tg);
    sandwich(w->b, w->n, w->n, d, td);
    for (int i = 0; i < w->n; i++)
        for (int j = 0; j < w->n; j++) product[i][j] = tg[i][j] * td[i][j];
    sandwich(w->a, w->m, w->n, product, y);
    for (int i = 0; i < w->m * w->m; i++) {
        double sum = 0, magnitude = 0;
        for (int k = 0; k < w->r * w->r; k++) {
            const double term = (double)g[k / w->r][k % w->r] * (double)d[i / w->m + k / w->r][i % w->m + k % w->r];
            sum += term, magnitude += fabs(term);
        }
        look(o, (double)y[i / w->m][i % w->m], sum, magnitude);
    }
}

static void winograd_errors(winograd *w, bool single, outcome *o)
{
    cnn_rng rng = rng_stream(1, 1);
    *o = (outcome){.count = 0};
    for (int i = 0; i < TILES; i++) winograd_tile(w, single, &rng, o);
}

static const vf_transform table[] = {
#define TRANSFORM(name, bound, mean, saved, least, most) {name, bound, mean, saved, least, most},
    VF_TRANSFORMS(TRANSFORM)
#undef TRANSFORM
};
enum { TWO, FOUR, FFT, NINE };

/* What the matrices need is there with room for other points, and no more than is proved for any data. */
static void hold_winograd(int row, int m, int r, const double *points)
{
    static outcome all, single;
    const vf_transform *t = &table[row];
    winograd w;
    make(&w, m, r, points);
    winograd_errors(&w, false, &all);
    winograd_errors(&w, true, &single);
    const double n = r * r + 2, bound = needs_bound(&all, n), mean = needs_mean(&all, n);
    const double precision = needs_precision(&single);
    if (!(bound <= t->bound && mean <= t->mean && precision <= t->mean))
        fail_msg("F(%d,%d): %s allows %g and %g; %g, %g and %g are needed", m, r, t->name, t->bound, t->mean, bound,
                 mean, precision);
    if (!(t->bound <= sum(&w) * sum(&w))) fail_msg("F(%d,%d): only %g is proved", m, r, sum(&w) * sum(&w));
}

static void winograd_is_allowed_what_it_needs(void **state)
{
    hold_winograd(TWO, 2, 3, small_tile);
    hold_winograd(TWO, 3, 2, small_tile); /* BWD_W: the kernel's gradient is the result */
    hold_winograd(FOUR, 4, 3, middle_tile);
    hold_winograd(FOUR, 3, 4, middle_tile);
    hold_winograd(NINE, 9, 5, thirds);
    hold_winograd(NINE, 5, 9, thirds);
    hold_winograd(NINE, 9, 5, quarters);
    hold_winograd(NINE, 5, 9, quarters);
}

static void tables_bounds_are_the_sums(void **state)
{
    winograd w;
    make(&w, 2, 3, small_tile);
    assert_true(fabs(table[TWO].bound - 2 * sum(&w)) < 0.5);
    make(&w, 4, 3, middle_tile);
    assert_true(fabs(table[FOUR].bound - 2 * sum(&w)) < 0.5);
    make(&w, 9, 5, thirds);
    assert_true(fabs(table[NINE].bound / sum(&w) - 1) < 0.01);
}

static void cudnn_asks_for_no_more(void **state)
{
    assert_true(AMPLIFICATION_4X4 == table[TWO].bound && AMPLIFICATION_6X6 == table[FOUR].bound);
    assert_true(AMPLIFICATION_FFT == table[FFT].bound && AMPLIFICATION_13X13 == table[NINE].bound);
}

/* ---- A circular convolution by FFT in f32: radix 2, rows and columns. */

static void fft(float complex *v, int n, int step, int sign)
{
    for (int i = 1, j = 0; i < n; i++) { /* bits reversed */
        int bit = n >> 1;
        for (; j & bit; bit >>= 1) j ^= bit;
        j ^= bit;
        if (i >= j) continue;
        const float complex swap = v[i * step];
        v[i * step] = v[j * step], v[j * step] = swap;
    }
    for (int length = 2; length <= n; length *= 2)
        for (int i = 0; i < n; i += length)
            for (int k = 0; k < length / 2; k++) {
                const double angle = sign * 2 * 3.14159265358979323846 * k / length;
                const float complex turn = (float)cos(angle) + (float)sin(angle) * I;
                float complex *a = &v[(i + k) * step], *b = &v[(i + k + length / 2) * step];
                const float complex even = *a, odd = turn * *b;
                *a = even + odd, *b = even - odd;
            }
}

static void fft_both(float complex *v, int n, int sign)
{
    for (int i = 0; i < n; i++) fft(v + i * n, n, 1, sign);
    for (int i = 0; i < n; i++) fft(v + i, n, n, sign);
}

static void fft_tile(int n, int r, bool single, cnn_rng *rng, outcome *o)
{
    float complex *d = calloc((size_t)(n * n), sizeof *d), *g = calloc((size_t)(n * n), sizeof *g);
    float image[256 * 256], kernel[25] = {0};
    assert_non_null(d), assert_non_null(g);
    for (int i = 0; i < n * n; i++) d[i] = image[i] = number(rng, single);
    for (int i = 0; i < r * r; i++) kernel[i] = number(rng, single);
    if (single) memset(kernel + 1, 0, sizeof kernel - sizeof *kernel);
    for (int i = 0; i < r * r; i++) g[i / r * n + i % r] = kernel[i];
    fft_both(d, n, -1), fft_both(g, n, -1);
    for (int i = 0; i < n * n; i++) d[i] *= g[i];
    fft_both(d, n, 1);
    for (int i = 0; i < n * n && o->count < ERRORS_MAX; i++) {
        double sum = 0, magnitude = 0;
        for (int k = 0; k < r * r; k++) {
            const int row = (i / n - k / r + n) % n, column = (i % n - k % r + n) % n;
            const double term = (double)kernel[k] * (double)image[row * n + column];
            sum += term, magnitude += fabs(term);
        }
        look(o, (double)crealf(d[i]) / (n * n), sum, magnitude);
    }
    free(d), free(g);
}

static void an_fft_is_allowed_what_it_needs(void **state)
{
    static outcome all;
    cnn_rng rng = rng_stream(1, 2);
    for (int n = 32; n <= 256; n *= 8)
        for (int r = 1; r <= 5; r += 2)
            for (int single = 0; single < 2; single++) {
                all = (outcome){.count = 0};
                for (int i = 0; i < 2048 / n; i++) fft_tile(n, r, single, &rng, &all);
                const double bound = needs_bound(&all, r * r + 2), mean = needs_mean(&all, r * r + 2);
                if (!(bound <= table[FFT].bound && (single || mean <= table[FFT].mean)))
                    fail_msg("%d points, %d taps: %g and %g are needed", n, r, bound, mean);
                if (single && !(needs_precision(&all) <= table[FFT].mean))
                    fail_msg("%d points: a precision of %g is needed", n, needs_precision(&all));
            }
}

/* ---- Claims. */

static vf_rounding claim(cnn_op op, const char *kernel, uint32_t flags, double factor)
{
    const cnn_algorithm algorithm = {.flags = flags, .amplification = factor};
    const cnn_problem p = problem_of(op, kernel, CNN_F32, CNN_NCHW);
    return vf_rounding_of(&p, &algorithm);
}

static void a_claim_is_cut_to_what_fits(void **state)
{
    static const double absurd[] = {5000, 1e30, INFINITY, NAN};
    const uint32_t on = CNN_ALGO_TRANSFORMS;
    for (int i = 0; i < 4; i++) {
        assert_true(claim(CNN_OP_CONV, "ic1ih9oc1kh3ph1", on, absurd[i]).amplification <= 100);
        assert_true(claim(CNN_OP_CONV, "ic1ih9oc1kh5ph2", on, absurd[i]).amplification <= 4000);
        assert_true(claim(CNN_OP_CONV, "ic1ih9oc1kh5sh2ph2", on, absurd[i]).amplification <= 100); /* parts of 3 taps */
        assert_true(claim(CNN_OP_CONV, "ic1ih29oc1kh13ph2", on, absurd[i]).amplification <= 100);
        assert_true(claim(CNN_OP_POOL, "max:ic1ih9kh3", on, absurd[i]).amplification == 1);
        assert_false(claim(CNN_OP_POOL, "max:ic1ih9kh3", on, absurd[i]).normwise);
        assert_true(claim(CNN_OP_CONV, "ic1ih9oc1kh3ph1", 0, absurd[i]).amplification == 1);
    }
    assert_true(claim(CNN_OP_CONV, "ic1ih9oc1kh3ph1", on, -1e15).amplification == 1);
    assert_true(claim(CNN_OP_CONV, "ic1ih9oc1kh3ph1", on, 96).amplification == 96);
    assert_string_equal(claim(CNN_OP_CONV, "ic1ih9oc1kh3ph1", on, 4).transform, table[TWO].name);
    assert_string_equal(claim(CNN_OP_CONV, "ic1ih9oc1kh3ph1", on, 17).transform, table[FOUR].name);
    assert_string_equal(claim(CNN_OP_CONV, "ic1ih9oc1kh5ph2", on, 101).transform, table[NINE].name);
    assert_true(claim(CNN_OP_CONV, "ic1ih9oc1kh3ph1", on, 4).mean == table[TWO].mean);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_bounds_are_the_sums), cmocka_unit_test(cudnn_asks_for_no_more),
        cmocka_unit_test(winograd_is_allowed_what_it_needs), cmocka_unit_test(an_fft_is_allowed_what_it_needs),
        cmocka_unit_test(a_claim_is_cut_to_what_fits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
