/* cmd_bench.c: `benchcnn bench`: times single operations. For each problem, direction and type all chosen algorithms
 * are timed by turns and checked; a figure whose outputs were wrong is not shown. */
#include "../cpu/threads.h"
#include "../names.h"
#include "bench/contest.h"
#include "sessions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { CONTENDERS_MAX = 128, REPRO_MAX = 4096 };
static const double usual_min_time = 0.2; /* unless --min-time or a shorter --max-time says otherwise */

typedef struct problem_list {
    cnn_problem *items;
    int count, capacity;
    int given;         /* how many, the first ones, are from --problem */
    int refused;       /* descriptors of files that this suite cannot do */
    cnn_error refusal; /* the first bad line, or --problem too large: the command ends with it, after the others */
} problem_list;

typedef struct bench {
    const cli_options *options;
    measure_params params;
    cli_type_set types;
    uint32_t dirs, ops;
    problem_list problems;
    cli_sessions sessions;
    record_sink *sink;
    cli_progress progress;
    int timed, wrong, failed, unsupported;
    double done, total; /* groups: problem, direction, type */
} bench;

/* ---- Which problems ---- */

static cnn_status add_problem(void *user, const char *text, const cnn_problem *problem, cnn_error *err)
{
    problem_list *list = user;
    if (!problem) {
        bool unsupported = err->status == CNN_UNSUPPORTED;
        list->refused++;
        fprintf(stderr, "%s %s: %s\n", unsupported ? "UNSUPPORTED" : "REFUSED", text, err->message);
        if (!unsupported && list->refusal.status == CNN_OK) list->refusal = *err;
        return CNN_OK;
    }
    if (list->count == list->capacity) {
        int capacity = list->capacity ? 2 * list->capacity : 64;
        cnn_problem *items = realloc(list->items, (size_t)capacity * sizeof *items);
        if (!items) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %d problems", capacity);
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->count++] = *problem;
    return CNN_OK;
}

static cnn_status add_text(bench *b, cnn_op op, const char *text, const cnn_problem_defaults *defaults, cnn_error *err)
{
    cnn_problem problem;
    cnn_status status = cnn_problem_parse(op, text, defaults, &problem, err);
    return status == CNN_OK ? add_problem(&b->problems, text, &problem, err) : status;
}

static cnn_status add_default_problems(bench *b, const cnn_problem_defaults *defaults, cnn_error *err)
{
    static const struct {
        cnn_op op;
        const char *text;
    } table[] = {
#define PROBLEM(op, text) {CNN_OP_##op, text},
#include "bench/default_problems.inc"
#undef PROBLEM
    };
    cnn_status status = CNN_OK;
    for (size_t i = 0; status == CNN_OK && i < sizeof table / sizeof *table; i++)
        if (b->ops & 1u << table[i].op) status = add_text(b, table[i].op, table[i].text, defaults, err);
    return status;
}

/* A descriptor does not say its operation, so those given belong to the one that --op names. */
static cnn_status gather_problems(bench *b, cnn_error *err)
{
    static const char *const modes[] = {"cross_correlation", "convolution"};
    const cnn_name_set mode_names = {"mode", modes, 2};
    const cli_options *o = b->options;
    int mode = cnn_name_find(&mode_names, o->mode, err);
    if (mode < 0) return err->status;
    cnn_problem_defaults defaults = {b->types.types[0], o->no_bias, mode == 1};
    if (o->problem.count + o->problems.count == 0) return add_default_problems(b, &defaults, err);
    if (b->ops & (b->ops - 1))
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--op %s: a problem belongs to one operation; name just that", o->op);
    int op = 0;
    while (!(b->ops & 1u << op)) op++;
    cnn_status status = CNN_OK;
    for (int i = 0; status == CNN_OK && i < o->problem.count; i++)
        status = add_text(b, (cnn_op)op, o->problem.items[i], &defaults, err);
    b->problems.given = b->problems.count;
    for (int i = 0; status == CNN_OK && i < o->problems.count; i++)
        status = cnn_problem_file(o->problems.items[i], (cnn_op)op, &defaults, add_problem, &b->problems, err);
    return status;
}

/* ---- What is shown ---- */

/* Three digits and a unit. */
static void time_text(double seconds, char *text, size_t size)
{
    const char *unit = seconds < 1e-3 ? "µs" : seconds < 1 ? "ms" : "s";
    double value = seconds < 1e-3 ? seconds * 1e6 : seconds < 1 ? seconds * 1e3 : seconds;
    snprintf(text, size, "%.*f %s", value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2, value, unit);
}

/* Appends to a line of REPRO_MAX bytes; what does not fit is left out. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void
append(char *line, const char *format, ...)
{
    size_t used = strlen(line);
    va_list args;
    va_start(args, format);
    vsnprintf(line + used, REPRO_MAX - used, format, args);
    va_end(args);
}

/* Appends " --NAME WORD", the word quoted for a shell. */
static void append_option(char *line, const char *name, const char *word)
{
    append(line, " --%s ", name);
    size_t used = strlen(line);
    cli_quote(line + used, REPRO_MAX - used, word);
}

