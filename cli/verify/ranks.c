/* ranks.c: `mpirun -n N benchcnn verify`: rank 0 gives the cases, by their number, and gathers what comes of them. */
#include "harness/base/text.h"
#include "parts.h"

#include <stdlib.h>
#include <string.h>

/* ---- A rank that verifies. */

/* The largest number up to `most` under which this implementation has a device. */
static int last_device(const cnn_impl *impl, int most)
{
    cnn_session session;
    cnn_error err;
    cnn_status status = CNN_BAD_ARGUMENT;
    for (; most > 0 && status == CNN_BAD_ARGUMENT; most -= status == CNN_BAD_ARGUMENT) {
        status = cnn_session_open(impl, &(cnn_session_params){.threads = 1, .device = most}, &session, &err);
        if (status == CNN_OK) cnn_session_close(&session);
    }
    return most;
}

void verify_fit_device(cli_options *own)
{
    static cnn_choice choices[CNN_MAX_CHOICES]; /* large: kept off the stack */
    int count = 0, last = (int)own->device;
    cnn_error err;
    if (cli_given(own, "device") || cnn_choices_parse(own->registry, own->impl, choices, &count, &err) != CNN_OK)
        return;
    for (int i = 0; i < count; i++)
        if (choices[i].impl->device_kind != CNN_DEVICE_CPU) last = last_device(choices[i].impl, last);
    if (last < own->device) own->device %= last + 1;
}

static void session_names(const verification *v, char *text, size_t size)
{
    text[0] = '\0';
    for (int i = 0; i < v->sessions.count; i++)
        cnn_append(text, size, "%s%s", i > 0 ? "," : "", v->sessions.list[i].impl->name);
}

static cnn_status verify_given(verification *v, cnn_error *err)
{
    problem_list list = {0};
    char names[2048];
    cnn_status status = ranks_agree(v->pieces->ranks, verify_set_up(v, err), err);
    session_names(v, names, sizeof names);
    cli_progress_start(&v->progress, "verify", true);
    if (status == CNN_OK) status = cli_pieces_alike(v->pieces, names, err);
    if (status == CNN_OK && v->sessions.count > 0) {
        cli_pieces_mark(v->pieces, &v->sessions.list[0], v->report.output.sink);
        status = cli_sessions_environment(&v->sessions, 0, v->options->command_line, v->report.output.sink, err);
    }
    if (status == CNN_OK) status = verify_all(v, &list, err);
    if (status == CNN_OK) status = verify_stop_if_interrupted(err);
    if (status == CNN_OK) status = v->report.write_status, *err = v->report.write_error;
    tuned_close(v->tuned);
    cli_sessions_close(&v->sessions);
    if (status == CNN_OK) cli_pieces_end(v->pieces, v->number, v->report.sums, sizeof *v->report.sums);
    free(list.items);
    free(v->given.items);
    return status;
}

/* ---- Rank 0. */

typedef struct giving {
    verification *v;
    int64_t next;
} giving;

/* What an earlier run finished is given to none. */
static int64_t next_case(void *user)
{
    giving *g = user;
    while (resume_has(g->v->report.output.resume, g->next)) g->next++;
    return interrupt_seen() ? INT64_MAX : g->next++;
}

static cnn_status take_report(void *user, const piece_report *report, cnn_error *err)
{
    giving *g = user;
    const cnn_status status = cli_pieces_write(&g->v->report.output, report, err);
    if (status != CNN_OK || !report->last) return status;
    verify_sums *sums = malloc(sizeof *sums);
    if (sums == NULL || report->size[PIECE_SUMS] != sizeof *sums) {
        free(sums);
        return CNN_FAIL(err, CNN_INTERNAL, "the counts of rank %d cannot be read", report->from);
    }
    memcpy(sums, report->part[PIECE_SUMS], sizeof *sums);
    report_join(g->v->report.sums, sums);
    free(sums);
    return CNN_OK;
}

static cnn_status give_all(verification *v, int *exit_status, cnn_error *err)
{
    giving g = {v, 0};
    const cli_giver giver = {&g, next_case, take_report};
    verify_report *r = &v->report;
    cnn_status status = ranks_agree(v->pieces->ranks, CNN_OK, err);
    if (status == CNN_OK) status = cli_pieces_alike(v->pieces, "", err);
    if (status != CNN_OK) return status;
    report_add_earlier(r);
    resume_pass_over(r->output.resume, r->output.sink);
    status = cli_output_begin(v->options, &r->output, err);
    if (status == CNN_OK) status = cli_pieces_give(v->pieces, &giver, &v->number, err);
    if (status == CNN_OK) status = verify_stop_if_interrupted(err);
    if (status == CNN_OK || status == CNN_INTERRUPTED) *exit_status = report_summary(r);
    v->total = (double)v->number;
    if (status == CNN_OK && *exit_status == EXIT_NOTHING) verify_explain_nothing(v);
    if (status == CNN_OK) *exit_status = cli_output_end(&r->output, *exit_status);
    return status;
}

int verify_over_ranks(verification *v, cnn_error *err)
{
    int exit_status = EXIT_HELD;
    const cnn_status status = cli_pieces_gives(v->pieces) ? give_all(v, &exit_status, err) : verify_given(v, err);
    cli_ranks_abort(v->pieces->ranks, status, err);
    return status == CNN_OK ? exit_status : cli_fail(err);
}
