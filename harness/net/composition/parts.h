/* parts.h: what the files of the composition share: its places, plans, calls and the lists of calls. */
#ifndef HARNESS_NET_COMPOSITION_PARTS_H
#define HARNESS_NET_COMPOSITION_PARTS_H

#include "harness/device/group.h"
#include "harness/net/trainer_parts.h"

/* Places that are each lane's: its images and labels. */
#define LANE_IMAGES (SIZE_MAX - 1)
#define LANE_LABELS (SIZE_MAX - 2)

/* What a step writes and forgets: values, their gradients, what batch norm saves. Until all calls are listed, a place
 * from BUFFER on is the number of such a buffer; then sharing.c gives those that are never needed at the same time the
 * same memory. (No real place is so large: see trainer_place.) */
#define BUFFER (SIZE_MAX / 2 + 1)

enum { STEP_ALIGN = 256 };

/* What operations run on: the context's stream, and a second one, see streams.c. */
enum { STREAMS = 2 };

/* The first and the last call of a list that use a buffer; last -1: none does. */
typedef struct step_use {
    int first, last;
    int known; /* the last call of the other stream that is over when `first` begins; -1: none */
} step_use;

/* Of all calls, and of those on each stream. */
typedef struct step_life {
    int first, last;
    step_use on[STREAMS];
} step_life;

typedef struct step_buffer {
    size_t bytes, at;
    int value; /* whose it is, as the forward pass makes it; else 0 */
    step_life life[PASSES];
} step_buffer;

/* Plans are shared by calls: one for each layer, direction, batch size and mode. Layer -1 - V stands for the sum of
 * two gradients of value V, OPTIMIZER_LAYER for the update. */
enum { OPTIMIZER_LAYER = NET_MAX_LAYERS };
typedef struct step_plan {
    int layer;
    int64_t mb;
    bool inference;
    cnn_plan plan;
} step_plan;

/* Of a call without a plan: what it does for a value that moves to host memory. It begins the copy out, or back; what
 * comes behind it waits for that copy. */
typedef enum step_move { STAYS, MOVES_OUT, IS_OUT, MOVES_BACK, IS_BACK } step_move;

/* One operation with its buffers, or (plan -1) a copy of copy_bytes from at[0] to at[1]; with a move, of at[0] to
 * host_at or from there. */
typedef struct step_call {
    int plan, n_operands;
    unsigned written; /* a bit for each operand: the call writes it */
    bool again;       /* of the forward pass, in the backward pass: see recompute.c */
    bool done;        /* an activation, by the call before it: nothing is left to do */
    int stream;       /* 0: the context's; see streams.c, and so the next three */
    int waits, marks; /* for a mark before it; makes a mark behind it; counted from 1, 0: none */
    int known;        /* with two streams: the last call of the other one that is over when it begins; -1: none */
    int begins;       /* so many buckets' sums begin behind it: see buckets.c */
    step_move move;   /* see offload.c, and so the next two */
    int copy;         /* which of the copies to the host and back */
    size_t host_at;
    size_t at[CNN_MAX_OPERANDS], copy_bytes;
    void *operands[CNN_MAX_OPERANDS]; /* from `at`, once the memory is there */
    cnn_run_extra extra;
    char range[CNN_NAME_MAX + 8]; /* layer and direction, for a profiler */
} step_call;

typedef struct call_list {
    step_call *calls;
    int count, capacity;
    int joins; /* behind the last call: the mark that the context's stream waits for, from 1; 0: none */
} call_list;

/* Elements [first, first + count) of the gradients' array. */
typedef struct step_bucket {
    int64_t first, count;
} step_bucket;

enum { MAX_BATCHES = 3 };

/* One batch size, by mode: the calls of a step but for the update, none where no such step occurs. Graphs of a step,
 * and of STEPS_A_GRAPH of them in a row; NULL where steps are not captured or not so many. */
enum { STEPS_A_GRAPH = 16 };
typedef struct step_batch {
    int64_t mb;
    call_list calls[PASSES];
    cnn_graph *step[PASSES], *steps[PASSES];
    cnn_laps *laps[PASSES]; /* with a profile */
} step_batch;

/* The step under way, with a profile. */
typedef struct step_laps {
    step_batch *batch;
    int mode;
    double start;
} step_laps;

struct cnn_trainer {
    trainer *loop; /* whose steps these are, and whose the memory is */
    const cnn_session *session;
    const cnn_net *net;
    bool gathers; /* no lanes: batches are gathered */
    bool graphs;  /* each step that occurs is captured */

