/* report.h: what `train` is at work on, and what it shows and records of it. */
#ifndef CLI_TRAIN_REPORT_H
#define CLI_TRAIN_REPORT_H

#include "bench/epoch.h"
#include "cli/output.h"
#include "cli/tuned/tuned.h"

/* Over all processes of the command (watch.kept). */
typedef struct train_sums {
    int trained, diverged, failed,
        missed; /* failed: steps were wrong; missed: ended without the loss of --until-loss */
} train_sums;

typedef struct train {
    const cli_options *options;
    cli_type_set types;
    trainer_params params; /* but for the algorithm */
    int64_t batch, epochs;
    cli_sessions sessions;
    cli_tuned *tuned;
    dataset data;
    cli_output output;
    cli_progress progress;
    double *losses; /* of the steps of an epoch, with --losses */
    int64_t n_losses;
    char build[BUILD_ID_MAX];
    train_sums *sums;
    int64_t number; /* of the next run */
} train;

/* One training run. */
typedef struct train_run {
    train *all;
    const cnn_session *session;
    const char *algorithm;
    tuned_net *tuned; /* what each layer takes, when `algorithm` is "tuned"; else NULL */
    const cnn_network *network;
    trainer *trainer;
    double setup_s, train_seconds;
    int64_t epochs_run;
    verify_training *check;
    verify_training_result checked; /* of the epoch at hand */
    bool diverged;                  /* the loss of one was not finite */
    bool failed;                    /* steps of one were wrong: it was the last */
    clock_watch *watch;             /* what else the machine did; NULL where nothing is timed */
    clock_report clocks;            /* of the epoch at hand */
    double looked;                  /* when, in an epoch, the GPU's clock was last read */
    epoch_sum sum;
} train_run;

/* Everything that two epochs must share to be compared. */
void train_setting(const train_run *r, epoch_setting *setting);
void train_print_head(const train_run *r);
cnn_status train_report_epoch(train_run *r, int64_t epoch, const trainer_result *e, cnn_error *err);
/* Behind the last epoch: the median where there are several, what marks mean, and that a training diverged. */
void train_report_end(const train_run *r);
/* Nothing without --profile; nothing without --losses. */
cnn_status train_report_profile(train_run *r, int64_t epoch, const trainer_result *e, cnn_error *err);
cnn_status train_report_losses(const train_run *r, int64_t epoch, cnn_error *err);
/* NaN is the time of what is emulated. */
const char *train_time_text(double seconds, char text[32]);

#endif
