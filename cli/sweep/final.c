/* final.c: the final heat. Of each type those that may be the best, as far as the heats can tell, and its
 * default, are timed once more, all by turns: "best", "tied" and the default's regret rest on figures taken side by
 * side. */
#include "harness/problem/names.h"
#include "parts.h"

#include <stdlib.h>
#include <string.h>

/* The default first, then the fastest; at most `room` beside the default. Appends to list. */
static void add_leaders(const sweep_group *g, const sweep_ranking *r, int type, int room, int *list, int *count)
{
    const sweep_entry *best = NULL;
    for (int i = 0; i < r->count; i++)
        if (r->list[i].point->type == type && r->list[i].point->anchor)
            list[(*count)++] = (int)(r->list[i].point - g->points);
    for (int i = 0; i < r->count && room > 0; i++) {
        const sweep_entry *e = &r->list[i];
        if (e->point->type != type) continue;
        if (!best) best = e;
        if (!sweep_tied(best->row, e->row, r->resolution)) break;
        if (!e->point->anchor) list[(*count)++] = (int)(e->point - g->points);
        room -= !e->point->anchor;
    }
}

/* Whether these, all of them, were in one final heat already. */
static bool is_done(const sweep *s, const sweep_group *g, const int *list, int count)
{
    for (int i = 0; i < count; i++) {
        const int row = g->points[list[i]].final, first = g->points[list[0]].final;
        if (row < 0 || s->rows.items[row].heat != s->rows.items[first].heat) return false;
    }
    return true;
}

/* Of an earlier final heat, of others. */
static void forget_others(sweep_group *g, const int *list, int count)
{
    for (int i = 0; i < g->count; i++) {
        bool in = false;
        for (int k = 0; k < count; k++) in = in || list[k] == i;
        if (!in) g->points[i].final = -1;
    }
}

static int64_t next_heat(const sweep *s)
{
    int64_t latest = 0;
    for (int i = 0; i < s->rows.count; i++)
        if (s->rows.items[i].heat > latest) latest = s->rows.items[i].heat;
    return latest + 1;
}

static cnn_status run_final(sweep *s, sweep_group *g, const int *list, int count, cnn_error *err)
{
    vf_case cases[SWEEP_TYPES];
    bool made[SWEEP_TYPES] = {false};
    char text[CNN_PROBLEM_TEXT_MAX + 16];
    cnn_status status = CNN_OK;
    memcpy(text, "final: ", 8);
    cnn_problem_format(&g->problem, text + 7);
    cli_progress_show(&s->b.progress, s->ran + s->kept, s->b.total, text);
    for (int i = 0; status == CNN_OK && i < count; i++) {
        const sweep_point *p = &g->points[list[i]];
        const cnn_problem problem = sweep_problem(s, g, p);
        if (made[p->type]) continue;
        status = bench_make_case(&s->b, &problem, g->dir, &cases[p->type], err);
        made[p->type] = status == CNN_OK;
    }
    if (status == CNN_OK) status = sweep_heat(s, g, list, count, cases, next_heat(s), err);
    for (int t = 0; t < SWEEP_TYPES; t++)
        if (made[t]) vf_case_free(&cases[t]);
    return status;
}

cnn_status sweep_final(sweep *s, sweep_group *g, cnn_error *err)
{
    int list[SWEEP_HEAT_MAX], count = 0, types = 0;
    sweep_ranking r;
    cnn_status status = sweep_rank(s, g, true, &r, err);
    for (int t = 0; status == CNN_OK && t < s->b.types.count; t++) {
        bool any = false;
        for (int i = 0; i < r.count; i++) any = any || r.list[i].point->type == t;
        types += any;
    }
    for (int t = 0; status == CNN_OK && t < s->b.types.count && types > 0; t++)
        add_leaders(g, &r, t, SWEEP_HEAT / types, list, &count);
    if (status == CNN_OK) forget_others(g, list, count < 2 ? 0 : count);
    if (status == CNN_OK && count >= 2 && !is_done(s, g, list, count)) {
        for (int i = 0; i < g->count; i++) g->points[i].final = -1;
        status = run_final(s, g, list, count, err);
    }
    free(r.list);
    return status;
}
