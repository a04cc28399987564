/* draw.h: where the pictures of `plot` go. */
#ifndef CLI_SHOW_DRAW_H
#define CLI_SHOW_DRAW_H

#include "bench/figures/gnuplot.h"
#include "cli/cli.h"

typedef struct plot_to {
    char name[PLOT_PATH_MAX]; /* NAME.svg, NAME.png */
    FILE *svg;                /* NULL, or all pictures go here instead, and no word of what they leave out is printed */
    int most;                 /* of curves in a picture; 0: as many as there are */
    bool *stale;              /* NULL, or nothing is drawn: set where a picture does not show what it would */
} plot_to;

/* Whether somebody reads what is said beside the picture. */
static inline bool plot_says(const plot_to *to) { return to->svg == NULL && to->stale == NULL; }

/* "results/epochs" from --out or the first file, whichever ending it has. */
void plot_name(const cli_options *options, const char *file, char name[PLOT_PATH_MAX]);
cnn_status plot_crowd(const plot_to *to, int curves, cnn_error *err);
/* By a script of plots/; `behind` is put behind the name. */
cnn_status plot_draw(const char *script, const plot_to *to, const char *behind, gnuplot_put *put, void *user,
                     cnn_error *err);

#endif
