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
static void forget_unless_one_set(sweep_group *g)
{
    int64_t set = 0;
    bool same = true;
    for (int i = 0; i < g->count; i++) {
        const int64_t own = g->points[i].figures.set;
        if (!g->points[i].alive) continue;
        same = same && own > 0 && (set == 0 || set == own);
        set = own;
    }
    for (int i = 0; i < g->count && !same; i++)
        if (g->points[i].alive) g->points[i].figures = (sweep_figures){.round = 0};
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
        sweep_point *list[SWEEP_SET_MAX];
        int count = 0;
        bool any = false;
        if (g->points[0].alive) list[count++] = &g->points[0];
        for (any = count > 0 && g->points[0].figures.round == 0; i < g->count && count < room; i++) {
            if (!g->points[i].alive || g->points[i].figures.round > 0 || (i == 0 && count > 0)) continue;
            list[count++] = &g->points[i];
            any = true;
        }
        if (!any) break;
        show_progress(s, g, round);
        if (interrupt_seen()) return CNN_FAIL(err, CNN_INTERRUPTED, "interrupted");
        status = sweep_time_set(s, g, list, count, round, err);
    }
    return status;
}

/* Of a type; `room`: at most so many beside its default. */
static void drop_slow(sweep_group *g, const sweep_ranking *r, int type, int room)
{
    const sweep_point *best = NULL;
    int kept = 0;
    for (int i = 0; i < g->count; i++) g->points[i].alive = g->points[i].alive && g->points[i].type != type;
    for (int i = 0; i < r->count; i++) {
        sweep_point *p = r->list[i];
        if (p->type != type || p->figures.round != r->last_round) continue;
        if (!best) best = p;
        const bool close = sweep_tied(best, p, r->resolution);
        p->alive = p->usual || (close && kept < room);
        p->crowded_out = close && !p->alive;
        kept += p->alive && !p->usual;
    }
}

static cnn_status drop(const sweep *s, sweep_group *g, cnn_error *err)
{
    sweep_ranking r;
    int types = 0, alive[SWEEP_TYPES];
    cnn_status status = sweep_rank(g, &r, err);
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
    for (int64_t round = 1;; round++) {
        const bool last = count_alive(g, -1, false) <= SWEEP_SET;
        sweep_find_figures(s, g, round);
        if (last) forget_unless_one_set(g);
        for (int i = 0; round == 1 && i < g->count; i++) s->kept += g->points[i].figures.round > 0;
        cnn_status status = run_round(s, g, round, last ? SWEEP_SET_MAX : SWEEP_SET + 1, err);
        if (status != CNN_OK || last) return status;
        status = drop(s, g, err);
        if (status != CNN_OK || count_alive(g, -1, true) < 2) return status;
    }
}
