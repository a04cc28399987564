/* sessions.c: opening what --impl chooses. */
#include "sessions.h"
#include "table.h"

#include "harness/base/text.h"
#include "harness/device/call.h"
#include "harness/problem/names.h"

#include <stdlib.h>
#include <string.h>

static const cnn_session *session_of(const cli_sessions *sessions, const cnn_impl *impl)
{
    for (int i = 0; i < sessions->count; i++)
        if (sessions->list[i].impl == impl) return &sessions->list[i];
    return NULL;
}

static cnn_status open_session(const cnn_impl *impl, const cnn_session_params *params, bool to_time,
                               cnn_session *session, cnn_error *err)
{
    if (to_time && !cnn_impl_timed(impl))
        return CNN_FAIL(
            err, CNN_UNAVAILABLE,
            "%s is emulated in this build (its GPU kernels run on the host, to be verified), so it is never "
            "timed",
            impl->name);
    return cnn_session_open(impl, params, session, err);
}

cnn_status cli_sessions_probe(const cli_options *options, cnn_error *err)
{
    cnn_choice choices[CNN_MAX_CHOICES];
    const bool by_name = options->impl && !strpbrk(options->impl, "*?[");
    int count = 0, able = 0;
    cnn_status status = cnn_choices_parse(options->registry, options->impl, choices, &count, err);
    for (int i = 0; status == CNN_OK && i < count; i++) {
        cnn_error why;
        if (cnn_probe(choices[i].impl, &why) == CNN_OK)
            able++;
        else if (by_name)
            status = CNN_FAIL(err, CNN_UNAVAILABLE, "%s: %.400s", choices[i].impl->name, why.message);
    }
    if (status != CNN_OK || able > 0) return status;
    return CNN_FAIL(err, CNN_UNAVAILABLE, "none of --impl %.300s can run here; see `benchcnn list`", options->impl);
}

cnn_status cli_sessions_open(const cli_options *options, bool to_time, cli_sessions *sessions, cnn_error *err)
{
    cnn_session_params params = cli_session_params(options);
    bool by_name = options->impl && !strpbrk(options->impl, "*?[");
    int lost = 0;
    sessions->count = 0;
    sessions->watch = options->watch;
    if (options->none_left)
        return CNN_FAIL(err, CNN_DEVICE, "what --impl names ended its process while it was loaded, see above");
    cnn_status status = cnn_settings_check(options->registry, params.settings, params.n_settings, err);
    if (status == CNN_OK)
        status = cnn_choices_parse(options->registry, options->impl, sessions->choices, &sessions->n_choices, err);
    for (int i = 0; status == CNN_OK && i < sessions->n_choices; i++) {
        const cnn_impl *impl = sessions->choices[i].impl;
        if (session_of(sessions, impl) != NULL) continue;
        if (!watch_enter(sessions->watch, impl->name, "opening it")) {
            lost++;
            continue;
        }
        status = open_session(impl, &params, to_time, &sessions->list[sessions->count], err);
        if (status == CNN_OK) sessions->count++;
        if (status == CNN_UNAVAILABLE && !by_name) {
            table_put(stderr, "without %s: %s\n", impl->name, err->message);
            status = CNN_OK;
        }
    }
    watch_enter(sessions->watch, NULL, NULL);
    if (status == CNN_OK && sessions->count + lost == 0)
        status = CNN_FAIL(err, CNN_UNAVAILABLE, "no implementation can run here; see `benchcnn list`");
    if (status != CNN_OK) cli_sessions_close(sessions);
    return status;
}

void cli_sessions_close(cli_sessions *sessions)
{
    if (sessions->count == 0) return; /* perhaps they never were opened */
    for (int i = 0; i < sessions->count; i++) {
        watch_enter(sessions->watch, sessions->list[i].impl->name, "closing it");
        cnn_session_close(&sessions->list[i]);
    }
    watch_enter(sessions->watch, NULL, NULL);
    sessions->count = 0;
}

/* By a session on the CPU: another core of OpenBLAS than its own choice is no warning, but is no secret either. */
static void say_restart(cnn_said *said, const char *key, const char *value)
{
    char line[CNN_MESSAGE_MAX];
    const char *coretype = getenv("OPENBLAS_CORETYPE");
    if (strcmp(key, "openblas_core_before") != 0 || coretype == NULL) return;
    snprintf(line, sizeof line,
             "cpu: OpenBLAS does not know this processor and took its kernels for %.64s; the program started itself "
             "again with OPENBLAS_CORETYPE=%.64s",
             value, coretype);
    if (cnn_say_now(said, line)) table_put(stderr, "%s\n", line);
}

static void say_warning(void *said, const char *key, const char *value)
{
    char line[2 * CNN_MESSAGE_MAX];
    say_restart(said, key, value);
    if (strncmp(key, CNN_WARNING, strlen(CNN_WARNING)) != 0) return;
    snprintf(line, sizeof line, "benchcnn: warning: %s; all records of such figures say so", value);
    if (cnn_say_now(said, line)) table_put(stderr, "%s\n", line);
}

