/* sweep_table.c: who won, who may have, and what the default costs. */
#include "../names.h"
#include "sweep_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 12, TIED_SHOWN = 30 }; /* the best so many, more that are tied with them, and the default */

typedef struct entry {
    const sweep_point *point;
    const sweep_row *row;
} entry;

typedef struct ranking {
    entry *list; /* those that were timed, fastest first */
    int count, tied, failed;
    int usual;         /* where the default stands, from 0; -1: it was not timed */
    double resolution; /* smaller ratios of medians may be nothing; NaN: not known */
} ranking;

static int by_median(const void *a, const void *b)
{
    const double x = ((const entry *)a)->row->median, y = ((const entry *)b)->row->median;
    return (x > y) - (x < y);
}

/* What the controls differed by in their heats, or the default between heats, whichever is more. */
static double resolution_of(const sweep *s, const ranking *r)
{
    double most = NAN;
    for (int t = 0; t < s->b.types.count; t++) {
        double low = INFINITY, high = 0;
        for (int i = 0; i < r->count; i++) {
            const sweep_row *row = r->list[i].row;
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

/* By the rule of the contest. */
static bool is_tied(const ranking *r, int i)
{
    const sweep_row *a = r->list[0].row, *b = r->list[i].row;
    const contender best = {.state = CONTENDER_TIMED,
                            .result.stats = {.median = a->median, .low = a->low, .high = a->high},
                            .resolution = r->resolution};
    const contender other = {.state = CONTENDER_TIMED,
                             .result.stats = {.median = b->median, .low = b->low, .high = b->high}};
    return contest_tied(&best, &other);
}

static cnn_status rank(const sweep *s, const sweep_group *g, ranking *r, cnn_error *err)
{
    *r = (ranking){.usual = -1, .list = calloc((size_t)g->count + 1, sizeof *r->list)};
    if (!r->list) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a table of %d points", g->count);
    for (int i = 0; i < g->count; i++) {
        const sweep_point *p = &g->points[i];
        if (p->row < 0) continue;
        if (s->rows.items[p->row].timed)
            r->list[r->count++] = (entry){p, &s->rows.items[p->row]};
        else
            r->failed++;
    }
    qsort(r->list, (size_t)r->count, sizeof *r->list, by_median);
    r->resolution = resolution_of(s, r);
    for (int i = 0; i < r->count; i++) {
        if (is_tied(r, i)) r->tied++;
        if (r->list[i].point == &g->points[0]) r->usual = i;
    }
    return CNN_OK;
}

static void print_row(const sweep *s, const sweep_group *g, const ranking *r, int i)
{
    char label[512], median[32];
    const sweep_row *row = r->list[i].row;
    sweep_label(s, g, r->list[i].point, label, sizeof label);
    bench_time_text(row->median, median, sizeof median);
    /* µ takes two bytes: one column more */
    printf("  %4d  %*s  +%5.1f %%  %s%s%s\n", i + 1, strstr(median, "µ") ? 10 : 9, median,
           100 * (row->median / r->list[0].row->median - 1), label,
           i == 0          ? "  best"
           : is_tied(r, i) ? "  tied with the best"
                           : "",
           i == r->usual ? "  default" : "");
}

static void print(const sweep *s, const sweep_group *g, const ranking *r)
{
    char text[CNN_PROBLEM_TEXT_MAX];
    int shown = 0;
    cnn_problem_format(&g->problem, text);
    printf("%s  %s %s %s  %s\n", s->b.sessions.list[g->session].impl->name, cnn_op_name(g->problem.op),
           cnn_dir_name(g->dir), text, s->b.params.cold ? "cold caches" : "hot caches");
    for (int i = 0; i < r->count; i++)
        if (i < SHOWN || (i < TIED_SHOWN && is_tied(r, i)) || i == r->usual) {
            print_row(s, g, r, i);
            shown++;
        }
    printf("  %d timed and verified (%d not shown), %d could not run or were wrong; %d tied for best", r->count,
           r->count - shown, r->failed, r->tied);
    if (isfinite(r->resolution)) printf("; differences within %.1f %% may be none", 100 * r->resolution);
    if (r->usual >= 0)
        printf("\n  default: rank %d of %d, regret %.3f\n", r->usual + 1, r->count,
               r->list[r->usual].row->median / r->list[0].row->median);
    else
        printf("\n  default: could not run\n");
    fflush(stdout);
}

static cnn_status record(sweep *s, const sweep_group *g, const ranking *r, cnn_error *err)
{
    int64_t values[SWEEP_TABLE_MAX];
    char machine[CNN_NAME_MAX];
    const sweep_point *best = r->list[0].point;
    const cnn_session session = sweep_describe(s, g, best, values);
    const cnn_problem problem = sweep_problem(s, g, best);
    cnn_record *record = record_new("sweep_best");
    record_session(record, &session, best->algorithm.name);
    machine_name(&session, machine, sizeof machine);
    record_text(record, "machine", machine);
    record_problem(record, &problem, g->dir);
    record_text(record, "cache", s->b.params.cold ? "cold" : "hot");
    sweep_record_identity(record, s);
    record_text(record, "axes", s->axes_text);
    record_int(record, "points", r->count + r->failed);
    record_int(record, "timed", r->count);
    record_int(record, "tied", r->tied);
    record_real(record, "median_s", r->list[0].row->median);
    record_real(record, "resolution", r->resolution);
    if (r->usual >= 0) {
        record_int(record, "default_rank", r->usual + 1);
        record_bool(record, "default_tied", is_tied(r, r->usual));
        record_real(record, "regret", r->list[r->usual].row->median / r->list[0].row->median);
    }
    return record_write(s->b.sink, record, err);
}

cnn_status sweep_conclude(sweep *s, const sweep_group *g, cnn_error *err)
{
    ranking r;
    cnn_status status = rank(s, g, &r, err);
    if (status == CNN_OK && !s->b.options->json && r.count + r.failed > 0) print(s, g, &r);
    if (status == CNN_OK && r.count > 0) status = record(s, g, &r, err);
    free(r.list);
    return status;
}
