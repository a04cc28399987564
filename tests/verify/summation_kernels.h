/* summation_kernels.h: sums whose order is written here: what test_summation.c asks verify/summation/.
 * Each adds up n products a[i] * b[i] and a bias. A product that is not written as fmaf() is rounded: nothing is
 * contracted. */
#ifndef TESTS_VERIFY_SUMMATION_KERNELS_H
#define TESTS_VERIFY_SUMMATION_KERNELS_H

#include "harness/base/rng.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

typedef float known_sum(const float *a, const float *b, int n, float bias);

static float in_sequence(const float *a, const float *b, int n, float bias)
{
    float sum = bias;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

static float backwards(const float *a, const float *b, int n, float bias)
{
    float sum = 0;
    for (int i = n - 1; i >= 0; i--) sum += a[i] * b[i];
    return sum + bias;
}

static float with_fma(const float *a, const float *b, int n, float bias)
{
    float sum = 0;
    for (int i = 0; i < n; i++) sum = fmaf(a[i], b[i], sum);
    return sum + bias;
}

static float in_blocks_of_8(const float *a, const float *b, int n, float bias)
{
    float sum = bias;
    for (int i = 0; i < n; i += 8) sum += in_sequence(a + i, b + i, n - i < 8 ? n - i : 8, 0);
    return sum;
}

/* Each lane a sequence. */
static void in_lanes(const float *a, const float *b, int n, int lanes, float *lane)
{
    for (int i = 0; i < lanes; i++) lane[i] = 0;
    for (int i = 0; i < n; i++) lane[i % lanes] = fmaf(a[i], b[i], lane[i % lanes]);
}

static float in_4_lanes(const float *a, const float *b, int n, float bias)
{
    float lane[4];
    in_lanes(a, b, n, 4, lane);
    return ((lane[0] + lane[1]) + lane[2]) + lane[3] + bias;
}

static float tree_of_8(const float *l) { return ((l[0] + l[4]) + (l[2] + l[6])) + ((l[1] + l[5]) + (l[3] + l[7])); }

static float in_8_lanes(const float *a, const float *b, int n, float bias)
{
    float lane[8];
    in_lanes(a, b, n, 8, lane);
    return tree_of_8(lane) + bias;
}

/* What the lanes leave over comes behind them. */
static float in_8_lanes_and_rest(const float *a, const float *b, int n, float bias)
{
    const int whole = n / 8 * 8;
    float lane[8];
    in_lanes(a, b, whole, 8, lane);
    float sum = tree_of_8(lane);
    for (int i = whole; i < n; i++) sum += a[i] * b[i];
    return sum + bias;
}

static float pairwise(const float *a, const float *b, int n, float bias)
{
    if (n == 1) return a[0] * b[0] + bias;
    return (pairwise(a, b, n / 2, 0) + pairwise(a + n / 2, b + n / 2, n - n / 2, 0)) + bias;
}

/* BWD_W: first over the 12 pixels of each image, then over images. */
static float by_images(const float *a, const float *b, int n, float bias)
{
    float sum = bias;
    for (int i = 0; i < n; i += 12) sum += in_sequence(a + i, b + i, 12, 0);
    return sum;
}

/* An NHWC kernel: taps outside, channels (9 apart) inside. */
static float channels_inside(const float *a, const float *b, int n, float bias)
{
    float sum = bias;
    for (int tap = 0; tap < 9; tap++)
        for (int i = tap; i < n; i += 9) sum += a[i] * b[i];
    return sum;
}

static float in_double(const float *a, const float *b, int n, float bias)
{
    double sum = (double)bias;
    for (int i = 0; i < n; i++) sum += (double)a[i] * (double)b[i];
    return (float)sum;
}

static float in_double_of_rounded(const float *a, const float *b, int n, float bias)
{
    double sum = (double)bias;
    for (int i = 0; i < n; i++) sum += (double)(a[i] * b[i]);
    return (float)sum;
}

/* Blocks in f32, between them f64. */
static float wide_between_blocks(const float *a, const float *b, int n, float bias)
{
    double sum = 0;
    for (int i = 0; i < n; i += 8) sum += (double)in_sequence(a + i, b + i, 8, 0);
    return (float)(sum + (double)bias);
}

/* To `bits` of a significand by nearbyint (ties to even), round (ties away), trunc, floor. */
static double to_bits(double value, int bits, double (*by)(double))
{
    int exponent;
    const double scaled = ldexp(frexp(value, &exponent), bits);
    return value == 0 || isinf(value) || isnan(value) ? value : ldexp(by(scaled), exponent - bits);
}

static float of_bf16(const float *a, const float *b, int n, float bias)
{
    float sum = bias;
    for (int i = 0; i < n; i++)
        sum += (float)to_bits((double)a[i], 8, nearbyint) * (float)to_bits((double)b[i], 8, nearbyint);
    return sum;
}

/* The accumulator is f16: 11 bits, nothing above 65504. */
static float in_f16(const float *a, const float *b, int n, float bias)
{
    double sum = (double)bias;
    for (int i = 0; i < n; i++) {
        sum = to_bits(sum + (double)a[i] * (double)b[i], 11, nearbyint);
        if (fabs(sum) > 65504) sum = sum * (double)INFINITY;
    }
    return (float)sum;
}

static float toward_zero(const float *a, const float *b, int n, float bias)
{
    double sum = (double)bias;
    for (int i = 0; i < n; i++) sum = to_bits(sum + (double)(a[i] * b[i]), 24, trunc);
    return (float)sum;
}

static float downward(const float *a, const float *b, int n, float bias)
{
    double sum = (double)bias;
    for (int i = 0; i < n; i++) sum = to_bits(sum + (double)(a[i] * b[i]), 24, floor);
    return (float)sum;
}

static float ties_away(const float *a, const float *b, int n, float bias)
{
    double sum = (double)bias;
    for (int i = 0; i < n; i++) sum = to_bits(sum + (double)(a[i] * b[i]), 24, round);
    return (float)sum;
}

/* As tensor cores do it: four products and the sum before are brought to the exponent of the largest, what is below
 * its 24 bits cut off, and added exactly. */
static float in_fours(const float *a, const float *b, int n, float bias)
{
    double sum = 0;
    for (int i = 0; i < n; i += 4) {
        double addend[5] = {sum}, largest = fabs(sum), step;
        int exponent;
        for (int k = 0; k < 4; k++) addend[k + 1] = (double)a[i + k] * (double)b[i + k];
        for (int k = 1; k < 5; k++) largest = fmax(largest, fabs(addend[k]));
        frexp(largest, &exponent);
        step = ldexp(1.0, exponent - 24);
        sum = 0;
        for (int k = 0; k < 5 && largest > 0; k++) sum += trunc(addend[k] / step) * step;
        sum = to_bits(sum, 24, trunc);
    }
    return (float)sum + bias;
}

/* Kahan's: a sequence to whom asks for the order, but not its bits. */
static float compensated(const float *a, const float *b, int n, float bias)
{
    float sum = bias, lost = 0;
    for (int i = 0; i < n; i++) {
        const float next = a[i] * b[i] - lost;
        volatile float together = sum + next;
        lost = (together - sum) - next;
        sum = together;
    }
    return sum;
}

/* ---- No tree. */

/* As with atomics: another order in every run. */
static float at_random(const float *a, const float *b, int n, float bias)
{
    static cnn_rng rng = {1};
    int order[256];
    float sum = bias;
    for (int i = 0; i < n; i++) order[i] = i;
    for (int i = n - 1; i > 0; i--) {
        const int k = (int)rng_int(&rng, 0, i), other = order[k];
        order[k] = order[i], order[i] = other;
    }
    for (int i = 0; i < n; i++) sum += a[order[i]] * b[order[i]];
    return sum;
}

/* Exact: products of one exponent are added to each other alone. */
static float in_bins(const float *a, const float *b, int n, float bias)
{
    double bin[512] = {0}, sum = 0;
    for (int i = 0; i <= n; i++) {
        const double product = i < n ? (double)a[i] * (double)b[i] : (double)bias;
        int exponent;
        frexp(product, &exponent);
        bin[256 + exponent] += product;
    }
    for (int i = 511; i >= 0; i--) sum += bin[i];
    return (float)sum;
}

/* Winograd's F(2,3): the first of two results. */
static float winograd(const float *a, const float *b, int n, float bias)
{
    float sum = bias;
    for (int i = 0; i < n; i += 3) {
        const float *d = a + i, *g = b + i;
        sum += (d[0] - d[2]) * g[0] + (d[1] + d[2]) * ((g[0] + g[1] + g[2]) / 2) +
               (d[2] - d[1]) * ((g[0] - g[1] + g[2]) / 2);
    }
    return sum;
}

#endif
