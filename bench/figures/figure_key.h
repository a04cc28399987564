/* figure_key.h: what makes two figures the same one, and what makes two figures of one task. `compare` asks the first,
 * `plot speedup` the second. */
#ifndef BENCH_FIGURES_FIGURE_KEY_H
#define BENCH_FIGURES_FIGURE_KEY_H

#include "harness/record/record.h"

typedef enum figure_scope {
    FIGURE_WHOLE, /* everything that a figure depends on, the machine apart */
    FIGURE_TASK   /* what is computed, whoever does it: without the implementation, its settings and the seed */
} figure_scope;

/* "FIELD=VALUE FIELD=VALUE", texts without their quotes; to be freed. NULL when out of memory. */
char *figure_key(const cnn_record *record, figure_scope scope);

/* "conv thesis_conv2" from mb100...n"thesis_conv2"; of a problem without a name: "conv mb100...". */
void figure_problem_name(const char *op, const char *problem, char *text, size_t size);

#endif
