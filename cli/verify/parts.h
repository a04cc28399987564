/* parts.h: what the files of `benchcnn verify` share: cmd_verify.c sets it up and ends it, problems.c
 * lists what is to be verified, cases.c goes through it, report.c says what came of it. */
#ifndef CLI_VERIFY_PARTS_H
#define CLI_VERIFY_PARTS_H

#include "cli/cli.h"
#include "cli/pieces.h"
#include "cli/sessions.h"
#include "report.h"

typedef struct verification {
    const cli_options *options;
    cli_sessions sessions;
    tuned_book *tuned;
    cli_type_set types;
    uint32_t ops, dirs;
    problem_list given; /* of --problem and --problems */
    verify_options settings;
    verify_report report;
    cli_progress progress;
    double done, total; /* problems */
    int64_t number;     /* of the next case */
    cli_shard shard;
    cli_pieces *pieces; /* over ranks; NULL: one process */
    int64_t own;        /* cases so far that are the shard's */
} verification;

/* cases.c: CNN_INTERRUPTED after Ctrl-C; all cases, of the problems or of --net. */
cnn_status verify_stop_if_interrupted(cnn_error *err);
/* Finds bad input before anything runs, and how much there is to do. */
cnn_status verify_look_ahead(verification *v, problem_list *list, cnn_error *err);
cnn_status verify_all(verification *v, problem_list *list, cnn_error *err);

/* cmd_verify.c. */
cnn_status verify_set_up(verification *v, cnn_error *err);
void verify_explain_nothing(const verification *v);
/* ranks.c: over ranks those of a host share its devices, in turn, where there are fewer. */
void verify_fit_device(cli_options *own);
/* All of it, over v->pieces; the exit status of this rank. */
int verify_over_ranks(verification *v, cnn_error *err);

#endif
