/* shard.c: --shard I/N: one part of a command's cases; all parts together are the whole. */
#include "cli.h"

#include <stdlib.h>
#include <unistd.h>

cnn_status cli_shard_read(const cli_options *o, cli_shard *shard, cnn_error *err)
{
    char *slash, *end;
    *shard = (cli_shard){.number = 0, .of = 1};
    if (o->shard == NULL) return CNN_OK;
    const long long number = strtoll(o->shard, &slash, 10);
    const long long of = *slash == '/' ? strtoll(slash + 1, &end, 10) : 0;
    if (slash == o->shard || of < 1 || of > CLI_SHARDS_MAX || *end != '\0' || number < 1 || number > of)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "--shard is '%.64s', but must be I/N, part I of N: 1/N to N/N, with N up to %d", o->shard,
                        CLI_SHARDS_MAX);
    if (o->seed_drawn)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "--shard %.64s needs --seed S, the same for all %lld shards: without it each draws a seed of "
                        "its own, and they are no parts of one run",
                        o->shard, of);
    *shard = (cli_shard){.number = number - 1, .of = of};
    return CNN_OK;
}

int64_t cli_shard_count(const cli_shard *shard, int64_t cases)
{
    if (shard->of <= 1) return cases;
    return cases / shard->of + (cases % shard->of > shard->number);
}

bool cli_shard_empty(const cli_options *o, int64_t own, int64_t all)
{
    if (o->shard == NULL || own > 0 || all == 0) return false;
    fprintf(stderr, "shard %s has no case: there %s %lld in all\n", o->shard, all == 1 ? "is" : "are", (long long)all);
    return true;
}

void cli_shard_mark(const cli_options *o, record_sink *sink)
{
    char host[CNN_NAME_MAX] = "";
    if (o->shard == NULL || sink == NULL) return;
    (void)gethostname(host, sizeof host - 1);
    record_sink_mark(sink, "shard", o->shard);
    record_sink_mark(sink, "host", host);
}
