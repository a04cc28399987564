/* export.c: which records belong to which table, and their fields as texts. */
#include "export.h"

#include "harness/base/grow.h"
#include "harness/base/text.h"
#include "harness/problem/names.h"

#include <stdlib.h>
#include <string.h>

int export_tables(export_table tables[EXPORT_TABLES])
{
    static const struct {
        const char *name, *what; /* of a table; NULL: a column of the latest one */
        export_column column;
    } lines[] = {
#define TABLE(name, what) {name, what, {NULL, NULL, EXPORT_WORDS, NULL}},
#define COLUMN(field, title, kind) {NULL, NULL, {field, title, EXPORT_##kind, NULL}},
#include "export.inc"
#undef TABLE
#undef COLUMN
    };
    int count = 0;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        if (lines[i].name) {
            tables[count++] = (export_table){.name = lines[i].name, .what = lines[i].what};
            continue;
        }
        export_table *t = &tables[count - 1];
        t->columns[t->n_columns++] = lines[i].column;
    }
    return count;
}

void export_free(export_table *table)
{
    for (int i = 0; i < table->count; i++)
        for (int c = 0; c < table->n_columns; c++) free(table->rows[i].cells[c]);
    for (int c = 0; c < table->n_columns; c++) free(table->columns[c].other);
    free(table->rows);
}

/* NULL: none. Who led a sweep's heat was timed in it, too: the points are enough. */
static const char *table_of(const char *kind)
{
    static const struct {
        const char *kind, *table;
    } others[] = {{"sweep", "timings"}, {"epoch", "epochs"},  {"process", "processes"}, {"compare", "comparisons"},
                  {"verify", "checks"}, {"peak", "ceilings"}, {"speedup", "speedups"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(others[i].kind, kind) == 0) return others[i].table;
    for (int op = 0; op < CNN_OP_COUNT; op++)
        if (strcmp(cnn_op_name((cnn_op)op), kind) == 0) return "timings";
    return NULL;
}

/* A file's text may hold whatever JSON can: a row stays a row, and a terminal stays as it is. */
static char *shown_copy(const char *text)
{
    const size_t size = 4 * strlen(text) + 1;
    char *copy = malloc(size);
    if (copy) cnn_visible(text, copy, size);
    return copy;
}

static char *cell_of(const cnn_record *record, const char *field)
{
    const char *text = record_get_text(record, field);
    if (text) return shown_copy(text);
    char *value = record_json(record, field), *cell = NULL;
    if (value && strcmp(value, "null") != 0 && strcmp(value, "{}") != 0) cell = shown_copy(value);
    free(value);
    return cell;
}

static void add_columns(export_table *t, const cnn_record *record)
{
    const char *field;
    for (int i = 0; (field = record_field(record, i)) != NULL && t->n_columns < EXPORT_COLUMNS; i++) {
        int c = 0;
        while (c < t->n_columns && strcmp(t->columns[c].field, field) != 0) c++;
        char *copy = c == t->n_columns ? shown_copy(field) : NULL;
        if (copy) t->columns[t->n_columns++] = (export_column){copy, copy, EXPORT_WORDS, copy};
    }
}

cnn_status export_add(export_table *tables, int count, const cnn_record *record, bool whole, cnn_error *err)
{
    const char *name = table_of(record_get_text(record, "kind"));
    for (int i = 0; name && i < count; i++) {
        export_table *t = &tables[i];
        if (strcmp(t->name, name) != 0) continue;
        export_row *rows = cnn_grow(t->rows, t->count, &t->capacity, sizeof *rows, t->what, err);
        if (!rows) return err->status;
        t->rows = rows;
        export_row *row = &rows[t->count++];
        if (whole) add_columns(t, record);
        memset(row, 0, sizeof *row);
        for (int c = 0; c < t->n_columns; c++) row->cells[c] = cell_of(record, t->columns[c].field);
    }
    return CNN_OK;
}
