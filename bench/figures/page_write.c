/* page_write.c: from rows to what is laid out: medians, ranks, and the records that page.h lists. */
#include "bench/epoch.h"
#include "page_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- What rows come to */

/* Of a figure the median of its runs, whose interval covers each of theirs; of a training what `train` says. */
static void finish(page_row *row, page_kind kind)
{
    if (row->count == 0) return;
    if (kind != PAGE_TRAINING) {
        row->stats.median = bench_median(row->seconds, row->count);
        if (isnan(row->stats.low) || isnan(row->stats.high)) row->stats.low = row->stats.high = row->stats.median;
        for (int bit = 0; bit < BENCH_MARK_COUNT; bit++) row->stats.marks |= row->marked[bit] > 0 ? 1u << bit : 0;
        return;
    }
    epoch_sum sum = {.count = row->count < EPOCHS_SUMMED ? row->count : EPOCHS_SUMMED};
    memcpy(sum.seconds, row->seconds, (size_t)sum.count * sizeof *sum.seconds);
    memcpy(sum.marked, row->marked, sizeof sum.marked);
    epoch_sum_stats(&sum, &row->stats);
}

static void put_time(cnn_record *record, const char *field, double seconds)
{
    char text[32];
    bench_time_text(seconds, text, sizeof text);
    record_text(record, field, text);
}

static void put_times(const page_row *row)
{
    char marks[160];
    const double floor = record_get_real(row->record, "floor_s");
    record_int(row->record, "count", row->count);
    record_real(row->record, "seconds", row->stats.median);
    put_time(row->record, "time", row->stats.median);
    if (row->stats.high > row->stats.low) {
        put_time(row->record, "low", row->stats.low);
        put_time(row->record, "high", row->stats.high);
        record_real(row->record, "noise", (row->stats.high - row->stats.low) / 2 / row->stats.median);
    }
    record_text(row->record, "marks", bench_marks_text(row->stats.marks, marks, sizeof marks));
    if (floor > 0) record_real(row->record, "share", floor / row->stats.median);
    if (row->beyond) record_bool(row->record, "beyond", true);
    if (row->rank == 0) return;
    record_int(row->record, "rank", row->rank);
    record_int(row->record, "tied", row->tied);
    record_int(row->record, "among", row->among);
}

static cnn_status put_points(const page_row *row, cnn_error *err)
{
    static const char *const names[] = {"epochs_seen", "train_losses", "test_losses", "test_accuracies"};
    double *values = calloc((size_t)row->n_points + 1, sizeof *values);
    if (values == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %d epochs", row->n_points);
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < row->n_points; i++) {
            const page_point *at = &row->points[i];
            values[i] = k == 0 ? at->epoch : k == 1 ? at->train_loss : k == 2 ? at->test_loss : at->test_accuracy;
        }
        record_reals(row->record, names[k], values, row->n_points);
    }
    free(values);
    record_int(row->record, "verified", row->verified);
    record_real(row->record, "images_per_s", row->images_per_s);
    return CNN_OK;
}

static cnn_status write_row(page *p, page_kind kind, page_row *row, record_sink *to, cnn_error *err)
{
    cnn_record *record = row->record;
    record_int(record, "group", row->group);
    record_int(record, "session", row->session);
    record_int(record, "environment", row->session >= 0 ? p->sessions[row->session].environment : -1);
    record_text(record, "machine", row->machine);
    record_text(record, "state", row->state ? row->state : "");
    if (row->reason) record_text(record, "reason", row->reason);
    if (row->repro) record_text(record, "repro", row->repro);
    record_text(record, "file", row->file);
    record_int(record, "line", row->line);
    if (isfinite(row->budget_used)) record_real(record, "budget_used", row->budget_used);
    if (row->count > 0) put_times(row);
    if (row->checks[0] != '\0') record_text(record, "checks", row->checks);
    if (row->precision[0] != '\0') record_text(record, "precision", row->precision);
    if (kind == PAGE_PASS && row->count > 0) record_real(record, "share", row->shares / row->count);
    if (kind == PAGE_TRAINING && put_points(row, err) != CNN_OK) return err->status;
    p->marks |= row->count > 0 ? row->stats.marks : 0;
    row->record = NULL; /* the sink's from here on */
    return record_write(to, record, err);
}

