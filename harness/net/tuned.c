/* tuned.c: picks from a tuning file, and keeps a session open for each set of threads and knobs that is picked. */
#include "tuned.h"

#include "harness/base/text.h"
#include "harness/device/impl.h"
#include "harness/problem/names.h"
#include "harness/problem/problem.h"

#include <stdlib.h>
#include <string.h>

typedef struct opened {
    const cnn_session *base;
    cnn_session session;
    struct opened *next;
} opened;

struct tuned_book {
    tuned_params params;
    tuning *file;
    opened *sessions;
    cnn_said said;
};

cnn_status tuned_open(const tuned_params *params, tuned_book **result, cnn_error *err)
{
    tuned_book *t = *result = calloc(1, sizeof *t);
    if (!t) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for tuned choices");
    t->params = *params;
    return params->path ? tuning_read(params->path, &t->file, err) : CNN_OK;
}

void tuned_close(tuned_book *t)
{
    if (!t) return;
    while (t->sessions) {
        opened *o = t->sessions;
        watch_enter(t->params.watch, o->session.impl->name, "closing it");
        cnn_session_close(&o->session);
        t->sessions = o->next;
        free(o);
    }
    watch_enter(t->params.watch, NULL, NULL);
    cnn_said_free(&t->said);
    tuning_free(t->file);
    free(t);
}

const tuning *tuned_file(const tuned_book *t) { return t ? t->file : NULL; }

void tuned_say(tuned_book *t, const char *text)
{
    if (cnn_say_now(&t->said, text)) t->params.say(text);
}

static bool has_these(const cnn_session *session, int threads, const int64_t *knobs)
{
    return session->threads == threads &&
           memcmp(session->knobs, knobs, (size_t)session->impl->n_knobs * sizeof *knobs) == 0;
}

/* The session that has these threads and knobs already: the base one, or one that was opened for it; NULL: none. */
static const cnn_session *find_session(const tuned_book *t, const cnn_session *base, int threads, const int64_t *knobs)
{
    if (has_these(base, threads, knobs)) return base;
    for (const opened *o = t->sessions; o; o = o->next)
        if (o->base == base && has_these(&o->session, threads, knobs)) return &o->session;
    return NULL;
}

static cnn_status open_session(tuned_book *t, const cnn_session *base, int threads, const int64_t *knobs,
                               const cnn_session **result, cnn_error *err)
{
    const cnn_session_params params = {.threads = threads, .device = base->device, .knobs = knobs};
    opened *o = calloc(1, sizeof *o);
    if (!o) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a tuned session");
    o->base = base;
    o->next = t->sessions;
    const cnn_status status = threads == base->threads ? cnn_session_with(base, knobs, &o->session, err)
                                                       : cnn_session_open(base->impl, &params, &o->session, err);
    if (status != CNN_OK) {
        free(o);
        return status;
    }
    t->sessions = o;
    *result = &o->session;
    return CNN_OK;
}

cnn_status tuned_session(tuned_book *t, const cnn_session *base, const tuning_choice *choice,
                         const cnn_session **result, cnn_error *err)
{
    const cnn_session_params *given = &t->params.given;
    const int threads = tuning_threads(choice, base->impl, given->threads);
    int count = 0;
    int64_t *knobs = calloc((size_t)base->impl->n_knobs + 1, sizeof *knobs);
    const char **settings = calloc((size_t)(choice->n_settings + given->n_settings) + 1, sizeof *settings);
    cnn_status status = knobs && settings ? CNN_OK : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for tuned knobs");
    for (int i = 0; status == CNN_OK && i < choice->n_settings; i++) settings[count++] = choice->settings[i];
    for (int i = 0; status == CNN_OK && i < given->n_settings; i++) settings[count++] = given->settings[i];
    if (status == CNN_OK) status = cnn_knob_values(base->impl, settings, count, knobs, err);
    if (status == CNN_OK && !(*result = find_session(t, base, threads, knobs)))
        status = open_session(t, base, threads, knobs, result, err);
    free(settings);
    free(knobs);
    return status;
}

tuning_state tuned_find(tuned_book *t, const cnn_session *base, const cnn_problem *problem, cnn_dir dir, bool quiet,
                        const tuning_choice **choice)
{
    char why[CNN_MESSAGE_MAX], text[CNN_PROBLEM_TEXT_MAX], line[2 * CNN_MESSAGE_MAX + CNN_PROBLEM_TEXT_MAX];
    *choice = NULL;
    if (!t || !t->file) return TUNING_ABSENT; /* which was said when it was looked for */
    const tuning_state state = tuning_find(t->file, base, problem, dir, choice, why);
    if (state == TUNING_KEPT || quiet) return state;
    cnn_problem_format(problem, text);
    snprintf(line, sizeof line, "tuned: %s %s %s %s %s %s: %s: %s; the default is used", base->impl->name,
             cnn_op_name(problem->op), cnn_dir_name(dir), text, cnn_dtype_name(problem->u.type.dtype),
             cnn_layout_name(problem->u.type.layout), tuning_state_name(state), why);
    tuned_say(t, line);
    return state;
}

cnn_status tuned_choose(tuned_book *t, const cnn_session *base, const cnn_problem *problem, cnn_dir dir,
                        tuned_pick *pick, cnn_error *err)
{
    *pick = (tuned_pick){.session = base};
    pick->state = tuned_find(t, base, problem, dir, false, &pick->choice);
    if (pick->choice && tuned_session(t, base, pick->choice, &pick->session, err) != CNN_OK) return err->status;
    const char *name = pick->choice ? pick->choice->algorithm : NULL;
    return cnn_algorithm_pick(pick->session, problem, dir, name, &pick->algorithm, err);
}

void tuned_text(const tuned_pick *pick, char *text, size_t size)
{
    snprintf(text, size, "%s%s", pick->algorithm.name, pick->choice ? "" : ", the default");
    if (!pick->choice) return;
    if (pick->session->impl->device_kind == CNN_DEVICE_CPU)
        cnn_append(text, size, " threads=%d", pick->session->threads);
    for (int i = 0; i < pick->choice->n_settings; i++)
        cnn_append(text, size, " %s", strchr(pick->choice->settings[i], '.') + 1);
}
