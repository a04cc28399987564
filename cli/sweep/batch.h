/* batch.h: what the files of `benchcnn sweep batch` share. */
#ifndef CLI_SWEEP_BATCH_H
#define CLI_SWEEP_BATCH_H

#include "bench/epoch.h"
#include "cli/tuned/tuned.h"
#include "harness/net/trainer.h"
#include "parts.h"

enum { BATCHES_MAX = 64, CURVES_MAX = 64, BATCH_MOST = 60000 };

typedef struct curve { /* what is swept over the batch sizes */
    int session;
    const char *algorithm;
    cnn_type type;
    char label[3 * CNN_NAME_MAX];
} curve;

typedef struct batch_sweep {
    const cli_options *options;
    const char *net;       /* as given: a name or a file */
    epoch_setting network; /* as recorded: the fields that tell networks and builds apart */
    int64_t batches[BATCHES_MAX];
    int n_batches;
    curve curves[CURVES_MAX];
    int n_curves;
    cli_type_set types;
    trainer_params params; /* but for the algorithm */
    cli_sessions sessions;
    cli_tuned *tuned;
    const cnn_session *with[BATCHES_MAX][CURVES_MAX]; /* tuned curves: with what session; NULL: the curve's own */
    bool described[CNN_MAX_CHOICES];                  /* whose environment is recorded */
    clock_watch *watches[CNN_MAX_CHOICES];            /* one a session, opened with its first point */
    clock_report clocks;                              /* of the epoch at hand */
    double looked;                                    /* when, in an epoch, a GPU's clock was last read */
    const clock_watch *watch;                         /* the one at work */
    dataset data;
    epoch_table table; /* what --out held, and what was run since */
    record_sink *sink;
    cli_progress progress;
    int points, ran, kept, again, refused, diverged, failed; /* again: measured before, by another build */
} batch_sweep;

/* batch_set_up.c: options, network, data, sessions, curves, and what --out already holds. */
cnn_status batch_sweep_set_up(batch_sweep *s, cnn_error *err);

#endif
