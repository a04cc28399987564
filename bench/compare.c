/* compare.c: the interval of a ratio of medians, and what it says.
 *
 * Each median has an interval of its own from order statistics, at the level that the number of comparisons asks for.
 * The two become one of the ratio by adding their half-widths in quadrature, on a logarithmic scale, each side with the
 * half-widths that belong to it (the MOVER method of Zou and Donner): narrower than what the ends of both give, and
 * still lopsided where the samples are. */
#include "compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The largest k such that the k-th smallest and k-th largest of n enclose the median with 1 - alpha; 0: none does.
 * P(fewer than k of n below the median) = sum_{i<k} C(n,i) / 2^n must stay within alpha / 2. */
static int rank_of(int n, double alpha)
{
    double below = 0;
    int k = 0;
    while (k <= n / 2) {
        below += exp(lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0) - n * log(2.0));
        if (below > alpha / 2) break;
        k++;
    }
    return k;
}

/* z such that a normal number is farther out, on either side, with probability alpha: by halving. */
static double normal_quantile(double alpha)
{
    double low = 0, high = 40;
    for (int i = 0; i < 100; i++) {
        const double middle = (low + high) / 2;
        *(erfc(middle / sqrt(2.0)) > alpha ? &low : &high) = middle;
    }
    return high;
}

/* How many independent samples these are worth. Dependence is estimated from few batches, and too low where neighbours
 * come and go for long: what is beyond 1 counts three times. */
static int independent_of(const bench_stats *s) { return (int)(s->count / (1 + 3 * (s->dependence - 1))); }

typedef struct interval {
    double low, high;
} interval;

static const interval unknown = {0, INFINITY};

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static interval of_samples(const figure *f, double alpha)
{
    const bench_stats *s = &f->stats;
    const int independent = independent_of(s), rank = rank_of(independent, alpha);
    double *sorted = rank > 0 ? malloc((size_t)s->count * sizeof *sorted) : NULL;
    if (!sorted) return unknown;
    memcpy(sorted, f->samples, (size_t)s->count * sizeof *sorted);
    qsort(sorted, (size_t)s->count, sizeof *sorted, by_value);
    int k = (int)((double)rank / independent * s->count);
    k = k < 1 ? 1 : k;
    const interval result = {sorted[k - 1], sorted[s->count - k]};
    free(sorted);
    return result;
}

/* Without the samples: the recorded interval of 95 %, stretched to the level. Too few samples: none. */
static interval of_record(const bench_stats *s, double alpha)
{
    const double stretch =
        normal_quantile(alpha) / normal_quantile(0.05) * sqrt(1 + 3 * (s->dependence - 1)) / sqrt(s->dependence);
    if (!(s->low > 0) || rank_of(independent_of(s), alpha) == 0) return unknown;
    return (interval){s->median * pow(s->low / s->median, stretch), s->median * pow(s->high / s->median, stretch)};
}

/* A run that other work disturbed says nothing of the next one: its samples differ far less than two such runs do. What
 * drifted may go on drifting from one run to the next: the median is known no better than that. */
static interval interval_of(const figure *f, double alpha)
{
    if (f->stats.marks & (BENCH_DISTURBED | BENCH_THROTTLED)) return unknown;
    interval i = f->samples ? of_samples(f, alpha) : of_record(&f->stats, alpha);
    if (f->stats.marks & BENCH_DRIFTING && isfinite(f->stats.drift)) {
        i.low /= 1 + fabs(f->stats.drift);
        i.high *= 1 + fabs(f->stats.drift);
    }
    return i;
}

static compare_verdict judge(const comparison *c)
{
    if (c->low > 1 + c->margin) return COMPARE_SLOWER;
    if (c->high < 1 / (1 + c->margin)) return COMPARE_FASTER;
    return c->low >= 1 / (1 + c->margin) && c->high <= 1 + c->margin ? COMPARE_SAME : COMPARE_CANNOT_TELL;
}

void compare_figures(const figure *a, const figure *b, int figures, double threshold, comparison *result)
{
    const double alpha = COMPARE_FALSE_POSITIVES / (figures > 1 ? figures : 1);
    const interval ia = interval_of(a, alpha), ib = interval_of(b, alpha);
    const double ma = a->stats.median, mb = b->stats.median;
    *result = (comparison){.ratio = mb / ma, .low = 0, .high = INFINITY, .margin = threshold};
    result->margin = fmax(result->margin, fmax(a->resolution, b->resolution)); /* fmax passes over a NaN */
    if (ia.low > 0 && ib.low > 0 && isfinite(ia.high) && isfinite(ib.high)) {
        result->low = result->ratio * exp(-hypot(log(mb / ib.low), log(ia.high / ma)));
        result->high = result->ratio * exp(hypot(log(ib.high / mb), log(ma / ia.low)));
    }
    result->verdict = judge(result);
}

const char *compare_verdict_name(compare_verdict verdict)
{
    static const char *const names[COMPARE_VERDICT_COUNT] = {"FASTER", "SLOWER", "SAME", "CANNOT TELL"};
    return names[verdict];
}
