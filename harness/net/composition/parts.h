/* parts.h: what the files of the trainer share: the memory plan, plans, calls and the lists of calls. */
#ifndef HARNESS_NET_COMPOSITION_PARTS_H
#define HARNESS_NET_COMPOSITION_PARTS_H

#include "harness/device/call.h"
#include "harness/net/trainer.h"

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
    char range[CNN_NAME_MAX + 8]; /* layer and direction, for a profiler */
} trainer_call;

typedef struct call_list {
    trainer_call *calls;
    int count, capacity;
} call_list;

enum { TRAIN_SET, TEST_SET, SETS, MAX_BATCHES = 3 };

/* One batch size. Lists that are not needed for it are empty. Graphs, by set: of a step, and of STEPS_A_GRAPH of them
 * in a row; NULL where steps are not captured or not so many. */
enum { STEPS_A_GRAPH = 16 };
typedef struct trainer_batch {
    int64_t mb;
    call_list forward, backward, inference;
    cnn_graph *step[SETS], *steps[SETS];
    cnn_laps *laps[SETS]; /* with params.profile */
} trainer_batch;

/* Buffers for the images of a batch. One is enough where images are gathered on the device; those from host memory
 * come in by two in turn, so that one is filled while the other is read. */
enum { LANES = 2, HOST_TIMES = 256 };

typedef struct trainer_profile trainer_profile;

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
    size_t state_at[2], scratch_at, workspace_at, rows_at[SETS], labels_at[SETS];
    size_t images_at[LANES], batch_labels_at[LANES], order_at, shifts_at, loss_at, correct_at, step_at, cursor_at;
    char *arena;

    int n_lanes, n_batches;
    trainer_batch batches[LANES][MAX_BATCHES]; /* the full one first */
    trainer_plan *plans;
    int n_plans, plan_capacity;
    call_list update;
    cnn_stepper *stepper;          /* with params.fused */
    trainer_profile *profile;      /* with params.profile, else NULL */
    bool graphs;                   /* steps are captured */
    int32_t *order;                /* host: the order of an epoch */
    cnn_shift *shifts;             /* host: how its images are moved; NULL without params.shift */
    char *rows[SETS];              /* with host_data: all images, converted, in host memory */
    char *staging[LANES];          /* with host_data: a batch as it stands on the device: images, then labels */
    double transfer_s;             /* of the epoch, so far */
    double paused;                 /* of the epoch, so far: seconds that are not its own */
    double host_times[HOST_TIMES]; /* seconds a step that the host took to queue it, of an epoch's first calls */
    int n_host_times;
    int64_t ahead; /* steps that are queued before the host waits for them, if someone watches */
};

/* layout.c: places everything but the workspace; then the workspace, when all plans are made. */
cnn_status trainer_layout(trainer *t, cnn_error *err);
cnn_status trainer_layout_workspace(trainer *t, size_t bytes, cnn_error *err);
size_t trainer_elem(const trainer *t); /* bytes of the dtype */
size_t trainer_staging_bytes(const trainer *t);

/* calls.c: one more call in a list. dx: places for the gradients of the layer's inputs (BWD_D only). The images are
 * those of the lane. */
cnn_status trainer_add_call(trainer *t, call_list *list, int lane, int layer, cnn_dir dir, int64_t mb, bool inference,
                            const size_t dx[CNN_MAX_INPUTS], double beta, cnn_error *err);
/* at[to] += at[from], or a copy; both hold value `value` for mb images. */
cnn_status trainer_add_sum(trainer *t, call_list *list, int value, int64_t mb, size_t to, size_t from, cnn_error *err);
cnn_status trainer_add_copy(trainer *t, call_list *list, int value, int64_t mb, size_t to, size_t from, cnn_error *err);
/* The optimizer's, on all trained parameters. */
cnn_status trainer_add_update(trainer *t, call_list *list, cnn_error *err);

/* backward.c: the calls of a backward pass. */
cnn_status trainer_schedule_backward(trainer *t, trainer_batch *batch, int lane, cnn_error *err);
/* schedule.c: all lists. */
cnn_status trainer_schedule(trainer *t, cnn_error *err);
trainer_batch *trainer_find_batch(trainer *t, int lane, int64_t mb); /* NULL when it was not planned for */