/* ---- Writing */

/* Each is the sink's from here on. */
static cnn_status write_all(cnn_record **list, int count, record_sink *to, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = 0; i < count && status == CNN_OK; i++) {
        cnn_record *record = list[i];
        list[i] = NULL;
        status = record_write(to, record, err);
    }
    return status;
}

static cnn_status write_environments(page *p, record_sink *to, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = 0; i < p->n_environments && status == CNN_OK; i++) {
        page_environment *e = &p->environments[i];
        record_text(e->record, "from", e->from);
        record_text(e->record, "to", e->to);
        status = write_all(&e->record, 1, to, err);
    }
    for (int i = 0; i < p->n_sessions && status == CNN_OK; i++) {
        record_text(p->sessions[i].record, "machine", p->sessions[i].machine);
        status = write_all(&p->sessions[i].record, 1, to, err);
    }
    for (int i = 0; i < p->n_commands && status == CNN_OK; i++) {
        cnn_record *record = record_new("command");
        record_text(record, "command", p->command_names.texts[i]);
        record_int(record, "runs", p->commands[i].runs);
        if (p->commands[i].status >= 0) record_int(record, "status", p->commands[i].status);
        status = record_write(to, record, err);
    }
    return status;
}

static cnn_status write_reasons(const verify_reasons *r, const char *kind, record_sink *to, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = 0; i < r->count && status == CNN_OK; i++) {
        cnn_record *record = record_new(kind);
        record_text(record, "text", r->list[i].text);
        record_int(record, "count", r->list[i].count);
        record_bool(record, "differ", r->list[i].differ);
        status = record_write(to, record, err);
    }
    if (status != CNN_OK || r->others == 0) return status;
    cnn_record *record = record_new(kind);
    record_text(record, "text", "other reasons");
    record_int(record, "count", r->others);
    return record_write(to, record, err);
}

static cnn_status write_marks(const page *p, record_sink *to, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int bit = 0; bit < BENCH_MARK_COUNT && status == CNN_OK; bit++) {
        if (!(p->marks >> bit & 1u)) continue;
        cnn_record *record = record_new("mark");
        record_text(record, "name", bench_mark_name(bit));
        record_text(record, "meaning", bench_mark_meaning(bit));
        status = record_write(to, record, err);
    }
    return status;
}

cnn_status page_write(page *p, record_sink *to, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int kind = 0; kind < PAGE_KINDS && status == CNN_OK; kind++) {
        for (int i = 0; i < p->count[kind]; i++) finish(&p->rows[kind][i], (page_kind)kind);
        if (kind != PAGE_CASE && kind != PAGE_PASS) status = page_rank(p, (page_kind)kind, err);
    }
    if (status == CNN_OK && p->kills.count > 0) status = kills_make(&p->kills, err);
    if (status == CNN_OK) status = page_verdicts(p, to, err);
    if (status == CNN_OK) status = write_all(p->sources, p->n_sources, to, err);
    if (status == CNN_OK) status = write_environments(p, to, err);
    for (int kind = 0; kind < PAGE_KINDS; kind++)
        for (int i = 0; i < p->count[kind] && status == CNN_OK; i++)
            status = write_row(p, (page_kind)kind, &p->rows[kind][i], to, err);
    if (status == CNN_OK) status = write_reasons(&p->unsupported, "unsupported", to, err);
    if (status == CNN_OK) status = write_reasons(&p->skipped, "skipped", to, err);
    if (status == CNN_OK) status = write_marks(p, to, err);
    if (status == CNN_OK) status = page_write_mutants(p, to, err);
    if (status == CNN_OK) status = page_write_left_out(p, to, err);
    return status == CNN_OK ? write_all(p->others, p->n_others, to, err) : status;
}
