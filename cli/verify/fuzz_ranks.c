/* fuzz_ranks.c: `mpirun -n N benchcnn verify --fuzz M`: rank 0 gives blocks of cases, and does with what comes of each
 * case what it does in one process: counts, shrinks, tells. A block that is done is a record, from which a run that was
 * stopped goes on. */
#include "fuzz.h"

#include "harness/base/text.h"
#include "harness/cpu/limits.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char states[] = "USPMF"; /* verify_state, a letter each */

/* No session is open here that could tell: a process that has used a GPU cannot be forked. */
static cnn_status gather_ranks(fuzz_session *s, cli_pieces *pieces, cnn_error *err)
{
    fuzz_rank mine;
    memset(&mine, 0, sizeof mine); /* all of it is sent */
    (void)gethostname(mine.host, sizeof mine.host - 1);
    (void)cpu_model(mine.device, (int)sizeof mine.device);
    for (int i = 0; i < s->space.n_impls; i++)
        if (s->space.impls[i]->device_kind == CNN_DEVICE_CUDA)
            snprintf(mine.device, sizeof mine.device, "device %d", s->space.device);
    s->ranks = calloc((size_t)rank_size(pieces->ranks), sizeof *s->ranks);
    if (s->ranks == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for ranks");
    return ranks_gather(pieces->ranks, &mine, sizeof mine, s->ranks, err);
}

cnn_status fuzz_agree(fuzz_session *s, cli_pieces *pieces, cnn_status status, cnn_error *err)
{
    char names[2048] = "";
    if (pieces->ranks == NULL) return status;
    status = ranks_agree(pieces->ranks, status, err);
    if (status == CNN_OK) status = gather_ranks(s, pieces, err);
    for (int i = 0; i < s->space.n_impls; i++) cnn_append(names, sizeof names, "%s ", s->space.impls[i]->name);
    if (status != CNN_OK) return status;
    return cli_ranks_alike(pieces->ranks, "other implementations that can run", names, sizeof names,
                           "name with --impl what all hosts can run", err);
}

/* ---- A rank that runs cases. */

typedef struct collected {
    worker_message list[FUZZ_BLOCK];
    int count;
} collected;

static bool collect(void *user, const worker_message *message)
{
    collected *c = user;
    if (c->count < FUZZ_BLOCK) c->list[c->count++] = *message;
    return true;
}

static bool stopped(void *user)
{
    (void)user;
    return interrupt_seen();
}

static cnn_status run_block(fuzz_session *s, int64_t block, collected *c, cnn_error *err)
{
    workers_job job = s->job;
    job.first = block * FUZZ_BLOCK;
    if (job.count - job.first > FUZZ_BLOCK) job.count = job.first + FUZZ_BLOCK;
    job.block = (job.count - job.first + job.workers - 1) / job.workers;
    job.each = collect;
    job.stop = stopped;
    job.each_user = c;
    c->count = 0;
    const cnn_status status = workers_run(&job, err);
    if (status != CNN_OK || !interrupt_seen()) return status;
    return CNN_FAIL(err, CNN_INTERRUPTED, "interrupted; what was finished is recorded");
}

int fuzz_work(fuzz_session *s, cli_pieces *pieces, cnn_error *err)
{
    static collected c; /* large: kept off the stack */
    cnn_status status = ranks_agree(pieces->ranks, CNN_OK, err);
    if (status != CNN_OK) return EXIT_FAILED;
    for (int64_t block; status == CNN_OK && (block = cli_pieces_next(pieces)) < INT64_MAX;) {
        status = run_block(s, block, &c, err);
        fwrite(c.list, sizeof *c.list, (size_t)c.count, pieces->stream[PIECE_RECORDS]);
        cli_pieces_done(pieces, "");
    }
    cli_ranks_abort(pieces->ranks, status, err);
    cli_pieces_end(pieces, 0, NULL, 0);
    return EXIT_HELD;
}

/* ---- Rank 0. */

typedef struct giving {
    fuzz_session *s;
    int64_t next;
} giving;

static int64_t next_block(void *user)
{
    giving *g = user;
    const workers_job *job = &g->s->job;
    while (resume_has(g->s->output.resume, g->next)) g->next++;
    if (job->stop(job->each_user) || g->next > (job->count - 1) / FUZZ_BLOCK) return INT64_MAX;
    return g->next++;
}

/* "ATTEMPT,STATE,FAILED,RESULT,ALGORITHM,CHECK" for each case; what is said of those that did not pass. */
static cnn_status write_block(giving *g, int64_t block, const worker_message *list, int count, cnn_error *err)
{
    record_pair reasons[FUZZ_BLOCK];
    char *text = NULL;
    size_t size;
    int n_reasons = 0;
    FILE *stream = open_memstream(&text, &size);
    for (int i = 0; stream && i < count; i++) {
        const fuzz_outcome *o = &list[i].outcome;
        fprintf(stream, "%s%d,%c,%x,%d,%s,%s", i > 0 ? " " : "", list[i].attempt, states[o->state], o->failed,
                list[i].result, o->algorithm, o->state == VERIFY_PASSED ? "" : o->check);
        if (o->state == VERIFY_PASSED || o->reason[0] == '\0') continue;
        snprintf(reasons[n_reasons].key, sizeof reasons->key, "%d", i);
        snprintf(reasons[n_reasons++].value, sizeof reasons->value, "%.*s", (int)sizeof reasons->value - 1, o->reason);
    }
    if (stream == NULL || fclose(stream) != 0) {
        free(text);
        return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a record");
    }
    cnn_record *record = record_new("case");
    record_int(record, "number", block);
    record_text(record, "state", "BLOCK");
    record_text(record, "cases", text);
    if (n_reasons > 0) record_text_pairs(record, "reasons", reasons, n_reasons);
    free(text);
    return record_write(g->s->output.sink, record, err);
}

static int by_index(const void *a, const void *b)
{
    const int64_t x = ((const worker_message *)a)->index, y = ((const worker_message *)b)->index;
    return (x > y) - (x < y);
}

/* What a kernel may have written over is no index and no text yet. */
static bool is_sound(const giving *g, worker_message *m)
{
    fuzz_outcome *o = &m->outcome;
    o->algorithm[sizeof o->algorithm - 1] = o->check[sizeof o->check - 1] = '\0';
    o->reason[sizeof o->reason - 1] = o->worst[sizeof o->worst - 1] = '\0';
    return m->index >= 0 && m->index < g->s->job.count && o->state <= VERIFY_FAILED;
}

static cnn_status take_block(void *user, const piece_report *report, cnn_error *err)
{
    static worker_message list[FUZZ_BLOCK]; /* large: kept off the stack */
    giving *g = user;
    record_sink *sink = g->s->output.sink;
    const size_t count = report->size[PIECE_RECORDS] / sizeof *list;
    cnn_status status = CNN_OK;
    if (report->number < 0) return CNN_OK;
    if (count > FUZZ_BLOCK || report->size[PIECE_RECORDS] != count * sizeof *list)
        return CNN_FAIL(err, CNN_INTERNAL, "rank %d sends %zu bytes that are no cases", report->from,
                        report->size[PIECE_RECORDS]);
    memcpy(list, report->part[PIECE_RECORDS], count * sizeof *list);
    qsort(list, count, sizeof *list, by_index);
    record_sink_mark(sink, "host", g->s->ranks[report->from].host);
    record_sink_mark_int(sink, "rank", report->from);
    record_sink_mark(sink, "rank_device", g->s->ranks[report->from].device);
    for (size_t i = 0; i < count && status == CNN_OK; i++) {
        if (!is_sound(g, &list[i]))
            status = CNN_FAIL(err, CNN_INTERNAL, "rank %d tells of a case that is none", report->from);
        else if (!g->s->job.each(g->s->job.each_user, &list[i]))
            *err = g->s->report.write_error, status = err->status;
    }
    if (status == CNN_OK && g->s->options->out != NULL) status = write_block(g, report->number, list, (int)count, err);
    record_sink_unmark(sink);
    return status;
}

/* ---- What an earlier run has done. */

/* Of "ATTEMPT,STATE,...", up to a blank. */
static bool read_case(const char *at, worker_message *m)
{
    fuzz_outcome *o = &m->outcome;
    char state;
    int names = 0;
    if (sscanf(at, "%d,%c,%x,%d,%n", &m->attempt, &state, &o->failed, &m->result, &names) < 4 || names == 0)
        return false;
    const char *found = strchr(states, state), *algorithm = at + names, *comma = strchr(algorithm, ',');
    if (found == NULL || state == '\0' || comma == NULL) return false;
    o->state = (verify_state)(found - states);
    snprintf(o->algorithm, sizeof o->algorithm, "%.*s", (int)(comma - algorithm), algorithm);
    snprintf(o->check, sizeof o->check, "%.*s", (int)strcspn(comma + 1, " "), comma + 1);
    return true;
}

/* Its failures were told and recorded. */
static cnn_status restore_block(void *user, const cnn_record *record, cnn_error *err)
{
    static worker_message m; /* large: kept off the stack */
    fuzz_session *s = user;
    const char *at = record_get_text(record, "cases");
    const int64_t first = (int64_t)record_get_real(record, "number") * FUZZ_BLOCK;
    fuzz_case c;
    for (int i = 0; at != NULL && i < FUZZ_BLOCK; i++, at = strchr(at, ' '), at = at != NULL ? at + 1 : NULL) {
        char key[16];
        m = (worker_message){.index = first + i};
        if (!read_case(at, &m))
            return CNN_FAIL(err, CNN_BAD_FORMAT, "block %lld of an earlier run cannot be read",
                            (long long)first / FUZZ_BLOCK);
        snprintf(key, sizeof key, "%d", i);
        const char *reason = record_get_inner_text(record, "reasons", key);
        snprintf(m.outcome.reason, sizeof m.outcome.reason, "%s", reason != NULL ? reason : "");
        fuzz_draw(&s->space, s->seed, m.index, m.attempt, &c);
        fuzz_count(s, &c, &m);
        fuzz_kind *kind = m.outcome.state == VERIFY_FAILED ? fuzz_kind_of(s, &c, &m) : NULL;
        if (kind != NULL) kind->count++;
    }
    return CNN_OK;
}

cnn_status fuzz_give(fuzz_session *s, cli_pieces *pieces, cnn_error *err)
{
    giving g = {.s = s};
    const cli_giver giver = {&g, next_block, take_block};
    int64_t all;
    cnn_status status = resume_each_case(s->output.resume, restore_block, s, err);
    if (s->done > 0 && !s->options->quiet) fprintf(stderr, "%lld cases were finished before\n", (long long)s->done);
    return status == CNN_OK ? cli_pieces_give(pieces, &giver, &all, err) : status;
}
