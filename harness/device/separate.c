/* separate.c: see separate.h: the process, the messages, the memory. */
#include "separate.h"

#include "call.h"
#include "harness/cpu/limits.h"

#include <stdlib.h>
#include <string.h>

/* ---- Messages. */

separate_channel *separate_begin(separate *s, uint32_t what)
{
    separate_channel *c = &s->channels[0];
    if (pthread_mutex_trylock(&c->lock) != 0) {
        c = &s->channels[atomic_load(&s->second) ? 1 : 0];
        pthread_mutex_lock(&c->lock);
    }
    wire_begin(&c->message, what);
    return c;
}

static bool exchange(separate *s, separate_channel *c)
{
    const int which = (int)(c - s->channels), socket = s->process.sockets[which];
    const uint32_t what = c->message.what;
    return wire_send(socket, &c->message) && runner_listen(&s->process, which) && wire_receive(socket, &c->message) &&
           c->message.what == what;
}

static cnn_status lose(separate *s, cnn_error *err)
{
    char how[CNN_MESSAGE_MAX - 64];
    if (atomic_exchange(&s->gone, true))
        return CNN_FAIL(err, CNN_DEVICE, "the process that its code runs in has ended");
    runner_end(&s->process, how, sizeof how);
    s->lost(s->user, how);
    return CNN_FAIL(err, CNN_DEVICE, "%s", how);
}

cnn_status separate_ask(separate *s, separate_channel *c, cnn_error *err)
{
    int32_t status;
    if (c->message.broken) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a message to another process");
    if (atomic_load(&s->gone) || !exchange(s, c)) return lose(s, err);
    WIRE_TAKE(&c->message, status);
    const char *text = wire_take_text(&c->message);
    if (status == CNN_OK) return CNN_OK;
    snprintf(err->message, sizeof err->message, "%s", text != NULL ? text : "");
    return err->status = (cnn_status)status;
}

cnn_status separate_end(separate *s, separate_channel *c, cnn_status status, cnn_error *err)
{
    const bool right = status != CNN_OK || wire_whole(&c->message);
    pthread_mutex_unlock(&c->lock);
    if (right) return status;
    return CNN_FAIL(err, CNN_INTERNAL, "%.64s: its process answered something else than it was asked",
                    s->copy.impl.name != NULL ? s->copy.impl.name : "a plug-in");
}

const char *separate_keep(separate *s, const char *text)
{
    enum { MOST = 8192 };
    const char *kept = NULL;
    if (text == NULL || s->texts.count >= MOST) return NULL;
    pthread_mutex_lock(&s->texts_lock);
    (void)cnn_say_now(&s->texts, text);
    for (int i = s->texts.count - 1; i >= 0 && kept == NULL; i--)
        if (strcmp(s->texts.texts[i], text) == 0) kept = s->texts.texts[i];
    pthread_mutex_unlock(&s->texts_lock);
    return kept;
}

/* ---- Its process. */

/* Addresses cost nothing: enough for all that the host could hold, with what lies between blocks. */
static size_t bytes_to_share(void)
{
    const size_t least = (size_t)1 << 36, host = host_memory_available();
    return host < least / 2 ? least : host <= SIZE_MAX / 4 ? 2 * host : host;
}

static cnn_status ask_for_table(separate *s, cnn_error *err)
{
    separate_channel *c = separate_begin(s, SEPARATE_TABLE);
    cnn_status status = separate_ask(s, c, err);
    if (status != CNN_OK) cnn_answer_text(err->message, sizeof err->message);
    if (status == CNN_OK) status = separate_take_table(s, &c->message, err);
    return separate_end(s, c, status, err) == CNN_OK ? CNN_OK : (err->status = CNN_UNAVAILABLE);
}

