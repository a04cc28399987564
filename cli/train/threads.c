/* threads.c: the same training with several numbers of threads: a session for each. */
#include "harness/process/watch.h"
#include "parts.h"

const cnn_session *train_session(const train *t, int index)
{
    return index < t->sessions.count ? &t->sessions.list[index] : &t->others[index - t->sessions.count];
}

int train_next_session(const train *t, int index)
{
    const cnn_impl *impl = train_session(t, index)->impl;
    for (int i = index < t->sessions.count ? t->sessions.count : index + 1; i < t->sessions.count + t->n_others; i++)
        if (train_session(t, i)->impl == impl) return i;
    return -1;
}

static cnn_status open_other(train *t, const cnn_impl *impl, int threads, cnn_error *err)
{
    cnn_session_params params = cli_session_params(t->options);
    params.threads = threads;
    if (t->n_others == TRAIN_OTHERS_MAX)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "more than %d implementations and numbers of threads: name fewer",
                        TRAIN_OTHERS_MAX);
    watch_enter(t->sessions.watch, impl->name, "opening it");
    const cnn_status status = cnn_session_open(impl, &params, &t->others[t->n_others], err);
    if (status == CNN_OK) t->n_others++;
    watch_enter(t->sessions.watch, NULL, NULL);
    return status;
}

cnn_status train_open_others(train *t, cnn_error *err)
{
    int64_t threads[CLI_LIST_MAX];
    int count = 0;
    cnn_status status = CNN_OK;
    if (t->options->threads_list == NULL) return CNN_OK;
    status = cli_ints("threads", t->options->threads_list, 1, INT32_MAX, threads, CLI_LIST_MAX, &count, err);
    for (int s = 0; s < t->sessions.count && status == CNN_OK; s++) {
        const cnn_impl *impl = t->sessions.list[s].impl;
        for (int i = 1; i < count && impl->device_kind == CNN_DEVICE_CPU && status == CNN_OK; i++)
            status = open_other(t, impl, (int)threads[i], err);
    }
    return status;
}

void train_close_others(train *t)
{
    for (int i = 0; i < t->n_others; i++) {
        watch_enter(t->sessions.watch, t->others[i].impl->name, "closing it");
        cnn_session_close(&t->others[i]);
    }
    if (t->n_others > 0) watch_enter(t->sessions.watch, NULL, NULL);
    t->n_others = 0;
}
