/* help.c: --help, from the tables options.inc, commands.inc and help.inc. */
#include "cli/table.h"
#include "options.h"

#include <stdio.h>
#include <string.h>

/* What an option means in a command. */
static const char *text_of(const option_row *row, char letter)
{
    static const struct {
        const char *commands, *option, *help;
    } own[] = {
#define HELP(commands, option, help) {commands, option, help},
#include "help.inc"
#undef HELP
    };
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (strcmp(own[i].option, row->name) == 0 && strchr(own[i].commands, letter)) return own[i].help;
    return row->help;
}

void cli_each_option(const command_row *c, cli_show_option *show)
{
    for (int i = 0; i < cli_n_rows; i++)
        if (cli_takes(c, cli_rows[i].commands)) show(&cli_rows[i], text_of(&cli_rows[i], c->letter));
}

const char *cli_default_text(const option_row *row, char text[64])
{
    text[0] = '\0';
    const char *usual = row->words != NULL ? row->words[0] : row->text;
    if (usual != NULL) snprintf(text, 64, "%s", usual);
    if (row->usual > 0) snprintf(text, 64, "%g", row->usual);
    return text;
}

static void print_option(const option_row *row, const char *text)
{
    char left[64], usual[64];
    snprintf(left, sizeof left, "--%s %s", row->name, row->metavar != NULL ? row->metavar : "");
    const bool shown = cli_default_text(row, usual)[0] != '\0';
    table_print(27, "  %-24s %s%s%s%s\n", left, text, shown ? " [" : "", usual, shown ? "]" : "");
}

const exit_meaning cli_exit_meanings[] = {
    {EXIT_HELD, "all held"},
    {EXIT_FAILED, "something failed: a check, a kernel, a device, a goal of training"},
    {EXIT_USAGE, "wrong usage, bad input, or a file that cannot be read or written"},
    {EXIT_NOTHING, "nothing ran: no implementation here can do what was asked"},
    {130, "interrupted (Ctrl-C)"},
    {0, NULL}};

static void print_program(void)
{
    printf("benchcnn: benchmarking and verification of CNN kernels\n\nusage: benchcnn COMMAND [WORDS] [OPTIONS]\n\n");
    for (int i = 0; i < cli_n_commands; i++) table_print(14, "  %-11s %s\n", cli_commands[i].name, cli_commands[i].doc);
    printf("  %-11s %s\n", "help", "this, or what `benchcnn COMMAND --help` says: benchcnn help [COMMAND]");
    printf("\n`benchcnn COMMAND --help` shows a command's words and options, `benchcnn --version` the version. Try "
           "first:\n\n"
           "  benchcnn verify --impl cpu                          is every kernel right?\n"
           "  benchcnn bench --impl cpu --net thesis --batch 100  how fast is each layer?\n"
           "  benchcnn train --net thesis --impl cpu:direct       train it on MNIST, and time an epoch\n\n"
           "Exit status:\n");
    for (int i = 0; cli_exit_meanings[i].text != NULL; i++)
        printf("  %-4d %s\n", cli_exit_meanings[i].status, cli_exit_meanings[i].text);
}

void cli_help(const char *command)
{
    cnn_error err;
    const command_row *c = cli_find_command(command, &err);
    if (c == NULL) {
        print_program();
        return;
    }
    table_print(4, "benchcnn %s: %s\n\nusage: benchcnn %s %s\n\n", command, c->doc, command, c->usage);
    cli_each_option(c, print_option);
}
