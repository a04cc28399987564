/* sweep_batch.c: `benchcnn sweep batch`: epoch time over batch sizes, for every chosen implementation and algorithm.
 *
 * Batch sizes are the outer loop and implementations the inner one, so that whatever drifts in the machine hits all
 * alike. Each epoch is a record as soon as it is done; points that --out already holds to the end are not run again, so
 * the same command goes on where a killed one stopped. */
#include "../names.h"
#include "../net/trainer.h"
#include "bench/epoch.h"
#include "sessions.h"
#include "sweep_parts.h"
#include "train_plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { BATCHES_MAX = 64, CURVES_MAX = 64, BATCH_MOST = 60000 };

/* Table 4.1 of the thesis. */
static const char thesis_batches[] = "5,10,20,40,50,100,200,400,500,1000,2000,5000";

typedef struct curve { /* what is swept over the batch sizes */
    int session;
    const char *algorithm;
    cnn_type type;
    char label[3 * CNN_NAME_MAX];
} curve;

typedef struct batch_sweep {
    const cli_options *options;
    const char *net;       /* as given: a name or a file */
    epoch_setting network; /* as recorded: the fields that tell networks apart */
    int64_t batches[BATCHES_MAX];
    int n_batches;
    curve curves[CURVES_MAX];
    int n_curves;
    cli_type_set types;
    trainer_params params; /* but for the algorithm */
    cli_sessions sessions;
    bool described[CNN_MAX_CHOICES]; /* whose environment is recorded */
    dataset data;
    epoch_table table; /* what --out held, and what was run since */
    record_sink *sink;
    cli_progress progress;
    int points, ran, kept, refused, diverged;
} batch_sweep;

/* ---- Set-up ---- */

static cnn_status read_options(batch_sweep *s, cnn_error *err)
{
    const cli_options *o = s->options;
    s->net = o->net ? o->net : "thesis";
    cnn_status status = cli_ints("batch", o->batch ? o->batch : thesis_batches, 1, BATCH_MOST, s->batches, BATCHES_MAX,
                                 &s->n_batches, err);
    if (status == CNN_OK) status = cli_types(o, &s->types, err);
    if (status == CNN_OK) status = cli_trainer_params(o, &s->params, err);
    return status;
}

/* Once, in the shape that the network's input has. */
static cnn_status load_data(batch_sweep *s, const cnn_net *net, cnn_error *err)
{
    const cli_options *o = s->options;
    const cnn_value *input = &net->values[0];
    dataset_params params = {.what = o->data,
                             .c = input->c,
                             .h = input->h,
                             .w = input->w,
                             .train_images = o->train_images,
                             .test_images = o->test_images,
                             .seed = (uint64_t)o->seed,
                             .threads = s->sessions.list[0].threads};
    cnn_status status = dataset_open(&params, &s->data, err);
    for (int i = 0; status == CNN_OK && i < s->n_batches; i++)
        if (s->batches[i] > s->data.train.count)
            status = CNN_FAIL(err, CNN_BAD_ARGUMENT, "--batch %lld is more than the %lld training images",
                              (long long)s->batches[i], (long long)s->data.train.count);
    if (status == CNN_OK && !o->quiet) fprintf(stderr, "data: %s\n", s->data.source);
    return status;
}

static cnn_status add_curve(batch_sweep *s, int session, const char *algorithm, const cnn_type *type, cnn_error *err)
{
    if (s->n_curves == CURVES_MAX)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "sweep: more than %d algorithms and types; choose with --impl",
                        CURVES_MAX);
    curve *c = &s->curves[s->n_curves++];
    *c = (curve){.session = session, .algorithm = algorithm, .type = *type};
    snprintf(c->label, sizeof c->label, "%s:%s", s->sessions.list[session].impl->name, algorithm);
    if (s->types.count > 1) {
        size_t used = strlen(c->label);
        snprintf(c->label + used, sizeof c->label - used, ":%s:%s", cnn_dtype_name(type->dtype),
                 cnn_layout_name(type->layout));
    }
    return CNN_OK;
}

