/* schedule.h: how the learning rate goes over the epochs of a training: a factor of the optimizer's own. */
#ifndef HARNESS_NET_SCHEDULE_H
#define HARNESS_NET_SCHEDULE_H

#include "../cnn.h"

/* Of epoch e, counted from 0 behind the warm-up, of n epochs behind it:
 *   CONSTANT  1
 *   STEP      by^floor(e / every)
 *   COSINE    (1 + cos(pi e / n)) / 2
 *   LINEAR    1 - e / n
 * During `warmup` epochs it climbs: (epoch + 1) / (warmup + 1). Cosine and linear end above 0, in the last epoch; what
 * follows keeps its rate. */
#define RATE_SCHEDULE_LIST(X) X(CONSTANT, "constant") X(STEP, "step") X(COSINE, "cosine") X(LINEAR, "linear")
#define RATE_SCHEDULE_ID(id, text) RATE_##id,
typedef enum rate_schedule_kind { RATE_SCHEDULE_LIST(RATE_SCHEDULE_ID) RATE_SCHEDULE_COUNT } rate_schedule_kind;

typedef struct rate_schedule {
    rate_schedule_kind kind;
    uint64_t every, warmup, epochs; /* epochs: of COSINE and LINEAR, from the training's first to the schedule's last */
    double by;
} rate_schedule;

enum { RATE_SCHEDULE_TEXT = 128 };

/* "cosine,warmup=2", "step,every=10,by=0.5", "linear,epochs=20". `epochs` is what cosine and linear last where the text
 * does not say; 0: it must. CNN_BAD_ARGUMENT names what is wrong. */
cnn_status rate_schedule_parse(const char *text, int64_t epochs, rate_schedule *schedule, cnn_error *err);
/* All that decides over the rate; "" for a constant one. It parses back. */
void rate_schedule_format(const rate_schedule *schedule, char text[RATE_SCHEDULE_TEXT]);
/* The rate in this epoch, counted from 0, where the optimizer's own is lr. */
double rate_at(const rate_schedule *schedule, double lr, int64_t epoch);

#endif
