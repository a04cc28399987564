/* roofline.h: figures of single operations under the ceilings of their device: operations a second over operations a
 * byte, what is at most min(peak, bandwidth * intensity). */
#ifndef BENCH_FIGURES_ROOFLINE_H
#define BENCH_FIGURES_ROOFLINE_H

#include "bench/measure/peaks.h"

#include <stdio.h>

enum { ROOFLINE_SERIES_MAX = 24, ROOFLINE_PROBLEMS_MAX = 400, ROOFLINE_POINTS_MAX = 4000, ROOFLINE_ROOFS_MAX = 12 };

typedef struct roofline_point {
    int series, problem; /* indices below */
    cnn_dir dir;
    double intensity, rate; /* FLOP/byte (compulsory ones), FLOP/s */
} roofline_point;

typedef struct roofline_roof {
    char name[3 * CNN_NAME_MAX];
    bool memory; /* a bandwidth, byte/s; else FLOP/s */
    bool main;   /* the one of memory, the highest of arithmetic: drawn strongly */
    double value;
} roofline_roof;

typedef struct roofline {
    char machine[CNN_NAME_MAX], gpu[CNN_NAME_MAX]; /* gpu: the one last named by an environment record */
    int threads;                                   /* 0: the machine is a GPU, whose figures know no number of them */
    char series[ROOFLINE_SERIES_MAX][2 * CNN_NAME_MAX + 32]; /* "cpu:direct", the type behind it where it is not f32 */
    char problems[ROOFLINE_PROBLEMS_MAX][CNN_NAME_MAX];      /* the n"..." of the descriptor, or the descriptor */
    int n_series, n_problems, n_points, n_roofs;
    roofline_point points[ROOFLINE_POINTS_MAX];
    roofline_roof roofs[ROOFLINE_ROOFS_MAX];
    int left_out; /* figures of another machine or (on a CPU) number of threads than the first one's, or too many */
    bool types[CNN_DTYPE_COUNT][CNN_MATH_COUNT]; /* that occur */
    bench_peaks peaks;
} roofline;

/* Adds the figures and ceilings of a file; lines that are no records are counted in *bad. */
cnn_status roofline_read(roofline *r, const char *path, int *bad, cnn_error *err);
/* When all are read: the roofs. CNN_BAD_ARGUMENT where there are no figures, or none of their ceilings. */
cnn_status roofline_make_roofs(roofline *r, cnn_error *err);
/* "Xeon, 2 threads"; a GPU's name alone. */
const char *roofline_machine(const roofline *r, char *text, size_t size);
/* A gnuplot_put (gnuplot.h) of a roofline, for plots/roofline.gp. */
cnn_status roofline_picture(FILE *to, void *r, cnn_error *err);
void roofline_free(roofline *r); /* what it holds, not itself */

#endif
