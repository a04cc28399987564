/* run.c: running down the lists of calls. Nothing here allocates. */
#include "harness/base/text.h"
#include "harness/problem/names.h"
#include "harness/problem/problem.h"
#include "parts.h"

/* Which operation it was that failed. Of which network is said where the steps are asked for. */
static cnn_status name_call(const cnn_trainer *t, const step_call *c, cnn_error *err)
{
    char what[CNN_NAME_MAX + 2 * CNN_PROBLEM_TEXT_MAX] = "", problem[CNN_PROBLEM_TEXT_MAX];
    snprintf(what, sizeof what, "%s",
             c->move != STAYS ? "moving a value to host memory, or back" : "copying a gradient");
    if (c->plan >= 0) {
        const step_plan *p = &t->plans[c->plan];
        cnn_problem_format(&p->plan.problem, problem);
        snprintf(what, sizeof what, "%s %s (%s, %s)",
                 p->layer < 0                  ? "sum of gradients"
                 : p->layer == OPTIMIZER_LAYER ? "update"
                                               : t->net->layers[p->layer].name,
                 cnn_dir_name(p->plan.dir), problem, p->plan.algorithm.name);
    }
    return cnn_error_before(err, err->status, "%s: ", what);
}

cnn_status step_do_call(const cnn_trainer *t, const step_call *c, cnn_error *err)
{
    if (c->move != STAYS) return step_offload_run(t, c, err);
    return c->plan < 0 ? cnn_mem_copy(t->session, c->operands[1], c->operands[0], c->copy_bytes, err)
                       : cnn_run(t->session, &t->plans[c->plan].plan, c->operands, &c->extra, err);
}

cnn_status step_run_call(const cnn_trainer *t, const step_call *c, cnn_error *err)
{
    const cnn_impl *impl = t->session->impl;
    if (c->done) return CNN_OK;
    if (impl->ranges != NULL) CNN_CALL_VOID(impl, ranges->push, t->session->context, c->range);
    cnn_status status = t->second != NULL ? step_fork(t, c, err) : step_do_call(t, c, err);
    if (impl->ranges != NULL) CNN_CALL_VOID(impl, ranges->pop, t->session->context);
    if (status == CNN_OK) status = step_laps_call(t, err);
    return status == CNN_OK ? CNN_OK : name_call(t, c, err);
}

cnn_status step_run(cnn_trainer *t, const call_list *list, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = 0; i < list->count && status == CNN_OK; i++) status = step_run_call(t, &list->calls[i], err);
    return status == CNN_OK ? step_join(t, list, err) : status;
}

cnn_status step_run_mode(cnn_trainer *t, const step_batch *batch, int mode, cnn_error *err)
{
    const call_list *list = &batch->calls[mode];
    if (mode != TRAIN) return step_run(t, list, err);
    const cnn_status status = step_sums_train(t, list, err);
    return status == CNN_OK ? step_run(t, &t->update, err) : status;
}
