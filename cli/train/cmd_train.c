/* cmd_train.c: `benchcnn train`: trains a network with each chosen implementation and algorithm in turn, from the same
 * initial weights and in the same order of images, and times its epochs. An epoch is a record as soon as it is done. */
#include "harness/base/clock.h"
#include "harness/net/checkpoint.h"
#include "plan.h"
#include "profile.h"
#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH_MOST = 60000, BATCH_USUAL = 100, EPOCHS_UNTIL = 1000 };

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
    /* --until-loss needs room: one epoch is no limit then, unless it was asked for */
    t->epochs = o->until_loss >= 0.0 && !cli_given(o, "epochs") ? EPOCHS_UNTIL : o->epochs;
    return status;
}

cnn_status args_train(const cli_options *options, cnn_error *err)
{
    train t = {.options = options};
    return read_options(&t, err);
}

static cnn_status open_data(train *t, const cnn_net *net, cnn_error *err)
{
    const cli_options *o = t->options;
    const cnn_status status = cli_open_data(o, net, t->sessions.list[0].threads, &t->data, err);
    if (status != CNN_OK) return status;
    if (t->batch > t->data.train.count)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--batch %lld is more than the %lld training images",
                        (long long)t->batch, (long long)t->data.train.count);
    t->losses = o->losses ? calloc((size_t)(t->data.train.count / t->batch + 1), sizeof *t->losses) : NULL;
    return o->losses && t->losses == NULL ? CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the losses") : CNN_OK;
}

static cnn_status set_up(train *t, cnn_error *err)
{
    cnn_network *network = NULL;
    const cli_options *o = t->options;
    cnn_status status = read_options(t, err);
    if (status == CNN_OK) status = cnn_net_load(o->net, &t->types.types[0], t->batch, (uint64_t)o->seed, &network, err);
    cnn_build_id(o->plugin.items, o->plugin.count, t->build);
    if (status == CNN_OK)
        status = o->plan ? record_sink_open(NULL, false, &t->output.sink, err) : cli_output_open(o, &t->output, err);
    if (status == CNN_OK) status = cli_report_lost(o, t->output.sink, &o->watch->failed, err);
    if (status == CNN_OK && o->checkpoint != NULL) status = checkpoint_check(o->checkpoint, err);
    if (status == CNN_OK) status = cli_sessions_open(o, false, &t->sessions, err);
    if (status == CNN_OK && !o->plan) cli_say_warnings(&t->sessions);
    if (status == CNN_OK) status = cli_tuned_open(o, &t->sessions, false, &t->tuned, err);
    if (status == CNN_OK) status = cli_fitting(&t->sessions, &network->net, err);
    if (status == CNN_OK) status = open_data(t, &network->net, err);
    cnn_net_free(network);
    if (status == CNN_OK && !o->watch->begun) status = cli_output_begin(&t->output, err);
    o->watch->begun = o->watch->begun || status == CNN_OK;
    return status;
}

/* ---- One run ---- */

/* A GPU's throttling is over soon after its work is: it is looked for meanwhile, too. */
static const double look_every = 0.5;

static bool show_progress(void *user, int64_t done, int64_t total)
{
    train_run *r = user;
    if (cnn_now() - r->looked > look_every) {
        clock_watch_look(r->watch, &r->clocks);
        r->looked = cnn_now();
    }
    cli_progress_show(&r->all->progress, (double)done, (double)total, "images");
    return !cli_interrupted();
}

static void keep_loss(void *user, int64_t step, double loss)
{
    const train_run *r = user;
    r->all->losses[step] = loss;
    r->all->n_losses = step + 1;
}

static unsigned hash_of(const void *bytes, size_t count)
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < count; i++) hash = (hash ^ ((const unsigned char *)bytes)[i]) * 16777619u;
    return hash;
}

/* What must be the same for a run to go on: whatever its bits depend on, but for the machine. Of the knobs those are
 * named that are not at their default; all of them count, since a default may change, and a list may be too long. */
static void describe(const train_run *r, char setting[CHECKPOINT_SETTING_MAX])
{
    epoch_setting s;
    char optimizer[CNN_PROBLEM_TEXT_MAX], shift[32] = "";
    const size_t knobs = (size_t)r->session->impl->n_knobs * sizeof *r->session->knobs;
    train_setting(r, &s);
    cnn_optimizer_format(&r->all->params.optimizer, optimizer);
    if (s.shift > 0) snprintf(shift, sizeof shift, " shift %lld", (long long)s.shift);
    if (r->tuned != NULL) /* and so on what each layer takes */
        snprintf(s.algorithm, sizeof s.algorithm, "%s-%08x", CNN_TUNED,
                 hash_of(r->tuned->text, strlen(r->tuned->text)));
    snprintf(setting, CHECKPOINT_SETTING_MAX,
             "%s %s on %s%s, %s:%s, %s %s %s, batch %lld, %.300s, seed %lld, %lld images, knobs %s %08x", s.net,
             s.net_crc, s.data, shift, s.impl, s.algorithm, s.dtype, s.layout, s.math, (long long)s.batch, optimizer,
             (long long)s.seed, (long long)s.train_images, s.knobs, hash_of(r->session->knobs, knobs));
}

