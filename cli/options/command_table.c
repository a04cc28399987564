/* command_table.c: the commands, a row of commands.inc each: finding one, the options it takes, its own look at its
 * arguments. */
#include "options.h"

#include "harness/problem/names.h"

#include <string.h>

const command_row cli_commands[] = {
#define COMMAND(name, letter, usage, doc) {#name, letter, usage, doc, cmd_##name, args_##name},
#include "commands.inc"
#undef COMMAND
};
enum { COMMANDS = sizeof cli_commands / sizeof cli_commands[0] };
const int cli_n_commands = COMMANDS;

cli_command *cli_find_command(const char *name, cnn_error *err)
{
    const char *names[COMMANDS];
    for (int i = 0; i < COMMANDS; i++) {
        if (strcmp(cli_commands[i].name, name) == 0) return cli_commands[i].run;
        names[i] = cli_commands[i].name;
    }
    const cnn_name_set set = {"command", names, COMMANDS};
    cnn_name_find(&set, name, err);
    return NULL;
}

bool cli_belongs(const option_row *row, const char *command)
{
    if (row->commands[0] == '*') return true;
    if (strcmp(command, "sweep") == 0 && cli_of_one_sweep(row)) return true;
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(cli_commands[i].name, command) == 0) return strchr(row->commands, cli_commands[i].letter) != NULL;
    return false;
}

cnn_status cli_check_args(const cli_options *options, cnn_error *err)
{
    static cnn_choice choices[CNN_MAX_CHOICES]; /* large: kept off the stack */
    int count;
    cnn_status status = CNN_OK;
    if (cli_runs_impl(options) && !options->none_left)
        status = cnn_choices_parse(options->registry, options->impl, choices, &count, err);
    for (int i = 0; status == CNN_OK && i < COMMANDS; i++)
        if (strcmp(cli_commands[i].name, options->command) == 0) status = cli_commands[i].args(options, err);
    return status;
}
