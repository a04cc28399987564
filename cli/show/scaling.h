/* scaling.h: scaling over ranks (bench/figures/scaling.h) on standard output: `plot ranks`, `table --kind scaling` and
 * the end of `sweep ranks`. */
#ifndef CLI_SHOW_SCALING_H
#define CLI_SHOW_SCALING_H

#include "bench/figures/scaling.h"

/* From files; `say`: lines that are no records are told. The caller frees the set, whatever came of it. */
cnn_status cli_scaling(const char *const *paths, int count, bool say, scaling_set *set, cnn_error *err);
/* A row a point, then what there is to say about each curve's model. */
cnn_status cli_show_scaling(const scaling_set *set, cnn_error *err);
/* The words alone. */
void cli_show_models(const scaling_set *set);

#endif
