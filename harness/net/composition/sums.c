/* sums.c: over ranks: the gradients of all of them added up, between a step's backward pass and its update. Gradients
 * stand in one array, so it is one sum a step.
 *
 * Three ways. A device that can (cnn_comms) does it on its stream, and it is captured with the step. In host memory MPI
 * adds up the array where it stands. Another device's gradients go through host memory, and no step is captured. */
#include "harness/base/clock.h"
#include "harness/base/text.h"
#include "parts.h"

#include <math.h>
#include <stdlib.h>

enum { WARM_UPS = 5, TIMED = 21 };

static void *gradients(const cnn_trainer *t) { return trainer_at(t->loop, t->grads_at); }

/* What the host does; its time is the epoch's. */
static cnn_status sum_on_host(cnn_trainer *t, cnn_error *err)
{
    const size_t bytes = trainer_trained_bytes(t->loop);
    const int64_t count = t->net->trained_elems;
    void *at = t->staging != NULL ? t->staging : gradients(t);
    cnn_status status = cnn_sync(t->session, err); /* the step's own time ends here */
    const double start = cnn_now();
    if (status == CNN_OK && t->staging != NULL) status = cnn_mem_download(t->session, at, gradients(t), bytes, err);
    if (status == CNN_OK) status = ranks_sum(t->loop->params.ranks, at, count, t->net->type.dtype, err);
    if (status == CNN_OK && t->staging != NULL) status = cnn_mem_upload(t->session, gradients(t), at, bytes, err);
    t->loop->comm_s += cnn_now() - start;
    return status;
}

cnn_status step_sums(cnn_trainer *t, cnn_error *err)
{
    const cnn_session *s = t->session;
    const ranks *r = t->loop->params.ranks;
    if (r == NULL || t->net->trained_elems == 0) return CNN_OK;
    const cnn_status status = t->comm == NULL ? sum_on_host(t, err)
                                              : CNN_CALL(s->impl, comms->sum, err, s->context, t->comm, gradients(t),
                                                         t->net->trained_elems, t->net->type.dtype, err);
    return status == CNN_OK ? CNN_OK : cnn_error_before(err, status, "adding up the gradients of %d ranks: ", r->size);
}

/* ---- Opening. */

static cnn_status open_device(cnn_trainer *t, cnn_error *err)
{
    const cnn_impl *impl = t->session->impl;
    ranks *r = t->loop->params.ranks;
    cnn_status status = CNN_OK;
    void *id = calloc(1, impl->comms->id_bytes + 1);
    if (id == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to name a group of ranks");
    if (r->rank == 0) status = CNN_CALL(impl, comms->id, err, id, err);
    status = ranks_agree(r, status, err);
    if (status == CNN_OK) status = ranks_broadcast(r, id, impl->comms->id_bytes, err);
    if (status == CNN_OK)
        status = CNN_CALL(impl, comms->open, err, t->session->context, id, r->rank, r->size, &t->comm, err);
    free(id);
    return status;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of a sum alone, when all ranks have come to it. */
static cnn_status measure(cnn_trainer *t, cnn_error *err)
{
    double times[TIMED];
    cnn_status status = cnn_mem_fill(t->session, gradients(t), 0, trainer_trained_bytes(t->loop), err);
    for (int i = -WARM_UPS; i < TIMED && status == CNN_OK; i++) {
        status = cnn_sync(t->session, err);
        if (status == CNN_OK) status = ranks_barrier(t->loop->params.ranks, err);
        const double start = cnn_now();
        if (status == CNN_OK) status = step_sums(t, err);
        if (status == CNN_OK) status = cnn_sync(t->session, err);
        if (i >= 0) times[i] = cnn_now() - start;
    }
    if (status != CNN_OK) return status;
    qsort(times, TIMED, sizeof *times, by_size);
    t->comm_alone_s = times[TIMED / 2];
    return CNN_OK;
}

cnn_status step_sums_open(cnn_trainer *t, cnn_error *err)
{
    const cnn_impl *impl = t->session->impl;
    const size_t bytes = trainer_trained_bytes(t->loop);
    cnn_status status = CNN_OK;
    if (t->loop->params.ranks == NULL || bytes == 0) return CNN_OK;
    if (impl->comms != NULL)
        status = open_device(t, err);
    else if (impl->memory != NULL && (t->staging = malloc(bytes)) == NULL)
        status = CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %zu bytes of gradients", bytes);
    status = ranks_agree(t->loop->params.ranks, status, err);
    return status == CNN_OK ? measure(t, err) : status;
}

void step_sums_close(cnn_trainer *t)
{
    if (t->comm != NULL) CNN_CALL_VOID(t->session->impl, comms->close, t->session->context, t->comm);
    free(t->staging);
    t->comm = NULL;
    t->staging = NULL;
}

trainer_comm composition_comm(const cnn_trainer *t)
{
    const bool none = t->loop->params.ranks == NULL;
    return (trainer_comm){.bytes = none ? 0 : trainer_trained_bytes(t->loop),
                          .alone_s = none ? NAN : t->comm_alone_s,
                          .way = none                 ? ""
                                 : t->comm != NULL    ? "device"
                                 : t->staging != NULL ? "MPI, by way of host memory"
                                                      : "MPI"};
}
