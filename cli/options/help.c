/* help.c: --help, from the tables options.inc, commands.inc and help.inc. */
#include "options.h"

#include <stdio.h>
#include <string.h>

/* The command's own text of an option, if it has one. */
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

static void print_option(const option_row *row, char letter)
{
    char left[64];
    snprintf(left, sizeof left, "--%s %s", row->name, row->metavar != NULL ? row->metavar : "");
    printf("  %-24s %s", left, text_of(row, letter));
    if (row->kind == KIND_TEXT && row->text != NULL) printf(" [%s]", row->text);
    if (row->kind == KIND_INT && row->usual_int >= row->min_int && row->usual_int != 0)
        printf(" [%lld]", (long long)row->usual_int);
    if (row->kind == KIND_REAL && row->usual_real > 0) printf(" [%g]", row->usual_real);
    printf("\n");
}

static void print_program(void)
{
    printf("benchcnn: benchmarking and verification of CNN kernels\n\nusage: benchcnn COMMAND [WORDS] [OPTIONS]\n\n");
    for (int i = 0; i < cli_n_commands; i++) printf("  %-11s %s\n", cli_commands[i].name, cli_commands[i].doc);
    printf("  %-11s %s\n", "help", "this, or what `benchcnn COMMAND --help` says: benchcnn help [COMMAND]");
    printf("\n`benchcnn COMMAND --help` shows a command's words and options, `benchcnn --version` the version.\n\n"
           "Exit status:\n"
           "  0    all held\n"
           "  1    something failed: a check, a kernel, a device, a goal of training\n"
           "  2    wrong usage, bad input, or a file that cannot be read or written\n"
           "  3    nothing ran: nobody does what was asked\n"
           "  130  interrupted (Ctrl-C)\n");
}

void cli_greet(void)
{
    printf("benchcnn proves CNN kernels right, times them, and trains with them. Try first:\n\n"
           "  benchcnn verify --impl cpu                          is every kernel right?\n"
           "  benchcnn bench --impl cpu --net thesis --batch 100  how fast is each layer?\n"
           "  benchcnn train --net thesis --impl cpu:direct       train it on MNIST, and time an epoch\n\n"
           "`benchcnn list` shows what can run here, `benchcnn --help` all commands.\n");
}

void cli_help(const char *command)
{
    const command_row *c = NULL;
    for (int i = 0; command != NULL && i < cli_n_commands; i++)
        if (strcmp(cli_commands[i].name, command) == 0) c = &cli_commands[i];
    if (c == NULL) {
        print_program();
        return;
    }
    printf("benchcnn %s: %s\n\nusage: benchcnn %s %s\n\n", command, c->doc, command, c->usage);
    for (int i = 0; i < cli_n_rows; i++)
        if (cli_concerns(cli_rows[i].commands, command)) print_option(&cli_rows[i], c->letter);
}
