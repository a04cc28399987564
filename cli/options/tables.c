/* tables.c: the options, a row of options.inc each, and the commands, a row of commands.inc each: finding them, and
 * which options were given. */
#include "options.h"

#include <string.h>

#define AT(field) offsetof(cli_options, field)
const option_row cli_rows[] = {
#define TEXT(name, field, commands, metavar, usual, help)                                                              \
    {name, KIND_TEXT, AT(field), commands, metavar, help, .text = usual},
#define WORD(name, field, commands, metavar, help, ...)                                                                \
    {name, KIND_WORD, AT(field), commands, metavar, help, .words = (const char *const[]){__VA_ARGS__, NULL}},
#define INT(name, field, commands, metavar, usually, least, most, help)                                                \
    {name, KIND_INT, AT(field), commands, metavar, help, .usual = usually, .min = least, .max = most},
#define INTS(name, field, commands, several, metavar, usually, least, most, help)                                      \
    {name,                                                                                                             \
     KIND_INT,                                                                                                         \
     AT(field),                                                                                                        \
     commands,                                                                                                         \
     metavar,                                                                                                          \
     help,                                                                                                             \
     .usual = usually,                                                                                                 \
     .min = least,                                                                                                     \
     .max = most,                                                                                                      \
     .lists = several,                                                                                                 \
     .list_at = AT(field##_list)},
#define REAL(name, field, commands, metavar, usually, least, most, help)                                               \
    {name, KIND_REAL, AT(field), commands, metavar, help, .usual = usually, .min = least, .max = most},
#define FLAG(name, field, commands, help) {name, KIND_FLAG, AT(field), commands, NULL, help, .text = NULL},
#define LIST(name, field, commands, metavar, help) {name, KIND_LIST, AT(field), commands, metavar, help, .text = NULL},
#include "options.inc"
#undef TEXT
#undef WORD
#undef INT
#undef INTS
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

const command_row cli_commands[] = {
#define COMMAND(name, letter, least, most, usage, doc)                                                                 \
    {#name, letter, least, most, usage, doc, cmd_##name, args_##name},
#define TWO_WORDS(name, letter, least, most, usage, doc, command)                                                      \
    {name, letter, least, most, usage, doc, cmd_##command, args_##command},
#include "commands.inc"
#undef COMMAND
#undef TWO_WORDS
};
enum { COMMANDS = sizeof cli_commands / sizeof cli_commands[0] };
const int cli_n_commands = COMMANDS;

const char *cli_command_name(int argc, char **argv)
{
    if (argc < 3 || strcmp(argv[1], "sweep") != 0) return argv[1];
    if (strcmp(argv[2], "ranks") == 0 || strncmp(argv[2], "ranks=", 6) == 0) return "sweep ranks";
    return strcmp(argv[2], "batch") == 0 ? "sweep batch" : argv[1];
}

const command_row *cli_find_command(const char *name, cnn_error *err)
{
    const char *names[COMMANDS];
    for (int i = 0; i < COMMANDS; i++) {
        if (strcmp(cli_commands[i].name, name) == 0) return &cli_commands[i];
        names[i] = cli_commands[i].name;
    }
    const cnn_name_set set = {"command", names, COMMANDS};
    cnn_name_find(&set, name, err);
    return NULL;
}

bool cli_takes(const command_row *c, const char *letters)
{
    return letters[0] == '*' || strchr(letters, c->letter) != NULL;
}