/* From the checkpoint, if there is one. */
static cnn_status go_on(train_run *r, char setting[CHECKPOINT_SETTING_MAX], int64_t *done, cnn_error *err)
{
    describe(r, setting);
    const cnn_status status = checkpoint_load(r->trainer, r->all->options->checkpoint, setting, done, err);
    if (status != CNN_OK || *done == 0) return status;
    if (!r->all->options->json)
        printf("going on behind epoch %lld, from %s\n", (long long)*done, r->all->options->checkpoint);
    r->all->sums->trained += *done >= r->all->epochs; /* nothing is left to do, and that is no failure */
    return CNN_OK;
}

/* What diverged is no figure anyway, and infinities cannot be compared. */
static cnn_status check_epoch(train_run *r, const trainer_result *e, cnn_error *err)
{
    r->checked.seed = 0;
    return isfinite(e->train_loss) && isfinite(e->test_loss)
               ? verify_training_judge(r->check, cli_interrupted, &r->checked, err)
               : CNN_OK;
}

static cnn_status run_epochs(train_run *r, cnn_error *err)
{
    train *t = r->all;
    const cli_options *o = t->options;
    trainer_watch watch = {show_progress, t->losses != NULL ? keep_loss : NULL, r, NULL};
    cnn_status status = CNN_OK;
    bool reached = false;
    char spent[32], setting[CHECKPOINT_SETTING_MAX];
    int64_t done = 0;
    if (o->checkpoint != NULL) status = go_on(r, setting, &done, err);
    for (int64_t epoch = done; epoch < t->epochs && status == CNN_OK && !reached; epoch++) {
        trainer_result e;
        clock_span span;
        char what[64];
        snprintf(what, sizeof what, "epoch %lld of %lld", (long long)epoch + 1, (long long)t->epochs);
        cli_progress_start(&t->progress, what, o->quiet);
        watch_tick(o->watch);
        r->clocks = (clock_report){.readings = 0};
        r->looked = cnn_now();
        watch.samples = verify_training_draw(r->check, epoch, (uint64_t)o->check_seed);
        clock_watch_start(r->watch, &span);
        status = trainer_epoch(r->trainer, epoch, &watch, &e, err);
        clock_watch_stop(r->watch, &span, &r->clocks);
        cli_progress_end(&t->progress);
        if (status == CNN_OK) status = check_epoch(r, &e, err);
        if (status == CNN_OK) status = train_report_epoch(r, epoch, &e, err);
        if (r->failed) break;
        if (status == CNN_OK) status = train_report_profile(r, epoch, &e, err);
        if (status == CNN_OK) status = train_report_losses(r, epoch, err);
        if (status == CNN_OK && o->checkpoint != NULL)
            status = checkpoint_save(r->trainer, o->checkpoint, setting, epoch + 1, err);
        if (status != CNN_OK) break;
        r->epochs_run++;
        r->train_seconds += e.seconds;
        reached = e.test_loss < o->until_loss;
    }
    if (status == CNN_OK && o->until_loss >= 0.0 && r->epochs_run > 0 && !reached) t->sums->missed++;
    if (status == CNN_OK && o->until_loss >= 0.0 && !o->json)
        printf("test loss %s below %g after %lld epoch%s, %s\n", reached ? "is" : "is not", o->until_loss,
               (long long)r->epochs_run, r->epochs_run == 1 ? "" : "s", train_time_text(r->train_seconds, spent));
    return status;
}

