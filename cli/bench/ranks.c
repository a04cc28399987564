/* ranks.c: `mpirun -n N benchcnn bench`: rank 0 gives groups, by their number, and gathers the figures. A figure counts
 * only where nothing else runs on its device, so ranks of a host need cores or GPUs of their own. */
#include "cli/table.h"
#include "harness/base/text.h"
#include "parts.h"

#include <stdlib.h>
#include <string.h>

/* ---- Devices. */

typedef struct used { /* by one rank */
    bool cores;
    char gpu[2 * CNN_NAME_MAX]; /* host and bus; "": none */
} used;

static void find_used(const bench *b, used *u)
{
    char bus[CNN_NAME_MAX];
    for (int i = 0; i < b->sessions.count; i++) {
        const cnn_session *s = &b->sessions.list[i];
        u->cores = u->cores || s->impl->device_kind != CNN_DEVICE_CUDA;
        machine_fact(s, "pci_bus_id", bus, sizeof bus);
        if (s->impl->device_kind == CNN_DEVICE_CUDA)
            snprintf(u->gpu, sizeof u->gpu, "%d %s", b->pieces->ranks->node, bus[0] != '\0' ? bus : "GPU");
    }
}

static cnn_status check_apart(const bench *b, cnn_error *err)
{
    ranks *r = b->pieces->ranks;
    used mine, *all = calloc((size_t)r->size, sizeof *all);
    int a, other;
    if (all == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %d ranks", r->size);
    memset(&mine, 0, sizeof mine); /* all of it is sent */
    find_used(b, &mine);
    cnn_status status = ranks_gather(r, &mine, sizeof mine, all, err);
    if (status == CNN_OK) status = ranks_share_cores(r, 1, &a, &other, err);
    if (status == CNN_OK && a >= 0 && all[a].cores && all[other].cores)
        status = CNN_FAIL(err, CNN_BAD_ARGUMENT,
                          "ranks %d and %d of %d run on the same cores, and what they time would be spoiled: start one "
                          "rank more than there are cores at most, with mpirun --bind-to none, or fewer --threads",
                          a, other, r->size);
    for (int i = 1; i < r->size && status == CNN_OK; i++)
        for (int k = 1; k < i && status == CNN_OK; k++)
            if (all[i].gpu[0] != '\0' && strcmp(all[i].gpu, all[k].gpu) == 0)
                status = CNN_FAIL(err, CNN_BAD_ARGUMENT,
                                  "ranks %d and %d of %d run on the same GPU, and what they time would be spoiled: "
                                  "start one rank more than there are GPUs at most, and leave out --device",
                                  k, i, r->size);
    free(all);
    return status;
}

cnn_status bench_meet(const bench *b, cnn_status status, cnn_error *err)
{
    char names[2048] = "";
    if (b->pieces == NULL) return status;
    for (int i = 0; i < b->sessions.count; i++)
        cnn_append(names, sizeof names, "%s%s", i > 0 ? "," : "", b->sessions.list[i].impl->name);
    status = ranks_agree(b->pieces->ranks, status, err);
    if (status == CNN_OK) status = cli_pieces_alike(b->pieces, names, err);
    return status == CNN_OK ? ranks_agree(b->pieces->ranks, check_apart(b, err), err) : status;
}

/* ---- A rank that times. */

/* "TIMED WRONG FAILED TOO_SHORT UNSUPPORTED" of the group: what a run that goes on counts. */
void bench_group_done(bench *b)
{
    const bench_sums *s = b->sums;
    const int64_t now[] = {s->timed, s->wrong, s->failed, s->too_short, s->unsupported};
    char text[PIECE_STATE_MAX] = "";
    if (b->pieces == NULL) return;
    for (int i = 0; i < BENCH_COUNTS; i++) {
        cnn_append(text, sizeof text, "%s%lld", i > 0 ? " " : "", (long long)(now[i] - b->told[i]));
        b->told[i] = now[i];
    }
    cli_pieces_done(b->pieces, text);
}

cnn_status bench_do_pieces(bench *b, cnn_status (*run_all)(bench *, cnn_error *), cnn_error *err)
{
    cnn_status status = ranks_agree(b->pieces->ranks, bench_open(b, false, err), err);
    if (status == CNN_OK && b->begun) status = run_all(b, err);
    bench_close_sessions(b);
    b->sums->marks = b->marks;
    if (status == CNN_OK) cli_pieces_end(b->pieces, b->base + b->place - b->first, b->sums, sizeof *b->sums);
    return status;
}

/* ---- Rank 0. */

typedef struct giving {
    bench *b;
    int64_t next;
} giving;

static int64_t next_group(void *user)
{
    giving *g = user;
    while (resume_has(g->b->output.resume, g->next)) g->next++;
    return interrupt_seen() ? INT64_MAX : g->next++;
}

static void join(bench *b, const bench_sums *from)
{
    bench_sums *to = b->sums;
    to->timed += from->timed;
    to->wrong += from->wrong;
    to->failed += from->failed;
    to->too_short += from->too_short;
    to->unsupported += from->unsupported;
    if (to->refusal.status == CNN_OK) to->refusal = from->refusal;
    b->marks |= from->marks;
    bench_grid_join(&to->grid, &from->grid);
}

static cnn_status take_report(void *user, const piece_report *report, cnn_error *err)
{
    giving *g = user;
    const cnn_status status = cli_pieces_write(&g->b->output, report, err);
    if (status != CNN_OK || !report->last) return status;
    bench_sums *sums = malloc(sizeof *sums);
    if (sums == NULL || report->size[PIECE_SUMS] != sizeof *sums) {
        free(sums);
        return CNN_FAIL(err, CNN_INTERNAL, "the counts of rank %d cannot be read", report->from);
    }
    memcpy(sums, report->part[PIECE_SUMS], sizeof *sums);
    join(g->b, sums);
    free(sums);
    return CNN_OK;
}

static cnn_status count_earlier(void *user, const cnn_record *record, cnn_error *err)
{
    bench_sums *s = user;
    const char *state = record_get_text(record, "state");
    long long n[BENCH_COUNTS];
    if (!state || sscanf(state, "%lld %lld %lld %lld %lld", &n[0], &n[1], &n[2], &n[3], &n[4]) != BENCH_COUNTS)
        return CNN_FAIL(err, CNN_BAD_FORMAT, "a group of an earlier run cannot be read");
    s->timed += n[0];
    s->wrong += n[1];
    s->failed += n[2];
    s->too_short += n[3];
    s->unsupported += n[4];
    for (int i = 0; i < BENCH_COUNTS; i++) s->kept += n[i];
    return CNN_OK;
}

cnn_status bench_give(bench *b, cnn_error *err)
{
    giving g = {b, 0};
    const cli_giver giver = {&g, next_group, take_report};
    int64_t all;
    cnn_status status = bench_meet(b, CNN_OK, err);
    status = ranks_agree(b->pieces->ranks, status, err); /* all are open */
    if (status == CNN_OK) status = resume_each_case(b->output.resume, count_earlier, b->sums, err);
    resume_pass_over(b->output.resume, b->output.sink);
    if (status == CNN_OK) status = cli_output_begin(b->options, &b->output, err);
    b->begun = status == CNN_OK;
    if (status == CNN_OK) status = cli_pieces_give(b->pieces, &giver, &all, err);
    if (status != CNN_OK || !interrupt_seen()) return status;
    return CNN_FAIL(err, CNN_INTERRUPTED,
                    "interrupted; what was timed is recorded, and the same command with --out goes on from there");
}