    size_t *value_at, *grad_at;          /* one a value; no gradient: NOWHERE */
    size_t *again_at;                    /* one a value: where it is computed again; with recompute, else NULL */
    size_t *back_at;                     /* likewise: where it is copied back to; with offload, else NULL */
    size_t (*save_at)[2];                /* one a layer: batch norm's save_mean and save_invstd */
    size_t *scratch_at;                  /* one a layer: a gradient that is then added to others; or NOWHERE */
    size_t params_at, grads_at, kept_at; /* kept: a copy of the running statistics, during `gradients` */
    size_t aside_at;                     /* likewise, while batch norm is computed again */
    size_t state_at[2], workspace_at[STREAMS], step_at, cursor_at;
    /* In f16 and bf16, else NOWHERE: the trained parameters rounded to 16 bits, which kernels read; the loss scale and
     * what belongs to it; and the scale that the gradients have, which the update may then change. */
    size_t copy_at, scaling_at, scale_at;
    step_buffer *buffers;
    int n_buffers, buffer_capacity;

    step_batch batches[LANES][MAX_BATCHES]; /* the full one first */
    int n_lists, n_batches;                 /* lists: one a lane; gathering needs one as well */
    step_plan *plans;
    int n_plans, plan_capacity;
    call_list update;
    int64_t cursor; /* where the device's cursor stands; -1: unknown */
    step_laps laps;

    cnn_offload *offload; /* with values that move to host memory, whose memory `host` is; else NULL */
    char *host;
    int n_copies;

    cnn_stream *second; /* with two streams, else NULL */
    int n_marks;

    cnn_group group;      /* over ranks: what adds up their gradients */
    step_bucket *buckets; /* likewise, in the order in which their sums begin; one or none: one sum behind all calls */
    int n_buckets;
    double comm_alone_s; /* over ranks: what their sum takes */
};

/* layout.c: places what lasts, and makes the buffers. Workspace and buffers are placed when all plans are made. */
cnn_status step_layout(cnn_trainer *t, cnn_error *err);

/* aliases.c: takes copies of gradients out of a list where both may be one buffer. */
void step_take_out_copies(call_list *list);

/* recompute.c: which values are computed again in the backward pass, and the calls for that; nothing without
 * trainer_params.recompute. */
cnn_status step_recompute(cnn_trainer *t, cnn_error *err);

/* The first list of a training step; NULL: there is none. */
const call_list *step_first_list(const cnn_trainer *t);

/* offload.c: which values go to host memory between the passes, and the calls for that; nothing without
 * trainer_params.offload. moves.c: the memory there, and what the copies need; a call with a move. */
cnn_status step_offload(cnn_trainer *t, cnn_error *err);
cnn_status step_offload_open(cnn_trainer *t, cnn_error *err);
void step_offload_close(cnn_trainer *t);
cnn_status step_offload_run(const cnn_trainer *t, const step_call *call, cnn_error *err);

/* streams.c: which calls go on a second stream, and who waits for whom; nothing without trainer_params.streams.
 * forks.c: the second stream; a call of a list with what it waits for and marks; the end of a list. */
cnn_status step_streams(cnn_trainer *t, cnn_error *err);
cnn_status step_second_open(cnn_trainer *t, cnn_error *err);
void step_second_close(cnn_trainer *t);
cnn_status step_fork(const cnn_trainer *t, const step_call *call, cnn_error *err);
cnn_status step_join(const cnn_trainer *t, const call_list *list, cnn_error *err);

/* sharing.c: the life of each buffer in a list; the most bytes that are alive at once; a place for each. */
void step_lives(const cnn_trainer *t, const call_list *list, step_life *lives);
cnn_status step_peak(const cnn_trainer *t, const call_list *list, size_t *bytes, cnn_error *err);
cnn_status step_share(cnn_trainer *t, cnn_error *err);
/* What places take with this list in place of the training steps'; step_share() comes behind it. */
cnn_status step_placed(cnn_trainer *t, const call_list *train, size_t *bytes, cnn_error *err);

/* What a buffer of so many bytes takes: places are as trainer_place() has them. */
static inline size_t step_rounded(size_t bytes) { return (bytes + STEP_ALIGN - 1) / STEP_ALIGN * STEP_ALIGN; }

static inline bool step_is_buffer(size_t at) { return at >= BUFFER && at < LANE_LABELS; }

/* calls.c: one more call in a list. dx: places for the gradients of the layer's inputs (BWD_D only). */
cnn_status step_add_call(cnn_trainer *t, call_list *list, int layer, cnn_dir dir, int64_t mb, bool inference,
                         const size_t dx[CNN_MAX_INPUTS], double beta, cnn_error *err);
