/* tuned.h: `--impl NAME:tuned`: for each problem the algorithm, threads and knobs that a sweep kept in the file --tune.
 * A choice that is stale, or of which there is none, is said once, and the default is taken: the first algorithm that
 * supports the problem. */
#ifndef CLI_TUNED_TUNED_H
#define CLI_TUNED_TUNED_H

#include "cli/sessions.h"
#include "harness/net/trainer.h"
#include "harness/record/tuning.h"

#define TUNED_FILE "tuning.jsonl" /* without --tune */

typedef struct cli_tuned cli_tuned;

/* Whether --impl names it, for any implementation; for the session's. */
bool cli_wants_tuned(const cli_sessions *sessions, const cnn_session *session);

/* NULL, which all others accept, when nothing is to be tuned. A file that --tune names must be there, unless the
 * command `keeps` choices there. */
cnn_status cli_tuned_open(const cli_options *options, const cli_sessions *sessions, bool keeps, cli_tuned **result,
                          cnn_error *err);
void cli_tuned_close(cli_tuned *t);
/* What was read; NULL: no file. */
const tuning *cli_tuned_file(const cli_tuned *t);

typedef struct tuned_pick {
    tuning_state state;
    const tuning_choice *choice; /* when kept, else NULL */
    const cnn_session *session;  /* with the choice's threads and knobs, --set winning over these; the base one when it
                                    has these already. Open until cli_tuned_close() */
    cnn_algorithm algorithm;
} tuned_pick;

/* base: the session of the command's own threads and knobs. CNN_UNSUPPORTED: the implementation does not do it. */
cnn_status cli_tuned_pick(cli_tuned *t, const cnn_session *base, const cnn_problem *problem, cnn_dir dir,
                          tuned_pick *pick, cnn_error *err);
/* Finding alone; `quiet`: nothing is said. *choice NULL unless kept. */
tuning_state cli_tuned_find(cli_tuned *t, const cnn_session *base, const cnn_problem *problem, cnn_dir dir, bool quiet,
                            const tuning_choice **choice);
/* The session with the choice's threads and knobs, opened once for all choices with the same ones; the base one where
 * it has these. */
cnn_status cli_tuned_session(cli_tuned *t, const cnn_session *base, const tuning_choice *choice,
                             const cnn_session **session, cnn_error *err);
void cli_tuned_say(cli_tuned *t, const char *text); /* on standard error, each text once */
/* "im2col threads=1 im2col.block_kib=64", and why the default where it is that. */
void cli_tuned_text(const tuned_pick *pick, char *text, size_t size);

/* tuned_net.c: a network: each layer's algorithms are its own, but it runs in one context, so threads and knobs that
 * its operations do not agree about are those of the one that takes longest, which is said. */
typedef struct tuned_net {
    char algorithms[NET_MAX_LAYERS][CNN_DIR_COUNT][CNN_NAME_MAX]; /* "": the default */
    const cnn_session *session;
    char text[4096]; /* "conv1 FWD direct, conv1 BWD_W im2col": for the record */
} tuned_net;
cnn_status cli_tuned_net(cli_tuned *t, const cnn_session *base, const cnn_net *net, tuned_net *result, cnn_error *err);
/* For trainer_params.pick. */
const char *cli_tuned_layer(void *tuned, int layer, cnn_dir dir);
/* What each layer of an epoch took: what was tuned for it (tuned: NULL if nothing), or what its algorithm, a search,
 * settled on. */
void cli_record_choices(cnn_record *record, const trainer *t, const tuned_net *tuned);

#endif
