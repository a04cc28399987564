/* table.h: lines of tables for whoever reads them. On a terminal no line is wider than it is:
 * what is longer goes on in the next line, indented. Elsewhere (a file, a pipe) a row is one line, whole, for grep and
 * awk. What others wrote (files, plug-ins) may stand in any of them: what a terminal would obey is shown as \x1b. */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include <stddef.h>
#include <stdio.h>

enum { TABLE_COLUMNS = 100 }; /* of a terminal that does not say */

/* The columns there are; 0: no terminal, lines are as long as they are. */
int table_columns_of(FILE *file);
#define table_columns() table_columns_of(stdout)
/* The columns that UTF-8 text takes: a letter each. */
int table_width(const char *text);
/* The width that gives it so many columns in printf, which counts bytes: "%*s". */
int table_field(const char *text, int columns);
/* printf of whole lines, folded at blanks; what goes on in a next line stands `hang` columns in. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void table_print_to(FILE *to, int hang, const char *format, ...);
#define table_print(hang, ...) table_print_to(stdout, hang, __VA_ARGS__)
/* The same unfolded: what is to be copied, and messages. */
enum { TABLE_UNFOLDED = -1 };
#define table_put(to, ...) table_print_to(to, TABLE_UNFOLDED, __VA_ARGS__)
/* The text in so many columns, "…" in its middle where it is longer; all of it where standard output is no terminal. */
const char *table_shorten(const char *text, int columns, char *room, size_t size);
/* A line for each mark (bench/measure/stats.h) that says what it means; nothing for 0. */
void table_legend(unsigned marks);

#endif
