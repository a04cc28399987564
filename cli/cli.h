/* cli.h: the command line. Options are declared once, in options.inc; from that table come the parsing, the checks, the
 * nearest-name offers and the help. A command is one file cmd_NAME.c and one line in commands.inc. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "harness/cnn.h"
#include "harness/data/dataset.h"
#include "harness/device/impl.h"
#include "harness/problem/problem.h"
#include "harness/process/interrupt.h"
#include "harness/record/record.h"
#include "harness/record/resume.h"

/* Exit statuses of the command line (design: 0 all held, 1 something failed, 2 wrong usage or bad input, 3 nothing
 * ran). */
enum { EXIT_HELD = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_NOTHING = 3 };

enum { CLI_LIST_MAX = 256, CLI_OPTIONS_MAX = 128 };

typedef struct cli_list { /* an option that may be given more than once */
    const char *items[CLI_LIST_MAX];
    int count;
} cli_list;

/* Fields: TEXT const char * (NULL when not given), WORD const char * (as options.inc has it), INT int64_t, REAL double,
 * FLAG bool, LIST cli_list; INTS the first as an INT, and all as field_list, as given. */
typedef struct cli_options {
#define TEXT(name, field, ...) const char *field;
#define WORD(name, field, ...) const char *field;
#define INT(name, field, ...) int64_t field;
#define INTS(name, field, ...)                                                                                         \
    int64_t field;                                                                                                     \
    const char *field##_list;
#define REAL(name, field, ...) double field;
#define FLAG(name, field, ...) bool field;
#define LIST(name, field, ...) cli_list field;
#include "cli/options/options.inc"
#undef TEXT
#undef WORD
#undef INT
#undef INTS
#undef REAL
#undef FLAG
#undef LIST
    const cnn_registry *registry;  /* what --impl chooses from */
    struct kernel *kernel_made;    /* of --kernel: impl_kernel/kernel.h */
    char kernel_code[64];          /* what was compiled of it: among the plug-ins, as if it were one */
    char kernel_command[1024];     /* who compiled it */
    struct run_watch *watch;       /* whose code is called, for another process to know */
    const struct command_row *row; /* options/options.h */
    const char *command;           /* its name */
    const char *program;           /* as it was typed, where it has a path, else "benchcnn" */
    int n_lost;                    /* plug-ins left out, since loading them ended the process (--isolate) */
    bool none_left;                /* what was lost is all that --impl names */
    char impl_left[1024];
    bool over_ranks;              /* rank 0 gives the pieces: see pieces.h */
    FILE *records;                /* where they go, of --json or to rank 0; NULL: --json prints to standard output */
    struct record_keeper *keeper; /* in a run that is watched: of the process that holds them */
    char standard_input[32];
    bool seed_drawn;             /* verify without --seed: by the system */
    bool given[CLI_OPTIONS_MAX]; /* in the order of options.inc: see cli_given() */
    cli_list words;              /* positional arguments after the command */
    char *const *typed;          /* the command line's words, the program's name before them */
    int n_typed;
    char command_line[4096]; /* as typed, quoted for a shell: for the environment record */
} cli_options;

/* A command returns its exit status; on a failure it may instead fill err and return cli_fail(err). */
typedef int cli_command(const cli_options *options, cnn_error *err);
/* Its arguments alone, before anything is opened, written or run: what the command itself begins with, and what `run`
 * asks of every line of a recipe. */
typedef cnn_status cli_check(const cli_options *options, cnn_error *err);
#define COMMAND(name, ...)                                                                                             \
    cli_command cmd_##name;                                                                                            \
    cli_check args_##name;
#define TWO_WORDS(...)
#include "cli/options/commands.inc"
#undef COMMAND
#undef TWO_WORDS
cli_command cmd_sweep_ranks; /* of two words, and no other name of `sweep` or `train` */
cli_check args_sweep_ranks;

/* Prints "benchcnn: MESSAGE" to standard error; EXIT_USAGE for bad input of any kind, EXIT_FAILED for device and
 * internal errors, EXIT_NOTHING for what cannot run here, 130 for an interrupt. */
int cli_fail(const cnn_error *err);

/* plugins.c: a FAILED line and a record (kind "implementation") of each plug-in or implementation that ended a run
 * before this one outside of any case, and was not told yet; how many are added to *count. */
