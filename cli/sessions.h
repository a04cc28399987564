/* sessions.h: the implementations that --impl chooses, opened once each. */
#ifndef CLI_SESSIONS_H
#define CLI_SESSIONS_H

#include "cli.h"
#include "harness/net/tuned.h"
#include "harness/process/watch.h"

typedef struct cli_sessions {
    cnn_session list[CNN_MAX_CHOICES];
    int count;
    cnn_choice choices[CNN_MAX_CHOICES];
    int n_choices;
    run_watch *watch; /* the options' */
} cli_sessions;

/* One that cannot run here, or is emulated where it is `to_time`, is an error when it was chosen by name; with no
 * --impl or a glob it is passed over with a word on standard error. None left: CNN_UNAVAILABLE; but CNN_OK where
 * some ended a process before this one, which was told: these are left out. */
cnn_status cli_sessions_open(const cli_options *options, bool to_time, cli_sessions *sessions, cnn_error *err);
void cli_sessions_close(cli_sessions *sessions);
/* Whether cli_sessions_open() would find what it needs on this machine: CNN_UNAVAILABLE, and why not. Opens nothing. */
cnn_status cli_sessions_probe(const cli_options *options, cnn_error *err);
/* What their implementations warn of (CNN_WARNING), on standard error, each thing once: by commands that time. */
void cli_say_warnings(const cli_sessions *sessions);
/* The environment record of list[index]. */
cnn_status cli_sessions_environment(const cli_sessions *sessions, int index, const char *command, record_sink *sink,
                                    cnn_error *err);
/* With --isolate: at which number the cases of list[session] begin, for all that comes before it and is left out. */
int64_t cli_sessions_behind(const cli_sessions *sessions, int session);
/* Whether --impl chooses this algorithm of the session's implementation. */
bool cli_chosen(const cli_sessions *sessions, const cnn_session *session, const cnn_algorithm *algorithm);

/* tuned.c: whether --impl NAME:tuned is among what is chosen: of the session's implementation; NULL: of any. */
bool cli_wants_tuned(const cli_sessions *sessions, const cnn_session *session);
/* NULL where nothing is to be tuned. A file that --tune names must be there, unless the command `keeps` choices there.
 */
cnn_status cli_tuned_open(const cli_options *options, const cli_sessions *sessions, bool keeps, tuned_book **result,
                          cnn_error *err);

/* The operation whose algorithms tell training runs apart: convolution; FC in a network without any. */
cnn_op cli_deciding_op(const cnn_net *net);
/* Whether this choice of the session's implementation lets a training run bear this algorithm's name: one that does the
 * network's deciding operation, or a trainer, which must be named unless nothing else of the implementation can train
 * the network. A trainer that cannot train it so is left out with a word on standard error where a glob chose it. */
bool cli_trains(const cnn_choice *choice, const cnn_session *session, const cnn_algorithm *algorithm,
                const cnn_network *network, const trainer_params *params);
/* Whether the algorithm takes the first of the network's layers that decide, in this type. */
bool cli_composes(const cnn_session *session, const cnn_algorithm *algorithm, const cnn_net *net, const cnn_type *type);
/* The first of these that takes the type, by which a choice trains that names no algorithm; NULL: none. One that cannot
 * train the network so, which says why when it is opened, is taken where there is no other. */
const char *cli_default_trainer(const cnn_choice *choice, const cnn_session *session, const cnn_network *network,
                                const cnn_type *type, const trainer_params *params);
/* CNN_BAD_ARGUMENT when no chosen algorithm is a trainer or does the network's deciding operation; a choice that does
 * not, beside others that do, is named on standard error. */
cnn_status cli_fitting(const cli_sessions *sessions, const cnn_net *net, cnn_error *err);

#endif
