/* joined.h: "A+B": two implementations as one (joined.c says how). */
#ifndef HARNESS_DEVICE_JOINED_H
#define HARNESS_DEVICE_JOINED_H

#include "impl.h"

/* CNN_BAD_ARGUMENT, where they are for different kinds of device or do not share memory. Both must outlive it. */
cnn_status joined_make(const cnn_impl *a, const cnn_impl *b, cnn_impl **out, cnn_error *err);
void joined_free(cnn_impl *impl);

/* ---- What its two files share. */

typedef struct joined {
    cnn_impl impl; /* first: what it is known by */
    cnn_operations ops;
    const cnn_impl *of[2];
    cnn_algorithm *algorithms;
    cnn_knob *knobs;
    char name[CNN_NAME_MAX];
} joined;

/* The context. */
typedef struct joined_pair {
    const joined *self;
    cnn_context *of[2];
    int last; /* whose stream was used last */
} joined_pair;

/* A plan's state: whose it is, by which algorithm, and its own. */
typedef struct joined_part {
    int which;
    cnn_algorithm algorithm;
    void *state;
} joined_part;

static inline const cnn_impl *joined_of(const joined_pair *c, int which) { return c->self->of[which]; }

/* joined_slots.c: waits for the other one, if the turn was its; the plan as the one whose it is sees it; its knobs
 * among those of both. */
cnn_status joined_turn(joined_pair *c, int which, cnn_error *err);
void joined_plan(const joined_pair *c, const cnn_plan *plan, const joined_part *p, cnn_plan *its);
const int64_t *joined_knobs(const joined *j, int which, const int64_t *knobs);
/* All that is called once it is open. */
void joined_put_slots(joined *j);

#endif
