/* sample.h: steps of an epoch that are looked at: what stands on the device before and after them is brought to the
 * host, while the epoch's clock stands still. Whether it is right is not judged here. */
#ifndef HARNESS_NET_SAMPLE_H
#define HARNESS_NET_SAMPLE_H

#include "../cnn.h"

/* What stands between two steps: the trainer's own, and the sums since the pass began. */
typedef struct trainer_state {
    cnn_train_state own;
    double loss_sum;
    int64_t correct;
} trainer_state;

/* Steps are counted from 0 in their pass. Where several are one graph, those of whole graphs are looked at. */
typedef struct trainer_sample {
    bool test;            /* of the test pass */
    bool idle;            /* nobody judges it: states of several such may lie at one place */
    bool single;          /* its launches are of one step each, also where several are one graph */
    int64_t wanted;       /* the first launch to look at is the one with this step */
    int launches;         /* how many to look at, from 1; fewer where the next such sample begins before */
    int64_t first, steps; /* what came of it; steps 0: the pass ended before */
    trainer_state before, after;
    int left; /* launches under way */
} trainer_sample;

/* All samples of an epoch; `trained` gets the parameters as the training pass leaves them. */
typedef struct trainer_samples {
    trainer_sample *list;
    int count;
    void *trained;
} trainer_samples;

typedef struct trainer trainer;

/* Whether the next launch of a pass of the set, from step `first` on, is to be of one step: a sample asks for it that
 * is under way, or begins within `steps`. samples NULL: no. */
bool trainer_sample_single(const trainer_samples *samples, bool test, int64_t first, int64_t steps);

/* All zeros at first, but for the loss scale: where training begins, but for the parameters. Its arrays stand one
 * behind the other: parameters, the optimizer's state, the scaling, gradients. */
cnn_status trainer_state_make(const trainer *t, trainer_state *state, cnn_error *err);
/* Out of the trainer, which is waited for; and in. */
cnn_status trainer_state_get(trainer *t, trainer_state *state, cnn_error *err);
cnn_status trainer_state_put(trainer *t, const trainer_state *state, cnn_error *err);
void trainer_state_free(trainer_state *state); /* one that is all zeros is accepted */

/* Runs a sample's steps again, one by one, from the state before them, with the same images. *one and *next get the
 * states before and after its step `at` (counted from its first), *end the one behind the last. Then all stands as it
 * did before. Not timed; between epochs. */
cnn_status trainer_repeat(trainer *t, int64_t epoch, const trainer_sample *sample, int64_t at, trainer_state *one,
                          trainer_state *next, trainer_state *end, cnn_error *err);

#endif
