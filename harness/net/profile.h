/* profile.h: where the seconds of an epoch went, by layer, direction and phase.
 *
 * Each step is waited for, and the laps of its operations (cnn.h) are read and added up: a captured step's as it runs
 * when it is replayed. What no lap explains is named as well, so the rows always sum to the epoch's seconds. */
#ifndef HARNESS_NET_PROFILE_H
#define HARNESS_NET_PROFILE_H

#include "../cnn.h"

/* Rows that are no layer's have these for a layer. */
#define PROFILE_IMAGES "images"       /* a batch is gathered */
#define PROFILE_GRADIENTS "gradients" /* summed where several layers read a value */
#define PROFILE_RECOMPUTE "recompute" /* also a pass: values that are computed again for the backward pass */
#define PROFILE_OFFLOAD "offload"     /* copies to host memory and back: where the device waits for one */
#define PROFILE_UPDATE "update"
#define PROFILE_OVERHEAD "overhead"

typedef struct profile_row {
    const char *layer, *pass; /* layer: the network's; pass: a direction's name in training, "test", or "" */
    char phase[32];           /* a kernel's or the operation's name; overhead: what it is */
    const char *choice;       /* (optional) what the plan settled on: whose kernel, which algorithm */
    double seconds;
    double flops, bytes; /* of all the layer's phases in this pass, at the first of them; else 0. Compulsory bytes */
    cnn_problem problem; /* of its first call; of a row that is no operation's all zeros, as the algorithm */
    cnn_algorithm algorithm;
    int64_t calls;
    int place; /* rows stand in the network's order */
} profile_row;

typedef struct epoch_profile {
    profile_row *rows;
    int count, capacity;
    double seconds; /* of the epoch: the sum of all rows */
    int latest;     /* the row found last: the next lap's is mostly the one behind it */
} epoch_profile;

/* ---- While they are added up: by the loop, and by the composition. */

/* Rows stand in the network's order: by layer, then by direction, the test last. */
enum { PLACES_A_LAYER = 8, PLACE_AGAIN = 6, PLACE_TEST = 7 };
enum { PLACE_GRADIENTS = 0x7ffffffb, PLACE_RECOMPUTE, PLACE_OFFLOAD, PLACE_UPDATE, PLACE_OVERHEAD };

void profile_begin(epoch_profile *p);                                        /* an epoch */
cnn_status profile_finish(epoch_profile *p, double seconds, cnn_error *err); /* which took so long; NULL: nothing */
cnn_status profile_add(epoch_profile *p, const profile_row *row, cnn_error *err);
cnn_status profile_overhead(epoch_profile *p, const char *what, double seconds, cnn_error *err);
void profile_close(epoch_profile *p); /* NULL is accepted */

#endif
