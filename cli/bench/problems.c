/* problems.c: which problems are to be timed, and how long: what `bench` and `sweep` have in common. */
#include "cli/table.h"
#include "harness/problem/names.h"
#include "parts.h"
#include "verify/verify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool bench_next_place(bench *b)
{
    const int64_t place = b->place++;
    const bool own =
        b->pieces != NULL ? cli_pieces_mine(b->pieces, b->base + place - b->first) : cli_shard_has(&b->shard, place);
    b->own += own;
    return own;
}

/* Over ranks rank 0 tells of all. */
static bool next_refused(bench *b)
{
    if (b->pieces == NULL) return bench_next_place(b);
    b->place++;
    return cli_pieces_gives(b->pieces);
}

/* Bad words of files are told, counted, and leave the list. */
static void drop_refused(bench *b)
{
    const problem_entry *all = b->problems.items;
    int left = 0;
    for (int i = 0; i < b->problems.count; i++) {
        const problem_entry *e = &all[i];
        if (!e->refused) b->problems.items[left++] = *e;
        if (!e->refused || !next_refused(b)) continue;
        b->refused++;
        if (!b->silent) table_put(stderr, "%s %s: %s\n", e->malformed ? "REFUSED" : "UNSUPPORTED", e->text, e->why);
        if (e->malformed && b->refusal.status == CNN_OK) CNN_FAIL(&b->refusal, CNN_BAD_FORMAT, "%s", e->why);
    }
    b->problems.count = left;
    b->first = b->place;
}

static cnn_status add_default_problems(bench *b, const cnn_problem_defaults *defaults, cnn_error *err)
{
    static const verify_default table[] = {
#define PROBLEM(op, text) {CNN_OP_##op, text},
#include "bench/default_problems.inc"
#undef PROBLEM
    };
    cnn_status status = CNN_OK;
    for (size_t i = 0; status == CNN_OK && i < sizeof table / sizeof *table; i++)
        if (b->ops & 1u << table[i].op)
            status = cli_add_problem(&b->problems, table[i].op, table[i].text, defaults, false, err);
    return status;
}

static cnn_status load_networks(bench *b, cnn_error *err)
{
    const cli_options *o = b->options;
    int64_t batch = 100;
    int count = 1;
    cnn_status status = o->batch ? cli_ints("batch", o->batch, 1, 1 << 20, &batch, 1, &count, err) : CNN_OK;
    for (int t = 0; status == CNN_OK && t < b->types.count; t++)
        status = cnn_net_load(o->net, &b->types.types[t], batch, (uint64_t)o->seed, &b->networks[t], err);
    return status;
}

/* Layers that do the same work are one problem, whatever their names. */
static bool has(const problem_list *list, const cnn_problem *problem)
{
    char text[CNN_PROBLEM_TEXT_MAX], other[CNN_PROBLEM_TEXT_MAX];
    cnn_problem work = cnn_problem_work(problem);
    cnn_problem_format(&work, text);
    for (int i = 0; i < list->count; i++) {
        const cnn_problem *old = &list->items[i].problem;
        work = cnn_problem_work(old);
        cnn_problem_format(&work, other);
        if (old->op == problem->op && strcmp(text, other) == 0) return true;
    }
    return false;
}

static cnn_status add_layers(bench *b, cnn_error *err)
{
    cnn_status status = load_networks(b, err);
    for (int i = 0; status == CNN_OK && i < b->networks[0]->net.n_layers; i++) {
        const cnn_problem *problem = &b->networks[0]->net.layers[i].problem;
        if (!(b->ops & 1u << problem->op) || has(&b->problems, problem)) continue;
        status = cli_put_problem(&b->problems, problem, err);
    }
    if (status != CNN_OK || b->problems.count > 0) return status;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--net %s has no layer of the operations that --op names", b->options->net);
}

static cnn_status check_caches(const cli_options *o, bool in_network, cnn_error *err)
{
    if (strcmp(o->cache, "network") != 0 || (in_network && o->net)) return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                    in_network ? "--cache network times an operation within a network's layers: name it, --net"
                               : "--cache is network, but for a sweep must be hot or cold");
}

cnn_status bench_read_params(bench *b, double warm_up, bool in_network, cnn_error *err)
{
    const double default_min_time = 0.2; /* unless --min-time or a shorter --max-time says otherwise */
    const cli_options *o = b->options;
    if (cli_shard_read(o, &b->shard, err) != CNN_OK) return err->status;
    b->params = (measure_params){.min_time = o->min_time >= 0 ? o->min_time : fmin(default_min_time, o->max_time),
                                 .max_time = o->max_time,
                                 .noise = MEASURE_NOISE,
                                 .warm_up = o->warm_up >= 0 ? o->warm_up : fmin(warm_up, o->max_time),
                                 .cold = strcmp(o->cache, "cold") == 0,
                                 .stop = interrupt_seen,
                                 .control = o->round == 0, /* a round has an arm for that */
                                 .samples = o->samples};
    if (o->counters && counters_parse(o->counters, &b->events, err) != CNN_OK) return err->status;
    if (o->counters && strcmp(o->cache, "hot") != 0)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--counters counts runs one behind the other: not with --cache %s",
                        o->cache);
    if (b->params.min_time <= b->params.max_time) return check_caches(o, in_network, err);
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--min-time is %g s, but may not be more than --max-time, which is %g s",
                    o->min_time, o->max_time);
}

static cnn_status keep_matching(bench *b, cnn_error *err)
{
    const cnn_status status = cli_keep_matching(b->options, &b->problems, err);
    if (status != CNN_OK || !b->options->match || b->problems.count > 0) return status;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--match '%.128s' matches none of the problems", b->options->match);
}

cnn_status bench_gather_problems(bench *b, cnn_error *err)
{
    const cli_options *o = b->options;
    const bool own = o->problem.count + o->problems.count > 0;
    cnn_problem_defaults defaults = cli_problem_defaults(o, &b->types.types[0]);
    cnn_status status = cli_epilogue(o, &defaults.epilogue, err);
    if (status != CNN_OK) return status;
    if ((b->dirs = cli_dirs(o, err)) == 0 || (b->ops = cli_ops(o, err)) == 0) return err->status;
    if (o->batch && !o->net)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--batch %.32s is a network's batch: name it, --net", o->batch);
    if (!own && o->net && o->epilogue)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--epilogue %.64s beside --net %.64s: a network's layers have none",
                        o->epilogue, o->net);
    if (!own && o->net) return (status = add_layers(b, err)) == CNN_OK ? keep_matching(b, err) : status;
    if (own && o->net && strcmp(o->cache, "network") != 0)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "--%s beside --net %.64s: either the network's layers are timed, or, with --cache network, a "
                        "problem within them",
                        o->problem.count > 0 ? "problem" : "problems", o->net);
    if (o->net) status = load_networks(b, err);
    if (status == CNN_OK && !own)
        status = cli_one_batch(o, "a list needs problems of your own: --problem or --problems", err);
    if (status == CNN_OK)
        status =
            own ? cli_read_problems(o, &b->types.types[0], &b->problems, err) : add_default_problems(b, &defaults, err);
    if (status == CNN_OK) status = keep_matching(b, err);
    if (status == CNN_OK) drop_refused(b);
    return status;
}
