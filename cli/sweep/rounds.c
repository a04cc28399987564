/* rounds.c: which points run. All run in the first round. Behind each round those are dropped that are clearly slower
 * than the best of their type, and of the rest at least half; the rest runs again, until it fits into one set. Each
 * type's default stays to the end: what it costs to leave things alone is the question. */
#include "harness/problem/names.h"
#include "parts.h"

#include <stdlib.h>

static int count_alive(const sweep_group *g, int type, bool usual)
{
    int count = 0;
    for (int i = 0; i < g->count; i++)
        count += g->points[i].alive && (type < 0 || g->points[i].type == type) && (usual || !g->points[i].usual);
    return count;
}

/* The last round is one set: figures of several sets, from an earlier sweep of other axes, say, were not side by side.
 */
static void forget_unless_one_set(const sweep *s, sweep_group *g)
{
    int64_t set = 0;
    bool same = true;
    for (int i = 0; i < g->count; i++) {
        const sweep_point *p = &g->points[i];
        if (!p->alive) continue;
        const int64_t own = p->row < 0 ? -1 : s->rows.items[p->row].set;
        same = same && own > 0 && (set == 0 || set == own);
        set = own;
    }
    for (int i = 0; i < g->count && !same; i++)
        if (g->points[i].alive) g->points[i].row = -1;
}

static void show_progress(sweep *s, const sweep_group *g, int64_t round)
{
    char text[CNN_PROBLEM_TEXT_MAX], line[CNN_PROBLEM_TEXT_MAX + 32];
    cnn_problem_format(&g->problem, text);
    snprintf(line, sizeof line, "round %lld: %s", (long long)round, text);
    cli_progress_show(&s->b.progress, s->ran + s->kept, s->b.total, line);
}

/* In sets, the default in each. */
static cnn_status run_round(sweep *s, sweep_group *g, int64_t round, int room, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = 0; status == CNN_OK && i < g->count;) {
        int list[SWEEP_SET_MAX], count = 0;
        bool any = false;
        if (g->points[0].alive) list[count++] = 0;
        for (any = count > 0 && g->points[0].row < 0; i < g->count && count < room; i++) {
            if (!g->points[i].alive || g->points[i].row >= 0 || (i == 0 && count > 0)) continue;
            list[count++] = i;
            any = true;
        }
        if (!any) break;
        show_progress(s, g, round);
        if (cli_interrupted()) return CNN_FAIL(err, CNN_INTERRUPTED, "interrupted");
        status = sweep_time_set(s, g, list, count, round, err);
    }
    return status;
}

/* Of a type; `room`: at most so many beside its default. */
static void drop_slow(sweep_group *g, const sweep_ranking *r, int type, int room)
{
    const sweep_entry *best = NULL;
    int kept = 0;
    for (int i = 0; i < g->count; i++) g->points[i].alive = g->points[i].alive && g->points[i].type != type;
    for (int i = 0; i < r->count; i++) {
        sweep_entry *e = &r->list[i];
        if (e->point->type != type || e->row->round != r->last_round) continue;
        if (!best) best = e;
        const bool close = sweep_tied(best, e, r->resolution);
        e->point->alive = e->point->usual || (close && kept < room);
        e->point->crowded_out = close && !e->point->alive;
        kept += e->point->alive && !e->point->usual;
    }
}

static cnn_status drop(const sweep *s, sweep_group *g, cnn_error *err)
{
    sweep_ranking r;
    int types = 0, alive[SWEEP_TYPES];
    cnn_status status = sweep_rank(s, g, &r, err);
    for (int t = 0; t < s->b.types.count; t++) {
        alive[t] = count_alive(g, t, false);
        types += count_alive(g, t, true) > 0;
    }
    for (int t = 0; status == CNN_OK && t < s->b.types.count; t++) {
        const int half = alive[t] / 2, share = types > 0 ? SWEEP_SET / types : 0;
        drop_slow(g, &r, t, half > share ? half : share);
    }
    free(r.list);
    return status;
}

cnn_status sweep_rounds(sweep *s, sweep_group *g, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int64_t round = 1;; round++) {
        const bool last = count_alive(g, -1, false) <= SWEEP_SET;
        status = sweep_find_rows(s, g, round, err);
        if (status == CNN_OK && last) forget_unless_one_set(s, g);
        for (int i = 0; round == 1 && i < g->count; i++) s->kept += g->points[i].row >= 0;
        if (status == CNN_OK) status = run_round(s, g, round, last ? SWEEP_SET_MAX : SWEEP_SET + 1, err);
        if (status != CNN_OK || last) return status;
        status = drop(s, g, err);
        if (status != CNN_OK || count_alive(g, -1, true) < 2) return status;
    }
}
