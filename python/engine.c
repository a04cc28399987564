/* engine.c: an implementation that is open. See api.h. */
#include "parts.h"

#include "harness/problem/names.h"

#include <stdlib.h>
#include <string.h>

/* The checks by name; all where none is named. */
static cnn_status read_checks(const char *text, uint32_t *checks, cnn_error *err)
{
    *checks = cnn_name_mask(&verify_check_names, text, err);
    return *checks != 0 ? CNN_OK : err->status;
}

static cnn_status keep_settings(api_engine *e, const api_open_params *params, cnn_error *err)
{
    e->settings = calloc((size_t)params->n_settings + 1, sizeof *e->settings);
    if (e->settings == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for settings");
    for (int i = 0; i < params->n_settings; i++) {
        e->settings[i] = strdup(params->settings[i]);
        if (e->settings[i] == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for settings");
        e->n_settings++;
    }
    return CNN_OK;
}

cnn_status api_engine_open(const cnn_impl *impl, const char *algorithm, const api_open_params *params,
                           api_engine **engine, cnn_error *err)
{
    const locale_t locale = api_enter();
    verify_options options = {.reference_threads = params->threads, .seed = params->seed};
    api_engine *e = calloc(1, sizeof *e);
    cnn_status status = CNN_OK;
    *engine = NULL;
    if (e == NULL) status = CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a verification");
    if (status == CNN_OK && params->threads < 1)
        status = CNN_FAIL(err, CNN_BAD_ARGUMENT, "threads is %d; it is a number from 1 up", params->threads);
    if (status == CNN_OK) status = read_checks(params->checks, &options.checks, err);
    if (status == CNN_OK) status = keep_settings(e, params, err);
    if (status == CNN_OK) {
        const cnn_session_params session = {.threads = params->threads,
                                            .device = params->device,
                                            .settings = (const char *const *)e->settings,
                                            .n_settings = e->n_settings};
        e->interrupted = params->interrupted;
        snprintf(e->algorithm, sizeof e->algorithm, "%s", algorithm != NULL ? algorithm : "");
        options.failed = api_on_failed;
        options.failed_user = &e->failed;
        options.interrupted = params->interrupted;
        status = verify_open(impl, &session, &options, &e->engine, err);
    }
    if (status == CNN_OK)
        *engine = e;
    else
        api_engine_close(e);
    api_leave(locale);
    return status;
}

void api_engine_close(api_engine *engine)
{
    if (engine == NULL) return;
    const locale_t locale = api_enter();
    verify_close(engine->engine);
    for (int i = 0; i < engine->n_settings; i++) free(engine->settings[i]);
    free(engine->settings);
    free(engine);
    api_leave(locale);
}

cnn_status api_pick(const api_engine *e, const api_problem *p, cnn_algorithm *algorithm, cnn_error *err)
{
    const char *name = e->algorithm[0] != '\0' ? e->algorithm : NULL;
    const cnn_session *session = verify_session(e->engine);
    const cnn_status status = cnn_algorithm_pick(session, &p->problem, p->dir, name, algorithm, err);
    if (status != CNN_OK || name == NULL || strcmp(name, algorithm->name) == 0) return status;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "%s has no algorithm %s for this problem; see `benchcnn list`",
                    session->impl->name, name);
}

void api_tell(const verify_result *r, api_each *each)
{
    const api_result result = {.check = r->check,
                               .state = verify_state_name(r->state),
                               .algorithm = r->algorithm,
                               .reason = r->reason,
                               .worst = r->worst,
                               .where = r->where,
                               .precision = r->precision,
                               .transform = r->transform,
                               .budget_used = r->budget_used};
    if (each != NULL) each(&result);
}

/* What is called leaves the thread in the C locale; Python's own comes back behind it. */
locale_t api_enter(void) { return uselocale((locale_t)0); }

void api_leave(locale_t locale) { uselocale(locale); }
