/* cases.c: all cases of `benchcnn verify`, in an order that each run of the same command, and with --isolate
 * each process of a run, goes through alike: so a case's number says whether it was had before. */
#include "harness/net/net.h"
#include "harness/problem/names.h"
#include "parts.h"

#include <string.h>

enum { MAX_ALGORITHMS = 128, NET_BATCH = 4, BATCHES = 64 };

/* ---- Problems. */

cnn_status verify_stop_if_interrupted(cnn_error *err)
{
    if (!interrupt_seen()) return CNN_OK;
    return CNN_FAIL(err, CNN_INTERRUPTED,
                    "interrupted; what was finished is recorded, and the same command with --out goes on from there");
}

static void end_case(verification *v, const char *state)
{
    watch_done(v->options->watch);
    report_done(&v->report, v->number - 1, state);
}

/* With an error it is no case that is done. Whether its records could be written. */
static cnn_status close_case(verification *v, cnn_status status, verify_state state, cnn_error *err)
{
    if (status == CNN_OK)
        end_case(v, verify_state_name(state));
    else
        watch_done(v->options->watch);
    if (v->report.write_status != CNN_OK) *err = v->report.write_error, status = err->status;
    return status;
}

/* --fail-fast: what comes behind a failure is counted, once, and not run. */
static bool pass_over(verification *v, int64_t number)
{
    verify_sums *sums = v->report.sums;
    if (!v->options->fail_fast || sums->cases[VERIFY_FAILED] == 0) return false;
    if (number >= v->options->watch->done) sums->unrun++;
    return true;
}

/* False: there is nothing to do. It is another shard's, an earlier run had it, or died of it, which is told here. */
static bool take_case(verification *v, const report_case *now)
{
    run_watch *w = v->options->watch;
    const int64_t number = v->number++;
    w->next = v->number;
    if (v->pieces != NULL ? !cli_pieces_mine(v->pieces, number) : !cli_shard_has(&v->shard, number)) return false;
    v->own++;
    if (resume_has(v->report.output.resume, number) || pass_over(v, number) || !watch_take(w, number)) return false;
    if (now == NULL) return true;
    report_begin(&v->report, now);
    const watch_death *died = watch_find(w, NULL, number);
    if (died == NULL) return true;
    report_died(&v->report, died->how);
    end_case(v, verify_state_name(VERIFY_FAILED));
    return false;
}

/* One that was asked for by name is bad input; another is passed over, and that is said. */
static cnn_status too_large(verification *v, const problem_entry *e, const report_case *now, cnn_error *err)
{
    const cnn_error why = *err;
    if (e->given) return CNN_FAIL(err, why.status, "problem %s, %s: %s", e->text, cnn_dir_name(now->dir), why.message);
    report_refused(&v->report, e->problem.op, now, VERIFY_SKIPPED, why.message);
    return CNN_OK;
}

static cnn_status verify_one(verification *v, verify_engine *engine, const problem_entry *e, cnn_dir dir,
                             const cnn_algorithm *algorithm, const tuned_pick *pick, cnn_error *err)
{
    const report_case now = {.session = verify_session(engine),
                             .algorithm = algorithm->name,
                             .what = e->text,
                             .problem = &e->problem,
                             .dir = dir,
                             .type = e->problem.u.type,
                             .tuned = pick,
                             .seed = v->options->seed};
    verify_state state = VERIFY_SKIPPED;
    if (verify_stop_if_interrupted(err) != CNN_OK) return CNN_INTERRUPTED;
    if (!take_case(v, &now)) return CNN_OK;
    cnn_status status = verify_problem(engine, &e->problem, dir, algorithm, report_result, &v->report, err);
    if (status == CNN_OK) {
        report_end(&v->report);
        state = v->report.state;
    } else if (status == CNN_OUT_OF_MEMORY || status == CNN_OVERFLOW) {
        status = too_large(v, e, &now, err);
    }
    return close_case(v, status, state, err);
}

