/* export.c: which records belong to which table, and their fields as texts. */
#include "export.h"

#include "harness/base/grow.h"
#include "harness/base/text.h"

#include <stdlib.h>
#include <string.h>

/* FIELD[=TITLE][:UNIT],... */
static void add_columns(export_table *t, const char *list)
{
    for (size_t length; *list != '\0'; list += length + (list[length] == ',')) {
        const size_t field = strcspn(list, "=:,"), unit = strcspn(list, ":,"),
                     title = list[field] == '=' ? field + 1 : 0;
        length = strcspn(list, ",");
        export_column *c = &t->columns[t->n_columns];
        *c = (export_column){.field = strndup(list, field),
                             .title = strndup(list + title, unit - title),
                             .unit = list[unit] == ':' ? list[unit + 1] : '\0'};
        t->n_columns += c->field && c->title;
    }
}

void export_tables(export_table tables[EXPORT_TABLES])
{
    static const struct {
        const char *name, *what, *kinds, *columns;
    } lines[EXPORT_TABLES] = {
#define TABLE(name, what, kinds, columns) {name, what, kinds, columns},
#include "export.inc"
#undef TABLE
    };
    for (int i = 0; i < EXPORT_TABLES; i++) {
        tables[i] = (export_table){.name = lines[i].name, .what = lines[i].what, .kinds = lines[i].kinds};
        add_columns(&tables[i], lines[i].columns);
    }
}

void export_free(export_table *table)
{
    for (int c = 0; c < table->n_columns; c++) {
        for (int i = 0; i < table->count; i++) free(table->rows[i].cells[c]);
        free(table->columns[c].field);
        free(table->columns[c].title);
    }
    free(table->rows);
}

static bool takes(const export_table *t, const char *kind)
{
    for (int op = 0; op < CNN_OP_COUNT; op++)
        if (strcmp(cnn_op_name((cnn_op)op), kind) == 0) kind = "operation";
    const size_t length = strlen(kind);
    for (const char *at = t->kinds; at != NULL; at = strchr(at, ','), at = at ? at + 1 : NULL)
        if (strncmp(at, kind, length) == 0 && (at[length] == ',' || at[length] == '\0')) return true;
    return false;
}

/* A file's text may hold whatever JSON can: a row stays a row, and a terminal stays as it is. */
static char *shown_copy(const char *text)
{
    const size_t size = 4 * strlen(text) + 1;
    char *copy = malloc(size);
    if (copy) cnn_visible(text, copy, size);
    return copy;
}

static char *cell_of(const cnn_record *record, export_column *column)
{
    const char *text = record_get_text(record, column->field);
    char *value = record_json(record, column->field), *cell = NULL;
    if (value && strcmp(value, "null") != 0 && strcmp(value, "{}") != 0) {
        cell = shown_copy(text ? text : value);
        column->words = column->words || text || !strchr("-0123456789", value[0]);
    }
    free(value);
    return cell;
}

static void add_other_columns(export_table *t, const cnn_record *record)
{
    const char *field;
    for (int i = 0; (field = record_field(record, i)) != NULL && t->n_columns < EXPORT_COLUMNS; i++) {
        int c = 0;
        while (c < t->n_columns && strcmp(t->columns[c].field, field) != 0) c++;
        char *copy = c == t->n_columns ? shown_copy(field) : NULL;
        if (copy) t->columns[t->n_columns++] = (export_column){.field = copy};
    }
}

cnn_status export_add(export_table tables[EXPORT_TABLES], const cnn_record *record, bool whole, cnn_error *err)
{
    for (int i = 0; i < EXPORT_TABLES; i++) {
        export_table *t = &tables[i];
        if (!takes(t, record_get_text(record, "kind"))) continue;
        export_row *row = cnn_add_item(&t->rows, &t->count, &t->capacity, sizeof *row, t->what, err);
        if (!row) return err->status;
        if (whole) add_other_columns(t, record);
        for (int c = 0; c < t->n_columns; c++) row->cells[c] = cell_of(record, &t->columns[c]);
    }
    return CNN_OK;
}
