/* cnn/train.h: whole training in an implementation's own hands. Part of cnn.h.
 *
 * A trainer takes batch after batch of a network's images: gathers them, forward, loss, backward, update. How it does
 * that, in which memory and layout, is its own affair; parameters come in and go out in the canonical order of
 * cnn_net.params. The harness has one of its own, made of single operations, to which every other is compared.
 *
 * It is chosen like an algorithm: by a row of cnn_impl.algorithms with CNN_TRAINS in `ops`. */
#ifndef CNN_TRAIN_H
#define CNN_TRAIN_H

#include "args.h"
#include "net.h"
#include "plan.h"

typedef struct cnn_trainer cnn_trainer; /* opaque: the implementation's own, from `open` to `close` */

/* The images of a pass over a data set. Image i of the pass is rows[order[i]], of the network's dtype and layout, moved
 * by shifts[i] (see cnn_gather_args), with labels[order[i]], which is from 0 to classes - 1. All arrays stand in the
 * implementation's memory. */
typedef struct cnn_images {
    const void *rows;
    const int32_t *labels;
    const int32_t *order;    /* (optional) NULL: as they stand, i itself */
    const cnn_shift *shifts; /* (optional) NULL: none is moved */
    int64_t count;
} cnn_images;

/* All that it points to outlives the trainer, but for the algorithm and the knobs. */
typedef struct cnn_trainer_request {
    const cnn_net *net;
    const cnn_optimizer_desc *optimizer;
    const cnn_algorithm *algorithm;
    const int64_t *knobs;
    bool shifts; /* whether images will be moved */
    /* Exemplar parallelism (Karv, 2018), which trainers with CNN_ALGO_EXEMPLARS are asked for, and no others; else 0. A
     * batch of n images is cut into shares, one a worker, of consecutive images: ceil(net->batch / workers) each, the
     * last ones shorter or empty. A worker goes through its share image by image, with the optimizer's update behind
     * each, on a copy w_k of the parameters w. Then w becomes w + sum_k n_k / n * (w_k - w), n_k images being in share
     * k. All of this counts as one step. Losses and right answers are as each worker saw them, before each of its
     * updates. Behind `train`, `save` gives any gradients. */
    int64_t workers;
    /* Processes that train together, each on net->batch images a step (of a last batch as many as the others): above 1
     * with CNN_ALGO_RANKS alone, else 1. Then gradients are of the mean over the images of all of them. In each step
     * the trainer adds up its gradients over all: sum(sum_user, numbers in host memory, ...), in place, which is called
     * by the thread that called `train` or `gradients`. What fails there ends the call with that status. Dropout draws
     * by an element's position in the batch of all: rank r has images [r * n, (r + 1) * n) of it, of n each. */
    int64_t ranks, rank; /* rank: this process, from 0 on */
    cnn_status (*sum)(void *user, void *numbers, int64_t count, cnn_dtype, cnn_error *);
    void *sum_user;
    /* In the implementation's memory; the harness clears and reads them. NULL in `supports`. */
    double *loss_sum;
    int64_t *correct;
    bool profile; /* whether `profile` will be asked: with CNN_ALGO_PROFILES alone */
} cnn_trainer_request;

/* A part of what `train` and `test` do, and how long it took. */
typedef struct cnn_trainer_lap {
    int layer;         /* of cnn_net.layers, the first of those that the part does; below 0: CNN_LAP_... */
    cnn_dir dir;       /* of a layer in `train` */
    bool test;         /* a part of `test` */
    const char *phase; /* its name; lives as long as the trainer */
    double seconds;
} cnn_trainer_lap;

enum {
    CNN_LAP_IMAGES = -1, /* a batch's images come in */
    CNN_LAP_UPDATE = -2, /* behind the backward pass: gradients are added up, parameters change */
    CNN_LAP_OTHER = -3
};

/* What `open` says of a trainer. */
typedef struct cnn_trainer_facts {
    size_t bytes; /* of device memory that it holds */
    /* How many it likes to be asked for at once, while so many are left, else one by one: 1, or more where that is
     * faster. INT64_MAX: all that are left of the pass. */
    int64_t steps;
} cnn_trainer_facts;

/* What stands between two steps, in host memory, in the order of cnn_net.params and the network's dtype; of f16 and
 * bf16 in f32. */
typedef struct cnn_train_state {
    void *params;   /* cnn_net.param_elems: running statistics are in it */
    void *state[2]; /* trained_elems each, as many as the optimizer has (args.h: m, then s); the others NULL */
    /* trained_elems: d loss / d params of the latest step, or of `gradients`, without the optimizer's l1 and l2; behind
     * `load` anything. */
    void *grads;
    int64_t step; /* updates so far */
    /* CNN_SCALING_COUNT numbers (desc.h), of networks in f16 and bf16; else NULL. `grads` are without the loss scale.
     */
    double *scaling;
} cnn_train_state;

/* All of it is asynchronous on the context's stream, but for `load`, `save` and `profile`, which wait.
 *
 * A pass is taken in batches of net->batch images; the last batch of a pass is what is left. A call takes images
 * [first, first + count) of a pass, in whole batches, but that the last one of a call may be smaller, however many
 * images there are behind it; several calls make a pass, mostly but not always in order. The loss of a batch is the
 * mean over its images, and so are its gradients. */
typedef struct cnn_trainers {
    /* The only gate, as it is for operations: CNN_OK, or CNN_UNSUPPORTED and the reason. */
    cnn_status (*supports)(cnn_context *, const cnn_trainer_request *, cnn_error *);
    cnn_status (*open)(cnn_context *, const cnn_trainer_request *, cnn_trainer **, cnn_trainer_facts *, cnn_error *);
    void (*close)(cnn_context *, cnn_trainer *);
    /* Comes before all else, and again whenever training starts over or goes on from elsewhere. grads is not read. */
    cnn_status (*load)(cnn_context *, cnn_trainer *, const cnn_train_state *, cnn_error *);
    cnn_status (*save)(cnn_context *, cnn_trainer *, cnn_train_state *, cnn_error *); /* step; arrays but NULL ones */
    /* Trains on each batch: adds the images' losses, as they were before its update, to *loss_sum, and how many were
     * told right to *correct. */
    cnn_status (*train)(cnn_context *, cnn_trainer *, const cnn_images *, int64_t first, int64_t count, cnn_error *);
    /* Inference on each batch, adding to the sums likewise. Nothing else changes. */
    cnn_status (*test)(cnn_context *, cnn_trainer *, const cnn_images *, int64_t first, int64_t count, cnn_error *);
    /* Of one batch, as `train` takes it, with the sums, but parameters, running statistics and the step stay what they
     * are. `save` then gives the gradients. */
    cnn_status (*gradients)(cnn_context *, cnn_trainer *, const cnn_images *, int64_t first, int64_t count,
                            cnn_error *);
    /* With CNN_ALGO_PROFILES: the laps of all calls of `train` and `test` since it was asked last. Waits for them.
     * Parts of one layer, direction and phase are one lap. The list is good until it is asked again. */
    cnn_status (*profile)(cnn_context *, cnn_trainer *, const cnn_trainer_lap **list, int *count, cnn_error *);
} cnn_trainers;

#endif
