/* sweeps.c: from records of a sweep to its points, and which settings are drawn: see sweeps.h. */
#include "sweeps.h"

#include "harness/base/grow.h"
#include "harness/record/identity.h"

#include <math.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

static const char *const fields[] = {"algorithm", "threads", "dtype", "layout"};
static const char without[] = "algorithm,threads,dtype,layout,knobs,seed";
static const char usual[] = "default";

typedef struct reader {
    sweeps_set *set;
    regex_t match;
} reader;

/* ---- Reading. */

static int axis_of(sweeps_set *set, const char *name, cnn_error *err)
{
    for (int a = 0; a < set->n_axes; a++)
        if (strcmp(set->axes[a].name, name) == 0) return a;
    if (set->n_axes == SWEEPS_AXES)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "more than %d settings: choose some points with --match", SWEEPS_AXES),
               -1;
    snprintf(set->axes[set->n_axes].name, SWEEPS_TEXT, "%s", name);
    return set->n_axes++;
}

static int value_of(sweeps_axis *axis, const char *value, cnn_error *err)
{
    for (int v = 0; v < axis->count; v++)
        if (strcmp(axis->values[v], value) == 0) return v;
    if (axis->count == SWEEPS_VALUES)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "more than %d values of %s: choose some points with --match",
                        SWEEPS_VALUES, axis->name),
               -1;
    snprintf(axis->values[axis->count], SWEEPS_TEXT, "%s", value);
    return axis->count++;
}

static cnn_status set_value(sweeps_set *set, sweeps_point *p, const char *name, const char *value, cnn_error *err)
{
    const int a = axis_of(set, name, err);
    if (a < 0) return err->status;
    p->values[a] = value_of(&set->axes[a], value, err);
    return p->values[a] >= 0 ? CNN_OK : err->status;
}

/* Knobs at their default are in no record. */
static cnn_status read_settings(sweeps_set *set, const cnn_record *record, sweeps_point *p, cnn_error *err)
{
    enum { PAIRS = 64 };
    record_pair knobs[PAIRS];
    const int count = record_get_pairs(record, "knobs", knobs, PAIRS);
    cnn_status status = CNN_OK;
    for (int a = 0; a < SWEEPS_AXES; a++) p->values[a] = -1;
    for (size_t i = 0; i < sizeof fields / sizeof *fields && status == CNN_OK; i++) {
        const char *text = record_get_text(record, fields[i]);
        char *value = record_json(record, fields[i]);
        if (value != NULL) status = set_value(set, p, fields[i], text != NULL ? text : value, err);
        free(value);
    }
    for (int i = 0; i < count && status == CNN_OK; i++) status = set_value(set, p, knobs[i].key, knobs[i].value, err);
    return status;
}

/* -1: no room for more, and it is left out. */
static int group_of(sweeps_set *set, const cnn_record *record, char *key)
{
    const char *op = record_get_text(record, "op"), *problem = record_get_text(record, "problem");
    const char *impl = record_get_text(record, "impl"), *dir = record_get_text(record, "dir");
    const char *machine = record_get_text(record, "machine");
    char name[200];
    for (int g = 0; g < set->n_groups; g++)
        if (strcmp(set->groups[g].key, key) == 0) return g;
    if (set->n_groups == SWEEPS_GROUPS) return -1;
    sweeps_group *g = &set->groups[set->n_groups];
    record_problem_name(op != NULL ? op : "", problem != NULL ? problem : "", name, sizeof name);
    snprintf(g->name, sizeof g->name, "%.30s %.10s %.180s", impl != NULL ? impl : "", dir != NULL ? dir : "", name);
    snprintf(g->machine, sizeof g->machine, "%s", machine != NULL ? machine : "");
    g->key = strdup(key);
    return g->key != NULL ? set->n_groups++ : -1;
}

/* The point with these settings that was read before, or a new one. */
static sweeps_point *point_of(sweeps_set *set, const sweeps_point *like, cnn_error *err)
{
    for (int i = 0; i < set->count; i++)
        if (set->points[i].group == like->group &&
            memcmp(set->points[i].values, like->values, sizeof like->values) == 0)
            return &set->points[i];
    sweeps_point *p = cnn_add_item(&set->points, &set->count, &set->room, sizeof *p, "points of a sweep", err);
    if (p != NULL) *p = (sweeps_point){.round = -1};
    return p;
}

