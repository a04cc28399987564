/* pieces.c: see pieces.h. */
#include "pieces.h"

#include "bench/measure/clocks.h"
#include "harness/base/text.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct header {
    int64_t last, number, all, size[PIECE_PARTS];
    char state[PIECE_STATE_MAX];
} header;

/* ---- Opening. */

static cnn_status redirect(cli_pieces *p, cli_options *own, cnn_error *err)
{
    for (int i = 0; i < PIECE_SUMS; i++)
        if ((p->stream[i] = open_memstream(&p->bytes[i], &p->size[i])) == NULL)
            return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for what a rank prints");
    p->silent = stdout;
    own->records = p->stream[PIECE_RECORDS];
    stdout = p->stream[PIECE_OUT];
    stderr = p->stream[PIECE_ERR];
    return CNN_OK;
}

cnn_status cli_pieces_open(const cli_options *options, cli_options *own, cli_pieces *p, cnn_error *err)
{
    *p = (cli_pieces){.given = -1, .done = -1};
    *own = *options;
    cnn_status status = cli_ranks_open_giver(options, own, &p->ranks, err);
    if (status != CNN_OK || p->ranks == NULL) return status;
    if (p->ranks->size == 1) {
        p->alone = p->ranks;
        p->ranks = NULL;
        *own = *options;
        return CNN_OK;
    }
    if (options->shard != NULL)
        status = CNN_FAIL(err, CNN_BAD_ARGUMENT, "--shard %.64s does not go with %d ranks, which share out all cases",
                          options->shard, p->ranks->size);
    own->quiet = options->quiet;
    own->json = options->json;
    own->over_ranks = true;
    p->threads = (int)own->threads;
    if (status == CNN_OK) status = ranks_agree(p->ranks, cli_settle_seed(own, err), err); /* of rank 0's file */
    if (status == CNN_OK) status = ranks_broadcast(p->ranks, &own->seed, sizeof own->seed, err);
    if (status == CNN_OK && p->ranks->rank > 0) status = redirect(p, own, err);
    return ranks_agree(p->ranks, status, err);
}

void cli_pieces_close(cli_pieces *p)
{
    ranks_close(p->ranks);
    ranks_close(p->alone);
    if (p->silent != NULL) stdout = stderr = p->silent;
    for (int i = 0; i < PIECE_SUMS; i++) {
        if (p->stream[i] == NULL) continue;
        fclose(p->stream[i]);
        free(p->bytes[i]);
    }
}

