/* ranks.h: commands over ranks (harness/ranks): rank 0 speaks and writes, each has cores and a device of its own, and
 * all must be alike. Nothing of it does anything where `ranks` is NULL. */
#ifndef CLI_RANKS_H
#define CLI_RANKS_H

#include "cli.h"
#include "harness/ranks/ranks.h"

/* Whether there are ranks. *own are then the options as they are for this one: its threads and its device; rank 0 alone
 * has files, and speaks. Program, MPI and options that differ are refused. */
cnn_status cli_ranks_open(const cli_options *options, cli_options *own, ranks **result, cnn_error *err);
/* The same where rank 0 gives work to the others and does none itself: it takes no cores and no device. */
cnn_status cli_ranks_open_giver(const cli_options *options, cli_options *own, ranks **result, cnn_error *err);
/* Ends all ranks with this error, unless there is none, or all know of it (ranks_agree). */
void cli_ranks_abort(ranks *r, cnn_status status, const cnn_error *err);
/* Refused, with the lowest rank whose bytes are not those of rank 0: "rank 2 of 4 has WHAT than rank 0: ADVICE". */
cnn_status cli_ranks_alike(ranks *r, const char *what, const void *mine, size_t bytes, const char *advice,
                           cnn_error *err);
/* One a rank, to be freed; the key is its number, the value its host and device. Two on one device are refused where
 * the device adds up by itself, which takes one rank each. */
cnn_status cli_ranks_devices(ranks *r, const cnn_session *session, record_pair **all, cnn_error *err);

#endif
