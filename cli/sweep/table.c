/* table.c: who won, who may have, and what the default costs. */
#include "cli/table.h"
#include "harness/problem/names.h"
#include "parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 12, TIED_SHOWN = 30 }; /* the best so many, more that are tied with them, and the default */

static void print_row(const sweep *s, const sweep_group *g, const sweep_ranking *r, int i)
{
    char label[512], median[32];
    const sweep_row *row = r->list[i].row;
    sweep_label(s, g, r->list[i].point, label, sizeof label);
    bench_time_text(row->median, median, sizeof median);
    /* µ takes two bytes: one column more */
    table_print(30, "  %4d  %*s  +%5.1f %%  %s%s%s\n", i + 1, strstr(median, "µ") ? 10 : 9, median,
                100 * (r->list[i].seconds / r->list[0].seconds - 1), label,
                i == 0              ? "  best"
                : r->list[i].tied   ? "  tied with the best"
                : r->list[i].nearly ? "  tied in its heat"
                                    : "",
                i == r->usual ? "  default" : "");
}

static void print(const sweep *s, const sweep_group *g, const sweep_ranking *r)
{
    char text[CNN_PROBLEM_TEXT_MAX];
    int shown = 0;
    cnn_problem_format(&g->problem, text);
    table_print(4, "%s  %s %s %s  %s\n", s->b.sessions.list[g->session].impl->name, cnn_op_name(g->problem.op),
                cnn_dir_name(g->dir), text, s->b.params.cold ? "cold caches" : "hot caches");
    for (int i = 0; i < r->count; i++)
        if (i < SHOWN || (i < TIED_SHOWN && r->list[i].tied) || i == r->usual) {
            print_row(s, g, r, i);
            shown++;
        }
    char note[128] = "", nearly[96] = "", usual[96] = "could not run";
    if (isfinite(r->resolution))
        snprintf(note, sizeof note, "; differences within %.1f %% may be none", 100 * r->resolution);
    if (r->nearly > 0)
        snprintf(nearly, sizeof nearly, "; %d more were not told from the best in their heats", r->nearly);
    if (r->usual >= 0)
        snprintf(usual, sizeof usual, "rank %d of %d, regret %.3f", r->usual + 1, r->count,
                 r->list[r->usual].seconds / r->list[0].seconds);
    table_print(4, "  %d timed and verified (%d not shown), %d could not run or were wrong; %d tied for best%s%s%s\n",
                r->count, r->count - shown, r->failed, r->tied, note,
                r->heat ? "\n  the leaders and the default were timed again, side by side" : "", nearly);
    printf("  default: %s\n", usual);
    fflush(stdout);
}

/* Unless it stands there already, from an earlier run that was done with this group. */
static cnn_status write_once(sweep *s, cnn_record *record, int64_t heat, cnn_error *err)
{
    if (sweep_is_recorded(s, record, SWEEP_BEST, heat)) {
        record_free(record);
        return CNN_OK;
    }
    return record_write(s->b.sink, record, err);
}

static cnn_status record(sweep *s, const sweep_group *g, const sweep_ranking *r, cnn_error *err)
{
    cnn_record *record = sweep_point_record(s, g, r->list[0].point, SWEEP_BEST);
    record_text(record, "axes", s->axes_text);
    record_int(record, "points", r->count + r->failed);
    record_int(record, "timed", r->count);
    record_int(record, "tied", r->tied);
    record_real(record, "median_s", r->list[0].row->median);
    record_real(record, "resolution", r->resolution);
    if (r->heat) record_int(record, "final_heat", r->heat);
    if (r->usual >= 0) {
        record_int(record, "default_rank", r->usual + 1);
        record_bool(record, "default_tied", r->list[r->usual].tied);
        record_real(record, "regret", r->list[r->usual].seconds / r->list[0].seconds);
    }
    return write_once(s, record, r->heat, err);
}

cnn_status sweep_conclude(sweep *s, const sweep_group *g, bool stopped, cnn_error *err)
{
    sweep_ranking r;
    cnn_status status = sweep_rank(s, g, false, &r, err);
    if (status == CNN_OK && !s->b.options->json && r.count + r.failed > 0) print(s, g, &r);
    if (status == CNN_OK && !stopped && r.count > 0) status = record(s, g, &r, err);
    if (status == CNN_OK && !stopped) status = sweep_keep(s, g, &r, err);
    free(r.list);
    return status;
}
