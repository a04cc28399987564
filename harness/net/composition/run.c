/* run.c: running down the lists of calls. Nothing here allocates. */
#include "harness/base/text.h"
#include "harness/problem/names.h"
#include "harness/problem/problem.h"
#include "parts.h"

/* Which operation it was that failed. Of which network is said where the steps are asked for. */
static cnn_status name_call(const cnn_trainer *t, const step_call *c, cnn_error *err)
{
    char what[CNN_NAME_MAX + 2 * CNN_PROBLEM_TEXT_MAX] = "copying a gradient", problem[CNN_PROBLEM_TEXT_MAX];
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

cnn_status step_run(cnn_trainer *t, const call_list *list, cnn_error *err)
{
    const cnn_impl *impl = t->session->impl;
    for (int i = 0; i < list->count; i++) {
        const step_call *c = &list->calls[i];
        if (impl->ranges != NULL) CNN_CALL_VOID(impl, ranges->push, t->session->context, c->range);
        cnn_status status = c->plan < 0 ? cnn_mem_copy(t->session, c->operands[1], c->operands[0], c->copy_bytes, err)
                                        : cnn_run(t->session, &t->plans[c->plan].plan, c->operands, &c->extra, err);
        if (impl->ranges != NULL) CNN_CALL_VOID(impl, ranges->pop, t->session->context);
        if (status == CNN_OK) status = step_laps_call(t, err);
        if (status != CNN_OK) return name_call(t, c, err);
    }
    return CNN_OK;
}

cnn_status step_run_mode(cnn_trainer *t, const step_batch *batch, int mode, cnn_error *err)
{
    cnn_status status = step_run(t, &batch->calls[mode], err);
    if (status == CNN_OK && mode == TRAIN) status = step_sums(t, err);
    return status == CNN_OK && mode == TRAIN ? step_run(t, &t->update, err) : status;
}
