/* report.c: the lines and the records of a point of `train`: a head, then a line and a record an epoch. */
#include "cli/table.h"
#include "parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

cnn_status train_report_losses(const train_run *r, int64_t epoch, cnn_error *err)
{
    if (r->losses == NULL) return CNN_OK;
    cnn_record *record = epoch_record_new("losses", r->session, &r->setting);
    record_int(record, "epoch", epoch + 1);
    record_reals(record, "losses", r->losses, (int)r->n_losses);
    return record_write(r->all->output.sink, record, err);
}

static void say_failed(train_run *r, const epoch_row *row)
{
    r->failed = true;
    r->all->sums->bad++;
    fprintf(stderr,
            "benchcnn: %s on %s, batch %lld, epoch %lld has no figure, %s: %s (repeat with --check-seed %lld)\n",
            r->setting.net, r->curve->label, (long long)r->setting.batch, (long long)row->epoch,
            r->apart ? "the ranks came apart" : "the reference comes to something else", row->reason,
            (long long)row->check_seed);
}

static void say_diverged(const train_run *r)
{
    r->all->sums->bad++;
    fprintf(stderr,
            "benchcnn: %s on %s, batch %lld, diverged with --optimizer %s: its loss is not finite, or above %g; a "
            "smaller lr may help\n",
            r->setting.net, r->curve->label, (long long)r->setting.batch, r->setting.optimizer, EPOCH_LOSS_MOST);
}

cnn_status train_report_epoch(train_run *r, int64_t epoch, const trainer_result *e, cnn_error *err)
{
    const train *t = r->all;
    char marks[128];
    const int64_t planned = train_open_ended(t->options) ? 0 : t->epochs;
    const epoch_row row =
        epoch_row_of(&r->setting, epoch + 1, planned, e, r->checked.seed != 0 ? &r->checked : NULL, &r->clocks);
    cnn_record *record = epoch_record(r->session, &row);
    char *searched = trainer_choices(r->trainer);
    record_choice(record, r->tuned != NULL ? r->tuned->text : NULL, searched);
    free(searched);
    record_real(record, "setup_s", r->setup_s);
    record_int(record, "values_bytes", (int64_t)trainer_memory(r->trainer).values);
    record_int(record, "offload_bytes", (int64_t)trainer_memory(r->trainer).offload);
    record_int(record, "allocated_bytes", (int64_t)trainer_memory(r->trainer).total);
    record_real(record, "lr", r->params.optimizer.lr);
    energy_record(record, &r->energy);
    train_ranks_record(r, e, record);
    if (t->n_goals > 0) {
        record_real(record, t->goal_of == GOAL_ACCURACY ? "until_accuracy" : "until_loss", t->goals[t->n_goals - 1]);
        record_bool(record, "reached", train_reached(r, e));
    }
    if (t->options->patience > 0) {
        record_int(record, "patience", t->options->patience);
        record_int(record, "since_best", r->progress.since_best);
    }
    /* a profiled epoch takes longer, and has records of its own */
    cnn_status status = CNN_OK;
    if (t->params.profile && !row.failed)
        record_free(record);
    else
        status = record_write(t->output.sink, record, err);
    if (row.failed)
        say_failed(r, &row);
    else if (row.diverged)
        r->figure->diverged = true;
    else if (!t->params.profile)
        epoch_sum_add(&r->sum, e->seconds, row.marks);
    if (status != CNN_OK || t->options->json) return status;
    if (row.failed)
        table_print(7, "%5lld  FAILED: %s\n", (long long)epoch + 1, row.reason);
    else if (row.diverged)
        table_print(7, "%5lld  diverged: the loss is not finite, or above %g, and what that takes is no figure\n",
                    (long long)epoch + 1, EPOCH_LOSS_MOST);
    else if (!cnn_impl_timed(r->session->impl))
        table_print(7, "%5lld  %10.5f  %9.5f  %8.2f %%  emulated: not timed\n", (long long)epoch + 1, e->train_loss,
                    e->test_loss, e->test_accuracy * 100.0);
    else
        table_print(7, "%5lld  %10.5f  %9.5f  %8.2f %%  %8.3f  %8.3f  %9.0f%s%s\n", (long long)epoch + 1, e->train_loss,
                    e->test_loss, e->test_accuracy * 100.0, e->seconds, e->train_s, e->images_per_s,
                    row.marks ? "  " : "", bench_marks_text(row.marks, marks, sizeof marks));
    if (!row.failed && e->steps_left_out > 0)
        table_print(7, "       %lld step%s left out so far, for gradients that are not finite; the loss scale is %g\n",
                    (long long)e->steps_left_out, e->steps_left_out == 1 ? " was" : "s were", e->loss_scale);
    fflush(stdout);
    return CNN_OK;
}

