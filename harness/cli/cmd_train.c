/* cmd_train.c: `benchcnn train`: trains a network with each chosen implementation and algorithm in turn, from the same
 * initial weights and in the same order of images, and times its epochs. An epoch is a record as soon as it is done. */
#include "../names.h"
#include "../net/checkpoint.h"
#include "bench/epoch.h"
#include "sessions.h"
#include "train_plan.h"
#include "train_profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH_MOST = 60000, BATCH_USUAL = 100, EPOCHS_UNTIL = 1000 };

typedef struct train {
    const cli_options *options;
    cli_type_set types;
    trainer_params params; /* but for the algorithm */
    int64_t batch, epochs;
    cnn_op deciding_op;
    cli_sessions sessions;
    dataset data;
    record_sink *sink;
    cli_progress progress;
    double *losses; /* of the steps of an epoch, with --losses */
    int64_t n_losses;
    int trained, diverged;
} train;

/* One training run. */
typedef struct run {
    train *all;
    cnn_session *session;
    const char *algorithm;
    cnn_network *network;
    trainer *trainer;
    double setup_s, train_seconds;
    int64_t epochs_run;
} run;

/* ---- Set-up ---- */

static cnn_status read_options(train *t, cnn_error *err)
{
    const cli_options *o = t->options;
    int count = 0;
    if (cli_no_words(o, err) != CNN_OK) return err->status;
    if (o->net == NULL)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "train needs a network: --net NAME or --net FILE, e.g. --net thesis");
    if (o->impl == NULL)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "train needs implementations: --impl NAME[:ALGORITHM], e.g. --impl cpu:direct (see `benchcnn "
                        "list`)");
    t->batch = BATCH_USUAL;
    cnn_status status =
        o->batch != NULL ? cli_ints("batch", o->batch, 1, BATCH_MOST, &t->batch, 1, &count, err) : CNN_OK;
    if (status == CNN_OK) status = cli_types(o, &t->types, err);
    if (status == CNN_OK) status = cli_trainer_params(o, &t->params, err);
    /* --until-loss needs room: one epoch, the default, is no limit then */
    t->epochs = o->until_loss >= 0.0 && o->epochs == 1 ? EPOCHS_UNTIL : o->epochs;
    return status;
}

static cnn_status open_data(train *t, const cnn_net *net, cnn_error *err)
{
    const cli_options *o = t->options;
    const cnn_value *x = &net->values[0];
    const dataset_params params = {.what = o->data,
                                   .c = x->c,
                                   .h = x->h,
                                   .w = x->w,
                                   .train_images = o->train_images,
                                   .test_images = o->test_images,
                                   .seed = (uint64_t)o->seed,
                                   .threads = t->sessions.list[0].threads};
    const cnn_status status = dataset_open(&params, &t->data, err);
    if (status != CNN_OK) return status;
    if (t->batch > t->data.train.count)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--batch %lld is more than the %lld training images",
                        (long long)t->batch, (long long)t->data.train.count);
    if (!o->quiet) fprintf(stderr, "data: %s\n", t->data.source);
    t->losses = o->losses ? calloc((size_t)(t->data.train.count / t->batch + 1), sizeof *t->losses) : NULL;
    return o->losses && t->losses == NULL ? CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the losses") : CNN_OK;
}

static cnn_status set_up(train *t, cnn_error *err)
{
    cnn_network *network = NULL;
    const cli_options *o = t->options;
    cnn_status status = read_options(t, err);
    if (status == CNN_OK) status = cnn_net_load(o->net, &t->types.types[0], t->batch, (uint64_t)o->seed, &network, err);
    if (status == CNN_OK) status = record_sink_open(o->plan ? NULL : o->out, !o->plan && o->json, &t->sink, err);
    if (status == CNN_OK) status = cli_sessions_open(o, false, &t->sessions, err);
    if (status == CNN_OK) status = cli_fitting(&t->sessions, &network->net, err);
    if (status == CNN_OK) t->deciding_op = cli_deciding_op(&network->net);
    if (status == CNN_OK) status = open_data(t, &network->net, err);
    cnn_net_free(network);
    return status;
}

