/* epochs.c: the epochs of a point: trained, judged by the reference, reported, kept in the checkpoint. */
#include "cli/process/watch.h"
#include "harness/base/clock.h"
#include "parts.h"

#include <math.h>

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
    train_run *r = user;
    r->losses[step] = loss;
    r->n_losses = step + 1;
}

static void start_progress(train_run *r, int64_t epoch, char *what, size_t size)
{
    const train *t = r->all;
    const int points = t->n_batches * t->n_curves;
    int used = 0;
    if (points > 1)
        used = snprintf(what, size, "point %d of %d: batch %lld %s, ", r->number + 1, points,
                        (long long)r->setting.batch, r->curve->label);
    snprintf(what + used, size - (size_t)used, "epoch %lld of %lld", (long long)epoch + 1, (long long)t->epochs);
    cli_progress_start(&r->all->progress, what, t->options->quiet);
}

static cnn_status train_epoch(train_run *r, int64_t epoch, trainer_result *e, cnn_error *err)
{
    train *t = r->all;
    trainer_watch watch = {show_progress, r->losses != NULL ? keep_loss : NULL, r, NULL};
    char what[4 * CNN_NAME_MAX];
    clock_span span;
    start_progress(r, epoch, what, sizeof what);
    watch_tick(t->options->watch);
    r->clocks = (clock_report){.readings = 0};
    r->looked = cnn_now();
    watch.samples = verify_training_draw(r->check, epoch, (uint64_t)t->options->check_seed);
    clock_watch_start(r->watch, &span);
    cnn_status status = trainer_epoch(r->trainer, epoch, &watch, e, err);
    clock_watch_stop(r->watch, &span, &r->clocks);
    cli_progress_end(&t->progress);
    r->checked.seed = 0;
    /* what diverged is no figure anyway, and infinities cannot be compared */
    if (status == CNN_OK && isfinite(e->train_loss) && isfinite(e->test_loss))
        status = verify_training_judge(r->check, cli_interrupted, &r->checked, err);
    if (status == CNN_OK) status = train_report_epoch(r, epoch, e, err);
    return status;
}

/* One that diverged is not kept: begun anew from there, it would diverge unseen. */
static cnn_status keep(train_run *r, const char *setting, int64_t done, cnn_error *err)
{
    if (r->all->options->checkpoint == NULL || r->diverged) return CNN_OK;
    return checkpoint_save(r->trainer, r->all->options->checkpoint, setting, done, err);
}

cnn_status train_run_epochs(train_run *r, cnn_error *err)
{
    train *t = r->all;
    const cli_options *o = t->options;
    cnn_status status = CNN_OK;
    bool reached = false;
    char spent[32], setting[CHECKPOINT_SETTING_MAX];
    int64_t done = 0;
    train_describe(r, setting);
    if (o->checkpoint != NULL) status = train_go_on(r, setting, &done, err);
    for (int64_t epoch = done; epoch < t->epochs && status == CNN_OK && !reached; epoch++) {
        trainer_result e;
        status = train_epoch(r, epoch, &e, err);
        if (r->failed) break;
        if (status == CNN_OK) status = train_report_profile(r, epoch, &e, err);
        if (status == CNN_OK) status = train_report_losses(r, epoch, err);
        if (status == CNN_OK) status = keep(r, setting, epoch + 1, err);
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
