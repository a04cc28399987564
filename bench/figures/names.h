/* names.h: texts, numbered from 0 in the order in which they came: the key of a figure is found among ten thousand
 * without a walk over all of them. */
#ifndef BENCH_FIGURES_NAMES_H
#define BENCH_FIGURES_NAMES_H

#include "harness/cnn.h"

typedef struct figure_names {
    char **texts;
    int count, room;
    int *slots; /* numbers + 1 by hash; 0: free */
    int n_slots;
} figure_names;

/* The number of a text, which is added if it is new: then *fresh. -1: CNN_OUT_OF_MEMORY. */
int figure_name(figure_names *names, const char *text, bool *fresh, cnn_error *err);
void figure_names_free(figure_names *names);

/* Adds ", NAME" to a list of names for people, or NAME to an empty one, unless it is there. */
void figure_list_add(char *list, size_t size, const char *name);

#endif
