/* check_memory.c: what a kernel does to memory.
 *
 * Catches writes before or past any buffer (guard bands that touch it), reads there whose result is used (the bands are
 * NaN), on the host also reads whose result is not (a page that cannot be touched lies behind the buffer, then before
 * it; where AddressSanitizer is loaded, every byte around it); inputs changed, outputs left unwritten (they hold NaN),
 * results that depend on what workspace or outputs held before (two runs with different garbage must give the same
 * bits); operations that cnn.h lets run in place but that do not give the same bits there; memory of the host's heap
 * that every call keeps. */
#include "engine.h"

#include <string.h>

/* Whether runs of the same differ: then nothing can be said of what else is different. */
static cnn_status differs_anyway(const vf_subject *s, const vf_case *c, const vf_run *run,
                                 const vf_run_options *options, bool *differs, cnn_error *err)
{
    enum { CONTROLS = 3 };
    cnn_status status = CNN_OK;
    for (int i = 0; status == CNN_OK && i < CONTROLS && !*differs; i++) {
        vf_run again;
        status = vf_run_make(&again, s->place, c, options, err);
        if (status != CNN_OK) break;
        *differs = vf_run_difference(c, run, &again) != NULL;
        vf_run_free(&again);
    }
    return status;
}

/* Two runs that differ in `what`, by their options. An algorithm that is not deterministic may differ between any two
 * runs: then the bound has to do. */
static cnn_status judge_same(const vf_subject *s, const vf_case *c, const vf_run runs[2],
                             const vf_run_options *const options[2], const char *what, verify_result *result,
                             cnn_error *err)
{
    const char *name = vf_run_difference(c, &runs[0], &runs[1]);
    char where[256];
    bool differs = false;
    cnn_status status = CNN_OK;
    if (name == NULL) return CNN_OK;
    if (!(s->algorithm->flags & CNN_ALGO_DETERMINISTIC)) {
        /* of a huge one nothing is expected; check_bound.c judges samples */
        if (!vf_is_huge(&s->engine->options, s->problem)) vf_judge(c, &runs[1], &s->rounding, result, NULL);
        return CNN_OK;
    }
    for (int i = 0; status == CNN_OK && i < 2; i++) status = differs_anyway(s, c, &runs[i], options[i], &differs, err);
    vf_run_describe(c, &runs[0], &runs[1], where, sizeof where);
    if (differs)
        vf_set(result, VERIFY_FAILED, "%s differs between runs of the same, a race or a call unlike others: %s", name,
               where);
    else
        vf_set(result, VERIFY_FAILED, "%s depends on %s: %s", name, what, where);
    return status;
}

static bool all_bytes(const void *bytes, size_t size, int byte)
{
    for (size_t i = 0; i < size; i++)
        if (((const unsigned char *)bytes)[i] != byte) return false;
    return true;
}

/* Elements that are the NaN that stood there: it is still there, or it was read, for 0 * NaN is that NaN again. In the
 * second run a finite number stood there, which only an element that is not written keeps. Integers know no NaN: their
 * results may well be what stood there, in one of the two runs. */
static void judge_written(const vf_case *c, const vf_run *first, const vf_run *second, verify_result *result)
{
    for (int i = 0; i < c->call.count; i++) {
        const cnn_operand *o = &c->call.operands[i];
        const size_t size = o->bytes / (size_t)o->count;
        const bool whole = cnn_elem_real(o->elem) && cnn_is_whole(cnn_elem_dtype(&c->problem.u.type, o->elem));
        for (size_t e = 0; first->bytes[i] != NULL && e < (size_t)o->count; e++) {
            if (!all_bytes((const char *)first->bytes[i] + e * size, size, vf_garbage[0])) continue;
            const char *again = second->bytes[i] != NULL ? (const char *)second->bytes[i] + e * size : NULL;
            const bool written = again != NULL && !all_bytes(again, size, vf_garbage[1]);
            if (whole && (written || again == NULL)) continue;
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
    enum { RUNS = 6 };
    static const vf_run_options options[RUNS] = {
        {.garbage = 0},    {.garbage = 1},    {.fence = VF_PAGE_BEHIND}, {.fence = VF_PAGE_BEFORE},
        {.fence = VF_NAN}, {.in_place = true}};
    static const char *const what[RUNS] = {NULL,
                                           "what its outputs or its workspace held before",
                                           "where its buffers lie",
                                           "where its buffers lie",
                                           "what stands before or behind a buffer: it reads there",
                                           "not being run in place"};
    const bool pages = s->engine->impl->memory == NULL;
    vf_run runs[2] = {0};
    cnn_status status = CNN_OK;
    for (int i = 0; status == CNN_OK && i < RUNS; i++) {
        vf_run *run = &runs[i > 0];
        const vf_run_options *const both[2] = {&options[0], &options[i]};
        if ((options[i].fence >= VF_PAGE_BEHIND && !pages) || (options[i].in_place && !may_be_in_place(c))) continue;
        status = vf_go_on(&s->engine->options, err);
        if (status == CNN_OK) status = vf_run_make(run, s->place, c, &options[i], err);
        if (i == 1) judge_written(c, &runs[0], run, result); /* whatever became of the second run */
        if (status != CNN_OK) break;
        if (run->fault[0] != '\0') vf_set(result, VERIFY_FAILED, "%s", run->fault);
        if (i == 0) continue;
        status = judge_same(s, c, runs, both, what[i], result, err);
        vf_run_free(run);
    }
    for (int i = 0; i < 2; i++) vf_run_free(&runs[i]);
    return status;
}

/* Runs of the same, with the heap looked at between them. Caches are filled in the first; what a kernel loses it loses
 * in every one. What one thread allocates and another frees, each thread's cache of free blocks keeps for a while: of a
 * size the C library keeps seven a thread, which count as in use. Who is accused went on growing behind all that. */
static cnn_status check_growth(const vf_subject *s, verify_result *result, cnn_error *err)
{
    enum { FIRST = 4, LEAST = 12, CACHED = 7 };
    const double most_flops = 2e7; /* who leaks, leaks in small problems, too */
    const int calls = LEAST + CACHED * (s->engine->session.threads + 1);
    const vf_case *c;
    int64_t before = 0, least = INT64_MAX;
    if (s->engine->impl->memory != NULL || cnn_flops(s->problem, s->dir) > most_flops) return CNN_OK;
    cnn_status status = vf_case_get(s, VF_REALS, 0, &c, err);
    for (int i = 0; status == CNN_OK && i < calls && least > 0; i++) {
        vf_run run;
        status = vf_run_make(&run, s->place, c, &(vf_run_options){0}, err);
        if (status != CNN_OK) break;
        vf_run_free(&run);
        const int64_t now = host_heap_in_use(&s->engine->session);
        if (i >= FIRST && now - before < least) least = now - before;
        before = now;
    }
    if (status == CNN_OK && least > 0)
        vf_set(result, VERIFY_FAILED, "every call keeps memory: each of %d at least %lld bytes more of the heap",
               calls - FIRST, (long long)least);
    return status;
}

cnn_status vf_check_memory(const vf_subject *s, verify_result *result, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int variant = 0; status == CNN_OK && variant < vf_variants_of(s); variant++) {
        const vf_case *c;
        status = vf_case_get(s, VF_REALS, variant, &c, err);
        if (status == CNN_OK) status = check_variant(s, c, result, err);
    }
    return status == CNN_OK ? check_growth(s, result, err) : status;
}
