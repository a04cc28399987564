/* verify.c: the verifier's checks on one problem, and its arrays where it failed. See api.h. */
#include "parts.h"

#include "harness/base/text.h"

#include <stdlib.h>
#include <string.h>

typedef struct telling {
    api_each *each;
} telling;

static void on_result(void *user, const verify_result *result) { api_tell(result, ((const telling *)user)->each); }

void api_on_failed(void *user, const verify_failure *f)
{
    api_failed *const *failed = user;
    api_array arrays[CNN_MAX_OPERANDS];
    if (*failed == NULL || f->result->problem == NULL) return;
    for (int i = 0; i < f->count; i++)
        api_describe_array(&f->operands[i], &f->result->problem->u.type, NULL, &arrays[i]);
    const api_failure failure = {.check = f->result->check,
                                 .count = f->count,
                                 .arrays = arrays,
                                 .before = f->before,
                                 .expected = f->expected,
                                 .got = f->got};
    (*failed)(&failure);
}

cnn_status api_verify(api_engine *engine, const api_problem *problem, api_each *each, api_failed *failed,
                      cnn_error *err)
{
    const locale_t locale = api_enter();
    telling to = {each};
    cnn_algorithm algorithm;
    cnn_status status = api_pick(engine, problem, &algorithm, err);
    engine->failed = failed;
    if (status == CNN_UNSUPPORTED) {
        verify_result refused = {.check = "supports", .algorithm = engine->algorithm, .state = VERIFY_UNSUPPORTED};
        snprintf(refused.reason, sizeof refused.reason, "%s", err->message);
        api_tell(&refused, each);
        status = CNN_OK;
    } else if (status == CNN_OK) {
        status = verify_problem(engine->engine, &problem->problem, problem->dir, &algorithm, on_result, &to, err);
    }
    engine->failed = NULL;
    api_leave(locale);
    return status;
}
