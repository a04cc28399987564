/* tuned.h: `--impl NAME:tuned`: for each problem the algorithm, threads and knobs that a sweep kept in the file --tune.
 * A choice that is stale, or of which there is none, is said once, and the default is taken: the first algorithm that
 * supports the problem. */
#ifndef HARNESS_NET_TUNED_H
#define HARNESS_NET_TUNED_H

#include "harness/process/watch.h"
#include "harness/record/tuning.h"
#include "trainer.h"

typedef struct tuned_book tuned_book;

typedef struct tuned_params {
    const char *path;              /* the file; NULL: there is none, and all take their defaults */
    cnn_session_params given;      /* the command's own threads and knobs, which win over the tuned ones */
    run_watch *watch;              /* whose code is called */
    void (*say)(const char *text); /* a line for the user, each once */
} tuned_params;

cnn_status tuned_open(const tuned_params *params, tuned_book **result, cnn_error *err);
/* NULL is accepted by all. */
void tuned_close(tuned_book *t);
/* What was read; NULL: no file. */
const tuning *tuned_file(const tuned_book *t);

typedef struct tuned_pick {
    tuning_state state;
    const tuning_choice *choice; /* when kept, else NULL */
    const cnn_session *session;  /* with the choice's threads and knobs, --set winning over these; the base one when it
                                    has these already. Open until tuned_close() */
    cnn_algorithm algorithm;
} tuned_pick;

/* base: the session of the command's own threads and knobs. CNN_UNSUPPORTED: the implementation does not do it. */
cnn_status tuned_choose(tuned_book *t, const cnn_session *base, const cnn_problem *problem, cnn_dir dir,
                        tuned_pick *pick, cnn_error *err);
/* Finding alone; `quiet`: nothing is said. *choice NULL unless kept. */
tuning_state tuned_find(tuned_book *t, const cnn_session *base, const cnn_problem *problem, cnn_dir dir, bool quiet,
                        const tuning_choice **choice);
/* The session with the choice's threads and knobs, opened once for all choices with the same ones; the base one where
 * it has these. */
cnn_status tuned_session(tuned_book *t, const cnn_session *base, const tuning_choice *choice,
                         const cnn_session **session, cnn_error *err);
void tuned_say(tuned_book *t, const char *text); /* on standard error, each text once */
/* "im2col threads=1 im2col.block_kib=64", and why the default where it is that. */
void tuned_text(const tuned_pick *pick, char *text, size_t size);

/* tuned_net.c: a network: each layer's algorithms are its own, but it runs in one context, so threads and knobs that
 * its operations do not agree about are those of the one that takes longest, which is said. */
typedef struct tuned_net {
    char algorithms[NET_MAX_LAYERS][CNN_DIR_COUNT][CNN_NAME_MAX]; /* "": the default */
    const cnn_session *session;
    char text[4096]; /* "conv1 FWD direct, conv1 BWD_W im2col": for the record */
} tuned_net;
cnn_status tuned_for_net(tuned_book *t, const cnn_session *base, const cnn_net *net, tuned_net *result, cnn_error *err);
/* For trainer_params.pick. */
const char *tuned_layer(void *tuned, int layer, cnn_dir dir);

#endif
