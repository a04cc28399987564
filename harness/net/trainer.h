/* trainer.h: trains a network on a session's device.
 *
 *   trainer_open    plans every operation and lays out every buffer; allocates nothing on the device
 *   trainer_start   checks that it fits, allocates once, uploads data and initial parameters, captures the steps
 *   trainer_epoch   train on all images, test on all; trainer_step, trainer_gradients, trainer_infer: single steps
 *
 * Over ranks (harness/ranks) the network's batch is a rank's share of a step: rank r of n takes images [r * share, (r +
 * 1)
 * * share) of each global batch, which stand as they would for one process with that batch. Gradients are those of the
 * mean over the global batch, added up once a step; sums, means and figures are over all ranks' images. Every call but
 * those that only look is made by all ranks.
 *
 * The steps are made by an implementation's own trainer (cnn/train.h), if `algorithm` names one, or else by the
 * composition of its operations: a list of calls made beforehand, one list for each batch size that occurs (the full
 * batch, and the last, partial ones of training and testing); running it allocates nothing. The loss of a batch is the
 * mean over its images, so the gradients are those of the mean.
 *
 * Where the implementation can capture, an epoch replays its steps as graphs: at small batches the time goes into
 * launching, not computing. The images stand in device memory and are gathered there; or (host_data) in host memory,
 * and the next batch is gathered and uploaded while the device works on this one. */
#ifndef HARNESS_NET_TRAINER_H
#define HARNESS_NET_TRAINER_H

#include "../data/dataset.h"
#include "harness/device/impl.h"
#include "harness/ranks/ranks.h"
#include "net.h"
#include "profile.h"
#include "sample.h"

typedef struct trainer_params {
    /* An implementation's trainer; or for conv, and for other operations that it serves; NULL: the defaults. */
    const char *algorithm;
    /* (optional) the name of a layer's own algorithm, asked for at trainer_open; NULL: as above. */
    const char *(*pick)(void *user, int layer, cnn_dir dir);
    void *pick_user;
    cnn_optimizer_desc optimizer; /* kind and rates; `t` and `count` are filled in here */
    uint64_t seed;                /* of the shuffling */
    bool no_graph;                /* launch every operation of every step, even where a step could be captured */
    bool fuse;                    /* conv and FC do the activations behind them, where they can: trainer_fused() */
    bool host_data;               /* the images stay in host memory */
    bool recompute;               /* values are computed again in the backward pass where that saves memory */
    bool offload;      /* values are in host memory between the passes where that saves memory of the device */
    int64_t streams;   /* 2: operations that do not depend on each other run at once; else one after another */
    int64_t workers;   /* above 0: exemplar parallelism, see cnn/train.h */
    int64_t shift;     /* training images are moved at random by up to so many pixels, anew each epoch */
    ranks *ranks;      /* who trains along; NULL: nobody */
    int64_t bucket;    /* bytes, at least, of each sum over ranks beside the backward pass; 0: one behind it */
    bool profile;      /* tell where each epoch's time goes; steps are then waited for one by one */
    double loss_scale; /* in f16 and bf16: at first, or all along without optimizer.growth; 0: 1 */
} trainer_params;

/* What the memory is for; `total` is what is allocated, alignment included. */
typedef struct trainer_bytes {
    size_t data;      /* all images and labels; 0 with host_data */
    size_t values;    /* one batch: images (with host_data two of them); the layers' outputs, their gradients and what
                       * batch norm saves, which share memory where they are never needed at the same time */
    size_t apart;     /* what these would take with places of their own, images aside; not in `total` */
    size_t params;    /* weights, biases, ..., running statistics */
    size_t grads;     /* of the trained parameters */
    size_t optimizer; /* its state */
    size_t workspace; /* the largest any operation asks for; of each stream */
    size_t small;     /* batch labels, the order of images, sums, the step counter */
    size_t total;
    size_t offload; /* of values between the passes, in host memory; not in `total` */
    size_t host;    /* with host_data, in host memory: all images, and two batches on their way; not in `total` */
} trainer_bytes;