/* What the tuning file holds, with its threads and knobs: an engine of its own. */
static cnn_status verify_tuned(verification *v, verify_engine *engine, const problem_entry *e, cnn_dir dir,
                               cnn_error *err)
{
    const cnn_session *session = verify_session(engine);
    verify_engine *own = NULL;
    tuned_pick pick;
    if (!cli_wants_tuned(&v->sessions, session)) return CNN_OK;
    cnn_status status = tuned_choose(v->tuned, session, &e->problem, dir, &pick, err);
    if (status == CNN_UNSUPPORTED && pick.algorithm.name[0] == '\0') return CNN_OK; /* not an operation of its */
    if (status == CNN_UNSUPPORTED) status = CNN_OK;                                 /* its case will say so */
    if (status == CNN_OK && pick.session != session) {
        const cnn_session_params params = {
            .threads = pick.session->threads, .device = pick.session->device, .knobs = pick.session->knobs};
        status = verify_open(session->impl, &params, &v->settings, &own, err);
    }
    if (status == CNN_OK) status = verify_one(v, own != NULL ? own : engine, e, dir, &pick.algorithm, &pick, err);
    if (own != NULL) verify_close(own);
    return status;
}

/* All chosen algorithms on one problem and direction. */
static cnn_status verify_direction(verification *v, verify_engine *engine, const problem_entry *e, cnn_dir dir,
                                   cnn_error *err)
{
    const cnn_session *session = verify_session(engine);
    static cnn_algorithm list[MAX_ALGORITHMS]; /* large: kept off the stack; a command runs once */
    int count;
    cnn_status status = cnn_algorithms(session, &e->problem, dir, list, MAX_ALGORITHMS, &count, err);
    for (int i = 0; status == CNN_OK && i < count; i++)
        if (cli_chosen(&v->sessions, session, &list[i])) status = verify_one(v, engine, e, dir, &list[i], NULL, err);
    return status == CNN_OK ? verify_tuned(v, engine, e, dir, err) : status;
}

static bool are_given(const verification *v) { return v->options->problem.count + v->options->problems.count > 0; }

/* Anew, of one operation in one type: those asked for, or the built-in ones. */
static cnn_status list_problems(const verification *v, cnn_op op, int type, problem_list *list, cnn_error *err)
{
    cnn_problem_defaults defaults = cli_problem_defaults(v->options, &v->types.types[type]);
    cnn_status status = cli_epilogue(v->options, &defaults.epilogue, err);
    list->count = 0;
    for (int i = 0; status == CNN_OK && i < v->given.count; i++) {
        const problem_entry *e = &v->given.items[i];
        cnn_problem problem = e->problem;
        if (e->refused || e->op != op || !cli_type_of(e, &v->types, type, &problem.u.type)) continue;
        status = cli_put_problem(list, &problem, err);
        if (status != CNN_OK) break;
        list->items[list->count - 1].said = e->said;
        list->items[list->count - 1].given = e->given;
    }
    for (const verify_default *d = v->options->sums ? verify_sums_defaults : verify_defaults;
         !are_given(v) && status == CNN_OK && d->text != NULL; d++)
        if (d->op == op) status = cli_add_problem(list, op, d->text, &defaults, false, err);
    return status == CNN_OK ? cli_keep_matching(v->options, list, err) : status;
}

/* Descriptors that no implementation is asked about. */
static void tell_refused(verification *v)
{
    for (int i = 0; i < v->given.count; i++) {
        const problem_entry *e = &v->given.items[i];
        const report_case now = {.what = e->text};
        if (!e->refused || !take_case(v, NULL)) continue;
        if (e->malformed) report_malformed(&v->report, e->op, e->text, e->why);
        if (!e->malformed) report_refused(&v->report, e->op, &now, VERIFY_UNSUPPORTED, e->why);
        end_case(v, e->malformed ? "REFUSED" : verify_state_name(VERIFY_UNSUPPORTED));
    }
}

static cnn_status verify_list(verification *v, verify_engine *engine, const problem_list *list, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int64_t i = 0; status == CNN_OK && i < list->count; i++) {
        const problem_entry *e = &list->items[i];
        cli_progress_show(&v->progress, v->done, v->total, e->text);
        v->done += 1.0;
        const uint32_t dirs = cli_dirs_of(e, &e->problem.u.type, v->dirs);
        for (int dir = 0; status == CNN_OK && dir < CNN_DIR_COUNT; dir++)
            if (dirs & 1u << dir) status = verify_direction(v, engine, e, (cnn_dir)dir, err);
    }
    return status;
}