/* The command that repeats one row. */
static void repro_command(const bench *b, const contender *c, const vf_case *pc, char line[REPRO_MAX])
{
    char text[CNN_PROBLEM_TEXT_MAX], name[2 * CNN_NAME_MAX];
    const cnn_problem *p = &pc->problem;
    const cli_options *o = b->options;
    cnn_problem_format(p, text);
    snprintf(name, sizeof name, "%s:%s", c->session->impl->name, c->algorithm.name);
    snprintf(line, REPRO_MAX, "benchcnn bench");
    append_option(line, "impl", name);
    append(line, " --op %s --dir %s", cnn_op_name(p->op), cnn_dir_name(pc->call.dir));
    append_option(line, "problem", text);
    append(line, " --dtype %s --layout %s --threads %d", cnn_dtype_name(p->u.type.dtype),
           cnn_layout_name(p->u.type.layout), c->session->threads);
    if (p->u.type.math != CNN_MATH_F32) append(line, " --math %s", cnn_math_name(p->u.type.math));
    if (o->no_bias) append(line, " --no-bias");
    if (strcasecmp(o->mode, "convolution") == 0) append(line, " --mode convolution");
    if (b->params.cold) append(line, " --cache cold");
    if (o->seed != 1) append(line, " --seed %lld", (long long)o->seed);
    for (int i = 0; i < o->set.count; i++) append_option(line, "set", o->set.items[i]);
}

static void print_row(const contender *c, const vf_case *pc, bool best, const char *repro)
{
    char name[2 * CNN_NAME_MAX], median[32], noise[32] = "  ?  ";
    const bench_stats *s = &c->result.stats;
    snprintf(name, sizeof name, "%s:%s", c->session->impl->name, c->algorithm.name);
    if (c->state != CONTENDER_TIMED) {
        bool failed = c->state == CONTENDER_FAILED;
        printf("  %-20s %s%s\n", name, failed ? "FAILED: " : "", c->reason);
        if (failed || c->state == CONTENDER_WRONG) printf("  %-20s repeat: %s\n", "", repro);
        return;
    }
    double flops = cnn_flops(&pc->problem, pc->call.dir), bytes = cnn_bytes(&pc->problem, pc->call.dir);
    time_text(s->median, median, sizeof median);
    if (isfinite(s->noise)) snprintf(noise, sizeof noise, "±%4.1f %%", s->noise * 100);
    /* µ takes two bytes: one column more for the padding of printf, which counts bytes */
    printf("  %-20s %*s %s %9.2f GFLOP/s %8.2f GB/s  %s%s%s\n", name, strstr(median, "µ") ? 10 : 9, median, noise,
           flops / s->median * 1e-9, bytes / s->median * 1e-9, verify_state_name(c->result.check.state),
           best ? "  best" : "", bench_noisy(s) ? "  noisy" : "");
}

static void print_heading(const vf_case *pc, const measure_params *params)
{
    char text[CNN_PROBLEM_TEXT_MAX];
    const cnn_problem *p = &pc->problem;
    cnn_problem_format(p, text);
    printf("%s %s %s  %s %s%s%s  %s caches\n", cnn_op_name(p->op), cnn_dir_name(pc->call.dir), text,
           cnn_dtype_name(p->u.type.dtype), cnn_layout_name(p->u.type.layout),
           p->u.type.math == CNN_MATH_F32 ? "" : " ",
           p->u.type.math == CNN_MATH_F32 ? "" : cnn_math_name(p->u.type.math), params->cold ? "cold" : "hot");
}

/* ---- One problem, direction and type ---- */

static cnn_status gather_contenders(bench *b, const cnn_problem *problem, cnn_dir dir, contender *list, int *count,
                                    cnn_error *err)
{
    cnn_algorithm algorithms[CONTENDERS_MAX];
    *count = 0;
    for (int i = 0; i < b->sessions.count; i++) {
        const cnn_session *session = &b->sessions.list[i];
        int found;
        cnn_status status = cnn_algorithms(session, problem, dir, algorithms, CONTENDERS_MAX, &found, err);
        if (status != CNN_OK) return status;
        for (int k = 0; k < found && *count < CONTENDERS_MAX; k++)
            if (cli_chosen(&b->sessions, session, &algorithms[k]))
                list[(*count)++] = (contender){.session = session, .algorithm = algorithms[k]};
    }
    return CNN_OK;
}

