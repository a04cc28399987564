/* group.c: see group.h. */
#include "group.h"

#include "call.h"
#include "harness/base/clock.h"
#include "harness/base/text.h"
#include "harness/problem/names.h"

#include <stdlib.h>
#include <string.h>

/* Rank 0 makes up a name, by which the others join. */
static cnn_status open_device(cnn_group *g, cnn_error *err)
{
    const cnn_impl *impl = g->session->impl;
    ranks *r = g->ranks;
    cnn_status status = CNN_OK;
    void *id = calloc(1, impl->comms->id_bytes + 1);
    if (id == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to name a group of ranks");
    if (r->rank == 0) status = CNN_CALL(impl, comms->id, err, id, err);
    status = ranks_agree(r, status, err);
    if (status == CNN_OK) status = ranks_broadcast(r, id, impl->comms->id_bytes, err);
    if (status == CNN_OK)
        status = CNN_CALL(impl, comms->open, err, g->session->context, id, r->rank, r->size, &g->comm, err);
    free(id);
    return status;
}

cnn_status cnn_group_open(const cnn_session *session, ranks *r, size_t bytes, cnn_group *group, cnn_error *err)
{
    const cnn_impl *impl = session->impl;
    cnn_status status = CNN_OK;
    *group = (cnn_group){.session = session, .ranks = r, .way = "MPI"};
    if (impl->comms != NULL) {
        group->way = "device";
        status = open_device(group, err);
    } else if (impl->memory != NULL) {
        group->way = "MPI, by way of host memory";
        group->staging = malloc(bytes + 1);
        if (group->staging == NULL)
            status = CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %zu bytes on their way between ranks", bytes);
    }
    return ranks_agree(r, status, err);
}

void cnn_group_close(cnn_group *group)
{
    if (group->comm != NULL) CNN_CALL_VOID(group->session->impl, comms->close, group->session->context, group->comm);
    free(group->staging);
    group->comm = NULL;
    group->staging = NULL;
}

static cnn_status sum_on_host(cnn_group *g, void *buffer, int64_t count, cnn_dtype dtype, cnn_error *err)
{
    const size_t bytes = (size_t)count * cnn_dtype_size(dtype);
    void *at = g->staging != NULL ? g->staging : buffer;
    cnn_status status = cnn_sync(g->session, err); /* what comes before has its own time */
    const double start = cnn_now();
    if (status == CNN_OK && g->staging != NULL) status = cnn_mem_download(g->session, at, buffer, bytes, err);
    if (status == CNN_OK) status = ranks_sum(g->ranks, at, count, dtype, err);
    if (status == CNN_OK && g->staging != NULL) status = cnn_mem_upload(g->session, buffer, at, bytes, err);
    g->seconds += cnn_now() - start;
    return status;
}

cnn_status cnn_group_sum(cnn_group *group, void *buffer, int64_t count, cnn_dtype dtype, cnn_error *err)
{
    const cnn_session *s = group->session;
    const cnn_status status =
        group->comm == NULL ? sum_on_host(group, buffer, count, dtype, err)
                            : CNN_CALL(s->impl, comms->sum, err, s->context, group->comm, buffer, count, dtype, err);
    if (status == CNN_OK) return CNN_OK;
    return cnn_error_before(err, status, "adding up %lld numbers of %d ranks: ", (long long)count, group->ranks->size);
}
