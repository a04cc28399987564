/* parts.h: what the files of `benchcnn train` share. `benchcnn sweep batch` is the same command with other defaults.
 *
 * It trains points: each batch size with each curve, which is an algorithm of an implementation in one type. */
#ifndef CLI_TRAIN_PARTS_H
#define CLI_TRAIN_PARTS_H

#include "bench/epoch.h"
#include "bench/goal.h"
#include "bench/measure/energy.h"
#include "cli/cli.h"
#include "cli/ranks.h"
#include "cli/sessions.h"
#include "harness/net/schedule.h"
#include "harness/net/trainer.h"

enum { GOALS_MAX = 16 };
enum { BATCHES_MAX = 64, CURVES_MAX = 64, TRAIN_IMAGES_MOST = 60000 };

/* Sessions beside those of --impl: the same implementations with other numbers of threads. */
enum { TRAIN_OTHERS_MAX = 64, TRAIN_SESSIONS = CNN_MAX_CHOICES + TRAIN_OTHERS_MAX };

typedef struct train_curve {
    int session;           /* see train_session() */
    const char *algorithm; /* CNN_TUNED: each layer has its own */
    cnn_type type;
    char label[3 * CNN_NAME_MAX];
} train_curve;

typedef struct train_figure { /* of a point, for the table */
    double seconds;           /* the median of its epochs; 0: none has a figure */
    unsigned marks;
    bool diverged; /* the loss of one was not finite */
} train_figure;

/* Over all processes of the command (watch.kept). Trained: points, those that --out held among them; bad: those that
 * diverged, whose steps were wrong, or that ended without any goal. */
typedef struct train_sums {
    int trained, bad;
    train_figure figures[BATCHES_MAX][CURVES_MAX];
} train_sums;

typedef struct train {
    const cli_options *options;
    ranks *ranks;                         /* who trains along; NULL: nobody */
    cli_options own;                      /* with ranks, the options: as they are for this one */
    record_pair *devices[TRAIN_SESSIONS]; /* with ranks, those of a session: one a rank */
    bool sweep;      /* `sweep batch`: all that can be timed, unless --impl and the rest say otherwise */
    const char *net; /* as given: a name or a file */
    cli_type_set types;
    int64_t images[2];     /* --images: to train on, to test on */
    trainer_params params; /* but for the algorithm */
    rate_schedule schedule;
    goal_kind goal_of;
    double goals[GOALS_MAX]; /* of --until-loss or --until-accuracy, what is reached first first */
    int n_goals;
    int64_t batches[BATCHES_MAX], workers[BATCHES_MAX], epochs; /* workers: of each batch, 0 without exemplars */
    int n_batches;
    train_curve curves[CURVES_MAX];
    int n_curves;
    cli_sessions sessions;
    cnn_session others[TRAIN_OTHERS_MAX];
    int n_others;
    bool described[TRAIN_SESSIONS];       /* sessions whose environment is recorded */
    clock_watch *watches[TRAIN_SESSIONS]; /* one a session, opened with its first point; NULL: nothing is timed */
    tuned_book *tuned;
    dataset data;
    cli_output output;
    epoch_table table; /* what --out held */
    goal_table held;   /* and the goals there */
    bool other_build;  /* that points are measured again is said */
    cli_progress progress;
    char build[BUILD_ID_MAX];
    train_sums *sums;
} train;

/* One point. */
typedef struct train_run {
    train *all;
    const train_curve *curve;
    int number;      /* of the point, from 0 */
    int64_t workers; /* 0: not by exemplars */
    train_figure *figure;
    void *weights;              /* of --load; NULL: training begins with the initial ones */
    const cnn_session *session; /* the curve's, or one with tuned knobs */
    tuned_net *tuned;           /* what each layer takes, of a tuned curve; else NULL */
    cnn_network *network;       /* over ranks: with a rank's share of the batch */
    cnn_network *whole;         /* over ranks: with the batch; else NULL */
    uint64_t check_seed;        /* of the epoch at hand; 0: to be drawn */
    epoch_setting setting;      /* everything that two epochs must share to be compared */
    trainer_params params;      /* its own: the rate is that of the epoch at hand */
    trainer *trainer;
    checkpoint_progress progress;
    double setup_s, train_seconds; /* train_seconds: of all epochs here, their tests included */
    double trained_s;              /* without these */
    int64_t epochs_run;
    goal_row goals[GOALS_MAX]; /* those that are met come first */
    int goals_met;
    double *losses; /* of the steps of an epoch, with --samples */
    int64_t n_losses;
    verify_training *check;
    verify_training_result checked; /* of the epoch at hand */
    bool failed;                    /* steps of one were wrong: it was the last */
    bool apart;                     /* over ranks: since they came to different weights */
    clock_watch *watch;             /* what else the machine did; NULL where nothing is timed */
    clock_report clocks;            /* of the epoch at hand */
    double looked;                  /* when, in an epoch, the GPU's clock was last read */
    energy_report energy;           /* with --energy, where it could be measured */
    epoch_sum sum;
} train_run;