cnn_status separate_start(const char *path, const char *const words[], int code, separate_lost *lost, void *user,
                          separate **result, cnn_error *err)
{
    separate *s = calloc(1, sizeof *s);
    if (s == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a plug-in");
    s->lost = lost;
    s->user = user;
    snprintf(s->path, sizeof s->path, "%s", path);
    pthread_mutex_init(&s->texts_lock, NULL);
    for (int i = 0; i < RUNNER_SOCKETS; i++) pthread_mutex_init(&s->channels[i].lock, NULL);
    cnn_status status = runner_start(&s->process, words, code, bytes_to_share(), err);
    if (status == CNN_OK) status = ask_for_table(s, err);
    if (status == CNN_OK)
        *result = s;
    else
        separate_stop(s);
    return status;
}

void separate_stop(separate *s)
{
    runner_stop(&s->process);
    for (int i = 0; i < RUNNER_SOCKETS; i++) {
        wire_free(&s->channels[i].message);
        pthread_mutex_destroy(&s->channels[i].lock);
    }
    cnn_said_free(&s->texts);
    pthread_mutex_destroy(&s->texts_lock);
    for (int i = 0; s->knobs != NULL && i < s->copy.impl.n_knobs; i++) free((void *)(uintptr_t)s->knobs[i].values);
    free(s->knobs);
    free(s->algorithms);
    free(s);
}

/* ---- Memory. What is asked here no implementation refuses. */

static cnn_status ask_plainly(separate *s, separate_channel *c, cnn_error *err)
{
    const cnn_status status = separate_ask(s, c, err);
    if (status == CNN_OK || status == CNN_DEVICE) return status;
    return CNN_FAIL(err, CNN_DEVICE, "%.64s: its process could not do what it was asked", s->copy.impl.name);
}

static cnn_status set_pages(separate *s, void *first, size_t bytes, bool open, cnn_error *err)
{
    const uint8_t opened = open;
    separate_channel *c = separate_begin(s, SEPARATE_PAGES);
    WIRE_PUT(&c->message, first);
    WIRE_PUT(&c->message, bytes);
    WIRE_PUT(&c->message, opened);
    return separate_end(s, c, ask_plainly(s, c, err), err);
}

cnn_status separate_take(const cnn_session *session, size_t all, size_t fence, size_t inner, void **memory,
                         cnn_error *err)
{
    separate *s = separate_of(session->impl);
    *memory = region_take(&s->process.memory, all);
    if (*memory == NULL)
        return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no room for %zu bytes in the memory that is shared with a plug-in",
                        all);
    const cnn_status status = set_pages(s, (char *)*memory + fence, inner, true, err);
    if (status == CNN_OK) return CNN_OK;
    region_give(&s->process.memory, *memory);
    *memory = NULL;
    return status;
}

cnn_status separate_alloc(const cnn_session *session, size_t bytes, void **memory, cnn_error *err)
{
    const size_t all = bytes <= SIZE_MAX - CNN_ALIGN ? bytes + CNN_ALIGN : SIZE_MAX;
    const cnn_status status = separate_take(session, all, 0, all, memory, err);
    if (status == CNN_OK) *memory = (char *)*memory + CNN_ALIGN;
    return status;
}

void separate_give(const cnn_session *session, void *memory)
{
    separate *s = separate_of(session->impl);
    cnn_error none;
    size_t bytes;
    void *block = region_block_of(&s->process.memory, memory, &bytes);
    if (block != NULL) (void)set_pages(s, block, bytes, false, &none);
    region_give(&s->process.memory, block);
}

/* ---- What is around the arrays, and what is on the heap. */

cnn_status separate_bounds_begin(const cnn_session *session, bounds_list *b, cnn_error *err)
{
    separate *s = separate_of(session->impl);
    separate_channel *c = separate_begin(s, SEPARATE_BOUNDS_BEGIN);
    WIRE_PUT(&c->message, b->count);
    wire_put(&c->message, b->list, (size_t)b->count * sizeof *b->list);
    atomic_store(&b->touched, 0);
    return separate_end(s, c, ask_plainly(s, c, err), err);
}

cnn_status separate_bounds_end(const cnn_session *session, bounds_list *b, cnn_error *err)
{
    separate *s = separate_of(session->impl);
    uintptr_t touched = 0;
    uint8_t wrote = 0;
    separate_channel *c = separate_begin(s, SEPARATE_BOUNDS_END);
    const cnn_status status = ask_plainly(s, c, err);
    if (status == CNN_OK) WIRE_TAKE(&c->message, touched);
    if (status == CNN_OK) WIRE_TAKE(&c->message, wrote);
    atomic_store(&b->touched, touched);
    atomic_store(&b->wrote, wrote != 0);
    return separate_end(s, c, status, err);
}

int64_t separate_heap(const cnn_session *session)
{
    separate *s = separate_of(session->impl);
    int64_t bytes = 0;
    cnn_error none;
    separate_channel *c = separate_begin(s, SEPARATE_HEAP);
    const cnn_status status = ask_plainly(s, c, &none);
    if (status == CNN_OK) WIRE_TAKE(&c->message, bytes);
    (void)separate_end(s, c, status, &none);
    return bytes;
}
