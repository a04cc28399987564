/* signed_rank.c: see signed_rank.h. */
#include "signed_rank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int by_size(const void *a, const void *b)
{
    const double x = fabs(*(const double *)a), y = fabs(*(const double *)b);
    return (x > y) - (x < y);
}

/* Twice the ranks of the sizes of d, which is sorted by them: equal ones share the mean rank, so twice it is whole. */
static void double_ranks(const double *d, int count, int *ranks)
{
    for (int i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && fabs(d[end]) <= fabs(d[i]);) end++;
        for (int k = i; k < end; k++) ranks[k] = i + 1 + end;
    }
}

/* chance[s]: that the ranks with a plus sign add up to s; room for `total` + 1 of them. */
static void distribution(const int *ranks, int count, int total, double *chance)
{
    memset(chance, 0, ((size_t)total + 1) * sizeof *chance);
    chance[0] = 1;
    for (int i = 0, most = 0; i < count; i++) {
        most += ranks[i];
        for (int s = most; s >= 0; s--) chance[s] = (chance[s] + (s >= ranks[i] ? chance[s - ranks[i]] : 0)) / 2;
    }
}

typedef struct room {
    double d[SIGNED_RANK_MOST];
    int ranks[SIGNED_RANK_MOST];
    double chance[SIGNED_RANK_MOST * (SIGNED_RANK_MOST + 1) + 1];
    double averages[SIGNED_RANK_MOST * (SIGNED_RANK_MOST + 1) / 2];
} room;

/* That chance alone makes the differences lie so far above `shift`; those that are equal to it say nothing. */
static double chance_above(const double *differences, int count, double sign, double shift, room *r)
{
    int kept = 0, total = 0, above = 0;
    double p = 0;
    for (int i = 0; i < count; i++)
        if (fabs(sign * differences[i] - shift) > 0) r->d[kept++] = sign * differences[i] - shift;
    qsort(r->d, (size_t)kept, sizeof *r->d, by_size);
    double_ranks(r->d, kept, r->ranks);
    for (int i = 0; i < kept; i++) total += r->ranks[i];
    for (int i = 0; i < kept; i++) above += r->d[i] > 0 ? r->ranks[i] : 0;
    distribution(r->ranks, kept, total, r->chance);
    for (int s = total; s >= above; s--) p += r->chance[s];
    return p;
}

/* As many averages from either end as the test would leave out. */
static void interval_of(const double *d, int count, double alpha, room *r, signed_rank *result)
{
    const int all = count * (count + 1) / 2;
    int n = 0, out = 0;
    for (int i = 0; i < count; i++)
        for (int k = i; k < count; k++) r->averages[n++] = (d[i] + d[k]) / 2;
    qsort(r->averages, (size_t)all, sizeof *r->averages, ascending);
    for (int i = 0; i < count; i++) r->ranks[i] = i + 1;
    distribution(r->ranks, count, all, r->chance);
    for (double tail = r->chance[0]; tail <= alpha / 2 && out < all; tail += r->chance[out]) out++;
    result->middle = (r->averages[(all - 1) / 2] + r->averages[all / 2]) / 2;
    result->low = out > 0 ? r->averages[out - 1] : -INFINITY;
    result->high = out > 0 ? r->averages[all - out] : INFINITY;
}

cnn_status signed_rank_of(const double *differences, int count, double margin, double alpha, signed_rank *result,
                          cnn_error *err)
{
    room *r = malloc(sizeof *r);
    if (r == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a test of %d pairs", count);
    interval_of(differences, count, alpha, r, result);
    const double above = chance_above(differences, count, 1, margin, r);
    const double below = chance_above(differences, count, -1, margin, r);
    result->p = fmin(1, 2 * fmin(above, below));
    free(r);
    return CNN_OK;
}

int signed_rank_least(double alpha)
{
    int count = 1;
    while (count < SIGNED_RANK_MOST && ldexp(2, -count) > alpha) count++;
    return count;
}

void false_discovery_rates(double *p, int count)
{
    int all = 0;
    for (int i = 0; i < count; i++) all += !isnan(p[i]);
    double *sorted = malloc((size_t)(all > 0 ? all : 1) * sizeof *sorted);
    for (int i = 0, n = 0; sorted != NULL && i < count; i++)
        if (!isnan(p[i])) sorted[n++] = p[i];
    if (sorted != NULL) qsort(sorted, (size_t)all, sizeof *sorted, ascending);
    for (int i = 0; i < count; i++) {
        double least = sorted != NULL ? 1 : fmin(1, p[i] * all); /* no memory: Bonferroni's, which is stricter */
        if (isnan(p[i])) continue;
        for (int k = all - 1; sorted != NULL && k >= 0 && sorted[k] >= p[i]; k--)
            least = fmin(least, sorted[k] * all / (k + 1));
        p[i] = least;
    }
    free(sorted);
}
