/* sums.c: over ranks: the gradients of all of them added up, before a step's update. Gradients stand in one array: it
 * is one sum behind the backward pass, or one for each bucket (buckets.c) beside it. Where the device does it, it is
 * captured with the step. */
#include "harness/base/clock.h"
#include "parts.h"

#include <math.h>

enum { WARM_UPS = 5, TIMED = TRAINER_SUMS_TIMED };

static bool sums(const cnn_trainer *t) { return t->loop->params.ranks != NULL && t->net->trained_elems > 0; }

static cnn_status sum_all(cnn_trainer *t, cnn_error *err)
{
    return cnn_group_sum(&t->group, trainer_at(t->loop, t->grads_at), t->net->trained_elems, cnn_params_dtype(t->net),
                         err);
}

/* The next `count` buckets, from *next on. */
static cnn_status begin(cnn_trainer *t, int *next, int count, cnn_error *err)
{
    const cnn_dtype dtype = cnn_params_dtype(t->net);
    char *grads = trainer_at(t->loop, t->grads_at);
    cnn_status status = CNN_OK;
    for (; count > 0 && status == CNN_OK; count--) {
        const step_bucket *b = &t->buckets[(*next)++];
        status = cnn_group_begin(&t->group, grads + (size_t)b->first * cnn_dtype_size(dtype), b->count, dtype, err);
    }
    return status;
}

/* MPI goes on with a sum only when it is called, so it is called behind each operation. */
static cnn_status train_beside(cnn_trainer *t, const call_list *list, cnn_error *err)
{
    cnn_status status = CNN_OK;
    int next = 0;
    for (int i = 0; i < list->count && status == CNN_OK; i++) {
        status = step_run_call(t, &list->calls[i], err);
        if (status == CNN_OK) status = begin(t, &next, list->calls[i].begins, err);
        if (status == CNN_OK) status = cnn_group_poke(&t->group, err);
    }
    return status == CNN_OK ? cnn_group_end(&t->group, err) : status;
}

cnn_status step_sums_train(cnn_trainer *t, const call_list *list, cnn_error *err)
{
    if (!sums(t)) return step_run(t, list, err);
    const double seconds = t->group.seconds, flight = t->group.flight_s;
    cnn_status status = t->n_buckets > 1 ? train_beside(t, list, err) : step_run(t, list, err);
    if (status == CNN_OK && t->n_buckets <= 1) status = sum_all(t, err);
    t->loop->comm_s += t->group.seconds - seconds;
    t->loop->comm_flight_s += t->group.flight_s - flight;
    return status;
}

/* All sums of a step, with nothing beside them. */
static cnn_status sum_alone(cnn_trainer *t, cnn_error *err)
{
    int next = 0;
    if (t->n_buckets <= 1) return sum_all(t, err);
    const cnn_status status = begin(t, &next, t->n_buckets, err);
    return status == CNN_OK ? cnn_group_end(&t->group, err) : status;
}

/* What sums take alone, when all ranks have come to them. */
static cnn_status measure(cnn_trainer *t, cnn_error *err)
{
    double times[TIMED];
    void *grads = trainer_at(t->loop, t->grads_at);
    cnn_status status = cnn_mem_fill(t->session, grads, 0, trainer_trained_bytes(t->loop), err);
    for (int i = -WARM_UPS; i < TIMED && status == CNN_OK; i++) {
        status = cnn_sync(t->session, err);
        if (status == CNN_OK) status = ranks_barrier(t->loop->params.ranks, err);
        const double start = cnn_now();
        if (status == CNN_OK) status = sum_alone(t, err);
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
    cnn_status status =
        cnn_group_open(t->session, t->loop->params.ranks, trainer_trained_bytes(t->loop), &t->group, err);
    if (status == CNN_OK && t->n_buckets > 1) status = cnn_group_open_ahead(&t->group, t->n_buckets, err);
    return status == CNN_OK ? measure(t, err) : status;
}

trainer_comm composition_comm(const cnn_trainer *t)
{
    if (!sums(t)) return (trainer_comm){.alone_s = NAN, .way = ""};
    return (trainer_comm){.bytes = trainer_trained_bytes(t->loop),
                          .sums = t->n_buckets > 1 ? t->n_buckets : 1,
                          .alone_s = t->comm_alone_s,
                          .way = t->group.way};
}
