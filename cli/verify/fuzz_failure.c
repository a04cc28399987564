/* fuzz_failure.c: what becomes of a failure: told, shrunk if it is the first of its kind, recorded. Every try of
 * the shrinking runs in a process of its own, as the command that is printed in the end will. */
#include "fuzz.h"

#include "harness/problem/names.h"

#include <string.h>

enum { TRIES = 600, TOLD_OF_A_KIND = 3, COMMAND_MAX = 4096 };

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
    if (status != CNN_OK && status != CNN_INTERRUPTED && s->status == CNN_OK) s->status = status, s->error = err;
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

static void print(const fuzz_session *s, const fuzz_case *c, const worker_message *message)
{
    const fuzz_outcome *o = &message->outcome;
    char text[CNN_PROBLEM_TEXT_MAX];
    if (s->options->json) return;
    cnn_problem_format(&c->problem, text);
    printf("%-11s %s:%s %s %s %s %s %s (case %lld)\n", verify_state_name(o->state), s->space.impls[c->impl]->name,
           o->algorithm[0] != '\0' ? o->algorithm : "?", cnn_op_name(c->problem.op), cnn_dir_name(c->dir), text,
           cnn_dtype_name(c->problem.u.type.dtype), cnn_layout_name(c->problem.u.type.layout),
           (long long)message->index);
    printf("    %s: %s\n", o->check[0] != '\0' ? o->check : "run", o->reason);
    if (o->worst[0] != '\0') printf("      %s\n", o->worst);
}

static void record(fuzz_session *s, const fuzz_case *c, const worker_message *message, const char *command)
{
    const fuzz_outcome *o = &message->outcome;
    fuzz_case copy = *c;
    cnn_error err;
    const cnn_session session = {
        .impl = s->space.impls[c->impl], .threads = c->threads, .device = s->space.device, .knobs = copy.knobs};
    cnn_record *r = record_new("verify");
    record_session(r, &session, o->algorithm);
    record_problem(r, &c->problem, c->dir);
    record_text(r, "check", o->check);
    record_text(r, "state", verify_state_name(o->state));
    record_text(r, "worst", o->worst);
    record_text(r, "reason", o->reason);
    record_int(r, "case", message->index);
    record_text(r, "repro", command);
    if (record_write(s->output.sink, r, &err) != CNN_OK && s->status == CNN_OK) s->status = err.status, s->error = err;
}

static void alone_command(const fuzz_session *s, const fuzz_case *c, char *command, size_t size)
{
    const cli_list *plugins = &s->options->plugin;
    fuzz_command(&s->space, c, c->algorithm[0] != '\0' ? c->algorithm : "*", command, size);
    for (int i = 0; i < plugins->count; i++) cli_append_option(command, size, "plugin", plugins->items[i]);
}

/* What repeats a failure that a fresh process does not show: it takes the cases before it. */
static void whole_command(const fuzz_session *s, int64_t index, char *command, size_t size)
{
    snprintf(command, size, "%.3000s --fuzz %lld --jobs 1", s->options->command_line, (long long)index + 1);
}

void fuzz_failure(fuzz_session *s, const fuzz_case *found, const worker_message *message)
{
    fuzz_kind *kind = fuzz_kind_of(&s->tally, found, message);
    fuzz_case c = *found;
    char command[COMMAND_MAX];
    if (kind == NULL || kind->count++ >= TOLD_OF_A_KIND) return; /* counted, and enough told of it */
    cli_progress_end(&s->progress);
    snprintf(c.algorithm, sizeof c.algorithm, "%s", message->outcome.algorithm);
    wanted w = {s, message, *message};
    fuzz_budget budget = {.tries = TRIES, .stop = cli_interrupted};
    bool alone = true;
    print(s, &c, message);
    if (kind->count == 1) {
        alone = find_algorithm(&w, &c);
        if (alone) fuzz_shrink(&s->space, &c, fails_alike, &w, &budget);
    }
    if (alone)
        alone_command(s, &c, command, sizeof command);
    else
        whole_command(s, message->index, command, sizeof command);
    if (!s->options->json) {
        if (!alone) printf("    it does not fail in a process of its own: it depends on the cases before it\n");
        if (kind->count == 1 && alone)
            printf("    smallest of %d tries: %s%s%s\n", budget.tried, w.last.outcome.reason,
                   w.last.outcome.worst[0] != '\0' ? "; " : "", w.last.outcome.worst);
        printf("    repeat with: %s\n", command);
        fflush(stdout);
    }
    record(s, &c, message, command);
}
