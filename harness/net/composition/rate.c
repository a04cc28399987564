/* rate.c: another learning rate: the update is planned anew, and steps that were captured with it are captured anew.
 * All other plans stay, and with them what their searches found. */
#include "harness/problem/names.h"
#include "parts.h"

/* Its workspace was laid out when the trainer was opened. */
static cnn_status plan_update(cnn_trainer *t, cnn_error *err)
{
    cnn_plan *plan = &t->plans[t->update.calls[t->update.count - 1].plan].plan;
    const cnn_algorithm algorithm = plan->algorithm;
    const size_t room = plan->workspace_bytes;
    const cnn_problem problem = {.op = CNN_OP_OPTIMIZER, .u.optimizer = t->loop->optimizer};
    const cnn_request request = {.problem = &problem, .dir = CNN_FWD, .algorithm = &algorithm};
    cnn_plan_release(t->session, plan);
    const cnn_status status = cnn_plan_make(t->session, &request, plan, err);
    if (status != CNN_OK || plan->workspace_bytes <= room) return status;
    return CNN_FAIL(err, CNN_UNSUPPORTED, "%s:%s wants %zu bytes of workspace at another learning rate, %zu before",
                    t->session->impl->name, algorithm.name, plan->workspace_bytes, room);
}

cnn_status composition_rate(trainer *loop, cnn_error *err)
{
    cnn_trainer *t = loop->own;
    if (t->update.count == 0) return CNN_OK; /* nothing is trained */
    cnn_status status = cnn_sync(t->session, err);
    for (int list = 0; list < LANES; list++)
        for (int i = 0; i < MAX_BATCHES; i++) step_forget(t, &t->batches[list][i]);
    if (status == CNN_OK) status = plan_update(t, err);
    return status == CNN_OK ? step_capture(t, err) : status;
}
