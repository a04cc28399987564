/* gather.h: one row of a gathered batch, in host memory: what every implementation's `gather` must come to. */
#ifndef HARNESS_CPU_GATHER_H
#define HARNESS_CPU_GATHER_H

#include "harness/cnn.h"

/* y[i] = rows[index[i]], moved by shifts[i] if there are any, and its label. All in host memory; the cursor is left
 * alone: `index` and `shifts` are where it stands. */
void cnn_gather_row(const cnn_gather_args *args, int64_t i);

#endif
