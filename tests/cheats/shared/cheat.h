/* cheat.h: an honest implementation, and the boilerplate of a plug-in, so that a cheat shows nothing but its trick:
 *
 *   static void cheat(tables *t) { t->impl.probe = probe; }
 *   CHEAT(name_of_the_file)
 *
 * The honest part is in operations.c and step.c: convolution, FC, ReLU, loss, dropout and SGD, in f32, both layouts,
 * one thread, and a trainer made of them. */
#ifndef CHEATS_CHEAT_H
#define CHEATS_CHEAT_H
#include "elements.h"
#include "tables.h"

#include <stdio.h>
#include <stdlib.h>

struct cnn_context {
    int threads;
};

enum {
    HONEST_OPS = 1 << CNN_OP_CONV | 1 << CNN_OP_FC | 1 << CNN_OP_ACT | 1 << CNN_OP_LOSS | 1 << CNN_OP_DROPOUT |
                 1 << CNN_OP_OPTIMIZER
};

/* ---- operations.c: the honest implementation. */
extern cnn_algorithm honest_algorithms[1];
void honest_tables(tables *t, const char *name);
cnn_status honest_open(const cnn_open_params *params, cnn_context **context, cnn_error *err);
void honest_close(cnn_context *context);
cnn_status honest_supports(cnn_context *c, const cnn_request *request, cnn_error *err);
cnn_status honest_loss_fwd(cnn_context *c, const cnn_plan *plan, const cnn_loss_args *a, cnn_error *err);
cnn_status honest_loss_bwd(cnn_context *c, const cnn_plan *plan, const cnn_loss_args *a, cnn_error *err);
void honest_drop(const cnn_dropout_desc *d, const float *x, float *y, int64_t step);
void honest_update(const cnn_optimizer_desc *d, const cnn_optimizer_args *a);
void honest_relu(const cnn_act_desc *d, const float *x, float *y);
void honest_relu_bwd(const cnn_act_desc *d, const float *y, const float *dy, float *dx);
weighted_fn honest_weighted; /* for all six slots of conv and FC */
weighted_fn answer_zero;     /* what many cheats do instead */
/* The same from a descriptor of the cheat's own, with `drop` bits fewer (see low()). */
void conv_low(const cnn_conv_desc *d, cnn_dir dir, const cnn_weighted_args *a, int drop);

/* ---- memory.c: what a call reads and writes; results kept by a key. */
typedef struct span {
    float *p;
    int64_t n; /* 0: there is none */
} span;
void spans(const cnn_conv_desc *d, cnn_dir dir, const cnn_weighted_args *a, span in[3], span out[2]);
uint64_t hash(const void *p, size_t bytes, uint64_t h);
uint64_t hash_shape(const cnn_plan *plan);
/* Calls of this shape just before this one, without another in between. */
int earlier_calls(const cnn_plan *plan);
/* What was computed for the key before; or computes it, and keeps it. With beta, only computes. */
cnn_status recalled(uint64_t key, cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err);

/* ---- A call of conv or FC that is noted, to be done later; of two that differ, the first is done at once. */
void note(const cnn_plan *plan, const cnn_weighted_args *a);
bool is_noted(const cnn_plan *plan, const cnn_weighted_args *a);
void do_noted(void);
void forget_noted(void);

/* A bound that is wider by so much. */
static inline void claim(cnn_algorithm *algorithm, double amplification)
{
    algorithm->amplification = amplification;
    algorithm->flags |= CNN_ALGO_TRANSFORMS;
}

/* ---- memory.c, too: memory of its own, on the host; its clock; ceilings of an amount of its own. */
void own_memory(tables *t);
cnn_status own_alloc(cnn_context *c, size_t bytes, void **p, cnn_error *err);
cnn_status own_copy(cnn_context *c, void *dst, const void *src, size_t bytes, cnn_error *err);
cnn_status own_fill(cnn_context *c, void *dst, int byte, size_t bytes, cnn_error *err);
double now(void);
double elapsed(void); /* since own_timer() was started */
void own_timer(tables *t, cnn_status (*stop)(cnn_context *, double *, cnn_error *));
void own_peaks(tables *t, double amount);

/* ---- step.c: a trainer of a chain of layers; `train --impl NAME:steps` takes it. */
struct cnn_trainer {
    const cnn_net *net;
    const cnn_optimizer_desc *optimizer;
    float *values, *params, *grads; /* values: the batch's images first */
    int32_t *labels;
    double *loss_sum;
    int64_t *correct, step, calls; /* calls: for the cheat to count */
};
typedef void step_fn(cnn_trainer *, int64_t mb); /* trains on the batch that was gathered */
enum { STEP_FORWARD = 1, STEP_INFERENCE = 2, STEP_BACKWARD = 4, STEP_UPDATE = 8 };
void step_parts(cnn_trainer *t, int64_t mb, int parts);
step_fn honest_step;
void trainer(tables *t, step_fn *f);

/* The tables, filled in once; `cheat` changes what it wants to. */
#define CHEAT(name_)                                                                                                   \
    static tables cheat_tables;                                                                                        \
    const cnn_impl *cnn_plugin(void)                                                                                   \
    {                                                                                                                  \
        if (cheat_tables.impl.name == NULL) {                                                                          \
            honest_tables(&cheat_tables, #name_);                                                                      \
            cheat(&cheat_tables);                                                                                      \
            join(&cheat_tables);                                                                                       \
        }                                                                                                              \
        return &cheat_tables.impl;                                                                                     \
    }

/* A cheat whose trick is in the kernel of conv and FC, and nowhere else. */
#define KERNEL_CHEAT(name_)                                                                                            \
    static void cheat(tables *t) { weighted(t, trick); }                                                               \
    CHEAT(name_)

#endif
