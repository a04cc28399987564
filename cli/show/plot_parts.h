/* plot_parts.h: what the pictures of `benchcnn plot` share. */
#ifndef CLI_SHOW_PLOT_PARTS_H
#define CLI_SHOW_PLOT_PARTS_H

#include "bench/figures/gnuplot.h"
#include "cli/cli.h"

enum { PATH_SIZE = 4096, SETTINGS_SIZE = 8 * PATH_SIZE };

/* A file for gnuplot to read, in `folder`; NULL: err says why. plot_close() tells whether all of it was written. */
FILE *plot_create(const char *folder, const char *name, cnn_error *err);
cnn_status plot_close(FILE *file, const char *folder, cnn_error *err);
/* "results/epochs" from --out or `file`, whichever ending it has. */
void plot_name(const cli_options *options, const char *file, char *name, size_t size);
/* name.svg and name.png, by a script of plots/ and its settings; prints their paths. */
cnn_status plot_draw(const char *settings, const char *script, const char *folder, const char *name, cnn_error *err);

/* A setting of the script that there is one of for each curve, row...: name0, name1, ... */
void plot_set_text(char settings[SETTINGS_SIZE], const char *name, int i, const char *text);
void plot_set_real(char settings[SETTINGS_SIZE], const char *name, int i, double value);

/* The kinds, each in a file plot_KIND.c. */
cnn_status plot_epochs(const cli_options *options, cnn_error *err);
cnn_status plot_speedup(const cli_options *options, cnn_error *err);
cnn_status plot_roofline(const cli_options *options, cnn_error *err);

#endif