void cli_say_warnings(const cli_sessions *sessions)
{
    cnn_said said = {.count = 0};
    for (int i = 0; i < sessions->count; i++) {
        const cnn_session *s = &sessions->list[i];
        watch_enter(sessions->watch, s->impl->name, "asking it about itself");
        cnn_describe(s, say_warning, &said);
    }
    watch_enter(sessions->watch, NULL, NULL);
    cnn_said_free(&said);
}

int64_t cli_sessions_behind(const cli_sessions *sessions, int session)
{
    int64_t next = 0;
    for (int i = 0; sessions->choices[i].impl != sessions->list[session].impl; i++) {
        const watch_death *died = watch_find(sessions->watch, sessions->choices[i].impl->name, -1);
        if (died != NULL && died->next > next) next = died->next;
    }
    return next;
}

cnn_status cli_sessions_environment(const cli_sessions *sessions, int index, const char *command, record_sink *sink,
                                    cnn_error *err)
{
    const cnn_session *session = &sessions->list[index];
    watch_enter(sessions->watch, session->impl->name, "asking it about itself");
    const cnn_status status = record_environment(sink, session, command, err);
    watch_enter(sessions->watch, NULL, NULL);
    return status;
}

bool cli_chosen(const cli_sessions *sessions, const cnn_session *session, const cnn_algorithm *algorithm)
{
    for (int i = 0; i < sessions->n_choices; i++)
        if (sessions->choices[i].impl == session->impl && cnn_choice_matches(&sessions->choices[i], algorithm))
            return true;
    return false;
}

cnn_op cli_deciding_op(const cnn_net *net)
{
    for (int i = 0; i < net->n_layers; i++)
        if (net->layers[i].problem.op == CNN_OP_CONV) return CNN_OP_CONV;
    return CNN_OP_FC;
}

static bool does(const cnn_impl *impl, cnn_op op)
{
    for (int a = 0; a < impl->n_algorithms; a++)
        if (impl->algorithms[a].ops & 1u << op) return true;
    return false;
}

bool cli_trains(const cnn_choice *choice, const cnn_session *session, const cnn_algorithm *algorithm,
                const cnn_network *network, const trainer_params *params)
{
    cnn_error why;
    if (!cnn_choice_matches(choice, algorithm)) return false;
    if (algorithm->ops != CNN_TRAINS)
        return params->workers == 0 && algorithm->ops & 1u << cli_deciding_op(&network->net);
    const bool exemplars = algorithm->flags & CNN_ALGO_EXEMPLARS, named = strcmp(choice->pattern, algorithm->name) == 0;
    if (choice->pattern[0] == '\0' && params->workers > 0) return exemplars;
    if (exemplars && params->workers == 0 && !named) return false;
    if (choice->pattern[0] == '\0') return !does(choice->impl, cli_deciding_op(&network->net));
    if (named) return true;
    if (trainer_supported(session, network, algorithm, params, &why) == CNN_OK) return true;
    table_put(stderr, "without %s:%s: %s\n", session->impl->name, algorithm->name, why.message);
    return false;
}

static bool fits(const cnn_choice *choice, cnn_op op)
{
    for (int a = 0; a < choice->impl->n_algorithms; a++)
        if ((choice->impl->algorithms[a].ops & 1u << op || choice->impl->algorithms[a].ops == CNN_TRAINS) &&
            (cnn_choice_tuned(choice) || cnn_choice_matches(choice, &choice->impl->algorithms[a])))
            return true;
    return false;
}

/* Runs bear the name of the algorithm that does the deciding operation: one that does not would name what never ran. */
static cnn_status fail_misfit(const cnn_choice *misfit, const cnn_session *session, const cnn_net *net, cnn_error *err)
{
    const cnn_op op = cli_deciding_op(net);
    const cnn_impl *impl = misfit->impl;
    const char *name = impl->name, *pattern = misfit->pattern[0] ? misfit->pattern : "*";
    const char *none = op == CNN_OP_FC ? " (no conv is in it)" : "";
    for (int a = 0; a < impl->n_algorithms; a++)
        if (cli_composes(session, &impl->algorithms[a], net, &net->type))
            return CNN_FAIL(
                err, CNN_BAD_ARGUMENT,
                "%s:%s does no %s, which is what tells runs of network %s apart%s: name one that does, %s:%s "
                "for instance, or none: --impl %s",
                name, pattern, cnn_op_name(op), net->name, none, name, impl->algorithms[a].name, name);
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "%s:%s does no %s, which network %s needs; see `benchcnn list`", name,
                    pattern, cnn_op_name(op), net->name);
}

cnn_status cli_fitting(const cli_sessions *sessions, const cnn_net *net, cnn_error *err)
{
    const cnn_op op = cli_deciding_op(net);
    const cnn_choice *misfit = NULL;
    int fitting = 0;
    for (int i = 0; i < sessions->n_choices; i++) {
        const cnn_choice *choice = &sessions->choices[i];
        if (session_of(sessions, choice->impl) == NULL) continue;
        if (fits(choice, op))
            fitting++;
        else
            misfit = choice;
    }
    if (fitting == 0 && misfit != NULL) return fail_misfit(misfit, session_of(sessions, misfit->impl), net, err);
    if (misfit != NULL)
        fprintf(stderr, "without %s:%s: it does no %s\n", misfit->impl->name, misfit->pattern, cnn_op_name(op));
    return CNN_OK;
}
