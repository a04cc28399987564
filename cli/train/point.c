/* point.c: one point: a batch size with an algorithm of an implementation, in one type. */
#include "cli/table.h"
#include "harness/base/clock.h"
#include "harness/process/watch.h"
#include "parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Over ranks there are two: what is trained on, and what that comes to. */
static cnn_status load_network(train_run *r, int64_t batch, cnn_error *err)
{
    const train *t = r->all;
    const int64_t size = rank_size(t->ranks);
    const uint64_t seed = (uint64_t)t->options->seed;
    cnn_status status = cnn_net_load(t->net, &r->curve->type, batch / size, seed, &r->network, err);
    if (status == CNN_OK && size > 1) status = cnn_net_load(t->net, &r->curve->type, batch, seed, &r->whole, err);
    return status;
}

static const cnn_network *whole_of(const train_run *r) { return r->whole != NULL ? r->whole : r->network; }

/* Its network; of a tuned curve each layer's own algorithm, and a session with the knobs. */
static cnn_status open_point(train_run *r, int64_t batch, cnn_error *err)
{
    trainer_params *params = &r->params;
    train *t = r->all;
    const bool tuned = strcmp(r->curve->algorithm, CNN_TUNED) == 0;
    cnn_status status = load_network(r, batch, err);
    if (status == CNN_OK && tuned) {
        r->tuned = calloc(1, sizeof *r->tuned);
        if (r->tuned == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for tuned choices");
        status = tuned_for_net(t->tuned, r->session, &r->network->net, r->tuned, err);
        r->session = r->tuned->session;
    }
    if (status != CNN_OK) return status;
    *params = t->params;
    params->workers = r->workers;
    params->algorithm = r->curve->algorithm;
    train_scale_params(t, r->curve->type.dtype, params);
    epoch_setting_of(r->session, whole_of(r), &t->data, params, &r->setting);
    snprintf(r->setting.build, sizeof r->setting.build, "%s", t->build);
    rate_schedule_format(&t->schedule, r->setting.schedule);
    status = train_load_weights(r, err);
    if (status != CNN_OK) return status;
    if (!tuned) return CNN_OK;
    params->algorithm = NULL;
    params->pick = tuned_layer;
    params->pick_user = r->tuned;
    return CNN_OK;
}

/* Whether --out holds all that the point would record. */
static bool is_kept(train_run *r)
{
    train *t = r->all;
    const cli_options *o = t->options;
    if (o->checkpoint != NULL || o->save != NULL || o->profile || o->samples || o->patience > 0) return false;
    if (o->energy && !epoch_energy_known(&t->table, &r->setting)) return false;
    if (t->n_goals > 0 ? train_goals_held(r) : epoch_finished(&t->table, &r->setting, t->epochs)) return true;
    if (!t->other_build && epoch_measured_elsewhere(&t->table, &r->setting)) {
        cli_say_other_build(o->out);
        t->other_build = true;
    }
    return false;
}

/* With the first point of a session, its environment and its clocks. */
static cnn_status begin_session(train_run *r, cnn_error *err)
{
    train *t = r->all;
    const int i = r->curve->session;
    const cnn_session *session = train_session(t, i);
    cnn_status status = CNN_OK;
    if (!t->described[i]) {
        status = record_environment(t->output.sink, session, t->options->command_line, err);
        if (status == CNN_OK && cnn_impl_timed(session->impl)) status = clock_watch_open(session, &t->watches[i], err);
        t->described[i] = true;
    }
    r->watch = t->watches[i];
    return status;
}

/* The first record is written when the trainer is open: a point that cannot run leaves none. */
static cnn_status train_it(train_run *r, cnn_error *err)
{
    train *t = r->all;
    const cli_options *o = t->options;
    const double start = cnn_now();
    cnn_status status = train_ranks_devices(t, r->curve->session, err);
    if (status != CNN_OK) return status;
    status = train_profile_check(r, err);
    if (status == CNN_OK) status = trainer_open(r->session, r->network, &t->data, &r->params, &r->trainer, err);
    status = ranks_agree(t->ranks, status, err);
    if (status == CNN_OK && o->plan) {
        train_print_plan(r->trainer, &r->network->net);
        t->sums->trained++;
        return CNN_OK;
    }
    if (status == CNN_OK) status = trainer_start(r->trainer, err);
    if (status == CNN_OK && r->weights != NULL) status = trainer_set_params(r->trainer, r->weights, err);
    r->setup_s = cnn_impl_timed(r->session->impl) ? cnn_now() - start : NAN;
    if (status == CNN_OK && o->samples) {
        r->losses = calloc((size_t)(t->data.train.count / r->setting.batch + 1), sizeof *r->losses);
        if (r->losses == NULL) status = CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the losses");
    }
    if (status == CNN_OK) status = begin_session(r, err);
    if (status == CNN_OK) train_print_head(r);
    if (status == CNN_OK) status = train_measure_energy(r, err);
    if (status == CNN_OK)
        status = verify_training_open(r->trainer, r->session, whole_of(r), &t->data, &r->params, &r->check, err);
    if (status == CNN_OK) status = train_run_epochs(r, err);
    if (r->epochs_run > 0) train_report_end(r);
    if (status == CNN_OK) status = train_save_weights(r, err);
    t->sums->trained += r->epochs_run > 0;
    return status;
}

static cnn_status run_point(train_run *r, int64_t batch, cnn_error *err)
{
    bool kept = false;
    cnn_status status = ranks_agree(r->all->ranks, open_point(r, batch, err), err);
    if (status == CNN_OK) kept = is_kept(r);
    if (status == CNN_OK) status = ranks_broadcast(r->all->ranks, &kept, sizeof kept, err); /* rank 0 has the file */
    if (status == CNN_OK && kept)
        train_print_kept(r);
    else if (status == CNN_OK)
        status = train_it(r, err);
    cli_ranks_abort(r->all->ranks, status, err);
    verify_training_close(r->check);
    trainer_close(r->trainer);
    cnn_net_free(r->network);
    cnn_net_free(r->whole);
    free(r->losses);
    free(r->weights);
    free(r->tuned);
    if ((status != CNN_UNSUPPORTED && status != CNN_OUT_OF_MEMORY) || !train_several(r->all)) return status;
    table_put(stderr, "batch %lld %s: %s: %s\n", (long long)batch, r->curve->label, cnn_status_name(status),
              err->message);
    return CNN_OK;
}

/* With --isolate, what ends the process ends this point alone. */
cnn_status train_point(train *t, int b, int c, cnn_error *err)
{
    bool mine;
    if (t->ranks != NULL) t->ranks->agreed = false;
    const train_curve *curve = &t->curves[c];
    train_run r = {.all = t,
                   .curve = curve,
                   .number = b * t->n_curves + c,
                   .workers = t->workers[b],
                   .figure = &t->sums->figures[b][c],
                   .session = train_session(t, curve->session)};
    char name[2 * CNN_NAME_MAX], doing[WATCH_DOING_MAX];
    snprintf(name, sizeof name, "%s:%s", r.session->impl->name, curve->algorithm);
    snprintf(doing, sizeof doing, "training with it, batch %lld", (long long)t->batches[b]);
    cnn_status status = cli_begin_piece(t->options, r.number, name, doing, t->output.sink, &mine, err);
    if (status != CNN_OK || !mine) return status;
    status = run_point(&r, t->batches[b], err);
    cli_end_piece(t->options);
    return status;
}
