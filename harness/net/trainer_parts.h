/* trainer_parts.h: what the files of the training loop share. The loop holds the data, the order of an epoch, the sums,
 * the clock and the memory; the steps are a trainer's (cnn/train.h): an implementation's own, which has memory of its
 * own, or the composition. */
#ifndef HARNESS_NET_TRAINER_PARTS_H
#define HARNESS_NET_TRAINER_PARTS_H

#include "harness/cpu/threads.h"
#include "harness/device/call.h"
#include "harness/problem/names.h"
#include "trainer.h"

enum { TRAIN, TEST, PASSES };

/* A place is an offset into the one allocation, in which everything has one before it is made; NOWHERE for a buffer
 * that is left out. */
#define NOWHERE SIZE_MAX

/* Buffers for the images of a batch that comes from host memory: two in turn, one is filled while the other is read. */
enum { LANES = 2, HOST_TIMES = 256 };

struct trainer {
    const cnn_session *session;
    const cnn_network *network;
    const cnn_net *net; /* &network->net */
    const dataset *data;
    trainer_params params;
    cnn_optimizer_desc optimizer;

    const cnn_algorithm *algorithm; /* an implementation's trainer; NULL: the composition */
    const cnn_trainers *table;
    cnn_trainer *own;
    cnn_trainer_facts facts;

    /* Images: all of them on the device, with the order of each pass; or n_lanes batches that come in from the host. */
    trainer_bytes bytes;
    bool overflow; /* more memory than can be addressed; bytes.total then means nothing */
    size_t loss_at, correct_at, rows_at[PASSES], labels_at[PASSES], order_at[PASSES], shifts_at;
    size_t images_at[LANES], batch_labels_at[LANES]; /* of a batch; without lanes the first, for the composition */
    char *arena;
    int n_lanes;
    int64_t count[PASSES];                   /* images of a pass that this rank takes: all of them, without ranks */
    cnn_images images[PASSES], lanes[LANES]; /* on the device */
    int32_t *order[PASSES];                  /* host: of an epoch; the test's is as they stand */
    cnn_shift *shifts;                       /* host: how training images are moved; NULL without params.shift */
    int32_t *next_order;                     /* host: the same of epoch `drawn`, where that is not negative */
    cnn_shift *next_shifts;
    int64_t drawn;
    char *rows[PASSES];     /* with host_data: all images, converted, in host memory */
    char *staging[LANES];   /* with host_data: a batch as it stands on the device: images, then labels */
    thread_pool *gatherers; /* with host_data: they fill the staging buffers; NULL: the caller does */

    epoch_profile *profile; /* with params.profile, else NULL */
    double transfer_s;      /* of the epoch, so far */
    double comm_s;          /* likewise: the host's, in the sums over ranks */
    double comm_flight_s;   /* likewise: while sums over ranks were under way, beside operations too */
    size_t comm_bytes;      /* of an implementation's own trainer: what a step adds up, and what that takes alone */
    double comm_alone_s;
    double paused;                 /* of the epoch, so far: seconds that are not its own */
    double host_times[HOST_TIMES]; /* seconds a step that the host took to queue it, of an epoch's first calls */
    int n_host_times;
    int64_t ahead; /* steps that are queued before the host waits for them, if someone watches */
};

/* Asks the trainer. What an implementation's own answers is checked like any slot's answer. */
#define TRAINER_ASK(t, slot, err, ...)                                                                                 \
    ((t)->algorithm == NULL                                                                                            \
         ? (t)->table->slot((t)->session->context, (t)->own, __VA_ARGS__, (err))                                       \
         : cnn_answer((t)->session->impl->name, "trainers->" #slot,                                                    \
                      (cnn_silence(err), (t)->table->slot((t)->session->context, (t)->own, __VA_ARGS__, (err))),       \
                      (err)))

/* composition/: the harness's own trainer: single operations of an implementation, one after another. Opening plans
 * them and places what they need. Starting, when there is memory, images and orders in it and a batch in each lane,
 * captures the steps after a warm-up; what parameters and sums are behind it is left open. */
extern const cnn_trainers composition_trainers; /* without supports and open */
cnn_status composition_open(trainer *t, cnn_error *err);
cnn_status composition_start(trainer *t, cnn_error *err);
trainer_comm composition_comm(const cnn_trainer *t);
cnn_status composition_rate(trainer *t,
                            cnn_error *err); /* takes t->optimizer's; what the state is behind it is left open */
/* see trainer_fused() */
int composition_fused(const cnn_session *session, const cnn_net *net, const trainer_params *params);
const char *composition_algorithm(const cnn_trainer *t, int layer, cnn_dir dir); /* see trainer.h */
char *composition_choices(const cnn_trainer *t);
int composition_beside(const cnn_trainer *t, int *all); /* see trainer_beside() */

/* trainer.c: the implementation's own trainer. Parameters and sums are left open behind it. */
cnn_status trainer_open_own(trainer *t, cnn_error *err);
void trainer_close_own(trainer *t);

