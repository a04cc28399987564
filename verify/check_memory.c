/* check_memory.c: what a kernel does to memory.
 *
 * Catches writes before or past any buffer (guard bands that touch it), inputs changed, outputs left unwritten (they
 * hold NaN), results that depend on what workspace or outputs held before (two runs with different garbage must give
 * the same bits), and operations that cnn.h lets run in place but that do not give the same bits there. */
#include "engine.h"

#include <string.h>

/* An algorithm that is not deterministic may differ between any two runs: then the bound has to do. */
static void judge_same(const vf_subject *s, const vf_case *c, const vf_run *a, const vf_run *b, const char *what,
                       verify_result *result)
{
    const char *name = vf_run_difference(c, a, b);
    if (name == NULL) return;
    if (s->algorithm->flags & CNN_ALGO_DETERMINISTIC) {
        vf_set(result, VERIFY_FAILED, "%s depends on %s", name, what);
        return;
    }
    if (vf_is_huge(&s->engine->options, s->problem)) return; /* nothing is expected; check_bound.c judges samples */
    vf_judge(c, b, &s->rounding, result, NULL);
}

static bool all_bytes(const void *bytes, size_t size, int byte)
{
    for (size_t i = 0; i < size; i++)
        if (((const unsigned char *)bytes)[i] != byte) return false;
    return true;
}

/* Elements that are the NaN that stood there: it is still there, or it was read, for 0 * NaN is that NaN again. In the
 * second run a finite number stood there, which only an element that is not written keeps. */
static void judge_written(const vf_case *c, const vf_run *first, const vf_run *second, verify_result *result)
{
    for (int i = 0; i < c->call.count; i++) {
        const cnn_operand *o = &c->call.operands[i];
        const size_t size = o->bytes / (size_t)o->count;
        for (size_t e = 0; first->bytes[i] != NULL && e < (size_t)o->count; e++) {
            if (!all_bytes((const char *)first->bytes[i] + e * size, size, vf_garbage[0])) continue;
            const char *again = second->bytes[i] != NULL ? (const char *)second->bytes[i] + e * size : NULL;
            const bool written = again != NULL && !all_bytes(again, size, vf_garbage[1]);
            vf_set(result, VERIFY_FAILED,
                   written ? "read %s, which held NaN and was to be replaced (beta 0), at element %lld in memory"
                           : "left %s unwritten at element %lld in memory",
                   o->name, (long long)e);
            return;
        }
    }
}

static bool may_be_in_place(const vf_case *c)
{
    return (c->problem.op == CNN_OP_ACT || c->problem.op == CNN_OP_ADD) && c->call.beta == 0.0;
}

static cnn_status check_variant(const vf_subject *s, const vf_case *c, verify_result *result, cnn_error *err)
{
    static const vf_run_options options[3] = {{.garbage = 0}, {.garbage = 1}, {.garbage = 0, .in_place = true}};
    static const char *const what[3] = {NULL, "what its outputs or its workspace held before",
                                        "not being run in place"};
    vf_run runs[3] = {0};
    cnn_status status = CNN_OK;
    for (int i = 0; status == CNN_OK && i < (may_be_in_place(c) ? 3 : 2); i++) {
        status = vf_go_on(&s->engine->options, err);
        if (status == CNN_OK) status = vf_run_make(&runs[i], s->place, c, &options[i], err);
        if (i == 1) judge_written(c, &runs[0], &runs[1], result); /* whatever became of the second run */
        if (status != CNN_OK) break;
        if (runs[i].fault[0] != '\0') vf_set(result, VERIFY_FAILED, "%s", runs[i].fault);
        if (i > 0) judge_same(s, c, &runs[0], &runs[i], what[i], result);
    }
    for (int i = 0; i < 3; i++) vf_run_free(&runs[i]);
    return status;
}

cnn_status vf_check_memory(const vf_subject *s, verify_result *result, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int variant = 0; status == CNN_OK && variant < vf_variants(s->problem, s->dir); variant++) {
        const vf_case *c;
        status = vf_case_get(s, VF_REALS, variant, &c, err);
        if (status == CNN_OK) status = check_variant(s, c, result, err);
    }
    return status;
}
