/* hands.c: see hands.h. */
#include "hands.h"

static bool is_built_in(const cnn_impl *impl)
{
    for (int i = 0; i < cnn_impl_count(NULL); i++)
        if (cnn_impl_at(NULL, i) == impl) return true;
    return false;
}

/* An emulated build's plug-ins are emulated, too, whatever kind of device they say they are for. */
static bool reaches(const cnn_impl *impl, const cnn_impl *judged)
{
    if (!impl->alloc || judged->device_kind == CNN_DEVICE_CPU) return false;
    return impl->device_kind == judged->device_kind || !cnn_impl_timed(impl);
}

void hands_open(const cnn_session *judged, hands *h)
{
    const cnn_session_params params = {.threads = 1, .device = judged->device};
    cnn_error err;
    *h = (hands){.session = judged, .trusted = true};
    if (!judged->impl->alloc || is_built_in(judged->impl)) return;
    for (int i = 0; i < cnn_impl_count(NULL); i++) {
        const cnn_impl *impl = cnn_impl_at(NULL, i);
        if (!reaches(impl, judged->impl) || cnn_session_open(impl, &params, &h->own, &err) != CNN_OK) continue;
        h->session = &h->own;
        return;
    }
    h->trusted = false;
}

void hands_close(hands *h)
{
    if (h->session == &h->own) cnn_session_close(&h->own);
    *h = (hands){0};
}
