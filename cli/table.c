/* table.c: folding lines at blanks, and shortening names. */
#include "table.h"

#include "harness/base/text.h"

#include "bench/measure/stats.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { NARROWEST = 40 }; /* a window that says it is narrower is not believed */

int table_columns_of(FILE *file)
{
    struct winsize window;
    const int fd = fileno(file);
    if (!isatty(fd)) return 0;
    if (ioctl(fd, TIOCGWINSZ, &window) != 0 || window.ws_col < NARROWEST) return TABLE_COLUMNS;
    return window.ws_col;
}

static bool begins_letter(char c) { return ((unsigned char)c & 0xC0) != 0x80; }

int table_width(const char *text)
{
    int width = 0;
    for (; *text != '\0'; text++) width += begins_letter(*text);
    return width;
}

int table_field(const char *text, int columns) { return columns + (int)strlen(text) - table_width(text); }

/* What others wrote is shown, not obeyed: line ends alone are the program's own. NULL: no memory. */
static char *shown_lines(const char *text)
{
    char *whole = NULL, shown[CNN_SHOWN_MAX];
    size_t size;
    FILE *stream = open_memstream(&whole, &size);
    for (const char *at = text; stream != NULL && *at != '\0';) {
        if (*at == '\n') {
            fputc(*at++, stream);
            continue;
        }
        at += cnn_show_character(at, shown);
        fputs(shown, stream);
    }
    if (stream != NULL && fclose(stream) == 0) return whole;
    free(whole);
    return NULL;
}

/* Where a line of so many columns must end: at its last blank behind `hang`, or, where a word is too long, within it.
 */
static size_t fold(const char *line, size_t length, int hang, int columns)
{
    size_t blank = 0, at = 0;
    for (int width = 0; at < length; at++) {
        if (begins_letter(line[at]) && width++ == columns) break;
        if (line[at] == ' ' && width > hang + 1) blank = at;
    }
    return at == length ? length : line[at] == ' ' ? at : blank > 0 ? blank : at;
}

static void print_line(FILE *to, const char *line, size_t length, int hang, int columns)
{
    while (length > 0 && line[length - 1] == ' ') length--;
    size_t part = columns > 0 ? fold(line, length, hang, columns) : length;
    fprintf(to, "%.*s\n", (int)part, line);
    while (part < length) {
        line += part;
        length -= part;
        for (; *line == ' '; line++) length--;
        part = fold(line, length, 0, columns - hang);
        fprintf(to, "%*s%.*s\n", hang, "", (int)part, line);
    }
}

void table_print_to(FILE *to, int hang, const char *format, ...)
{
    char *text = NULL;
    size_t size;
    va_list args;
    va_start(args, format);
    FILE *stream = open_memstream(&text, &size);
    const bool put = stream != NULL && vfprintf(stream, format, args) >= 0;
    va_end(args);
    const bool whole = stream != NULL && fclose(stream) == 0 && put;
    char *shown = whole ? shown_lines(text) : NULL;
    if (shown == NULL) fputs("benchcnn: no memory for a line of output\n", stderr);
    const int columns = hang == TABLE_UNFOLDED ? 0 : table_columns_of(to);
    for (const char *line = shown; line != NULL && *line != '\0';) {
        const size_t length = strcspn(line, "\n");
        print_line(to, line, length, hang, columns);
        line += length + (line[length] == '\n');
    }
    free(shown);
    free(text);
}

const char *table_shorten(const char *text, int columns, char *room, size_t size)
{
    const int width = table_width(text), head = (columns - 1) / 2, tail = columns - 1 - head;
    if (table_columns() == 0 || width <= columns || columns < 3) return text;
    size_t first = 0, last = 0;
    for (int i = 0; first < strlen(text) && (i < head || !begins_letter(text[first])); first++)
        i += begins_letter(text[first + 1]);
    for (int i = 0; text[last] != '\0' && i < width - tail; last++) i += begins_letter(text[last + 1]);
    snprintf(room, size, "%.*s…%s", (int)first, text, text + last);
    return room;
}

void table_legend(unsigned marks)
{
    for (int i = 0; i < BENCH_MARK_COUNT; i++)
        if (marks >> i & 1u) table_print(4, "  %s: %s\n", bench_mark_name(i), bench_mark_meaning(i));
}
