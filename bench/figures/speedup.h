/* speedup.h: how many times as fast as a baseline an implementation is, from the records of both.
 *
 * Two figures are of one task where they differ only in who did it: implementation, algorithm, knobs, threads, machine.
 * Both sides are taken at their best: of the baseline's figures of a task, and of a curve's, the fastest counts.
 * A speedup is the baseline's median over the other's. Its interval is what the intervals of both medians allow: the
 * baseline's low over the other's high, to the baseline's high over the other's low. */
#ifndef BENCH_FIGURES_SPEEDUP_H
#define BENCH_FIGURES_SPEEDUP_H

#include "harness/problem/problem.h"
#include "names.h"
#include "series.h"

/* What one implementation took for one task: an epoch of training, or a single operation. Times in seconds. */
typedef struct speedup_figure {
    const epoch_setting *epoch; /* an epoch's, but for its batch; NULL: a single operation */
    char *task, *key;           /* a single operation's: IDENTITY_TASK, IDENTITY_FIGURE */
    char impl[CNN_NAME_MAX], algorithm[CNN_NAME_MAX], machine[CNN_NAME_MAX];
    char problem[CNN_PROBLEM_TEXT_MAX]; /* the descriptor; of an epoch the network */
    char op[16], dir[8], dtype[8], layout[8], math[8], cache[16];
    bool gpu, uploaded; /* uploaded: an epoch whose images come from the host, batch by batch */
    int64_t batch;
    int threads;           /* of a CPU */
    double seconds;        /* the median of all repetitions */
    double low, high;      /* its interval; NaN: not known */
    double images_per_s;   /* of an epoch: in training; NaN: not known */
    double transfer_s;     /* of an operation on a GPU: operands there, the result back; NaN: none */
    double *runs;          /* medians of an operation's runs; `repetitions` of them */
    int repetitions, room; /* epochs, or runs */
    unsigned marks;        /* bench/measure/stats.h */
    const char *path;      /* of its first record: the caller's text, and the line */
    int line;
} speedup_figure;

typedef struct speedup {
    const speedup_figure *base, *own;
    int curve;
    double ratio, low, high; /* low, high: NaN where a side has no interval */
    double moved;            /* of an operation on a GPU over a CPU: with its transfers counted; else NaN */
    unsigned marks;          /* of both */
} speedup;

typedef struct speedup_curve { /* one implementation, or one algorithm of it, on one machine */
    char name[2 * CNN_NAME_MAX];
    const speedup_figure *first, *missing; /* of its figures; of those that have no baseline */
    int n_missing;
} speedup_curve;

typedef struct speedup_set {
    epoch_table epochs;
    series_set series;
    speedup_figure *figures;
    int n_figures, figure_room;
    figure_names keys;          /* of the single operations' figures: the key, and the machine */
    char gpus[8][CNN_NAME_MAX]; /* that the environments name */
    int n_gpus;
    speedup_curve *curves;
    int n_curves, curve_room;
    speedup *rows; /* curve by curve; epochs by their batch, operations in the order of their records */
    int count, row_room;
    char (*notes)[CNN_MESSAGE_MAX]; /* what was left out and why, with the FILE:LINE of a record */
    int n_notes, note_room;
} speedup_set;

typedef struct speedup_request {
    const char *impl;     /* NAME[:ALGORITHM], comma-separated globs: what is compared. A NAME alone is its fastest
                             algorithm, NAME:ALGORITHM each that matches. NULL: whatever is not the baseline */
    const char *baseline; /* likewise, the fastest of all that match. NULL: of all on a CPU */
    const char *fallback; /* the baseline where there is none but CPU figures and `baseline` is NULL */
} speedup_request;

/* Adds the figures of a file; lines that are no records are counted in *bad. `path` must outlive the set. */
cnn_status speedup_read(speedup_set *set, const char *path, int *bad, cnn_error *err);
/* When all are read: the rows. CNN_BAD_ARGUMENT, with the reason, where there is none. */
cnn_status speedup_make(speedup_set *set, const speedup_request *request, cnn_error *err);
void speedup_free(speedup_set *set);

/* Whether the set has rows of epochs, or of single operations. */
bool speedup_has(const speedup_set *set, bool epochs);
/* "the fastest of cpu:direct, cpu:im2col on Intel Xeon, 16 threads": the baseline of these rows. */
void speedup_baseline_text(const speedup_set *set, bool epochs, char *text, size_t size);

/* speedup_picture.c: gnuplot_puts (gnuplot.h) of a speedup_set: of its epochs for plots/over_batch.gp, of its single
 * operations for plots/speedup_problems.gp, a bar for each curve. */
cnn_status speedup_curves(FILE *to, void *set, cnn_error *err);
cnn_status speedup_bars(FILE *to, void *set, cnn_error *err);

/* speedup_read.c: adds a note. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
cnn_status
speedup_note(speedup_set *set, cnn_error *err, const char *format, ...);
/* When all files are read: the medians of the operations, and the epochs as figures behind them. */
cnn_status speedup_finish_figures(speedup_set *set, cnn_error *err);

/* speedup_record.c: as a record for tables, of kind "speedup", which is in no file. NULL when out of memory. */
cnn_record *speedup_record(const speedup *row);

#endif
