/* cmd_bench.c: `benchcnn bench`: times single operations. For each problem, direction and type all chosen algorithms
 * are timed by turns and checked; a figure whose outputs were wrong is not shown. That is the unit in which a run that
 * was stopped goes on: figures that were taken by turns are recorded together. */
#include "../cpu/threads.h"
#include "../names.h"
#include "bench_parts.h"
#include "table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { CONTENDERS_MAX = 128 };
static const double usual_min_time = 0.2; /* unless --min-time or a shorter --max-time says otherwise */
static const double usual_warm_up = 0.05, ceiling_seconds = 0.03;

/* ---- One problem, direction and type ---- */

/* What the tuning file holds for the problem, or the default; nobody where the operation is not done at all. */
static cnn_status add_tuned(bench *b, int i, const cnn_problem *problem, cnn_dir dir, contender *list, int *count,
                            cnn_error *err)
{
    tuned_pick pick;
    const cnn_session *session = &b->sessions.list[i];
    if (!cli_wants_tuned(&b->sessions, session) || *count == CONTENDERS_MAX) return CNN_OK;
    cnn_status status = cli_tuned_pick(b->tuned, session, problem, dir, &pick, err);
    if (status != CNN_OK && (status != CNN_UNSUPPORTED || pick.algorithm.name[0] == '\0'))
        return status == CNN_UNSUPPORTED ? CNN_OK : status;
    list[(*count)++] = (contender){.session = pick.session,
                                   .algorithm = pick.algorithm,
                                   .watch = b->watches[i],
                                   .tuned = true,
                                   .tuning = pick.state,
                                   .choice = pick.choice};
    return CNN_OK;
}

static cnn_status gather_contenders(bench *b, const cnn_problem *problem, cnn_dir dir, contender *list, int *count,
                                    cnn_error *err)
{
    cnn_algorithm algorithms[CONTENDERS_MAX];
    *count = 0;
    for (int i = 0; i < b->sessions.count; i++) {
        const cnn_session *session = &b->sessions.list[i];
        int found;
        const char *how = bench_dead(b, session->impl);
        if (how && *count < CONTENDERS_MAX) { /* of telling what it can do */
            list[*count] = (contender){.session = session, .algorithm.name = "*", .state = CONTENDER_FAILED};
            snprintf(list[(*count)++].reason, CNN_MESSAGE_MAX, "%s", how);
        }
        if (how) continue;
        bench_enter(b, session->impl);
        cnn_status status = cnn_algorithms(session, problem, dir, algorithms, CONTENDERS_MAX, &found, err);
        if (status != CNN_OK) return status;
        for (int k = 0; k < found && *count < CONTENDERS_MAX; k++)
            if (cli_chosen(&b->sessions, session, &algorithms[k]))
                list[(*count)++] = (contender){.session = session, .algorithm = algorithms[k], .watch = b->watches[i]};
        if (add_tuned(b, i, problem, dir, list, count, err) != CNN_OK) return err->status;
    }
    bench_enter(b, NULL);
    bench_mark_dead(b, list, *count);
    return CNN_OK;
}

static void count_state(bench *b, contender_state state)
{
    *(state == CONTENDER_TIMED    ? &b->timed
      : state == CONTENDER_WRONG  ? &b->wrong
      : state == CONTENDER_FAILED ? &b->failed
                                  : &b->unsupported) += 1;
}

/* Leaves those in the list that an earlier run did not get to; what it found of the others counts. */
static void leave_out_done(bench *b, const cnn_problem *problem, cnn_dir dir, contender *list, int *count)
{
    const vf_case nothing = {.problem = *problem, .call.dir = dir};
    int left = 0;
    for (int i = 0; i < *count; i++) {
        list[i].state = CONTENDER_FAILED; /* without figures: a record's identity */
        cnn_record *record = contender_record(&list[i], &nothing, &b->params, "");
        const char *state = resume_take(b->resume, record);
        if (state) {
            count_state(b, contender_state_of(state));
            b->kept++;
        } else
            list[left++] = list[i];
        record_free(record);
    }
    *count = left;
}

static cnn_status report(bench *b, const contender *list, int count, const vf_case *pc, cnn_error *err)
{
    char repro[REPRO_MAX];
    if (!b->options->json) bench_print(b, list, count, pc);
    for (int i = 0; i < count; i++) {
        const contender *c = &list[i];
        count_state(b, c->state);
        if (c->state == CONTENDER_TIMED) b->marks |= c->result.stats.marks;
        bench_repro(b, c, pc, repro);
        cnn_status status = record_write(b->sink, contender_record(c, pc, &b->params, repro), err);
        if (status != CNN_OK) return status;
    }
    return CNN_OK;
}

cnn_status bench_make_case(bench *b, const cnn_problem *problem, cnn_dir dir, vf_case *pc, cnn_error *err)
{
    thread_pool *pool;
    size_t bytes;
    cnn_status status = verify_bytes(problem, dir, &bytes, err);
    if (status == CNN_OK) status = cnn_mem_check(&b->sessions.list[0], bytes, err);
    if (status == CNN_OK) status = thread_pool_open(b->sessions.list[0].threads, &pool, err);
    if (status != CNN_OK) return status;
    status = vf_case_make(pc, problem, dir, VF_REALS, 0, (uint64_t)b->options->seed, pool, err);
    thread_pool_close(pool);
    return status;
}

