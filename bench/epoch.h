/* epoch.h: the figures of one training epoch, as a record and back: `train` writes them, and reads them to run nothing
 * again that is there, `plot` reads them to draw. The fields stand in one place, epoch.c. */
#ifndef BENCH_EPOCH_H
#define BENCH_EPOCH_H

#include "bench/measure/clocks.h"
#include "bench/measure/stats.h"
#include "harness/net/schedule.h"
#include "harness/net/trainer.h"
#include "harness/problem/problem.h"
#include "harness/record/identity.h"
#include "harness/record/record.h"
#include "verify/training/training.h"

/* Everything that two runs must share for their times to be comparable, and the machine they ran on. */
typedef struct epoch_setting {
    char impl[CNN_NAME_MAX], algorithm[CNN_NAME_MAX], net[CNN_NAME_MAX], data[CNN_NAME_MAX];
    char net_crc[9]; /* 8 hexadecimal digits, of the layers: a name alone is no network */
    char weights[9]; /* likewise, of those that training began with; "": the initial ones */
    char dtype[8], layout[8], math[8], optimizer[CNN_PROBLEM_TEXT_MAX], cpu[CNN_NAME_MAX];
    char knobs[512];                   /* as JSON; of a longer text the beginning, and the checksum of all of it */
    char gpu[CNN_NAME_MAX];            /* "": the work runs on the CPU */
    char data_on[8];                   /* "device" or "host": where the images are during training */
    char schedule[RATE_SCHEDULE_TEXT]; /* "": the rate is the optimizer's */
    char preprocess[16];               /* of pixels; "": by 255, less the mean */
    bool graph;                        /* whether steps are captured and replayed */
    bool recompute;                    /* whether values are computed again in the backward pass, to save memory */
    bool offload;                      /* whether values are in host memory between the passes */
    char build[BUILD_ID_MAX], libraries[BUILD_ID_MAX]; /* what measured it; "": an older record, which does not say */
    int64_t net_params, batch, workers, threads, cores, seed, shift, train_images, test_images;
    int64_t ranks;      /* processes that trained it together, `threads` each; 1: one alone */
    int64_t bucket;     /* bytes, at least, of each sum over ranks; 0: one for all */
    int64_t streams;    /* that operations of a step run on at the same time; 0: one after another */
    int64_t fused;      /* activations that the conv or FC before them does */
    int64_t loss_scale; /* that it began with; 0: types without one */
} epoch_setting;

/* What the sums of gradients over ranks took (docs/ranks.md), as `train` records it: read back only. */
typedef struct epoch_comm {
    char way[64];           /* "": not over ranks */
    double bytes;           /* that a step adds up; NaN: not recorded, as the times */
    double step_s, alone_s; /* of a step, waits included; what the same sum takes alone */
    double flight_s;        /* of a step: while sums were under way, beside operations too */
} epoch_comm;

/* A mean loss above this is that of no training: guessing among a million classes costs 14. */
#define EPOCH_LOSS_MOST 1e4

typedef struct epoch_row {
    epoch_setting setting;
    int64_t epoch;  /* from 1 */
    int64_t epochs; /* what the run was to have; 0: not known beforehand, or an older record */
    double seconds, train_s, test_s, train_loss, test_loss, train_accuracy, test_accuracy, images_per_s, transfer_s;
    double host_step_s;
    double last_scale;      /* the loss scale behind the epoch; NaN: there is none */
    int64_t steps_left_out; /* since the training began, for a gradient that was not finite */
    bool diverged; /* a loss is not finite, or above EPOCH_LOSS_MOST: what such arithmetic takes is no figure */
    bool verified; /* steps of it were repeated by the reference, and agreed */
    bool failed;   /* they did not: no number of it is a figure; such a row is written, never read back */
    char reason[VERIFY_TEXT_MAX], checked[128]; /* of the failure; which steps, as verify_training_result has them */
    double budget_used;
    double joules; /* read back only: of an epoch (measure/energy.h); NaN: not measured */
    epoch_comm comm;
    int64_t check_seed;  /* those steps follow from it */
    unsigned marks;      /* BENCH_DISTURBED, BENCH_APART, BENCH_THROTTLED */
    clock_report clocks; /* written, not read back: marks are what is drawn from them */
    const char *path;    /* where it was read: the caller's text, and the line; NULL: it was made here */
    int line;
} epoch_row;

