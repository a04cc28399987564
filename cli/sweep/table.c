/* table.c: who won, who may have, and what the default costs. */
#include "cli/table.h"
#include "harness/problem/names.h"
#include "parts.h"

#include <math.h>
#include <stdlib.h>

enum { SHOWN = 12, TIED_SHOWN = 30 }; /* the best so many, more that are tied with them, and the default */

/* The default's time by this one's, side by side. */
static double speedup(const sweep_ranking *r, int i) { return r->list[r->usual]->relative / r->list[i]->relative; }

static void print_row(const sweep *s, const sweep_group *g, const sweep_ranking *r, int i)
{
    char label[512], median[32], beside[32] = "-", ratio[32] = "-", marks[128];
    const sweep_point *p = r->list[i];
    sweep_label(s, g, p, label, sizeof label);
    bench_time_text(p->figures.median, median, sizeof median);
    if (r->usual >= 0) snprintf(ratio, sizeof ratio, "%.3f x", speedup(r, i));
    if (p->figures.baseline > 0) bench_time_text(p->figures.baseline, beside, sizeof beside);
    table_print(41, "  %4d  %5lld  %*s  %*s  %8s  %s%s%s%s%s\n", i + 1, (long long)p->figures.round,
                table_field(median, 9), median, table_field(beside, 9), beside, ratio, label,
                i == 0           ? "  best"
                : p->tied        ? "  tied with the best"
                : p->crowded_out ? "  may be as fast: not in the last round"
                                 : "",
                i == r->usual ? "  default" : "", p->figures.marks ? "  | " : "",
                bench_marks_text(p->figures.marks, marks, sizeof marks));
}

static void print_verdict(const sweep *s, const sweep_group *g, const sweep_ranking *r)
{
    char label[512];
    sweep_label(s, g, r->list[0], label, sizeof label);
    if (r->usual < 0) {
        table_print(4, "  the default could not run; use %s\n", label);
        return;
    }
    const sweep_figures *best = &r->list[0]->figures, *usual = &r->list[r->usual]->figures;
    if (r->list[r->usual]->tied)
        table_print(4, "  keep the default: %s\n", r->usual == 0 ? "nothing is faster" : "it is tied with the best");
    else
        table_print(4, "  use %s: %.2f (%.2f to %.2f) times as fast as the default\n", label, speedup(r, 0),
                    usual->low / best->high, usual->high / best->low);
}

static void print(sweep *s, const sweep_group *g, const sweep_ranking *r)
{
    char text[CNN_PROBLEM_TEXT_MAX], note[128] = "";
    int shown = 0;
    cnn_problem_format(&g->problem, text);
    table_print(4, "%s  %s %s %s  %s\n", s->b.sessions.list[g->session].impl->name, cnn_op_name(g->problem.op),
                cnn_dir_name(g->dir), text, s->b.params.cold ? "cold caches" : "hot caches");
    if (r->count > 0)
        table_print(4, "  rank  round     median    default  speed-up  settings (default: timed beside it)\n");
    for (int i = 0; i < r->count; i++)
        if (i < SHOWN || (i < TIED_SHOWN && r->list[i]->tied) || i == r->usual) {
            print_row(s, g, r, i);
            s->b.marks |= r->list[i]->figures.marks;
            shown++;
        }
    if (isfinite(r->resolution))
        snprintf(note, sizeof note, "; differences within %.1f %% may be none", 100 * r->resolution);
    table_print(4, "  %d points: %d timed and verified%s, %d could not run or were wrong; %d tied for best%s\n",
                r->count + r->failed, r->count, shown < r->count ? " (the first are shown)" : "", r->failed, r->tied,
                note);
    if (r->count > 0) print_verdict(s, g, r);
    fflush(stdout);
}

/* Unless it stands there already, from an earlier run that was done with this group. */
static cnn_status record_best(sweep *s, const sweep_group *g, const sweep_ranking *r, cnn_error *err)
{
    const sweep_point *best = r->list[0];
    bool elsewhere;
    cnn_record *record = sweep_point_record(s, g, best, "sweep_best");
    if (sweep_find_row(&s->rows, record, 0, best->figures.set, &elsewhere)) {
        record_free(record);
        return CNN_OK;
    }
    record_text(record, "axes", s->axes_text);
    record_int(record, "points", r->count + r->failed);
    record_int(record, "timed", r->count);
    record_int(record, "tied", r->tied);
    record_real(record, "median_s", best->figures.median);
    record_real(record, "resolution", r->resolution);
    record_int(record, "round", best->figures.round);
    record_int(record, "set", best->figures.set);
    if (r->usual >= 0) {
        record_int(record, "default_rank", r->usual + 1);
        record_bool(record, "default_tied", r->list[r->usual]->tied);
        record_real(record, "regret", speedup(r, 0));
    }
    return record_write(s->b.output.sink, record, err);
}

cnn_status sweep_conclude(sweep *s, const sweep_group *g, bool stopped, cnn_error *err)
{
    sweep_ranking r;
    cnn_status status = sweep_rank(g->points, g->count, &r, err);
    if (status == CNN_OK && !s->b.options->json && r.count + r.failed > 0) print(s, g, &r);
    if (status == CNN_OK && !stopped && r.count > 0) status = record_best(s, g, &r, err);
    if (status == CNN_OK && !stopped) status = sweep_keep(s, g, &r, err);
    free(r.list);
    return status;
}
