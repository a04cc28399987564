/* judge_disturb.c: what a run finds is never what the one before found. */
#include "harness/cnn/half.h"
#include "judge_parts.h"
#include "verify/oracle/case.h"

#include <math.h>
#include <string.h>

cnn_status judge_put(const judge *j, int operand, int64_t index, double value, cnn_error *err)
{
    const cnn_operand *o = &j->c.call.operands[operand];
    const size_t size = o->bytes / (size_t)o->count;
    unsigned char bytes[8];
    vf_pack_element(&j->c.problem, o, value, bytes);
    char *at = (char *)j->buffers[operand] + (size_t)vf_position(&j->c.problem, o, index) * size;
    return cnn_mem_upload(j->hands.session, at, bytes, size, err);
}

/* The input that changes from run to run: what comes from the layer before; for every so many runs of a sum the other
 * factor, too (weights kept by their address would not follow). -1: none may. */
static int changing_input(judge *j)
{
    const vf_call *call = &j->c.call;
    const int dy = vf_index(call->operands, call->count, "dy"), x = vf_index(call->operands, call->count, "x");
    const int w = vf_index(call->operands, call->count, "w");
    const int first = dy >= 0 ? dy : x, other = w >= 0 ? w : dy >= 0 && call->dir == CNN_BWD_W ? x : -1;
    if (j->sums && other >= 0 && rng_int(&j->rng, 0, 7) == 0) return other;
    if (first >= 0) return cnn_elem_real(call->operands[first].elem) ? first : -1;
    const int x0 = vf_index(call->operands, call->count, "x0"); /* of several inputs */
    return x0 >= 0 && call->operands[x0].access == CNN_IN ? x0 : -1;
}

static cnn_status change(judge *j, int operand, int64_t index, double value, cnn_error *err)
{
    if (j->sums)
        vf_retouch(&j->c, operand, index, value, judge_follow, j);
    else
        j->c.before[operand][index] = value;
    return judge_put(j, operand, index, value, err);
}

cnn_status judge_restore(judge *j, cnn_error *err)
{
    cnn_status status = CNN_OK;
    while (status == CNN_OK && j->n_touched > 0) {
        const touched t = j->touched[--j->n_touched];
        status = change(j, t.operand, t.index, t.was, err);
    }
    return status;
}

/* The oldest change is taken back when there are many, so that the inputs stay what they were, but for a few. */
static cnn_status forget_oldest(judge *j, cnn_error *err)
{
    const touched t = j->touched[0];
    if (j->n_touched < JUDGE_TOUCHED) return CNN_OK;
    memmove(j->touched, j->touched + 1, (size_t)--j->n_touched * sizeof j->touched[0]);
    return change(j, t.operand, t.index, t.was, err);
}

static cnn_status touch(judge *j, int operand, cnn_error *err)
{
    const int64_t index = rng_int(&j->rng, 0, j->c.call.operands[operand].count - 1);
    /* Of a sum large, so that it shows beside all rounding; else in the range that the operation's data have (of a
     * quantized result, of bytes). Few bits: f32 holds it as it is. */
    const double most = j->sums ? 31 : cnn_sums_whole(j->c.problem.u.type.dtype) ? 127 : 1;
    const double few = floor(rng_real(&j->rng, -most, most) * 256) / 256;
    const double value = cnn_stored(cnn_elem_dtype(&j->c.problem.u.type, j->c.call.operands[operand].elem), few);
    cnn_status status = forget_oldest(j, err);
    if (status != CNN_OK) return status;
    for (int i = 0; i < j->n_touched; i++)
        if (j->touched[i].operand == operand && j->touched[i].index == index)
            return change(j, operand, index, value, err);
    j->touched[j->n_touched++] = (touched){operand, index, j->c.before[operand][index]};
    return change(j, operand, index, value, err);
}

static cnn_status spoil_workspace(judge *j, cnn_error *err)
{
    enum { PLACES = 4, FLOATS = 16 };
    cnn_status status = CNN_OK;
    if (j->workspace.bytes < sizeof(float[FLOATS])) return CNN_OK;
    for (int k = 0; status == CNN_OK && k < PLACES; k++) {
        float values[FLOATS];
        const int64_t most = (int64_t)((j->workspace.bytes - sizeof values) / sizeof values);
        for (int i = 0; i < FLOATS; i++) values[i] = (float)rng_real(&j->rng, -1, 1);
        status = cnn_mem_upload(j->hands.session,
                                (char *)j->workspace.data + (size_t)rng_int(&j->rng, 0, most) * sizeof values, values,
                                sizeof values, err);
    }
    return status;
}

/* A sum is changed until the change shows well in its projection, or often enough. */
static cnn_status change_some(judge *j, int operand, cnn_error *err)
{
    enum { MOST = 8 };
    cnn_status status = judge_stale(j, err);
    j->moved = 0;
    for (int i = 0; status == CNN_OK && operand >= 0 && i < MOST; i++) {
        status = touch(j, operand, err);
        if (!j->sums || fabs(j->moved) > 4) break;
    }
    return status;
}

/* One run in eight finds few changes: what leaves out nearly all of its work where nearly all is as before may do so
 * there alone. */
static cnn_status change_inputs(judge *j, int operand, cnn_error *err)
{
    const bool whole = operand >= 0 && judge_has_pullback(j->basis, operand) && rng_int(&j->rng, 0, 7) != 0;
    return whole ? judge_freshen(j, operand, err) : change_some(j, operand, err);
}

cnn_status judge_disturb(judge *j, int runs, cnn_error *err)
{
    enum { SPOILED = 4 };
    const int operand = changing_input(j);
    judge_late(j);
    cnn_status status = change_inputs(j, operand, err);
    if (status == CNN_OK) status = judge_spoil(j, SPOILED, err);
    if (status == CNN_OK) status = judge_disturb_window(j, operand, runs, err);
    return status == CNN_OK ? spoil_workspace(j, err) : status;
}

cnn_status judge_peek(judge *j, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = 0; status == CNN_OK && i < j->c.call.count; i++) {
        const cnn_operand *o = &j->c.call.operands[i];
        const size_t size = o->bytes / (size_t)o->count;
        const int64_t at = rng_int(&j->rng, 0, o->count - 1);
        if (o->access == CNN_IN) continue;
        status =
            cnn_mem_download(j->hands.session, j->room, (const char *)j->buffers[i] + (size_t)at * size, size, err);
    }
    return status;
}
