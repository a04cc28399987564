/* export.h: a table of records for others: text, Markdown, CSV. */
#ifndef CLI_SHOW_EXPORT_H
#define CLI_SHOW_EXPORT_H

#include "cli/cli.h"

enum { EXPORT_COLUMNS = 128, EXPORT_TABLES = 7 };

typedef enum export_format { EXPORT_TEXT, EXPORT_MARKDOWN, EXPORT_CSV } export_format;

typedef struct export_column {
    char *field, *title;
    char unit;  /* of its numbers: s, %, or none */
    bool words; /* it holds what is no number */
} export_column;

typedef struct export_row { /* a text a column, as in the record, texts without their quotes; NULL: no such field */
    char *cells[EXPORT_COLUMNS];
} export_row;

typedef struct export_table {
    const char *name, *what, *kinds;
    export_column columns[EXPORT_COLUMNS];
    int n_columns;
    export_row *rows;
    int count, capacity;
} export_table;

/* export.c: the tables of export.inc, empty. Free the rows. */
void export_tables(export_table tables[EXPORT_TABLES]);
void export_free(export_table *table);
/* Adds the record to the table that it belongs to, if there is one. `whole`: with a column for each of its fields. */
cnn_status export_add(export_table tables[EXPORT_TABLES], const cnn_record *record, bool whole, cnn_error *err);

/* export_print.c: to standard output. CSV holds what the record does, every column, and follows RFC 4180; the others
 * have units, and leave out columns without a value. */
cnn_status export_print(const export_table *table, export_format format, cnn_error *err);

#endif
