/* glimpse.c: see guard.h. */
#include "guard.h"

#include <stdlib.h>
#include <string.h>

/* The last bytes are the last to be written by a kernel whose blocks start in order. */
static size_t seen(const cnn_operand *o)
{
    const size_t most = (size_t)1 << 20;
    return o->bytes < most ? o->bytes : most;
}

static char *tail(const cnn_operand *o, void *data) { return (char *)data + o->bytes - seen(o); }

cnn_status vf_glimpse_open(vf_glimpse *g, const cnn_session *session, const vf_call *call, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = 0; session->impl->memory && status == CNN_OK && i < call->count; i++) {
        const cnn_operand *o = &call->operands[i];
        const size_t bytes = o->access != CNN_IN ? seen(o) : 0;
        if (g->bytes[i] == bytes) continue;
        if (g->memory[i]) cnn_mem_free(session, g->memory[i]);
        g->memory[i] = NULL, g->bytes[i] = 0;
        if (bytes > 0) status = cnn_mem_alloc(session, bytes, &g->memory[i], err);
        if (status == CNN_OK) g->bytes[i] = bytes;
    }
    return status;
}

void vf_glimpse_close(vf_glimpse *g, const cnn_session *session)
{
    for (int i = 0; i < CNN_MAX_OPERANDS; i++)
        if (g->memory[i]) cnn_mem_free(session, g->memory[i]);
    memset(g, 0, sizeof *g);
}

cnn_status vf_glimpse_spoil(const vf_glimpse *g, const cnn_session *by, const vf_call *call, void *const *pointers,
                            int byte, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = 0; status == CNN_OK && i < call->count; i++) {
        const cnn_operand *o = &call->operands[i];
        if (g->memory[i] && o->access == CNN_OUT) status = cnn_mem_fill(by, tail(o, pointers[i]), byte, seen(o), err);
    }
    return status == CNN_OK ? cnn_sync(by, err) : status;
}

cnn_status vf_glimpse_take(const vf_glimpse *g, const cnn_session *session, const vf_call *call, void *const *pointers,
                           cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = 0; status == CNN_OK && i < call->count; i++) {
        const cnn_operand *o = &call->operands[i];
        if (g->memory[i]) status = cnn_mem_copy(session, g->memory[i], tail(o, pointers[i]), seen(o), err);
    }
    return status;
}

static cnn_status differs(const cnn_session *by, const void *a, const void *b, size_t bytes, bool *different,
                          cnn_error *err)
{
    char *host = malloc(2 * bytes);
    if (!host) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %zu bytes of an output", 2 * bytes);
    cnn_status status = cnn_mem_download(by, host, a, bytes, err);
    if (status == CNN_OK) status = cnn_mem_download(by, host + bytes, b, bytes, err);
    *different = status == CNN_OK && memcmp(host, host + bytes, bytes) != 0;
    free(host);
    return status;
}

cnn_status vf_glimpse_judge(const vf_glimpse *g, const cnn_session *by, const vf_call *call, void *const *pointers,
                            const char **late, cnn_error *err)
{
    cnn_status status = CNN_OK;
    *late = NULL;
    for (int i = 0; status == CNN_OK && *late == NULL && i < call->count; i++) {
        const cnn_operand *o = &call->operands[i];
        bool different = false;
        if (!g->memory[i]) continue;
        status = differs(by, g->memory[i], tail(o, pointers[i]), seen(o), &different, err);
        if (status == CNN_OK && different) *late = o->name;
    }
    return status;
}
