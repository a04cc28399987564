/* sessions.c: opening what --impl chooses. */
#include "sessions.h"

#include <string.h>

static bool is_open(const cli_sessions *sessions, const cnn_impl *impl)
{
    for (int i = 0; i < sessions->count; i++)
        if (sessions->list[i].impl == impl) return true;
    return false;
}

cnn_status cli_sessions_open(const cli_options *options, cli_sessions *sessions, cnn_error *err)
{
    cnn_session_params params = cli_session_params(options);
    bool by_name = options->impl && !strpbrk(options->impl, "*?[");
    sessions->count = 0;
    cnn_status status = cnn_settings_check(params.settings, params.n_settings, err);
    if (status == CNN_OK) status = cnn_choices_parse(options->impl, sessions->choices, &sessions->n_choices, err);
    for (int i = 0; status == CNN_OK && i < sessions->n_choices; i++) {
        const cnn_impl *impl = sessions->choices[i].impl;
        if (is_open(sessions, impl)) continue;
        status = cnn_session_open(impl, &params, &sessions->list[sessions->count], err);
        if (status == CNN_OK) sessions->count++;
        if (status == CNN_UNAVAILABLE && !by_name) {
            fprintf(stderr, "benchcnn: without %s: %s\n", impl->name, err->message);
            status = CNN_OK;
        }
    }
    if (status == CNN_OK && sessions->count == 0)
        status = CNN_FAIL(err, CNN_UNAVAILABLE, "no implementation can run here; see `benchcnn list`");
    if (status != CNN_OK) cli_sessions_close(sessions);
    return status;
}

void cli_sessions_close(cli_sessions *sessions)
{
    for (int i = 0; i < sessions->count; i++) cnn_session_close(&sessions->list[i]);
    sessions->count = 0;
}

bool cli_chosen(const cli_sessions *sessions, const cnn_session *session, const cnn_algorithm *algorithm)
{
    for (int i = 0; i < sessions->n_choices; i++)
        if (sessions->choices[i].impl == session->impl && cnn_choice_matches(&sessions->choices[i], algorithm))
            return true;
    return false;
}
