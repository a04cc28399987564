/* export_print.c: rows as text, Markdown and CSV. */
#include "bench/measure/stats.h"
#include "cli/table.h"
#include "parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELL_MAX = 1024 };

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

/* Numbers stand at the right of their column, words at its left; printf would count bytes. */
static void put_text(FILE *line, const export_column *column, const char *cell, int width)
{
    const int blanks = width - table_width(cell);
    fprintf(line, "%*s%s%*s  ", column->words ? 0 : blanks, "", cell, column->words ? blanks : 0, "");
}

/* The text, with `mark` before each `special`: a problem's name and a knob's list may hold what ends a cell. */
static void put_marked(FILE *line, const char *cell, char special, char mark)
{
    for (; *cell != '\0'; cell++) {
        if (*cell == special) fputc(mark, line);
        fputc(*cell, line);
    }
}

/* A spreadsheet computes what begins like this, unless it is a number. */
static bool is_formula(const char *cell)
{
    char *end;
    if (cell[0] == '\0' || strchr("=+-@", cell[0]) == NULL) return false;
    strtod(cell, &end);
    return *end != '\0' || end == cell;
}

static void put_csv(FILE *line, const char *cell)
{
    const bool plain = cell[strcspn(cell, "\",\r\n")] == '\0';
    fputs(plain ? "" : "\"", line);
    if (is_formula(cell)) fputc('\'', line);
    put_marked(line, cell, '"', '"');
    fputs(plain ? "" : "\"", line);
}

/* Row -1: the titles. */
static void put_row(FILE *line, const export_table *t, int row, export_format format, const int *widths)
{
    char text[CELL_MAX];
    for (int c = 0; c < t->n_columns; c++) {
        const export_column *column = &t->columns[c];
        const char *cell = row < 0 ? column->title : t->rows[row].cells[c];
        if (format == EXPORT_CSV) {
            fputs(c > 0 ? "," : "", line);
            put_csv(line, row < 0 ? column->field : cell ? cell : "");
            continue;
        }
        if (widths[c] == 0) continue;
        if (row >= 0) readable(column, cell, text);
        if (format == EXPORT_TEXT) {
            put_text(line, column, row < 0 ? cell : text, widths[c]);
        } else {
            fputs("| ", line);
            put_marked(line, row < 0 ? cell : text, '|', '\\');
            fputc(' ', line);
        }
    }
}

static void print_rule(const export_table *t, const int *widths)
{
    for (int c = 0; c < t->n_columns; c++)
        if (widths[c] > 0) fputs(t->columns[c].words ? "|---" : "|---:", stdout);
    fputs("|\n", stdout);
}

cnn_status export_print(const export_table *t, export_format format, cnn_error *err)
{
    int widths[EXPORT_COLUMNS];
    for (int c = 0; c < t->n_columns; c++) widths[c] = format == EXPORT_CSV ? 0 : width_of(t, c);
    for (int i = -1; i < t->count; i++) {
        char *line = NULL;
        size_t size;
        FILE *stream = open_memstream(&line, &size);
        if (stream) put_row(stream, t, i, format, widths);
        if (!stream || fclose(stream) != 0) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a line of a table");
        if (format == EXPORT_TEXT)
            table_print(4, "%s\n", line);
        else
            printf(format == EXPORT_CSV ? "%s\r\n" : "%s|\n", line);
        if (format == EXPORT_MARKDOWN && i < 0) print_rule(t, widths);
        free(line);
    }
    if (fflush(stdout) != 0 || ferror(stdout))
        return CNN_FAIL(err, CNN_IO, "the table cannot be written whole: is the disk full?");
    return CNN_OK;
}
