/* separate_calls.c: what the table of a separate implementation calls: each function is a message and its answer. */
#include "separate.h"

#include <stdlib.h>
#include <string.h>

/* The context of a session here; `its` is the context there. */
typedef struct held {
    separate *s;
    cnn_context *its;
} held;

/* A message about a context: its first words. */
static separate_channel *begin(const held *h, uint32_t what)
{
    separate_channel *c = separate_begin(h->s, what);
    WIRE_PUT(&c->message, h->its);
    return c;
}

static void put_knobs(separate *s, separate_channel *c, const int64_t *knobs)
{
    wire_put(&c->message, knobs, (size_t)s->copy.impl.n_knobs * sizeof *knobs);
}

/* ---- Opening. */

/* A second context may be called while the first is: then the other socket is needed. */
static cnn_status listen_to_second(separate *s, cnn_error *err)
{
    if (atomic_load(&s->second)) return CNN_OK;
    separate_channel *c = separate_begin(s, SEPARATE_SECOND);
    const cnn_status status = separate_end(s, c, separate_ask(s, c, err), err);
    if (status == CNN_OK) atomic_store(&s->second, true);
    return status;
}

static cnn_status open_there(const cnn_open_params *params, cnn_context **context, cnn_error *err)
{
    separate *s = separate_of(params->impl);
    const int32_t numbers[2] = {params->threads, params->device};
    held *h = calloc(1, sizeof *h);
    if (h == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a context of %.64s", s->copy.impl.name);
    h->s = s;
    cnn_status status = listen_to_second(s, err);
    if (status == CNN_OK) {
        separate_channel *c = separate_begin(s, SEPARATE_OPEN);
        WIRE_PUT(&c->message, numbers);
        put_knobs(s, c, params->knobs);
        status = separate_ask(s, c, err);
        if (status == CNN_OK) WIRE_TAKE(&c->message, h->its);
        status = separate_end(s, c, status, err);
    }
    if (status == CNN_OK)
        *context = (cnn_context *)h;
    else
        free(h);
    return status;
}

separate *separate_of(const cnn_impl *impl) { return impl->open == open_there ? (separate *)(uintptr_t)impl : NULL; }

static void close_there(cnn_context *context)
{
    held *h = (held *)context;
    cnn_error none;
    separate_channel *c = begin(h, SEPARATE_CLOSE);
    (void)separate_end(h->s, c, separate_ask(h->s, c, &none), &none);
    free(h);
}

static cnn_status sync_there(cnn_context *context, cnn_error *err)
{
    const held *h = (const held *)context;
    separate_channel *c = begin(h, SEPARATE_SYNC);
    return separate_end(h->s, c, separate_ask(h->s, c, err), err);
}

static void describe_there(cnn_context *context, cnn_put_fn *put, void *user)
{
    const held *h = (const held *)context;
    cnn_error none;
    separate_channel *c = begin(h, SEPARATE_DESCRIBE);
    const cnn_status status = separate_ask(h->s, c, &none);
    while (status == CNN_OK && !c->message.broken && c->message.at < c->message.length) {
        const char *key = wire_take_text(&c->message), *value = wire_take_text(&c->message);
        if (!c->message.broken) put(user, key, value);
    }
    (void)separate_end(h->s, c, status, &none);
}

/* ---- Plans. */

static void put_request(const held *h, separate_channel *c, const cnn_request *r)
{
    const uint8_t chosen = r->algorithm != NULL;
    wire_put(&c->message, r->problem, sizeof *r->problem);
    WIRE_PUT(&c->message, r->dir);
    WIRE_PUT(&c->message, chosen);
    if (chosen) wire_put(&c->message, r->algorithm, sizeof *r->algorithm);
    put_knobs(h->s, c, r->knobs);
}

static cnn_status supports_there(cnn_context *context, const cnn_request *request, cnn_error *err)
{
    const held *h = (const held *)context;
    separate_channel *c = begin(h, SEPARATE_SUPPORTS);
    put_request(h, c, request);
    return separate_end(h->s, c, separate_ask(h->s, c, err), err);
}

static cnn_status enumerate_there(cnn_context *context, const cnn_request *request, cnn_algorithm *list, int capacity,
                                  int *count, cnn_error *err)
{
    const held *h = (const held *)context;
    int32_t told = 0, rows = 0;
    separate_channel *c = begin(h, SEPARATE_ENUMERATE);
    put_request(h, c, request);
    WIRE_PUT(&c->message, capacity);
    const cnn_status status = separate_ask(h->s, c, err);
    if (status == CNN_OK) WIRE_TAKE(&c->message, told);
    if (status == CNN_OK) WIRE_TAKE(&c->message, rows);
    if (rows < 0 || rows > capacity) rows = 0; /* what is left of the message says so */
    separate_take_algorithms(h->s, &c->message, list, rows);
    *count = told;
    return separate_end(h->s, c, status, err);
}

static void put_plan(const held *h, separate_channel *c, const cnn_plan *plan)
{
    wire_put(&c->message, plan, sizeof *plan);
    put_knobs(h->s, c, plan->knobs);
}

/* What pointers the plan has are this process's, but for its state. */
static cnn_status prepare_there(cnn_context *context, cnn_plan *plan, cnn_error *err)
{
    const held *h = (const held *)context;
    cnn_plan made = *plan;
    uint8_t kept = 1;
    separate_channel *c = begin(h, SEPARATE_PREPARE);
    put_plan(h, c, plan);
    const cnn_status status = separate_ask(h->s, c, err);
    if (status == CNN_OK) WIRE_TAKE(&c->message, made);
    if (status == CNN_OK) WIRE_TAKE(&c->message, kept);
    made.knobs = kept ? plan->knobs : NULL;
    made.algorithm.doc = plan->algorithm.doc;
    memcpy(plan, &made, sizeof made);
    return separate_end(h->s, c, status, err);
}

static void release_there(cnn_context *context, cnn_plan *plan)
{
    const held *h = (const held *)context;
    cnn_error none;
    separate_channel *c = begin(h, SEPARATE_RELEASE);
    put_plan(h, c, plan);
    (void)separate_end(h->s, c, separate_ask(h->s, c, &none), &none);
}

/* ---- Operations. */

static cnn_status run_there(cnn_context *context, uint32_t what, const cnn_plan *plan, const void *args, size_t bytes,
                            cnn_error *err)
{
    const held *h = (const held *)context;
    separate_channel *c = begin(h, what);
    put_plan(h, c, plan);
    wire_put(&c->message, args, bytes);
    return separate_end(h->s, c, separate_ask(h->s, c, err), err);
}

#define RUN(slot, type)                                                                                                \
    static cnn_status slot(cnn_context *context, const cnn_plan *plan, const type *args, cnn_error *err)               \
    {                                                                                                                  \
        return run_there(context, SEPARATE_##slot, plan, args, sizeof *args, err);                                     \
    }
CNN_SLOTS(RUN)
CNN_BIAS_SLOTS(RUN)

void separate_put_slots(separate *s, const separate_features *f)
{
    cnn_impl *impl = &s->copy.impl;
    cnn_operations *ops = &s->copy.ops;
#define PUT(slot, type)                                                                                                \
    if (f->slots >> SEPARATE_##slot & 1) ops->slot = slot;
    CNN_SLOTS(PUT)
    CNN_BIAS_SLOTS(PUT)
#undef PUT
    impl->open = open_there;
    impl->close = close_there;
    impl->supports = supports_there;
    if (f->describe) impl->describe = describe_there;
    if (f->sync) impl->sync = sync_there;
    if (f->prepare) impl->prepare = prepare_there;
    if (f->release) impl->release = release_there;
    if (f->enumerate) impl->enumerate = enumerate_there;
}
