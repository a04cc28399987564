/* group.c: one problem, direction and type: all chosen algorithms are timed by turns and checked. That is the
 * unit in which a run that was stopped goes on: figures that were taken by turns are recorded together. */
#include "cli/table.h"
#include "harness/cpu/threads.h"
#include "harness/problem/names.h"
#include "parts.h"
#include "verify/verify.h"

#include <string.h>

enum { CANDIDATES_MAX = 128, KEY_MAX = 2 * CNN_NAME_MAX + 16 };

/* ---- Whose code is called, for the process that watches. */

static void key_of(char key[KEY_MAX], const candidate *c)
{
    snprintf(key, KEY_MAX, "%s:%s%s", c->session->impl->name, c->algorithm.name, c->tuned ? " (tuned)" : "");
}

static void take_in_hand(bench *b, const candidate *c, const char *doing)
{
    char key[KEY_MAX];
    if (!b->options->watch->on) return;
    if (c) key_of(key, c);
    watch_enter(b->options->watch, c ? key : NULL, doing);
}

void bench_in_hand(void *b, const candidate *c) { take_in_hand(b, c, "timing it"); }

/* Those that ended a run before this one, in this group, have failed. */
static void mark_dead(const bench *b, candidate *list, int count)
{
    run_watch *w = b->options->watch;
    for (int i = 0; i < count && w->number >= 0; i++) {
        char key[KEY_MAX];
        key_of(key, &list[i]);
        const watch_death *died = watch_find(w, key, w->number);
        if (!died) continue;
        list[i].state = CANDIDATE_FAILED;
        snprintf(list[i].reason, sizeof list[i].reason, "%s", died->how);
    }
}

/* ---- Candidates. */

/* What the tuning file holds for the problem, or the default; nobody where the operation is not done at all. */
static cnn_status add_tuned(bench *b, int i, const cnn_problem *problem, cnn_dir dir, candidate *list, int *count,
                            cnn_error *err)
{
    tuned_pick pick;
    const cnn_session *session = &b->sessions.list[i];
    if (!cli_wants_tuned(&b->sessions, session) || *count == CANDIDATES_MAX) return CNN_OK;
    cnn_status status = tuned_choose(b->tuned, session, problem, dir, &pick, err);
    if (status != CNN_OK && (status != CNN_UNSUPPORTED || pick.algorithm.name[0] == '\0'))
        return status == CNN_UNSUPPORTED ? CNN_OK : status;
    list[(*count)++] = (candidate){.session = pick.session,
                                   .algorithm = pick.algorithm,
                                   .watch = b->watches[i],
                                   .tuned = true,
                                   .tuning = pick.state,
                                   .choice = pick.choice};
    return CNN_OK;
}

/* An implementation that died when it was asked stands in the list as one that failed, so that its row is there. */
static cnn_status gather_candidates(bench *b, const cnn_problem *problem, cnn_dir dir, candidate *list, int *count,
                                    cnn_error *err)
{
    run_watch *w = b->options->watch;
    cnn_algorithm algorithms[CANDIDATES_MAX];
    *count = 0;
    for (int i = 0; i < b->sessions.count; i++) {
        const cnn_session *session = &b->sessions.list[i];
        int found;
        if (!watch_enter(w, session->impl->name, "asking it what it can do")) {
            if (w->number < 0 || *count == CANDIDATES_MAX) continue;
            list[*count] = (candidate){.session = session, .algorithm.name = "*", .state = CANDIDATE_FAILED};
            snprintf(list[(*count)++].reason, CNN_MESSAGE_MAX, "%s",
                     watch_find(w, session->impl->name, w->number)->how);
            continue;
        }
        cnn_status status = cnn_algorithms(session, problem, dir, algorithms, CANDIDATES_MAX, &found, err);
        if (status != CNN_OK) return status;
        for (int k = 0; k < found && *count < CANDIDATES_MAX; k++)
            if (cli_chosen(&b->sessions, session, &algorithms[k]))
                list[(*count)++] = (candidate){.session = session, .algorithm = algorithms[k], .watch = b->watches[i]};
        if (add_tuned(b, i, problem, dir, list, count, err) != CNN_OK) return err->status;
    }
    watch_enter(w, NULL, NULL);
    mark_dead(b, list, *count);
    return CNN_OK;
}

cnn_status bench_list_candidates(bench *b, FILE *names, cnn_error *err)
{
    candidate list[CANDIDATES_MAX];
    cnn_status status = CNN_OK;
    for (int p = 0; p < b->problems.count; p++)
        for (int t = 0; t < b->types.count; t++)
            for (int dir = 0; dir < CNN_DIR_COUNT && status == CNN_OK; dir++) {
                cnn_problem problem = b->problems.items[p].problem;
                int count;
                if (!cli_type_of(&b->problems.items[p], &b->types, t, &problem.u.type)) continue;
                if (!(cli_dirs_of(&b->problems.items[p], &problem.u.type, b->dirs) & 1u << dir)) continue;
                status = gather_candidates(b, &problem, (cnn_dir)dir, list, &count, err);
                for (int i = 0; status == CNN_OK && i < count; i++)
                    fprintf(names, "%s:%s\n", list[i].session->impl->name,
                            list[i].tuned ? CNN_TUNED : list[i].algorithm.name);
            }
    return status;
}

