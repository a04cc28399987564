/* plots.h: the kinds of `plot`. Each draws what the files words[1...] hold of it; that of epochs words[0...]. */
#ifndef CLI_SHOW_PLOTS_H
#define CLI_SHOW_PLOTS_H

#include "draw.h"

typedef cnn_status plot_kind(const cli_options *options, const plot_to *to, cnn_error *err);
/* plot_epochs.c */
plot_kind plot_epochs, plot_curves, plot_goals, plot_workers, plot_ranks;
/* plot_operations.c */
plot_kind plot_speedup, plot_bars, plot_solved, plot_sweep, plot_roofline, plot_floor, plot_errors, plot_kills;

#endif
