/* bars.c: what bars come to, and what plots/bars.gp is given. */
#include "bars.h"

#include "bench/measure/stats.h"
#include "gnuplot.h"
#include "harness/base/text.h"
#include "series.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL_LETTERS = 38, LEGEND_LETTERS = 120 }; /* that a picture has room for */

/* ---- What they come to */

static bars_cell *cell_of(bars_set *set, int group, const char *curve)
{
    for (int c = 0; c < set->n_curves; c++)
        if (strcmp(set->curves[c], curve) == 0) return &set->cells[group][c];
    return NULL;
}

static bool same_problem(const struct bars_group *g, const char *problem, const char *dir)
{
    const size_t length = strlen(problem);
    return strncmp(g->problem, problem, length) == 0 && (g->problem[length] == '\0' || g->problem[length] == 'n') &&
           strcmp(g->dir, dir) == 0;
}

static cnn_status add_published(bars_set *set, cnn_error *err)
{
    char line[256], path[FOUND_PATH_MAX], problem[128], dir[16], curve[64], base[64];
    double factor;
    const cnn_status status = plot_file("awnn_figure_7.dat", path, err);
    if (status != CNN_OK) return status;
    FILE *file = fopen(path, "re");
    if (file == NULL) return CNN_FAIL(err, CNN_IO, "cannot read %s: %s", path, strerror(errno));
    while (fgets(line, sizeof line, file) != NULL) {
        if (line[0] == '#' || sscanf(line, "%127s %15s %63s %lf %63s", problem, dir, curve, &factor, base) != 5)
            continue;
        for (int g = 0; g < set->n_groups; g++) {
            bars_cell *cell = cell_of(set, g, curve);
            const bars_cell *of = cell_of(set, g, base);
            if (!same_problem(&set->groups[g], problem, dir) || cell == NULL || of == NULL || !(of->seconds > 0.0))
                continue;
            cell->published = factor;
            cell->of_s = of->seconds;
            set->published = true;
        }
    }
    fclose(file);
    return CNN_OK;
}

cnn_status bars_make(bars_set *set, cnn_error *err)
{
    double sorted[BARS_RUNS_MAX];
    bench_stats stats;
    if (set->n_groups == 0)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "no timed operation to draw: `benchcnn bench --out FILE` records them, `benchcnn import` takes "
                        "over other programs' timings; --impl and --dir choose among operations");
    for (int g = 0; g < set->n_groups; g++)
        for (int c = 0; c < set->n_curves; c++) {
            bars_cell *cell = &set->cells[g][c];
            if (cell->count == 0) continue;
            bench_stats_of(cell->runs, cell->count, sorted, &stats);
            cell->seconds = stats.median;
        }
    return add_published(set, err);
}

bool bars_have_plans(const bars_set *set)
{
    for (int g = 0; g < set->n_groups; g++)
        for (int c = 0; c < set->n_curves; c++)
            if (set->cells[g][c].count > 0 && set->cells[g][c].plan_s > 0.0) return true;
    return false;
}

/* ---- The picture */

static bool types_differ(const bars_set *set)
{
    for (int g = 1; g < set->n_groups; g++)
        if (strcmp(set->groups[g].type, set->groups[0].type) != 0) return true;
    return false;
}

/* A block a curve: where the bar stands, its seconds, 1 where it bears a mark, seconds with the launch, with the plan
 * as well, the published factor, what that comes to; 0 where there is none. A block needs a line: one that no bar is
 * seen of. */
