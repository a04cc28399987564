/* batch.c: `benchcnn sweep batch`: epoch time over batch sizes, for every chosen implementation and algorithm.
 *
 * Batch sizes are the outer loop and implementations the inner one, so that whatever drifts in the machine hits all
 * alike. Each epoch is a record as soon as it is done; points that --out already holds to the end are not run again, so
 * the same command goes on where a killed one stopped. */
#include "batch.h"
#include "cli/table.h"
#include "harness/base/clock.h"
#include "harness/base/text.h"
#include "harness/problem/names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- One point: a batch size on a curve ---- */

static const cnn_session *session_of(const batch_sweep *s, int b, int c)
{
    return s->with[b][c] ? s->with[b][c] : &s->sessions.list[s->curves[c].session];
}

static void setting_of(const batch_sweep *s, int b, int index, epoch_setting *setting)
{
    const curve *c = &s->curves[index];
    trainer_params params = s->params;
    params.algorithm = c->algorithm;
    *setting = s->network;
    epoch_setting_of_session(session_of(s, b, index), setting);
    epoch_setting_of_trainer(session_of(s, b, index), &params, setting);
    epoch_setting_of_data(&c->type, &s->data, s->batches[b], setting);
    snprintf(setting->algorithm, sizeof setting->algorithm, "%s", c->algorithm);
}

static bool show_progress(void *user, int64_t done, int64_t total)
{
    batch_sweep *s = user;
    if (cnn_now() - s->looked > 0.5) { /* a GPU's throttling is over soon after its work is */
        clock_watch_look(s->watch, &s->clocks);
        s->looked = cnn_now();
    }
    cli_progress_show(&s->progress, (double)done, (double)total, "");
    return !cli_interrupted();
}

static const char no_figure[] = "diverged: the loss is not finite, and what that takes is no figure";

static void print_point(const batch_sweep *s, const epoch_row *row, const char *label)
{
    char marks[128];
    if (row->failed)
        fprintf(stderr,
                "benchcnn: batch %lld %s, epoch %lld has no figure, the reference comes to something else: %s (repeat "
                "with --check-seed %lld)\n",
                (long long)row->setting.batch, label, (long long)row->epoch, row->reason, (long long)row->check_seed);
    if (s->options->json) return;
    bench_marks_text(row->marks, marks, sizeof marks);
    if (row->failed)
        table_print(8, "batch %-6lld %-18s epoch %lld  FAILED: %s\n", (long long)row->setting.batch, label,
                    (long long)row->epoch, row->reason);
    else if (row->diverged)
        table_print(8, "batch %-6lld %-18s epoch %lld  %s\n", (long long)row->setting.batch, label,
                    (long long)row->epoch, no_figure);
    else
        table_print(8, "batch %-6lld %-18s epoch %lld  %8.3f s  test loss %.4f  accuracy %5.2f %%%s%s\n",
                    (long long)row->setting.batch, label, (long long)row->epoch, row->seconds, row->test_loss,
                    row->test_accuracy * 100, marks[0] ? "  " : "", marks);
    fflush(stdout);
}

/* One point in hand. */
typedef struct point {
    const curve *curve;
    const cnn_session *session;
    tuned_net *tuned; /* NULL: the curve is no tuned one */
} point;

static cnn_status record_epoch(batch_sweep *s, const point *p, const trainer *t, const epoch_setting *setting,
                               int64_t epoch, const trainer_result *r, const verify_training_result *checked,
                               cnn_error *err)
{
    const epoch_row row = epoch_row_of(setting, epoch + 1, s->options->epochs, r, checked, &s->clocks);
    cnn_record *record = epoch_record(p->session, &row);
    cli_record_choices(record, t, p->tuned);
    cnn_status status = record_write(s->sink, record, err);
    if (status == CNN_OK && !row.failed) status = epoch_table_add(&s->table, &row, err);
    s->failed += row.failed;
    if (status == CNN_OK) print_point(s, &row, p->curve->label);
    return status;
}