static void count_state(bench *b, candidate_state state)
{
    bench_sums *s = b->sums;
    *(state == CANDIDATE_TIMED       ? &s->timed
      : state == CANDIDATE_WRONG     ? &s->wrong
      : state == CANDIDATE_FAILED    ? &s->failed
      : state == CANDIDATE_TOO_SHORT ? &s->too_short
                                     : &s->unsupported) += 1;
}

/* Leaves those in the list that an earlier command did not get to; what it found of the others counts, if `mine`. */
static void leave_out_done(bench *b, const cnn_problem *problem, cnn_dir dir, bool mine, candidate *list, int *count)
{
    const vf_case nothing = {.problem = *problem, .call.dir = dir};
    int left = 0;
    for (int i = 0; i < *count; i++) {
        list[i].state = CANDIDATE_FAILED; /* without figures: a record's identity */
        cnn_record *record = candidate_record(cnn_op_name(problem->op), &list[i], &nothing, &b->params, "");
        const char *state = resume_take(b->output.resume, record);
        if (state && mine) count_state(b, candidate_state_of(state));
        b->sums->kept += state && mine;
        if (!state) list[left++] = list[i];
        record_free(record);
    }
    *count = left;
}

static cnn_status report(bench *b, const candidate *list, int count, const vf_case *pc, cnn_error *err)
{
    char repro[REPRO_MAX];
    if (!b->options->json) bench_print(b, list, count, pc);
    bench_grid_add(b, list, count, pc);
    for (int i = 0; i < count; i++) {
        const candidate *c = &list[i];
        count_state(b, c->state);
        if (c->state == CANDIDATE_TIMED) b->marks |= c->result.stats.marks;
        bench_repro(b, c, pc, repro);
        cnn_record *record = candidate_record(cnn_op_name(pc->problem.op), c, pc, &b->params, repro);
        const cnn_status status = record_write(b->output.sink, record, err);
        if (status != CNN_OK) return status;
    }
    return CNN_OK;
}

cnn_status bench_make_case(bench *b, const cnn_problem *problem, cnn_dir dir, vf_case *pc, cnn_error *err)
{
    thread_pool *pool;
    cnn_status status = verify_room(&b->sessions.list[0], problem, dir, err);
    if (status == CNN_OK) status = thread_pool_open(b->sessions.list[0].threads, &pool, err);
    if (status != CNN_OK) return status;
    status = vf_case_make(pc, problem, dir, VF_REALS, 0, (uint64_t)b->options->seed, pool, err);
    pc->call.pool = NULL; /* it ends before the case does */
    thread_pool_close(pool);
    return status;
}

/* Passed over: too large, or failed before any candidate had its turn. */
static void pass_over(bench *b, bool given, cnn_dir dir, const char *text, const cnn_error *err)
{
    cli_progress_end(&b->progress);
    const bool large = err->status == CNN_OUT_OF_MEMORY || err->status == CNN_OVERFLOW;
    table_put(stderr, "%s %s %s: %s\n", large ? "REFUSED" : "FAILED", cnn_dir_name(dir), text, err->message);
    *(large ? &b->sums->unsupported : &b->sums->failed) += 1;
    if (large && given && b->sums->refusal.status == CNN_OK) b->sums->refusal = *err;
}

cnn_status bench_run_group(bench *b, bool given, const cnn_problem *problem, cnn_dir dir, cnn_error *err)
{
    candidate list[CANDIDATES_MAX + 1]; /* with the one that a round repeats */
    int count;
    vf_case pc;
    char text[CNN_PROBLEM_TEXT_MAX];
    run_watch *w = b->options->watch;
    const bool mine = watch_take(w, b->number++);
    cnn_problem_format(problem, text);
    cli_progress_show(&b->progress, b->done, b->total, text);
    cnn_status status = gather_candidates(b, problem, dir, list, &count, err);
    if (status == CNN_OK) leave_out_done(b, problem, dir, mine, list, &count);
    if (status == CNN_OK) count = bench_take_round(b, list, count);
    if (!mine) return status;
    if (status == CNN_OK && count == 0) {
        watch_done(w);
        return CNN_OK;
    }
    if (status == CNN_OK && b->options->runs > 0) {
        status = bench_run_plainly(b, list, count, problem, dir, err);
        watch_enter(w, NULL, NULL);
        if (status == CNN_OK) watch_done(w);
        return status;
    }
    if (status == CNN_OK) status = bench_make_case(b, problem, dir, &pc, err);
    if (status != CNN_OK) {
        pass_over(b, given, dir, text, err);
        watch_enter(w, NULL, NULL);
        watch_done(w);
        return CNN_OK;
    }
    status = candidates_time(list, count, &pc, &b->params, err);
    if (status == CNN_OK) status = bench_count(b, list, count, &pc, err);
    cli_progress_end(&b->progress);
    if (status == CNN_OK) status = report(b, list, count, &pc, err);
    if (status == CNN_OK) watch_done(w);
    for (int i = 0; i < count; i++) {
        take_in_hand(b, &list[i], "when all was timed, releasing it");
        candidates_close(&list[i], 1);
    }
    watch_enter(w, NULL, NULL);
    vf_case_free(&pc);
    return status;
}
