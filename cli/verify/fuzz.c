/* fuzz.c: `benchcnn verify --fuzz N`: what is drawn from, the workers, the end. */
#include "fuzz.h"
#include "cli/problems.h"
#include "cli/table.h"

#include "harness/base/clock.h"
#include "harness/cpu/threads.h"
#include "harness/problem/names.h"

#include <math.h>
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
    return fuzz_runner_new(&s->space, cli_interrupted);
}

static void finish(void *state) { fuzz_runner_free(state); }

static cnn_status work(void *user, void *state, int64_t index, worker_message *message)
{
    const fuzz_session *s = user;
    fuzz_case drawn;
    cnn_error err;
    if (s->alone == NULL) fuzz_draw(&s->space, s->seed, index, &drawn);
    return fuzz_run(state, s->alone != NULL ? s->alone : &drawn, s->checks, &message->outcome, &err);
}

/* Whether the implementation can be opened here: a worker tries, since a process that has used a GPU cannot be forked.
 */
static cnn_status try_to_open(void *user, void *state, int64_t index, worker_message *message)
{
    const fuzz_session *s = user;
    const cnn_session_params params = cli_session_params(s->options);
    cnn_session session;
    cnn_error err;
    (void)state;
    message->result = (int)cnn_session_open(s->space.impls[index], &params, &session, &err);
    if (message->result == CNN_OK)
        cnn_session_close(&session);
    else
        snprintf(message->outcome.reason, sizeof message->outcome.reason, "%s", err.message);
    return CNN_OK;
}

/* ---- What is drawn from. */

/* Options whose default is not what fuzzing wants: were they given? */
static bool given(const cli_options *o, const char *option)
{
    char word[64];
    const int length = snprintf(word, sizeof word, " --%s", option);
    for (const char *at = o->command_line; (at = strstr(at, word)) != NULL; at += length)
        if (at[length] == ' ' || at[length] == '=' || at[length] == '\0') return true;
    return false;
}

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
    if (!given(o, "dtype")) space->dtypes = (1u << CNN_DTYPE_COUNT) - 1;
    if (!given(o, "layout")) space->layouts = (1u << CNN_LAYOUT_COUNT) - 1;
    if (!given(o, "math")) space->maths = 0;
    return status;
}