typedef struct trainer_result {
    double seconds, train_s, test_s; /* wall clock, the device synchronised; of an epoch on an emulated device NaN */
    double train_loss, test_loss;    /* means over the images; the training loss as seen before each update */
    double train_accuracy, test_accuracy;
    double images_per_s; /* training images / train_s */
    double transfer_s;   /* uploads of batches (host_data), as much as they overlap with steps; else 0 */
    double host_step_s;  /* what queueing a training step takes the host, at the median; NaN where it waits as well */
    int64_t steps;
    double comm_s; /* over ranks: of train_s, what adding up gradients took, waits for the others included; NaN where
                    * that is part of a captured step */
    double comm_flight_s;   /* likewise, with the operations beside which sums were under way */
    double loss_scale;      /* in f16 and bf16: behind the epoch; else NaN */
    int64_t steps_left_out; /* likewise: since the training began, for a gradient that was not finite; else 0 */
} trainer_result;

/* Of a trainer over ranks: what one step adds up, in how many sums, and what that takes alone, at the median; 0 and NaN
 * without ranks. */
typedef struct trainer_comm {
    size_t bytes;
    int sums;
    double alone_s;
    const char *way; /* "MPI", "MPI, by way of host memory", "device" */
} trainer_comm;

/* Called between steps, or every few where several are one graph. Returning false ends the epoch there with
 * CNN_INTERRUPTED. On an asynchronous device, steps are queued when they count as done. */
typedef struct trainer_watch {
    bool (*each)(void *user, int64_t images_done, int64_t images_total);
    void (*loss)(void *user, int64_t step, double loss); /* (optional) each training step's; costs a download a step */
    void *user;
    trainer_samples *samples; /* (optional) an epoch's steps that are looked at; not timed */
} trainer_watch;

/* `network` and `data` must outlive the trainer. data may be NULL: then only the single steps below work.
 * CNN_BAD_ARGUMENT when shapes or classes do not fit the data, or the batch is larger than the training set. */
cnn_status trainer_open(const cnn_session *session, const cnn_network *network, const dataset *data,
                        const trainer_params *params, trainer **out, cnn_error *err);
/* CNN_OUT_OF_MEMORY before anything is allocated. A step that cannot be captured is an error that says so. */
cnn_status trainer_start(trainer *t, cnn_error *err);
void trainer_close(trainer *t); /* NULL is accepted */

/* Whether the network takes these images, and tells so many classes apart: CNN_BAD_ARGUMENT. */
cnn_status trainer_fits(const cnn_net *net, const dataset *data, cnn_error *err);
/* The row of its trainer of this name; NULL: it has none, and single operations train. */
const cnn_algorithm *trainer_row(const cnn_session *session, const char *name);
/* Whether this implementation's trainer (a row with CNN_TRAINS) trains the network so: CNN_UNSUPPORTED says why not. */
cnn_status trainer_supported(const cnn_session *session, const cnn_network *network, const cnn_algorithm *algorithm,
                             const trainer_params *params, cnn_error *err);
/* Whether a trainer with these parameters, and data, replays captured steps. */
bool trainer_uses_graph(const cnn_session *session, const trainer_params *params);
/* How many activations are epilogues of the conv or FC before them (verify.md#epilogues); 0 for an implementation's
 * trainer. */
int trainer_fused(const cnn_session *session, const cnn_network *network, const trainer_params *params);
/* params->streams; 0 where operations run one after another: with one stream, or an implementation's trainer. */
int64_t trainer_streams(const cnn_session *session, const trainer_params *params);
/* With two streams: how many operations of a training step are on the second one, and how many there are; else 0. */
int trainer_beside(const trainer *t, int *all);
/* params->bucket; 0 where it has no use: without other ranks, for an implementation's trainer, in a device's memory. */
int64_t trainer_bucket(const cnn_session *session, const trainer_params *params);

trainer_bytes trainer_memory(const trainer *t);
trainer_comm trainer_communication(const trainer *t); /* when it has started */
ranks *trainer_ranks(const trainer *t);
/* The algorithm that layer's operation settled on, "" when the layer has no such direction. */
const char *trainer_algorithm(const trainer *t, int layer, cnn_dir dir);
/* What each layer got from an algorithm that is a search (find, heuristic): "conv1 FWD eng7 k2=1, conv1 BWD_W algo_1";
 * "" where none searches. To be freed; NULL when out of memory. */
