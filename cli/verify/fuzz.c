/* fuzz.c: `benchcnn verify --fuzz N`: what is drawn from, the workers, the end. */
#include "fuzz.h"
#include "cli/cli.h"
#include "cli/table.h"

#include "harness/base/clock.h"
#include "harness/cpu/threads.h"
#include "harness/problem/names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Longer than any case should take, on a slow machine too. */
enum { CASE_SECONDS = 300 };

static bool is_chosen(void *user, const cnn_impl *impl, const cnn_algorithm *algorithm)
{
    const fuzz_session *s = user;
    for (int i = 0; i < s->n_choices; i++)
        if (s->choices[i].impl == impl && cnn_choice_matches(&s->choices[i], algorithm)) return true;
    return false;
}

/* ---- In a worker. */

static void *start(void *user)
{
    const fuzz_session *s = user;
    return fuzz_runner_new(&s->space, interrupt_seen);
}

static void finish(void *state) { fuzz_runner_free(state); }

static cnn_status work(void *user, void *state, int64_t index, worker_message *message)
{
    const fuzz_session *s = user;
    fuzz_case drawn;
    const fuzz_outcome *o = &message->outcome;
    cnn_error err;
    if (s->alone != NULL) return fuzz_run(state, s->alone, s->checks, &message->outcome, &err);
    for (message->attempt = 0;; message->attempt++) { /* until it is one that can be run */
        fuzz_draw(&s->space, s->seed, fuzz_place(s, index), message->attempt, &drawn);
        const cnn_status status = fuzz_run(state, &drawn, s->checks, &message->outcome, &err);
        const bool refused = (o->state == VERIFY_UNSUPPORTED && strcmp(o->check, verify_late_refusal) != 0) ||
                             (o->state == VERIFY_SKIPPED && o->check[0] == '\0'); /* too large for the memory */
        if (status != CNN_OK || !refused || message->attempt + 1 == FUZZ_ATTEMPTS) return status;
    }
}

/* Whether the implementation can be opened here: a worker tries, since a process that has used a GPU cannot be forked.
 */
static cnn_status try_to_open(void *user, void *state, int64_t index, worker_message *message)
{
    const fuzz_session *s = user;
    cnn_session_params params = cli_session_params(s->options);
    cnn_session session;
    cnn_error err;
    (void)state;
    params.device = s->space.device;
    message->result = (int)cnn_session_open(s->space.impls[index], &params, &session, &err);
    if (message->result == CNN_OK)
        cnn_session_close(&session);
    else
        snprintf(message->outcome.reason, sizeof message->outcome.reason, "%s", err.message);
    return CNN_OK;
}

/* ---- What is drawn from. */

static cnn_status choose_types(const cli_options *o, fuzz_space *space, cnn_error *err)
{
    cli_type_set set;
    cnn_status status = cli_types(o, &set, err);
    space->dtypes = space->layouts = 0;
    for (int i = 0; status == CNN_OK && i < set.count; i++) {
        space->dtypes |= 1u << set.types[i].dtype;
        space->layouts |= 1u << set.types[i].layout;
        space->maths |= 1u << set.types[i].math;
    }
    if (!cli_given(o, "dtype")) space->dtypes = (1u << CNN_DTYPE_COUNT) - 1;
    if (!cli_given(o, "layout")) space->layouts = (1u << CNN_LAYOUT_COUNT) - 1;
    if (!cli_given(o, "math")) space->maths = 0;
    return status;
}

/* Over ranks those of a host share its devices, in turn, where there are fewer: so it looks for the last one. */
static bool has_fewer_devices(const fuzz_session *s)
{
    return s->options->over_ranks && s->space.device > 0 && !cli_given(s->options, "device");
}

