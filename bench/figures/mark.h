/* mark.h: what a picture was drawn of, as a mark within it. So it can be told later, without gnuplot, whether the
 * records and the program of plots/ are still the same. */
#ifndef BENCH_FIGURES_MARK_H
#define BENCH_FIGURES_MARK_H

#include "harness/cnn.h"

#include <stdio.h>

enum { MARK_SIZE = 32 };

/* "benchcnn plot 0123456789abcdef": a hash of all that is in these files, which are read from their beginning. */
cnn_status mark_of(FILE *const *files, int count, char mark[MARK_SIZE], cnn_error *err);
/* Puts it into a whole picture, an SVG (as <metadata>) or, `png`, a PNG (as a chunk of text). */
cnn_status mark_put(const char *path, bool png, const char *mark, cnn_error *err);
/* Whether this picture has this mark. False where there is none, or no picture. */
bool mark_stands(const char *path, const char *mark);

#endif
