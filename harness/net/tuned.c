/* tuned.c: picks from a tuning file, and keeps a session open for each set of threads and knobs that is picked. */
#include "tuned.h"
#include "cli/table.h"

#include "harness/base/text.h"
#include "harness/device/knobs.h"
#include "harness/problem/names.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct opened {
    const cnn_session *base;
    cnn_session session;
    struct opened *next;
} opened;

struct cli_tuned {
    const cli_options *options;
    tuning *file;
    opened *sessions;
    cli_said said;
};

bool cli_wants_tuned(const cli_sessions *sessions, const cnn_session *session)
{
    for (int i = 0; i < sessions->n_choices; i++)
        if ((!session || sessions->choices[i].impl == session->impl) && cnn_choice_tuned(&sessions->choices[i]))
            return true;
    return false;
}

static cnn_status read_file(cli_tuned *t, bool keeps, cnn_error *err)
{
    const char *path = t->options->tune ? t->options->tune : TUNED_FILE;
    if (access(path, F_OK) == 0) return tuning_read(path, &t->file, err);
    if (t->options->tune && !keeps)
        return CNN_FAIL(err, CNN_IO, "--tune %.200s: no such file; `benchcnn sweep ... --tune FILE` makes one", path);
    if (!keeps)
        table_put(stderr, "tuned: there is no %s here (--tune FILE names another); the defaults are used\n", path);
    return CNN_OK;
}

cnn_status cli_tuned_open(const cli_options *options, const cli_sessions *sessions, bool keeps, cli_tuned **result,
                          cnn_error *err)
{
    const bool wanted = cli_wants_tuned(sessions, NULL);
    *result = NULL;
    if (!wanted && !options->tune) return CNN_OK;
    cli_tuned *t = calloc(1, sizeof *t);
    if (!t) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for tuned choices");
    t->options = options;
    *result = t;
    return read_file(t, keeps && options->tune != NULL, err);
}

void cli_tuned_close(cli_tuned *t)
{
    if (!t) return;
    while (t->sessions) {
        opened *o = t->sessions;
        watch_enter(t->options->watch, o->session.impl->name, "closing it");
        cnn_session_close(&o->session);
        t->sessions = o->next;
        free(o);
    }
    watch_enter(t->options->watch, NULL, NULL);
    cli_said_free(&t->said);
    tuning_free(t->file);
    free(t);
}

const tuning *cli_tuned_file(const cli_tuned *t) { return t ? t->file : NULL; }

void cli_tuned_say(cli_tuned *t, const char *text) { cli_say_once(&t->said, text); }

static bool has_these(const cnn_session *session, int threads, const int64_t *knobs)
{
    return session->threads == threads &&
           memcmp(session->knobs, knobs, (size_t)session->impl->n_knobs * sizeof *knobs) == 0;
}

/* The session that has these threads and knobs already: the base one, or one that was opened for it; NULL: none. */
static const cnn_session *find_session(const cli_tuned *t, const cnn_session *base, int threads, const int64_t *knobs)
{
    if (has_these(base, threads, knobs)) return base;
    for (const opened *o = t->sessions; o; o = o->next)
        if (o->base == base && has_these(&o->session, threads, knobs)) return &o->session;
    return NULL;
}

static cnn_status open_session(cli_tuned *t, const cnn_session *base, int threads, const int64_t *knobs,
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

cnn_status cli_tuned_session(cli_tuned *t, const cnn_session *base, const tuning_choice *choice,
                             const cnn_session **result, cnn_error *err)
{
    const char *settings[CLI_LIST_MAX + TUNING_SETTINGS]; /* --set wins: it stands behind */
    const cnn_session_params given = cli_session_params(t->options);
    const int threads = tuning_threads(choice, base->impl, given.threads);
    int count = 0;
    int64_t *knobs = calloc((size_t)base->impl->n_knobs + 1, sizeof *knobs);
    if (!knobs) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %d knobs", base->impl->n_knobs);
    for (int i = 0; i < choice->n_settings; i++) settings[count++] = choice->settings[i];
    for (int i = 0; i < given.n_settings; i++) settings[count++] = given.settings[i];
    cnn_status status = cnn_knob_values(base->impl, settings, count, knobs, err);
    if (status == CNN_OK && !(*result = find_session(t, base, threads, knobs)))
        status = open_session(t, base, threads, knobs, result, err);
    free(knobs);
    return status;
}

tuning_state cli_tuned_find(cli_tuned *t, const cnn_session *base, const cnn_problem *problem, cnn_dir dir, bool quiet,
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
    cli_tuned_say(t, line);
    return state;
}

cnn_status cli_tuned_pick(cli_tuned *t, const cnn_session *base, const cnn_problem *problem, cnn_dir dir,
                          tuned_pick *pick, cnn_error *err)
{
    *pick = (tuned_pick){.session = base};
    pick->state = cli_tuned_find(t, base, problem, dir, false, &pick->choice);
    if (pick->choice && cli_tuned_session(t, base, pick->choice, &pick->session, err) != CNN_OK) return err->status;
    const char *name = pick->choice ? pick->choice->algorithm : NULL;
    return cnn_algorithm_pick(pick->session, problem, dir, name, &pick->algorithm, err);
}

void cli_tuned_text(const tuned_pick *pick, char *text, size_t size)
{
    snprintf(text, size, "%s%s", pick->algorithm.name, pick->choice ? "" : ", the default");
    if (!pick->choice) return;
    if (pick->session->impl->device_kind == CNN_DEVICE_CPU)
        cnn_append(text, size, " threads=%d", pick->session->threads);
    for (int i = 0; i < pick->choice->n_settings; i++)
        cnn_append(text, size, " %s", strchr(pick->choice->settings[i], '.') + 1);
}
