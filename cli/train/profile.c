/* profile.c: `train --profile`: where an epoch's seconds went, as a table in the network's order and as records.
 *
 * A layer's pass of several phases has a line of its own above theirs. GFLOP/s are those of the pass: of its operations
 * (cnn_flops()) over all its phases. What waiting for each step and reading its marks costs shows against unprofiled
 * epochs of the same setting, where the file of --out holds any. */
#include "cli/table.h"
#include "parts.h"
#include "verify/oracle/transforms.h"

#include <math.h>

cnn_status train_profile_check(const train_run *r, cnn_error *err)
{
    if (!r->all->options->profile || cnn_impl_timed(r->session->impl)) return CNN_OK;
    return CNN_FAIL(err, CNN_UNSUPPORTED, "--profile: implementation %s is emulated, and its times mean nothing",
                    r->session->impl->name);
}

/* ---- The table ---- */

static void print_line(const epoch_profile *e, const char *layer, const char *pass, const profile_row *sum,
                       bool of_pass)
{
    char room[128], rate[32] = "";
    if (of_pass && sum->flops > 0.0 && sum->seconds > 0.0)
        snprintf(rate, sizeof rate, " %10.2f", sum->flops / sum->seconds * 1e-9);
    table_print(31, "%-24s %-6s %-28s %9.4f %6.2f %% %9lld%s\n", table_shorten(layer, 24, room, sizeof room), pass,
                sum->phase, sum->seconds, 100.0 * sum->seconds / e->seconds, (long long)sum->calls, rate);
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

static void print_table(const epoch_profile *e, int64_t epoch)
{
    double all = 0.0;
    table_print(31, "\nwhere epoch %lld went\n%-24s %-6s %-28s %9s %8s %9s %10s\n", (long long)epoch + 1, "layer",
                "pass", "phase", "seconds", "share", "times", "GFLOP/s");
    for (int first = 0, end; first < e->count; first = end) {
        profile_row sum = sum_of(e, first, &end);
        const bool several = end - first > 1;
        if (several) sum.phase[0] = '\0';
        if (sum.choice != NULL && sum.choice[0] != '\0') snprintf(sum.phase, sizeof sum.phase, "%s", sum.choice);
        print_line(e, sum.layer, sum.pass, &sum, true);
        for (int i = first; several && i < end; i++) print_line(e, "", "", &e->rows[i], false);
        all += sum.seconds;
    }
    table_print(31, "%-24s %-6s %-28s %9.4f %6.2f %%\n", "all", "", "", all, 100.0 * all / e->seconds);
}

/* ---- Records ---- */

static cnn_record *begin(const train_run *r, int64_t epoch, const char *kind)
{
    cnn_record *record = epoch_record_new(kind, r->session, &r->setting);
    record_int(record, "epoch", epoch + 1);
    return record;
}

/* Of a transform. */
static void put_saved(cnn_record *record, const profile_row *row)
{
    const double saves = vf_transform_saves(&row->problem, &row->algorithm);
    if (saves > 1.0) record_real(record, "products_saved", saves);
}

cnn_status train_report_profile(const train_run *r, int64_t epoch, const trainer_result *result, cnn_error *err)
{
    const epoch_profile *e = trainer_profiled(r->trainer);
    record_sink *sink = r->all->output.sink;
    double without = NAN;
    cnn_status status = CNN_OK;
    if (e == NULL) return CNN_OK;
    const int count = epoch_median(&r->all->table, &r->setting, &without, NULL);
    for (int i = 0; i < e->count && status == CNN_OK; i++) {
        const profile_row *row = &e->rows[i];
        cnn_record *record = begin(r, epoch, "profile");
        record_text(record, "layer", row->layer);
        record_text(record, "pass", row->pass);
        record_text(record, "phase", row->phase);
        if (row->choice != NULL && row->choice[0] != '\0') record_text(record, "choice", row->choice);
        record_real(record, "seconds", row->seconds);
        record_real(record, "share", row->seconds / e->seconds);
        record_int(record, "times", row->calls);
        record_real(record, "flops", row->flops);
        record_real(record, "bytes", row->bytes);
        if (row->flops > 0.0) put_saved(record, row);
        status = record_write(sink, record, err);
    }
    if (status != CNN_OK) return status;
    cnn_record *record = begin(r, epoch, "profiled_epoch");
    record_real(record, "seconds", e->seconds);
    record_real(record, "train_loss", result->train_loss);
    record_real(record, "test_loss", result->test_loss);
    record_real(record, "test_accuracy", result->test_accuracy);
    record_real(record, "unprofiled_s", without);
    status = record_write(sink, record, err);
    if (status != CNN_OK || r->all->options->json) return status;
    print_table(e, epoch);
    if (count > 0)
        table_print(4, "it took %.3f of the time of an unprofiled one, %.4f s at the median of %d\n",
                    e->seconds / without, without, count);
    putchar('\n');
    fflush(stdout);
    return CNN_OK;
}