static cnn_status report(bench *b, const contender *list, int count, const vf_case *pc, cnn_error *err)
{
    char repro[REPRO_MAX];
    int best = contest_best(list, count);
    if (!b->options->json) print_heading(pc, &b->params);
    for (int i = 0; i < count; i++) {
        const contender *c = &list[i];
        if (c->state == CONTENDER_TIMED)
            b->timed++;
        else if (c->state == CONTENDER_WRONG)
            b->wrong++;
        else if (c->state == CONTENDER_FAILED)
            b->failed++;
        else
            b->unsupported++;
        repro_command(b, c, pc, repro);
        if (!b->options->json) print_row(c, pc, count > 1 && i == best, repro);
        cnn_status status = record_write(b->sink, contender_record(c, pc, &b->params, repro), err);
        if (status != CNN_OK) return status;
    }
    if (!b->options->json) fflush(stdout);
    return CNN_OK;
}

/* The data and the reference's results, made by every core before anything is timed. */
static cnn_status make_case(bench *b, const cnn_problem *problem, cnn_dir dir, vf_case *pc, cnn_error *err)
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
    cnn_problem_format(problem, text);
    cli_progress_show(&b->progress, b->done, b->total, text);
    cnn_status status = gather_contenders(b, problem, dir, list, &count, err);
    if (status == CNN_OK && count == 0) return CNN_OK;
    if (status == CNN_OK) status = make_case(b, problem, dir, &pc, err);
    if (status != CNN_OK) {
        pass_over(b, p, dir, text, err);
        return CNN_OK;
    }
    status = contest_run(list, count, &pc, &b->params, err);
    cli_progress_end(&b->progress);
    if (status == CNN_OK) status = report(b, list, count, &pc, err);
    contest_close(list, count);
    vf_case_free(&pc);
    return status;
}

static cnn_status run_all(bench *b, cnn_error *err)
{
    for (int i = 0; i < b->sessions.count; i++) {
        cnn_status status = record_environment(b->sink, &b->sessions.list[i], b->options->command_line, err);
        if (status != CNN_OK) return status;
    }
    b->total = (double)b->problems.count * b->types.count * CNN_DIR_COUNT;
    cli_progress_start(&b->progress, "bench", b->options->quiet);
    for (int p = 0; p < b->problems.count; p++)
        for (int t = 0; t < b->types.count; t++)
            for (int dir = 0; dir < CNN_DIR_COUNT; dir++, b->done++) {
                cnn_problem problem = b->problems.items[p];
                problem.u.type = b->types.types[t];
                if (!(b->dirs & cnn_op_dirs(&problem) & 1u << dir)) continue;
                cnn_status status = run_group(b, p, &problem, (cnn_dir)dir, err);
                if (cli_interrupted()) return CNN_FAIL(err, CNN_INTERRUPTED, "interrupted; what was timed is recorded");
                if (status != CNN_OK) return status;
            }
    return CNN_OK;
}

static cnn_status set_up(bench *b, cnn_error *err)
{
    const cli_options *o = b->options;
    b->params = (measure_params){.min_time = o->min_time >= 0 ? o->min_time : fmin(usual_min_time, o->max_time),
                                 .max_time = o->max_time,
                                 .noise = MEASURE_NOISE,
                                 .cold = strcasecmp(o->cache, "cold") == 0,
                                 .stop = cli_interrupted};
    if (cli_no_words(o, err) != CNN_OK) return err->status;
    if (b->params.min_time > b->params.max_time)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--min-time is %g s, but may not be more than --max-time, which is %g s",
                        o->min_time, o->max_time);
    if (!b->params.cold && strcasecmp(o->cache, "hot") != 0)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--cache is '%.64s', but must be hot or cold", o->cache);
    cnn_status status = cli_types(o, &b->types, err);
    if (status == CNN_OK && (b->dirs = cli_dirs(o, err)) == 0) status = err->status;
    if (status == CNN_OK && (b->ops = cli_ops(o, err)) == 0) status = err->status;
    if (status == CNN_OK) status = gather_problems(b, err);
    if (status == CNN_OK) status = record_sink_open(o->out, o->json, &b->sink, err);
    if (status == CNN_OK) status = cli_sessions_open(o, true, &b->sessions, err);
    return status;
}

int cmd_bench(const cli_options *options, cnn_error *err)
{
    bench *b = calloc(1, sizeof *b);
    if (!b) {
        CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for bench");
        return cli_fail(err);
    }
    b->options = options;
    cnn_status status = set_up(b, err);
    if (status == CNN_OK) status = run_all(b, err);
    cli_progress_end(&b->progress);
    if (status == CNN_OK && !options->json)
        printf("%d timed and verified, %d wrong, %d failed, %d not supported\n", b->timed, b->wrong, b->failed,
               b->unsupported + b->problems.refused);
    int result = status != CNN_OK ? cli_fail(err) : b->timed > 0 ? EXIT_HELD : EXIT_NOTHING;
    if (status == CNN_OK && b->problems.refusal.status != CNN_OK) result = cli_fail(&b->problems.refusal);
    if (status == CNN_OK && b->wrong + b->failed > 0) result = EXIT_FAILED;
    cli_sessions_close(&b->sessions);
    record_sink_close(b->sink);
    free(b->problems.items);
    free(b);
    return result;
}
