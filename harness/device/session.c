/* session.c: opening an implementation: its table checked, probed, knobs set. */
#include "call.h"
#include "impl.h"

#include <stdlib.h>
#include <string.h>

cnn_status cnn_session_open(const cnn_impl *impl, const cnn_session_params *params, cnn_session *session,
                            cnn_error *err)
{
    cnn_status status = cnn_impl_check(impl, err);
    memset(session, 0, sizeof *session);
    if (status == CNN_OK) status = cnn_probe(impl, err);
    if (status != CNN_OK) return status;

    session->impl = impl;
    session->threads = params->threads;
    session->device = params->device;
    session->knobs = calloc(2 * (size_t)impl->n_knobs + 1, sizeof *session->knobs);
    if (session->knobs == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %d knobs", impl->n_knobs);
    if (params->knobs != NULL)
        memcpy(session->knobs, params->knobs, (size_t)impl->n_knobs * sizeof *session->knobs);
    else
        status = cnn_knob_values(impl, params->settings, params->n_settings, session->knobs, err);
    if (status == CNN_OK) {
        const cnn_open_params open = {.threads = params->threads,
                                      .device = params->device,
                                      .knobs = cnn_session_lend(session, NULL),
                                      .impl = impl};
        status = CNN_CALL(impl, open, err, &open, &session->context, err);
    }
    if (status != CNN_OK) cnn_session_close(session);
    return status;
}

void cnn_session_close(cnn_session *session)
{
    if (session->context != NULL && !session->view) CNN_CALL_VOID(session->impl, close, session->context);
    free(session->knobs);
    memset(session, 0, sizeof *session);
}

cnn_status cnn_session_with(const cnn_session *of, const int64_t *knobs, cnn_session *session, cnn_error *err)
{
    const cnn_impl *impl = of->impl;
    const size_t count = (size_t)impl->n_knobs;
    const cnn_session_params params = {.threads = of->threads, .device = of->device, .knobs = knobs};
    for (size_t i = 0; i < count; i++)
        if (impl->knobs[i].of_context && knobs[i] != of->knobs[i]) return cnn_session_open(impl, &params, session, err);
    *session = *of;
    session->view = true;
    session->knobs = calloc(2 * count + 1, sizeof *session->knobs);
    if (session->knobs == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %zu knobs", count);
    memcpy(session->knobs, knobs, count * sizeof *knobs);
    return CNN_OK;
}
