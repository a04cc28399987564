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
    if (group->sums != NULL) group->ranks->calls->sums_close(group->sums);
    group->sums = NULL;
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
    const double took = cnn_now() - start;
    g->seconds += took;
    g->flight_s += took;
    return status;
}

static cnn_status name_sum(const cnn_group *g, int64_t count, cnn_status status, cnn_error *err)
{
    if (status == CNN_OK) return CNN_OK;
    return cnn_error_before(err, status, "adding up %lld numbers of %d ranks: ", (long long)count, g->ranks->size);
}

cnn_status cnn_group_sum(cnn_group *group, void *buffer, int64_t count, cnn_dtype dtype, cnn_error *err)
{
    const cnn_session *s = group->session;
    const cnn_status status =
        group->comm == NULL ? sum_on_host(group, buffer, count, dtype, err)
                            : CNN_CALL(s->impl, comms->sum, err, s->context, group->comm, buffer, count, dtype, err);
    return name_sum(group, count, status, err);
}

/* ---- Beside the session's work. */

bool cnn_group_overlaps(const cnn_session *session)
{
    return session->impl->comms == NULL && session->impl->memory == NULL;
}

cnn_status cnn_group_open_ahead(cnn_group *g, int most, cnn_error *err)
{
    return ranks_agree(g->ranks, g->ranks->calls->sums_open(g->ranks, most, &g->sums, err), err);
}

/* The host's time since `start`; and where none is under way any more, that of all. */
static void note(cnn_group *g, double start, bool flying)
{
    const double now = cnn_now();
    g->seconds += now - start;
    if (g->flying && !flying) g->flight_s += now - g->begun;
    g->flying = flying;
}

cnn_status cnn_group_begin(cnn_group *g, void *buffer, int64_t count, cnn_dtype dtype, cnn_error *err)
{
    cnn_status status = cnn_sync(g->session, err); /* the buffer is written, by what has its own time */
    const double start = cnn_now();
    if (!g->flying) g->begun = start;
    if (status == CNN_OK) status = g->ranks->calls->sums_begin(g->sums, buffer, count, dtype, err);
    note(g, start, true);
    return name_sum(g, count, status, err);
}

cnn_status cnn_group_poke(cnn_group *g, cnn_error *err)
{
    bool done = false;
    if (!g->flying) return CNN_OK;
    const double start = cnn_now();
    const cnn_status status = g->ranks->calls->sums_poke(g->sums, &done, err);
    note(g, start, !done);
    return status == CNN_OK ? CNN_OK : cnn_error_before(err, status, "adding up over %d ranks: ", g->ranks->size);
}

cnn_status cnn_group_end(cnn_group *g, cnn_error *err)
{
    if (!g->flying) return CNN_OK;
    const double start = cnn_now();
    const cnn_status status = g->ranks->calls->sums_end(g->sums, err);
    note(g, start, false);
    return status == CNN_OK ? CNN_OK : cnn_error_before(err, status, "adding up over %d ranks: ", g->ranks->size);
}
