/* judge_late.c: outputs that are written after the call has returned.
 *
 * Some elements of the outputs are spoiled before each run. The first thing after it is to look whether one of them is
 * still as spoiled; before the next run, whether it is not any more. Then somebody wrote it in between. Threads that
 * only spin write nothing, and an element that happens to come out as spoiled stays so: nobody is accused wrongly.
 *
 * What is late by as much as a run takes would do the next run's work with the next run's inputs: so that somebody is
 * still at work is waited for, too. */
#include "harness/base/clock.h"
#include "harness/cpu/busy.h"
#include "judge_parts.h"

#include <string.h>
#include <time.h>

/* Puts a wrong value into an output, and remembers it: always the same one in one place, which may be drawn twice. */
static cnn_status spoil(judge *j, int operand, int64_t index, double value, cnn_error *err)
{
    const cnn_operand *o = &j->c.call.operands[operand];
    const cnn_status status = judge_put(j, operand, index, value, err);
    if (status != CNN_OK || j->session->impl->memory || j->n_spoiled == JUDGE_SPOILED) return status;
    spoiled *s = &j->spoiled[j->n_spoiled++];
    *s = (spoiled){.operand = operand, .size = o->bytes / (size_t)o->count};
    s->at = (const char *)j->buffers[operand] + (size_t)vf_position(&j->c.problem, o, index) * s->size;
    memcpy(s->bytes, s->at, s->size);
    return CNN_OK;
}

static bool stands(const spoiled *s) { return memcmp(s->at, s->bytes, s->size) == 0; }

void judge_returned(judge *j)
{
    for (int i = 0; i < j->n_spoiled; i++) j->spoiled[i].left = stands(&j->spoiled[i]);
}

/* It is the cause of whatever else was wrong, and takes its place. */
static void blame(judge *j, const spoiled *s)
{
    j->verdict.reason[0] = '\0';
    vf_set(&j->verdict, VERIFY_FAILED, "a timed run wrote %s after it had returned",
           j->c.call.operands[s->operand].name);
}

void judge_late(judge *j)
{
    for (int i = 0; i < j->n_spoiled; i++)
        if (j->spoiled[i].left && !stands(&j->spoiled[i])) blame(j, &j->spoiled[i]);
    j->n_spoiled = 0;
}

cnn_status judge_spoil(judge *j, int elements, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int k = 0; k < elements; k++)
        for (int i = 0; i < j->c.call.count && status == CNN_OK; i++) {
            const cnn_operand *o = &j->c.call.operands[i];
            const int64_t at = rng_int(&j->rng, 0, o->count - 1);
            if (o->access == CNN_OUT) status = spoil(j, i, at, 0.25 - j->c.after[i][at], err);
        }
    return status;
}

cnn_status judge_idle(judge *j, double most, cnn_error *err)
{
    const struct timespec pause = {.tv_nsec = 200000};
    const double start = cnn_now();
    if (j->session->impl->memory) return CNN_OK;
    judge_late(j);
    const cnn_status status = judge_spoil(j, JUDGE_SPOILED, err);
    for (int i = 0; i < j->n_spoiled; i++) j->spoiled[i].left = true;
    do nanosleep(&pause, NULL);
    while (busy_others(NULL, 0) && cnn_now() - start < most);
    judge_late(j);
    return status;
}
