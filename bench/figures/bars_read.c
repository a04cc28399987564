/* bars_read.c: which records bars are drawn of, and which bar and group is whose. */
#include "bars.h"

#include "bench/measure/stats.h"
#include "days.h"
#include "harness/base/text.h"
#include "harness/problem/names.h"
#include "harness/record/identity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void copy_text(char *to, size_t size, const char *from) { snprintf(to, size, "%.*s", (int)size - 1, from); }

/* ---- Which records */

/* "isa=1" from {"isa":1}; only knobs that were set are there. */
static void append_knobs(const cnn_record *record, char *label, size_t size)
{
    char *knobs = record_json(record, "knobs");
    if (knobs != NULL && strlen(knobs) > 2) cnn_append(label, size, " ");
    for (const char *c = knobs; c != NULL && *c != '\0'; c++)
        if (strchr("{}\"", *c) == NULL) cnn_append(label, size, "%c", *c == ':' ? '=' : *c);
    free(knobs);
}

/* What a record is drawn as. Of an operation the bar is an algorithm's, and the group a problem's and direction's; of
 * whole processes each command has a group, and each file that was imported a colour; of another program's benchmarks
 * each has a group. */
typedef struct bar {
    char label[BARS_TEXT_MAX];
    struct bars_group group;
    const char *machine; /* NULL: not told */
} bar;

static int curve_of(bars_set *set, const char *label, cnn_error *err)
{
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

static int group_of(bars_set *set, const struct bars_group *g, cnn_error *err)
{
    for (int i = 0; i < set->n_groups; i++)
        if (strcmp(set->groups[i].problem, g->problem) == 0 && strcmp(set->groups[i].dir, g->dir) == 0 &&
            strcmp(set->groups[i].type, g->type) == 0)
            return i;
    if (set->n_groups == BARS_GROUPS_MAX) {
        CNN_FAIL(err, CNN_BAD_ARGUMENT, "more than %d problems and directions: name fewer with --dir", BARS_GROUPS_MAX);
        return -1;
    }
    set->groups[set->n_groups] = *g;
    for (int c = 0; c < BARS_CURVES_MAX; c++)
        set->cells[set->n_groups][c] = (bars_cell){
            .seconds = NAN, .plan_s = NAN, .launch_s = NAN, .published = NAN, .of_s = NAN, .low_s = NAN, .high_s = NAN};
    return set->n_groups++;
}

static bool has_texts(const cnn_record *record)
{
    static const char *const needed[] = {"impl", "algorithm", "op", "problem", "dir", "machine"};
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        if (record_get_text(record, needed[i]) == NULL) return false;
    return true;
}

/* Whether it is drawn. */
static bool describe_operation(const bars_set *set, const cnn_record *record, bar *b)
{
    struct bars_group *g = &b->group;
    if (!has_texts(record)) return false;
    const char *const type[] = {record_get_text(record, "dtype"), record_get_text(record, "math"),
                                record_get_text(record, "layout"), record_get_text(record, "cache")};
    const char *impl = record_get_text(record, "impl"), *algorithm = record_get_text(record, "algorithm");
    if (!record_chosen(set->impl, impl, algorithm)) return false;
    if (set->dir != NULL && !record_listed(set->dir, record_get_text(record, "dir"))) return false;
    snprintf(b->label, sizeof b->label, "%.100s:%.100s", impl, algorithm);
    append_knobs(record, b->label, sizeof b->label);
    copy_text(g->problem, sizeof g->problem, record_get_text(record, "problem"));
    copy_text(g->dir, sizeof g->dir, record_get_text(record, "dir"));
    for (int i = 0; i < 4; i++)
        if (type[i] != NULL && !(i == 1 && strcmp(type[i], "f32") == 0))
            cnn_append(g->type, sizeof g->type, "%s%s%s", g->type[0] != '\0' ? ", " : "", i == 3 ? "caches " : "",
                       type[i]);
    record_problem_name(record_get_text(record, "op"), g->problem, g->name, sizeof g->name);
    b->machine = record_get_text(record, "machine");
    return true;
}

/* --impl and --dir name none of these. */
static bool describe_other(const bars_set *set, const cnn_record *record, bool process, bar *b)
{
    const char *program = record_get_text(record, "program"), *by = record_get_text(record, "by");
    const char *source = record_get_text(record, "source");
    if (set->impl != NULL || set->dir != NULL || program == NULL || by == NULL) return false;
    copy_text(b->label, sizeof b->label, process ? source != NULL ? source : "whole processes" : by);
    char *end = process ? strstr(b->label, ".json") : NULL;
    if (end != NULL && end > b->label) *end = '\0';
    copy_text(b->group.problem, sizeof b->group.problem, program);
    copy_text(b->group.name, sizeof b->group.name, b->group.problem);
    b->machine = record_get_text(record, "machine");
    return true;
}

/* How far its runs went, and when. */
static void take_process(bars_set *set, const cnn_record *record, bars_cell *cell)
{
    cell->low_s = fmin(cell->low_s, record_get_real(record, "min_s")); /* NaN is passed over */
    cell->high_s = fmax(cell->high_s, record_get_real(record, "max_s"));
    cell->samples += (int)fmax(0, record_get_real(record, "samples"));
    days_add(set->from, set->to, record_get_text(record, "date"));
}

static cnn_status take_record(void *user, const cnn_record *record, cnn_error *err)
{
    bars_set *set = user;
    cnn_error unknown;
    bar b = {.machine = NULL};
    const char *kind = record_get_text(record, "kind");
    const bool process = kind != NULL && strcmp(kind, "process") == 0,
               benchmark = kind != NULL && strcmp(kind, "benchmark") == 0;
    const double own = record_get_real(record, "median_s");
    const double median = isnan(own) && benchmark ? record_get_real(record, "mean_s") : own;
    if (kind == NULL || (!process && !benchmark && cnn_name_find(&cnn_op_names, kind, &unknown) < 0)) return CNN_OK;
    if (!(median > 0.0) || !isfinite(median)) return CNN_OK;
    if (process || benchmark ? !describe_other(set, record, process, &b) : !describe_operation(set, record, &b))
        return CNN_OK;
    if (set->machine[0] == '\0' && b.machine != NULL) copy_text(set->machine, sizeof set->machine, b.machine);
    if (b.machine != NULL && strcmp(set->machine, b.machine) != 0) {
        set->left_out++;
        return CNN_OK;
    }
    const int c = curve_of(set, b.label, err), g = c >= 0 ? group_of(set, &b.group, err) : -1;
    if (g < 0) return err->status;
    set->untold = set->untold || b.machine == NULL;
    set->operations = set->operations || !(process || benchmark);
    set->processes = set->processes || process;
    set->benchmarks = set->benchmarks || benchmark;
    bars_cell *cell = &set->cells[g][c];
    if (process) take_process(set, record, cell);
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