/* ---- One run ---- */

static bool show_progress(void *user, int64_t done, int64_t total)
{
    const run *r = user;
    cli_progress_show(&r->all->progress, (double)done, (double)total, "images");
    return !cli_interrupted();
}

static void keep_loss(void *user, int64_t step, double loss)
{
    const run *r = user;
    r->all->losses[step] = loss;
    r->all->n_losses = step + 1;
}

static void setting_of(const run *r, epoch_setting *setting)
{
    const train *t = r->all;
    const cnn_type type = r->network->net.type;
    char optimizer[CNN_PROBLEM_TEXT_MAX];
    memset(setting, 0, sizeof *setting);
    epoch_setting_of_session(r->session, setting);
    epoch_setting_of_trainer(r->session, &t->params, setting);
    cnn_optimizer_format(&t->params.optimizer, optimizer);
    snprintf(setting->algorithm, sizeof setting->algorithm, "%s", r->algorithm);
    epoch_setting_of_net(&r->network->net, setting);
    snprintf(setting->data, sizeof setting->data, "%s", t->data.name);
    snprintf(setting->dtype, sizeof setting->dtype, "%s", cnn_dtype_name(type.dtype));
    snprintf(setting->layout, sizeof setting->layout, "%s", cnn_layout_name(type.layout));
    snprintf(setting->math, sizeof setting->math, "%s", cnn_math_name(type.math));
    snprintf(setting->optimizer, sizeof setting->optimizer, "%.*s", (int)sizeof setting->optimizer - 1, optimizer);
    setting->batch = t->batch;
    setting->seed = t->options->seed;
    setting->train_images = t->data.train.count;
    setting->test_images = t->data.test.count;
}

static cnn_status write_losses(const run *r, int64_t epoch, cnn_error *err)
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
    return record_write(t->sink, record, err);
}

static cnn_status report_epoch(run *r, int64_t epoch, const trainer_result *e, cnn_error *err)
{
    train *t = r->all;
    epoch_row row = {.epoch = epoch + 1,
                     .seconds = e->seconds,
                     .train_s = e->train_s,
                     .test_s = e->test_s,
                     .train_loss = e->train_loss,
                     .test_loss = e->test_loss,
                     .train_accuracy = e->train_accuracy,
                     .test_accuracy = e->test_accuracy,
                     .images_per_s = e->images_per_s,
                     .transfer_s = e->transfer_s,
                     .host_step_s = e->host_step_s};
    setting_of(r, &row.setting);
    cnn_record *record = epoch_record(r->session, &row);
    record_real(record, "setup_s", r->setup_s);
    /* a profiled epoch takes longer, and has records of its own */
    cnn_status status = CNN_OK;
    if (t->params.profile)
        record_free(record);
    else
        status = record_write(t->sink, record, err);
    if (!(isfinite(e->train_loss) && isfinite(e->test_loss))) t->diverged++;
    if (status != CNN_OK || t->options->json) return status;
    printf("%5lld  %10.5f  %9.5f  %8.2f %%", (long long)epoch + 1, e->train_loss, e->test_loss,
           e->test_accuracy * 100.0);
    if (cnn_impl_timed(r->session->impl))
        printf("  %8.3f  %8.3f  %9.0f\n", e->seconds, e->train_s, e->images_per_s);
    else
        printf("  emulated: not timed\n");
    fflush(stdout);
    return CNN_OK;
}

static cnn_status report_profile(run *r, int64_t epoch, const trainer_result *e, cnn_error *err)
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
    setting_of(r, &setting);
    return train_profile_report(&p, r->all->sink, err);
}

