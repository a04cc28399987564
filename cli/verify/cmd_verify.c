/* cmd_verify.c: `benchcnn verify`: every chosen implementation, algorithm, operation, direction, problem and type. */
#include "fuzz.h"
#include "harness/cpu/threads.h"
#include "harness/problem/names.h"
#include "parts.h"
#include "verify/verify.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdlib.h>
#include <string.h>

/* Says why, where there was not even a case. */
void verify_explain_nothing(const verification *v)
{
    const cli_options *o = v->options;
    for (int state = 0; state <= VERIFY_FAILED; state++)
        if (v->report.sums->cases[state] > 0) return;
    if (o->net == NULL && !(v->total > 0.0))
        fprintf(stderr, "benchcnn: nothing ran: the problem files hold no descriptor\n");
    else if (o->op == NULL && o->problems.count > 0)
        fprintf(stderr, "benchcnn: nothing ran: --impl %s has no algorithm for these problems and --dir %s\n",
                o->impl != NULL ? o->impl : "all", o->dir != NULL ? o->dir : "all");
    else
        fprintf(stderr, "benchcnn: nothing ran: --impl %s has no algorithm for --op %s --dir %s --dtype %s\n",
                o->impl != NULL ? o->impl : "all", o->op != NULL ? o->op : "conv", o->dir != NULL ? o->dir : "all",
                o->dtype);
}

/* The limit of time is a step's. */
static void tick(void *watch) { watch_tick(watch); }

static cnn_status read_options(verification *v, cnn_error *err)
{
    const cli_options *o = v->options;
    if (cli_shard_read(o, &v->shard, err) != CNN_OK) return err->status;
    cnn_session_params params = cli_session_params(o);
    const bool sums_alone = o->sums && o->check == NULL;
    const uint32_t checks = sums_alone ? 0 : cnn_name_mask(&verify_check_names, o->check, err);
    v->settings = (verify_options){.checks = checks,
                                   .sums = o->sums,
                                   .recompute = o->recompute,
                                   .offload = o->offload,
                                   .streams = o->streams,
                                   .fuse = o->fuse,
                                   .seed = (uint64_t)o->seed,
                                   .reference_threads = params.threads,
                                   .reference_flops = o->reference_flops,
                                   .failed = report_arrays,
                                   .failed_user = &v->report,
                                   .interrupted = interrupt_seen,
                                   .alive = tick,
                                   .alive_user = o->watch};
    v->settings.all_bits = o->check != NULL && strcasestr(o->check, verify_check_name(VERIFY_DETERMINISM)) != NULL;
    v->ops = checks == 0 && !sums_alone ? 0 : cli_ops(o, err);
    if (o->sums && o->op == NULL) v->ops |= 1u << CNN_OP_FC;
    v->dirs = v->ops == 0 ? 0 : cli_dirs(o, err);
    if (v->dirs == 0) return err->status;
    return cli_types(o, &v->types, err);
}

cnn_status verify_set_up(verification *v, cnn_error *err)
{
    const cli_options *o = v->options;
    cnn_status status = read_options(v, err);
    if (status == CNN_OK && o->dump != NULL) status = dump_prepare(o->dump, err);
    if (status == CNN_OK) status = cli_sessions_open(o, false, &v->sessions, err);
    return status == CNN_OK ? cli_tuned_open(o, &v->sessions, false, &v->tuned, err) : status;
}

/* Arrays come and go with every run: memory that was cleared once is kept for the next. */
static void keep_memory(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 1 << 25); /* the most it takes */
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
}

