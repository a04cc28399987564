/* option_table.c: the options, a row of options.inc each, and which of them were given. */
#include "options.h"

#include <string.h>

#define AT(field) offsetof(cli_options, field)
#define LIST_OF(...)                                                                                                   \
    (const char *const[]) { __VA_ARGS__ }
#define SET(what, ...)                                                                                                 \
    {                                                                                                                  \
        what, LIST_OF(__VA_ARGS__), sizeof LIST_OF(__VA_ARGS__) / sizeof(char *)                                       \
    }
const option_row cli_rows[] = {
#define TEXT(name, field, commands, metavar, usual, help)                                                              \
    {name, KIND_TEXT, AT(field), commands, metavar, help, .text = usual},
#define WORD(name, field, commands, metavar, help, ...)                                                                \
    {name, KIND_WORD, AT(field), commands, metavar, help, .words = SET("--" name, __VA_ARGS__)},
#define INT(name, field, commands, metavar, usually, least, most, help)                                                \
    {name, KIND_INT, AT(field), commands, metavar, help, .usual = usually, .min = least, .max = most},
#define REAL(name, field, commands, metavar, usually, least, most, help)                                               \
    {name, KIND_REAL, AT(field), commands, metavar, help, .usual = usually, .min = least, .max = most},
#define FLAG(name, field, commands, help) {name, KIND_FLAG, AT(field), commands, NULL, help, .text = NULL},
#define LIST(name, field, commands, metavar, help) {name, KIND_LIST, AT(field), commands, metavar, help, .text = NULL},
#include "options.inc"
#undef TEXT
#undef WORD
#undef INT
#undef REAL
#undef FLAG
#undef LIST
};
enum { ROWS = sizeof cli_rows / sizeof cli_rows[0] };
_Static_assert((int)ROWS <= (int)CLI_OPTIONS_MAX, "cli_options has no room for what was given");
const int cli_n_rows = ROWS;

const option_row *cli_row(const char *name)
{
    for (int i = 0; i < ROWS; i++)
        if (strcmp(cli_rows[i].name, name) == 0) return &cli_rows[i];
    return NULL;
}

bool cli_given(const cli_options *options, const char *option) { return options->given[cli_row(option) - cli_rows]; }
