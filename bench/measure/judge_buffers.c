/* judge_buffers.c: the operands of timed runs: where they are, and what stands in them.
 *
 * Each run of a sample has operands of its own, lest all but one of them be left out. They lie JUDGE_STEP bytes apart,
 * the last run's where the case's are: so they are all other numbers, and take hardly more memory, or cache, than one.
 */
#include "judge_parts.h"

#include "harness/base/clock.h"

#include <stdlib.h>
#include <string.h>

/* Values of the right size, each wrong. */
static double plausible(double expected) { return 0.37 - expected; }

cnn_status judge_fill(judge *j, int i, cnn_error *err)
{
    const cnn_operand *o = &j->c.call.operands[i];
    double *values = j->c.before[i], *wrong = NULL;
    if (o->access == CNN_OUT) {
        values = wrong = malloc((size_t)o->count * sizeof *wrong);
        if (!wrong) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to fill %s", o->name);
        for (int64_t e = 0; e < o->count; e++) wrong[e] = plausible(j->c.after[i][e]);
    }
    if (j->lead[i]) memcpy(j->room, j->lead[i], j->lead_bytes);
    vf_pack(&j->c.problem, o, values, (char *)j->room + j->lead_bytes);
    free(wrong);
    const double start = cnn_now();
    const cnn_status status = vf_guarded_upload(&j->guarded[i], j->hands.session, j->room, err);
    if (o->access != CNN_OUT && j->session->impl->memory) {
        j->upload.seconds += cnn_now() - start;
        j->upload.bytes += o->bytes;
    }
    return status;
}

static cnn_status make_lead(judge *j, int i, cnn_error *err)
{
    const cnn_operand *o = &j->c.call.operands[i];
    const size_t size = o->bytes / (size_t)o->count;
    const size_t own = judge_has_pullback(j->basis, i) ? o->bytes : 0;
    if (j->lead_bytes + own == 0) return CNN_OK;
    j->lead[i] = malloc(j->lead_bytes + own);
    if (!j->lead[i]) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for what lies before %s", o->name);
    for (size_t at = 0; at < j->lead_bytes; at += size)
        vf_pack_element(&j->c.problem, o, rng_real(&j->rng, -1, 1), (char *)j->lead[i] + at);
    return CNN_OK;
}

static cnn_status allocate(judge *j, cnn_error *err)
{
    const vf_call *call = &j->c.call;
    size_t total = j->plan->workspace_bytes, largest = j->plan->workspace_bytes;
    for (int i = 0; i < call->count; i++) {
        const size_t bytes = call->operands[i].bytes + j->lead_bytes;
        total += bytes + CNN_ALIGN;
        largest = largest > bytes ? largest : bytes;
    }
    cnn_status status = cnn_mem_check(j->session, total, err);
    for (int i = 0; status == CNN_OK && i < call->count; i++) {
        status = vf_guarded_alloc(&j->guarded[i], j->session, call->operands[i].bytes + j->lead_bytes, VF_PATTERN, err);
        if (status == CNN_OK) status = make_lead(j, i, err);
        j->buffers[i] = status == CNN_OK ? (char *)j->guarded[i].data + j->lead_bytes : NULL;
    }
    if (status == CNN_OK && j->plan->workspace_bytes > 0)
        status = vf_guarded_alloc(&j->workspace, j->session, j->plan->workspace_bytes, VF_PATTERN, err);
    j->room = malloc(largest);
    if (status == CNN_OK && !j->room)
        status = CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %zu bytes of an operand", largest);
    return status;
}

static cnn_status fill_workspace(judge *j, cnn_error *err)
{
    float *values = j->room;
    if (j->workspace.bytes == 0) return CNN_OK;
    for (size_t i = 0; i < j->workspace.bytes / sizeof *values; i++) values[i] = (float)rng_real(&j->rng, -1, 1);
    return vf_guarded_upload(&j->workspace, j->hands.session, values, err);
}

cnn_status judge_buffers_open(judge *j, cnn_error *err)
{
    cnn_status status = allocate(j, err);
    j->fresh = -1;
    for (int i = 0; status == CNN_OK && i < j->c.call.count; i++) status = judge_fill(j, i, err);
    return status == CNN_OK ? fill_workspace(j, err) : status;
}

void judge_buffers_close(judge *j)
{
    for (int i = 0; i < CNN_MAX_OPERANDS; i++) {
        if (j->guarded[i].memory) vf_guarded_free(&j->guarded[i], j->session);
        free(j->lead[i]);
        j->lead[i] = NULL;
    }
    if (j->workspace.memory) vf_guarded_free(&j->workspace, j->session);
    free(j->room);
    j->room = NULL;
}

cnn_status judge_windows(judge *j, int runs, cnn_error *err)
{
    if (runs < 2 || !j->sums) return CNN_OK;
    judge_late(j);
    judge_buffers_close(j);
    j->lead_bytes = (size_t)(runs - 1) * JUDGE_STEP;
    return judge_buffers_open(j, err);
}

void judge_operands(const judge *j, int back, void *pointers[CNN_MAX_OPERANDS])
{
    const size_t before = j->lead_bytes > 0 ? (size_t)back * JUDGE_STEP : 0;
    for (int i = 0; i < j->c.call.count; i++) pointers[i] = (char *)j->buffers[i] - before;
}
