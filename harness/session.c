/* session.c: opening an implementation: ABI and table checked, probed, knobs set. */
#include "call.h"
#include "impl.h"
#include "knobs.h"

#include <stdlib.h>
#include <string.h>

/* One slot of those that go together: callers ask for one of them, and then use all. */
typedef struct slot {
    int group;
    const char *name;
    bool given;
} slot;

static cnn_status check_groups(const cnn_impl *impl, cnn_error *err)
{
#define SLOT(group, name)                                                                                              \
    {                                                                                                                  \
        group, #name, impl->name                                                                                       \
    }
    const slot slots[] = {
        SLOT(0, alloc),       SLOT(0, free),        SLOT(0, upload),       SLOT(0, download),   SLOT(0, copy),
        SLOT(0, fill),        SLOT(0, memory_free), SLOT(1, timer_start),  SLOT(1, timer_stop), SLOT(2, capture_begin),
        SLOT(2, capture_end), SLOT(2, graph_run),   SLOT(2, graph_free),   SLOT(3, laps_open),  SLOT(3, laps_close),
        SLOT(3, laps_use),    SLOT(3, lap),         SLOT(3, laps_read),    SLOT(4, range_push), SLOT(4, range_pop),
        SLOT(5, host_alloc),  SLOT(5, host_free),   SLOT(5, upload_async), SLOT(5, upload_use), SLOT(5, upload_drain),
        SLOT(6, prepare),     SLOT(6, release),     SLOT(7, step_open),    SLOT(7, step_run),   SLOT(7, step_close),
        SLOT(8, n_peaks),     SLOT(8, peak_open),   SLOT(8, peak_run),     SLOT(8, peak_close),
    };
#undef SLOT
    const int count = (int)(sizeof slots / sizeof slots[0]);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < count; k++)
            if (slots[i].group == slots[k].group && slots[i].given && !slots[k].given)
                return CNN_FAIL(err, CNN_UNAVAILABLE,
                                "implementation %s has %s, but no %s: they go together, so give it both or neither",
                                impl->name, slots[i].name, slots[k].name);
    return CNN_OK;
}

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
    if (check_groups(impl, err) != CNN_OK) return err->status;
    if (impl->n_algorithms > 0 || impl->enumerate != NULL) return CNN_OK;
    return CNN_FAIL(err, CNN_UNAVAILABLE,
                    "implementation %s has no algorithms: it needs a table of them, or a function enumerate",
                    impl->name);
}

cnn_status cnn_session_open(const cnn_impl *impl, const cnn_session_params *params, cnn_session *session,
                            cnn_error *err)
{
    cnn_status status = cnn_impl_check(impl, err);
    memset(session, 0, sizeof *session);
    if (status == CNN_OK) status = CNN_CALL(impl, probe, err, err);
    if (status != CNN_OK) return status;

    session->impl = impl;
    session->threads = params->threads;
    session->device = params->device;
    session->knobs = calloc((size_t)impl->n_knobs + 1, sizeof *session->knobs);
    if (session->knobs == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %d knobs", impl->n_knobs);
    status = cnn_knob_values(impl, params->settings, params->n_settings, session->knobs, err);
    if (status == CNN_OK) {
        const cnn_open_params open = {.threads = params->threads, .device = params->device, .knobs = session->knobs};
        status = CNN_CALL(impl, open, err, &open, &session->context, err);
    }
    if (status != CNN_OK) cnn_session_close(session);
    return status;
}

void cnn_session_close(cnn_session *session)
{
    if (session->context != NULL) CNN_CALL_VOID(session->impl, close, session->context);
    free(session->knobs);
    memset(session, 0, sizeof *session);
}
