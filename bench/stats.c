/* stats.c: quartiles, and a distribution-free interval of the median. */
#include "stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_quantile(const double *sorted, int count, double p)
{
    double position = p * (count - 1);
    int below = (int)floor(position), above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (position - below) * (sorted[above] - sorted[below]);
}

/* Each sample falls below the true median with probability 1/2, so the number of those that do is binomial, and the
 * k-th smallest lies above the median with probability P(B <= k-1). Two tails of at most 2.5 % make 95 %. Summed in
 * logarithms: 2^-count underflows from count = 1075 on. */
int bench_median_rank(int count)
{
    double log_term = -count * log(2.0), tail = 0.0;
    int rank = 0;
    for (int i = 0; i < count; i++) {
        tail += exp(log_term); /* P(B <= i) */
        if (tail > 0.025) break;
        rank = i + 1;
        log_term += log(count - i) - log(i + 1);
    }
    return rank;
}

void bench_stats_of(const double *samples, int count, double *sorted, bench_stats *stats)
{
    memcpy(sorted, samples, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, compare);
    int rank = bench_median_rank(count);
    if (rank == 0) rank = 1;
    stats->count = count;
    stats->min = sorted[0];
    stats->q1 = bench_quantile(sorted, count, 0.25);
    stats->median = bench_quantile(sorted, count, 0.5);
    stats->q3 = bench_quantile(sorted, count, 0.75);
    stats->max = sorted[count - 1];
    stats->low = sorted[rank - 1];
    stats->high = sorted[count - rank];
    stats->noise = count > 1 && stats->median > 0 ? (stats->high - stats->low) / 2 / stats->median : NAN;
}

bool bench_noisy(const bench_stats *stats)
{
    return bench_median_rank(stats->count) == 0 || !(stats->noise <= 0.05); /* a NaN is noisy */
}
