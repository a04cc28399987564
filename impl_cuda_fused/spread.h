/* spread.h: how v3 spreads a network over the blocks of a cluster; cluster.h says whose channels are whose. */
#ifndef IMPL_CUDA_FUSED_SPREAD_H
#define IMPL_CUDA_FUSED_SPREAD_H

#include "impl_cuda_fused/fused.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifndef __cplusplus
typedef struct fused_tile fused_tile;
#endif

/* A block's memory in floats; offsets into its shared memory. */
typedef struct fused_spread {
    int cluster, threads;
    int first, forward, weights; /* of weights: those of stage 0 and biases; of the way forward; all */
    int slots;                   /* of a block: gradients, in the order in which it leaves them */
    int mail, staged, floats;    /* floats: all but what a step's end needs */
    int laps;                    /* where the latest clock is kept; 0: the kernel has no laps */
    fused_place places[FUSED_STAGES + 1];
    fused_tile tiles[FUSED_STAGES];
} fused_spread;

/* CNN_UNSUPPORTED where it cannot be spread, or does not fit in so many bytes, with the numbers. */
cnn_status fused_spread_of(const fused_net *, int cluster, int blocks, size_t shared_most, fused_spread *, cnn_error *);
/* Of a grid of so many blocks; alone: each block updates all that its rank has. */
size_t fused_spread_bytes(const fused_spread *, int blocks, bool alone);

/* params: [rank][slot], the parameter; at, back: [slot], where its weight stands in a block: on the way forward, and
 * back; -1: none. */
void fused_spread_slots(const fused_net *, const fused_spread *, int *params, int *at, int *back);

/* source.c: struct `name` of v3.h, cut where it does not fit in `size` bytes; with the kernel `entry` behind it. */
void fused_spread_source(const fused_net *, const fused_spread *, const char *name, char *text, size_t size);
void fused_spread_kernel(const fused_net *, const fused_spread *, const char *entry, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
