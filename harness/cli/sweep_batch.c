/* sweep_batch.c: `benchcnn sweep batch`: epoch time over batch sizes, for every chosen implementation and algorithm.
 *
 * Batch sizes are the outer loop and implementations the inner one, so that whatever drifts in the machine hits all
 * alike. Each epoch is a record as soon as it is done; points that --out already holds to the end are not run again, so
 * the same command goes on where a killed one stopped. */
#include "sweep_batch.h"
#include "../names.h"

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
    char optimizer[CNN_PROBLEM_TEXT_MAX];
    const curve *c = &s->curves[index];
    *setting = s->network;
    epoch_setting_of_session(session_of(s, b, index), setting);
    epoch_setting_of_trainer(session_of(s, b, index), &s->params, setting);
    cnn_optimizer_format(&s->params.optimizer, optimizer);
    snprintf(setting->algorithm, sizeof setting->algorithm, "%s", c->algorithm);
    snprintf(setting->data, sizeof setting->data, "%s", s->data.name);
    snprintf(setting->dtype, sizeof setting->dtype, "%s", cnn_dtype_name(c->type.dtype));
    snprintf(setting->layout, sizeof setting->layout, "%s", cnn_layout_name(c->type.layout));
    snprintf(setting->math, sizeof setting->math, "%s", cnn_math_name(c->type.math));
    snprintf(setting->optimizer, sizeof setting->optimizer, "%.*s", (int)sizeof setting->optimizer - 1, optimizer);
    setting->batch = s->batches[b];
    setting->seed = s->options->seed;
    setting->train_images = s->data.train.count;
    setting->test_images = s->data.test.count;
}

static bool show_progress(void *user, int64_t done, int64_t total)
{
    batch_sweep *s = user;
    cli_progress_show(&s->progress, (double)done, (double)total, "");
    return !cli_interrupted();
}

static void print_point(const batch_sweep *s, const epoch_row *row, const char *label, const char *remark)
{
    if (s->options->json) return;
    printf("batch %-6lld %-18s epoch %lld  %8.3f s", (long long)row->setting.batch, label, (long long)row->epoch,
           row->seconds);
    if (isfinite(row->test_loss)) printf("  test loss %.4f", row->test_loss);
    if (isfinite(row->test_accuracy)) printf("  accuracy %5.2f %%", row->test_accuracy * 100);
    printf("%s%s\n", remark[0] ? "  " : "", remark);
    fflush(stdout);
}

/* One point in hand. */
typedef struct point {
    const curve *curve;
    const cnn_session *session;
    tuned_net *tuned; /* NULL: the curve is no tuned one */
} point;

static cnn_status record_epoch(batch_sweep *s, const point *p, const epoch_setting *setting, int64_t epoch,
                               const trainer_result *r, cnn_error *err)
{
    epoch_row row = {*setting,     epoch + 1,         r->seconds,       r->train_s,      r->test_s,     r->train_loss,
                     r->test_loss, r->train_accuracy, r->test_accuracy, r->images_per_s, r->transfer_s, r->host_step_s};
    bool diverged = !(isfinite(r->train_loss) && isfinite(r->test_loss));
    cnn_record *record = epoch_record(p->session, &row);
    if (p->tuned) record_text(record, "choice", p->tuned->text);
    if (diverged) s->diverged++;
    cnn_status status = record_write(s->sink, record, err);
    if (status == CNN_OK) status = epoch_table_add(&s->table, &row, err);
    if (status == CNN_OK) print_point(s, &row, p->curve->label, diverged ? "the loss is not finite" : "");
    return status;
}

static cnn_status train(batch_sweep *s, const point *p, const cnn_network *network, const epoch_setting *setting,
                        cnn_error *err)
{
    const curve *c = p->curve;
    char what[4 * CNN_NAME_MAX];
    trainer *t = NULL;
    trainer_watch watch = {.each = show_progress, .user = s};
    trainer_params params = s->params;
    params.algorithm = p->tuned ? NULL : c->algorithm;
    params.pick = p->tuned ? cli_tuned_layer : NULL;
    params.pick_user = p->tuned;
    cnn_status status = trainer_open(p->session, network, &s->data, &params, &t, err);
    if (status == CNN_OK) status = trainer_start(t, err);
    for (int64_t epoch = 0; status == CNN_OK && epoch < s->options->epochs; epoch++) {
        trainer_result result;
        snprintf(what, sizeof what, "point %d of %d: batch %lld %s, epoch %lld", s->ran + s->kept + s->refused + 1,
                 s->points, (long long)setting->batch, c->label, (long long)epoch + 1);
        cli_progress_start(&s->progress, what, s->options->quiet);
        status = trainer_epoch(t, epoch, &watch, &result, err);
        cli_progress_end(&s->progress);
        if (status == CNN_OK) status = record_epoch(s, p, setting, epoch, &result, err);
    }
    trainer_close(t);
    return status;
}

static void print_kept(const batch_sweep *s, const curve *c, const epoch_setting *setting)
{
    double seconds = 0;
    if (epoch_median(&s->table, setting, &seconds) > 0 && !s->options->json)
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

static cnn_status run_point(batch_sweep *s, int b, int index, cnn_error *err)
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
        goto cleanup;
    }
    if (!s->described[c->session]) {
        status = record_environment(s->sink, &s->sessions.list[c->session], s->options->command_line, err);
        s->described[c->session] = status == CNN_OK;
    }
    if (status == CNN_OK) status = train(s, &p, network, &setting, err);
    if (status == CNN_OK) s->ran++;
    if (status == CNN_UNSUPPORTED || status == CNN_OUT_OF_MEMORY) { /* this point's own trouble */
        fprintf(stderr, "batch %lld %s: %s: %s\n", (long long)batch, c->label, cnn_status_name(status), err->message);
        s->refused++;
        status = CNN_OK;
    }
cleanup:
    free(p.tuned);
    cnn_net_free(network);
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

static void print_table(const batch_sweep *s)
{
    epoch_setting setting;
    printf("\nseconds per epoch (%lld images trained, %lld tested)\n%8s", (long long)s->data.train.count,
           (long long)s->data.test.count, "batch");
    for (int c = 0; c < s->n_curves; c++)
        printf("  %*s", (int)fmax(10, (double)strlen(s->curves[c].label)), s->curves[c].label);
    putchar('\n');
    for (int b = 0; b < s->n_batches; b++) {
        printf("%8lld", (long long)s->batches[b]);
        for (int c = 0; c < s->n_curves; c++) {
            double seconds;
            int width = (int)fmax(10, (double)strlen(s->curves[c].label));
            setting_of(s, b, c, &setting);
            if (epoch_median(&s->table, &setting, &seconds) > 0)
                printf("  %*.3f", width, seconds);
            else
                printf("  %*s", width, "-");
        }
        putchar('\n');
    }
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
        result = s->diverged > 0 ? EXIT_FAILED : s->ran + s->kept > 0 ? EXIT_HELD : EXIT_NOTHING;
    cli_tuned_close(s->tuned);
    cli_sessions_close(&s->sessions);
    record_sink_close(s->sink);
    epoch_table_free(&s->table);
    dataset_free(&s->data);
    free(s);
    return result;
}
