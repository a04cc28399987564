/* gnuplot.h: pictures by gnuplot. A script of plots/ says how a picture looks. What it shows, its settings and blocks
 * of data, is written here, and gnuplot reads both. */
#ifndef BENCH_FIGURES_GNUPLOT_H
#define BENCH_FIGURES_GNUPLOT_H

#include "harness/cnn.h"
#include "harness/problem/find_file.h"

#include <stdio.h>

enum { PLOT_PATH_MAX = 4096 }; /* of a picture */

/* The path of a file of plots/, found as harness/problem/find_file.h says. */
cnn_status plot_file(const char *name, char path[FOUND_PATH_MAX], cnn_error *err);

/* Writes a picture's settings (name=value) and data ($name << EOD ... EOD). */
typedef cnn_status gnuplot_put(FILE *to, void *user, cnn_error *err);
/* name='text', quoted as gnuplot asks; of one that there is several of name0, name1 ...: index -1 is without a number.
 */
void gnuplot_text(FILE *to, const char *name, int index, const char *text);
/* Draws NAME.svg and NAME.png by a script of plots/. Either both are there and whole, or what was there before is.
 * CNN_UNAVAILABLE, with the package's name, when gnuplot is not installed; CNN_INTERNAL with its last complaint when it
 * fails. */
cnn_status gnuplot_draw(const char *script, const char *name, gnuplot_put *put, void *user, cnn_error *err);
/* Draws nothing, and needs no gnuplot: whether NAME.svg and NAME.png were drawn of the same data by the same script. */
cnn_status gnuplot_shows(const char *script, const char *name, gnuplot_put *put, void *user, bool shows[2],
                         cnn_error *err);
/* The same as gnuplot_draw, but an SVG alone, written behind what is in `svg`: a file with a number, as program_file()
 * makes it. */
cnn_status gnuplot_svg(const char *script, FILE *svg, gnuplot_put *put, void *user, cnn_error *err);

#endif
