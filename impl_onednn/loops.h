/* loops.h: what training needs beside oneDNN's primitives: loss, optimizer, dropout, concat, gather, a transposed
 * convolution's bias. These are loops of ours on the same OpenMP threads. With a second pool of threads in the process
 * (`onednn+cpu`) OpenMP's idle ones, which spin, would take the cores from it.
 *
 * Work is cut by the problem alone, so these give the same bits for any number of threads. */
#ifndef IMPL_ONEDNN_LOOPS_H
#define IMPL_ONEDNN_LOOPS_H

#include "onednn.h"

/* A loop over many elements is compiled for each instruction set, and the loader picks. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define ONEDNN_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define ONEDNN_CLONES
#endif

/* Does items [first, last) of the job; `task` numbers the shares. */
typedef void onednn_body(const void *job, int64_t first, int64_t last, int64_t task);

/* Shares of so many items for `items` of `cost` element operations each: below some ten thousand of these a thread is
 * not worth waking. Large ones are whole cache lines of f32, so that no two threads write the same one. */
int64_t onednn_share(int64_t items, int64_t cost);
void onednn_parallel(const onednn_context *, int64_t items, int64_t share, onednn_body *, const void *job);

cnn_status onednn_loss_fwd(cnn_context *, const cnn_plan *, const cnn_loss_args *, cnn_error *);
cnn_status onednn_loss_bwd(cnn_context *, const cnn_plan *, const cnn_loss_args *, cnn_error *);
size_t onednn_loss_workspace(const cnn_problem *, cnn_dir);
cnn_status onednn_optimizer_step(cnn_context *, const cnn_plan *, const cnn_optimizer_args *, cnn_error *);
cnn_status onednn_dropout_fwd(cnn_context *, const cnn_plan *, const cnn_map_fwd_args *, cnn_error *);
cnn_status onednn_dropout_bwd(cnn_context *, const cnn_plan *, const cnn_map_bwd_args *, cnn_error *);
cnn_status onednn_concat_fwd(cnn_context *, const cnn_plan *, const cnn_join_args *, cnn_error *);
cnn_status onednn_concat_bwd(cnn_context *, const cnn_plan *, const cnn_split_args *, cnn_error *);
cnn_status onednn_gather(cnn_context *, const cnn_gather_args *, cnn_error *);
cnn_status onednn_bias_add(cnn_context *, const cnn_plan *, const cnn_bias_args *, cnn_error *);
cnn_status onednn_bias_gradient(cnn_context *, const cnn_plan *, const cnn_bias_args *, cnn_error *);

#endif
