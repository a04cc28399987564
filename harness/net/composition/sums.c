/* sums.c: over ranks: the gradients of all of them added up, between a step's backward pass and its update. Gradients
 * stand in one array, so it is one sum a step. Where the device does it, it is captured with the step. */
#include "harness/base/clock.h"
#include "parts.h"

#include <math.h>

enum { WARM_UPS = 5, TIMED = TRAINER_SUMS_TIMED };

static bool sums(const cnn_trainer *t) { return t->loop->params.ranks != NULL && t->net->trained_elems > 0; }

cnn_status step_sums(cnn_trainer *t, cnn_error *err)
{
    if (!sums(t)) return CNN_OK;
    const double before = t->group.seconds;
    const cnn_status status = cnn_group_sum(&t->group, trainer_at(t->loop, t->grads_at), t->net->trained_elems,
                                            cnn_params_dtype(t->net), err);
    t->loop->comm_s += t->group.seconds - before;
    return status;
}

/* Of a sum alone, when all ranks have come to it. */
static cnn_status measure(cnn_trainer *t, cnn_error *err)
{
    double times[TIMED];
    void *grads = trainer_at(t->loop, t->grads_at);
    cnn_status status = cnn_mem_fill(t->session, grads, 0, trainer_trained_bytes(t->loop), err);
    for (int i = -WARM_UPS; i < TIMED && status == CNN_OK; i++) {
        status = cnn_sync(t->session, err);
        if (status == CNN_OK) status = ranks_barrier(t->loop->params.ranks, err);
        const double start = cnn_now();
        if (status == CNN_OK) status = step_sums(t, err);
        if (status == CNN_OK) status = cnn_sync(t->session, err);
        if (i >= 0) times[i] = cnn_now() - start;
    }
    if (status != CNN_OK) return status;
    t->comm_alone_s = trainer_share_median(times);
    return CNN_OK;
}

cnn_status step_sums_open(cnn_trainer *t, cnn_error *err)
{
    if (!sums(t)) return CNN_OK;
    const cnn_status status =
        cnn_group_open(t->session, t->loop->params.ranks, trainer_trained_bytes(t->loop), &t->group, err);
    return status == CNN_OK ? measure(t, err) : status;
}

trainer_comm composition_comm(const cnn_trainer *t)
{
    if (!sums(t)) return (trainer_comm){.alone_s = NAN, .way = ""};
    return (trainer_comm){.bytes = trainer_trained_bytes(t->loop), .alone_s = t->comm_alone_s, .way = t->group.way};
}
