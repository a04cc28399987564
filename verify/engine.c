/* engine.c: an engine, opened and closed, and what it keeps for the checks: the cases in hand. */
#include "engine.h"

#include <stdlib.h>
#include <string.h>

cnn_status verify_open(const cnn_impl *impl, const cnn_session_params *params, const verify_options *options,
                       verify_engine **engine, cnn_error *err)
{
    verify_engine *e = calloc(1, sizeof *e);
    *engine = NULL;
    if (e == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a verification");
    e->impl = impl;
    e->params = *params;
    e->options = *options;
    if (!(e->options.reference_flops > 0.0)) e->options.reference_flops = 1e10;
    cnn_status status = cnn_session_open(impl, params, &e->session, err);
    if (status == CNN_OK) status = thread_pool_open(options->reference_threads, &e->pool, err);
    if (status != CNN_OK) {
        if (e->session.impl != NULL) cnn_session_close(&e->session);
        free(e);
        return status;
    }
    *engine = e;
    return CNN_OK;
}

void vf_forget_cases(verify_engine *e)
{
    for (int i = 0; i < e->cached; i++) {
        vf_case_free(e->cache[i]);
        free(e->cache[i]);
    }
    e->cached = 0;
}

void verify_close(verify_engine *e)
{
    if (e == NULL) return;
    vf_forget_cases(e);
    thread_pool_close(e->pool);
    cnn_session_close(&e->session);
    free(e);
}

const cnn_session *verify_session(const verify_engine *engine) { return &engine->session; }

bool vf_is_huge(const verify_options *options, const cnn_problem *problem)
{
    if (!cnn_is_weighted(problem)) return false;
    return cnn_flops(problem, CNN_FWD) > options->reference_flops;
}

cnn_status vf_go_on(const verify_options *options, cnn_error *err)
{
    if (options->alive != NULL) options->alive(options->alive_user);
    if (options->interrupted == NULL || !options->interrupted()) return CNN_OK;
    return CNN_FAIL(err, CNN_INTERRUPTED, "interrupted; what was finished is recorded");
}

/* One problem is in hand at a time: the next one empties the cache. */
cnn_status vf_case_get(const vf_subject *s, vf_fill fill, int variant, const vf_case **c, cnn_error *err)
{
    verify_engine *e = s->engine;
    if (fill == VF_REALS && vf_is_huge(&e->options, s->problem)) fill = VF_DATA;
    if (vf_go_on(&e->options, err) != CNN_OK) return CNN_INTERRUPTED;
    if (e->cached > 0 && (memcmp(&e->cache[0]->problem, s->problem, sizeof *s->problem) != 0 ||
                          e->cache[0]->call.dir != s->dir || e->cached == VF_CACHE))
        vf_forget_cases(e);
    for (int i = 0; i < e->cached; i++)
        if (e->cache[i]->fill == fill && e->cache[i]->variant == variant) {
            *c = e->cache[i];
            return CNN_OK;
        }
    vf_case *made = malloc(sizeof *made);
    if (made == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a case");
    cnn_status status = vf_case_make(made, s->problem, s->dir, fill, variant, e->options.seed, e->pool, err);
    if (status != CNN_OK) {
        free(made);
        return status;
    }
    e->cache[e->cached++] = made;
    *c = made;
    return CNN_OK;
}