/* NaN is the time of what is emulated. */
static const char *time_text(double seconds, char text[32])
{
    snprintf(text, 32, isnan(seconds) ? "not timed" : "%.3f s", seconds);
    return text;
}

static void print_head(const run *r)
{
    char setup[32];
    if (r->all->options->json) return;
    const trainer_params *params = &r->all->params;
    printf("%s on %s, batch %lld, %s:%s, %s %s, %d thread%s%s%s; set-up %s\n", r->network->net.name, r->all->data.name,
           (long long)r->all->batch, r->session->impl->name, r->algorithm, cnn_dtype_name(r->network->net.type.dtype),
           cnn_layout_name(r->network->net.type.layout), r->session->threads, r->session->threads == 1 ? "" : "s",
           trainer_uses_graph(r->session, params) ? ", graph" : "", params->host_data ? ", data on the host" : "",
           time_text(r->setup_s, setup));
    printf("%5s  %10s  %9s  %10s  %8s  %8s  %9s\n", "epoch", "train loss", "test loss", "accuracy", "seconds",
           "train s", "images/s");
}

/* What must be the same for a run to go on: whatever its bits depend on. */
static void describe(const run *r, char setting[CHECKPOINT_SETTING_MAX])
{
    epoch_setting s;
    setting_of(r, &s);
    snprintf(setting, CHECKPOINT_SETTING_MAX, "%s %s on %s, %s:%s, %s %s %s, batch %lld, %s, seed %lld, %lld images",
             s.net, s.net_crc, s.data, s.impl, s.algorithm, s.dtype, s.layout, s.math, (long long)s.batch, s.optimizer,
             (long long)s.seed, (long long)s.train_images);
}

/* From the checkpoint, if there is one. */
static cnn_status go_on(run *r, char setting[CHECKPOINT_SETTING_MAX], int64_t *done, cnn_error *err)
{
    describe(r, setting);
    const cnn_status status = checkpoint_load(r->trainer, r->all->options->checkpoint, setting, done, err);
    if (status != CNN_OK || *done == 0) return status;
    if (!r->all->options->json)
        printf("going on behind epoch %lld, from %s\n", (long long)*done, r->all->options->checkpoint);
    r->all->trained += *done >= r->all->epochs; /* nothing is left to do, and that is no failure */
    return CNN_OK;
}

static cnn_status run_epochs(run *r, cnn_error *err)
{
    train *t = r->all;
    const cli_options *o = t->options;
    const trainer_watch watch = {show_progress, t->losses != NULL ? keep_loss : NULL, r};
    cnn_status status = CNN_OK;
    bool reached = false;
    char spent[32], setting[CHECKPOINT_SETTING_MAX];
    int64_t done = 0;
    if (o->checkpoint != NULL) status = go_on(r, setting, &done, err);
    for (int64_t epoch = done; epoch < t->epochs && status == CNN_OK && !reached; epoch++) {
        trainer_result e;
        char what[64];
        snprintf(what, sizeof what, "epoch %lld of %lld", (long long)epoch + 1, (long long)t->epochs);
        cli_progress_start(&t->progress, what, o->quiet);
        status = trainer_epoch(r->trainer, epoch, &watch, &e, err);
        cli_progress_end(&t->progress);
        if (status == CNN_OK) status = report_epoch(r, epoch, &e, err);
        if (status == CNN_OK) status = report_profile(r, epoch, &e, err);
        if (status == CNN_OK) status = write_losses(r, epoch, err);
        if (status == CNN_OK && o->checkpoint != NULL)
            status = checkpoint_save(r->trainer, o->checkpoint, setting, epoch + 1, err);
        if (status != CNN_OK) break;
        r->epochs_run++;
        r->train_seconds += e.seconds;
        reached = e.test_loss < o->until_loss;
    }
    if (status == CNN_OK && o->until_loss >= 0.0 && !o->json)
        printf("test loss %s below %g after %lld epoch%s, %s\n", reached ? "is" : "is not", o->until_loss,
               (long long)r->epochs_run, r->epochs_run == 1 ? "" : "s", time_text(r->train_seconds, spent));
    return status;
}

