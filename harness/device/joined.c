/* joined.c: "A+B": two implementations of one kind of device as one. What A does not take, B does; so a kernel that
 * does one operation in one direction trains whole networks. The harness sees an implementation like any other.
 *
 * Its algorithms are A's, each with B's first that takes the request for all that it refuses. Its knobs are both's, as
 * A.knob and B.knob, A's first. Memory, clock and laps are B's: pointers are good for both. Each keeps a stream of its
 * own: when the other one's turn comes, the one before is waited for, so that all happens in order. */
#include "joined.h"

#include "call.h"
#include "harness/base/text.h"

#include <stdlib.h>

/* ---- Opening. */

static void close_both(cnn_context *context)
{
    joined_pair *c = (joined_pair *)context;
    for (int i = 0; i < 2; i++)
        if (c->of[i] != NULL) CNN_CALL_VOID(joined_of(c, i), close, c->of[i]);
    free(c);
}

static cnn_status open_both(const cnn_open_params *params, cnn_context **context, cnn_error *err)
{
    const joined *j = (const joined *)params->impl;
    joined_pair *c = calloc(1, sizeof *c);
    if (c == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a context of %s", j->name);
    cnn_status status = CNN_OK;
    c->self = j;
    for (int i = 0; i < 2 && status == CNN_OK; i++) {
        cnn_open_params its = *params;
        its.knobs = joined_knobs(j, i, params->knobs);
        its.impl = j->of[i];
        status = cnn_probe(j->of[i], err);
        if (status == CNN_OK) status = CNN_CALL(j->of[i], open, err, &its, &c->of[i], err);
    }
    if (status != CNN_OK)
        close_both((cnn_context *)c);
    else
        *context = (cnn_context *)c;
    return status;
}

/* What A tells of itself has its name in front. */
typedef struct telling {
    const char *name;
    cnn_put_fn *put;
    void *user;
} telling;

static void put_named(void *user, const char *key, const char *value)
{
    const telling *t = user;
    char named[2 * CNN_NAME_MAX];
    const bool warning = strncmp(key, CNN_WARNING, strlen(CNN_WARNING)) == 0;
    snprintf(named, sizeof named, "%s.%s", t->name, key);
    t->put(t->user, warning ? key : named, value);
}

static void describe_both(cnn_context *context, cnn_put_fn *put, void *user)
{
    joined_pair *c = (joined_pair *)context;
    telling t = {joined_of(c, 0)->name, put, user};
    cnn_put_plugin(joined_of(c, 0), put_named, &t);
    cnn_put_plugin(joined_of(c, 1), put, user);
    if (joined_of(c, 0)->describe != NULL) CNN_CALL_VOID(joined_of(c, 0), describe, c->of[0], put_named, &t);
    if (joined_of(c, 1)->describe != NULL) CNN_CALL_VOID(joined_of(c, 1), describe, c->of[1], put, user);
}

/* ---- Plans. */

static cnn_status ask(const joined_pair *c, int which, const cnn_request *r, const cnn_algorithm *algorithm,
                      cnn_error *err)
{
    const cnn_impl *impl = joined_of(c, which);
    const cnn_request its = {r->problem, r->dir, algorithm, joined_knobs(c->self, which, r->knobs)};
    if (!(algorithm->ops & 1u << r->problem->op))
        return CNN_FAIL(err, CNN_UNSUPPORTED, "%s:%s does no %s", impl->name, algorithm->name,
                        cnn_op_name(r->problem->op));
    if (cnn_takes_dtype(impl, r->problem, err) != CNN_OK) return err->status;
    if (cnn_takes_epilogue(impl, &its, err) != CNN_OK) return err->status;
    return CNN_CALL(impl, supports, err, c->of[which], &its, err);
}

/* Whose the request is: A's algorithm takes it, or the first of B's that does. */
static cnn_status choose(const joined_pair *c, const cnn_request *r, joined_part *chosen, cnn_error *err)
{
    const cnn_impl *b = joined_of(c, 1);
    cnn_error why;
    *chosen = (joined_part){.which = 0, .algorithm = joined_of(c, 0)->algorithms[r->algorithm->id]};
    cnn_status status = ask(c, 0, r, &chosen->algorithm, &why);
    if (status != CNN_UNSUPPORTED) *err = why;
    for (int i = 0; status == CNN_UNSUPPORTED && i < b->n_algorithms; i++) {
        if (!(b->algorithms[i].ops & 1u << r->problem->op) || b->algorithms[i].ops == CNN_TRAINS) continue;
        *chosen = (joined_part){.which = 1, .algorithm = b->algorithms[i]};
        status = ask(c, 1, r, &chosen->algorithm, err);
    }
    if (status != CNN_UNSUPPORTED) return status;
    return CNN_FAIL(err, CNN_UNSUPPORTED, "neither %s (%.180s) nor %s takes it", joined_of(c, 0)->name, why.message,
                    b->name);
}

static cnn_status supports(cnn_context *context, const cnn_request *r, cnn_error *err)
{
    joined_part chosen;
    return choose((const joined_pair *)context, r, &chosen, err);
}

static cnn_status prepare(cnn_context *context, cnn_plan *plan, cnn_error *err)
{
    joined_pair *c = (joined_pair *)context;
    const cnn_request r = {&plan->problem, plan->dir, &plan->algorithm, plan->knobs};
    cnn_plan its;
    joined_part *p = calloc(1, sizeof *p);
    if (p == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a plan of %s", c->self->name);
    plan->state = p;
    cnn_status status = choose(c, &r, p, err);
    if (status != CNN_OK) return status;
    const cnn_impl *impl = joined_of(c, p->which);
    joined_plan(c, plan, p, &its);
    status = joined_turn(c, p->which, err);
    if (status == CNN_OK && impl->prepare != NULL) status = CNN_CALL(impl, prepare, err, c->of[p->which], &its, err);
    p->state = its.state;
    p->algorithm = its.algorithm;
    if (status != CNN_OK) return status;
    plan->workspace_bytes = its.workspace_bytes;
    cnn_answer_text(its.choice, sizeof its.choice);
    snprintf(plan->choice, sizeof plan->choice, "%s:%.*s%s%.*s", impl->name, CNN_NAME_MAX / 3, its.algorithm.name,
             its.choice[0] != '\0' ? "=" : "", CNN_NAME_MAX / 3, its.choice);
    if (!(its.algorithm.flags & CNN_ALGO_TRANSFORMS)) {
        plan->algorithm.flags &= ~(uint32_t)CNN_ALGO_TRANSFORMS;
        plan->algorithm.amplification = 1.0;
    }
    return CNN_OK;
}

static void release(cnn_context *context, cnn_plan *plan)
{
    joined_pair *c = (joined_pair *)context;
    joined_part *p = plan->state;
    cnn_plan its;
    joined_plan(c, plan, p, &its);
    if (p->state != NULL && joined_of(c, p->which)->release != NULL)
        CNN_CALL_VOID(joined_of(c, p->which), release, c->of[p->which], &its);
    free(p);
    plan->state = NULL;
}

/* ---- Making it. */

static uint32_t ops_of(const cnn_impl *impl)
{
    uint32_t ops = 0;
    for (int i = 0; i < impl->n_algorithms; i++)
        if (impl->algorithms[i].ops != CNN_TRAINS) ops |= impl->algorithms[i].ops;
    return ops;
}

/* What holds for both holds for it: it may run any of B's. */
static void put_algorithm(joined *j, const cnn_algorithm *a, int64_t id)
{
    const cnn_impl *b = j->of[1];
    cnn_algorithm *row = &j->algorithms[j->impl.n_algorithms++];
    *row = *a;
    row->ops |= ops_of(b);
    row->id = id;
    for (int i = 0; i < b->n_algorithms; i++) {
        const uint32_t flags = b->algorithms[i].flags, all = CNN_ALGO_DETERMINISTIC;
        if (b->algorithms[i].ops == CNN_TRAINS) continue;
        row->flags = (row->flags & flags & all) | ((row->flags | flags) & ~all);
        if (b->algorithms[i].amplification > row->amplification) row->amplification = b->algorithms[i].amplification;
    }
    row->flags &= ~(uint32_t)CNN_ALGO_FUSES; /* B would do what A cannot fuse: all of the layer */
}

static bool put_knobs(joined *j)
{
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < j->of[i]->n_knobs; k++) {
            const cnn_knob *knob = &j->of[i]->knobs[k];
            const size_t size = strlen(j->of[i]->name) + strlen(knob->name) + 2;
            char *name = malloc(size);
            if (name == NULL) return false;
            snprintf(name, size, "%s.%s", j->of[i]->name, knob->name);
            j->knobs[j->impl.n_knobs] = *knob;
            j->knobs[j->impl.n_knobs++].name = name;
        }
    return true;
}

static cnn_status check_kinds(const cnn_impl *a, const cnn_impl *b, cnn_error *err)
{
    static const char *const kinds[] = {"the CPU", "a CUDA device", "an emulated CUDA device"};
    if (a->device_kind != b->device_kind)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "%s+%s: %s is for %s and %s for %s; both must be for one kind of device",
                        a->name, b->name, a->name, kinds[a->device_kind], b->name, kinds[b->device_kind]);
    if ((a->memory == NULL) == (b->memory == NULL)) return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "%s+%s: %s has memory of its own, which %s cannot read", a->name, b->name,
                    a->memory != NULL ? a->name : b->name, a->memory != NULL ? b->name : a->name);
}