void train_report_end(const train_run *r)
{
    bench_stats stats;
    char marks[128];
    unsigned seen = 0;
    if (r->figure->diverged) say_diverged(r);
    if (r->figure->diverged || r->failed || r->sum.count == 0 || !cnn_impl_timed(r->session->impl)) return;
    epoch_sum_stats(&r->sum, &stats);
    *r->figure = (train_figure){.seconds = stats.median, .marks = stats.marks};
    if (r->all->options->json) return;
    for (int i = 0; i < BENCH_MARK_COUNT; i++) seen |= r->sum.marked[i] > 0 ? 1u << i : 0;
    if (r->sum.count > 1)
        table_print(4, "median of %d epochs: %.3f s (%.3f to %.3f s)%s%s\n", stats.count, stats.median, stats.min,
                    stats.max, stats.marks ? "  " : "", bench_marks_text(stats.marks, marks, sizeof marks));
    train_say_energy(r);
    if (!train_several(r->all)) table_legend(seen | stats.marks); /* else beneath the table of all points */
}

void train_print_kept(const train_run *r)
{
    const train *t = r->all;
    train_figure *f = r->figure;
    char seconds[32] = "diverged";
    t->sums->trained++;
    f->diverged = epoch_diverged(&t->table, &r->setting);
    if (f->diverged) say_diverged(r);
    if (epoch_median(&t->table, &r->setting, &f->seconds, &f->marks) > 0) train_time_text(f->seconds, seconds);
    if (t->n_goals > 0)
        train_print_held(r);
    else if (!t->options->json)
        printf("batch %-6lld %-18s  %10s  (already in %s)\n", (long long)r->setting.batch, r->curve->label, seconds,
               t->options->out);
}

const char *train_time_text(double seconds, char text[32])
{
    snprintf(text, 32, isnan(seconds) ? "not timed" : "%.3f s", seconds);
    return text;
}

void train_print_head(const train_run *r)
{
    char setup[32], shift[32] = "", workers[48] = "", scale[64] = "", schedule[RATE_SCHEDULE_TEXT + 16] = "",
                    over[48] = "", bucket[48] = "", fused[48] = "";
    const epoch_setting *s = &r->setting;
    if (r->all->ranks != NULL)
        snprintf(over, sizeof over, "%lld rank%s of ", (long long)s->ranks, s->ranks == 1 ? "" : "s");
    if (s->bucket > 0) snprintf(bucket, sizeof bucket, ", buckets of %lld bytes", (long long)s->bucket);
    if (s->fused > 0) snprintf(fused, sizeof fused, ", %lld fused", (long long)s->fused);
    if (r->all->options->json) return;
    if (s->shift > 0) snprintf(shift, sizeof shift, ", shift %lld", (long long)s->shift);
    if (s->workers > 0)
        snprintf(workers, sizeof workers, ", %lld worker%s", (long long)s->workers, s->workers == 1 ? "" : "s");
    if (s->loss_scale > 0)
        snprintf(scale, sizeof scale, ", loss scale %lld%s", (long long)s->loss_scale,
                 r->params.optimizer.growth > 0.0 ? " at first" : "");
    if (s->schedule[0] != '\0') snprintf(schedule, sizeof schedule, ", schedule %s", s->schedule);
    if (r->tuned != NULL) printf("tuned: %s\n", r->tuned->text[0] != '\0' ? r->tuned->text : "nothing; the defaults");
    printf("%s on %s, batch %lld, %s:%s, %s %s, %s%lld thread%s%s%s%s%s%s%s%s%s%s%s%s; set-up %s\n", s->net, s->data,
           (long long)s->batch, s->impl, s->algorithm, s->dtype, s->layout, over, (long long)s->threads,
           s->threads == 1 ? "" : "s", bucket, workers, scale, fused, s->graph ? ", graph" : "",
           s->streams > 1 ? ", 2 streams" : "", s->recompute ? ", recompute" : "", s->offload ? ", offload" : "",
           strcmp(s->data_on, "host") == 0 ? ", data on the host" : "", shift, schedule,
           train_time_text(r->setup_s, setup));
    printf("%5s  %10s  %9s  %10s  %8s  %8s  %9s\n", "epoch", "train loss", "test loss", "accuracy", "seconds",
           "train s", "images/s");
}
