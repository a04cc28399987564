/* rank.c: who is fastest, and who may be. Points of different sets were taken minutes apart, but each beside the
 * default: what counts is what a point takes of the default's time in its own set. */
#include "bench/measure/candidates.h"
#include "sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_time(const void *a, const void *b)
{
    const sweep_point *const *x = a, *const *y = b;
    return ((*x)->relative > (*y)->relative) - ((*x)->relative < (*y)->relative);
}

/* Nobody stands before the best of the last round: there the fastest were. */
static void put_best_first(sweep_ranking *r)
{
    int best = -1;
    for (int i = 0; i < r->count && best < 0; i++)
        if (r->list[i]->figures.round == r->last_round) best = i;
    if (best < 0) return;
    sweep_point *const first = r->list[best];
    memmove(r->list + 1, r->list, (size_t)best * sizeof *r->list);
    r->list[0] = first;
}

/* What two figures of this round may differ by for no reason: what its controls did, and the default from set to set.
 */
static double resolution_of(const sweep_ranking *r)
{
    double most = NAN, low = INFINITY, high = 0;
    for (int i = 0; i < r->count; i++) {
        const sweep_figures *f = &r->list[i]->figures;
        if (f->round != r->last_round) continue;
        most = fmax(most, f->resolution); /* fmax and fmin pass NaN over */
        low = fmin(low, f->baseline);
        high = fmax(high, f->baseline);
    }
    return high > 0 ? fmax(most, high / low - 1) : most;
}

static candidate in_its_set(const sweep_point *p, double resolution)
{
    const double unit = p->figures.median / p->relative;
    const bench_stats stats = {.median = p->relative, .low = p->figures.low / unit, .high = p->figures.high / unit};
    return (candidate){.state = CANDIDATE_TIMED, .result.stats = stats, .resolution = resolution};
}

bool sweep_tied(const sweep_point *a, const sweep_point *b, double resolution)
{
    const candidate best = in_its_set(a, resolution), other = in_its_set(b, resolution);
    return candidates_tied(&best, &other);
}

/* Without a default in one of the sets there is no common measure but the time. */
static void gather(sweep_point *points, int count, sweep_ranking *r)
{
    bool relative = true;
    for (int i = 0; i < count; i++) {
        const sweep_figures *f = &points[i].figures;
        if (f->round == 0) continue;
        relative = relative && (!f->timed || f->baseline > 0);
        if (f->timed)
            r->list[r->count++] = &points[i];
        else
            r->failed++;
    }
    for (int i = 0; i < r->count; i++)
        r->list[i]->relative = r->list[i]->figures.median / (relative ? r->list[i]->figures.baseline : 1);
}

cnn_status sweep_rank(sweep_point *points, int count, sweep_ranking *r, cnn_error *err)
{
    *r = (sweep_ranking){.usual = -1, .list = calloc((size_t)count + 1, sizeof *r->list)};
    if (!r->list) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a table of %d points", count);
    gather(points, count, r);
    qsort(r->list, (size_t)r->count, sizeof *r->list, by_time);
    for (int i = 0; i < r->count; i++)
        if (r->list[i]->figures.round > r->last_round) r->last_round = r->list[i]->figures.round;
    put_best_first(r);
    r->resolution = resolution_of(r);
    for (int i = 0; i < r->count; i++) {
        sweep_point *p = r->list[i];
        p->tied = p->figures.round == r->last_round && sweep_tied(r->list[0], p, r->resolution);
        r->tied += p->tied;
        if (p == &points[0]) r->usual = i;
    }
    return CNN_OK;
}