cnn_status cli_report_lost(const cli_options *options, record_sink *sink, int64_t *count, cnn_error *err);
/* Around a piece of a command's work, numbered in the order in which every run of the command comes to it. Mine: false:
 * a run before this one did it, or died of it; that is told here, and counted in watch->failed. */
cnn_status cli_begin_piece(const cli_options *options, int64_t number, const char *impl, const char *doing,
                           record_sink *sink, bool *mine, cnn_error *err);
void cli_end_piece(const cli_options *options);

/* Helpers that several commands share. */
bool cli_given(const cli_options *options, const char *option); /* whether --option stands on the command line */
typedef struct cli_type_set {                                   /* the product of --dtype and --layout lists, --math */
    cnn_type types[CNN_DTYPE_COUNT * CNN_LAYOUT_COUNT];
    int count;
} cli_type_set;
cnn_status cli_types(const cli_options *options, cli_type_set *set, cnn_error *err);
uint32_t cli_dirs(const cli_options *options, cnn_error *err); /* --dir as a mask of 1 << cnn_dir; 0 is an error */
uint32_t cli_ops(const cli_options *options, cnn_error *err);  /* --op as a mask of 1 << cnn_op; 0 is an error */
/* "5,10,20" -> integers in [min,max], each once. */
cnn_status cli_ints(const char *option, const char *text, int64_t min, int64_t max, int64_t *list, int capacity,
                    int *count, cnn_error *err);
/* What --data, --targets, --preprocess and --seed say of a data set. */
cnn_status cli_dataset(const cli_options *options, dataset_params *params, cnn_error *err);
cnn_session_params cli_session_params(const cli_options *options);
/* Adds " --NAME WORD" to a command, the word quoted for a shell. */
void cli_append_option(char *command, size_t size, const char *name, const char *word);
/* repeat.c: the command that repeats one case, quoted for a shell, as records hold it; and as it is printed, with the
 * program as it was typed, where that was not found by its name alone. */
enum { CLI_REPEAT_MAX = 4096 };
typedef struct cli_case {
    const char *command; /* "verify" */
    const cnn_session *session;
    const char *algorithm;
    const cnn_problem *problem; /* NULL: --net, in this type */
    int64_t batch;              /* of a network */
    cnn_dir dir;
    cnn_type type;
    int64_t seed;
} cli_case;
void cli_repeat(const cli_options *options, const cli_case *c, char *text, size_t size);
const char *cli_typed(const cli_options *options, const char *command, char *room, size_t size);
/* The sink of --out and --json; says what it had to cut off the file, and where it could not lock it. Of a run that is
 * watched the process that watches holds the file, and what --json prints to: what a plug-in prints itself goes to
 * standard error. */
cnn_status cli_sink_open(const cli_options *options, record_sink **sink, cnn_error *err);
cnn_status cli_sink_json(const cli_options *options, record_sink **sink, cnn_error *err); /* of --json alone */
/* Of a file that is not locked: --tune. */
cnn_status cli_sink_share(const cli_options *options, const char *path, record_sink **sink, cnn_error *err);
/* Of a file of records that was read: on standard error, unless there were none. */
void cli_say_bad_lines(const char *path, int bad);
/* Before hours are spent on it: that points are measured again. */
void cli_say_other_build(const char *path);
/* CNN_BAD_ARGUMENT when --out is to be written to `path` and this is the same file as another. NULL: not given. */
bool cli_same_file(const char *a, const char *b); /* by what it is: links and ./ lead to the same file */
cnn_status cli_keep_apart(const char *path, const char *other_option, const char *other, cnn_error *err);

/* Progress: a bar with rate and time left on a terminal, plain lines (every 10 s at most) elsewhere, nothing with
 * --quiet. */
typedef struct cli_progress {
    const char *what;
    double start, last;
    bool terminal, quiet, drawn;
} cli_progress;
void cli_progress_start(cli_progress *progress, const char *what, bool quiet);
void cli_progress_show(cli_progress *progress, double done, double total, const char *note);
void cli_progress_end(cli_progress *progress); /* clears the bar: at the end, and before any other line is printed */

/* output.c: the records of a command, and what an earlier run of it left in --out. */
typedef struct cli_output {
    record_sink *sink;
    resume *resume;
} cli_output;

/* Opens --out and --json. all_again: a command that was stopped does all of its work again (train, peaks, compare,
 * verify --fuzz); given once more with the same --out it writes only what it had not written, and says how much that
 * was. */
