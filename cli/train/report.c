/* report.c: the lines and the records of `train`: a head for each run, then one an epoch. */
#include "report.h"

#include "cli/table.h"
#include "harness/problem/names.h"
#include "profile.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static trainer_params params_of(const train_run *r)
{
    trainer_params params = r->all->params;
    params.algorithm = r->algorithm;
    return params;
}

void train_setting(const train_run *r, epoch_setting *setting)
{
    const train *t = r->all;
    const trainer_params params = params_of(r);
    memset(setting, 0, sizeof *setting);
    epoch_setting_of_session(r->session, setting);
    epoch_setting_of_trainer(r->session, &params, setting);
    epoch_setting_of_net(r->network, setting);
    epoch_setting_of_data(&r->network->net.type, &t->data, t->batch, setting);
    snprintf(setting->algorithm, sizeof setting->algorithm, "%s", r->algorithm);
    snprintf(setting->build, sizeof setting->build, "%s", t->build);
}

cnn_status train_report_losses(const train_run *r, int64_t epoch, cnn_error *err)
{
    const train *t = r->all;
    if (t->losses == NULL) return CNN_OK;
    cnn_record *record = record_new("losses");
    record_session(record, r->session, r->algorithm);
    record_text(record, "net", r->network->net.name);
    record_text(record, "data", t->data.name);
    record_int(record, "batch", t->batch);
    record_int(record, "seed", t->options->seed);
    record_int(record, "epoch", epoch + 1);
    record_reals(record, "losses", t->losses, (int)t->n_losses);
    return record_write(t->output.sink, record, err);
}

static void say_failed(train_run *r, const epoch_row *row)
{
    r->failed = true;
    r->all->sums->failed++;
    fprintf(stderr,
            "benchcnn: %s on %s:%s, epoch %lld has no figure, the reference comes to something else: %s (repeat with "
            "--check-seed %lld)\n",
            r->network->net.name, r->session->impl->name, r->algorithm, (long long)row->epoch, row->reason,
            (long long)row->check_seed);
}

cnn_status train_report_epoch(train_run *r, int64_t epoch, const trainer_result *e, cnn_error *err)
{
    train *t = r->all;
    epoch_setting setting;
    char marks[128];
    train_setting(r, &setting);
    const int64_t planned = t->options->until_loss >= 0.0 ? 0 : t->epochs;
    const epoch_row row =
        epoch_row_of(&setting, epoch + 1, planned, e, r->checked.seed != 0 ? &r->checked : NULL, &r->clocks);
    cnn_record *record = epoch_record(r->session, &row);
    cli_record_choices(record, r->trainer, r->tuned);
    record_real(record, "setup_s", r->setup_s);
    /* a profiled epoch takes longer, and has records of its own */
    cnn_status status = CNN_OK;
    if (t->params.profile && !row.failed)
        record_free(record);
    else
        status = record_write(t->output.sink, record, err);
    if (row.failed)
        say_failed(r, &row);
    else if (row.diverged)
        t->sums->diverged++, r->diverged = true;
    else if (!t->params.profile)
        epoch_sum_add(&r->sum, e->seconds, row.marks);
    if (status != CNN_OK || t->options->json) return status;
    if (row.failed)
        table_print(7, "%5lld  FAILED: %s\n", (long long)epoch + 1, row.reason);
    else if (row.diverged)
        table_print(7, "%5lld  diverged: the loss is not finite, and what that takes is no figure\n",
                    (long long)epoch + 1);
    else if (!cnn_impl_timed(r->session->impl))
        table_print(7, "%5lld  %10.5f  %9.5f  %8.2f %%  emulated: not timed\n", (long long)epoch + 1, e->train_loss,
                    e->test_loss, e->test_accuracy * 100.0);
    else
        table_print(7, "%5lld  %10.5f  %9.5f  %8.2f %%  %8.3f  %8.3f  %9.0f%s%s\n", (long long)epoch + 1, e->train_loss,
                    e->test_loss, e->test_accuracy * 100.0, e->seconds, e->train_s, e->images_per_s,
                    row.marks ? "  " : "", bench_marks_text(row.marks, marks, sizeof marks));
    fflush(stdout);
    return CNN_OK;
}

void train_report_end(const train_run *r)
{
    const train *t = r->all;
    unsigned seen = 0;
    if (r->diverged) {
        char optimizer[CNN_PROBLEM_TEXT_MAX];
        cnn_optimizer_format(&t->params.optimizer, optimizer);
        fprintf(stderr,
                "benchcnn: %s on %s:%s diverged with --optimizer %s: its loss is not finite; a smaller lr may help\n",
                r->network->net.name, r->session->impl->name, r->algorithm, optimizer);
    }
    if (t->options->json || r->diverged || r->sum.count == 0 || !cnn_impl_timed(r->session->impl)) return;
    for (int i = 0; i < BENCH_MARK_COUNT; i++) seen |= r->sum.marked[i] > 0 ? 1u << i : 0;
    if (r->sum.count > 1) {
        bench_stats stats;
        char marks[128];
        epoch_sum_stats(&r->sum, &stats);
        table_print(4, "median of %d epochs: %.3f s (%.3f to %.3f s)%s%s\n", stats.count, stats.median, stats.min,
                    stats.max, stats.marks ? "  " : "", bench_marks_text(stats.marks, marks, sizeof marks));
        seen |= stats.marks;
    }
    table_legend(seen);
}

cnn_status train_report_profile(train_run *r, int64_t epoch, const trainer_result *e, cnn_error *err)
{
    epoch_setting setting;
    const train_profiled p = {.options = r->all->options,
                              .session = r->session,
                              .algorithm = r->algorithm,
                              .setting = &setting,
                              .epoch = epoch + 1,
                              .result = e,
                              .profile = trainer_profiled(r->trainer)};
    if (p.profile == NULL) return CNN_OK;
    train_setting(r, &setting);
    return train_profile_report(&p, r->all->output.sink, err);
}

const char *train_time_text(double seconds, char text[32])
{
    snprintf(text, 32, isnan(seconds) ? "not timed" : "%.3f s", seconds);
    return text;
}

void train_print_head(const train_run *r)
{
    char setup[32], shift[32] = "";
    if (r->all->options->json) return;
    const trainer_params of_run = params_of(r), *params = &of_run;
    if (params->shift > 0) snprintf(shift, sizeof shift, ", shift %lld", (long long)params->shift);
    if (r->tuned != NULL) printf("tuned: %s\n", r->tuned->text[0] != '\0' ? r->tuned->text : "nothing; the defaults");
    printf("%s on %s, batch %lld, %s:%s, %s %s, %d thread%s%s%s%s; set-up %s\n", r->network->net.name,
           r->all->data.name, (long long)r->all->batch, r->session->impl->name, r->algorithm,
           cnn_dtype_name(r->network->net.type.dtype), cnn_layout_name(r->network->net.type.layout),
           r->session->threads, r->session->threads == 1 ? "" : "s",
           trainer_uses_graph(r->session, params) ? ", graph" : "", params->host_data ? ", data on the host" : "",
           shift, train_time_text(r->setup_s, setup));
    printf("%5s  %10s  %9s  %10s  %8s  %8s  %9s\n", "epoch", "train loss", "test loss", "accuracy", "seconds",
           "train s", "images/s");
}
