/* trainer_parts.h: what the files of the training loop share. The loop holds the data, the order of an epoch, the sums
 * and the clock; the steps are a trainer's (cnn/train.h): an implementation's own, or the composition. */
#ifndef HARNESS_NET_TRAINER_PARTS_H
#define HARNESS_NET_TRAINER_PARTS_H

#include "composition/composition.h"
#include "harness/device/call.h"
#include "harness/problem/names.h"
#include "trainer.h"

enum { TRAIN_SET, TEST_SET, SETS };

/* Buffers for the images of a batch that comes from host memory: two in turn, one is filled while the other is read. */
enum { LANES = COMPOSITION_LANES, HOST_TIMES = 256 };

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
    places places;
    size_t loss_at, correct_at, rows_at[SETS], labels_at[SETS], order_at[SETS], shifts_at;
    size_t images_at[LANES], batch_labels_at[LANES];
    char *arena;
    int n_lanes;
    cnn_images images[SETS], lanes[LANES]; /* on the device */
    int32_t *order[SETS];                  /* host: of an epoch; the test's is as they stand */
    cnn_shift *shifts;                     /* host: how training images are moved; NULL without params.shift */
    char *rows[SETS];                      /* with host_data: all images, converted, in host memory */
    char *staging[LANES];                  /* with host_data: a batch as it stands on the device: images, then labels */

    trainer_profile *profile;      /* with params.profile, else NULL */
    double transfer_s;             /* of the epoch, so far */
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

/* feed.c: the images' way to the device. Place: where they are to stand. Start: what does not change. Order: of a pass,
 * drawn before. Lane: images [first, first + mb) of a pass into a lane. */
void trainer_feed_place(trainer *t);
cnn_status trainer_feed_start(trainer *t, cnn_error *err);
void trainer_feed_close(trainer *t);
cnn_status trainer_feed_order(trainer *t, int set, cnn_error *err);
cnn_status trainer_feed_lane(trainer *t, int lane, int set, int64_t first, int64_t mb, cnn_error *err);
cnn_status trainer_feed_end(trainer *t, cnn_error *err); /* of a pass: adds up transfer_s */

/* order.c: the order of a pass and its shifts, on the host; the test pass is the same in every epoch. */
void trainer_draw_pass(trainer *t, int set, int64_t epoch);

/* Images [first, first + count) of a pass: trains on them, or tests. With lanes they are one batch. Note: an
 * overhead that began then, in the profile if there is one. */
cnn_status trainer_take(trainer *t, int set, int64_t first, int64_t count, cnn_error *err);
cnn_status trainer_note(const trainer *t, const char *what, double since, cnn_error *err);

/* state.c, beside what sample.h and trainer.h declare. Name: the network, its batch size and `what` before the error's
 * message. */
cnn_status trainer_clear_sums(trainer *t, cnn_error *err);
cnn_status trainer_read_sums(trainer *t, double *loss_sum, int64_t *correct, cnn_error *err);
cnn_status trainer_name_error(const trainer *t, const char *what, cnn_error *err);

/* sample.c: before and after a launch of steps [first, first + steps) of a pass, for those samples that ask for it;
 * `last`: the pass ends here. Behind the training pass. */
cnn_status trainer_sample_before(trainer *t, const trainer_watch *watch, int set, int64_t first, int64_t steps,
                                 cnn_error *err);
cnn_status trainer_sample_after(trainer *t, const trainer_watch *watch, int set, int64_t done, bool last,
                                cnn_error *err);
cnn_status trainer_sample_trained(trainer *t, const trainer_watch *watch, cnn_error *err);

static inline size_t trainer_elem(const trainer *t) { return cnn_dtype_size(t->net->type.dtype); }
static inline void *trainer_at(const trainer *t, size_t place) { return place == NOWHERE ? NULL : t->arena + place; }
static inline const dataset_part *trainer_part(const trainer *t, int set)
{
    return set == TRAIN_SET ? &t->data->train : &t->data->test;
}

#endif
