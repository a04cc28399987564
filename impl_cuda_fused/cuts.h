/* cuts.h: what v2's layout and v3's spread share: how values lie in shared memory, and what a cut of a stage costs. */
#ifndef IMPL_CUDA_FUSED_CUTS_H
#define IMPL_CUDA_FUSED_CUTS_H

#include "impl_cuda_fused/fused.h"

/* A task: how many there are, by how many lanes each; `work` steps in all, each of so much arithmetic and so many
 * floats from shared memory; `sums` that are added up over the lanes and written. */
typedef struct fused_task {
    int tasks, lanes, work, sums;
    double math, floats;
} fused_task;

typedef struct fused_shares { /* of a kernel's taps, along the rows and the columns, that meet the image */
    double high, wide;
} fused_shares;

int fused_round_up(int n, int to);
int fused_spread_rows(int floats, int unit);
/* c channels of h x w from `at` on, columns by the stride; returns their floats. */
int fused_place_value(fused_place *, int at, int c, int h, int w, int stride);

double fused_cost(const fused_task *, int threads);
double fused_read(int lanes, int floats);
fused_shares fused_shares_of(const fused_stage *);
/* `most`: sums that a thread's registers hold. */
void fused_cut_forward(const fused_stage *, const fused_place *in, int threads, int most, fused_cut *);
void fused_cut_data(const fused_stage *, const fused_place *out, int threads, int most, fused_cut *);
cnn_status fused_check_widths(const fused_net *, cnn_error *);

#endif
