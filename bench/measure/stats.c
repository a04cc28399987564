/* stats.c: quartiles, a distribution-free interval of the median, and what makes a set of samples suspect. */
#include "stats.h"

#include "harness/base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCHES = 20, LEAST_FOR_DEPENDENCE = 12 };

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

static int side(double sample, double median) { return (sample > median) - (sample < median); }

/* Batch means of the signs of (sample - median): for independent samples the mean of a batch of m varies as 1/m; where
 * neighbours agree it varies `dependence` times as much. Signs, not values, since the interval rests on signs alone. */
static double dependence_of(const double *samples, int count, double median)
{
    if (count < LEAST_FOR_DEPENDENCE) return 1.0;
    const int batches = count / 2 < BATCHES ? count / 2 : BATCHES;
    const double size = (double)count / batches;
    double sum = 0, squares = 0, of_batches = 0;
    for (int b = 0, i = 0; b < batches; b++) {
        double total = 0;
        int first = i;
        for (; i < (int)lround((b + 1) * size); i++) {
            const int s = side(samples[i], median);
            total += s;
            squares += s * s;
        }
        sum += total;
        of_batches += total * total / (i - first);
    }
    const double mean = sum / count, variance = squares / count - mean * mean;
    if (!(variance > 0)) return 1.0; /* all equal */
    return fmax(1.0, (of_batches - count * mean * mean) / (batches - 1) / variance);
}

/* Ranks as many samples need as are worth `independent` ones, spread over all of them. */
static void interval_of(const double *sorted, bench_stats *s)
{
    const int independent = (int)(s->count / s->dependence), rank = bench_median_rank(independent);
    int k = rank == 0 ? 1 : (int)((double)rank / independent * s->count);
    s->low = sorted[k - 1];
    s->high = sorted[s->count - k];
    if (rank == 0) s->marks |= BENCH_FEW;
}

/* The medians of the two halves; a drift is one of more than 3 % that chance does not explain: the signs of independent
 * halves differ by 2/sqrt(count) on average. `room` is for a sorted half. */
static void drift_of(const double *samples, double *room, bench_stats *s)
{
    const int half = s->count / 2, sizes[2] = {half, s->count - half};
    double medians[2], signs[2] = {0, 0};
    s->drift = NAN;
    if (s->count < LEAST_FOR_DEPENDENCE || !(s->median > 0)) return;
    for (int h = 0; h < 2; h++) {
        memcpy(room, samples + h * half, (size_t)sizes[h] * sizeof *room);
        for (int i = 0; i < sizes[h]; i++) signs[h] += side(room[i], s->median);
        qsort(room, (size_t)sizes[h], sizeof *room, compare);
        medians[h] = bench_quantile(room, sizes[h], 0.5);
    }
    const double apart = fabs(signs[1] / sizes[1] - signs[0] / sizes[0]);
    s->drift = (medians[1] - medians[0]) / s->median;
    if (fabs(s->drift) > 0.03 && apart > 3 * 2 / sqrt(s->count)) s->marks |= BENCH_DRIFTING;
}

/* A fence at q3 itself would make outliers of noise in the last digit: at least 1 % of the median apart counts. */
static void outliers_of(const double *sorted, bench_stats *s)
{
    const double fence = s->q3 + 3 * fmax(s->q3 - s->q1, 0.01 * s->median);
    while (s->outliers < s->count && sorted[s->count - 1 - s->outliers] > fence) s->outliers++;
    if (s->outliers > 0.05 * s->count) s->marks |= BENCH_OUTLIERS;
}

void bench_stats_of(const double *samples, int count, double *sorted, bench_stats *stats)
{
    memset(stats, 0, sizeof *stats);
    memcpy(sorted, samples, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, compare);
    stats->count = count;
    stats->min = sorted[0];
    stats->q1 = bench_quantile(sorted, count, 0.25);
    stats->median = bench_quantile(sorted, count, 0.5);
    stats->q3 = bench_quantile(sorted, count, 0.75);
    stats->max = sorted[count - 1];
    stats->dependence = dependence_of(samples, count, stats->median);
    interval_of(sorted, stats);
    outliers_of(sorted, stats);
    stats->noise = count > 1 && stats->median > 0 ? (stats->high - stats->low) / 2 / stats->median : NAN;
    if (!(stats->noise <= 0.03)) stats->marks |= BENCH_NOISY; /* a NaN is noisy */
    if (stats->q3 - stats->q1 > 0.1 * stats->median) stats->marks |= BENCH_SPREAD;
    drift_of(samples, sorted, stats); /* spoils `sorted` */
    memcpy(sorted, samples, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, compare);
}

bool bench_tied(const bench_stats *best, const bench_stats *other, double resolution)
{
    return other->low <= best->high || other->median <= best->median * (1 + resolution);
}

bool bench_noisy(const bench_stats *stats)
{
    return (stats->marks & (BENCH_FEW | BENCH_NOISY | BENCH_DRIFTING | BENCH_COARSE)) != 0;
}

static const struct {
    const char *name, *meaning;
} mark_texts[] = {
#define X(id, name, meaning) {name, meaning},
    BENCH_MARKS(X)
#undef X
};

const char *bench_mark_name(int bit) { return mark_texts[bit].name; }
const char *bench_mark_meaning(int bit) { return mark_texts[bit].meaning; }

double bench_median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return bench_quantile(values, count, 0.5);
}

const char *bench_marks_text(unsigned marks, char *text, size_t size)
{
    text[0] = '\0';
    for (int i = 0; i < BENCH_MARK_COUNT; i++)
        if (marks & 1u << i) cnn_append(text, size, "%s%s", text[0] != '\0' ? "," : "", mark_texts[i].name);
    return text;
}

void bench_time_text(double seconds, char *text, size_t size)
{
    const char *unit = seconds < 1e-3 ? "µs" : seconds < 1 ? "ms" : "s";
    double value = seconds < 1e-3 ? seconds * 1e6 : seconds < 1 ? seconds * 1e3 : seconds;
    snprintf(text, size, "%.*f %s", value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2, value, unit);
}

unsigned bench_marks_of(const char *text)
{
    unsigned marks = 0;
    while (text && *text != '\0') {
        const size_t length = strcspn(text, ",");
        for (int i = 0; i < BENCH_MARK_COUNT; i++)
            if (strlen(mark_texts[i].name) == length && strncmp(text, mark_texts[i].name, length) == 0)
                marks |= 1u << i;
        text += length + (text[length] == ',');
    }
    return marks;
}
