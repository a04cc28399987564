/* option_table.c: the options, a row of options.inc each, and which of them were given. */
#include "options.h"

#include <string.h>

#define AT(field) .offset = offsetof(cli_options, field)
const option_row cli_rows[] = {
#define TEXT(n, field, c, m, usual, h)                                                                                 \
    {.name = n, .kind = KIND_TEXT, AT(field), .commands = c, .metavar = m, .text = usual, .help = h},
#define INT(n, field, c, m, usual, min, max, h)                                                                        \
    {.name = n,                                                                                                        \
     .kind = KIND_INT,                                                                                                 \
     AT(field),                                                                                                        \
     .commands = c,                                                                                                    \
     .metavar = m,                                                                                                     \
     .usual_int = usual,                                                                                               \
     .min_int = min,                                                                                                   \
     .max_int = max,                                                                                                   \
     .help = h},
#define REAL(n, field, c, m, usual, min, max, h)                                                                       \
    {.name = n,                                                                                                        \
     .kind = KIND_REAL,                                                                                                \
     AT(field),                                                                                                        \
     .commands = c,                                                                                                    \
     .metavar = m,                                                                                                     \
     .usual_real = usual,                                                                                              \
     .min_real = min,                                                                                                  \
     .max_real = max,                                                                                                  \
     .help = h},
#define FLAG(n, field, c, h) {.name = n, .kind = KIND_FLAG, AT(field), .commands = c, .help = h},
#define LIST(n, field, c, m, h) {.name = n, .kind = KIND_LIST, AT(field), .commands = c, .metavar = m, .help = h},
#include "options.inc"
#undef TEXT
#undef INT
#undef REAL
#undef FLAG
#undef LIST
};
enum { ROWS = sizeof cli_rows / sizeof cli_rows[0] };
_Static_assert((int)ROWS <= (int)CLI_OPTIONS_MAX, "cli_options has no room for what was given");
const int cli_n_rows = ROWS;

bool cli_given(const cli_options *options, const char *option)
{
    for (int i = 0; i < ROWS; i++)
        if (strcmp(cli_rows[i].name, option) == 0) return options->given[i];
    return false;
}
