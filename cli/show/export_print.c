/* export_print.c: rows as text, Markdown and CSV. */
#include "cli/bench/parts.h"
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
    char *end;
    const double value = cell ? strtod(cell, &end) : 0;
    const bool number = cell && column->kind != EXPORT_WORDS && end != cell && *end == '\0';
    if (!number)
        snprintf(text, CELL_MAX, "%s", cell ? cell : "");
    else if (column->kind == EXPORT_SECONDS)
        bench_time_text(value, text, CELL_MAX);
    else if (column->kind == EXPORT_SHARE)
        snprintf(text, CELL_MAX, "%.1f %%", 100 * value);
    else /* whole above a thousand, but for what is too large to be read so */
        snprintf(text, CELL_MAX, fabs(value) >= 1000 && fabs(value) < 1e7 ? "%.0f" : "%.4g", value);
}

static bool is_empty(const export_table *t, int c)
{
    for (int i = 0; i < t->count; i++)
        if (t->rows[i].cells[c] && t->rows[i].cells[c][0] != '\0') return false;
    return true;
}

/* A problem's name and a knob's list may hold what ends a cell. */
static void print_cell(const char *text)
{
    for (; *text != '\0'; text++) printf(*text == '|' ? "\\%c" : "%c", *text);
}

static void print_markdown(const export_table *t)
{
    char text[CELL_MAX];
    for (int c = 0; c < t->n_columns; c++)
        if (!is_empty(t, c)) printf("| %s ", t->columns[c].title);
    fputs("|\n", stdout);
    for (int c = 0; c < t->n_columns; c++)
        if (!is_empty(t, c)) fputs(t->columns[c].kind == EXPORT_WORDS ? "|---" : "|---:", stdout);
    fputs("|\n", stdout);
    for (int i = 0; i < t->count; i++) {
        for (int c = 0; c < t->n_columns; c++) {
            if (is_empty(t, c)) continue;
            readable(&t->columns[c], t->rows[i].cells[c], text);
            fputs("| ", stdout);
            print_cell(text);
            putchar(' ');
        }
        fputs("|\n", stdout);
    }
}

static int width_of(const export_table *t, int c)
{
    char text[CELL_MAX];
    int width = table_width(t->columns[c].title);
    for (int i = 0; i < t->count; i++) {
        readable(&t->columns[c], t->rows[i].cells[c], text);
        if (table_width(text) > width) width = table_width(text);
    }
    return width;
}

/* Numbers at the right of their column, words at its left. printf would count bytes. */
static void put_padded(FILE *line, const export_column *column, const char *text, int width)
{
    const int blanks = width - table_width(text);
    const bool words = column->kind == EXPORT_WORDS;
    fprintf(line, "%*s%s%*s  ", words ? 0 : blanks, "", text, words ? blanks : 0, "");
}

static cnn_status print_text(const export_table *t, cnn_error *err)
{
    int widths[EXPORT_COLUMNS];
    char text[CELL_MAX];
    for (int c = 0; c < t->n_columns; c++) widths[c] = is_empty(t, c) ? 0 : width_of(t, c);
    for (int i = -1; i < t->count; i++) { /* -1: the titles */
        char *line = NULL;
        size_t size;
        FILE *stream = open_memstream(&line, &size);
        if (!stream) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a line of a table");
        for (int c = 0; c < t->n_columns; c++) {
            if (widths[c] == 0) continue;
            if (i >= 0) readable(&t->columns[c], t->rows[i].cells[c], text);
            put_padded(stream, &t->columns[c], i < 0 ? t->columns[c].title : text, widths[c]);
        }
        if (fclose(stream) == 0) table_print(4, "%s\n", line);
        free(line);
    }
    return CNN_OK;
}

cnn_status export_print(const export_table *table, export_format format, cnn_error *err)
{
    cnn_status status = CNN_OK;
    if (format == EXPORT_CSV) print_csv(table);
    if (format == EXPORT_MARKDOWN) print_markdown(table);
    if (format == EXPORT_TEXT) status = print_text(table, err);
    if (status == CNN_OK && (fflush(stdout) != 0 || ferror(stdout)))
        return CNN_FAIL(err, CNN_IO, "the table cannot be written whole: is the disk full?");
    return status;
}
