/* epochs.c: the epochs of a point: trained, judged by the reference, reported, kept in the file of --checkpoint. */
#include "harness/base/clock.h"
#include "harness/process/watch.h"
#include "parts.h"

#include <math.h>
#include <string.h>

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
    return !interrupt_seen();
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

/* Of the schedule, before the epoch and its clock. The reference repeats steps with it, too. */
static cnn_status take_rate(train_run *r, int64_t epoch, cnn_error *err)
{
    r->params.optimizer.lr = rate_at(&r->all->schedule, r->all->params.optimizer.lr, epoch);
    return trainer_set_rate(r->trainer, r->params.optimizer.lr, err);
}

static cnn_status train_epoch(train_run *r, int64_t epoch, trainer_result *e, cnn_error *err)
{
    train *t = r->all;
    trainer_watch watch = {show_progress, r->losses != NULL ? keep_loss : NULL, r, NULL};
    char what[4 * CNN_NAME_MAX];
    clock_span span;
    cnn_status status = take_rate(r, epoch, err);
    if (status != CNN_OK) return status;
    start_progress(r, epoch, what, sizeof what);
    status = train_ranks_check_seed(r, err);
    if (status == CNN_OK) status = ranks_barrier(t->ranks, err);
    if (status != CNN_OK) return status;
    watch_tick(t->options->watch);
    r->clocks = (clock_report){.readings = 0};
    r->looked = cnn_now();
    watch.samples = verify_training_draw(r->check, epoch, r->check_seed);
    clock_watch_start(r->watch, &span);
    status = trainer_epoch(r->trainer, epoch, &watch, e, err);
    clock_watch_stop(r->watch, &span, &r->clocks);
    cli_progress_end(&t->progress);
    r->checked = (verify_training_result){.seed = 0};
    if (status == CNN_OK) status = train_ranks_clocks(r, err);
    if (status == CNN_OK) status = train_ranks_end_epoch(r, err);
    /* what diverged is no figure anyway, and infinities cannot be compared */
    if (status == CNN_OK && !r->checked.failed && e->train_loss <= EPOCH_LOSS_MOST && e->test_loss <= EPOCH_LOSS_MOST)
        status = verify_training_judge(r->check, interrupt_seen, &r->checked, err);
    if (status == CNN_OK) train_note_loss(r, e);
    if (status == CNN_OK) status = train_report_epoch(r, epoch, e, err);
    return status;
}

static unsigned hash_of(const void *bytes, size_t count)
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < count; i++) hash = (hash ^ ((const unsigned char *)bytes)[i]) * 16777619u;
    return hash;
}

/* What a kept run must have in common with the one that goes on from it, in a line: whatever the bits of a run depend
 * on, but for the machine. Of the knobs those are named that are not at their default; all of them count, since a
 * default may change, and a list may be too long. */
static void describe(const train_run *r, char setting[CHECKPOINT_SETTING_MAX])
{
    const epoch_setting *s = &r->setting;
    const size_t knobs = (size_t)r->session->impl->n_knobs * sizeof *r->session->knobs;
    char shift[32] = "", workers[32] = "", algorithm[CNN_NAME_MAX], weights[32] = "", scale[40] = "",
         schedule[RATE_SCHEDULE_TEXT + 16] = "";
    snprintf(algorithm, sizeof algorithm, "%s", s->algorithm);
    if (s->shift > 0) snprintf(shift, sizeof shift, " shift %lld", (long long)s->shift);
    if (s->workers > 0) snprintf(workers, sizeof workers, " of %lld workers", (long long)s->workers);
    if (s->loss_scale > 0) snprintf(scale, sizeof scale, ", loss scale %lld", (long long)s->loss_scale);
    if (s->weights[0] != '\0') snprintf(weights, sizeof weights, " from weights %s", s->weights);
    if (s->schedule[0] != '\0') snprintf(schedule, sizeof schedule, ", schedule %s", s->schedule);
    if (r->tuned != NULL) /* and so on what each layer takes */
        snprintf(algorithm, sizeof algorithm, "%s-%08x", CNN_TUNED, hash_of(r->tuned->text, strlen(r->tuned->text)));
    snprintf(setting, CHECKPOINT_SETTING_MAX,
             "%s %s%s on %s%s%s%s, %s:%s, %s %s %s, batch %lld%s, %.300s%s%s, seed %lld, %lld images, knobs %s %08x",
             s->net, s->net_crc, weights, s->data, shift, s->preprocess[0] != '\0' ? " " : "", s->preprocess, s->impl,
             algorithm, s->dtype, s->layout, s->math, (long long)s->batch, workers, s->optimizer, scale, schedule,
             (long long)s->seed, (long long)s->train_images, s->knobs, hash_of(r->session->knobs, knobs));
}

static cnn_status go_on(train_run *r, const char *setting, cnn_error *err)
{
    const cli_options *o = r->all->options;
    if (o->checkpoint == NULL) return CNN_OK;
    const cnn_status status = checkpoint_load(r->trainer, o->checkpoint, setting, &r->progress, err);
    const int64_t done = r->progress.epochs;
    if (status != CNN_OK || done == 0) return status;
    if (!o->json) printf("going on behind epoch %lld, from %s\n", (long long)done, o->checkpoint);
    if (done >= r->all->epochs || train_out_of_patience(r))
        r->all->sums->trained++; /* nothing is left to do, and that is no failure */
    return CNN_OK;
}

cnn_status train_run_epochs(train_run *r, cnn_error *err)
{
    train *t = r->all;
    const cli_options *o = t->options;
    char setting[CHECKPOINT_SETTING_MAX];
    describe(r, setting);
    cnn_status status = go_on(r, setting, err);
    if (t->ranks != NULL) status = ranks_agree(t->ranks, status, err);
    if (status == CNN_OK && t->ranks != NULL) status = train_ranks_begin(r, err);
    for (int64_t epoch = r->progress.epochs; epoch < t->epochs && status == CNN_OK; epoch++) {
        if ((t->n_goals > 0 && (r->goals_met == t->n_goals || r->figure->diverged)) || train_out_of_patience(r)) break;
        trainer_result e;
        status = train_epoch(r, epoch, &e, err);
        if (r->failed) break;
        if (status == CNN_OK) status = train_report_profile(r, epoch, &e, err);
        if (status == CNN_OK) status = train_report_losses(r, epoch, err);
        /* one that diverged is not kept: begun anew from there, it would diverge unseen */
        if (status == CNN_OK && o->checkpoint != NULL && !r->figure->diverged)
            status = checkpoint_save(r->trainer, o->checkpoint, setting, &r->progress, err);
        if (status != CNN_OK) break;
        r->epochs_run++;
        r->train_seconds += e.seconds;
        r->trained_s += e.train_s;
        status = train_note_goals(r, &e, err);
    }
    if (status == CNN_OK && !r->failed) status = train_end_goals(r, err);
    if (status == CNN_OK) train_say_stop(r);
    return status;
}