/* exemplar.c: t->batches, and with --parallel exemplar t->workers. */
cnn_status train_read_steps(train *t, cnn_error *err);

/* scale.c: --loss-scale: read, when types and the optimizer are; and what comes of it in a type: scale and growth. */
cnn_status train_read_scale(train *t, cnn_error *err);
void train_scale_params(const train *t, cnn_dtype dtype, trainer_params *params);

/* threads.c: --threads 1,2,4: a session more for each number but the first, of each implementation on the CPU. Those of
 * --impl come first. */
cnn_status train_open_others(train *t, cnn_error *err);
void train_close_others(train *t);
const cnn_session *train_session(const train *t, int index);
/* The next one behind `index` of the same implementation with other threads; -1: none. */
int train_next_session(const train *t, int index);

/* ranks.c: nothing of it does anything without ranks. Data, begin: that all have the same images and begin with the
 * same weights. End of an epoch: that all have come to the same weights; else it has failed. Devices: of a session.
 * Clocks: processor time of the other ranks of this host into r->clocks. Check seed: into r->check_seed. */
cnn_status train_ranks_data(const train *t, cnn_error *err);
cnn_status train_ranks_begin(const train_run *r, cnn_error *err);
cnn_status train_ranks_end_epoch(train_run *r, cnn_error *err);
cnn_status train_ranks_devices(train *t, int session, cnn_error *err);
cnn_status train_ranks_clocks(train_run *r, cnn_error *err);
cnn_status train_ranks_check_seed(train_run *r, cnn_error *err);
void train_ranks_record(const train_run *r, const trainer_result *e, cnn_record *record);
void train_ranks_close(train *t);

/* set_up.c: what is trained, on what, with whom: first from the options alone, then all. */
cnn_status train_read_options(train *t, cnn_error *err);
cnn_status train_set_up(train *t, cnn_error *err);
/* More than one point: what one refuses is its own trouble, and a table stands at the end. */
bool train_several(const train *t);

/* point.c: trains batches[b] with curves[c], unless --out holds it. What the point refuses is said, where others are.
 */
cnn_status train_point(train *t, int b, int c, cnn_error *err);

/* epochs.c: from the checkpoint, or from the first, to the last, or to where stop.c ends it. */
cnn_status train_run_epochs(train_run *r, cnn_error *err);

/* goals.c: --until-loss, --until-accuracy. From the options; whether this epoch meets the last of them; behind an
 * epoch, a record of each goal that it is the first to meet; behind the last epoch, one of each that is not met; how
 * all of it ended. Whether --out holds all goals of the point, and what is said in its place then. */
cnn_status train_read_goals(train *t, cnn_error *err);
bool train_reached(const train_run *r, const trainer_result *e);
cnn_status train_note_goals(train_run *r, const trainer_result *e, cnn_error *err);
cnn_status train_end_goals(train_run *r, cnn_error *err);
void train_say_goals(const train_run *r, FILE *to);
bool train_goals_held(const train_run *r);
void train_print_held(const train_run *r);

/* stop.c: an epoch's test loss into r->progress; whether --patience is at its end; whether this or a goal may end a
 * training; how it ended. */
void train_note_loss(train_run *r, const trainer_result *e);
bool train_out_of_patience(const train_run *r);
bool train_open_ended(const cli_options *options);
void train_say_stop(const train_run *r);

/* energy.c: --energy: into r->energy, with the trainer started; and what it came to, in a line. */
cnn_status train_measure_energy(train_run *r, cnn_error *err);
void train_say_energy(const train_run *r);

/* weights.c: --load: into r->weights and r->setting, before it is known whether --out holds the point. --save: behind
 * the last epoch, unless the training diverged or FAILED, which is said. Nothing without the option. */
cnn_status train_load_weights(train_run *r, cnn_error *err);
cnn_status train_save_weights(const train_run *r, cnn_error *err);

/* report.c: the lines and the records of a point. */
void train_print_head(const train_run *r);
void train_print_kept(const train_run *r); /* in place of all others */
cnn_status train_report_epoch(train_run *r, int64_t epoch, const trainer_result *e, cnn_error *err);
/* Nothing without --samples. */
cnn_status train_report_losses(const train_run *r, int64_t epoch, cnn_error *err);
/* Behind the last epoch: the median where there are several, what marks mean, that a training diverged; the figure. */
void train_report_end(const train_run *r);
/* NaN is the time of what is emulated. */
const char *train_time_text(double seconds, char text[32]);

/* profile.c: CNN_UNSUPPORTED where times mean nothing; an epoch's table, a record of kind "profile" a row of it, and
 * one of kind "profiled_epoch". Nothing without --profile. */
cnn_status train_profile_check(const train_run *r, cnn_error *err);
cnn_status train_report_profile(const train_run *r, int64_t epoch, const trainer_result *e, cnn_error *err);

/* plan.c: --plan: layers, shapes, parameters, FLOPs and bytes, before anything is allocated. */
void train_print_plan(const trainer *t, const cnn_net *net);

/* summary.c: a row a batch size, a column a curve; nothing where no point has a figure. */
void train_print_summary(const train *t);

#endif
