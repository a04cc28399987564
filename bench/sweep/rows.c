/* rows.c: the points that are recorded, by what identifies them: everything that changes the figure and that is
 * asked for, and the machine. */
#include "harness/base/files.h"
#include "harness/base/grow.h"
#include "harness/record/identity.h"
#include "parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What the operation's record leaves to the command that repeats it, and what the figure rests on. */
void sweep_record_identity(cnn_record *record, const sweep *s, const sweep_group *g)
{
    record_int(record, "seed", s->b.options->seed);
    record_text(record, "build", s->rows.build);
    record_text(record, "libraries", s->libraries[g->session]);
}

static int64_t count_of(const cnn_record *record, const char *key)
{
    const double value = record_get_real(record, key);
    return value > 0 ? (int64_t)value : 0;
}

static sweep_figures figures_of(const cnn_record *record)
{
    sweep_figures f = {.round = count_of(record, "round"),
                       .set = count_of(record, "set"),
                       .median = record_get_real(record, "median_s"),
                       .low = record_get_real(record, "low_s"),
                       .high = record_get_real(record, "high_s"),
                       .resolution = record_get_real(record, "resolution"),
                       .baseline = record_get_real(record, "baseline_s")};
    f.timed = f.median > 0 && isfinite(f.low) && isfinite(f.high) &&
              !record_is(record, "verified", false); /* where it beats a ceiling */
    return f;
}

static bool is_best(const cnn_record *record) { return strcmp(record_get_text(record, "kind"), "sweep_best") == 0; }

/* Its key is NULL when out of memory. */
static sweep_row row_of(const cnn_record *record)
{
    sweep_row row = {.key = record ? record_identity(record, IDENTITY_POINT, NULL) : NULL};
    if (!row.key) return row;
    const char *build = record_get_text(record, "build"), *libraries = record_get_text(record, "libraries");
    if (build && build[0]) snprintf(row.maker, sizeof row.maker, "%s %s", build, libraries ? libraries : "");
    row.best = is_best(record);
    row.figures = figures_of(record);
    return row;
}

cnn_status sweep_rows_add(sweep_rows *rows, const cnn_record *record, cnn_error *err)
{
    sweep_row *row = cnn_add_item(&rows->items, &rows->count, &rows->capacity, sizeof *row, "records of a sweep", err);
    if (!row) return err->status;
    *row = row_of(record);
    if (!row->key) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the records of a sweep");
    if (row->figures.set > rows->sets) rows->sets = row->figures.set;
    return CNN_OK;
}

static cnn_status read_one(void *user, const cnn_record *record, cnn_error *err)
{
    if (!is_best(record) && strcmp(record_get_text(record, "kind"), "sweep") != 0) return CNN_OK;
    return sweep_rows_add(user, record, err);
}

cnn_status sweep_rows_read(sweep_rows *rows, const char *path, cnn_error *err)
{
    int bad = 0;
    if (!cnn_is_plain_file(path)) return CNN_OK;
    const cnn_status status = record_read(path, read_one, rows, &bad, err);
    if (status == CNN_OK) cli_say_bad_lines(path, bad);
    return status;
}

void sweep_rows_free(sweep_rows *rows)
{
    for (int i = 0; i < rows->count; i++) free(rows->items[i].key);
    free(rows->items);
}

const sweep_row *sweep_find_row(const sweep *s, const cnn_record *record, int64_t round, int64_t set, bool *elsewhere)
{
    const sweep_row like = row_of(record), *found = NULL;
    *elsewhere = false;
    for (int i = like.key ? s->rows.count : 0; i-- > 0 && !found;) {
        const sweep_row *row = &s->rows.items[i];
        if (row->best != like.best || strcmp(row->key, like.key) != 0) continue;
        if ((round && row->figures.round != round) || (set && row->figures.set != set)) continue;
        if (like.maker[0] && strcmp(row->maker, like.maker) == 0) found = row;
        *elsewhere = *elsewhere || !found;
    }
    free(like.key);
    return found;
}

cnn_record *sweep_point_record(const sweep *s, const sweep_group *g, const sweep_point *p, const char *kind)
{
    int64_t values[SWEEP_TABLE_MAX];
    char machine[CNN_NAME_MAX];
    const cnn_session session = sweep_describe(s, g, p, values);
    const cnn_problem problem = sweep_problem(s, g, p);
    cnn_record *record = record_new(kind);
    record_session(record, &session, p->algorithm.name);
    machine_name(&session, machine, sizeof machine);
    record_text(record, "machine", machine);
    record_problem(record, &problem, g->dir);
    record_text(record, "cache", s->b.params.cold ? "cold" : "hot");
    sweep_record_identity(record, s, g);
    return record;
}

void sweep_find_figures(sweep *s, sweep_group *g, int64_t round)
{
    for (int i = 0; i < g->count; i++) {
        sweep_point *p = &g->points[i];
        bool elsewhere;
        if (!p->alive) continue;
        cnn_record *record = sweep_point_record(s, g, p, "sweep");
        const sweep_row *row = sweep_find_row(s, record, round, 0, &elsewhere);
        record_free(record);
        p->figures = row ? row->figures : (sweep_figures){.round = 0};
        if (round == 1 && !row && elsewhere && s->again++ == 0) cli_say_other_build(s->b.options->out);
    }
}
