/* memory.c: device memory and device time, with host memory and the wall clock where the implementation has none of its
 * own. */
#include "call.h"
#include "harness/base/clock.h"
#include "harness/cpu/limits.h"
#include "impl.h"
#include "separate.h"

#include <stdlib.h>
#include <string.h>

cnn_status cnn_mem_alloc(const cnn_session *session, size_t bytes, void **memory, cnn_error *err)
{
    const cnn_impl *impl = session->impl;
    *memory = NULL;
    if (bytes == 0) bytes = CNN_ALIGN;
    if (impl->memory != NULL) return CNN_CALL(impl, memory->alloc, err, session->context, bytes, memory, err);

    if (separate_of(impl) != NULL) return separate_alloc(session, bytes, memory, err);
    const size_t whole = (bytes + CNN_ALIGN - 1) / CNN_ALIGN * CNN_ALIGN;
    if (whole < bytes || (*memory = aligned_alloc(CNN_ALIGN, whole)) == NULL)
        return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "cannot allocate %zu bytes of host memory", bytes);
    return CNN_OK;
}

void cnn_mem_free(const cnn_session *session, void *memory)
{
    if (memory == NULL) return;
    if (session->impl->memory != NULL)
        CNN_CALL_VOID(session->impl, memory->free, session->context, memory);
    else if (separate_of(session->impl) != NULL)
        separate_give(session, memory);
    else
        free(memory);
}

cnn_status cnn_mem_upload(const cnn_session *session, void *dst, const void *src, size_t bytes, cnn_error *err)
{
    if (session->impl->memory != NULL)
        return CNN_CALL(session->impl, memory->upload, err, session->context, dst, src, bytes, err);
    memcpy(dst, src, bytes);
    return CNN_OK;
}

cnn_status cnn_mem_download(const cnn_session *session, void *dst, const void *src, size_t bytes, cnn_error *err)
{
    if (session->impl->memory != NULL)
        return CNN_CALL(session->impl, memory->download, err, session->context, dst, src, bytes, err);
    memcpy(dst, src, bytes);
    return CNN_OK;
}

cnn_status cnn_mem_copy(const cnn_session *session, void *dst, const void *src, size_t bytes, cnn_error *err)
{
    if (session->impl->memory != NULL)
        return CNN_CALL(session->impl, memory->copy, err, session->context, dst, src, bytes, err);
    memcpy(dst, src, bytes);
    return CNN_OK;
}

cnn_status cnn_mem_fill(const cnn_session *session, void *dst, int byte, size_t bytes, cnn_error *err)
{
    if (session->impl->memory != NULL)
        return CNN_CALL(session->impl, memory->fill, err, session->context, dst, byte, bytes, err);
    memset(dst, byte, bytes);
    return CNN_OK;
}

cnn_status cnn_mem_check(const cnn_session *session, size_t bytes, cnn_error *err)
{
    size_t available = 0;
    if (session->impl->memory == NULL) {
        available = host_memory_available();
    } else {
        cnn_status status = CNN_CALL(session->impl, memory->available, err, session->context, &available, err);
        if (status != CNN_OK) return status;
    }
    return host_memory_room(bytes, available, "", err);
}

cnn_status cnn_sync(const cnn_session *session, cnn_error *err)
{
    return session->impl->sync != NULL ? CNN_CALL(session->impl, sync, err, session->context, err) : CNN_OK;
}

cnn_status cnn_timer_start(const cnn_session *session, cnn_timer *timer, cnn_error *err)
{
    if (session->impl->timing != NULL) return CNN_CALL(session->impl, timing->start, err, session->context, err);
    cnn_status status = cnn_sync(session, err);
    timer->start = cnn_now();
    return status;
}

cnn_status cnn_timer_stop(const cnn_session *session, cnn_timer *timer, double *seconds, cnn_error *err)
{
    if (session->impl->timing != NULL)
        return CNN_CALL(session->impl, timing->stop, err, session->context, seconds, err);
    cnn_status status = cnn_sync(session, err);
    *seconds = cnn_now() - timer->start;
    return status;
}

cnn_status cnn_capture_end(const cnn_session *session, cnn_status so_far, cnn_graph **graph, cnn_error *err)
{
    const cnn_impl *impl = session->impl;
    cnn_error after, *why = so_far == CNN_OK ? err : &after; /* err says what went wrong first */
    const cnn_status end = CNN_CALL(impl, capture->end, why, session->context, graph, why);
    if (so_far == CNN_OK && end == CNN_OK) return CNN_OK;
    if (end == CNN_OK) CNN_CALL_VOID(impl, capture->free, session->context, *graph);
    *graph = NULL;
    return so_far != CNN_OK ? so_far : end;
}
