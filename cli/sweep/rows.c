/* rows.c: the points that are recorded, by what identifies them: everything that changes the figure and that is
 * asked for, and the machine. */
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

/* By its text: numbers of a record under construction are not read otherwise. */
static double real_of(const cnn_record *record, const char *key)
{
    char text[64], *end;
    if (!record_get_json(record, key, text, (int)sizeof text)) return NAN;
    const double value = strtod(text, &end);
    return end == text ? NAN : value; /* null */
}

/* It beats a ceiling. */
static bool is_doubted(const cnn_record *record)
{
    char text[16];
    return record_get_json(record, "verified", text, sizeof text) && strcmp(text, "false") == 0;
}

static bool is_best(const cnn_record *record) { return strcmp(record_get_text(record, "kind"), "sweep_best") == 0; }

static int64_t count_of(const cnn_record *record, const char *key)
{
    const double value = real_of(record, key);
    return value > 0 ? (int64_t)value : 0;
}

static void take_id(const cnn_record *record, const char *field, char id[BUILD_ID_MAX])
{
    const char *text = record_get_text(record, field);
    snprintf(id, BUILD_ID_MAX, "%s", text ? text : "");
}

/* A row without figures; its key NULL when out of memory. */
static sweep_row identity_of(const cnn_record *record)
{
    sweep_row row = {.key = record ? record_identity(record, IDENTITY_POINT, NULL) : NULL};
    if (row.key) take_id(record, "build", row.build);
    if (row.key) take_id(record, "libraries", row.libraries);
    return row;
}

cnn_status sweep_rows_add(sweep_rows *rows, const cnn_record *record, cnn_error *err)
{
    if (!record) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a record");
    sweep_row *items = cnn_grow(rows->items, rows->count, &rows->capacity, sizeof *items, "records of a sweep", err);
    if (!items) return err->status;
    rows->items = items;
    sweep_row *row = &rows->items[rows->count];
    *row = identity_of(record);
    if (!row->key) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the records of a sweep");
    rows->count++;
    row->best = is_best(record);
    row->round = count_of(record, "round");
    row->set = count_of(record, "set");
    if (row->set > rows->sets) rows->sets = row->set;
    row->median = real_of(record, "median_s");
    row->low = real_of(record, "low_s");
    row->high = real_of(record, "high_s");
    row->resolution = real_of(record, "resolution");
    row->baseline = real_of(record, "baseline_s");
    row->timed = row->median > 0 && isfinite(row->low) && isfinite(row->high) && !is_doubted(record);
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
    if (!cli_is_plain_file(path)) return CNN_OK;
    const cnn_status status = record_read(path, read_one, rows, &bad, err);
    if (status == CNN_OK) cli_say_bad_lines(path, bad);
    return status;
}

void sweep_rows_free(sweep_rows *rows)
{
    for (int i = 0; i < rows->count; i++) free(rows->items[i].key);
    free(rows->items);
}

/* The latest one, with the round and the set of `like` where that has them; `elsewhere`: whether there is one only of
 * another build, or with other libraries. */
static int find_row(const sweep_rows *rows, const sweep_row *like, bool *elsewhere)
{
    *elsewhere = false;
    for (int i = rows->count - 1; i >= 0; i--) {
        const sweep_row *row = &rows->items[i];
        if (row->best != like->best || strcmp(row->key, like->key) != 0) continue;
        if ((like->round && row->round != like->round) || (like->set && row->set != like->set)) continue;
        if (like->build[0] && strcmp(row->build, like->build) == 0 && strcmp(row->libraries, like->libraries) == 0)
            return i;
        *elsewhere = true;
    }
    return -1;
}

bool sweep_is_recorded(const sweep *s, const cnn_record *record, int64_t set)
{
    bool elsewhere;
    sweep_row like = identity_of(record);
    if (!like.key) return false;
    like.best = true;
    like.set = set;
    const int row = find_row(&s->rows, &like, &elsewhere);
    free(like.key);
    return row >= 0;
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

cnn_status sweep_find_rows(sweep *s, sweep_group *g, int64_t round, cnn_error *err)
{
    for (int i = 0; i < g->count; i++) {
        sweep_point *p = &g->points[i];
        bool elsewhere;
        if (!p->alive) continue;
        cnn_record *record = sweep_point_record(s, g, p, "sweep");
        sweep_row like = identity_of(record);
        record_free(record);
        if (!like.key)
            return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to find a point among %d records", s->rows.count);
        like.round = round;
        p->row = find_row(&s->rows, &like, &elsewhere);
        if (round == 1 && p->row < 0 && elsewhere && s->again++ == 0) cli_say_other_build(s->b.options->out);
        free(like.key);
    }
    return CNN_OK;
}
