/* profile.c: `train --profile`: where an epoch's seconds went, as a table in the network's order and as records.
 *
 * A layer's pass of several phases has a line of its own above theirs. GFLOP/s are those of the pass: of its operations
 * (cost.c) over all its phases. What waiting for each step and reading its marks costs shows against unprofiled epochs
 * of the same setting, where the file of --out holds any. */
#include "profile.h"

#include "cli/table.h"

#include <math.h>
#include <string.h>

cnn_status train_profile_check(const cli_options *options, const cnn_session *session, cnn_error *err)
{
    if (!options->profile || cnn_impl_timed(session->impl)) return CNN_OK;
    return CNN_FAIL(err, CNN_UNSUPPORTED, "--profile: implementation %s is emulated, and its times mean nothing",
                    session->impl->name);
}

/* ---- The table ---- */

static void print_line(const train_profiled *p, const char *layer, const char *pass, const profile_row *sum,
                       bool of_pass)
{
    char room[128], rate[32] = "";
    if (of_pass && sum->flops > 0.0 && sum->seconds > 0.0)
        snprintf(rate, sizeof rate, " %10.2f", sum->flops / sum->seconds * 1e-9);
    table_print(31, "%-24s %-6s %-28s %9.4f %6.2f %% %9lld%s\n", table_shorten(layer, 24, room, sizeof room), pass,
                sum->phase, sum->seconds, 100.0 * sum->seconds / p->profile->seconds, (long long)sum->calls, rate);
}

/* The rows [first, end) of one layer's pass, summed up. */
static profile_row sum_of(const epoch_profile *e, int first, int *end)
{
    profile_row sum = e->rows[first];
    for (*end = first + 1; *end < e->count && e->rows[*end].place == sum.place; ++*end) {
        const profile_row *row = &e->rows[*end];
        sum.seconds += row->seconds;
        sum.flops += row->flops;
        if (row->calls > sum.calls) sum.calls = row->calls;
    }
    return sum;
}

static void print_table(const train_profiled *p)
{
    const epoch_profile *e = p->profile;
    double all = 0.0;
    table_print(31, "\nwhere epoch %lld went\n%-24s %-6s %-28s %9s %8s %9s %10s\n", (long long)p->epoch, "layer",
                "pass", "phase", "seconds", "share", "times", "GFLOP/s");
    for (int first = 0, end; first < e->count; first = end) {
        profile_row sum = sum_of(e, first, &end);
        const bool several = end - first > 1;
        if (several) sum.phase[0] = '\0';
        print_line(p, sum.layer, sum.pass, &sum, true);
        for (int i = first; several && i < end; i++) print_line(p, "", "", &e->rows[i], false);
        all += sum.seconds;
    }
    table_print(31, "%-24s %-6s %-28s %9.4f %6.2f %%\n", "all", "", "", all, 100.0 * all / e->seconds);
}

/* The median of the unprofiled epochs in --out; 0 without any. */
static int unprofiled(const train_profiled *p, double *seconds)
{
    epoch_table table = {.count = 0};
    cnn_error ignored;
    int bad = 0, count = 0;
    if (p->options->out != NULL && epoch_table_read(&table, p->options->out, &bad, &ignored) == CNN_OK)
        count = epoch_median(&table, p->setting, seconds, NULL);
    epoch_table_free(&table);
    return count;
}

/* ---- Records ---- */

static cnn_record *begin(const train_profiled *p, const char *kind)
{
    cnn_record *record = record_new(kind);
    const epoch_setting *s = p->setting;
    record_session(record, p->session, p->algorithm);
    record_text(record, "net", s->net);
    record_text(record, "data", s->data);
    record_text(record, "data_on", s->data_on);
    record_bool(record, "graph", s->graph);
    record_text(record, "dtype", s->dtype);
    record_text(record, "layout", s->layout);
    record_text(record, "math", s->math);
    record_int(record, "batch", s->batch);
    record_int(record, "seed", s->seed);
    record_int(record, "shift", s->shift);
    record_int(record, "epoch", p->epoch);
    return record;
}

static cnn_status write_row(const train_profiled *p, const profile_row *row, record_sink *sink, cnn_error *err)
{
    cnn_record *record = begin(p, "profile");
    record_text(record, "layer", row->layer);
    record_text(record, "pass", row->pass);
    record_text(record, "phase", row->phase);
    record_real(record, "seconds", row->seconds);
    record_real(record, "share", row->seconds / p->profile->seconds);
    record_int(record, "times", row->calls);
    record_real(record, "flops", row->flops);
    return record_write(sink, record, err);
}

static cnn_status write_epoch(const train_profiled *p, double without, int count, record_sink *sink, cnn_error *err)
{
    cnn_record *record = begin(p, "profiled_epoch");
    record_real(record, "seconds", p->profile->seconds);
    record_real(record, "train_loss", p->result->train_loss);
    record_real(record, "test_loss", p->result->test_loss);
    record_real(record, "test_accuracy", p->result->test_accuracy);
    record_real(record, "unprofiled_s", count > 0 ? without : NAN);
    return record_write(sink, record, err);
}

cnn_status train_profile_report(const train_profiled *p, record_sink *sink, cnn_error *err)
{
    double without = 0.0;
    const int count = unprofiled(p, &without);
    cnn_status status = CNN_OK;
    for (int i = 0; i < p->profile->count && status == CNN_OK; i++)
        status = write_row(p, &p->profile->rows[i], sink, err);
    if (status == CNN_OK) status = write_epoch(p, without, count, sink, err);
    if (status != CNN_OK || p->options->json) return status;
    print_table(p);
    if (count > 0)
        table_print(4, "it took %.3f of the time of an unprofiled one, %.4f s at the median of %d\n",
                    p->profile->seconds / without, without, count);
    putchar('\n');
    fflush(stdout);
    return CNN_OK;
}
