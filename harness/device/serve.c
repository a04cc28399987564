/* serve.c: in the runner (separate.h): answers what it is asked. What it is told is the harness's and right; what the
 * implementation says goes back as it is, and is judged there. */
#include "serve.h"

#include "host.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

void serve_answer(serving *s, cnn_status status, const cnn_error *err)
{
    const int32_t number = (int32_t)status;
    wire_begin(&s->out, s->in.what);
    WIRE_PUT(&s->out, number);
    wire_put_text(&s->out, status == CNN_OK ? NULL : err->message, CNN_MESSAGE_MAX);
}

/* ---- The harness's own questions. */

static void set_pages(serving *s)
{
    void *first;
    size_t bytes;
    uint8_t open;
    cnn_error err;
    cnn_status status = CNN_OK;
    WIRE_TAKE(&s->in, first);
    WIRE_TAKE(&s->in, bytes);
    WIRE_TAKE(&s->in, open);
    if (!region_open(first, bytes, open != 0)) status = CNN_FAIL(&err, CNN_OUT_OF_MEMORY, "no memory for an array");
    serve_answer(s, status, &err);
}

static void begin_bounds(serving *s)
{
    WIRE_TAKE(&s->in, s->around.count);
    wire_take(&s->in, s->around.list, (size_t)s->around.count * sizeof *s->around.list);
    bounds_begin(&s->around);
    serve_answer(s, CNN_OK, NULL);
}

static void end_bounds(serving *s)
{
    bounds_end(&s->around);
    const uintptr_t touched = atomic_load(&s->around.touched);
    const uint8_t wrote = atomic_load(&s->around.wrote);
    serve_answer(s, CNN_OK, NULL);
    WIRE_PUT(&s->out, touched);
    WIRE_PUT(&s->out, wrote);
}

static void tell_table(serving *s)
{
    serve_answer(s, s->loaded, &s->why);
    if (s->loaded == CNN_OK) separate_put_table(&s->out, s->impl);
}

static void tell_heap(serving *s)
{
    const int64_t bytes = host_heap_here();
    serve_answer(s, CNN_OK, NULL);
    WIRE_PUT(&s->out, bytes);
}

static void *serve_all(void *serving);

static void begin_second(serving *s)
{
    cnn_error err;
    pthread_t thread;
    cnn_status status = CNN_OK;
    serving *second = calloc(1, sizeof *second);
    if (second != NULL) *second = (serving){.impl = s->impl, .socket = s->other, .other = -1};
    if (second == NULL || pthread_create(&thread, NULL, serve_all, second) != 0)
        status = CNN_FAIL(&err, CNN_OUT_OF_MEMORY, "no thread for a second context");
    serve_answer(s, status, &err);
}

static serve_handler *const handlers[SEPARATE_COUNT] = {
    [SEPARATE_TABLE] = tell_table,      [SEPARATE_PAGES] = set_pages, [SEPARATE_BOUNDS_BEGIN] = begin_bounds,
    [SEPARATE_BOUNDS_END] = end_bounds, [SEPARATE_HEAP] = tell_heap,  [SEPARATE_SECOND] = begin_second};

/* When the other end is gone, so is this process: no exit handler and no destructor runs. */
static void *serve_all(void *user)
{
    serving *s = user;
    while (wire_receive(s->socket, &s->in) && s->in.what < SEPARATE_COUNT) {
        serve_handler *own = handlers[s->in.what];
        (own != NULL ? own : serve_calls[s->in.what])(s);
        runner_check_self();
        if (!wire_send(s->socket, &s->out)) break;
    }
    fflush(NULL);
    _exit(0);
}

void separate_serve(const cnn_impl *impl, const int sockets[RUNNER_SOCKETS], cnn_status loaded, const cnn_error *err)
{
    static serving first;
    first = (serving){.impl = impl, .socket = sockets[0], .other = sockets[1], .loaded = loaded, .why = *err};
    (void)serve_all(&first);
    _exit(0);
}