cnn_status cli_pieces_alike(cli_pieces *p, const char *names, cnn_error *err)
{
    enum { NAMES_MAX = 2048 };
    char mine[NAMES_MAX] = "";
    cnn_status status = CNN_OK;
    if (p->ranks == NULL) return CNN_OK;
    char *all = calloc((size_t)p->ranks->size, NAMES_MAX);
    if (all == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %d ranks", p->ranks->size);
    snprintf(mine, sizeof mine, "%s", names);
    status = ranks_gather(p->ranks, mine, sizeof mine, all, err);
    for (int i = 2; i < p->ranks->size && status == CNN_OK; i++)
        if (strcmp(all + (size_t)i * NAMES_MAX, all + NAMES_MAX) != 0)
            status = CNN_FAIL(err, CNN_BAD_ARGUMENT,
                              "rank %d can run %.120s, and rank 1 %.120s: name with --impl what all hosts can run", i,
                              all + (size_t)i * NAMES_MAX, all + NAMES_MAX);
    free(all);
    return ranks_agree(p->ranks, status, err);
}

void cli_pieces_mark(const cli_pieces *p, const cnn_session *session, record_sink *sink)
{
    char host[CNN_NAME_MAX] = "", name[CNN_NAME_MAX], bus[CNN_NAME_MAX], device[2 * CNN_NAME_MAX + 2];
    if (p->ranks == NULL) return;
    (void)gethostname(host, sizeof host - 1);
    machine_name(session, name, sizeof name);
    machine_fact(session, "pci_bus_id", bus, sizeof bus);
    snprintf(device, sizeof device, "%s%s%s", name, bus[0] != '\0' ? " " : "", bus);
    record_sink_mark(sink, "host", host);
    record_sink_mark_int(sink, "rank", p->ranks->rank);
    record_sink_mark(sink, "rank_device", device);
}

/* ---- A rank that does pieces. */

static void send_report(cli_pieces *p, const header *h, const void *sums)
{
    cnn_error err;
    size_t size = sizeof *h;
    for (int i = 0; i < PIECE_PARTS; i++) size += (size_t)h->size[i];
    char *message = malloc(size), *at = message;
    cnn_status status = message != NULL ? CNN_OK : CNN_FAIL(&err, CNN_OUT_OF_MEMORY, "no memory for a report");
    if (status == CNN_OK) at = (char *)memcpy(at, h, sizeof *h) + sizeof *h;
    for (int i = 0; status == CNN_OK && i < PIECE_PARTS; i++) {
        const void *from = i == PIECE_SUMS ? sums : p->bytes[i];
        if (h->size[i] > 0) memcpy(at, from, (size_t)h->size[i]);
        at += h->size[i];
    }
    if (status == CNN_OK) status = ranks_send(p->ranks, 0, message, size, &err);
    free(message);
    cli_ranks_abort(p->ranks, status, &err);
}

static void report(cli_pieces *p, header *h, const void *sums)
{
    h->number = p->done;
    memcpy(h->state, p->state, sizeof h->state);
    for (int i = 0; i < PIECE_SUMS; i++) {
        fflush(p->stream[i]);
        h->size[i] = (int64_t)p->size[i];
    }
    send_report(p, h, sums);
    for (int i = 0; i < PIECE_SUMS; i++) rewind(p->stream[i]);
    p->done = -1;
    p->state[0] = '\0';
}

int64_t cli_pieces_next(cli_pieces *p)
{
    header h = {.all = -1};
    cnn_error err;
    void *bytes;
    size_t size;
    int from;
    report(p, &h, NULL);
    cnn_status status = ranks_receive(p->ranks, &from, &bytes, &size, &err);
    if (status == CNN_OK && size != sizeof p->given)
        status = CNN_FAIL(&err, CNN_INTERNAL, "rank 0 answers with %zu bytes", size);
    cli_ranks_abort(p->ranks, status, &err);
    memcpy(&p->given, bytes, sizeof p->given);
    free(bytes);
    return p->given;
}

bool cli_pieces_mine(cli_pieces *p, int64_t number)
{
    while (p->given < number) (void)cli_pieces_next(p);
    return p->given == number;
}

void cli_pieces_done(cli_pieces *p, const char *state)
{
    p->done = p->given;
    snprintf(p->state, sizeof p->state, "%s", state);
}

void cli_pieces_end(cli_pieces *p, int64_t all, const void *sums, size_t size)
{
    header h = {.last = 1, .all = all, .size[PIECE_SUMS] = (int64_t)size};
    report(p, &h, sums);
}

/* ---- Rank 0. */

static cnn_status read_report(const char *bytes, size_t size, piece_report *r, cnn_error *err)
{
    header h;
    size_t at = sizeof h;
    if (size < sizeof h) return CNN_FAIL(err, CNN_INTERNAL, "rank %d sends a report of %zu bytes", r->from, size);
    memcpy(&h, bytes, sizeof h);
    r->last = h.last != 0;
    r->number = h.number;
    r->all = h.all;
    snprintf(r->state, sizeof r->state, "%.*s", (int)sizeof h.state - 1, h.state);
    for (int i = 0; i < PIECE_PARTS; i++) {
        if (h.size[i] < 0 || (size_t)h.size[i] > size - at)
            return CNN_FAIL(err, CNN_INTERNAL, "rank %d sends a report that is too short", r->from);
        r->part[i] = bytes + at;
        r->size[i] = (size_t)h.size[i];
        at += (size_t)h.size[i];
    }
    return CNN_OK;
}

static cnn_status serve(cli_pieces *p, const cli_giver *giver, piece_report *r, cnn_error *err)
{
    void *bytes;
    size_t size;
    cnn_status status = ranks_receive(p->ranks, &r->from, &bytes, &size, err);
    if (status == CNN_OK) status = read_report(bytes, size, r, err);
    if (status == CNN_OK) status = giver->take(giver->user, r, err);
    if (status == CNN_OK && !r->last) {
        const int64_t next = giver->next(giver->user);
        status = ranks_send(p->ranks, r->from, &next, sizeof next, err);
    }
    free(bytes);
    return status;
}

cnn_status cli_pieces_give(cli_pieces *p, const cli_giver *giver, int64_t *all, cnn_error *err)
{
    cnn_status status = CNN_OK;
    *all = -1;
    for (int working = p->ranks->size - 1; status == CNN_OK && working > 0;) {
        piece_report r = {.from = 0};
        status = serve(p, giver, &r, err);
        if (status != CNN_OK || !r.last) continue;
        working--;
        if (*all >= 0 && *all != r.all)
            status = CNN_FAIL(err, CNN_INTERNAL, "rank %d came to %lld pieces, another to %lld: what they did differs",
                              r.from, (long long)r.all, (long long)*all);
        *all = r.all;
    }
    return status;
}

static cnn_status write_lines(record_sink *sink, const char *at, size_t size, cnn_error *err)
{
    cnn_status status = CNN_OK;
    while (status == CNN_OK && size > 0) {
        const char *end = memchr(at, '\n', size);
        const size_t length = end != NULL ? (size_t)(end - at) : size;
        status = record_write_line(sink, at, length, err);
        size -= length + (end != NULL);
        at += length + (end != NULL);
    }
    return status;
}

cnn_status cli_pieces_write(const cli_output *output, const piece_report *r, cnn_error *err)
{
    cnn_status status = write_lines(output->sink, r->part[PIECE_RECORDS], r->size[PIECE_RECORDS], err);
    if (status == CNN_OK && r->number >= 0 && r->state[0] != '\0')
        status = resume_case(output->resume, output->sink, r->number, r->state, err);
    fwrite(r->part[PIECE_OUT], 1, r->size[PIECE_OUT], stdout);
    fflush(stdout);
    fwrite(r->part[PIECE_ERR], 1, r->size[PIECE_ERR], stderr);
    return status;
}