cnn_status joined_make(const cnn_impl *a, const cnn_impl *b, cnn_impl **out, cnn_error *err)
{
    if (check_kinds(a, b, err) != CNN_OK) return err->status;
    joined *j = calloc(1, sizeof *j);
    if (j == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %s+%s", a->name, b->name);
    *out = &j->impl;
    snprintf(j->name, sizeof j->name, "%s+%s", a->name, b->name);
    j->of[0] = a, j->of[1] = b;
    j->algorithms = calloc((size_t)a->n_algorithms + 1, sizeof *j->algorithms);
    j->knobs = calloc((size_t)(a->n_knobs + b->n_knobs) + 1, sizeof *j->knobs);
    j->impl = (cnn_impl){.abi_version = CNN_ABI_VERSION,
                         .struct_size = sizeof j->impl,
                         .name = j->name,
                         .doc = "the first of them where it can, the second elsewhere",
                         .device_kind = a->device_kind,
                         .algorithms = j->algorithms,
                         .knobs = j->knobs,
                         .open = open_both,
                         .close = close_both,
                         .describe = describe_both,
                         .supports = supports,
                         .prepare = prepare,
                         .release = release,
                         .dtypes = cnn_impl_dtypes(a) | cnn_impl_dtypes(b)};
    bool made = j->algorithms != NULL && j->knobs != NULL && put_knobs(j);
    for (int i = 0; made && i < a->n_algorithms; i++)
        if (a->algorithms[i].ops != CNN_TRAINS) put_algorithm(j, &a->algorithms[i], i);
    joined_put_slots(j);
    if (made) return CNN_OK;
    joined_free(*out);
    *out = NULL;
    return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %s+%s", a->name, b->name);
}

void joined_free(cnn_impl *impl)
{
    joined *j = (joined *)impl;
    for (int i = 0; i < j->impl.n_knobs; i++) free((void *)(uintptr_t)j->knobs[i].name);
    free(j->knobs);
    free(j->algorithms);
    free(j);
}
