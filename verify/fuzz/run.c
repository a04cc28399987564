/* run.c: one case through all checks. */
#include "fuzz.h"

#include "harness/base/text.h"
#include "harness/device/call.h"
#include "harness/problem/names.h"
#include "verify/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* MOST_WORKSPACE: a kernel of 65,537 taps may be asked for with little else, and an algorithm lay it out for gigabytes,
 * several times over in a case. */
enum { MOST_ALGORITHMS = 128, MOST_WORKSPACE = 1 << 28 };

struct fuzz_runner {
    const fuzz_space *space;
    bool (*interrupted)(void);
    verify_engine *engine; /* NULL: none is open */
    int impl, threads;     /* what it was opened with */
    int64_t knobs[FUZZ_MAX_KNOBS];
    cnn_algorithm algorithms[MOST_ALGORITHMS];
};

fuzz_runner *fuzz_runner_new(const fuzz_space *space, bool (*interrupted)(void))
{
    fuzz_runner *r = calloc(1, sizeof *r);
    if (r == NULL) return NULL;
    r->space = space;
    r->interrupted = interrupted;
    return r;
}

void fuzz_runner_free(fuzz_runner *r)
{
    if (r == NULL) return;
    verify_close(r->engine);
    free(r);
}

static void say(fuzz_outcome *outcome, verify_state state, const char *reason)
{
    outcome->state = state;
    snprintf(outcome->reason, sizeof outcome->reason, "%s", reason);
}

/* An engine for this implementation with these threads and knobs. */
static cnn_status take_engine(fuzz_runner *r, const fuzz_case *c, cnn_error *err)
{
    const cnn_impl *impl = r->space->impls[c->impl];
    if (impl->n_knobs > FUZZ_MAX_KNOBS)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "%s has %d knobs, more than the %d that are drawn", impl->name,
                        impl->n_knobs, FUZZ_MAX_KNOBS);
    if (r->engine != NULL && r->impl == c->impl && r->threads == c->threads &&
        memcmp(r->knobs, c->knobs, sizeof r->knobs) == 0)
        return CNN_OK;
    verify_close(r->engine);
    r->engine = NULL;
    r->impl = c->impl;
    r->threads = c->threads;
    memcpy(r->knobs, c->knobs, sizeof r->knobs);
    const cnn_session_params params = {.threads = c->threads, .device = r->space->device, .knobs = r->knobs};
    const verify_options options = {
        .reference_threads = 1, .most_workspace = MOST_WORKSPACE, .interrupted = r->interrupted};
    return verify_open(impl, &params, &options, &r->engine, err);
}

/* The problem as its text reads back: what a failure's command will run. */
static bool reread(const fuzz_case *c, cnn_problem *problem, fuzz_outcome *outcome)
{
    char text[CNN_PROBLEM_TEXT_MAX], again[CNN_PROBLEM_TEXT_MAX];
    cnn_error err;
    cnn_problem_format(&c->problem, text);
    if (fuzz_read(&c->problem, text, problem, &err) == CNN_OK) {
        cnn_problem_format(problem, again);
        if (strcmp(text, again) == 0) return true;
        CNN_FAIL(&err, CNN_INTERNAL, "'%.200s' reads back as '%.200s'", text, again);
    }
    say(outcome, VERIFY_FAILED, err.message);
    return false;
}

/* One of the algorithms that serve the operation; false: none does. */
static bool pick_algorithm(fuzz_runner *r, const fuzz_case *c, const cnn_problem *problem, cnn_algorithm *algorithm,
                           cnn_error *err)
{
    const fuzz_space *space = r->space;
    int listed = 0, count = 0;
    cnn_status status =
        cnn_algorithms(verify_session(r->engine), problem, c->dir, r->algorithms, MOST_ALGORITHMS, &listed, err);
    for (int i = 0; status == CNN_OK && i < listed; i++)
        if (c->algorithm[0] != '\0'
                ? strcmp(c->algorithm, r->algorithms[i].name) == 0
                : space->chosen == NULL || space->chosen(space->user, space->impls[c->impl], &r->algorithms[i]))
            r->algorithms[count++] = r->algorithms[i];
    if (count > 0) *algorithm = r->algorithms[c->pick % (uint64_t)count];
    if (status == CNN_OK && count == 0) CNN_FAIL(err, CNN_UNSUPPORTED, "no algorithm serves this");
    return count > 0;
}

/* The same engine with other checks and data. */
static void aim(verify_engine *e, uint32_t checks, uint64_t seed)
{
    e->options.checks = checks;
    e->options.seed = seed;
    vf_forget_cases(e);
}

static void collect(void *user, const verify_result *result)
{
    fuzz_outcome *o = user;
    if (result->state == VERIFY_FAILED)
        for (int i = 0; i < VERIFY_CHECK_COUNT; i++)
            if (strcmp(result->check, verify_check_name((verify_check)i)) == 0) o->failed |= 1u << i;
    if (result->state <= o->state && o->check[0] != '\0') return;
    o->state = result->state;
    snprintf(o->check, sizeof o->check, "%s", result->check);
    memcpy(o->reason, result->reason, sizeof o->reason);
    memcpy(o->worst, result->worst, sizeof o->worst);
}

cnn_status fuzz_run(fuzz_runner *r, const fuzz_case *c, uint32_t checks, fuzz_outcome *outcome, cnn_error *err)
{
    cnn_problem problem;
    cnn_algorithm algorithm;
    *outcome = (fuzz_outcome){.state = VERIFY_UNSUPPORTED};
    if (!reread(c, &problem, outcome)) return CNN_OK;
    if (take_engine(r, c, err) != CNN_OK || !pick_algorithm(r, c, &problem, &algorithm, err)) {
        const bool refused = err->status == CNN_UNSUPPORTED || err->status == CNN_UNAVAILABLE;
        say(outcome, refused ? VERIFY_UNSUPPORTED : VERIFY_FAILED, err->message);
        return CNN_OK;
    }
    memcpy(outcome->algorithm, algorithm.name, sizeof outcome->algorithm);
    aim(r->engine, checks, c->data_seed);
    cnn_status status = verify_problem(r->engine, &problem, c->dir, &algorithm, collect, outcome, err);
    if (status == CNN_INTERRUPTED) return status;
    if (status != CNN_OK) { /* what memory cannot hold was not tried; anything else must not happen to a valid case */
        const bool too_large = status == CNN_OUT_OF_MEMORY || status == CNN_OVERFLOW;
        say(outcome, too_large ? VERIFY_SKIPPED : VERIFY_FAILED, err->message);
    }
    return CNN_OK;
}
