/* winograd_unit.h: Winograd's transforms as matrices: Toom's and Cook's for any points, the last one infinity. */
#ifndef TESTS_VERIFY_WINOGRAD_UNIT_H
#define TESTS_VERIFY_WINOGRAD_UNIT_H

#include "tests/unit.h"

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

static inline double norm(double (*const matrix)[MOST])
{
    double most = 0;
    for (int i = 0; i < MOST; i++) most = fmax(most, row_sum(matrix[i]));
    return most;
}

static inline double norms(winograd *w) { return norm(w->a) * norm(w->g) * norm(w->b); }

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

static inline double sum_of(int m, int r, const double *points)
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

#endif
