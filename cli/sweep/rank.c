/* rank.c: who is fastest, and who may be. Points of different sets were taken minutes apart, but each beside the
 * default: what counts is what a point takes of the default's time in its own set. */
#include "parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_time(const void *a, const void *b)
{
    const sweep_entry *x = a, *y = b;
    return (x->relative > y->relative) - (x->relative < y->relative);
}

/* Nobody stands before the best of the last round: there the fastest were. */
static void put_best_first(sweep_ranking *r)
{
    int best = -1;
    for (int i = 0; i < r->count && best < 0; i++)
        if (r->list[i].row->round == r->last_round) best = i;
    if (best < 0) return;
    const sweep_entry entry = r->list[best];
    memmove(r->list + 1, r->list, (size_t)best * sizeof *r->list);
    r->list[0] = entry;
}

/* What two figures of this round may differ by for no reason: what its controls did, and the default from set to set.
 */
static double resolution_of(const sweep_ranking *r)
{
    double most = NAN, low = INFINITY, high = 0;
    for (int i = 0; i < r->count; i++) {
        const sweep_row *row = r->list[i].row;
        if (row->round != r->last_round) continue;
        most = fmax(most, row->resolution); /* fmax and fmin pass NaN over */
        low = fmin(low, row->baseline);
        high = fmax(high, row->baseline);
    }
    return high > 0 ? fmax(most, high / low - 1) : most;
}

static candidate in_its_set(const sweep_entry *e, double resolution)
{
    const double unit = e->row->median / e->relative;
    return (candidate){.state = CANDIDATE_TIMED,
                       .result.stats = {.median = e->relative, .low = e->row->low / unit, .high = e->row->high / unit},
                       .resolution = resolution};
}

bool sweep_tied(const sweep_entry *a, const sweep_entry *b, double resolution)
{
    const candidate best = in_its_set(a, resolution), other = in_its_set(b, resolution);
    return candidates_tied(&best, &other);
}

/* Without a default in one of the sets there is no common measure but the time. */
static void gather(const sweep *s, const sweep_group *g, sweep_ranking *r)
{
    bool relative = true;
    for (int i = 0; i < g->count; i++) {
        sweep_point *p = &g->points[i];
        if (p->row < 0) continue;
        const sweep_row *row = &s->rows.items[p->row];
        relative = relative && (!row->timed || row->baseline > 0);
        if (row->timed)
            r->list[r->count++] = (sweep_entry){.point = p, .row = row};
        else
            r->failed++;
    }
    for (int i = 0; i < r->count; i++)
        r->list[i].relative = r->list[i].row->median / (relative ? r->list[i].row->baseline : 1);
}

cnn_status sweep_rank(const sweep *s, const sweep_group *g, sweep_ranking *r, cnn_error *err)
{
    *r = (sweep_ranking){.usual = -1, .list = calloc((size_t)g->count + 1, sizeof *r->list)};
    if (!r->list) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a table of %d points", g->count);
    gather(s, g, r);
    qsort(r->list, (size_t)r->count, sizeof *r->list, by_time);
    for (int i = 0; i < r->count; i++)
        if (r->list[i].row->round > r->last_round) r->last_round = r->list[i].row->round;
    put_best_first(r);
    r->resolution = resolution_of(r);
    for (int i = 0; i < r->count; i++) {
        sweep_entry *e = &r->list[i];
        e->tied = e->row->round == r->last_round && sweep_tied(&r->list[0], e, r->resolution);
        r->tied += e->tied;
        if (e->point == &g->points[0]) r->usual = i;
    }
    return CNN_OK;
}