/* The chosen implementations that can run here; one that was named must. */
static cnn_status choose_impls(fuzz_session *s, cnn_error *err)
{
    fuzz_space *space = &s->space;
    const bool by_name = s->options->impl != NULL && strpbrk(s->options->impl, "*?[") == NULL;
    const workers_job job = {.user = s, .block = 1, .seconds = 60, .work = try_to_open};
    int kept = 0;
    for (int i = 0; i < s->n_choices; i++) {
        bool known = false;
        for (int k = 0; k < space->n_impls; k++) known = known || space->impls[k] == s->choices[i].impl;
        if (!known) space->impls[space->n_impls++] = s->choices[i].impl;
    }
    for (int i = 0; i < space->n_impls; i++) {
        worker_message message;
        cnn_status status = workers_alone(&job, i, &message, err);
        while (status == CNN_OK && message.result == CNN_BAD_ARGUMENT && has_fewer_devices(s)) {
            s->space.device--;
            status = workers_alone(&job, i, &message, err);
        }
        if (status != CNN_OK) return status;
        const char *why = message.outcome.reason, *name = space->impls[i]->name;
        if (message.result == CNN_OK)
            space->impls[kept++] = space->impls[i];
        else if (message.result == WORKER_DIED)
            return CNN_FAIL(err, CNN_INTERNAL, "%s cannot be opened: %.300s", name, why);
        else if (message.result != CNN_UNAVAILABLE || by_name)
            return CNN_FAIL(err, (cnn_status)message.result, "%s", why);
        else
            table_put(stderr, "without %s: %s\n", name, why);
    }
    if (space->device < s->options->device) space->device = (int)s->options->device % (space->device + 1);
    space->n_impls = kept;
    if (kept > 0) return CNN_OK;
    return CNN_FAIL(err, CNN_UNAVAILABLE, "no implementation can run here; see `benchcnn list`");
}

/* "10000", "60s", "10000,60s": how many cases, for how long. */
static cnn_status read_amount(fuzz_session *s, cnn_error *err)
{
    const double most = 1e12;
    double cases = 0.0;
    for (const char *at = s->options->fuzz, *end; at != NULL; at = *end == ',' ? end + 1 : NULL) {
        char *stop;
        const double value = strtod(at, &stop);
        const bool seconds = *stop == 's';
        end = stop + seconds;
        if (stop == at || (*end != ',' && *end != '\0') || !(value > 0.0 && value <= most) ||
            (!seconds && (value < 1.0 || floor(value) < value)))
            return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                            "--fuzz takes a number of cases, seconds (60s), or both, not '%.64s'", s->options->fuzz);
        *(seconds ? &s->seconds : &cases) = value;
    }
    s->all = cases > 0.0 ? (int64_t)cases : INT64_MAX;
    s->report.asked = cases > 0.0 ? cli_shard_count(&s->shard, s->all) : INT64_MAX;
    return CNN_OK;
}

/* All but the implementations, which must be opened to be known. */
static cnn_status read_options(fuzz_session *s, const cli_options *o, cnn_error *err)
{
    *s = (fuzz_session){.options = o,
                        .seed = (uint64_t)o->seed,
                        .space = {.chosen = is_chosen,
                                  .user = s,
                                  .no_bias = o->no_bias,
                                  .flip = strcmp(o->mode, "convolution") == 0,
                                  .threads = (int)o->threads,
                                  .device = (int)o->device,
                                  .settings = o->set.items,
                                  .n_settings = o->set.count},
                        .report = {.options = o}};
    if (cli_shard_read(o, &s->shard, err) != CNN_OK || read_amount(s, err) != CNN_OK) return err->status;
    if (o->epilogue != NULL) {
        if (cli_epilogue(o, &s->epilogue, err) != CNN_OK) return err->status;
        s->space.epilogue = &s->epilogue;
    }
    if (o->like != NULL && fuzz_pins_parse(o->like, &s->space.pins, err) != CNN_OK) return err->status;
    s->checks = cnn_name_mask(&verify_check_names, o->check, err);
    s->space.ops = s->checks == 0 ? 0 : o->op == NULL ? (1u << CNN_OP_COUNT) - 1 : cli_ops(o, err);
    s->space.dirs = s->space.ops == 0 ? 0 : cli_dirs(o, err);
    return s->space.dirs == 0 ? err->status : choose_types(o, &s->space, err);
}

cnn_status verify_fuzz_args(const cli_options *o, cnn_error *err)
{
    static fuzz_session s; /* large: kept off the stack */
    return read_options(&s, o, err);
}

/* ---- The run. */

/* --fail-fast: workers finish what they have begun, and it counts no more. */
static bool failed_already(const fuzz_session *s)
{
    return s->options->fail_fast && s->report.sums->cases[VERIFY_FAILED] > 0;
}

static bool take(void *user, const worker_message *message)
{
    fuzz_session *s = user;
    fuzz_case c;
    char note[CNN_PROBLEM_TEXT_MAX];
    if (failed_already(s)) return false;
    fuzz_draw(&s->space, s->seed, fuzz_place(s, message->index), message->attempt, &c);
    fuzz_count(s, &c, message);
    if (message->outcome.state == VERIFY_FAILED) fuzz_failure(s, &c, message);
    snprintf(note, sizeof note, "%lld cases, %lld failed", (long long)s->done,
             (long long)s->report.sums->cases[VERIFY_FAILED]);
    if (s->report.asked < INT64_MAX)
        cli_progress_show(&s->progress, (double)s->done, (double)s->report.asked, note);
    else
        cli_progress_show(&s->progress, cnn_now() - s->report.started, s->seconds, note);
    return s->report.write_status == CNN_OK;
}

