/* plot_parts.h: what the pictures of `benchcnn plot` share: cmd_plot.c draws epochs, plot_roofline.c rooflines. */
#ifndef HARNESS_CLI_PLOT_PARTS_H
#define HARNESS_CLI_PLOT_PARTS_H

#include "bench/gnuplot.h"
#include "cli.h"

enum { PATH_SIZE = 4096, SETTINGS_SIZE = 8 * PATH_SIZE };

/* A file for gnuplot to read, in `folder`; NULL: err says why. plot_close() tells whether all of it was written. */
FILE *plot_create(const char *folder, const char *name, cnn_error *err);
cnn_status plot_close(FILE *file, const char *folder, cnn_error *err);
/* "results/epochs" from --out or `file`, whichever ending it has. */
void plot_name(const cli_options *options, const char *file, char *name, size_t size);
/* name.svg and name.png, by a script of plots/ and its settings; prints their paths. */
cnn_status plot_draw(const char *settings, const char *script, const char *folder, const char *name, cnn_error *err);

/* plot_roofline.c: `benchcnn plot roofline FILE...` */
cnn_status plot_roofline(const cli_options *options, cnn_error *err);

#endif
