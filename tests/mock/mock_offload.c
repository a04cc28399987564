/* mock_offload.c: copies to host memory beside the mock's stream: each runs as late as cnn.h lets it, when the stream
 * comes to the wait for it, or as early, when the stream comes to where it was begun. */
#include "mock_parts.h"

#include <stdlib.h>
#include <string.h>

struct cnn_offload {
    copy_args *begun; /* and not copied yet, in this order */
    int n_begun, capacity;
    void *host;
};

static void mock_offload_close(cnn_context *context, cnn_offload *o)
{
    if (o == NULL) return;
    free(o->begun);
    free(o->host);
    free(o);
}

static cnn_status mock_offload_open(cnn_context *context, int count, size_t bytes, cnn_offload **offload, void **host,
                                    cnn_error *err)
{
    cnn_offload *o = calloc(1, sizeof *o);
    if (o == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "mock: no memory");
    o->capacity = count;
    o->begun = calloc((size_t)count + 1, sizeof *o->begun);
    const cnn_status status = o->begun != NULL ? mock_host_alloc(context, bytes, &o->host, err)
                                               : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "mock: no memory");
    if (status != CNN_OK) {
        mock_offload_close(context, o);
        return status;
    }
    *offload = o;
    *host = o->host;
    return CNN_OK;
}

/* All that were begun up to the latest with this index: they are copied in order. */
static void copy_until(cnn_offload *o, int index)
{
    int count = o->n_begun;
    while (count > 0 && o->begun[count - 1].lane != index) count--;
    for (int i = 0; i < count; i++) memcpy(o->begun[i].dst, o->begun[i].src, o->begun[i].bytes);
    o->n_begun -= count;
    memmove(o->begun, o->begun + count, (size_t)o->n_begun * sizeof *o->begun);
}

static cnn_status run_begin(mock *m, const call *c, cnn_error *err)
{
    cnn_offload *o = c->args.copy.offload;
    if (o->n_begun == o->capacity) return CNN_FAIL(err, CNN_DEVICE, "mock: a copy was begun and not waited for");
    o->begun[o->n_begun++] = c->args.copy;
    if (m->knobs[MOCK_EARLY_UPLOADS]) copy_until(o, c->args.copy.lane);
    return CNN_OK;
}

static cnn_status run_wait(mock *m, const call *c, cnn_error *err)
{
    copy_until(c->args.copy.offload, c->args.copy.lane);
    return CNN_OK;
}

static cnn_status mock_offload_begin(cnn_context *context, cnn_offload *o, int index, const cnn_offload_copy *copy,
                                     cnn_error *err)
{
    const call c = {
        .run = run_begin,
        .args.copy = {.dst = copy->dst, .src = copy->src, .bytes = copy->bytes, .lane = index, .offload = o}};
    return mock_launch(mock_of(context), &c, err);
}

static cnn_status mock_offload_wait(cnn_context *context, cnn_offload *o, int index, cnn_error *err)
{
    const call c = {.run = run_wait, .args.copy = {.lane = index, .offload = o}};
    return mock_launch(mock_of(context), &c, err);
}

const cnn_offloads mock_offloads = {
    .open = mock_offload_open, .close = mock_offload_close, .begin = mock_offload_begin, .wait = mock_offload_wait};