static cnn_status take_record(void *user, const cnn_record *record, cnn_error *err)
{
    const reader *r = user;
    sweeps_set *set = r->set;
    const double seconds = record_get_real(record, "median_s"), round = record_get_real(record, "round");
    const char *marks = record_get_text(record, "marks");
    if (strcmp(record_get_text(record, "kind"), "sweep") != 0 || !(seconds > 0 && isfinite(seconds))) return CNN_OK;
    sweeps_point p = {.round = round >= 1 && round < 1e6 ? (int)round : 0,
                      .seconds = seconds,
                      .low = record_get_real(record, "low_s"),
                      .high = record_get_real(record, "high_s"),
                      .baseline = record_get_real(record, "baseline_s"),
                      .marked = marks != NULL && marks[0] != '\0'};
    char *key = record_identity(record, IDENTITY_POINT, without);
    cnn_status status = key != NULL ? CNN_OK : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a sweep");
    const bool chosen = status == CNN_OK && (set->match == NULL || regexec(&r->match, key, 0, NULL, 0) == 0);
    p.group = chosen ? group_of(set, record, key) : -1;
    set->left_out += chosen && p.group < 0;
    free(key);
    if (status != CNN_OK || p.group < 0) return status;
    status = read_settings(set, record, &p, err);
    sweeps_point *known = status == CNN_OK ? point_of(set, &p, err) : NULL;
    if (known == NULL) return err->status;
    if (p.round >= known->round) *known = p;
    return CNN_OK;
}

cnn_status sweeps_read(sweeps_set *set, const char *path, int *bad, cnn_error *err)
{
    reader r = {.set = set};
    const int code = set->match != NULL ? regcomp(&r.match, set->match, REG_EXTENDED | REG_NOSUB) : 0;
    if (code != 0) return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--match '%.128s' is no regular expression", set->match);
    const cnn_status status = record_read(path, take_record, &r, bad, err);
    if (set->match != NULL) regfree(&r.match);
    return status;
}

/* ---- What is drawn. */

/* Points whose record says no value of an axis had the default. */
static cnn_status name_defaults(sweeps_set *set, cnn_error *err)
{
    for (int i = 0; i < set->count; i++)
        for (int a = 0; a < set->n_axes; a++)
            if (set->points[i].values[a] < 0) {
                set->points[i].values[a] = value_of(&set->axes[a], usual, err);
                if (set->points[i].values[a] < 0) return err->status;
            }
    return CNN_OK;
}

static bool is_number(const char *text, double *value)
{
    char *end;
    *value = strtod(text, &end);
    return end != text && *end == '\0';
}

/* The default first, then numbers by size, then what is none, as it came. */
static bool comes_before(const char *a, const char *b)
{
    double x, y;
    const bool first = strcmp(a, usual) == 0, second = strcmp(b, usual) == 0;
    if (first || second) return first && !second;
    const bool number = is_number(a, &x), other = is_number(b, &y);
    return number && other ? x < y : number && !other;
}

static void sort_values(sweeps_axis *axis)
{
    for (int i = 0; i < axis->count; i++) {
        int at = i;
        while (at > 0 && comes_before(axis->values[i], axis->values[axis->order[at - 1]])) at--;
        memmove(&axis->order[at + 1], &axis->order[at], (size_t)(i - at) * sizeof *axis->order);
        axis->order[at] = i;
    }
}

/* Of a map one group is drawn. */
static void keep_one_group(sweeps_set *set)
{
    int kept = 0;
    for (int i = 0; i < set->count; i++) {
        if (set->points[i].group == set->only)
            set->points[kept++] = set->points[i];
        else
            set->left_out++;
    }
    set->count = kept;
}

cnn_status sweeps_make(sweeps_set *set, cnn_error *err)
{
    cnn_status status = name_defaults(set, err);
    set->varied = 0;
    set->relative = set->count > 0;
    for (int a = 0; a < set->n_axes && status == CNN_OK; a++) {
        sort_values(&set->axes[a]);
        if (set->axes[a].count < 2) continue;
        const int count = set->axes[a].count;
        if (set->varied == 0 || count > set->axes[set->drawn[0]].count) {
            set->drawn[1] = set->drawn[0];
            set->drawn[0] = a;
        } else if (set->varied == 1 || count > set->axes[set->drawn[1]].count) {
            set->drawn[1] = a;
        }
        set->varied++;
    }
    if (status == CNN_OK && set->varied == 0)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "no sweep to draw: `benchcnn sweep threads,algorithm IMPL.KNOB --out FILE` records its points, "
                        "and a picture takes two values of a setting");
    if (sweeps_is_map(set)) keep_one_group(set);
    for (int i = 0; i < set->count; i++) set->relative = set->relative && set->points[i].baseline > 0;
    return status;
}

void sweeps_free(sweeps_set *set)
{
    for (int g = 0; g < set->n_groups; g++) free(set->groups[g].key);
    free(set->points);
    memset(set, 0, sizeof *set);
}
