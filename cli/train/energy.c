/* energy.c: --energy: what an epoch of a point takes, measured before its first one. Timed epochs are looked at and
 * judged between, and may be shorter than a counter's step: so for this the first epochs are run one behind the other,
 * without a pause, and then the training begins with its initial weights. */
#include "cli/table.h"
#include "harness/process/watch.h"
#include "parts.h"

typedef struct energy_watch {
    train_run *run;
    energy_meter *meter;
} energy_watch;

static bool look(void *user, int64_t done, int64_t total)
{
    const energy_watch *w = user;
    energy_look(w->meter);
    cli_progress_show(&w->run->all->progress, (double)done, (double)total, "images");
    return !interrupt_seen();
}

/* At the first epoch's rate. */
static cnn_status run_epochs(train_run *r, energy_meter *meter, energy_report *report, cnn_error *err)
{
    train *t = r->all;
    energy_watch w = {r, meter};
    const trainer_watch watch = {look, NULL, &w, NULL};
    trainer_result e = {.train_loss = 0};
    int64_t epochs = 0;
    r->params.optimizer.lr = rate_at(&t->schedule, t->params.optimizer.lr, 0);
    cnn_status status = trainer_set_rate(r->trainer, r->params.optimizer.lr, err);
    if (status == CNN_OK) status = energy_begin(meter, err);
    while (status == CNN_OK && (epochs == 0 || !energy_enough(meter))) {
        cli_progress_start(&t->progress, "measuring energy", t->options->quiet);
        watch_tick(t->options->watch);
        status = trainer_epoch(r->trainer, epochs++, &watch, &e, err);
        energy_look(meter);
        if (status == CNN_OK && !(e.train_loss <= EPOCH_LOSS_MOST))
            status = CNN_FAIL(err, CNN_UNAVAILABLE, "the training diverges, and such epochs are no measure");
    }
    if (status == CNN_OK) status = energy_end(meter, report, err);
    cli_progress_end(&t->progress);
    report->epochs = epochs;
    report->images = t->data.train.count;
    return status;
}

/* Behind it, all is as it was. What cannot be measured is said, and no error. */
cnn_status train_measure_energy(train_run *r, cnn_error *err)
{
    energy_meter *meter;
    if (!r->all->options->energy) return CNN_OK;
    cnn_status status = energy_open(r->session, NULL, &meter, err);
    if (status == CNN_OK) {
        status = run_epochs(r, meter, &r->energy, err);
        energy_close(meter);
        if (status != CNN_OK) r->energy.by = NULL;
        if (status == CNN_OK || status == CNN_UNAVAILABLE) {
            cnn_error why = *err;
            const cnn_status begun = trainer_set_params(r->trainer, r->weights, err);
            if (begun != CNN_OK) return begun;
            *err = why;
        }
    }
    if (status != CNN_UNAVAILABLE) return status;
    table_put(stderr, "benchcnn: no energy of %s is measured: %s\n", r->curve->label, err->message);
    return CNN_OK;
}

void train_say_energy(const train_run *r)
{
    char text[384];
    if (r->energy.by == NULL) return;
    energy_text(&r->energy, text, sizeof text);
    table_print(4, "%s\n", text);
}