/* feed.c: the images' way to the device. Place: where they are to stand. Start: what does not change. Order: of a pass,
 * drawn before. Lane: images [first, first + mb) of a pass into a lane. */
void trainer_feed_place(trainer *t);
cnn_status trainer_feed_start(trainer *t, cnn_error *err);
void trainer_feed_close(trainer *t);
cnn_status trainer_feed_order(trainer *t, int set, cnn_error *err);
cnn_status trainer_feed_lane(trainer *t, int lane, int set, int64_t first, int64_t mb, cnn_error *err);
cnn_status trainer_feed_end(trainer *t, cnn_error *err); /* of a pass: adds up transfer_s */

/* feed_rows.c: the first `rows` rows of a batch into its staging buffer; who does it where many bytes are to be moved.
 */
cnn_status trainer_gatherers_open(trainer *t, size_t row_bytes, cnn_error *err);
void trainer_gatherers_close(trainer *t);
void trainer_gather(const trainer *t, const cnn_gather_args *args, int64_t rows);

/* share.c: over ranks: whether data and network can be shared out; this rank's images of a pass, of the order and
 * shifts of all. */
cnn_status trainer_share_check(const trainer *t, cnn_error *err);
/* Whether a trainer (NULL: the composition) can be shared by these ranks. */
cnn_status trainer_share_supported(const cnn_session *session, const cnn_algorithm *algorithm, const ranks *r,
                                   cnn_error *err);
/* cnn_trainer_request.sum of an implementation's trainer, for `user` a trainer; what such a sum takes alone, when one
 * was made; the median of so many seconds, which are put in order. */
enum { TRAINER_SUMS_TIMED = 21 };
cnn_status trainer_share_sum(void *user, void *numbers, int64_t count, cnn_dtype, cnn_error *err);
cnn_status trainer_share_measure(trainer *t, cnn_error *err);
double trainer_share_median(double times[TRAINER_SUMS_TIMED]);
void trainer_share_order(trainer *t, int set);

/* own_laps.c: asks an implementation's own trainer for its laps, with a profile: they become rows of it, or are left
 * out.
 */
cnn_status trainer_own_laps(trainer *t, bool keep, cnn_error *err);

/* order.c: the order of a pass and its shifts, on the host; the test pass is the same in every epoch. Ahead: of an
 * epoch to come, while the device trains this one; where it does not come next, it is drawn for nothing. */
void trainer_draw_pass(trainer *t, int set, int64_t epoch);
void trainer_draw_ahead(trainer *t, int64_t epoch);

/* Images [first, first + count) of a pass: trains on them, or tests. With lanes they are one batch. Note: an
 * overhead that began then, in the profile if there is one. */
cnn_status trainer_take(trainer *t, int set, int64_t first, int64_t count, cnn_error *err);
cnn_status trainer_note(const trainer *t, const char *what, double since, cnn_error *err);

/* state.c, beside what sample.h and trainer.h declare. Name: the network, its batch size and `what` before the message,
 * where the status is that of an error. */
cnn_status trainer_clear_sums(trainer *t, cnn_error *err);
cnn_status trainer_read_sums(trainer *t, double *loss_sum, int64_t *correct, cnn_error *err);
cnn_status trainer_name_error(const trainer *t, const char *what, cnn_status status, cnn_error *err);

/* sample.c: before and after a launch of steps [first, first + steps) of a pass, for those samples that ask for it
 * (NULL: none does); `last`: the pass ends here. Behind the training pass. */
cnn_status trainer_sample_before(trainer *t, trainer_samples *samples, int set, int64_t first, int64_t steps,
                                 cnn_error *err);
cnn_status trainer_sample_after(trainer *t, trainer_samples *samples, int set, int64_t done, bool last, cnn_error *err);
cnn_status trainer_sample_trained(trainer *t, trainer_samples *samples, cnn_error *err);

/* The next place, for `count` elements of `size` bytes, which are added to *kind, a field of t->bytes. */
size_t trainer_place(trainer *t, size_t *kind, int64_t count, size_t size);
/* Bytes of an image's or a value's element; of a parameter's see cnn_param_size(). */
static inline size_t trainer_elem(const trainer *t) { return cnn_dtype_size(t->net->type.dtype); }
static inline size_t trainer_param_bytes(const trainer *t)
{
    return (size_t)t->net->param_elems * cnn_param_size(t->net);
}
static inline size_t trainer_trained_bytes(const trainer *t)
{
    return (size_t)t->net->trained_elems * cnn_param_size(t->net);
}
/* Whether activations have 16 bits and parameters 32: then there is a loss scale. */
static inline bool trainer_is_mixed(const trainer *t) { return cnn_is_mixed(&t->optimizer.t); }
static inline size_t trainer_scaling_bytes(const trainer *t)
{
    return trainer_is_mixed(t) ? CNN_SCALING_COUNT * sizeof(double) : 0;
}
static inline void *trainer_at(const trainer *t, size_t place) { return place == NOWHERE ? NULL : t->arena + place; }
static inline const dataset_part *trainer_part(const trainer *t, int set)
{
    return set == TRAIN ? &t->data->train : &t->data->test;
}

#endif
