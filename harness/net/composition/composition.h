/* composition.h: the harness's own trainer: single operations of an implementation, one after another. It gives the
 * functions of a cnn_trainers table, but is opened in two steps: planning allocates nothing on the device. */
#ifndef HARNESS_NET_COMPOSITION_COMPOSITION_H
#define HARNESS_NET_COMPOSITION_COMPOSITION_H

#include "harness/net/trainer.h"

/* Without lanes it gathers batches itself, of images that stand on the device; with lanes, batches are put there. */
enum { COMPOSITION_LANES = 2 };

typedef struct composition_params {
    const cnn_session *session;
    const cnn_net *net;
    const trainer_params *how;         /* algorithm, pick */
    cnn_optimizer_desc optimizer;      /* whole */
    bool graphs;                       /* capture each step that occurs */
    int64_t train_images, test_images; /* of a pass; 0: only single batches are asked for */
    int n_lanes;
    trainer_profile *profile; /* (optional) it adds each step's laps there, and waits for each step */
} composition_params;

/* Where everything is. images: train and test, which are gathered, and their orders as the host has them; lanes. */
typedef struct composition_input {
    const cnn_images *images, *lanes;
    const int32_t *const *orders;
    double *loss_sum;
    int64_t *correct;
} composition_input;

extern const cnn_trainers composition_trainers; /* without supports and open */

/* Plans every operation and its memory, which is added to *bytes. Close it with the table's `close`. */
cnn_status composition_open(const composition_params *params, cnn_trainer **out, trainer_bytes *bytes, cnn_error *err);
/* Allocates, and captures the steps after a warm-up. The arrays of the input hold images and orders already, the lanes
 * a batch. What parameters and sums are behind it is left open. */
cnn_status composition_start(cnn_trainer *t, const composition_input *input, cnn_trainer_facts *facts, cnn_error *err);

/* See trainer.h. */
const char *composition_algorithm(const cnn_trainer *t, int layer, cnn_dir dir);
char *composition_choices(const cnn_trainer *t);

/* What a gather of images [first, first + mb) of a pass is told, but for where to. */
cnn_gather_args composition_gather_args(const cnn_net *net, const cnn_images *images, int64_t first, int64_t mb);

/* gather_check.c: whether the implementation's gather makes the batches that it is asked for: data in that order, moved
 * by those shifts (NULL: none), both in host memory, as the training images of the input. */
cnn_status composition_check_gather(cnn_trainer *t, const dataset *data, const int32_t *order, const cnn_shift *shifts,
                                    cnn_error *err);

/* A memory plan: everything is a piece of one allocation, placed before anything is allocated. */
/* A place is an offset into the allocation; NOWHERE for a buffer that is left out. */
#define NOWHERE SIZE_MAX

typedef struct places {
    size_t total;
    bool overflow; /* more than can be addressed; `total` then means nothing */
} places;

enum { PLACE_ALIGN = 256 }; /* what devices like best; a multiple of CNN_ALIGN */

/* The next place, for `count` elements of `size` bytes, which are added to *kind. */
static inline size_t places_take(places *p, size_t *kind, int64_t count, size_t size)
{
    size_t bytes, end;
    const size_t at = p->total;
    if (__builtin_mul_overflow((size_t)count, size, &bytes) || bytes > SIZE_MAX / 2 - PLACE_ALIGN ||
        __builtin_add_overflow(at, (bytes + PLACE_ALIGN - 1) / PLACE_ALIGN * PLACE_ALIGN, &end) || end > SIZE_MAX / 2) {
        p->overflow = true;
        return 0;
    }
    *kind += bytes;
    p->total = end;
    return at;
}

#endif