static cnn_status train(batch_sweep *s, const point *p, const cnn_network *network, const epoch_setting *setting,
                        cnn_error *err)
{
    const curve *c = p->curve;
    char what[4 * CNN_NAME_MAX];
    trainer *t = NULL;
    verify_training *check = NULL;
    verify_training_result checked = {.failed = false};
    trainer_watch watch = {.each = show_progress, .user = s};
    trainer_params params = s->params;
    params.algorithm = p->tuned ? NULL : c->algorithm;
    params.pick = p->tuned ? cli_tuned_layer : NULL;
    params.pick_user = p->tuned;
    cnn_status status = trainer_open(p->session, network, &s->data, &params, &t, err);
    if (status == CNN_OK) status = trainer_start(t, err);
    if (status == CNN_OK) status = verify_training_open(t, p->session, network, &s->data, &s->params, &check, err);
    for (int64_t epoch = 0; status == CNN_OK && !checked.failed && epoch < s->options->epochs; epoch++) {
        trainer_result result;
        clock_span span;
        snprintf(what, sizeof what, "point %d of %d: batch %lld %s, epoch %lld", s->ran + s->kept + s->refused + 1,
                 s->points, (long long)setting->batch, c->label, (long long)epoch + 1);
        cli_progress_start(&s->progress, what, s->options->quiet);
        watch_tick(s->options->watch);
        s->clocks = (clock_report){.readings = 0};
        s->looked = cnn_now();
        watch.samples = verify_training_draw(check, epoch, (uint64_t)s->options->check_seed);
        clock_watch_start(s->watch, &span);
        status = trainer_epoch(t, epoch, &watch, &result, err);
        clock_watch_stop(s->watch, &span, &s->clocks);
        cli_progress_end(&s->progress);
        const bool finite = isfinite(result.train_loss) && isfinite(result.test_loss);
        if (status == CNN_OK && finite) status = verify_training_judge(check, cli_interrupted, &checked, err);
        if (status == CNN_OK) status = record_epoch(s, p, t, setting, epoch, &result, finite ? &checked : NULL, err);
    }
    verify_training_close(check);
    trainer_close(t);
    return status;
}

static void print_kept(const batch_sweep *s, const curve *c, const epoch_setting *setting)
{
    double seconds = 0;
    if (s->options->json) return;
    if (epoch_diverged(&s->table, setting))
        printf("batch %-6lld %-18s          diverged  (already in %s)\n", (long long)setting->batch, c->label,
               s->options->out ? s->options->out : "this sweep");
    else if (epoch_median(&s->table, setting, &seconds, NULL) > 0)
        printf("batch %-6lld %-18s          %8.3f s  (already in %s)\n", (long long)setting->batch, c->label, seconds,
               s->options->out ? s->options->out : "this sweep");
}

static cnn_status tune_point(batch_sweep *s, const cnn_network *network, point *p, cnn_error *err)
{
    if (strcmp(p->curve->algorithm, CNN_TUNED) != 0 || !s->tuned) return CNN_OK;
    p->tuned = calloc(1, sizeof *p->tuned);
    if (!p->tuned) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for tuned choices");
    const cnn_status status = cli_tuned_net(s->tuned, p->session, &network->net, p->tuned, err);
    p->session = p->tuned->session;
    return status;
}

static cnn_status train_point(batch_sweep *s, int b, int index, cnn_error *err)
{
    const curve *c = &s->curves[index];
    const int64_t batch = s->batches[b];
    point p = {c, &s->sessions.list[c->session], NULL};
    cnn_network *network = NULL;
    epoch_setting setting;
    cnn_status status = cnn_net_load(s->net, &c->type, batch, (uint64_t)s->options->seed, &network, err);
    if (status == CNN_OK) status = tune_point(s, network, &p, err);
    if (status != CNN_OK) goto cleanup;
    s->with[b][index] = p.session;
    setting_of(s, b, index, &setting);
    if (epoch_finished(&s->table, &setting, s->options->epochs)) {
        print_kept(s, c, &setting);
        s->kept++;
        s->diverged += epoch_diverged(&s->table, &setting);
        goto cleanup;
    }
    if (epoch_measured_elsewhere(&s->table, &setting) && s->again++ == 0) cli_say_other_build(s->options->out);
    if (!s->described[c->session]) {
        status = record_environment(s->sink, &s->sessions.list[c->session], s->options->command_line, err);
        s->described[c->session] = status == CNN_OK;
    }
    if (status == CNN_OK && !s->watches[c->session])
        status = clock_watch_open(&s->sessions.list[c->session], &s->watches[c->session], err);
    s->watch = s->watches[c->session];
    if (status == CNN_OK) status = train(s, &p, network, &setting, err);
    if (status == CNN_OK) s->ran++;
    if (status == CNN_UNSUPPORTED || status == CNN_OUT_OF_MEMORY) { /* this point's own trouble */
        table_put(stderr, "batch %lld %s: %s: %s\n", (long long)batch, c->label, cnn_status_name(status), err->message);
        s->refused++;
        status = CNN_OK;
    }
    s->diverged += status == CNN_OK && epoch_diverged(&s->table, &setting);
cleanup:
    free(p.tuned);
    cnn_net_free(network);
    return status;
}

/* With --isolate, what ends the process ends this point alone. */
static cnn_status run_point(batch_sweep *s, int b, int index, cnn_error *err)
{
    bool mine;
    const curve *c = &s->curves[index];
    char name[2 * CNN_NAME_MAX], doing[WATCH_DOING_MAX];
    snprintf(name, sizeof name, "%s:%s", s->sessions.list[c->session].impl->name, c->algorithm);
    snprintf(doing, sizeof doing, "training with it, batch %lld", (long long)s->batches[b]);
    const int64_t number = (int64_t)b * s->n_curves + index;
    cnn_status status = cli_begin_piece(s->options, number, name, doing, s->sink, &mine, err);
    if (status != CNN_OK || !mine) return status;
    status = train_point(s, b, index, err);
    cli_end_piece(s->options);
    return status;
}

