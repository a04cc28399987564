/* problems.h: what --problem, --problems, --mode, --no-bias and --mb come to, for all commands. */
#ifndef CLI_PROBLEMS_H
#define CLI_PROBLEMS_H

#include "cli/cli.h"

typedef struct problem_entry {
    char text[CNN_PROBLEM_TEXT_MAX];
    cnn_problem problem;
    bool refused, malformed; /* the reason is in `why`; malformed: no descriptor at all */
    bool given;              /* by --problem */
    char why[CNN_MESSAGE_MAX];
} problem_entry;

typedef struct problem_list { /* free(items) */
    problem_entry *items;
    int count, capacity;
} problem_list;

/* What descriptors leave to options. */
cnn_problem_defaults cli_problem_defaults(const cli_options *options, const cnn_type *type);
/* Adds one. */
cnn_status cli_put_problem(problem_list *list, const cnn_problem *problem, cnn_error *err);
/* The same from its text; a bad one is an error. */
cnn_status cli_add_problem(problem_list *list, cnn_op op, const char *text, const cnn_problem_defaults *defaults,
                           bool given, cnn_error *err);
/* Adds those of --problem, of which a bad one is an error, then those of the files, of which a bad word is an entry. */
cnn_status cli_read_problems(const cli_options *options, cnn_op op, const cnn_problem_defaults *defaults,
                             problem_list *list, cnn_error *err);

#endif