cnn_status cli_output_open(const cli_options *options, bool all_again, cli_output *output, cnn_error *err);
/* A run that goes on takes the seed that was drawn for it when it began. */
cnn_status cli_settle_seed(cli_options *options, cnn_error *err);
/* The first record, of the first of the command's runs. */
cnn_status cli_output_begin(const cli_options *options, const cli_output *output, cnn_error *err);
/* The command ran to its end, and will end with this status: the one to end with, another if that cannot be written. */
int cli_output_end(const cli_output *output, int exit_status);
void cli_output_close(cli_output *output);

/* shard.c: --shard I/N: of a command's cases, numbered from 0 in the order in which every run comes to them, those
 * whose number is I - 1 modulo N. All zeros, and without --shard: all of them. */
enum { CLI_SHARDS_MAX = 1000000 };
typedef struct cli_shard {
    int64_t number, of; /* number: I - 1 */
} cli_shard;
/* CNN_BAD_ARGUMENT where it is none, and of a command that has drawn its seed. */
cnn_status cli_shard_read(const cli_options *options, cli_shard *shard, cnn_error *err);
static inline bool cli_shard_has(const cli_shard *shard, int64_t place)
{
    return shard->of <= 1 || place % shard->of == shard->number;
}
/* Of so many cases, how many it has. */
int64_t cli_shard_count(const cli_shard *shard, int64_t cases);
/* Whether the shard has none of the cases that there are, which is no error: then that is said. */
bool cli_shard_empty(const cli_options *options, int64_t own, int64_t all);
/* From here on each record says the shard, and its host. */
void cli_shard_mark(const cli_options *options, record_sink *sink);

/* problems.c: what --problem, --problems, --mode, --no-bias and --mb come to, for all commands. */
typedef struct problem_entry {
    char text[CNN_PROBLEM_TEXT_MAX];
    cnn_problem problem;
    cnn_op op;               /* CNN_OP_COUNT, of one that is refused: none that there is */
    cnn_problem_said said;   /* by its file */
    bool refused, malformed; /* the reason is in `why`; malformed: no descriptor at all */
    bool given;              /* by --problem */
    char why[CNN_MESSAGE_MAX];
} problem_entry;

typedef struct problem_list { /* free(items) */
    problem_entry *items;
    int count, capacity;
} problem_list;

/* What descriptors leave to options. */
/* braces.c: calls `each` for every descriptor that a word like "mb{1,8}ic16ih{7,14}" stands for, in their order. */
typedef cnn_status cli_word_fn(void *user, const char *word, cnn_error *err);
cnn_status cli_expand(const char *text, cli_word_fn *each, void *user, cnn_error *err);

/* CNN_BAD_ARGUMENT where --mb is a list, in words that go on with `what`. */
cnn_status cli_one_batch(const cli_options *o, const char *what, cnn_error *err);
cnn_status cli_epilogue(const cli_options *options, cnn_epilogue *epilogue, cnn_error *err);
cnn_problem_defaults cli_problem_defaults(const cli_options *options, const cnn_type *type);
/* Adds one. */
cnn_status cli_put_problem(problem_list *list, const cnn_problem *problem, cnn_error *err);
/* The same from its text; a bad one is an error. */
cnn_status cli_add_problem(problem_list *list, cnn_op op, const char *text, const cnn_problem_defaults *defaults,
                           bool given, cnn_error *err);
/* Adds those of --problem, of which a bad one is an error, then those of the files, of which a bad word is an entry;
 * what stands there twice comes once. --op, or conv, is the operation of those that do not say theirs. */
cnn_status cli_read_problems(const cli_options *options, const cnn_type *type, problem_list *list, cnn_error *err);
/* The type of a problem where this one is asked for: its file may say it. False: an earlier one of the set came to the
 * same. */
bool cli_type_of(const problem_entry *entry, const cli_type_set *set, int index, cnn_type *type);
/* The directions of those asked for that it has, in a type; with NULL, all that it has in any. */
uint32_t cli_dirs_of(const problem_entry *entry, const cnn_type *type, uint32_t dirs);
/* --problems -: what stands there is kept in a file without a name: it is read more than once, by several processes. */
cnn_status cli_take_standard_input(cli_options *options, cnn_error *err);
/* --match: only those whose text matches stay. */
cnn_status cli_keep_matching(const cli_options *options, problem_list *list, cnn_error *err);

#endif
