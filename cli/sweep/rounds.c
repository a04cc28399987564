/* rounds.c: the rounds of a group: what is recorded is not run again. */
#include "harness/problem/names.h"
#include "parts.h"

static void show_progress(sweep *s, const sweep_group *g, int64_t round)
{
    char text[CNN_PROBLEM_TEXT_MAX], line[CNN_PROBLEM_TEXT_MAX + 32];
    cnn_problem_format(&g->problem, text);
    snprintf(line, sizeof line, "round %lld: %s", (long long)round, text);
    cli_progress_show(&s->b.progress, s->b.done, s->b.total, line);
}

/* In sets, the default in each. */
static cnn_status run_round(sweep *s, sweep_group *g, int64_t round, int room, cnn_error *err)
{
    cnn_status status = CNN_OK;
    s->b.total = s->b.done + sweep_alive(g->points, g->count, -1, true);
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
        s->b.done += count;
    }
    return status;
}

/* Those of the points that are alive. What another build measured is said, once, to be measured again. */
static void find_figures(sweep *s, sweep_group *g, int64_t round)
{
    for (int i = 0; i < g->count; i++) {
        sweep_point *p = &g->points[i];
        bool elsewhere;
        if (!p->alive) continue;
        cnn_record *record = sweep_point_record(s, g, p, "sweep");
        const sweep_row *row = sweep_find_row(&s->rows, record, round, 0, &elsewhere);
        record_free(record);
        p->figures = row ? row->figures : (sweep_figures){.round = 0};
        if (round == 1 && !row && elsewhere && s->again++ == 0) cli_say_other_build(s->b.options->out);
    }
}

cnn_status sweep_rounds(sweep *s, sweep_group *g, cnn_error *err)
{
    for (int64_t round = 1;; round++) {
        const bool last = sweep_alive(g->points, g->count, -1, false) <= SWEEP_SET;
        find_figures(s, g, round);
        if (last) sweep_forget_unless_one_set(g->points, g->count);
        for (int i = 0; round == 1 && i < g->count; i++) s->kept += g->points[i].figures.round > 0;
        cnn_status status = run_round(s, g, round, last ? SWEEP_SET_MAX : SWEEP_SET + 1, err);
        if (status != CNN_OK || last) return status;
        status = sweep_drop(g->points, g->count, err);
        if (status != CNN_OK || sweep_alive(g->points, g->count, -1, true) < 2) return status;
    }
}