/* Of FWD: the layer with the activation behind it, and a call that is done, for that; where there is none, or it is not
 * fused, nothing (*added false). */
cnn_status step_add_fused(cnn_trainer *t, call_list *list, int layer, int64_t mb, bool *added, cnn_error *err);

/* fuse.c: a layer's own algorithm, or the one for all. */
const char *step_algorithm(const trainer_params *params, int layer, cnn_dir dir);
/* Whether the activation behind a layer is its epilogue: it works in place, and the layer's algorithm takes it. Then
 * that problem, and the same algorithm. The values are the same, bit by bit, but of curved activations in 16 bits,
 * which are rounded once less. */
bool step_fuses(const cnn_session *session, const cnn_net *net, const trainer_params *params, int layer, int64_t mb,
                cnn_problem *fused, cnn_algorithm *algorithm);
/* at[to] += at[from], or a copy; both hold value `value` for mb images. */
cnn_status step_add_sum(cnn_trainer *t, call_list *list, int value, int64_t mb, size_t to, size_t from, cnn_error *err);
cnn_status step_add_copy(cnn_trainer *t, call_list *list, int value, int64_t mb, size_t to, size_t from,
                         cnn_error *err);
/* The optimizer's, on all trained parameters. */
cnn_status step_add_update(cnn_trainer *t, call_list *list, cnn_error *err);

/* backward.c: the calls of a backward pass. */
cnn_status step_schedule_backward(cnn_trainer *t, step_batch *batch, cnn_error *err);
/* schedule.c: all lists. */
cnn_status step_schedule(cnn_trainer *t, cnn_error *err);
/* NULL when a step of this mode was not planned for. */
step_batch *step_find_batch(cnn_trainer *t, int lane, int64_t mb, int mode, cnn_error *err);

/* buckets.c: which parts of the gradients are added up over ranks beside the backward pass, and behind which calls of
 * the lists, which are whole. */
cnn_status step_buckets(cnn_trainer *t, cnn_error *err);

/* run.c: one call of a list, or no more than what it does; the calls of a list; those of a step: with the update, or
 * inference. */
cnn_status step_run_call(const cnn_trainer *t, const step_call *call, cnn_error *err);
cnn_status step_do_call(const cnn_trainer *t, const step_call *call, cnn_error *err);
cnn_status step_run(cnn_trainer *t, const call_list *list, cnn_error *err);
cnn_status step_run_mode(cnn_trainer *t, const step_batch *batch, int mode, cnn_error *err);

/* sums.c: over ranks. Open: what it takes, and how long it takes, with memory there and nothing in it; without ranks it
 * does nothing. Train: the calls of a list, with the sums of the gradients, captured where steps are. */
cnn_status step_sums_open(cnn_trainer *t, cnn_error *err);
cnn_status step_sums_train(cnn_trainer *t, const call_list *list, cnn_error *err);

/* gather.c: a batch of `images` from `first` on into the buffer for one. By cursor, where steps are captured: then the
 * device's cursor says where, which step_seek puts there. */
bool step_gathers_by_cursor(const cnn_trainer *t);
cnn_status step_seek(cnn_trainer *t, int64_t first, cnn_error *err);
cnn_status step_gather(cnn_trainer *t, const cnn_images *images, int64_t first, int64_t mb, cnn_error *err);

/* gather_check.c: whether the implementation's gather makes the batches that it is asked for. */
cnn_status step_check_gather(cnn_trainer *t, cnn_error *err);

/* graph.c: captures every step that a pass takes, after a warm-up that changes parameters and sums; capture: without
 * that, where all ran before. Forget: a batch's captured steps, and laps. */
cnn_status step_prepare(cnn_trainer *t, cnn_error *err);
cnn_status step_capture(cnn_trainer *t, cnn_error *err);
void step_forget(const cnn_trainer *t, step_batch *batch);

/* laps.c: nothing of it does anything without a profile. From here on operations make the laps of this step; batch
 * NULL: of none. */
cnn_status step_laps_use(cnn_trainer *t, step_batch *batch, int mode, cnn_error *err);
/* Around a step; `end` waits for it. */
cnn_status step_laps_begin(cnn_trainer *t, step_batch *batch, int mode, cnn_error *err);
cnn_status step_laps_end(cnn_trainer *t, cnn_error *err);
/* Ends an operation's laps. */
static inline cnn_status step_laps_call(const cnn_trainer *t, cnn_error *err)
{
    return t->loop->profile != NULL ? CNN_CALL(t->session->impl, profile->lap, err, t->session->context, "", err)
                                    : CNN_OK;
}

#endif
