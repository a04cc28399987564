/* sweep_rows.c: the points that are recorded, by what identifies them: everything that changes the figure and that is
 * asked for, and the machine. */
#include "../grow.h"
#include "sweep_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What the operation's record leaves to the command that repeats it. */
void sweep_record_identity(cnn_record *record, const sweep *s) { record_int(record, "seed", s->b.options->seed); }

/* Of a field that the record lacks: an operation that knows no such thing, whose older records tell of the usual. */
static const char *usual_of(const char *field)
{
    return strcmp(field, "bias") == 0 ? "true" : strcmp(field, "mode") == 0 ? "\"cross_correlation\"" : "?";
}

void sweep_key(const cnn_record *record, char key[SWEEP_KEY_MAX])
{
    static const char *const fields[] = {"machine", "impl",   "algorithm", "threads", "knobs", "op",   "problem", "dir",
                                         "dtype",   "layout", "math",      "cache",   "bias",  "mode", "seed"};
    size_t used = 0;
    for (size_t i = 0; i < sizeof fields / sizeof *fields && used + 1 < SWEEP_KEY_MAX; i++) {
        if (!record_get_json(record, fields[i], key + used, (int)(SWEEP_KEY_MAX - used - 1)))
            snprintf(key + used, SWEEP_KEY_MAX - used, "%s", usual_of(fields[i]));
        used += strlen(key + used);
        if (used + 1 < SWEEP_KEY_MAX) key[used++] = ' ';
    }
    key[used < SWEEP_KEY_MAX ? used : SWEEP_KEY_MAX - 1] = '\0';
}

/* By its text: numbers of a record under construction are not read otherwise. */
static double real_of(const cnn_record *record, const char *key)
{
    char text[64], *end;
    if (!record_get_json(record, key, text, (int)sizeof text)) return NAN;
    const double value = strtod(text, &end);
    return end == text ? NAN : value; /* null */
}

static const char *const kinds[SWEEP_ROW_KINDS] = {"sweep", "sweep_final", "sweep_best"};

/* SWEEP_ROW_KINDS: it is another. */
static sweep_row_kind kind_of(const cnn_record *record)
{
    const char *text = record_get_text(record, "kind");
    int kind = 0;
    while (kind < SWEEP_ROW_KINDS && strcmp(text, kinds[kind]) != 0) kind++;
    return (sweep_row_kind)kind;
}

cnn_status sweep_rows_add(sweep_rows *rows, const cnn_record *record, cnn_error *err)
{
    if (!record) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a record");
    sweep_row *items = cnn_grow(rows->items, rows->count, &rows->capacity, sizeof *items, "records of a sweep", err);
    if (!items) return err->status;
    rows->items = items;
    sweep_row *row = &rows->items[rows->count++];
    *row = (sweep_row){.median = real_of(record, "median_s"),
                       .low = real_of(record, "low_s"),
                       .high = real_of(record, "high_s"),
                       .resolution = real_of(record, "resolution"),
                       .anchor = real_of(record, "anchor_s"),
                       .kind = kind_of(record)};
    const double heat = real_of(record, "final_heat");
    row->heat = heat > 0 ? (int64_t)heat : 0;
    row->timed = row->median > 0 && isfinite(row->low) && isfinite(row->high);
    sweep_key(record, row->key);
    return CNN_OK;
}

static cnn_status read_one(void *user, const cnn_record *record, cnn_error *err)
{
    if (kind_of(record) == SWEEP_ROW_KINDS) return CNN_OK;
    return sweep_rows_add(user, record, err);
}

cnn_status sweep_rows_read(sweep_rows *rows, const char *path, cnn_error *err)
{
    int bad = 0;
    struct stat info; /* only a plain file holds anything to read back */
    if (!path || stat(path, &info) != 0 || !S_ISREG(info.st_mode)) return CNN_OK;
    const cnn_status status = record_read(path, read_one, rows, &bad, err);
    if (status == CNN_OK && bad > 0)
        fprintf(stderr, "benchcnn: %s: %d line%s no record, passed over\n", path, bad, bad == 1 ? " is" : "s are");
    return status;
}

int sweep_find_row(const sweep_rows *rows, sweep_row_kind kind, const char *key)
{
    for (int i = rows->count - 1; i >= 0; i--)
        if (rows->items[i].kind == kind && strcmp(rows->items[i].key, key) == 0) return i;
    return -1;
}

cnn_record *sweep_point_record(const sweep *s, const sweep_group *g, const sweep_point *p, sweep_row_kind kind)
{
    int64_t values[SWEEP_TABLE_MAX];
    char machine[CNN_NAME_MAX];
    const cnn_session session = sweep_describe(s, g, p, values);
    const cnn_problem problem = sweep_problem(s, g, p);
    cnn_record *record = record_new(kinds[kind]);
    record_session(record, &session, p->algorithm.name);
    machine_name(&session, machine, sizeof machine);
    record_text(record, "machine", machine);
    record_problem(record, &problem, g->dir);
    record_text(record, "cache", s->b.params.cold ? "cold" : "hot");
    sweep_record_identity(record, s);
    return record;
}

void sweep_find_rows(const sweep *s, sweep_group *g)
{
    char key[SWEEP_KEY_MAX];
    for (int i = 0; i < g->count && s->rows.count > 0; i++) {
        sweep_point *p = &g->points[i];
        cnn_record *record = sweep_point_record(s, g, p, SWEEP_POINT);
        if (record) {
            sweep_key(record, key);
            p->row = sweep_find_row(&s->rows, SWEEP_POINT, key);
            p->final = sweep_find_row(&s->rows, SWEEP_FINAL, key);
        }
        record_free(record);
    }
}
