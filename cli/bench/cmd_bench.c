/* cmd_bench.c: `benchcnn bench`: times single operations: every problem, direction and type (group.c); a figure
 * whose outputs were wrong is not shown. */
#include "cli/table.h"
#include "parts.h"

#include <string.h>

static const double default_warm_up = 0.05;

/* Everything once. */
static cnn_status run_pass(bench *b, cnn_error *err)
{
    const bool in_network = strcmp(b->options->cache, "network") == 0;
    b->base += b->place - b->first; /* of the pass before this one */
    b->place = b->first;
    for (int p = 0; p < b->problems.count; p++)
        for (int t = 0; t < b->types.count; t++)
            for (int dir = 0; dir < CNN_DIR_COUNT; dir++, b->done++) {
                const problem_entry *e = &b->problems.items[p];
                cnn_problem problem = e->problem;
                if (!cli_type_of(e, &b->types, t, &problem.u.type)) continue;
                if (!(cli_dirs_of(e, &problem.u.type, b->dirs) & 1u << dir) || !bench_next_place(b)) continue;
                b->params.network = in_network ? b->networks[t] : NULL;
                cnn_status status = bench_run_group(b, e->given, &problem, (cnn_dir)dir, err);
                if (interrupt_seen())
                    return CNN_FAIL(
                        err, CNN_INTERRUPTED,
                        "interrupted; what was timed is recorded, and the same command with --out goes on from there");
                if (status != CNN_OK) return status;
                bench_group_done(b);
            }
    return CNN_OK;
}

/* Passes and not more samples: what `compare` must know is how runs differ that lie apart in time. */
static cnn_status run_all(bench *b, cnn_error *err)
{
    cnn_status status = CNN_OK;
    b->total = (double)b->options->repeat * b->problems.count * b->types.count * CNN_DIR_COUNT;
    cli_progress_start(&b->progress, "bench", b->options->quiet || b->pieces != NULL);
    for (int64_t pass = 0; pass < b->options->repeat && status == CNN_OK; pass++) status = run_pass(b, err);
    return status;
}

cnn_status bench_read_options(bench *b, cnn_error *err)
{
    if (b->options->runs > 0 && (b->options->out != NULL || b->options->json))
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--runs takes no figures, so there is nothing for %s",
                        b->options->out != NULL ? "--out" : "--json");
    cnn_status status = bench_read_params(b, default_warm_up, true, err);
    if (status == CNN_OK) status = cli_types(b->options, &b->types, err);
    return status == CNN_OK ? bench_gather_problems(b, err) : status;
}

cnn_status args_bench(const cli_options *options, cnn_error *err)
{
    bench b = {.options = options, .silent = true};
    cnn_status status = bench_baseline_check(options, err);
    if (status == CNN_OK) status = bench_read_options(&b, err);
    bench_close(&b);
    return status;
}

static void print_summary(const bench *b)
{
    if (b->options->runs > 0) {
        printf("%lld ran %lld times, %lld failed, %lld not supported; nothing was verified or timed\n",
               (long long)b->sums->timed, (long long)b->options->runs, (long long)b->sums->failed,
               (long long)b->sums->unsupported + b->refused);
        return;
    }
    table_legend(b->marks);
    bench_counters_refused(b);
    const bench_sums *s = b->sums;
    printf("%lld timed and verified, %lld wrong, %lld failed, %lld not supported", (long long)s->timed,
           (long long)s->wrong, (long long)s->failed, (long long)s->unsupported + b->refused);
    if (s->too_short > 0) printf(", %lld too short to time", (long long)s->too_short);
    if (s->kept > 0) printf("; %lld of these already in %s", (long long)s->kept, b->options->out);
    putchar('\n');
}

static int outcome(const bench *b)
{
    const bench_sums *s = b->sums;
    if (s->refusal.status != CNN_OK && s->wrong + s->failed == 0) return EXIT_USAGE;
    if (s->wrong + s->failed > 0) return EXIT_FAILED;
    return s->timed > 0 || cli_shard_empty(b->options, b->own, b->place) ? EXIT_HELD : EXIT_NOTHING;
}

/* All that calls an implementation; with --isolate more than one run may, each behind the one before. */
static cnn_status run_here(bench *b, cnn_error *err)
{
    b->params.in_hand = bench_in_hand;
    b->params.in_hand_user = b;
    if (b->pieces != NULL) return cli_pieces_gives(b->pieces) ? bench_give(b, err) : bench_do_pieces(b, run_all, err);
    cnn_status status = bench_open(b, false, err);
    if (status == CNN_OK && b->begun) status = run_all(b, err);
    cli_progress_end(&b->progress);
    bench_close_sessions(b); /* before the end is told */
    return status;
}

static int bench_all(const cli_options *options, cli_pieces *pieces, cnn_error *err)
{
    bench b = {.options = options,
               .pieces = pieces->ranks != NULL ? pieces : NULL,
               .sums = (bench_sums *)options->watch->kept,
               .silent = options->watch->n_deaths > 0}; /* told by the run before */
    cnn_status status = bench_read_options(&b, err);
    if (status == CNN_OK) status = cli_output_open(options, false, &b.output, err);
    status = ranks_agree(pieces->ranks, status, err);
    if (status == CNN_OK && resume_elsewhere(b.output.resume) && !b.silent)
        table_put(stderr,
                  "benchcnn: %s holds figures of another build of the program or a plug-in: `compare` takes one "
                  "build a file\n",
                  options->out);
    if (status == CNN_OK) status = cli_report_lost(options, b.output.sink, &b.sums->failed, err);
    if (b.sums->refusal.status == CNN_OK) b.sums->refusal = b.refusal;
    if (status == CNN_OK && !options->none_left) status = run_here(&b, err);
    cli_ranks_abort(pieces->ranks, status, err);
    int result = status == CNN_OK ? outcome(&b) : cli_fail(err);
    if (cli_pieces_does(pieces)) {
        bench_close(&b);
        return EXIT_HELD;
    }
    if (status == CNN_OK && b.begun) result = cli_output_end(&b.output, result);
    if (status == CNN_OK && !options->json) bench_grid_print(&b);
    if (status == CNN_OK && !options->json) print_summary(&b);
    if (status == CNN_OK && b.sums->refusal.status != CNN_OK) cli_fail(&b.sums->refusal);
    bench_close(&b);
    return result;
}

int cmd_bench(const cli_options *options, cnn_error *err)
{
    static cli_options own; /* large: kept off the stack */
    cli_pieces pieces;
    if (options->processes > 0) return bench_processes(options, err);
    bench_sums *sums = (bench_sums *)options->watch->kept;
    cnn_status status = cli_pieces_open(options, &own, &pieces, err);
    if (status == CNN_OK && !cli_pieces_does(&pieces)) status = bench_baseline_begin(&own, sums, err);
    int result = status == CNN_OK ? bench_all(&own, &pieces, err) : cli_fail(err);
    if (cli_pieces_does(&pieces))
        result = EXIT_HELD;
    else if (status == CNN_OK)
        result = bench_baseline_end(&own, sums, result, err);
    cli_pieces_close(&pieces);
    return result;
}