/* With --isolate, more than one run may do it, each behind the one before. */
static int run_verify(verification *v, cnn_error *err)
{
    run_watch *w = v->options->watch;
    verify_report *r = &v->report;
    problem_list list = {0};
    int exit_status = EXIT_HELD;
    cnn_status status = verify_set_up(v, err);
    if (status == CNN_OK && !w->begun) report_add_earlier(r);
    if (status == CNN_OK) status = cli_output_begin(v->options, &r->output, err);
    const bool described = w->done > 0 || watch_find(w, NULL, 0) != NULL;
    if (status == CNN_OK && v->sessions.count > 0 && !described)
        status = cli_sessions_environment(&v->sessions, 0, v->options->command_line, r->output.sink, err);
    cli_progress_start(&v->progress, "verify", v->options->quiet);
    if (status == CNN_OK) status = verify_all(v, &list, err);
    cli_progress_end(&v->progress);
    if (status == CNN_OK) status = verify_stop_if_interrupted(err);
    tuned_close(v->tuned); /* before the end is told: one may end its process here, too */
    cli_sessions_close(&v->sessions);
    if (status == CNN_OK || status == CNN_INTERRUPTED) exit_status = report_summary(r);
    if (status == CNN_OK && exit_status == EXIT_NOTHING && cli_shard_empty(v->options, v->own, v->number))
        exit_status = EXIT_HELD;
    if (status == CNN_OK && exit_status == EXIT_NOTHING) verify_explain_nothing(v);
    free(list.items);
    free(v->given.items);
    return status == CNN_OK ? cli_output_end(&r->output, exit_status) : cli_fail(err);
}

/* Tuned choices are those of problems: not of a network as a whole, nor of random ones. */
static cnn_status check_tuned(const cli_options *o, cnn_error *err)
{
    const bool asked = o->tune != NULL || (o->impl != NULL && strstr(o->impl, ":" CNN_TUNED) != NULL);
    if (!asked || (o->net == NULL && o->fuzz == NULL)) return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "verify takes no tuned choices with --net or --fuzz: name an algorithm");
}

cnn_status args_verify(const cli_options *o, cnn_error *err)
{
    static verification v; /* large: kept off the stack */
    problem_list list = {0};
    if (check_tuned(o, err) != CNN_OK) return err->status;
    if (o->fuzz != NULL) return verify_fuzz_args(o, err);
    v = (verification){.options = o};
    cnn_status status = read_options(&v, err);
    if (status == CNN_OK && o->net == NULL) status = verify_look_ahead(&v, &list, err);
    free(list.items);
    free(v.given.items);
    return status;
}

static int verify_chosen(const cli_options *options, cli_pieces *pieces, cnn_error *err)
{
    static verification v; /* large: kept off the stack */
    _Static_assert(sizeof(verify_sums) <= WATCH_KEPT, "the runs of a command share its sums");
    int exit_status = EXIT_HELD;
    run_watch *w = options->watch;
    verify_sums *sums = (verify_sums *)w->kept;
    v = (verification){.options = options,
                       .pieces = pieces->ranks != NULL ? pieces : NULL,
                       .report = {.options = options, .progress = &v.progress, .sums = sums}};
    v.report.pieces = v.pieces;
    cnn_status status = ranks_agree(pieces->ranks, cli_output_open(options, false, &v.report.output, err), err);
    /* cases are numbered over all implementations: where one is missing, no earlier run's numbers hold */
    if (status == CNN_OK && options->n_lost > 0) resume_forget(v.report.output.resume);
    if (status == CNN_OK) status = cli_report_lost(options, v.report.output.sink, &sums->cases[VERIFY_FAILED], err);
    if (status == CNN_OK && v.pieces != NULL)
        exit_status = verify_over_ranks(&v, err);
    else if (status == CNN_OK)
        exit_status = options->none_left ? report_summary(&v.report) : run_verify(&v, err);
    cli_output_close(&v.report.output);
    return status == CNN_OK ? exit_status : cli_fail(err);
}

int cmd_verify(const cli_options *options, cnn_error *err)
{
    static cli_options own; /* large: kept off the stack */
    const run_watch *w = options->watch;
    cli_pieces pieces;
    if (options->n_lost > 0 && options->fuzz != NULL) {
        CNN_FAIL(err, CNN_DEVICE, "plug-in %.200s: %s", w->deaths[0].key, w->deaths[0].how);
        return cli_fail(err);
    }
    keep_memory();
    const cnn_status status = cli_pieces_open(options, &own, &pieces, err);
    if (status == CNN_OK && cli_pieces_does(&pieces) && options->fuzz == NULL) verify_fit_device(&own);
    if (options->fuzz != NULL) own.threads = options->threads; /* drawn, unless they are given */
    int result = status != CNN_OK        ? cli_fail(err)
                 : options->fuzz != NULL ? verify_fuzz(&own, &pieces, err)
                                         : verify_chosen(&own, &pieces, err);
    if (cli_pieces_does(&pieces)) result = EXIT_HELD;
    cli_pieces_close(&pieces);
    return result;
}
