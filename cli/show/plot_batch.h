/* plot_batch.h: a picture of curves over batch size: seconds per epoch, or speedups. */
#ifndef CLI_SHOW_PLOT_BATCH_H
#define CLI_SHOW_PLOT_BATCH_H

#include "bench/figures/series.h"
#include "plot_parts.h"

enum { BATCH_LINES = 3, BATCH_CURVES = SERIES_MAX + 2 };

typedef struct batch_curve {
    char name[SERIES_LABEL_MAX], note[SERIES_LABEL_MAX + 64]; /* the two lines of its label */
    const series_point *points;                               /* their `seconds` are what is drawn */
    int count;
    int tone;     /* the number of its colour and mark */
    int dash;     /* of its line: 0 none */
    double place; /* of its label; plot_batch() sets it */
} batch_curve;

typedef struct batch_picture {
    char title[SERIES_LABEL_MAX], lines[BATCH_LINES][2 * SERIES_LABEL_MAX]; /* the heading */
    const char *unit;                                                       /* "s" */
    bool break_even; /* values are ratios: the line of 1 is drawn, and where a curve crosses it */
    batch_curve curves[BATCH_CURVES];
    int ours, count; /* behind `ours` come published curves, in grey */
} batch_picture;

/* NAME.svg and NAME.png. */
cnn_status plot_batch(batch_picture *picture, const char *name, cnn_error *err);

/* "60,000" from 60000. */
const char *plot_grouped(int64_t value, char text[32]);

/* The thesis's table 4.2, from plots/thesis_table_4_2.dat. count 0: epochs of this setting are another job, and beside
 * them the published times would mislead. */
enum { THESIS_SERIES = 2, THESIS_POINTS = 12 };
typedef struct thesis_table {
    int count;
    series_point points[THESIS_SERIES][THESIS_POINTS]; /* ConvNetGo (CPU), GoCuNets (GPU) */
} thesis_table;
cnn_status plot_thesis(const epoch_setting *setting, thesis_table *thesis, cnn_error *err);

#endif
