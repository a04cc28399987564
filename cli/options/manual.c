/* manual.c: the manual page, made of the tables that --help is made of. */
#include "options.h"

#include <stdio.h>

/* Text as roff reads it back: a backslash, a hyphen that is one, and no line that begins like a request. */
static void put(const char *text)
{
    printf("\\&");
    for (; *text != '\0'; text++)
        if (*text == '\\')
            printf("\\e");
        else if (*text == '-')
            printf("\\-");
        else
            putchar(*text);
}

static void put_line(const char *before, const char *text)
{
    printf("%s", before);
    put(text);
    putchar('\n');
}

static void put_option(const option_row *row, const char *text)
{
    char usual[64];
    printf(".TP\n\\fB\\-\\-");
    put(row->name);
    printf("\\fR \\fI");
    put(row->metavar != NULL ? row->metavar : "");
    printf("\\fR\n");
    put_line("", text);
    if (cli_default_text(row, usual)[0] != '\0') put_line("Default: ", usual);
}

void cli_manual(void)
{
    printf(".TH BENCHCNN 1 \"\" \"benchcnn %s\" \"User Commands\"\n", BENCHCNN_VERSION);
    printf(".SH NAME\nbenchcnn \\- benchmarking and verification of CNN kernels\n"
           ".SH SYNOPSIS\n.B benchcnn\n.I COMMAND\n[words] [options]\n"
           ".SH DESCRIPTION\nbenchcnn compares kernels of convolution and of the other operations of CNNs with a "
           "float64 reference, times them, and trains networks with them.\n");
    printf(".SH COMMANDS\n");
    for (int i = 0; i < cli_n_commands; i++) {
        put_line(".SS benchcnn ", cli_commands[i].name);
        put_line("", cli_commands[i].doc);
        put_line(".PP\nWords and options: ", cli_commands[i].usage);
        cli_each_option(&cli_commands[i], put_option);
    }
    printf(".SH EXIT STATUS\n");
    for (int i = 0; cli_exit_meanings[i].text != NULL; i++) {
        printf(".TP\n%d\n", cli_exit_meanings[i].status);
        put_line("", cli_exit_meanings[i].text);
    }
    printf(".SH SEE ALSO\nThe files README.md and docs/*.md, in share/doc/benchcnn where it was installed.\n");
}
