/* profile_rows.h: the rows of an epoch's profile while they are added up: by the loop, and by the composition. */
#ifndef HARNESS_NET_PROFILE_ROWS_H
#define HARNESS_NET_PROFILE_ROWS_H

#include "profile.h"

typedef struct trainer_profile {
    epoch_profile epoch;
    int latest; /* the row found last: the next lap's is mostly the one behind it */
} trainer_profile;

/* Rows stand in the network's order: by layer, then by direction, the test last. */
enum { PLACES_A_LAYER = 8, PLACE_TEST = 7 };
enum { PLACE_GRADIENTS = 0x7ffffffd, PLACE_UPDATE, PLACE_OVERHEAD };

void profile_begin(trainer_profile *p);                                        /* an epoch */
cnn_status profile_finish(trainer_profile *p, double seconds, cnn_error *err); /* which took so long; NULL: nothing */
cnn_status profile_add(trainer_profile *p, const profile_row *row, cnn_error *err);
cnn_status profile_overhead(trainer_profile *p, const char *what, double seconds, cnn_error *err);
void profile_close(trainer_profile *p); /* NULL is accepted */

#endif