/* ---- More convolutions, for a plug-in that does few of the built-in ones. */

typedef struct chosen { /* an algorithm, in a direction and a type */
    verification *v;
    verify_engine *engine;
    const cnn_algorithm *algorithm;
    cnn_dir dir;
    cnn_problem_defaults defaults;
} chosen;

static bool takes(const chosen *c, const cnn_problem *problem)
{
    cnn_error why;
    const cnn_request request = {.problem = problem, .dir = c->dir, .algorithm = c->algorithm};
    return cnn_supports(verify_session(c->engine), &request, &why) == CNN_OK;
}

/* Of those that `text_of` tells, the first `most` that the algorithm takes. */
static cnn_status verify_some(const chosen *c, bool (*text_of)(int, char[VERIFY_MORE_MAX]), int most, cnn_error *err)
{
    char text[VERIFY_MORE_MAX];
    cnn_status status = CNN_OK;
    for (int i = 0; status == CNN_OK && most > 0 && text_of(i, text); i++) {
        problem_entry e = {.given = false};
        cnn_error none; /* where a kernel is larger than its image there is no such problem */
        if (cnn_problem_parse(CNN_OP_CONV, text, &c->defaults, &e.problem, &none) != CNN_OK) continue;
        if (!takes(c, &e.problem)) continue;
        cnn_problem_format(&e.problem, e.text);
        status = verify_one(c->v, c->engine, &e, c->dir, c->algorithm, NULL, err);
        most--;
    }
    return status;
}

static cnn_status verify_more(verification *v, verify_engine *engine, const cnn_type *type,
                              const problem_list *built_in, cnn_error *err)
{
    enum { FEW = 20, ENOUGH = 40 };
    const cnn_session *session = verify_session(engine);
    static cnn_algorithm list[MAX_ALGORITHMS];
    cnn_status status = CNN_OK;
    for (int dir = 0; status == CNN_OK && dir < CNN_DIR_COUNT; dir++) {
        int count = 0;
        if (!(v->dirs & 1u << dir)) continue;
        status = cnn_algorithms(session, &built_in->items[0].problem, (cnn_dir)dir, list, MAX_ALGORITHMS, &count, err);
        for (int a = 0; status == CNN_OK && a < count; a++) {
            const chosen c = {v, engine, &list[a], (cnn_dir)dir, cli_problem_defaults(v->options, type)};
            int taken = 0;
            if (!cli_chosen(&v->sessions, session, &list[a])) continue;
            for (int i = 0; i < built_in->count; i++) taken += takes(&c, &built_in->items[i].problem);
            if (taken < FEW) status = verify_some(&c, verify_more_text, ENOUGH - taken, err);
            if (status == CNN_OK) status = verify_some(&c, verify_large_text, 1, err);
        }
    }
    return status;
}

static cnn_status verify_session_ops(verification *v, int session, problem_list *list, cnn_error *err)
{
    const cnn_session_params params = cli_session_params(v->options);
    verify_engine *engine;
    cnn_status status = verify_open(v->sessions.list[session].impl, &params, &v->settings, &engine, err);
    if (status != CNN_OK) return status;
    for (int op = 0; status == CNN_OK && op < CNN_OP_COUNT; op++)
        for (int t = 0; (v->ops & 1u << op) && status == CNN_OK && t < v->types.count; t++) {
            status = list_problems(v, (cnn_op)op, t, list, err);
            if (status == CNN_OK) status = verify_list(v, engine, list, err);
            if (status == CNN_OK && op == CNN_OP_CONV && v->options->plugin.count > 0 && !are_given(v) &&
                !v->options->sums)
                status = verify_more(v, engine, &v->types.types[t], list, err);
        }
    verify_close(engine);
    return status;
}