static cnn_status make_curves(batch_sweep *s, const cnn_net *net, cnn_error *err)
{
    const cnn_op op = cli_deciding_op(net);
    cnn_status status = CNN_OK;
    for (int t = 0; t < s->types.count; t++)
        for (int i = 0; i < s->sessions.count; i++) {
            const cnn_session *session = &s->sessions.list[i];
            for (int a = 0; status == CNN_OK && a < session->impl->n_algorithms; a++) {
                const cnn_algorithm *algorithm = &session->impl->algorithms[a];
                if (algorithm->ops & 1u << op && cli_chosen(&s->sessions, session, algorithm))
                    status = add_curve(s, i, algorithm->name, &s->types.types[t], err);
            }
        }
    return status;
}

static cnn_status read_earlier(batch_sweep *s, cnn_error *err)
{
    int bad = 0;
    struct stat info; /* only a plain file holds anything to read back */
    if (!s->options->out || stat(s->options->out, &info) != 0 || !S_ISREG(info.st_mode)) return CNN_OK;
    cnn_status status = epoch_table_read(&s->table, s->options->out, &bad, err);
    if (status == CNN_OK && bad > 0)
        fprintf(stderr, "benchcnn: %s: %d line%s no record, passed over\n", s->options->out, bad,
                bad == 1 ? " is" : "s are");
    return status;
}

static cnn_status set_up(batch_sweep *s, cnn_error *err)
{
    cnn_network *network = NULL;
    cnn_status status = read_options(s, err);
    if (status == CNN_OK)
        status = cnn_net_load(s->net, &s->types.types[0], s->batches[0], (uint64_t)s->options->seed, &network, err);
    if (status == CNN_OK) epoch_setting_of_net(&network->net, &s->network);
    if (status == CNN_OK) status = record_sink_open(s->options->out, s->options->json, &s->sink, err);
    if (status == CNN_OK) status = read_earlier(s, err);
    if (status == CNN_OK) status = cli_sessions_open(s->options, true, &s->sessions, err);
    if (status == CNN_OK) status = cli_fitting(&s->sessions, &network->net, err);
    if (status == CNN_OK) status = load_data(s, &network->net, err);
    if (status == CNN_OK) status = make_curves(s, &network->net, err);
    cnn_net_free(network);
    return status;
}

/* ---- One point: a batch size on a curve ---- */

