/* fuzz_failure.c: what becomes of a failure: shrunk if it is the first of its kind, told, recorded. Every try of
 * the shrinking runs in a process of its own, as the command that is printed in the end will. */
#include "fuzz.h"

#include "harness/base/clock.h"

#include <math.h>
#include <string.h>

enum { TRIES = 600, SHRINK_SECONDS = 120 }; /* a case that hangs takes its whole limit in each try */

typedef struct wanted {
    fuzz_session *s;
    const worker_message *message;
    worker_message last; /* of the smallest that failed */
} wanted;

/* Runs the case alone. False: nothing can be said of it. */
static bool try_alone(fuzz_session *s, const fuzz_case *c, uint32_t checks, worker_message *message)
{
    const uint32_t all = s->checks;
    cnn_error err;
    s->alone = c;
    if (checks != 0) s->checks = checks;
    cnn_status status = workers_alone(&s->job, c->index, message, &err);
    s->alone = NULL;
    s->checks = all;
    if (status != CNN_OK && status != CNN_INTERRUPTED) report_keep_error(&s->report, status, &err);
    return status == CNN_OK;
}

/* The same way of failing: one of the same checks, or another death. */
static bool fails_alike(void *user, const fuzz_case *c)
{
    wanted *w = user;
    const fuzz_outcome *first = &w->message->outcome;
    worker_message message;
    if (!try_alone(w->s, c, first->failed, &message) || message.outcome.state != VERIFY_FAILED) return false;
    if (message.result != w->message->result) return false;
    if (first->failed != 0 && (first->failed & message.outcome.failed) == 0) return false;
    w->last = message;
    return true;
}

/* A worker that died could not say which algorithm it was at: the first that dies alone. */
static bool find_algorithm(wanted *w, fuzz_case *c)
{
    const cnn_impl *impl = w->s->space.impls[c->impl];
    if (w->message->result != WORKER_DIED) return fails_alike(w, c);
    for (int i = 0; i < impl->n_algorithms; i++) {
        const cnn_algorithm *a = &impl->algorithms[i];
        if (!(a->ops & 1u << c->problem.op) || !w->s->space.chosen(w->s, impl, a)) continue;
        memcpy(c->algorithm, a->name, sizeof c->algorithm);
        if (fails_alike(w, c)) return true;
    }
    c->algorithm[0] = '\0';
    return fails_alike(w, c);
}

/* A failure that a fresh process does not show takes the cases before it. */
static const char *whole_command(const fuzz_session *s, int64_t index, char *command, size_t size)
{
    snprintf(command, size, "%.3000s --fuzz %lld --jobs 1", s->options->command_line, (long long)index + 1);
    return command;
}

/* The case ran in another process: its session is one that is never opened here. */
static cnn_session session_of(const fuzz_session *s, fuzz_case *c)
{
    return (cnn_session){
        .impl = s->space.impls[c->impl], .threads = c->threads, .device = s->space.device, .knobs = c->knobs};
}

static report_case report_of(const fuzz_case *c, const cnn_session *session, const char *command)
{
    return (report_case){.session = session,
                         .algorithm = c->algorithm[0] != '\0' ? c->algorithm : "*",
                         .problem = &c->problem,
                         .dir = c->dir,
                         .type = c->problem.u.type,
                         .seed = (int64_t)c->data_seed,
                         .drawn = true,
                         .index = c->index,
                         .command = command};
}

void fuzz_command(fuzz_session *s, const fuzz_case *c, char command[CLI_REPEAT_MAX])
{
    fuzz_case copy = *c;
    const cnn_session session = session_of(s, &copy);
    const report_case now = report_of(c, &session, NULL);
    report_begin(&s->report, &now);
    report_repro(&s->report, command);
}

static void tell(fuzz_session *s, const fuzz_case *c, const worker_message *message, const char *command)
{
    const fuzz_outcome *o = &message->outcome;
    fuzz_case copy = *c;
    const cnn_session session = session_of(s, &copy);
    char text[CNN_PROBLEM_TEXT_MAX];
    report_case now = report_of(c, &session, command);
    cnn_problem_format(&c->problem, text);
    now.what = text;
    verify_result result = {.session = &session,
                            .problem = &c->problem,
                            .algorithm = now.algorithm,
                            .dir = c->dir,
                            .check = o->check[0] != '\0' ? o->check : "run",
                            .state = o->state,
                            .budget_used = (double)NAN};
    memcpy(result.reason, o->reason, sizeof result.reason);
    memcpy(result.worst, o->worst, sizeof result.worst);
    report_begin(&s->report, &now);
    report_result(&s->report, &result);
    report_print(&s->report);
}

void fuzz_failure(fuzz_session *s, const fuzz_case *found, const worker_message *message)
{
    fuzz_kind *kind = fuzz_kind_of(s, found, message);
    fuzz_case c = *found;
    char command[CLI_REPEAT_MAX], text[CNN_PROBLEM_TEXT_MAX];
    if (kind == NULL || kind->count++ >= FUZZ_SHOWN) return; /* counted, and enough told of it */
    cli_progress_end(&s->progress);
    snprintf(c.algorithm, sizeof c.algorithm, "%s", message->outcome.algorithm);
    wanted w = {s, message, *message};
    fuzz_budget budget = {.tries = TRIES, .until = cnn_now() + SHRINK_SECONDS, .stop = interrupt_seen};
    const bool first = kind->count == 1, alone = !first || find_algorithm(&w, &c);
    if (first && alone) fuzz_shrink(&s->space, &c, fails_alike, &w, &budget);
    cnn_problem_format(&found->problem, text);
    if (!s->options->json && !alone)
        printf("case %lld does not fail in a process of its own: it depends on the cases before it\n",
               (long long)found->index);
    if (!s->options->json && first && alone)
        printf("case %lld, %s; of %d tries the smallest that fails like it:\n", (long long)found->index, text,
               budget.tried);
    if (!s->options->json && !first) printf("case %lld:\n", (long long)found->index);
    tell(s, &c, &w.last, alone ? NULL : whole_command(s, found->index, command, sizeof command));
    fflush(stdout);
}
