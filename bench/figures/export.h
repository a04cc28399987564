/* export.h: records of one kind as a table for others. */
#ifndef BENCH_FIGURES_EXPORT_H
#define BENCH_FIGURES_EXPORT_H

#include "harness/record/record.h"

enum { EXPORT_COLUMNS = 128, EXPORT_TABLES = 11 };

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

/* The tables of export.inc, empty. */
void export_tables(export_table tables[EXPORT_TABLES]);
void export_free(export_table *table);
/* Adds the record to the table that it belongs to, if there is one. `whole`: with a column for each of its fields. */
cnn_status export_add(export_table tables[EXPORT_TABLES], const cnn_record *record, bool whole, cnn_error *err);

#endif