static void setting_of(const batch_sweep *s, const curve *c, int64_t batch, epoch_setting *setting)
{
    char optimizer[CNN_PROBLEM_TEXT_MAX];
    *setting = s->network;
    epoch_setting_of_session(&s->sessions.list[c->session], setting);
    epoch_setting_of_trainer(&s->sessions.list[c->session], &s->params, setting);
    cnn_optimizer_format(&s->params.optimizer, optimizer);
    snprintf(setting->algorithm, sizeof setting->algorithm, "%s", c->algorithm);
    snprintf(setting->data, sizeof setting->data, "%s", s->data.name);
    snprintf(setting->dtype, sizeof setting->dtype, "%s", cnn_dtype_name(c->type.dtype));
    snprintf(setting->layout, sizeof setting->layout, "%s", cnn_layout_name(c->type.layout));
    snprintf(setting->math, sizeof setting->math, "%s", cnn_math_name(c->type.math));
    snprintf(setting->optimizer, sizeof setting->optimizer, "%.*s", (int)sizeof setting->optimizer - 1, optimizer);
    setting->batch = batch;
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

static cnn_status record_epoch(batch_sweep *s, const curve *c, const epoch_setting *setting, int64_t epoch,
                               const trainer_result *r, cnn_error *err)
{
    epoch_row row = {*setting,     epoch + 1,         r->seconds,       r->train_s,      r->test_s,     r->train_loss,
                     r->test_loss, r->train_accuracy, r->test_accuracy, r->images_per_s, r->transfer_s, r->host_step_s};
    bool diverged = !(isfinite(r->train_loss) && isfinite(r->test_loss));
    cnn_record *record = epoch_record(&s->sessions.list[c->session], &row);
    if (diverged) s->diverged++;
    cnn_status status = record_write(s->sink, record, err);
    if (status == CNN_OK) status = epoch_table_add(&s->table, &row, err);
    if (status == CNN_OK) print_point(s, &row, c->label, diverged ? "the loss is not finite" : "");
    return status;
}

static cnn_status train(batch_sweep *s, const curve *c, const cnn_network *network, const epoch_setting *setting,
                        cnn_error *err)
{
    char what[4 * CNN_NAME_MAX];
    trainer *t = NULL;
    trainer_watch watch = {.each = show_progress, .user = s};
    trainer_params params = s->params;
    params.algorithm = c->algorithm;
    cnn_status status = trainer_open(&s->sessions.list[c->session], network, &s->data, &params, &t, err);
    if (status == CNN_OK) status = trainer_start(t, err);
    for (int64_t epoch = 0; status == CNN_OK && epoch < s->options->epochs; epoch++) {
        trainer_result result;
        snprintf(what, sizeof what, "point %d of %d: batch %lld %s, epoch %lld", s->ran + s->kept + s->refused + 1,
                 s->points, (long long)setting->batch, c->label, (long long)epoch + 1);
        cli_progress_start(&s->progress, what, s->options->quiet);
        status = trainer_epoch(t, epoch, &watch, &result, err);
        cli_progress_end(&s->progress);
        if (status == CNN_OK) status = record_epoch(s, c, setting, epoch, &result, err);
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

static cnn_status run_point(batch_sweep *s, const curve *c, int64_t batch, cnn_error *err)
{
    cnn_network *network = NULL;
    epoch_setting setting;
    cnn_status status = cnn_net_load(s->net, &c->type, batch, (uint64_t)s->options->seed, &network, err);
    if (status != CNN_OK) return status;
    setting_of(s, c, batch, &setting);
    if (epoch_finished(&s->table, &setting, s->options->epochs)) {
        print_kept(s, c, &setting);
        s->kept++;
        goto cleanup;
    }
    if (!s->described[c->session]) {
        status = record_environment(s->sink, &s->sessions.list[c->session], s->options->command_line, err);
        s->described[c->session] = status == CNN_OK;
    }
    if (status == CNN_OK) status = train(s, c, network, &setting, err);
    if (status == CNN_OK) s->ran++;
    if (status == CNN_UNSUPPORTED || status == CNN_OUT_OF_MEMORY) { /* this point's own trouble */
        fprintf(stderr, "batch %lld %s: %s: %s\n", (long long)batch, c->label, cnn_status_name(status), err->message);
        s->refused++;
        status = CNN_OK;
    }
cleanup:
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
            if (run_point(s, &s->curves[c], s->batches[b], err) != CNN_OK) return err->status;
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
            setting_of(s, &s->curves[c], s->batches[b], &setting);
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
    cnn_status status = set_up(s, err);
    if (status == CNN_OK) status = run_all(s, err);
    cli_progress_end(&s->progress);
    if (status == CNN_OK || (status == CNN_INTERRUPTED && s->table.count > 0)) {
        if (!options->json && s->n_curves > 0) print_table(s);
    }
    if (status != CNN_OK)
        result = cli_fail(err);
    else
        result = s->diverged > 0 ? EXIT_FAILED : s->ran + s->kept > 0 ? EXIT_HELD : EXIT_NOTHING;
    cli_sessions_close(&s->sessions);
    record_sink_close(s->sink);
    epoch_table_free(&s->table);
    dataset_free(&s->data);
    free(s);
    return result;
}
