/* blocks.h: between conv.c and blocks.c: what a task of cpu:shallow does with a block of columns. */
#ifndef IMPL_CPU_SHALLOW_BLOCKS_H
#define IMPL_CPU_SHALLOW_BLOCKS_H

#include "shallow.h"

typedef struct sh_run {
    const sh_plan *m;
    const cnn_weighted_args *a;
    char *workspace;
    cnn_laps *laps;
    cpu_epilogue epilogue;
} sh_run;

/* What a task's clock tells apart. */
enum { SH_COPY, SH_COLUMNS, SH_PRODUCTS, SH_STORE };

/* A block, and what its worker has for it. */
typedef struct sh_task {
    const sh_run *r;
    sh_block b;
    char *copy, *columns, *dy, *to;
    char *sums; /* BWD_W: of the group's first panel */
    bool add;
    cpu_clock clock;
} sh_task;

/* FWD in NCHW and in NHWC; BWD_W. */
void sh_planes_block(sh_task *);
void sh_pixels_block(sh_task *);
void sh_weights_block(sh_task *);

#endif
