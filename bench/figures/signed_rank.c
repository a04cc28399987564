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

static const double far = 4; /* times the median size */

typedef struct room {
    double d[SIGNED_RANK_MOST];
    int ranks[SIGNED_RANK_MOST];
    double chance[SIGNED_RANK_MOST * (SIGNED_RANK_MOST + 1) + 1];
} room;

/* What the differences are of: theirs, or with the other sign. */
typedef struct sample {
    const double *d;
    int count;
    double sign;
} sample;

/* The differences from `shift`, by size, without those of 0, which say nothing, and those far out. Of the ranks' sum
 * *above: the part of those above; returns all of it. */
static int rank_about(const sample *s, double shift, room *r, int *kept, int *above)
{
    int count = 0, total = 0;
    for (int i = 0; i < s->count; i++)
        if (fabs(s->sign * s->d[i] - shift) > 0) r->d[count++] = s->sign * s->d[i] - shift;
    qsort(r->d, (size_t)count, sizeof *r->d, by_size);
    const double most = count > 0 ? far * fabs(r->d[(count - 1) / 2]) : 0;
    while (count > 0 && fabs(r->d[count - 1]) > most) count--;
    double_ranks(r->d, count, r->ranks);
    *kept = count;
    *above = 0;
    for (int i = 0; i < count; i++) {
        total += r->ranks[i];
        *above += r->d[i] > 0 ? r->ranks[i] : 0;
    }
    return total;
}

/* That chance alone makes the differences lie so far above `shift`. */
static double chance_above(const sample *s, double shift, room *r)
{
    int kept, above;
    const int total = rank_about(s, shift, r, &kept, &above);
    double p = 0;
    distribution(r->ranks, kept, total, r->chance);
    for (int sum = total; sum >= above; sum--) p += r->chance[sum];
    return p;
}

/* More of the ranks are above it. */
static bool is_below_middle(const sample *s, double shift, room *r)
{
    int kept, above;
    const int total = rank_about(s, shift, r, &kept, &above);
    return 2 * above > total;
}

enum { HALVINGS = 50, STEPS = 80 };

/* The median of the differences, and how far the median one is from it: where to look. */
static void look_around(const sample *s, room *r, double *center, double *size)
{
    for (int i = 0; i < s->count; i++) r->d[i] = s->sign * s->d[i];
    qsort(r->d, (size_t)s->count, sizeof *r->d, ascending);
    *center = (r->d[(s->count - 1) / 2] + r->d[s->count / 2]) / 2;
    for (int i = 0; i < s->count; i++) r->d[i] -= *center;
    qsort(r->d, (size_t)s->count, sizeof *r->d, by_size);
    *size = fabs(r->d[s->count / 2]);
}

/* The lower end of where neither side has more of the ranks. */
static double middle_of(const sample *s, double center, double size, room *r)
{
    double low = center - far * size, high = center + far * size;
    for (int i = 0; i < HALVINGS; i++) {
        const double at = (low + high) / 2;
        *(is_below_middle(s, at, r) ? &low : &high) = at;
    }
    return (low + high) / 2;
}

/* The lower end: down from the middle to where the test rejects. Of the upper end the same with the other sign. */
static double end_of(const sample *s, double middle, double size, double alpha, room *r)
{
    const double step = size / 4 + 1e-12;
    double high = middle, low = middle;
    for (int i = 0; i < STEPS && chance_above(s, low, r) > alpha / 2; i++) {
        high = low;
        low -= step;
    }
    if (chance_above(s, low, r) > alpha / 2) return -INFINITY;
    for (int i = 0; i < HALVINGS; i++) {
        const double at = (low + high) / 2;
        *(chance_above(s, at, r) <= alpha / 2 ? &low : &high) = at;
    }
    return low;
}

static void count_far(const sample *s, room *r, signed_rank *result)
{
    int kept, above;
    rank_about(s, result->middle, r, &kept, &above);
    const double most = kept > 0 ? fabs(r->d[kept - 1]) : 0;
    result->far_above = result->far_below = 0;
    for (int i = 0; i < s->count; i++) {
        result->far_above += s->d[i] - result->middle > most;
        result->far_below += result->middle - s->d[i] > most;
    }
}

cnn_status signed_rank_of(const double *differences, int count, double margin, double alpha, signed_rank *result,
                          cnn_error *err)
{
    const sample up = {differences, count, 1}, down = {differences, count, -1};
    double center, size;
    room *r = malloc(sizeof *r);
    if (r == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a test of %d pairs", count);
    look_around(&up, r, &center, &size);
    result->middle = (middle_of(&up, center, size, r) - middle_of(&down, -center, size, r)) / 2;
    result->low = end_of(&up, result->middle, size, alpha, r);
    result->high = -end_of(&down, -result->middle, size, alpha, r);
    result->p = fmin(1, 2 * fmin(chance_above(&up, margin, r), chance_above(&down, margin, r)));
    count_far(&up, r, result);
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