/* What files say of their problems' operations holds, where --op says nothing. */
static cnn_status read_given(verification *v, cnn_error *err)
{
    v->given.count = 0;
    if (!are_given(v))
        return cli_one_batch(v->options, "a list needs problems of your own: --problem or --problems", err);
    cnn_status status = cli_read_problems(v->options, &v->types.types[0], &v->given, err);
    if (status == CNN_OK && v->options->op == NULL) v->ops = 0;
    for (int i = 0; i < v->given.count; i++)
        if (v->options->op == NULL && !v->given.items[i].refused) v->ops |= 1u << v->given.items[i].op;
    return status == CNN_OK ? cli_keep_matching(v->options, &v->given, err) : status;
}

cnn_status verify_look_ahead(verification *v, problem_list *list, cnn_error *err)
{
    cnn_status status = read_given(v, err);
    v->total = v->given.count;
    for (int op = 0; status == CNN_OK && op < CNN_OP_COUNT; op++)
        for (int t = 0; status == CNN_OK && v->ops & 1u << op && t < v->types.count; t++) {
            status = list_problems(v, (cnn_op)op, t, list, err);
            v->total += (double)list->count * v->sessions.count;
        }
    return status;
}

/* ---- Networks. */

static cnn_status verify_network(verification *v, const cnn_session *session, const cnn_type *type, int64_t batch,
                                 cnn_error *err)
{
    cnn_network *network;
    cnn_status status = cnn_net_load(v->options->net, type, batch, (uint64_t)v->options->seed, &network, err);
    const cnn_op op = status == CNN_OK ? cli_deciding_op(&network->net) : CNN_OP_CONV;
    for (int i = 0; status == CNN_OK && i < session->impl->n_algorithms; i++) {
        const cnn_algorithm *a = &session->impl->algorithms[i];
        if ((!(a->ops & 1u << op) && a->ops != CNN_TRAINS) || !cli_chosen(&v->sessions, session, a)) continue;
        if ((status = verify_stop_if_interrupted(err)) != CNN_OK) break;
        const report_case now = {.session = session,
                                 .algorithm = a->name,
                                 .what = v->options->net,
                                 .batch = batch,
                                 .dir = CNN_BWD_W,
                                 .type = *type,
                                 .seed = v->options->seed};
        if (!take_case(v, &now)) continue;
        status = verify_net_trained(session, network, a->name, &v->settings, report_result, &v->report, err);
        if (status == CNN_OK) report_end(&v->report);
        status = close_case(v, status, v->report.state, err);
    }
    if (network != NULL) cnn_net_free(network);
    return status;
}

static cnn_status verify_batches(verification *v, const cnn_session *session, const cnn_type *type, cnn_error *err)
{
    int64_t batches[BATCHES] = {NET_BATCH};
    int count = 1;
    cnn_status status = v->options->batch == NULL
                            ? CNN_OK
                            : cli_ints("batch", v->options->batch, 1, 1 << 20, batches, BATCHES, &count, err);
    for (int b = 0; status == CNN_OK && b < count; b++) status = verify_network(v, session, type, batches[b], err);
    return status;
}

/* From here on its code is called outside of cases, too: while it is opened, closed, asked for its algorithms. */
static void enter_session(verification *v, int session)
{
    const int64_t behind = cli_sessions_behind(&v->sessions, session);
    if (v->number < behind) v->number = behind;
    v->options->watch->next = v->number;
    watch_enter(v->options->watch, v->sessions.list[session].impl->name,
                "opening or closing it, or asking what it can do");
}

static void leave_session(verification *v)
{
    watch_enter(v->options->watch, NULL, NULL);
    v->options->watch->next = 0; /* when all is closed, nothing comes behind */
}

cnn_status verify_all(verification *v, problem_list *list, cnn_error *err)
{
    const bool net = v->options->net != NULL;
    cnn_status status = net ? CNN_OK : verify_look_ahead(v, list, err);
    if (status == CNN_OK && !net) tell_refused(v);
    for (int s = 0; status == CNN_OK && s < v->sessions.count; s++) {
        enter_session(v, s);
        if (!net) status = verify_session_ops(v, s, list, err);
        for (int t = 0; net && status == CNN_OK && t < v->types.count; t++)
            status = verify_batches(v, &v->sessions.list[s], &v->types.types[t], err);
        leave_session(v);
    }
    return status;
}
