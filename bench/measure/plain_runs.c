/* plain_runs.c: see plain_runs.h. */
#include "plain_runs.h"

#include <stdlib.h>

typedef struct buffers {
    void *operands[CNN_MAX_OPERANDS], *workspace;
} buffers;

static size_t bytes_of(const vf_call *call, const cnn_plan *plan)
{
    size_t bytes = plan->workspace_bytes;
    for (int i = 0; i < call->count; i++) bytes += call->operands[i].bytes;
    return bytes;
}

/* Inputs are the case's; what is only written is 0 before. */
static cnn_status put_operand(const plain_runs *p, int i, void *to, cnn_error *err)
{
    const cnn_operand *operand = &p->c->call.operands[i];
    if (p->c->before[i] == NULL) return cnn_mem_fill(p->session, to, 0, operand->bytes, err);
    void *bytes = malloc(operand->bytes);
    if (bytes == NULL)
        return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "cannot allocate %zu bytes of host memory", operand->bytes);
    vf_pack(&p->c->problem, operand, p->c->before[i], bytes);
    const cnn_status status = cnn_mem_upload(p->session, to, bytes, operand->bytes, err);
    free(bytes);
    return status;
}

static cnn_status fill(const plain_runs *p, const cnn_plan *plan, buffers *b, cnn_error *err)
{
    const vf_call *call = &p->c->call;
    cnn_status status = cnn_mem_check(p->session, bytes_of(call, plan), err);
    for (int i = 0; status == CNN_OK && i < call->count; i++) {
        status = cnn_mem_alloc(p->session, call->operands[i].bytes, &b->operands[i], err);
        if (status == CNN_OK) status = put_operand(p, i, b->operands[i], err);
    }
    if (status == CNN_OK && plan->workspace_bytes > 0)
        status = cnn_mem_alloc(p->session, plan->workspace_bytes, &b->workspace, err);
    return status;
}

static cnn_status repeat(const plain_runs *p, const cnn_plan *plan, const buffers *b, int64_t runs, cnn_error *err)
{
    const cnn_run_extra extra = {.scale = p->c->call.scale, .workspace = b->workspace};
    cnn_status status = CNN_OK;
    for (int64_t i = 0; status == CNN_OK && i < runs; i++) {
        if (p->stop != NULL && p->stop()) status = CNN_FAIL(err, CNN_INTERRUPTED, "interrupted");
        if (status == CNN_OK) status = cnn_run(p->session, plan, b->operands, &extra, err);
    }
    return status == CNN_OK ? cnn_sync(p->session, err) : status;
}

/* Libraries start their threads in the first run, and pages are there behind it. */
static cnn_status count(const plain_runs *p, const cnn_plan *plan, const buffers *b, cnn_error *err)
{
    counters *c = NULL;
    cnn_status status = repeat(p, plan, b, 3, err);
    if (status == CNN_OK) status = counters_open(p->events, &c, err);
    if (status != CNN_OK) return status;
    counters_start(c);
    status = repeat(p, plan, b, p->runs, err);
    counters_stop(c, p->counted);
    p->counted->runs = p->runs;
    counters_close(c);
    return status;
}

static cnn_status run(const plain_runs *p, const cnn_plan *plan, const buffers *b, cnn_error *err)
{
    const cnn_ranges *ranges = p->session->impl->ranges;
    cnn_status status = cnn_sync(p->session, err);
    if (ranges != NULL) ranges->push(p->session->context, p->name);
    if (status == CNN_OK) status = p->counted != NULL ? count(p, plan, b, err) : repeat(p, plan, b, p->runs, err);
    if (ranges != NULL) ranges->pop(p->session->context);
    return status;
}

cnn_status plain_runs_do(const plain_runs *p, cnn_error *err)
{
    const cnn_request request = {.problem = &p->c->problem, .dir = p->c->call.dir, .algorithm = p->algorithm};
    buffers b = {.workspace = NULL};
    cnn_plan plan;
    cnn_status status = cnn_plan_make(p->session, &request, &plan, err);
    if (status != CNN_OK) return status; /* a plan that failed holds nothing */
    status = fill(p, &plan, &b, err);
    if (status == CNN_OK) status = run(p, &plan, &b, err);
    for (int i = 0; i < CNN_MAX_OPERANDS; i++) cnn_mem_free(p->session, b.operands[i]);
    cnn_mem_free(p->session, b.workspace);
    cnn_plan_release(p->session, &plan);
    return status;
}
