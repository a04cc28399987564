/* serve_calls.c: in the runner: calls of the implementation. */
#include "serve.h"

#include "call.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- What it is told. Knobs may be looked at as long as a plan lives: equal ones are kept once, for good. */

typedef struct kept_knobs {
    struct kept_knobs *next;
    int64_t values[];
} kept_knobs;

static const int64_t *take_knobs(serving *s)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static kept_knobs *all;
    const size_t bytes = (size_t)s->impl->n_knobs * sizeof(int64_t);
    kept_knobs *k = malloc(sizeof *k + bytes), *found;
    if (k == NULL) _exit(1);
    wire_take(&s->in, k->values, bytes);
    pthread_mutex_lock(&lock);
    for (found = all; found != NULL && memcmp(found->values, k->values, bytes) != 0;) found = found->next;
    if (found == NULL) {
        k->next = all;
        all = k;
    }
    pthread_mutex_unlock(&lock);
    if (found != NULL) free(k);
    return (found != NULL ? found : k)->values;
}

/* Its doc is a text of this process. */
static void name_doc(const cnn_impl *impl, cnn_algorithm *a)
{
    a->doc = "";
    for (int i = 0; i < impl->n_algorithms; i++)
        if (strcmp(impl->algorithms[i].name, a->name) == 0) a->doc = impl->algorithms[i].doc;
}

static cnn_context *take_context(serving *s)
{
    cnn_context *context;
    WIRE_TAKE(&s->in, context);
    return context;
}

static void take_plan(serving *s, cnn_plan *plan)
{
    WIRE_TAKE(&s->in, *plan);
    plan->knobs = take_knobs(s);
    name_doc(s->impl, &plan->algorithm);
}

typedef struct asked {
    cnn_problem problem;
    cnn_algorithm algorithm;
    cnn_request request;
} asked;

static const cnn_request *take_request(serving *s, asked *a)
{
    uint8_t chosen;
    WIRE_TAKE(&s->in, a->problem);
    WIRE_TAKE(&s->in, a->request.dir);
    WIRE_TAKE(&s->in, chosen);
    if (chosen) WIRE_TAKE(&s->in, a->algorithm);
    if (chosen) name_doc(s->impl, &a->algorithm);
    a->request = (cnn_request){&a->problem, a->request.dir, chosen ? &a->algorithm : NULL, take_knobs(s)};
    return &a->request;
}

/* ---- Calls. */

static void open_it(serving *s)
{
    cnn_error err;
    int32_t numbers[2];
    cnn_context *context = NULL;
    WIRE_TAKE(&s->in, numbers);
    const cnn_open_params params = {numbers[0], numbers[1], take_knobs(s), s->impl};
    cnn_status status = cnn_probe(s->impl, &err);
    if (status == CNN_OK) status = CNN_CALL(s->impl, open, &err, &params, &context, &err);
    serve_answer(s, status, &err);
    if (status == CNN_OK) WIRE_PUT(&s->out, context);
}

static void put_fact(void *user, const char *key, const char *value)
{
    serving *s = user;
    wire_put_text(&s->out, key, SERVE_TEXT_MOST);
    wire_put_text(&s->out, value, SERVE_TEXT_MOST);
}

static void describe_it(serving *s)
{
    cnn_context *context = take_context(s);
    serve_answer(s, CNN_OK, NULL);
    CNN_CALL_VOID(s->impl, describe, context, put_fact, s);
}

static void ask_supports(serving *s)
{
    cnn_error err;
    asked a;
    cnn_context *context = take_context(s);
    const cnn_request *request = take_request(s, &a);
    serve_answer(s, CNN_CALL(s->impl, supports, &err, context, request, &err), &err);
}

static void enumerate_it(serving *s)
{
    cnn_error err;
    asked a;
    int capacity, count = 0;
    cnn_context *context = take_context(s);
    const cnn_request *request = take_request(s, &a);
    WIRE_TAKE(&s->in, capacity);
    cnn_algorithm *list = calloc((size_t)capacity + 1, sizeof *list);
    if (list == NULL) _exit(1);
    const cnn_status status = CNN_CALL(s->impl, enumerate, &err, context, request, list, capacity, &count, &err);
    const int32_t told = count, rows = count >= 0 && count <= capacity ? count : 0;
    serve_answer(s, status, &err);
    if (status == CNN_OK) {
        WIRE_PUT(&s->out, told);
        WIRE_PUT(&s->out, rows);
        separate_put_algorithms(&s->out, list, rows);
    }
    free(list);
}

static void prepare_it(serving *s)
{
    cnn_error err;
    cnn_plan plan;
    cnn_context *context = take_context(s);
    take_plan(s, &plan);
    const int64_t *knobs = plan.knobs;
    const cnn_status status = CNN_CALL(s->impl, prepare, &err, context, &plan, &err);
    const uint8_t kept = plan.knobs == knobs;
    serve_answer(s, status, &err);
    if (status == CNN_OK) WIRE_PUT(&s->out, plan);
    if (status == CNN_OK) WIRE_PUT(&s->out, kept);
}

static void release_it(serving *s)
{
    cnn_plan plan;
    cnn_context *context = take_context(s);
    take_plan(s, &plan);
    CNN_CALL_VOID(s->impl, release, context, &plan);
    serve_answer(s, CNN_OK, NULL);
}

static void sync_it(serving *s)
{
    cnn_error err;
    serve_answer(s, CNN_CALL(s->impl, sync, &err, take_context(s), &err), &err);
}

static void close_it(serving *s)
{
    CNN_CALL_VOID(s->impl, close, take_context(s));
    serve_answer(s, CNN_OK, NULL);
}

#define RUN(slot, type)                                                                                                \
    static void run_##slot(serving *s)                                                                                 \
    {                                                                                                                  \
        cnn_error err;                                                                                                 \
        cnn_plan plan;                                                                                                 \
        type args;                                                                                                     \
        cnn_context *context = take_context(s);                                                                        \
        take_plan(s, &plan);                                                                                           \
        WIRE_TAKE(&s->in, args);                                                                                       \
        serve_answer(s, CNN_CALL(s->impl, ops->slot, &err, context, &plan, &args, &err), &err);                        \
    }
CNN_SLOTS(RUN)
CNN_BIAS_SLOTS(RUN)

serve_handler *const serve_calls[SEPARATE_COUNT] = {
#define ROW(slot, type) [SEPARATE_##slot] = run_##slot,
    CNN_SLOTS(ROW) CNN_BIAS_SLOTS(ROW)
#undef ROW
        [SEPARATE_OPEN] = open_it,
    [SEPARATE_CLOSE] = close_it,
    [SEPARATE_DESCRIBE] = describe_it,
    [SEPARATE_SYNC] = sync_it,
    [SEPARATE_SUPPORTS] = ask_supports,
    [SEPARATE_PREPARE] = prepare_it,
    [SEPARATE_RELEASE] = release_it,
    [SEPARATE_ENUMERATE] = enumerate_it};