static bool enough(void *user)
{
    const fuzz_session *s = user;
    return failed_already(s) || interrupt_seen() || (s->seconds > 0.0 && cnn_now() - s->report.started > s->seconds);
}

/* GPUs are not shared between workers; CPU cases are small, so that a worker a core is what fills the machine. */
static int count_workers(const fuzz_session *s, const cli_pieces *pieces)
{
    const int cores = pieces->ranks != NULL ? pieces->threads : cpu_count();
    int workers = s->options->jobs > 0 ? (int)s->options->jobs : cores;
    for (int i = 0; i < s->space.n_impls; i++)
        if (s->options->jobs == 0 && s->space.impls[i]->device_kind == CNN_DEVICE_CUDA) workers = 1;
    return workers;
}

static cnn_status run(fuzz_session *s, cli_pieces *pieces, cnn_error *err)
{
    s->report.started = cnn_now();
    cli_progress_start(&s->progress, "fuzz", s->options->quiet);
    const cnn_status status = cli_pieces_gives(pieces) ? fuzz_give(s, pieces, err) : workers_run(&s->job, err);
    cli_progress_end(&s->progress);
    if (status == CNN_OK && interrupt_seen())
        return CNN_FAIL(err, CNN_INTERRUPTED, "interrupted; what was found stands above");
    return status;
}

/* Whom cases are drawn for, and how they are run. */
static cnn_status prepare(fuzz_session *s, const cli_options *options, cli_pieces *pieces, cnn_error *err)
{
    cnn_status status = read_options(s, options, err);
    if (status == CNN_OK) status = cnn_choices_parse(options->registry, options->impl, s->choices, &s->n_choices, err);
    if (status == CNN_OK) status = choose_impls(s, err);
    s->job = (workers_job){.workers = count_workers(s, pieces),
                           .count = s->report.asked,
                           .block = FUZZ_BLOCK,
                           .seconds = CASE_SECONDS,
                           .user = s,
                           .start = start,
                           .finish = finish,
                           .work = work,
                           .each = take,
                           .stop = enough,
                           .each_user = s};
    return fuzz_agree(s, pieces, status, err);
}

static void explain_nothing(void)
{
    table_put(stderr,
              "benchcnn: nothing ran: of %d problems drawn for a case none is supported; fix sizes with --like, as in "
              "--like kh3kw3g1, and types with --dtype, --layout, --math and --dir\n",
              FUZZ_ATTEMPTS);
}

int verify_fuzz(const cli_options *options, cli_pieces *pieces, cnn_error *err)
{
    static fuzz_session s; /* large: kept off the stack */
    int exit_status = EXIT_HELD;
    cnn_status status = prepare(&s, options, pieces, err);
    if (status != CNN_OK) return cli_fail(err);
    if (cli_pieces_does(pieces)) return fuzz_work(&s, pieces, err);
    /* Large, and out of reach of the workers' kernels; no static, or each command's end would search it for leaks. */
    verify_sums *sums = s.report.sums = calloc(1, sizeof *sums);
    if (sums == NULL) CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to count cases");
    status = sums == NULL ? CNN_OUT_OF_MEMORY : cli_output_open(options, true, &s.output, err);
    status = ranks_agree(pieces->ranks, status, err);
    s.report.output.sink = s.output.sink;
    if (status == CNN_OK) status = cli_output_begin(options, &s.output, err);
    if (status == CNN_OK) status = record_environment(s.output.sink, NULL, options->command_line, err);
    if (status == CNN_OK) {
        status = run(&s, pieces, err);
        fuzz_table(&s, status == CNN_OK);
        exit_status = report_summary(&s.report);
        if (exit_status == EXIT_NOTHING && cli_shard_empty(options, s.report.asked, s.all))
            exit_status = EXIT_HELD;
        else if (exit_status == EXIT_NOTHING)
            explain_nothing();
    }
    if (status == CNN_OK && s.report.write_status != CNN_OK) *err = s.report.write_error, status = err->status;
    exit_status = status == CNN_OK ? cli_output_end(&s.output, exit_status) : cli_fail(err);
    cli_output_close(&s.output);
    cli_ranks_abort(pieces->ranks, status, err);
    free(s.ranks);
    free(sums);
    return exit_status;
}
