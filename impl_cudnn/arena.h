/* arena.h: operands for what `prepare` runs: the measurements of both searches, and the one trial run of any plan. They
 * are the device's for that long only. */
#ifndef IMPL_CUDNN_ARENA_H
#define IMPL_CUDNN_ARENA_H

#include "harness/cnn/shape.h"
#include "impl_cudnn/context.h"

typedef struct cudnn_arena {
    void *memory[5]; /* x, w, y, b or their gradients, and a workspace */
    int count;
    cnn_weighted_args args;
    size_t workspace_bytes;
} cudnn_arena;

/* All that the request reads and writes, with a small number everywhere: the clocks of a GPU that
 * multiplies zeros are not those of one that works. Closed by itself when opening fails. */
cnn_status cudnn_arena_open(cudnn_context *, const cnn_request *, cudnn_arena *, cnn_error *);
/* Once; 0 bytes are none. */
cnn_status cudnn_arena_workspace(cudnn_context *, cudnn_arena *, size_t bytes, cnn_error *);
/* One workspace for all that will run in turn: the largest of the sizes that three quarters of what is free allow. */
cnn_status cudnn_arena_lend(cudnn_context *, cudnn_arena *, const size_t *sizes, int count, cnn_error *);
void cudnn_arena_close(cudnn_context *, cudnn_arena *);

#endif
