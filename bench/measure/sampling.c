/* sampling.c: the stop rule. */
#include "sampling.h"

#include <stdlib.h>

cnn_status sampling_reserve(sampling *s, cnn_error *err)
{
    if (s->count < s->capacity) return CNN_OK;
    const int capacity = s->capacity ? 2 * s->capacity : 256;
    double *samples = realloc(s->samples, (size_t)capacity * sizeof *samples);
    if (samples) s->samples = samples;
    double *sorted = samples ? realloc(s->sorted, (size_t)capacity * sizeof *sorted) : NULL;
    if (!sorted) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %d samples", capacity);
    s->sorted = sorted;
    s->capacity = capacity;
    return CNN_OK;
}

/* Sorting thousands of samples after each one would take longer than the samples: a look at every tenth more. */
void sampling_add(sampling *s, double seconds)
{
    bench_stats stats;
    s->samples[s->count++] = seconds;
    if (s->count < SAMPLING_LEAST || s->count < s->look_at) return;
    sampling_stats(s, &stats);
    s->known = stats.noise <= s->rules.noise && !(stats.marks & BENCH_DRIFTING); /* a NaN is not known */
    s->look_at = s->count + 1 + s->count / 10;
}

bool sampling_done(const sampling *s)
{
    if (s->count == 0 || (s->count < SAMPLING_FEWEST && s->spent < SAMPLING_PATIENCE)) return false;
    return (s->known && s->spent >= s->rules.min_time) || s->spent >= s->rules.max_time || s->count >= SAMPLING_MOST;
}

void sampling_stats(sampling *s, bench_stats *stats) { bench_stats_of(s->samples, s->count, s->sorted, stats); }

void sampling_free(sampling *s)
{
    free(s->samples);
    free(s->sorted);
    *s = (sampling){.rules = s->rules};
}
