/* measure_run.c: what set-up and sampling both do: fill the buffers, run once, time some runs. */
#include "measure_parts.h"

#include "harness/call.h"

#include <stdlib.h>

static cnn_status upload(measure *m, int i, cnn_error *err)
{
    const cnn_operand *o = &m->c->call.operands[i];
    void *bytes = malloc(o->bytes);
    if (!bytes) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to fill %s", o->name);
    vf_pack(&m->c->problem, o, m->c->before[i], bytes);
    const double start = cnn_now();
    const cnn_status status = cnn_mem_upload(m->session, m->buffers[i], bytes, o->bytes, err);
    if (m->session->impl->alloc) {
        m->costs.upload_s += cnn_now() - start;
        m->costs.upload_bytes += o->bytes;
    }
    free(bytes);
    return status;
}

cnn_status measure_reset(measure *m, bool inputs, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = 0; status == CNN_OK && i < m->c->call.count; i++) {
        const cnn_operand *o = &m->c->call.operands[i];
        if (o->access == CNN_OUT)
            status = cnn_mem_fill(m->session, m->buffers[i], 0xFF, o->bytes, err);
        else if (o->access == CNN_INOUT || inputs)
            status = upload(m, i, err);
    }
    return status;
}

cnn_status measure_run(const measure *m, cnn_error *err)
{
    const cnn_run_extra extra = {.beta = 0.0, .scale = m->c->call.scale, .workspace = m->workspace};
    return cnn_run(m->session, &m->plan, m->buffers, &extra, err);
}

cnn_status measure_go_on(const measure *m, cnn_error *err)
{
    const bool stop = m->params.stop != NULL && m->params.stop();
    return stop ? CNN_FAIL(err, CNN_INTERRUPTED, "the measurement was interrupted") : CNN_OK;
}

/* Nothing waits for the device between the preparing and the timed run: the host launches the one while the device is
 * busy with the other. */
cnn_status measure_time(measure *m, int repeats, bool prepared, double *seconds, cnn_error *err)
{
    const cnn_run_extra extra = {.beta = 0.0, .scale = m->c->call.scale, .workspace = m->workspace};
    cnn_timer timer;
    cnn_status status = measure_go_on(m, err);
    if (status == CNN_OK) status = cnn_sync(m->session, err);
    if (status == CNN_OK && prepared && m->flush) status = cache_flush_run(m->flush, err);
    if (status == CNN_OK && prepared && m->amid) status = amid_run(m->amid, err);
    if (status == CNN_OK) status = cnn_timer_start(m->session, &timer, err);
    if (status == CNN_OK && m->graph != NULL && repeats == m->repeats)
        status = CNN_CALL(m->session->impl, graph_run, err, m->session->context, m->graph, err);
    else
        for (int i = 0; status == CNN_OK && i < repeats; i++)
            status = cnn_run(m->session, &m->plan, m->buffers, &extra, err);
    if (status == CNN_OK) status = cnn_timer_stop(m->session, &timer, seconds, err);
    if (status == CNN_OK) *seconds /= repeats;
    return status;
}
