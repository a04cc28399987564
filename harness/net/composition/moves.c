/* moves.c: in a step: the values that offload.c moves, out to the host and back. */
#include "parts.h"

cnn_status step_offload_open(cnn_trainer *t, cnn_error *err)
{
    void *host = NULL;
    if (t->n_copies == 0) return CNN_OK;
    const cnn_status status = CNN_CALL(t->session->impl, offloads->open, err, t->session->context, t->n_copies,
                                       t->loop->bytes.offload, &t->offload, &host, err);
    t->host = host;
    return status;
}

void step_offload_close(cnn_trainer *t)
{
    if (t->offload != NULL) CNN_CALL_VOID(t->session->impl, offloads->close, t->session->context, t->offload);
    t->offload = NULL;
}

cnn_status step_offload_run(const cnn_trainer *t, const step_call *c, cnn_error *err)
{
    const cnn_impl *impl = t->session->impl;
    cnn_context *context = t->session->context;
    char *host = t->host + c->host_at;
    const bool out = c->move == MOVES_OUT;
    if (c->move == IS_OUT || c->move == IS_BACK)
        return CNN_CALL(impl, offloads->wait, err, context, t->offload, c->copy, err);
    const cnn_offload_copy copy = {
        .dst = out ? host : c->operands[0], .src = out ? c->operands[0] : host, .bytes = c->copy_bytes, .to_host = out};
    return CNN_CALL(impl, offloads->begin, err, context, t->offload, c->copy, &copy, err);
}
