/* grid.c: the end of `bench`: problems down, implementations across, the fastest of each row marked, and by the
 * geometric mean how much faster than the first each is. */
#include "cli/table.h"
#include "harness/base/text.h"
#include "harness/problem/names.h"
#include "harness/record/identity.h"
#include "parts.h"

#include <math.h>
#include <string.h>

/* The column of this name, made if there is none; -1: there is no more room. */
static int column_of(bench_grid *g, const char name[GRID_NAME_MAX])
{
    for (int c = 0; c < g->columns; c++)
        if (strcmp(g->names[c], name) == 0) return c;
    if (g->columns == GRID_COLUMNS) return -1;
    snprintf(g->names[g->columns], sizeof g->names[0], "%s", name);
    return g->columns++;
}

/* The row of this problem, in this direction and type; --repeat times it more than once, and its latest time counts. */
static grid_row *row_of(bench_grid *g, const char name[GRID_NAME_MAX])
{
    for (int r = 0; r < g->rows; r++)
        if (strcmp(g->list[r].name, name) == 0) return &g->list[r];
    if (g->rows == GRID_ROWS) {
        g->left_out++;
        return NULL;
    }
    grid_row *row = &g->list[g->rows++];
    snprintf(row->name, sizeof row->name, "%s", name);
    return row;
}

static void put(bench_grid *g, grid_row *row, const candidate *c)
{
    char name[GRID_NAME_MAX];
    snprintf(name, sizeof name, "%s:%s", c->session->impl->name, c->tuned ? CNN_TUNED : c->algorithm.name);
    const int column = column_of(g, name);
    if (column < 0) return;
    const bool timed = c->state == CANDIDATE_TIMED;
    row->seconds[column] = timed ? c->result.stats.median : 0.0;
    row->marks[column] = timed ? c->result.stats.marks : 0;
    row->no_best[column] = c->beyond;
}

void bench_grid_join(bench_grid *to, const bench_grid *from)
{
    for (int r = 0; r < from->rows; r++) {
        const grid_row *old = &from->list[r];
        grid_row *row = row_of(to, old->name);
        for (int c = 0; row != NULL && c < from->columns; c++) {
            const int column = column_of(to, from->names[c]);
            if (column < 0 || !(old->seconds[c] > 0.0)) continue;
            row->seconds[column] = old->seconds[c];
            row->marks[column] = old->marks[c];
            row->no_best[column] = old->no_best[c];
        }
    }
    to->left_out += from->left_out;
}

void bench_grid_add(bench *b, const candidate *list, int count, const vf_case *pc)
{
    bench_grid *g = &b->sums->grid;
    const cnn_type *type = &pc->problem.u.type;
    char text[CNN_PROBLEM_TEXT_MAX], name[GRID_NAME_MAX];
    cnn_problem_format(&pc->problem, text);
    record_problem_name(cnn_op_name(pc->problem.op), text, name, sizeof name);
    cnn_append(name, sizeof name, " %s", cnn_dir_name(pc->call.dir));
    if (b->types.count > 1)
        cnn_append(name, sizeof name, " %s %s", cnn_dtype_name(type->dtype), cnn_layout_name(type->layout));
    grid_row *row = row_of(g, name);
    for (int k = 0; row != NULL && k < b->sessions.n_choices; k++) /* as --impl has them */
        for (int i = 0; i < count; i++)
            if (list[i].session->impl == b->sessions.choices[k].impl &&
                (list[i].tuned || cnn_choice_matches(&b->sessions.choices[k], &list[i].algorithm)))
                put(g, row, &list[i]);
}

static int best_of(const bench_grid *g, const grid_row *row)
{
    int best = -1;
    for (int c = 0; c < g->columns; c++)
        if (row->seconds[c] > 0.0 && !row->no_best[c] && (best < 0 || row->seconds[c] < row->seconds[best])) best = c;
    return best;
}

/* "147 µs*  1.41 x dt": the fastest, its speed-up over the first column, the first letters of its marks. */
static void cell_text(const bench_grid *g, const grid_row *row, int c, char *text, size_t size)
{
    char time[32];
    snprintf(text, size, "-");
    if (!(row->seconds[c] > 0.0)) return;
    bench_time_text(row->seconds[c], time, sizeof time);
    snprintf(text, size, "%s%s", time, c == best_of(g, row) ? "*" : "");
    if (c > 0 && row->seconds[0] > 0.0) cnn_append(text, size, " %.3g x", row->seconds[0] / row->seconds[c]);
    for (int i = 0, n = 0; i < BENCH_MARK_COUNT; i++)
        if (row->marks[c] >> i & 1u) cnn_append(text, size, "%s%c", n++ == 0 ? " " : "", bench_mark_name(i)[0]);
}

/* Over the first column, of the rows that have both; how many these are. */
static int mean_speedup(const bench_grid *g, int c, double *mean)
{
    double sum = 0.0;
    int rows = 0;
    for (int r = 0; r < g->rows; r++) {
        const double *s = g->list[r].seconds;
        if (!(s[0] > 0.0 && s[c] > 0.0)) continue;
        sum += log(s[0] / s[c]);
        rows++;
    }
    *mean = exp(sum / (rows > 0 ? rows : 1));
    return rows;
}

static void mean_text(const bench_grid *g, int c, char *text, size_t size)
{
    double mean;
    const int rows = mean_speedup(g, c, &mean);
    snprintf(text, size, rows > 0 && c > 0 ? "%.3g x" : "-", mean);
    if (rows > 0 && c > 0 && rows < g->rows) cnn_append(text, size, " of %d rows", rows);
}

static void widths_of(const bench_grid *g, int width[GRID_COLUMNS + 1])
{
    char text[GRID_NAME_MAX];
    width[0] = table_width("geometric mean");
    for (int r = 0; r < g->rows; r++)
        if (table_width(g->list[r].name) > width[0]) width[0] = table_width(g->list[r].name);
    for (int c = 0; c < g->columns; c++) {
        width[c + 1] = table_width(g->names[c]);
        for (int r = -1; r < g->rows; r++) {
            if (r < 0)
                mean_text(g, c, text, sizeof text);
            else
                cell_text(g, &g->list[r], c, text, sizeof text);
            if (table_width(text) > width[c + 1]) width[c + 1] = table_width(text);
        }
    }
}

void bench_grid_print(const bench *b)
{
    const bench_grid *g = &b->sums->grid;
    int width[GRID_COLUMNS + 1];
    char text[GRID_NAME_MAX];
    if (g->columns < 2 || g->rows < 2) return;
    widths_of(g, width);
    table_print(4, "\nmedian times; * the fastest; x: how much faster than %s; letters: the first of its marks\n",
                g->names[0]);
    for (int r = -1; r <= g->rows; r++) {
        char line[GRID_NAME_MAX * (GRID_COLUMNS + 1)] = "";
        const char *name = r < 0 ? "" : r < g->rows ? g->list[r].name : "geometric mean";
        cnn_append(line, sizeof line, "%-*s", table_field(name, width[0]), name);
        for (int c = 0; c < g->columns; c++) {
            if (r < 0)
                snprintf(text, sizeof text, "%s", g->names[c]);
            else if (r < g->rows)
                cell_text(g, &g->list[r], c, text, sizeof text);
            else
                mean_text(g, c, text, sizeof text);
            cnn_append(line, sizeof line, "  %-*s", table_field(text, width[c + 1]), text);
        }
        table_print(width[0] + 2, "%s\n", line);
    }
    if (g->left_out > 0) printf("%d more rows have no room here: see the lines above\n", g->left_out);
    putchar('\n');
}
