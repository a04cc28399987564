/* options.h: the tables of options and commands, the parser, the rules, the help; commands see only cli.h. */
#ifndef CLI_OPTIONS_OPTIONS_H
#define CLI_OPTIONS_OPTIONS_H

#include "cli/cli.h"
#include "harness/device/registry.h"
#include "harness/problem/names.h"

typedef enum option_kind { KIND_TEXT, KIND_WORD, KIND_INT, KIND_REAL, KIND_FLAG, KIND_LIST } option_kind;

typedef struct option_row {
    const char *name;
    option_kind kind;
    size_t offset; /* of the field in cli_options */
    const char *commands, *metavar, *help, *text;
    const char *const *words; /* of WORD, up to a NULL: the first is its default */
    double usual, min, max;   /* of INT, too: no whole number beyond 2^53 is taken */
    const char *lists;        /* of INTS: the commands that take several; else NULL */
    size_t list_at;           /* and the field of all of them */
} option_row;

extern const option_row cli_rows[];
extern const int cli_n_rows;
const option_row *cli_row(const char *name); /* NULL without one */

typedef struct command_row {
    const char *name;
    char letter;
    int least, most; /* words */
    const char *usage, *doc;
    cli_command *run;
    cli_check *args;
} command_row;

extern const command_row cli_commands[];
extern const int cli_n_commands;

/* Whether the command's letter is among these; "*": any is. */
bool cli_takes(const command_row *command, const char *letters);
/* Whether --impl names what is to run here; for plot and table it names what is in records, of any machine and plug-in.
 */
bool cli_runs_impl(const cli_options *options);

/* argv[1], but for `sweep batch` and `sweep ranks=1,2`, whose names are two words. */
const char *cli_command_name(int argc, char **argv);
/* NULL for an unknown name: the error offers the nearest. */
const command_row *cli_find_command(const char *name, cnn_error *err);
/* After cli_parse, of every command and of every line of a recipe: its arguments, before anything is opened or run. */
cnn_status cli_check_args(const cli_options *options, cnn_error *err);
/* argv[1] is the command. The options point to argv's words, and to `registry`, into which nothing is loaded yet. */
cnn_status cli_parse(cli_options *options, cnn_registry *registry, int argc, char **argv, cnn_error *err);
/* Loads the plug-ins, in a process that is watched (options->watch), and checks the knob settings. */
cnn_status cli_load(cli_options *options, cnn_registry *registry, cnn_error *err);
/* kernel/build.c: compiles the file of --kernel, if one is given and was not yet compiled; the plug-ins then have one
 * more. The compiler speaks for itself. CNN_BAD_ARGUMENT: it did not compile, or --args, --grid ... are wrong. */
cnn_status cli_kernel_build(cli_options *options, cnn_error *err);
void cli_kernel_free(cli_options *options); /* when no session of it is open any more */
/* kernel/watch.c: --watch: runs the command again each time the file changes; it ends with an error, as
 * CNN_INTERRUPTED does. */
cnn_status cli_kernel_watch(const cli_options *options, int argc, char **argv, cnn_error *err);
/* In the process that is watched, first of all: its code is in a file of this process, too. Nobody opens one of the
 * process that watches. */
void cli_kernel_forked(cli_options *options);
/* In the process that is watched: its code is loaded, and it is an implementation like others. */
cnn_status cli_kernel_load(const cli_options *options, cnn_registry *registry, cnn_error *err);
/* separate.c: the same of a plug-in (path) or of the kernel, in a process of its own, of which nothing is loaded here.
 */
cnn_status cli_separate_load(const cli_options *options, cnn_registry *registry, const char *path, bool kernel,
                             cnn_error *err);
/* In that process, where runner_is() says so: loads it, and answers until nobody asks any more. */
_Noreturn void cli_separate_serve(char **argv, char **words);
/* In that process: what was compiled of the kernel is an open file, `compiler` what compiled it. */
cnn_status cli_kernel_take(cli_options *options, cnn_registry *registry, int object, const char *compiler,
                           cnn_error *err);
/* plugins.c, for cli_load: into `registry`; --impl and --set lose the names of those that ended a run before this one
 * while they were loaded. */
cnn_status cli_load_plugins(cli_options *options, cnn_registry *registry, cnn_error *err);
/* option_rules.c: which options need another, and which contradict each other. */
cnn_status cli_check_rules(const cli_options *options, cnn_error *err);
/* help.c: to standard output; of one command, or ("") of the program. */
void cli_help(const char *command);
/* Each option that a command takes, with what it means there. */
typedef void cli_show_option(const option_row *row, const char *text);
void cli_each_option(const command_row *command, cli_show_option *show);
/* Its default, if there is one to show; "" otherwise. Returns text. */
const char *cli_default_text(const option_row *row, char text[64]);
typedef struct exit_meaning {
    int status;
    const char *text;
} exit_meaning;
extern const exit_meaning cli_exit_meanings[]; /* ends with a NULL text */
/* words.c: `benchcnn help --words [COMMAND]`, for the completion of shells (scripts/completion): a line for each word
 * that may follow, "WORD|VALUES|TEXT". VALUES are those that are known, with "@files" for files; "-" of a flag. An
 * empty WORD: VALUES are what the command takes beside options. */
void cli_words(const char *command);
/* manual.c: `benchcnn help --man`: the manual page, in roff. */
void cli_manual(void);

#endif
