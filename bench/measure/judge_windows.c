/* judge_windows.c: a sample's runs before the last. Each writes over most of what the one before has left, but for the
 * first JUDGE_STEP bytes: these held something else before, and of one run, drawn beforehand, they are compared. */
#include "judge_parts.h"

#include "verify/oracle/element.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *window(const judge *j, int i) { return (char *)j->buffers[i] - (size_t)j->back * JUDGE_STEP; }

/* The bytes of an output that its run alone has written. */
static size_t strip_bytes(const cnn_operand *o) { return o->bytes < JUDGE_STEP ? o->bytes : JUDGE_STEP; }

/* What the runs of the sample before have left, all of it: one that finds its results there could save itself the work.
 */
static cnn_status spoil_lead(const judge *j, int i, cnn_error *err)
{
    return cnn_mem_upload(j->hands.session, (char *)j->buffers[i] - j->lead_bytes, j->lead[i], j->lead_bytes, err);
}

/* An element among its input's first, where the first of its results are likely to follow. */
static cnn_status touch_window(judge *j, int i, cnn_error *err)
{
    enum { FIRST = 8 };
    const cnn_operand *o = &j->c.call.operands[i];
    const size_t size = o->bytes / (size_t)o->count;
    const size_t at = (size_t)rng_int(&j->rng, 0, (o->count < FIRST ? o->count : FIRST) - 1) * size;
    char *mine = (char *)j->lead[i] + j->lead_bytes - (size_t)j->back * JUDGE_STEP + at;
    vf_pack_element(&j->c.problem, o, rng_real(&j->rng, -1, 1), mine);
    return cnn_mem_upload(j->hands.session, window(j, i) + at, mine, size, err);
}

cnn_status judge_disturb_window(judge *j, int operand, int runs, cnn_error *err)
{
    cnn_status status = CNN_OK;
    j->back = 0;
    if (runs < 2 || j->lead_bytes == 0) return CNN_OK;
    j->back = (int)rng_int(&j->rng, 1, runs - 1);
    for (int i = 0; status == CNN_OK && i < j->c.call.count; i++)
        if (j->c.call.operands[i].access != CNN_IN) status = spoil_lead(j, i, err);
    return status == CNN_OK && operand >= 0 ? touch_window(j, operand, err) : status;
}

/* The inputs as that run found them. */
static cnn_status read_inputs(const judge *j, vf_case *c, cnn_error *err)
{
    for (int i = 0; i < c->call.count; i++) {
        const cnn_operand *o = &c->call.operands[i];
        const double *now = c->before[i];
        c->before[i] = NULL;
        if (!now) continue;
        c->before[i] = malloc((size_t)o->count * sizeof *c->before[i]);
        if (!c->before[i]) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for an earlier run's %s", o->name);
        memcpy(j->room, j->lead[i], j->lead_bytes);
        vf_pack(&c->problem, o, now, (char *)j->room + j->lead_bytes);
        vf_unpack(&c->problem, o, (char *)j->room + j->lead_bytes - (size_t)j->back * JUDGE_STEP, c->before[i]);
        c->call.in[i] = c->before[i];
    }
    return CNN_OK;
}

static bool holds(const vf_allowance *whole, vf_element e, double got)
{
    vf_allowance one = *whole;
    one.expected = (vf_out){&e.value, &e.magnitude, &e.roundings, &e.kind};
    return vf_held(e.value, got, vf_allowed(&one, 0));
}

/* Element by element against the float64 reference: the inputs of earlier runs are the case's, a little changed. */
static cnn_status compare_strip(judge *j, const vf_case *c, int operand, cnn_error *err)
{
    const cnn_operand *o = &c->call.operands[operand];
    const int64_t size = (int64_t)o->bytes / o->count, most = (int64_t)strip_bytes(o) / size;
    const vf_rounding all = vf_rounding_of(&j->c.problem, &j->plan->algorithm);
    const vf_rounding bounds = vf_rounding_in(&all, &j->c, o);
    vf_allowance whole = vf_allow(NULL, &bounds, &j->c.call.out[operand], o->count);
    whole.top *= 2; /* where a bound is the whole array's: this run's numbers are like the case's, not the same */
    const cnn_status status = cnn_mem_download(j->hands.session, j->room, window(j, operand), strip_bytes(o), err);
    for (int64_t e = 0; status == CNN_OK && e < o->count; e++) {
        const int64_t at = vf_position(&c->problem, o, e);
        if (at >= most) continue;
        const vf_element expected = vf_element_make(c, operand, e);
        const double got = vf_unpack_element(&c->problem, o, j->room, at);
        if (holds(&whole, expected, got)) continue;
        char where[128];
        vf_element_name(o, e, where, sizeof where);
        vf_set(&j->verdict, VERIFY_FAILED,
               "of an earlier run of a timed sample %s is wrong: it was left out, or read other inputs", o->name);
        snprintf(j->verdict.worst, sizeof j->verdict.worst, "%s, %d runs before the last: expected %.9g, got %.9g",
                 where, j->back, expected.value, vf_shown(got));
        break;
    }
    return status;
}

cnn_status judge_window(judge *j, const vf_case *now, cnn_error *err)
{
    if (j->back == 0 || j->verdict.state != VERIFY_PASSED) return CNN_OK;
    vf_case c = *now;
    cnn_status status = read_inputs(j, &c, err);
    for (int i = 0; status == CNN_OK && i < c.call.count; i++)
        if (c.call.operands[i].access != CNN_IN) status = compare_strip(j, &c, i, err);
    for (int i = 0; i < CNN_MAX_OPERANDS; i++) free(c.before[i]);
    return status;
}
