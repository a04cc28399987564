/* export_print.c: rows as text, Markdown and CSV. */
#include "bench/measure/stats.h"
#include "cli/table.h"
#include "export.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELL_MAX = 1024 };

/* ---- CSV */

static void print_quoted(const char *cell)
{
    if (cell[strcspn(cell, "\",\r\n")] == '\0') {
        fputs(cell, stdout);
        return;
    }
    putchar('"');
    for (; *cell != '\0'; cell++) printf(*cell == '"' ? "\"%c" : "%c", *cell);
    putchar('"');
}

static void print_csv(const export_table *t)
{
    for (int c = 0; c < t->n_columns; c++) {
        if (c) putchar(',');
        print_quoted(t->columns[c].field);
    }
    fputs("\r\n", stdout);
    for (int i = 0; i < t->count; i++) {
        for (int c = 0; c < t->n_columns; c++) {
            if (c) putchar(',');
            if (t->rows[i].cells[c]) print_quoted(t->rows[i].cells[c]);
        }
        fputs("\r\n", stdout);
    }
}

/* ---- For people */

static void readable(const export_column *column, const char *cell, char text[CELL_MAX])
{
    const double value = cell && !column->words ? strtod(cell, NULL) : 0;
    if (!cell || column->words)
        snprintf(text, CELL_MAX, "%s", cell ? cell : "");
    else if (column->unit == 's')
        bench_time_text(value, text, CELL_MAX);
    else if (column->unit == '%')
        snprintf(text, CELL_MAX, "%.1f %%", 100 * value);
    else /* whole above a thousand, but for what is too large to be read so */
        snprintf(text, CELL_MAX, fabs(value) >= 1000 && fabs(value) < 1e7 ? "%.0f" : "%.4g", value);
}

/* 0: no row has a value there. */
static int width_of(const export_table *t, int c)
{
    char text[CELL_MAX];
    int width = 0;
    for (int i = 0; i < t->count; i++) {
        readable(&t->columns[c], t->rows[i].cells[c], text);
        if (table_width(text) > width) width = table_width(text);
    }
    return width > 0 && table_width(t->columns[c].title) > width ? table_width(t->columns[c].title) : width;
}

/* Numbers at the right of their column, words at its left. printf would count bytes. */
static void put_text(FILE *line, const export_column *column, const char *text, int width)
{
    const int blanks = width - table_width(text);
    fprintf(line, "%*s%s%*s  ", column->words ? 0 : blanks, "", text, column->words ? blanks : 0, "");
}

/* A problem's name and a knob's list may hold what ends a cell. */
static void put_markdown(FILE *line, const char *text)
{
    fputs("| ", line);
    for (; *text != '\0'; text++) fprintf(line, *text == '|' ? "\\%c" : "%c", *text);
    fputc(' ', line);
}

static void print_rule(const export_table *t, const int *widths)
{
    for (int c = 0; c < t->n_columns; c++)
        if (widths[c] > 0) fputs(t->columns[c].words ? "|---" : "|---:", stdout);
    fputs("|\n", stdout);
}

static cnn_status print_for_people(const export_table *t, bool markdown, cnn_error *err)
{
    int widths[EXPORT_COLUMNS];
    char text[CELL_MAX];
    for (int c = 0; c < t->n_columns; c++) widths[c] = width_of(t, c);
    for (int i = -1; i < t->count; i++) { /* -1: the titles */
        char *line = NULL;
        size_t size;
        FILE *stream = open_memstream(&line, &size);
        if (!stream) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a line of a table");
        for (int c = 0; c < t->n_columns; c++) {
            if (widths[c] == 0) continue;
            if (i >= 0) readable(&t->columns[c], t->rows[i].cells[c], text);
            const char *cell = i >= 0 ? text : t->columns[c].title;
            if (markdown)
                put_markdown(stream, cell);
            else
                put_text(stream, &t->columns[c], cell, widths[c]);
        }
        const bool made = fclose(stream) == 0;
        if (made && markdown) printf("%s|\n", line);
        if (made && !markdown) table_print(4, "%s\n", line);
        if (markdown && i < 0) print_rule(t, widths);
        free(line);
    }
    return CNN_OK;
}

cnn_status export_print(const export_table *table, export_format format, cnn_error *err)
{
    cnn_status status = CNN_OK;
    if (format == EXPORT_CSV) print_csv(table);
    if (format != EXPORT_CSV) status = print_for_people(table, format == EXPORT_MARKDOWN, err);
    if (status == CNN_OK && (fflush(stdout) != 0 || ferror(stdout)))
        return CNN_FAIL(err, CNN_IO, "the table cannot be written whole: is the disk full?");
    return status;
}
