/* forks.c: in a step: the second stream that streams.c puts calls on, from where it forks off to where it is joined. */
#include "parts.h"

cnn_status step_second_open(cnn_trainer *t, cnn_error *err)
{
    if (t->n_marks == 0) return CNN_OK;
    return CNN_CALL(t->session->impl, streams->open, err, t->session->context, t->n_marks, &t->second, err);
}

void step_second_close(cnn_trainer *t)
{
    if (t->second != NULL) CNN_CALL_VOID(t->session->impl, streams->close, t->session->context, t->second);
    t->second = NULL;
}

static cnn_status use(const cnn_trainer *t, bool second, cnn_error *err)
{
    return CNN_CALL(t->session->impl, streams->use, err, t->session->context, t->second, second, err);
}

/* On the stream in use; numbers are from 1, 0 is nothing. */
static cnn_status wait_for(const cnn_trainer *t, int mark, cnn_error *err)
{
    if (mark == 0) return CNN_OK;
    return CNN_CALL(t->session->impl, streams->wait, err, t->session->context, t->second, mark - 1, err);
}

static cnn_status set_mark(const cnn_trainer *t, int mark, cnn_error *err)
{
    if (mark == 0) return CNN_OK;
    return CNN_CALL(t->session->impl, streams->mark, err, t->session->context, t->second, mark - 1, err);
}

/* Whatever fails, the context's own stream is in use behind it: captures end there. */
cnn_status step_fork(const cnn_trainer *t, const step_call *call, cnn_error *err)
{
    cnn_error ignored;
    cnn_status status = call->stream > 0 ? use(t, true, err) : CNN_OK;
    if (status == CNN_OK) status = wait_for(t, call->waits, err);
    if (status == CNN_OK) status = step_do_call(t, call, err);
    if (status == CNN_OK) status = set_mark(t, call->marks, err);
    if (call->stream == 0) return status;
    return status == CNN_OK ? use(t, false, err) : ((void)use(t, false, &ignored), status);
}

cnn_status step_join(const cnn_trainer *t, const call_list *list, cnn_error *err)
{
    return t->second != NULL ? wait_for(t, list->joins, err) : CNN_OK;
}
