/* glimpse.c: runs, behind the last sample, of which the very next thing on the device's stream takes a copy. */
#include "parts.h"

#include <stdio.h>

static cnn_status look(measure *m, const char **late, cnn_error *err)
{
    const vf_glimpse *g = &m->glimpse;
    const vf_call *call = &m->c->call;
    const cnn_session *by = judge_hands(m->judge);
    void *const *operands = judge_buffers(m->judge);
    cnn_status status = vf_glimpse_spoil(g, by, call, operands, 0x20 + (int)judge_draw(m->judge, 0x20), err);
    if (status == CNN_OK) status = measure_run(m, 0, err);
    if (status == CNN_OK) status = vf_glimpse_take(g, m->session, call, operands, err);
    if (status == CNN_OK) status = cnn_sync(m->session, err);
    return status == CNN_OK ? vf_glimpse_judge(g, by, call, operands, late, err) : status;
}

cnn_status measure_glimpse(measure *m, cnn_error *err)
{
    enum { TRIES = 4 }; /* work that is not joined may be done in time by chance */
    const char *late = NULL;
    cnn_status status = vf_glimpse_open(&m->glimpse, m->session, &m->c->call, err);
    for (int i = 0; m->session->impl->memory && status == CNN_OK && !late && i < TRIES; i++)
        status = look(m, &late, err);
    if (late && m->lie[0] == '\0') snprintf(m->lie, sizeof m->lie, "it " VF_GLIMPSE_LATE, late);
    return status;
}