char *trainer_choices(const trainer *t);

/* Epochs count from 0; the order of images depends on the seed and the epoch alone. watch may be NULL. */
cnn_status trainer_epoch(trainer *t, int64_t epoch, const trainer_watch *watch, trainer_result *result, cnn_error *err);
/* Tests on all test images: fills test_s, test_loss, test_accuracy. */
cnn_status trainer_test(trainer *t, const trainer_watch *watch, trainer_result *result, cnn_error *err);
/* With params.profile: of the latest epoch, until the next one begins. Else NULL. */
const epoch_profile *trainer_profiled(const trainer *t);
/* The order in which an epoch takes the images: a permutation of 0..count-1. */
void trainer_order(uint64_t seed, int64_t epoch, int64_t count, int32_t *order);
/* With params.shift: how the images of that order are moved, by -most to most pixels in each direction, all alike
 * likely; depends on seed and epoch alone. */
void trainer_shifts(uint64_t seed, int64_t epoch, int64_t count, int64_t most, cnn_shift *shifts);
/* What a gather of images [first, first + mb) of a pass is told, but for where to. */
cnn_gather_args trainer_gather_args(const cnn_net *net, const cnn_images *images, int64_t first, int64_t mb);

/* The flat parameter vector: net->param_elems elements of cnn_params_dtype(), host memory. */
cnn_status trainer_get_params(trainer *t, void *params, cnn_error *err);
/* Starts over with them, at step 0, with the optimizer's initial state. NULL: the initial parameters. */
cnn_status trainer_set_params(trainer *t, const void *params, cnn_error *err);

/* Another learning rate from here on, between epochs; all else stands as it did. The rate that it has is no work. */
cnn_status trainer_set_rate(trainer *t, double lr, cnn_error *err);

/* Single steps of a trainer without data, or with host_data, on images given in host memory: mb images of the network's
 * dtype and layout (what dataset_rows() makes) and their labels; mb is the network's batch, or another that occurs.
 * loss: the mean over them. */

/* Forward in training mode and backward; no update: parameters, running statistics and the step count stay as they are.
 * grads (host, net->trained_elems) gets d loss / d params. grads and loss may be NULL. */
cnn_status trainer_gradients(trainer *t, const void *images, const int32_t *labels, int64_t mb, void *grads,
                             double *loss, cnn_error *err);
/* One training step with update. loss and correct, both as before the update, may be NULL. */
cnn_status trainer_step(trainer *t, const void *images, const int32_t *labels, int64_t mb, double *loss,
                        int64_t *correct, cnn_error *err);
/* Inference. loss and correct may be NULL. */
cnn_status trainer_infer(trainer *t, const void *images, const int32_t *labels, int64_t mb, double *loss,
                         int64_t *correct, cnn_error *err);

/* checkpoint.c: a training run on disk, to go on with: parameters, running statistics, the optimizer's state, the step
 * count and how many epochs are done. What follows is, bit for bit, what would have followed without the stop. */
enum { CHECKPOINT_SETTING_MAX = 2048 };

/* How far it is. */
typedef struct checkpoint_progress {
    int64_t epochs;     /* done */
    double best_loss;   /* the least test loss so far; only with epochs > 0 */
    int64_t since_best; /* epochs behind the one that had it */
} checkpoint_progress;

/* Over ranks rank 0 writes, and all read. Written beside and renamed, so that a kill at any moment leaves either the
 * old one or the new one whole. `setting` is a line that says what is trained and how. CNN_IO names the file. */
cnn_status checkpoint_save(trainer *t, const char *path, const char *setting, const checkpoint_progress *progress,
                           cnn_error *err);
/* Whether it can be written at all: asked before the first epoch, and not known only after it. CNN_IO names the file.
 */
cnn_status checkpoint_check(const char *path, cnn_error *err);
/* progress->epochs is 0 when there is no such file. CNN_BAD_ARGUMENT when it is of another setting, CNN_BAD_FORMAT when
 * it is no checkpoint or damaged. */
cnn_status checkpoint_load(trainer *t, const char *path, const char *setting, checkpoint_progress *progress,
                           cnn_error *err);

#endif
