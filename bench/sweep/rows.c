/* rows.c: the points that are recorded, by what identifies them: everything that changes the figure and that is
 * asked for, and the machine. */
#include "bench/measure/stats.h"
#include "harness/base/grow.h"
#include "harness/base/input.h"
#include "harness/record/identity.h"
#include "sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
                       .baseline = record_get_real(record, "baseline_s"),
                       .marks = bench_marks_of(record_get_text(record, "marks"))};
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

cnn_status sweep_rows_read(sweep_rows *rows, const char *path, int *bad_lines, cnn_error *err)
{
    *bad_lines = 0;
    return cnn_is_plain_file(path) ? record_read(path, read_one, rows, bad_lines, err) : CNN_OK;
}

void sweep_rows_free(sweep_rows *rows)
{
    for (int i = 0; i < rows->count; i++) free(rows->items[i].key);
    free(rows->items);
}

const sweep_row *sweep_find_row(const sweep_rows *rows, const cnn_record *record, int64_t round, int64_t set,
                                bool *elsewhere)
{
    const sweep_row like = row_of(record), *found = NULL;
    *elsewhere = false;
    for (int i = like.key ? rows->count : 0; i-- > 0 && !found;) {
        const sweep_row *row = &rows->items[i];
        if (row->best != like.best || strcmp(row->key, like.key) != 0) continue;
        if ((round && row->figures.round != round) || (set && row->figures.set != set)) continue;
        if (like.maker[0] && strcmp(row->maker, like.maker) == 0) found = row;
        *elsewhere = *elsewhere || !found;
    }
    free(like.key);
    return found;
}
