/* bars.c: from records of single operations to groups of bars, and what plots/bars.gp is given. */
#include "bars.h"

#include "bench/measure/stats.h"
#include "gnuplot.h"
#include "harness/base/text.h"
#include "harness/problem/names.h"
#include "harness/record/identity.h"
#include "series.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void copy_text(char *to, size_t size, const char *from) { snprintf(to, size, "%.*s", (int)size - 1, from); }

/* ---- Which records */

/* Whether one of the globs of --impl, NAME or NAME:ALGORITHM, names it. */
static bool chosen(const char *list, const char *impl, const char *algorithm)
{
    char word[4 * CNN_NAME_MAX], name[4 * CNN_NAME_MAX];
    snprintf(name, sizeof name, "%s:%s", impl, algorithm);
    for (const char *at = list; at != NULL; at = strchr(at, ','), at = at != NULL ? at + 1 : NULL) {
        snprintf(word, sizeof word, "%.*s", (int)strcspn(at, ","), at);
        if (fnmatch(word, strchr(word, ':') != NULL ? name : impl, 0) == 0) return true;
    }
    return list == NULL;
}

/* "isa=1" from {"isa":1}; only knobs that were set are there. */
static void append_knobs(const cnn_record *record, char *label, size_t size)
{
    char *knobs = record_json(record, "knobs");
    if (knobs != NULL && strlen(knobs) > 2) cnn_append(label, size, " ");
    for (const char *c = knobs; c != NULL && *c != '\0'; c++)
        if (strchr("{}\"", *c) == NULL) cnn_append(label, size, "%c", *c == ':' ? '=' : *c);
    free(knobs);
}

static int curve_of(bars_set *set, const cnn_record *record, cnn_error *err)
{
    char label[BARS_TEXT_MAX];
    snprintf(label, sizeof label, "%s:%s", record_get_text(record, "impl"), record_get_text(record, "algorithm"));
    append_knobs(record, label, sizeof label);
    for (int i = 0; i < set->n_curves; i++)
        if (strcmp(set->curves[i], label) == 0) return i;
    if (set->n_curves == BARS_CURVES_MAX) {
        CNN_FAIL(err, CNN_BAD_ARGUMENT,
                 "more than %d bars a problem, which no colours tell apart: name fewer with "
                 "--impl",
                 BARS_CURVES_MAX);
        return -1;
    }
    copy_text(set->curves[set->n_curves], BARS_TEXT_MAX, label);
    return set->n_curves++;
}

static int group_of(bars_set *set, const cnn_record *record, cnn_error *err)
{
    const char *const type[] = {record_get_text(record, "dtype"), record_get_text(record, "math"),
                                record_get_text(record, "layout"), record_get_text(record, "cache")};
    struct bars_group g = {.name = ""};
    copy_text(g.problem, sizeof g.problem, record_get_text(record, "problem"));
    copy_text(g.dir, sizeof g.dir, record_get_text(record, "dir"));
    for (int i = 0; i < 4; i++)
        if (type[i] != NULL && !(i == 1 && strcmp(type[i], "f32") == 0))
            cnn_append(g.type, sizeof g.type, "%s%s%s", g.type[0] != '\0' ? ", " : "", i == 3 ? "caches " : "",
                       type[i]);
    for (int i = 0; i < set->n_groups; i++)
        if (strcmp(set->groups[i].problem, g.problem) == 0 && strcmp(set->groups[i].dir, g.dir) == 0 &&
            strcmp(set->groups[i].type, g.type) == 0)
            return i;
    if (set->n_groups == BARS_GROUPS_MAX) {
        CNN_FAIL(err, CNN_BAD_ARGUMENT, "more than %d problems and directions: name fewer with --dir", BARS_GROUPS_MAX);
        return -1;
    }
    record_problem_name(record_get_text(record, "op"), g.problem, g.name, sizeof g.name);
    set->groups[set->n_groups] = g;
    for (int c = 0; c < BARS_CURVES_MAX; c++)
        set->cells[set->n_groups][c] =
            (bars_cell){.seconds = NAN, .plan_s = NAN, .launch_s = NAN, .published = NAN, .of_s = NAN};
    return set->n_groups++;
}

static bool has_texts(const cnn_record *record)
{
    static const char *const needed[] = {"impl", "algorithm", "op", "problem", "dir", "machine"};
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        if (record_get_text(record, needed[i]) == NULL) return false;
    return true;
}

static cnn_status take_record(void *user, const cnn_record *record, cnn_error *err)
{
    bars_set *set = user;
    cnn_error unknown;
    const char *kind = record_get_text(record, "kind");
    const double median = record_get_real(record, "median_s");
    if (kind == NULL || cnn_name_find(&cnn_op_names, kind, &unknown) < 0) return CNN_OK;
    if (!(median > 0.0) || !isfinite(median) || !has_texts(record)) return CNN_OK;
    if (!chosen(set->impl, record_get_text(record, "impl"), record_get_text(record, "algorithm"))) return CNN_OK;
    if (set->dir != NULL && !record_listed(set->dir, record_get_text(record, "dir"))) return CNN_OK;
    if (set->machine[0] == '\0') copy_text(set->machine, sizeof set->machine, record_get_text(record, "machine"));
    if (strcmp(set->machine, record_get_text(record, "machine")) != 0) {
        set->left_out++;
        return CNN_OK;
    }
    const int c = curve_of(set, record, err), g = c >= 0 ? group_of(set, record, err) : -1;
    if (g < 0) return err->status;
    bars_cell *cell = &set->cells[g][c];
    if (cell->count < BARS_RUNS_MAX) cell->runs[cell->count++] = median;
    cell->plan_s = record_get_real(record, "plan_s");
    cell->launch_s = record_get_real(record, "launch_s");
    cell->marks |= bench_marks_of(record_get_text(record, "marks"));
    return CNN_OK;
}

cnn_status bars_read(bars_set *set, const char *path, int *bad, cnn_error *err)
{
    return record_read(path, take_record, set, bad, err);
}

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
                        "no timed operation to draw: `benchcnn bench --out FILE` records them; "
                        "--impl and --dir choose among them");
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
    gnuplot_text(to, "title", -1,
                 set->plans ? "Descriptors and plans in the loop, and out of it" : "Times of single operations");
    snprintf(text, sizeof text, "%s%s%s", machine, varies ? "" : ", ", varies ? "" : set->groups[0].type);
    gnuplot_text(to, "line", 0, text);
    gnuplot_text(to, "line", 1,
                 set->plans ? "full: a call, planned once;  paler: with the host's launch;  palest: with its plan made "
                              "anew in each call"
                 : set->published ? "grey: as published, a multiple of cuDNN's GEMM, times what that takes here"
                                  : "");
    for (int c = 0; c < set->n_curves; c++) gnuplot_text(to, "name", c, set->curves[c]);
    for (int g = 0; g < set->n_groups; g++) {
        const struct bars_group *group = &set->groups[g];
        snprintf(text, sizeof text, "%.80s %s%s%s", group->name + (strncmp(group->name, "conv ", 5) == 0 ? 5 : 0),
                 group->dir, varies ? ", " : "", varies ? group->type : "");
        gnuplot_text(to, "problem", g, text);
        for (int c = 0; c < set->n_curves; c++) marks |= set->cells[g][c].marks;
    }
    snprintf(text, sizeof text, "medians%s%s", marks != 0 ? ";  hollow: " : "",
             bench_marks_text(marks, names, sizeof names));
    gnuplot_text(to, "foot", -1, text);
    put_bars(to, set);
    return CNN_OK;
}