static cnn_status run_one(train *t, cnn_session *session, const char *algorithm, const cnn_type *type, cnn_error *err)
{
    run r = {.all = t, .session = session, .algorithm = algorithm};
    const cli_options *o = t->options;
    trainer_params params = t->params;
    const double start = cnn_now();
    params.algorithm = algorithm;
    cnn_status status = train_profile_check(o, session, err);
    if (status == CNN_OK) status = cnn_net_load(o->net, type, t->batch, (uint64_t)o->seed, &r.network, err);
    if (status == CNN_OK) status = trainer_open(session, r.network, &t->data, &params, &r.trainer, err);
    if (status == CNN_OK && o->plan) {
        print_train_plan(r.trainer, &r.network->net);
        t->trained++;
    } else if (status == CNN_OK) {
        status = trainer_start(r.trainer, err);
        r.setup_s = cnn_impl_timed(session->impl) ? cnn_now() - start : NAN;
        if (status == CNN_OK) status = record_environment(t->sink, session, o->command_line, err);
        if (status == CNN_OK) print_head(&r);
        if (status == CNN_OK) status = run_epochs(&r, err);
        t->trained += r.epochs_run > 0;
    }
    trainer_close(r.trainer);
    cnn_net_free(r.network);
    return status;
}

/* ---- All runs ---- */

static cnn_session *session_of(cli_sessions *sessions, const cnn_impl *impl)
{
    for (int i = 0; i < sessions->count; i++)
        if (sessions->list[i].impl == impl) return &sessions->list[i];
    return NULL; /* not available here, and chosen by a glob */
}

/* A choice without an algorithm stands for the default: the implementation's first for the deciding operation. */
static cnn_status run_choice(train *t, const cnn_choice *choice, const cnn_type *type, cnn_error *err)
{
    cnn_session *session = session_of(&t->sessions, choice->impl);
    const cnn_impl *impl = choice->impl;
    cnn_status status = CNN_OK;
    for (int a = 0; session != NULL && a < impl->n_algorithms && status == CNN_OK; a++) {
        if (!(impl->algorithms[a].ops & 1u << t->deciding_op) || !cnn_choice_matches(choice, &impl->algorithms[a]))
            continue;
        if (cli_interrupted()) return CNN_FAIL(err, CNN_INTERRUPTED, "interrupted");
        status = run_one(t, session, impl->algorithms[a].name, type, err);
        if (choice->pattern[0] == '\0') break;
    }
    return status;
}

static cnn_status run_all(train *t, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = 0; i < t->types.count && status == CNN_OK; i++)
        for (int c = 0; c < t->sessions.n_choices && status == CNN_OK; c++)
            status = run_choice(t, &t->sessions.choices[c], &t->types.types[i], err);
    return status;
}

static void print_repeat(const train *t)
{
    if (t->options->json || t->options->plan || t->trained == 0) return;
    printf("repeat: %s", t->options->command_line);
    if (t->options->threads == 0) printf(" --threads %d", t->sessions.list[0].threads);
    putchar('\n');
}

int cmd_train(const cli_options *options, cnn_error *err)
{
    train *t = calloc(1, sizeof *t);
    if (t == NULL) {
        CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for training");
        return cli_fail(err);
    }
    t->options = options;
    cnn_status status = set_up(t, err);
    if (status == CNN_OK) status = run_all(t, err);
    print_repeat(t);
    const int result = status != CNN_OK  ? cli_fail(err)
                       : t->diverged > 0 ? EXIT_FAILED
                       : t->trained > 0  ? EXIT_HELD
                                         : EXIT_NOTHING;
    cli_sessions_close(&t->sessions);
    record_sink_close(t->sink);
    dataset_free(&t->data);
    free(t->losses);
    free(t);
    return result;
}