/* Each layer's own algorithm, and a session with the knobs. */
static cnn_status tune(train_run *r, trainer_params *params, cnn_error *err)
{
    r->tuned = calloc(1, sizeof *r->tuned);
    if (r->tuned == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for tuned choices");
    const cnn_status status = cli_tuned_net(r->all->tuned, r->session, &r->network->net, r->tuned, err);
    r->session = r->tuned->session;
    params->algorithm = NULL;
    params->pick = cli_tuned_layer;
    params->pick_user = r->tuned;
    return status;
}

static cnn_status train_with(train *t, const cnn_session *session, const char *algorithm, const cnn_network *network,
                             bool tuned, cnn_error *err)
{
    train_run r = {.all = t, .session = session, .algorithm = algorithm, .network = network};
    const cli_options *o = t->options;
    trainer_params params = t->params;
    const double start = cnn_now();
    params.algorithm = algorithm;
    cnn_status status = train_profile_check(o, session, err);
    if (status == CNN_OK && tuned) status = tune(&r, &params, err);
    if (status == CNN_OK) status = trainer_open(r.session, r.network, &t->data, &params, &r.trainer, err);
    if (status == CNN_OK && o->plan) {
        print_train_plan(r.trainer, &r.network->net);
        t->sums->trained++;
    } else if (status == CNN_OK) {
        status = trainer_start(r.trainer, err);
        r.setup_s = cnn_impl_timed(session->impl) ? cnn_now() - start : NAN;
        if (status == CNN_OK) status = record_environment(t->output.sink, r.session, o->command_line, err);
        if (status == CNN_OK) train_print_head(&r);
        if (status == CNN_OK && cnn_impl_timed(session->impl)) status = clock_watch_open(r.session, &r.watch, err);
        if (status == CNN_OK)
            status = verify_training_open(r.trainer, r.session, r.network, &t->data, &t->params, &r.check, err);
        if (status == CNN_OK) status = run_epochs(&r, err);
        if (r.epochs_run > 0) train_report_end(&r);
        t->sums->trained += r.epochs_run > 0;
    }
    clock_watch_close(r.watch);
    verify_training_close(r.check);
    trainer_close(r.trainer);
    free(r.tuned);
    return status;
}

/* With --isolate, what ends the process ends this run alone. */
static cnn_status run_one(train *t, const cnn_session *session, const char *algorithm, const cnn_network *network,
                          bool tuned, cnn_error *err)
{
    bool mine;
    char name[2 * CNN_NAME_MAX];
    snprintf(name, sizeof name, "%s:%s", session->impl->name, algorithm);
    cnn_status status = cli_begin_piece(t->options, t->number++, name, "training with it", t->output.sink, &mine, err);
    if (status != CNN_OK || !mine) return status;
    status = train_with(t, session, algorithm, network, tuned, err);
    cli_end_piece(t->options);
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
static cnn_status run_choice(train *t, const cnn_choice *choice, const cnn_network *network, cnn_error *err)
{
    cnn_session *session = session_of(&t->sessions, choice->impl);
    const cnn_impl *impl = choice->impl;
    cnn_status status = CNN_OK;
    if (session != NULL && cnn_choice_tuned(choice)) return run_one(t, session, CNN_TUNED, network, true, err);
    for (int a = 0; session != NULL && a < impl->n_algorithms && status == CNN_OK; a++) {
        if (!cli_trains(choice, 1, session, &impl->algorithms[a], network, &t->params)) continue;
        if (cli_interrupted()) return CNN_FAIL(err, CNN_INTERRUPTED, "interrupted");
        status = run_one(t, session, impl->algorithms[a].name, network, false, err);
        if (choice->pattern[0] == '\0') break;
    }
    return status;
}

static cnn_status run_type(train *t, const cnn_type *type, cnn_error *err)
{
    cnn_network *network = NULL;
    cnn_status status = cnn_net_load(t->options->net, type, t->batch, (uint64_t)t->options->seed, &network, err);
    for (int c = 0; c < t->sessions.n_choices && status == CNN_OK; c++)
        status = run_choice(t, &t->sessions.choices[c], network, err);
    cnn_net_free(network);
    return status;
}

static cnn_status run_all(train *t, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = 0; i < t->types.count && status == CNN_OK; i++) status = run_type(t, &t->types.types[i], err);
    return status;
}

static void print_repeat(const train *t)
{
    if (t->options->json || t->options->plan || t->sums->trained == 0) return;
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
    t->sums = (train_sums *)options->watch->kept;
    cnn_status status = set_up(t, err);
    if (status == CNN_OK) status = run_all(t, err);
    print_repeat(t);
    const bool bad = t->sums->failed + t->sums->diverged + t->sums->missed > 0 || options->watch->failed > 0;
    int result = status != CNN_OK ? cli_fail(err) : bad ? EXIT_FAILED : t->sums->trained > 0 ? EXIT_HELD : EXIT_NOTHING;
    if (status == CNN_OK) result = cli_output_end(&t->output, result);
    cli_tuned_close(t->tuned);
    cli_sessions_close(&t->sessions);
    cli_output_close(&t->output);
    dataset_free(&t->data);
    free(t->losses);
    free(t);
    return result;
}
