/* plot_problems.h: speedups of single operations as bars. */
#ifndef CLI_SHOW_PLOT_PROBLEMS_H
#define CLI_SHOW_PLOT_PROBLEMS_H

#include "bench/figures/speedup.h"
#include "plot_parts.h"

/* NAME.svg and NAME.png: a group of bars for each problem, direction and type, a bar for each curve of the set. */
cnn_status plot_problems(const speedup_set *set, const char *name, cnn_error *err);

#endif
