/* spread_parts.h: what the files of spread.h share. Whose channels are whose is as in cluster.h. */
#ifndef IMPL_CUDA_FUSED_SPREAD_PARTS_H
#define IMPL_CUDA_FUSED_SPREAD_PARTS_H

#include "impl_cuda_fused/cuts.h"
#include "impl_cuda_fused/spread.h"

enum {
    FUSED_SPREAD_THREADS = 256, /* a block */
    FUSED_PIECE = 4             /* columns of a task of stage 0 by pieces */
};

int fused_channels_of(const fused_net *, int value);
int fused_owned_of(const fused_net *, int cluster, int value);
bool fused_is_gathered(const fused_net *, int cluster, int value);
bool fused_is_partial(const fused_net *, int cluster, int stage);
/* The stage as a block of the cluster has it. */
fused_stage fused_stage_of(const fused_net *, int cluster, int stage);
bool fused_is_full(const fused_net *, int stage);
/* Whether stage 0 goes forward by pieces of rows. */
bool fused_by_pieces(const fused_net *);

/* spread_cuts.c: by how rows lie (places). */
void fused_cut_stages(const fused_net *, fused_spread *);
/* spread_slots.c */
void fused_place_slots(const fused_net *, fused_spread *);

#endif
