/* rank.c: who is fastest, and who may be.
 *
 * Points of different heats were taken minutes apart, so two are tied when their intervals meet, or when the controls
 * or the default itself, from heat to heat, differed as much. Those of the final heat ran side by side, and only its
 * own control counts; behind them the others stand by what they took of the default's time in their own heat. */
#include "parts.h"

#include <math.h>
#include <stdlib.h>

static int by_seconds(const void *a, const void *b)
{
    const double x = ((const sweep_entry *)a)->seconds, y = ((const sweep_entry *)b)->seconds;
    return (x > y) - (x < y);
}

/* What the controls differed by in their heats, or the default between heats, whichever is more. */
static double resolution_of_heats(const sweep *s, const sweep_ranking *r)
{
    double most = NAN;
    for (int t = 0; t < s->b.types.count; t++) {
        double low = INFINITY, high = 0;
        for (int i = 0; i < r->count; i++) {
            const sweep_row *row = &s->rows.items[r->list[i].point->row];
            if (r->list[i].point->type != t) continue;
            most = fmax(most, row->resolution); /* fmax passes NaN over */
            if (!(row->anchor > 0)) continue;
            low = fmin(low, row->anchor);
            high = fmax(high, row->anchor);
        }
        if (high > 0) most = fmax(most, high / low - 1);
    }
    return most;
}

bool sweep_tied(const sweep_row *a, const sweep_row *b, double resolution)
{
    const candidate best = {.state = CANDIDATE_TIMED,
                            .result.stats = {.median = a->median, .low = a->low, .high = a->high},
                            .resolution = resolution};
    const candidate other = {.state = CANDIDATE_TIMED,
                             .result.stats = {.median = b->median, .low = b->low, .high = b->high}};
    return candidates_tied(&best, &other);
}

static void gather(const sweep *s, const sweep_group *g, sweep_ranking *r)
{
    for (int i = 0; i < g->count; i++) {
        sweep_point *p = &g->points[i];
        if (p->row < 0) continue;
        const sweep_row *row = &s->rows.items[p->row];
        if (row->timed)
            r->list[r->count++] = (sweep_entry){.point = p, .row = row, .seconds = row->median};
        else
            r->failed++;
    }
}

/* The default of a type, as the final heat found it, or NULL. */
static const sweep_row *final_anchor(const sweep *s, const sweep_group *g, int type)
{
    for (int i = 0; i < g->count; i++) {
        const sweep_point *p = &g->points[i];
        if (p->anchor && p->type == type && p->final >= 0 && s->rows.items[p->final].timed)
            return &s->rows.items[p->final];
    }
    return NULL;
}

static double best_final(const sweep *s, const sweep_ranking *r, int type)
{
    double best = 0;
    for (int i = 0; i < r->count; i++) {
        const sweep_point *p = r->list[i].point;
        if (p->type != type || p->final < 0 || !s->rows.items[p->final].timed) continue;
        const double median = s->rows.items[p->final].median;
        if (!(best > 0) || median < best) best = median;
    }
    return best;
}

/* Nobody else stands before the best of the final heat: there the leaders were. */
static void use_final(const sweep *s, const sweep_group *g, sweep_ranking *r)
{
    for (int i = 0; i < r->count; i++) {
        sweep_entry *e = &r->list[i];
        if (e->point->final >= 0 && s->rows.items[e->point->final].timed) {
            e->row = &s->rows.items[e->point->final];
            e->seconds = e->row->median;
            r->heat = e->row->heat;
            r->resolution = e->row->resolution;
            continue;
        }
        const sweep_row *anchor = final_anchor(s, g, e->point->type);
        if (anchor && e->row->anchor > 0) e->seconds *= anchor->median / e->row->anchor;
        e->seconds = fmax(e->seconds, best_final(s, r, e->point->type) * (1 + 1e-9));
    }
}

cnn_status sweep_rank(const sweep *s, const sweep_group *g, bool first_heats, sweep_ranking *r, cnn_error *err)
{
    *r = (sweep_ranking){.usual = -1, .list = calloc((size_t)g->count + 1, sizeof *r->list)};
    if (!r->list) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a table of %d points", g->count);
    gather(s, g, r);
    qsort(r->list, (size_t)r->count, sizeof *r->list, by_seconds);
    r->resolution = resolution_of_heats(s, r);
    for (int i = 0; i < r->count; i++) r->list[i].tied = sweep_tied(r->list[0].row, r->list[i].row, r->resolution);
    if (!first_heats) use_final(s, g, r);
    if (r->heat) {
        qsort(r->list, (size_t)r->count, sizeof *r->list, by_seconds);
        for (int i = 0; i < r->count; i++) {
            sweep_entry *e = &r->list[i];
            e->nearly = e->tied && e->row->heat == 0;
            e->tied = e->row->heat != 0 && sweep_tied(r->list[0].row, e->row, r->resolution);
        }
    }
    for (int i = 0; i < r->count; i++) {
        r->tied += r->list[i].tied;
        r->nearly += r->list[i].nearly;
        if (r->list[i].point == &g->points[0]) r->usual = i;
    }
    return CNN_OK;
}