/* feed.c: the batches' way in. Start: data where they are to stand. Order: what an epoch (or test) takes, in turn.
 * Feed: images order[first ...] into the lane's buffers; where trainer_feeds_itself(), `first` is the device's own
 * cursor. */
cnn_status trainer_feed_start(trainer *t, cnn_error *err);
void trainer_feed_close(trainer *t);
cnn_status trainer_feed_order(trainer *t, int set, cnn_error *err);
cnn_status trainer_feed(trainer *t, int lane, int set, int64_t first, int64_t mb, cnn_error *err);
cnn_status trainer_feed_end(trainer *t, cnn_error *err); /* of a pass: adds up transfer_s */
bool trainer_feeds_itself(const trainer *t);             /* feeding is part of the captured step */
/* What a gather of mb images is told whatever their place: sizes, but no arrays. */
cnn_gather_args trainer_gather_args(const trainer *t, int64_t mb);
/* feed_check.c: once steps are prepared. Overwrites order, shifts and the batch's buffers. */
cnn_status trainer_feed_check(trainer *t, cnn_error *err);

/* profile.c: nothing of it does anything without params.profile. */
cnn_status trainer_profile_open(trainer *t, cnn_error *err);
void trainer_profile_close(trainer *t);
void trainer_profile_start(trainer *t);                                                      /* of an epoch */
cnn_status trainer_profile_finish(trainer *t, double seconds, cnn_error *err);               /* which took so long */
cnn_status trainer_profile_note(trainer *t, const char *what, double since, cnn_error *err); /* an overhead */
/* From here on operations make the laps of this step; batch NULL: of none. */
cnn_status trainer_profile_use(trainer *t, trainer_batch *batch, int set, cnn_error *err);
/* A step: begin, (fed, where the batch comes before it), end, which waits for it. */
cnn_status trainer_profile_begin(trainer *t, trainer_batch *batch, int set, cnn_error *err);
cnn_status trainer_profile_fed(trainer *t, cnn_error *err);
cnn_status trainer_profile_end(trainer *t, cnn_error *err);
/* Ends an operation's laps. */
static inline cnn_status trainer_profile_call(const trainer *t, cnn_error *err)
{
    return t->profile != NULL ? CNN_CALL(t->session->impl, profile->lap, err, t->session->context, "", err) : CNN_OK;
}

/* graph.c: captures every step that an epoch takes, after a warm-up that changes parameters and sums. */
cnn_status trainer_capture(trainer *t, cnn_error *err);
void trainer_graphs_free(trainer *t);

/* epoch.c */
/* The order of a pass and its shifts, on the host; the test pass is the same in every epoch. */
void trainer_draw_pass(trainer *t, int set, int64_t epoch);
/* Queues one step of a pass, counted from 0, its batch fed before it. */
cnn_status trainer_queue_step(trainer *t, int set, int64_t step, cnn_error *err);
cnn_status trainer_run(trainer *t, const call_list *list, cnn_error *err);
cnn_status trainer_clear_sums(trainer *t, cnn_error *err);
cnn_status trainer_read_sums(trainer *t, double *loss_sum, int64_t *correct, cnn_error *err);
/* On what is in the batch buffers of lane 0, or (fused) of `lane`. */
cnn_status trainer_update(trainer *t, const trainer_batch *batch, int lane, cnn_error *err);
/* A step on a set: an update, or inference. */
cnn_status trainer_set_step(trainer *t, const trainer_batch *batch, int lane, int set, cnn_error *err);
/* Puts the network, its batch size and `what` before the error's message. */
cnn_status trainer_name_error(const trainer *t, const char *what, cnn_error *err);

/* sample.c: before and after a launch of steps [first, first + steps) of a pass, for those samples that ask for it;
 * `last`: the pass ends here. Behind the training pass. */
cnn_status trainer_sample_before(trainer *t, const trainer_watch *watch, int set, int64_t first, int64_t steps,
                                 cnn_error *err);
cnn_status trainer_sample_after(trainer *t, const trainer_watch *watch, int set, int64_t done, bool last,
                                cnn_error *err);
cnn_status trainer_sample_trained(trainer *t, const trainer_watch *watch, cnn_error *err);

static inline void *trainer_at(const trainer *t, size_t place) { return place == NOWHERE ? NULL : t->arena + place; }
static inline const dataset_part *trainer_part(const trainer *t, int set)
{
    return set == TRAIN_SET ? &t->data->train : &t->data->test;
}

#endif