/* Passed over: too large, or failed before any contender had its turn. */
static void pass_over(bench *b, int p, cnn_dir dir, const char *text, const cnn_error *err)
{
    cli_progress_end(&b->progress);
    const bool large = err->status == CNN_OUT_OF_MEMORY || err->status == CNN_OVERFLOW;
    fprintf(stderr, "%s %s %s: %s\n", large ? "REFUSED" : "FAILED", cnn_dir_name(dir), text, err->message);
    *(large ? &b->unsupported : &b->failed) += 1;
    if (large && p < b->problems.given && b->problems.refusal.status == CNN_OK) b->problems.refusal = *err;
}

/* `p` counts the problems; *problem is it, in one of the types. */
static cnn_status run_group(bench *b, int p, const cnn_problem *problem, cnn_dir dir, cnn_error *err)
{
    contender list[CONTENDERS_MAX];
    int count;
    vf_case pc;
    char text[CNN_PROBLEM_TEXT_MAX];
    const bool mine = bench_take_group(b);
    cnn_problem_format(problem, text);
    cli_progress_show(&b->progress, b->done, b->total, text);
    cnn_status status = gather_contenders(b, problem, dir, list, &count, err);
    if (status == CNN_OK) leave_out_done(b, problem, dir, list, &count);
    if (!mine) return status;
    if (status == CNN_OK && count == 0) {
        bench_group_done(b);
        return CNN_OK;
    }
    if (status == CNN_OK) status = bench_make_case(b, problem, dir, &pc, err);
    if (status != CNN_OK) {
        pass_over(b, p, dir, text, err);
        bench_enter(b, NULL);
        bench_group_done(b);
        return CNN_OK;
    }
    status = contest_run(list, count, &pc, &b->params, err);
    cli_progress_end(&b->progress);
    if (status == CNN_OK) status = report(b, list, count, &pc, err);
    if (status == CNN_OK) bench_group_done(b);
    for (int i = 0; i < count; i++) {
        bench_in_hand(b, &list[i]);
        contest_close(&list[i], 1);
    }
    bench_in_hand(b, NULL);
    vf_case_free(&pc);
    return status;
}

/* ---- All ---- */

static cnn_status before_all(bench *b, cnn_error *err)
{
    const bool first = !b->page || b->page->begun == 0;
    cnn_status status = first ? resume_begin(b->resume, b->sink, err) : CNN_OK;
    for (int i = 0; status == CNN_OK && i < b->sessions.count; i++) {
        if (first) status = record_environment(b->sink, &b->sessions.list[i], b->options->command_line, err);
        if (status == CNN_OK) status = clock_watch_open(&b->sessions.list[i], &b->watches[i], err);
    }
    if (status == CNN_OK) status = cli_ceilings(b->options, &b->sessions, ceiling_seconds, b->sink, &b->peaks, err);
    b->params.peaks = &b->peaks;
    return status;
}

/* Everything once. */
static cnn_status run_pass(bench *b, cnn_error *err)
{
    const bool amid = strcasecmp(b->options->cache, "network") == 0;
    for (int p = 0; p < b->problems.count; p++)
        for (int t = 0; t < b->types.count; t++)
            for (int dir = 0; dir < CNN_DIR_COUNT; dir++, b->done++) {
                cnn_problem problem = b->problems.items[p];
                problem.u.type = b->types.types[t];
                if (!(b->dirs & cnn_op_dirs(&problem) & 1u << dir)) continue;
                b->params.network = amid ? b->networks[t] : NULL;
                cnn_status status = run_group(b, p, &problem, (cnn_dir)dir, err);
                if (cli_interrupted())
                    return CNN_FAIL(
                        err, CNN_INTERRUPTED,
                        "interrupted; what was timed is recorded, and the same command with --out goes on from there");
                if (status != CNN_OK) return status;
            }
    return CNN_OK;
}

/* Passes and not more samples: what `compare` must know is how runs differ that lie apart in time. */
static cnn_status run_all(bench *b, cnn_error *err)
{
    cnn_status status = CNN_OK;
    b->total = (double)b->options->repeat * b->problems.count * b->types.count * CNN_DIR_COUNT;
    cli_progress_start(&b->progress, "bench", b->options->quiet);
    for (int64_t pass = 0; pass < b->options->repeat && status == CNN_OK; pass++) status = run_pass(b, err);
    return status;
}

static cnn_status check_caches(const cli_options *o, cnn_error *err)
{
    if (strcasecmp(o->cache, "hot") == 0 || strcasecmp(o->cache, "cold") == 0) return CNN_OK;
    if (strcasecmp(o->cache, "network") != 0)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--cache is '%.64s', but must be hot, cold or network", o->cache);
    if (o->net) return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                    "--cache network times an operation amid a network's layers: name it, --net");
}