static void put_bars(FILE *to, const bars_set *set)
{
    fputs("$bars << EOD\n", to);
    for (int c = 0; c < set->n_curves; c++, fputs("nan nan 0 nan 0 0 0\n\n\n", to))
        for (int g = 0; g < set->n_groups; g++) {
            const bars_cell *cell = &set->cells[g][c];
            if (cell->count == 0) continue;
            const bool published = cell->published > 0.0;
            const double launched = cell->seconds + (cell->launch_s > 0.0 ? cell->launch_s : 0.0);
            fprintf(to, "%.9g %.9g %d %.9g %.9g %.9g %.9g\n", g * (set->n_curves + 0.9) + c, cell->seconds,
                    cell->marks != 0, launched, cell->plan_s > 0.0 ? launched + cell->plan_s : 0.0,
                    published ? cell->published : 0.0, published ? cell->published * cell->of_s : 0.0);
        }
    fputs("EOD\n", to);
}

void bars_shorten(const char *text, int most, char *room, size_t size)
{
    int letters = 0, at = 0;
    room[0] = '\0';
    for (const char *c = text; *c != '\0'; c++) letters += (*c & 0xC0) != 0x80;
    for (const char *c = text, *next; *c != '\0'; c = next, at++) {
        for (next = c + 1; (*next & 0xC0) == 0x80;) next++;
        const bool kept = letters <= most || at < most / 2 || at >= letters - (most - 1 - most / 2);
        if (kept) cnn_append(room, size, "%.*s", (int)(next - c), c);
        if (!kept && at == most / 2) cnn_append(room, size, "…");
    }
}

static const char *title_of(const bars_set *set)
{
    if (set->plans) return "Descriptors and plans in the loop, and out of it";
    return set->operations
               ? set->untold ? "Times of single operations, and of other programs" : "Times of single operations"
           : set->processes ? "Times of whole processes, and of other programs' benchmarks"
                            : "Times of other programs' benchmarks";
}

cnn_status bars_picture(FILE *to, void *user, cnn_error *err)
{
    const bars_set *set = user;
    const bool varies = types_differ(set);
    char text[2 * BARS_TEXT_MAX], machine[CNN_NAME_MAX], names[128];
    unsigned marks = 0;
    (void)err;
    series_machine(set->machine, machine, sizeof machine);
    fprintf(to, "groups=%d\ncount=%d\nplans=%d\npublished=%d\n", set->n_groups, set->n_curves, set->plans,
            set->published && !set->plans);
    gnuplot_text(to, "title", -1, title_of(set));
    snprintf(text, sizeof text, "%s%s", machine,
             !set->untold              ? ""
             : set->machine[0] == '\0' ? "of which machine, the records do not say"
                                       : "; where other programs ran, the records do not say");
    if (!varies && set->groups[0].type[0] != '\0') cnn_append(text, sizeof text, ", %s", set->groups[0].type);
    gnuplot_text(to, "line", 0, text);
    gnuplot_text(to, "line", 1,
                 set->plans ? "full: a call, planned once;  paler: with the host's launch;  palest: with its plan made "
                              "anew in each call"
                 : set->published ? "grey: as published, a multiple of cuDNN's GEMM, times what that takes here"
                                  : "");
    for (int c = 0; c < set->n_curves; c++) {
        bars_shorten(set->curves[c], LEGEND_LETTERS, text, sizeof text);
        gnuplot_text(to, "name", c, text);
    }
    for (int g = 0; g < set->n_groups; g++) {
        const struct bars_group *group = &set->groups[g];
        const char *of = varies ? group->type : "";
        bars_shorten(group->name + (strncmp(group->name, "conv ", 5) == 0 ? 5 : 0),
                     LABEL_LETTERS - (int)(strlen(group->dir) + strlen(of)), text, sizeof text);
        cnn_append(text, sizeof text, "%s%s%s%s", group->dir[0] ? " " : "", group->dir, of[0] ? ", " : "", of);
        gnuplot_text(to, "problem", g, text);
        for (int c = 0; c < set->n_curves; c++) marks |= set->cells[g][c].marks;
    }
    snprintf(text, sizeof text, "medians%s%s", marks != 0 ? ";  hollow: " : "",
             bench_marks_text(marks, names, sizeof names));
    gnuplot_text(to, "foot", -1, text);
    put_bars(to, set);
    return CNN_OK;
}
