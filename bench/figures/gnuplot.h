/* gnuplot.h: runs a gnuplot script. */
#ifndef BENCH_FIGURES_GNUPLOT_H
#define BENCH_FIGURES_GNUPLOT_H

#include "harness/cnn.h"

/* The path of a file of plots/, found as harness/problem/find_file.h says. */
cnn_status plot_file(const char *name, char *path, int size, cnn_error *err);

/* A new folder for data files, in $TMPDIR or /tmp. */
cnn_status plot_folder(char *folder, int size, cnn_error *err);
/* Removes it and the plain files in it. */
void plot_folder_remove(const char *folder);

/* Runs `gnuplot -e settings script`. CNN_UNAVAILABLE, with the package's name, when it is not installed; CNN_INTERNAL
 * with its last complaint when it fails. `folder` holds what it prints meanwhile. */
cnn_status gnuplot_run(const char *settings, const char *script, const char *folder, cnn_error *err);

/* Appends name='value'; to settings (`size` bytes in all), quotes doubled as gnuplot asks; cut off when full. */
void gnuplot_set_text(char *settings, int size, const char *name, const char *value);
void gnuplot_set_real(char *settings, int size, const char *name, double value);

#endif