static cnn_status read_params(bench *b, cnn_error *err)
{
    const cli_options *o = b->options;
    b->params = (measure_params){.min_time = o->min_time >= 0 ? o->min_time : fmin(usual_min_time, o->max_time),
                                 .max_time = o->max_time,
                                 .noise = MEASURE_NOISE,
                                 .warm_up = o->warm_up >= 0 ? o->warm_up : fmin(usual_warm_up, o->max_time),
                                 .cold = strcasecmp(o->cache, "cold") == 0,
                                 .stop = cli_interrupted,
                                 .control = !o->no_control,
                                 .samples = o->samples};
    if (cli_no_words(o, err) != CNN_OK) return err->status;
    if (b->params.min_time > b->params.max_time)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--min-time is %g s, but may not be more than --max-time, which is %g s",
                        o->min_time, o->max_time);
    return check_caches(o, err);
}

static cnn_status read_options(bench *b, cnn_error *err)
{
    const cli_options *o = b->options;
    cnn_status status = read_params(b, err);
    if (status == CNN_OK) status = cli_types(o, &b->types, err);
    if (status == CNN_OK && (b->dirs = cli_dirs(o, err)) == 0) status = err->status;
    if (status == CNN_OK && (b->ops = cli_ops(o, err)) == 0) status = err->status;
    return status == CNN_OK ? bench_gather_problems(b, err) : status;
}

static void tear_down(bench *b)
{
    record_sink_close(b->sink);
    resume_close(b->resume);
    for (int t = 0; t < b->types.count; t++) cnn_net_free(b->networks[t]);
    free(b->problems.items);
    free(b);
}

cnn_status args_bench(const cli_options *options, cnn_error *err)
{
    bench *b = calloc(1, sizeof *b);
    if (!b) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for bench");
    b->options = options;
    b->problems.silent = true;
    const cnn_status status = read_options(b, err);
    tear_down(b);
    return status;
}

static cnn_status set_up(bench *b, cnn_error *err)
{
    const cli_options *o = b->options;
    const resume_run run = {o->out, o->command_line, o->plugin.items, o->plugin.count};
    cnn_status status = read_options(b, err);
    if (status == CNN_OK) status = cli_sink_open(o->out, o->json, &b->sink, err);
    if (status == CNN_OK) status = resume_open(&run, &b->resume, err);
    return status;
}

static void print_summary(const bench *b)
{
    table_legend(b->marks);
    printf("%d timed and verified, %d wrong, %d failed, %d not supported", b->timed, b->wrong, b->failed,
           b->unsupported + b->problems.refused);
    if (b->kept > 0) printf("; %d of these already in %s", b->kept, b->options->out);
    putchar('\n');
}

/* All that calls an implementation; with --isolate in a child, which may be one of several. */
static int run_here(bench *b)
{
    cnn_error err;
    b->params.in_hand = bench_in_hand;
    b->params.in_hand_user = b;
    cnn_status status = cli_sessions_open(b->options, true, &b->sessions, &err);
    if (status == CNN_OK) status = cli_tuned_open(b->options, &b->sessions, false, &b->tuned, &err);
    const bool anybody = status == CNN_OK && bench_anybody(b);
    if (anybody) status = before_all(b, &err);
    if (anybody && status == CNN_OK) status = run_all(b, &err);
    if (anybody && status == CNN_OK) status = resume_end(b->resume, b->sink, &err);
    cli_progress_end(&b->progress);
    if (status == CNN_OK && b->page) bench_take_counts(b);
    if (status == CNN_OK && !b->options->json) print_summary(b);
    int result = status != CNN_OK ? cli_fail(&err) : b->timed > 0 ? EXIT_HELD : EXIT_NOTHING;
    if (status == CNN_OK && b->problems.refusal.status != CNN_OK) result = cli_fail(&b->problems.refusal);
    if (status == CNN_OK && b->wrong + b->failed > 0) result = EXIT_FAILED;
    for (int i = 0; i < CNN_MAX_CHOICES; i++) clock_watch_close(b->watches[i]);
    bench_peaks_free(&b->peaks);
    cli_tuned_close(b->tuned);
    cli_sessions_close(&b->sessions);
    return result;
}

/* None of what --impl names could be loaded. */
static int nobody_left(const bench *b)
{
    if (!b->options->json) print_summary(b);
    return EXIT_FAILED;
}

int cmd_bench(const cli_options *options, cnn_error *err)
{
    bench *b = calloc(1, sizeof *b);
    int result = EXIT_HELD;
    if (!b) {
        CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for bench");
        return cli_fail(err);
    }
    b->options = options;
    b->failed = options->n_lost;
    cnn_status status = set_up(b, err);
    if (status == CNN_OK) status = cli_report_lost(options, b->sink, err);
    if (status == CNN_OK && options->none_left)
        result = nobody_left(b);
    else if (status == CNN_OK && options->isolate)
        status = bench_isolated(b, run_here, &result, err);
    else if (status == CNN_OK)
        result = run_here(b);
    if (status != CNN_OK) result = cli_fail(err);
    tear_down(b);
    return result;
}