/* The chosen implementations that can run here; one that was named must. */
static cnn_status choose_impls(fuzz_session *s, cnn_error *err)
{
    fuzz_space *space = &s->space;
    const bool by_name = s->options->impl != NULL && strpbrk(s->options->impl, "*?[") == NULL;
    const workers_job job = {
        .user = s, .block = 1, .seconds = 60, .start = start, .finish = finish, .work = try_to_open};
    int kept = 0;
    for (int i = 0; i < s->n_choices; i++) {
        bool known = false;
        for (int k = 0; k < space->n_impls; k++) known = known || space->impls[k] == s->choices[i].impl;
        if (!known) space->impls[space->n_impls++] = s->choices[i].impl;
    }
    for (int i = 0; i < space->n_impls; i++) {
        worker_message message;
        cnn_status status = workers_alone(&job, i, &message, err);
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
    space->n_impls = kept;
    if (kept > 0) return CNN_OK;
    return CNN_FAIL(err, CNN_UNAVAILABLE, "no implementation can run here; see `benchcnn list`");
}

cnn_status verify_fuzz_args(const cli_options *o, bool *flip, cnn_error *err)
{
    cnn_problem_defaults defaults;
    const char *ignored = o->net != NULL          ? "net"
                          : o->problem.count > 0  ? "problem"
                          : o->problems.count > 0 ? "problems"
                                                  : NULL;
    if (ignored != NULL)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--%s does not go with --fuzz, which draws its own problems", ignored);
    if (cli_problem_defaults(o, &(cnn_type){.dtype = CNN_F32}, &defaults, err) != CNN_OK) return err->status;
    *flip = defaults.flip;
    return cli_no_words(o, err);
}

static cnn_status set_up(fuzz_session *s, cnn_error *err)
{
    const cli_options *o = s->options;
    s->space = (fuzz_space){.chosen = is_chosen,
                            .user = s,
                            .no_bias = o->no_bias,
                            .threads = (int)o->threads,
                            .device = (int)o->device,
                            .settings = o->set.items,
                            .n_settings = o->set.count};
    cnn_status status = verify_fuzz_args(o, &s->space.flip, err);
    if (status == CNN_OK && (s->checks = verify_checks_parse(o->check, err)) == 0) status = err->status;
    s->space.ops = o->op == NULL ? (1u << CNN_OP_COUNT) - 1 : cli_ops(o, err);
    if (status == CNN_OK && s->space.ops == 0) status = err->status;
    s->space.dirs = cli_dirs(o, err);
    if (status == CNN_OK && s->space.dirs == 0) status = err->status;
    if (status == CNN_OK) status = choose_types(o, &s->space, err);
    if (status == CNN_OK) status = cnn_settings_check(o->registry, o->set.items, o->set.count, err);
    if (status == CNN_OK) status = cnn_choices_parse(o->registry, o->impl, s->choices, &s->n_choices, err);
    return status == CNN_OK ? choose_impls(s, err) : status;
}

/* ---- The run. */

static bool take(void *user, const worker_message *message)
{
    fuzz_session *s = user;
    fuzz_case c;
    char note[CNN_PROBLEM_TEXT_MAX];
    double done = 0.0;
    fuzz_draw(&s->space, s->seed, message->index, &c);
    fuzz_count(s, &c, message);
    if (message->outcome.state == VERIFY_FAILED) fuzz_failure(s, &c, message);
    for (int i = 0; i <= VERIFY_FAILED; i++) done += (double)s->tally.cases[i];
    snprintf(note, sizeof note, "%lld failed", (long long)s->tally.cases[VERIFY_FAILED]);
    cli_progress_show(&s->progress, done, (double)s->options->fuzz, note);
    return s->status == CNN_OK;
}

static bool enough(void *user)
{
    const fuzz_session *s = user;
    const double limit = s->options->fuzz_time;
    return cli_interrupted() || (limit > 0.0 && cnn_now() - s->tally.started > limit);
}

/* GPUs are not shared between workers; CPU cases are small, so that a worker a core is what fills the machine. */
static int count_workers(const fuzz_session *s)
{
    int workers = s->options->jobs > 0 ? (int)s->options->jobs : cpu_count();
    for (int i = 0; i < s->space.n_impls; i++)
        if (s->options->jobs == 0 && s->space.impls[i]->device_kind == CNN_DEVICE_CUDA) workers = 1;
    return workers;
}

static cnn_status run(fuzz_session *s, cnn_error *err)
{
    s->job = (workers_job){.workers = count_workers(s),
                           .count = s->options->fuzz,
                           .block = FUZZ_BLOCK,
                           .seconds = CASE_SECONDS,
                           .user = s,
                           .start = start,
                           .finish = finish,
                           .work = work,
                           .each = take,
                           .stop = enough,
                           .each_user = s};
    s->tally.started = cnn_now();
    cli_progress_start(&s->progress, "fuzz", s->options->quiet);
    cnn_status status = workers_run(&s->job, err);
    cli_progress_end(&s->progress);
    if (status == CNN_OK && s->status != CNN_OK) *err = s->error, status = s->status;
    if (status == CNN_OK && cli_interrupted())
        status = CNN_FAIL(err, CNN_INTERRUPTED, "interrupted; what was found stands above");
    return status;
}

int verify_fuzz(const cli_options *options, cnn_error *err)
{
    static fuzz_session s; /* large: kept off the stack */
    s = (fuzz_session){.options = options, .seed = (uint64_t)options->seed};
    cnn_status status = set_up(&s, err);
    if (status != CNN_OK) return cli_fail(err);
    int exit_status = EXIT_HELD;
    status = cli_output_open(options, &s.output, err);
    if (status == CNN_OK) status = cli_output_begin(&s.output, err);
    if (status == CNN_OK) status = record_environment(s.output.sink, NULL, options->command_line, err);
    if (status == CNN_OK) {
        status = run(&s, err);
        exit_status = fuzz_summary(&s);
    }
    if (status == CNN_OK && s.status != CNN_OK) *err = s.error, status = s.status;
    exit_status = status == CNN_OK ? cli_output_end(&s.output, exit_status) : cli_fail(err);
    cli_output_close(&s.output);
    return exit_status;
}