typedef struct epoch_table {
    epoch_row *rows;
    int count, capacity;
    int superseded; /* rows of a setting that another build has measured since: they were left out */
    struct goal_table
        *goals; /* gets the goals (goal.h) that are in a file, too; the caller's; NULL: they are passed over */
    struct profiled_table *profiles; /* likewise what --profile recorded (profiled.h) */
} epoch_table;

/* Fills in what the session knows: impl, threads, knobs, cpu, cores, gpu, libraries; ranks as one process has it. */
void epoch_setting_of_session(const cnn_session *session, epoch_setting *setting);
/* Fills in all but the build, the schedule and the weights, which are the caller's. The network's checksum, parameters
 * and name are the same at every batch size and in every type. */
void epoch_setting_of(const cnn_session *session, const cnn_network *network, const dataset *data,
                      const trainer_params *params, epoch_setting *setting);
/* How texts get into a setting: a text that is too long ends in the checksum of all of it, so that two of them with one
 * beginning are not the same; the knobs that a record tells of, as JSON, "?" where an old one tells of none. */
void epoch_text(char *field, size_t size, const char *text);
void epoch_knobs(char *field, size_t size, const cnn_record *record);
bool epoch_same_setting(const epoch_setting *a, const epoch_setting *b);
/* Whether the same is computed, whoever does it and on whatever machine; the batch and the seed apart. */
bool epoch_same_task(const epoch_setting *a, const epoch_setting *b);
/* The same, but measured by another build or with other libraries. */
bool epoch_other_build(const epoch_setting *a, const epoch_setting *b);

/* A row of what training one epoch came to; `number` from 1; checked NULL: nobody repeated any of it. */
epoch_row epoch_row_of(const epoch_setting *setting, int64_t number, int64_t epochs, const trainer_result *result,
                       const verify_training_result *checked, const clock_report *clocks);
/* A record of what was trained, for others to add to. */
cnn_record *epoch_record_new(const char *kind, const cnn_session *session, const epoch_setting *setting);
/* The record of kind "epoch"; NULL when out of memory (record_write() says so). */
cnn_record *epoch_record(const cnn_session *session, const epoch_row *row);

/* A run that was killed before its last epoch and begun anew counts only anew: an epoch 1 drops what is there of an
 * unfinished run of the same setting. What another build measured is dropped, too: two builds have no median. */
cnn_status epoch_table_add(epoch_table *table, const epoch_row *row, cnn_error *err);
/* Adds every epoch record of a file; an "env" record names the machine of those that follow it. *bad counts the lines
 * that are no records. */
cnn_status epoch_table_read(epoch_table *table, const char *path, int *bad, cnn_error *err);
void epoch_table_free(epoch_table *table);

/* Times of epochs, to be summed up. */
enum { EPOCHS_SUMMED = 1024 }; /* the first so many; with more of them it is a training run, not a timing */
typedef struct epoch_sum {
    double seconds[EPOCHS_SUMMED];
    int count, marked[BENCH_MARK_COUNT];
} epoch_sum;
void epoch_sum_add(epoch_sum *sum, double seconds, unsigned marks);
/* Their statistics; the marks are those of at least half of the epochs (a median bears less than that), and
 * BENCH_SPREAD where they differ among themselves. count >= 1. */
void epoch_sum_stats(const epoch_sum *sum, bench_stats *stats);

/* The median seconds of the epochs with this setting, and how many there are; 0 without any, and where the training
 * diverged. `marks` may be NULL. */
int epoch_median(const epoch_table *table, const epoch_setting *setting, double *seconds, unsigned *marks);
bool epoch_diverged(const epoch_table *table, const epoch_setting *setting);
/* Whether the setting's epochs are there to the last: one numbered `epochs` or higher. */
bool epoch_finished(const epoch_table *table, const epoch_setting *setting, int64_t epochs);
/* Whether any of them tells the energy that an epoch takes. */
bool epoch_energy_known(const epoch_table *table, const epoch_setting *setting);
/* Whether there are any that another build measured. */
bool epoch_measured_elsewhere(const epoch_table *table, const epoch_setting *setting);

#endif
