/* answers.c: what an implementation says, bounded where it is taken. Tables are checked when it is registered
 * (impl_check.c), numbers where they are used. */
#include "call.h"

#include "harness/base/text.h"
#include "harness/problem/names.h"

#include <string.h>

enum { DOC_MAX = 1024, FACT_MAX = 256 };

void cnn_answer_text(char *text, size_t size)
{
    char taken[CNN_MESSAGE_MAX], shown[CNN_MESSAGE_MAX];
    snprintf(taken, sizeof taken, "%.*s", (int)size - 1, text);
    cnn_visible(taken, shown, size < sizeof shown ? size : sizeof shown);
    memcpy(text, shown, strlen(shown) + 1);
}

/* Slots that may refuse. Whatever is asked of the others was let through. */
static bool may_refuse(const char *slot)
{
    static const char *const slots[] = {"probe",   "open",           "supports",           "enumerate",
                                        "prepare", "capture->begin", "trainers->supports", "peaks->open"};
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++)
        if (strcmp(slots[i], slot) == 0) return true;
    return false;
}

/* A status and a text as an implementation may give them. */
static cnn_status check_answer(const char *impl, const char *slot, cnn_status status, cnn_error *err)
{
    if ((int)status < 0 || status >= CNN_STATUS_COUNT)
        return CNN_FAIL(err, CNN_INTERNAL,
                        "%.64s: %s returned the status %d, but a cnn_status is a number from 0 to %d", impl, slot,
                        (int)status, CNN_STATUS_COUNT - 1);
    if (err->message[0] == '\0')
        CNN_FAIL(err, status, "%.64s: %s returned the status %d (%s), and gave no reason", impl, slot, (int)status,
                 cnn_status_name(status));
    if (memchr(err->message, '\0', sizeof err->message) == NULL)
        return CNN_FAIL(
            err, CNN_INTERNAL,
            "%.64s: %s returned the status %d (%s) with a message that has no end: it may have %d characters", impl,
            slot, (int)status, cnn_status_name(status), CNN_MESSAGE_MAX - 1);
    if (!cnn_is_visible(err->message)) cnn_answer_text(err->message, sizeof err->message);
    return err->status = status;
}

cnn_status cnn_answer(const char *impl, const char *slot, cnn_status status, cnn_error *err)
{
    const char *changed = cnn_thread_restore();
    if (status == CNN_OK && changed == NULL) return CNN_OK;
    if (status == CNN_OK)
        return CNN_FAIL(err, CNN_DEVICE,
                        "%.64s: %s left %s, for whatever is computed next: put it back (fegetenv, fesetenv)", impl,
                        slot, changed);
    status = check_answer(impl, slot, status, err);
    const bool refuses = status == CNN_UNSUPPORTED || status == CNN_UNAVAILABLE;
    if (status != CNN_INTERRUPTED && (!refuses || may_refuse(slot))) return status;
    return cnn_error_before(err, CNN_INTERNAL, "%.64s: %s returned the status '%s', %s: ", impl, slot,
                            cnn_status_name(status),
                            refuses ? "but it comes too late to refuse: what supports and open let through must run"
                                    : "which is for benchcnn alone, for Ctrl-C");
}

typedef struct teller {
    cnn_put_fn *put;
    void *user;
} teller;

static void put_fact(void *user, const char *key, const char *value)
{
    const teller *t = user;
    char keys[CNN_NAME_MAX], values[FACT_MAX];
    if (key == NULL || value == NULL) return; /* nothing was said */
    t->put(t->user, cnn_visible(key, keys, sizeof keys), cnn_visible(value, values, sizeof values));
}

void cnn_describe(const cnn_session *session, cnn_put_fn *put, void *user)
{
    teller t = {put, user};
    cnn_put_plugin(session->impl, put, user);
    if (session->impl->describe != NULL) CNN_CALL_VOID(session->impl, describe, session->context, put_fact, &t);
}

cnn_status cnn_doc_check(const char *impl, const char *what, const char *name, const char *doc, cnn_error *err)
{
    if (doc == NULL)
        return CNN_FAIL(err, CNN_UNAVAILABLE, "%.64s: the doc of %s%.64s is NULL: say in a line what it is", impl, what,
                        name);
    if (strnlen(doc, DOC_MAX) < DOC_MAX && cnn_is_visible(doc)) return CNN_OK;
    return CNN_FAIL(err, CNN_UNAVAILABLE,
                    "%.64s: the doc of %s%.64s must be UTF-8 without control characters, of less than %d bytes", impl,
                    what, name, DOC_MAX);
}

/* It stands in lists, globs, settings, records and file names: no comma, star or quote, and no blank at its ends. */
static bool is_plain(const char *name)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+.=:/ ";
    const size_t length = strnlen(name, CNN_NAME_MAX);
    return length > 0 && length < CNN_NAME_MAX && strspn(name, plain) == length && strchr(" :-", name[0]) == NULL &&
           strchr(" :", name[length - 1]) == NULL;
}

cnn_status cnn_algorithm_check(const char *impl, const cnn_algorithm *algorithm, cnn_error *err)
{
    char name[CNN_NAME_MAX], shown[CNN_NAME_MAX];
    snprintf(name, sizeof name, "%.*s", CNN_NAME_MAX - 1, algorithm->name);
    if (is_plain(algorithm->name)) return cnn_doc_check(impl, "algorithm ", name, algorithm->doc, err);
    return CNN_FAIL(
        err, CNN_UNAVAILABLE,
        "%.64s: an algorithm's name is '%.80s', but must be of letters, digits, blanks and _-+.=:/, of less "
        "than %d characters",
        impl, cnn_visible(name, shown, sizeof shown), CNN_NAME_MAX);
}
