/* open.c: whom `bench` and `sweep` time, and what they time them with. */
#include "harness/problem/names.h"
#include "parts.h"

#include <stdlib.h>

/* Whether a session does an operation, as far as is known without asking it of each problem. */
static bool does(const bench *b, const cnn_session *session, cnn_op op)
{
    const cnn_impl *impl = session->impl;
    if (impl->enumerate || cli_wants_tuned(&b->sessions, session)) return true;
    for (int a = 0; a < impl->n_algorithms; a++)
        if (impl->algorithms[a].ops & 1u << op && cli_chosen(&b->sessions, session, &impl->algorithms[a])) return true;
    return false;
}

static bool has_direction(const bench *b, const problem_entry *e)
{
    cnn_type type;
    for (int t = 0; t < b->types.count; t++)
        if (cli_type_of(e, &b->types, t, &type) && cli_dirs_of(e, &type, b->dirs) != 0) return true;
    return false;
}

/* Asked before ceilings are measured, for nobody. If nobody does any of it, says so. */
static bool anybody(const bench *b)
{
    const cli_options *o = b->options;
    for (int p = 0; p < b->problems.count; p++)
        for (int i = 0; i < b->sessions.count; i++)
            if (has_direction(b, &b->problems.items[p]) &&
                does(b, &b->sessions.list[i], b->problems.items[p].problem.op))
                return true;
    if (b->refused > 0) return false; /* and each of them said why */
    if (b->problems.count == 0)
        fprintf(stderr, "benchcnn: nothing ran: the problem files hold no descriptor\n");
    else
        fprintf(stderr, "benchcnn: nothing ran: --impl %s has no algorithm for --op %s --dir %s --dtype %s\n",
                o->impl ? o->impl : "all", o->op ? o->op : "conv", o->dir ? o->dir : "all", o->dtype);
    return false;
}

/* With --isolate more than one run comes here; the first says what all of them would. */
cnn_status bench_open(bench *b, bool keeps, cnn_error *err)
{
    const cli_options *o = b->options;
    const bool first = o->watch->done == 0;
    cnn_status status = cli_sessions_open(o, true, &b->sessions, err);
    if (status == CNN_OK) status = cli_tuned_open(o, &b->sessions, keeps, &b->tuned, err);
    if (status == CNN_OK) status = bench_counters_check(b, err);
    status = bench_meet(b, status, err);
    if (status == CNN_OK && b->pieces != NULL && b->sessions.count > 0)
        cli_pieces_mark(b->pieces, &b->sessions.list[0], b->output.sink);
    if (status != CNN_OK || b->sessions.count == 0 || !anybody(b)) return status;
    b->begun = true;
    if (first) cli_say_warnings(&b->sessions);
    status = cli_output_begin(o, &b->output, err);
    for (int i = 0; status == CNN_OK && i < b->sessions.count; i++) {
        if (first) status = cli_sessions_environment(&b->sessions, i, o->command_line, b->output.sink, err);
        watch_enter(o->watch, b->sessions.list[i].impl->name, "asking it about itself");
        if (status == CNN_OK) status = clock_watch_open(&b->sessions.list[i], &b->watches[i], err);
    }
    watch_enter(o->watch, NULL, NULL);
    return status == CNN_OK && o->runs == 0 ? cli_ceilings(b, err) : status;
}

void bench_close_sessions(bench *b)
{
    for (int i = 0; i < CNN_MAX_CHOICES; i++) clock_watch_close(b->watches[i]);
    tuned_close(b->tuned);
    cli_sessions_close(&b->sessions);
}

void bench_close(bench *b)
{
    bench_peaks_free(&b->peaks);
    cli_output_close(&b->output);
    for (int t = 0; t < b->types.count; t++) cnn_net_free(b->networks[t]);
    free(b->problems.items);
}
