/* session.c: opening an implementation: ABI and table checked, probed, knobs set. */
#include "impl.h"
#include "knobs.h"

#include <stdlib.h>
#include <string.h>

cnn_status cnn_impl_check(const cnn_impl *impl, cnn_error *err)
{
    if (impl->abi_version != CNN_ABI_VERSION || impl->struct_size != sizeof(cnn_impl))
        return CNN_FAIL(
            err, CNN_UNAVAILABLE,
            "implementation speaks interface version %u (%u bytes), but this benchcnn speaks %u (%zu bytes): "
            "build it against this cnn.h",
            impl->abi_version, impl->struct_size, CNN_ABI_VERSION, sizeof(cnn_impl));
    if (impl->name == NULL || impl->probe == NULL || impl->open == NULL || impl->close == NULL ||
        impl->supports == NULL)
        return CNN_FAIL(err, CNN_UNAVAILABLE, "implementation lacks one of name, probe, open, close, supports");
    if (impl->alloc != NULL && (impl->free == NULL || impl->upload == NULL || impl->download == NULL ||
                                impl->copy == NULL || impl->fill == NULL || impl->memory_free == NULL))
        return CNN_FAIL(err, CNN_UNAVAILABLE, "implementation %s has alloc, but not all of its companions", impl->name);
    if (impl->capture_begin != NULL &&
        (impl->capture_end == NULL || impl->graph_run == NULL || impl->graph_free == NULL))
        return CNN_FAIL(err, CNN_UNAVAILABLE, "implementation %s has capture_begin, but not all of its companions",
                        impl->name);
    if (impl->upload_async != NULL &&
        (impl->host_alloc == NULL || impl->host_free == NULL || impl->upload_use == NULL || impl->upload_drain == NULL))
        return CNN_FAIL(err, CNN_UNAVAILABLE, "implementation %s has upload_async, but not all of its companions",
                        impl->name);
    if (impl->laps_open != NULL &&
        (impl->laps_close == NULL || impl->laps_use == NULL || impl->lap == NULL || impl->laps_read == NULL))
        return CNN_FAIL(err, CNN_UNAVAILABLE, "implementation %s has laps_open, but not all of its companions",
                        impl->name);
    return CNN_OK;
}

cnn_status cnn_session_open(const cnn_impl *impl, const cnn_session_params *params, cnn_session *session,
                            cnn_error *err)
{
    cnn_status status = cnn_impl_check(impl, err);
    memset(session, 0, sizeof *session);
    if (status == CNN_OK) status = impl->probe(err);
    if (status != CNN_OK) return status;

    session->impl = impl;
    session->threads = params->threads;
    session->device = params->device;
    session->knobs = calloc((size_t)impl->n_knobs + 1, sizeof *session->knobs);
    if (session->knobs == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %d knobs", impl->n_knobs);
    status = cnn_knob_values(impl, params->settings, params->n_settings, session->knobs, err);
    if (status == CNN_OK) {
        const cnn_open_params open = {.threads = params->threads, .device = params->device, .knobs = session->knobs};
        status = impl->open(&open, &session->context, err);
    }
    if (status != CNN_OK) cnn_session_close(session);
    return status;
}

void cnn_session_close(cnn_session *session)
{
    if (session->context != NULL) session->impl->close(session->context);
    free(session->knobs);
    memset(session, 0, sizeof *session);
}
