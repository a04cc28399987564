/* problems.h: what `benchcnn verify` is to verify of an operation: --problem, --problems, or the built-in ones.
 */
#ifndef CLI_VERIFY_PROBLEMS_H
#define CLI_VERIFY_PROBLEMS_H

#include "cli/cli.h"

typedef struct problem_list {
    struct problem_entry {
        char text[CNN_PROBLEM_TEXT_MAX];
        cnn_problem problem;
        bool refused, malformed; /* the reason is in `why`; malformed: no descriptor at all */
        bool given;              /* on the command line itself */
        char why[CNN_MESSAGE_MAX];
    } * items;
    int64_t count, capacity;
} problem_list;

/* Anew, in one type. A bad --problem is an error, a bad word of a file an entry. Free list->items. */
cnn_status verify_list_problems(const cli_options *options, cnn_op op, const cnn_type *type, problem_list *list,
                                cnn_error *err);

#endif