static cnn_status run_all(batch_sweep *s, cnn_error *err)
{
    s->points = s->n_batches * s->n_curves;
    for (int b = 0; b < s->n_batches; b++)
        for (int c = 0; c < s->n_curves; c++) {
            if (cli_interrupted())
                return CNN_FAIL(err, CNN_INTERRUPTED, "interrupted; the same command goes on from here");
            if (run_point(s, b, c, err) != CNN_OK) return err->status;
        }
    return CNN_OK;
}

/* ---- The table: a row a batch size, a column a curve; medians over the epochs. ---- */

static int column_width(const batch_sweep *s, int c)
{
    const int label = (int)strlen(s->curves[c].label);
    return label > 10 ? label : 10;
}

/* "0.841", "0.841 dt" (the first letters of its marks), "diverged", or "-". */
static void cell_text(const batch_sweep *s, const epoch_setting *setting, unsigned *seen, char *text, size_t size)
{
    double seconds;
    unsigned marks = 0;
    if (epoch_median(&s->table, setting, &seconds, &marks) == 0) {
        snprintf(text, size, "%s", epoch_diverged(&s->table, setting) ? "diverged" : "-");
        return;
    }
    snprintf(text, size, "%.3f%s", seconds, marks ? " " : "");
    for (int i = 0; i < BENCH_MARK_COUNT; i++)
        if (marks >> i & 1u) cnn_append(text, size, "%c", bench_mark_name(i)[0]);
    *seen |= marks;
}

/* Columns first ... end - 1: as many as a terminal has room for. */
static void print_columns(const batch_sweep *s, int first, int end, unsigned *seen)
{
    char cell[64];
    epoch_setting setting;
    printf("%8s", "batch");
    for (int c = first; c < end; c++) printf("  %*s", column_width(s, c), s->curves[c].label);
    putchar('\n');
    for (int b = 0; b < s->n_batches; b++) {
        printf("%8lld", (long long)s->batches[b]);
        for (int c = first; c < end; c++) {
            setting_of(s, b, c, &setting);
            cell_text(s, &setting, seen, cell, sizeof cell);
            printf("  %*s", column_width(s, c), cell);
        }
        putchar('\n');
    }
}

static void print_table(const batch_sweep *s)
{
    const int columns = table_columns();
    unsigned seen = 0;
    printf("\nseconds per epoch (%lld images trained, %lld tested)\n", (long long)s->data.train.count,
           (long long)s->data.test.count);
    for (int first = 0, end; first < s->n_curves; first = end) {
        int width = 8;
        for (end = first; end < s->n_curves; end++) {
            width += 2 + column_width(s, end);
            if (columns > 0 && width > columns && end > first) break;
        }
        print_columns(s, first, end, &seen);
    }
    for (int i = 0; i < BENCH_MARK_COUNT; i++)
        if (seen >> i & 1u) printf("  %c: %s, %s\n", bench_mark_name(i)[0], bench_mark_name(i), bench_mark_meaning(i));
    if (s->diverged > 0)
        fprintf(stderr,
                "benchcnn: %d point%s diverged (the loss is not finite) and have no figure: a smaller lr may help\n",
                s->diverged, s->diverged == 1 ? "" : "s");
}

int sweep_batch(const cli_options *options, cnn_error *err)
{
    int result;
    batch_sweep *s = calloc(1, sizeof *s);
    if (!s) {
        CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a sweep");
        return cli_fail(err);
    }
    s->options = options;
    cnn_status status = batch_sweep_set_up(s, err);
    if (status == CNN_OK) status = run_all(s, err);
    cli_progress_end(&s->progress);
    if (status == CNN_OK || (status == CNN_INTERRUPTED && s->table.count > 0)) {
        if (!options->json && s->n_curves > 0) print_table(s);
    }
    if (status != CNN_OK)
        result = cli_fail(err);
    else
        result = s->failed + s->diverged > 0 || options->watch->failed > 0 ? EXIT_FAILED
                 : s->ran + s->kept > 0                                    ? EXIT_HELD
                                                                           : EXIT_NOTHING;
    for (int i = 0; i < CNN_MAX_CHOICES; i++) clock_watch_close(s->watches[i]);
    cli_tuned_close(s->tuned);
    cli_sessions_close(&s->sessions);
    record_sink_close(s->sink);
    epoch_table_free(&s->table);
    dataset_free(&s->data);
    free(s);
    return result;
}
