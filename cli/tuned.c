/* tuned.c: --impl NAME:tuned and --tune FILE. */
#include "sessions.h"
#include "table.h"

#include <string.h>
#include <unistd.h>

#define TUNED_FILE "tuning.jsonl" /* without --tune */

bool cli_wants_tuned(const cli_sessions *sessions, const cnn_session *session)
{
    for (int i = 0; i < sessions->n_choices; i++)
        if ((!session || sessions->choices[i].impl == session->impl) && cnn_choice_tuned(&sessions->choices[i]))
            return true;
    return false;
}

static void say(const char *text) { table_put(stderr, "%s\n", text); }

cnn_status cli_tuned_open(const cli_options *o, const cli_sessions *sessions, bool keeps, tuned_book **result,
                          cnn_error *err)
{
    const char *path = o->tune ? o->tune : TUNED_FILE;
    const bool there = access(path, F_OK) == 0;
    const tuned_params params = {
        .path = there ? path : NULL, .given = cli_session_params(o), .watch = o->watch, .say = say};
    *result = NULL;
    if (!o->tune && !cli_wants_tuned(sessions, NULL)) return CNN_OK;
    if (!there && o->tune && !keeps)
        return CNN_FAIL(err, CNN_IO, "--tune %.200s: no such file; `benchcnn sweep ... --tune FILE` makes one", path);
    if (!there && !o->tune)
        table_put(stderr, "tuned: there is no %s here (--tune FILE names another); the defaults are used\n", path);
    return tuned_open(&params, result, err);
}
