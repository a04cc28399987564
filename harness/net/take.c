/* take.c: images of a pass to the trainer: those that stand on the device, or by a lane. */
#include "harness/base/clock.h"
#include "trainer_parts.h"

cnn_status trainer_note(const trainer *t, const char *what, double since, cnn_error *err)
{
    return t->profile != NULL ? profile_overhead(t->profile, what, cnn_now() - since, err) : CNN_OK;
}

static cnn_status ask(trainer *t, int set, const cnn_images *images, int64_t first, int64_t count, cnn_error *err)
{
    return set == TRAIN_SET ? TRAINER_ASK(t, train, err, images, first, count)
                            : TRAINER_ASK(t, test, err, images, first, count);
}

cnn_status trainer_take(trainer *t, int set, int64_t first, int64_t count, cnn_error *err)
{
    const double start = cnn_now();
    if (t->n_lanes == 0) return ask(t, set, &t->images[set], first, count, err);
    const int lane = (int)(first / t->net->batch % t->n_lanes);
    cnn_status status = trainer_feed_lane(t, lane, set, first, count, err);
    if (status == CNN_OK) status = trainer_note(t, "feeding", start, err);
    return status == CNN_OK ? ask(t, set, &t->lanes[lane], 0, count, err) : status;
}
