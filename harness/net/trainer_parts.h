/* trainer_parts.h: what the files of the trainer share: the memory plan, plans, calls and the lists of calls. */
#ifndef HARNESS_NET_TRAINER_PARTS_H
#define HARNESS_NET_TRAINER_PARTS_H

#include "trainer.h"

/* All buffers are pieces of one allocation; a place is an offset into it, NOWHERE for a buffer that is left out. */
#define NOWHERE SIZE_MAX

/* Plans are shared by calls: one for each layer, direction, batch size and mode. Layer -1 - V stands for the sum of
 * two gradients of value V, OPTIMIZER_LAYER for the update. */
enum { OPTIMIZER_LAYER = NET_MAX_LAYERS };
typedef struct trainer_plan {
    int layer;
    int64_t mb;
    bool inference;
    cnn_plan plan;
} trainer_plan;

/* One operation with its buffers, or (plan -1) a copy of copy_bytes from at[0] to at[1]. */
typedef struct trainer_call {
    int plan, n_operands;
    size_t at[CNN_MAX_OPERANDS], copy_bytes;
    void *operands[CNN_MAX_OPERANDS]; /* from `at`, once the memory is there */
    cnn_run_extra extra;
} trainer_call;

typedef struct call_list {
    trainer_call *calls;
    int count, capacity;
} call_list;

/* One batch size. Lists that are not needed for it are empty. */
typedef struct trainer_batch {
    int64_t mb;
    call_list forward, backward, inference;
} trainer_batch;

enum { TRAIN_SET, TEST_SET, MAX_BATCHES = 3 };

struct trainer {
    const cnn_session *session;
    const cnn_network *network;
    const cnn_net *net; /* &network->net */
    const dataset *data;
    trainer_params params;
    cnn_optimizer_desc optimizer;

    /* The memory plan: places of everything. */
    trainer_bytes bytes;
    bool overflow;
    size_t *value_at, *grad_at;          /* one a value; no gradient: NOWHERE */
    size_t (*save_at)[2];                /* one a layer: batch norm's save_mean and save_invstd */
    size_t params_at, grads_at, kept_at; /* kept: a copy of the running statistics, during single steps */
    size_t state_at[2], scratch_at, workspace_at, rows_at[2], labels_at[2];
    size_t batch_labels_at, order_at, loss_at, correct_at, step_at;
    char *arena;

    trainer_batch batches[MAX_BATCHES]; /* the full one first */
    int n_batches;
    trainer_plan *plans;
    int n_plans, plan_capacity;
    call_list update;
    cnn_stepper *stepper; /* with params.fused */
    int32_t *order;       /* host: the order of an epoch, or the labels of a batch gathered by the host */
};

/* layout.c: places everything but the workspace; then the workspace, when all plans are made. */
cnn_status trainer_layout(trainer *t, cnn_error *err);
cnn_status trainer_layout_workspace(trainer *t, size_t bytes, cnn_error *err);
size_t trainer_elem(const trainer *t); /* bytes of the dtype */

/* calls.c: one more call in a list. dx: places for the gradients of the layer's inputs (BWD_D only). */
cnn_status trainer_add_call(trainer *t, call_list *list, int layer, cnn_dir dir, int64_t mb, bool inference,
                            const size_t dx[CNN_MAX_INPUTS], double beta, cnn_error *err);
/* at[to] += at[from], or a copy; both hold value `value` for mb images. */
cnn_status trainer_add_sum(trainer *t, call_list *list, int value, int64_t mb, size_t to, size_t from, cnn_error *err);
cnn_status trainer_add_copy(trainer *t, call_list *list, int value, int64_t mb, size_t to, size_t from, cnn_error *err);
/* The optimizer's, on all trained parameters. */
cnn_status trainer_add_update(trainer *t, call_list *list, cnn_error *err);

/* backward.c: the calls of a backward pass. */
cnn_status trainer_schedule_backward(trainer *t, trainer_batch *batch, cnn_error *err);
/* schedule.c: all lists. */
cnn_status trainer_schedule(trainer *t, cnn_error *err);

/* epoch.c */
cnn_status trainer_run(trainer *t, const call_list *list, cnn_error *err);
cnn_status trainer_clear_sums(trainer *t, cnn_error *err);
cnn_status trainer_read_sums(trainer *t, double *loss_sum, int64_t *correct, cnn_error *err);
cnn_status trainer_update(trainer *t, const trainer_batch *batch, cnn_error *err); /* on what is in the batch buffers */
const trainer_batch *trainer_find_batch(const trainer *t, int64_t mb);

static inline void *trainer_at(const trainer *t, size_t place) { return place == NOWHERE ? NULL : t->arena + place; }

#endif
