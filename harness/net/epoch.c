/* epoch.c: whole epochs: passes, what is seen of them, their figures. Nothing here allocates. */
#include "harness/base/clock.h"
#include "harness/device/call.h"
#include "trainer_parts.h"

#include <math.h>
#include <string.h>

static const trainer_watch nobody = {.each = NULL}; /* watches */

/* One pass over a set; `watched` images are done before it, of `total`. */
typedef struct pass {
    int set;
    int64_t epoch; /* of training */
    int64_t count, watched, total;
    double loss, accuracy, seconds;
    int64_t steps, synced; /* queued; and known to be done */
    double synced_at;
} pass;

/* An asynchronous device would let the host queue a whole epoch ahead, and then nothing could show progress or be
 * interrupted. So the host waits for what it has queued, a few times a second. */
static cnn_status wait_sometimes(trainer *t, pass *p, cnn_error *err)
{
    if (t->session->impl->sync == NULL || p->steps - p->synced < t->ahead) return CNN_OK;
    const cnn_status status = cnn_sync(t->session, err);
    const double now = cnn_now(), took = now - p->synced_at;
    if (took < 0.1)
        t->ahead *= 2;
    else if (took > 0.4 && t->ahead > 1)
        t->ahead /= 2;
    p->synced = p->steps;
    p->synced_at = now;
    return status;
}

static cnn_status watch_step(trainer *t, const trainer_watch *watch, pass *p, int64_t done, int64_t mb,
                             double *sum_before, cnn_error *err)
{
    if (watch->loss != NULL && p->set == TRAIN) {
        double sum;
        int64_t correct;
        const cnn_status status = trainer_read_sums(t, &sum, &correct, err);
        if (status != CNN_OK) return status;
        watch->loss(watch->user, p->steps - 1, (sum - *sum_before) / (double)(mb * rank_size(t->params.ranks)));
        *sum_before = sum;
    }
    if (watch->each == NULL) return CNN_OK;
    const cnn_status status = wait_sometimes(t, p, err);
    if (status != CNN_OK) return status;
    const int64_t size = rank_size(t->params.ranks), images = (p->watched + done) * size, total = p->total * size;
    if (!watch->each(watch->user, images, total))
        return CNN_FAIL(err, CNN_INTERRUPTED, "interrupted after %lld of %lld images", (long long)images,
                        (long long)total);
    return CNN_OK;
}

/* How many images are taken at once: as many steps as the trainer likes, if so many are left; else one step, and one
 * where each is to be seen, or comes in by a lane. */
static int64_t images_at_once(const trainer *t, int64_t left, bool each)
{
    const int64_t batch = t->net->batch, steps = each || t->n_lanes > 0 ? 1 : t->facts.steps;
    if (steps == INT64_MAX) return left;
    const int64_t images = left / batch >= steps ? steps * batch : batch;
    return images < left ? images : left;
}

/* Only the first calls of an epoch: later ones may find the device's queue full and wait for it. */
static void note_host_time(trainer *t, const pass *p, double seconds, int64_t steps)
{
    if (p->set == TRAIN && t->n_host_times < HOST_TIMES) t->host_times[t->n_host_times++] = seconds / (double)steps;
}

/* The median. NaN where operations run as they are called, or the host gathers and waits for uploads. */
static double host_step_seconds(trainer *t)
{
    double *times = t->host_times;
    const int count = t->n_host_times;
    if (t->session->impl->sync == NULL || t->params.host_data || count == 0) return NAN;
    for (int i = 1; i < count; i++) { /* qsort() may allocate */
        const double moved = times[i];
        int k = i;
        for (; k > 0 && times[k - 1] > moved; k--) times[k] = times[k - 1];
        times[k] = moved;
    }
    return times[count / 2];
}

static cnn_status run_steps(trainer *t, const trainer_watch *watch, pass *p, cnn_error *err)
{
    const bool each = watch->loss != NULL && p->set == TRAIN;
    const double begun = cnn_now();
    double sum_before = 0.0;
    cnn_status status = p->set == TRAIN ? trainer_feed_order(t, p->set, err) : CNN_OK;
    if (status == CNN_OK) status = trainer_clear_sums(t, err);
    if (status == CNN_OK) status = trainer_note(t, "order", begun, err);
    for (int64_t done = 0; done < p->count && status == CNN_OK;) {
        const bool one = each || trainer_sample_single(watch->samples, p->set == TEST, p->steps, t->facts.steps);
        const int64_t images = images_at_once(t, p->count - done, one), batch = t->net->batch;
        const int64_t steps = (images + batch - 1) / batch;
        status = trainer_sample_before(t, watch->samples, p->set, p->steps, steps, err);
        const double start = cnn_now();
        if (status == CNN_OK) status = trainer_take(t, p->set, done, images, err);
        note_host_time(t, p, cnn_now() - start, steps);
        done += images;
        if (status == CNN_OK && p->set == TRAIN && done == p->count)
            trainer_draw_ahead(t, p->epoch + 1); /* while the device trains: nothing has waited for it yet */
        p->steps += steps;
        if (status == CNN_OK) status = trainer_sample_after(t, watch->samples, p->set, p->steps, done == p->count, err);
        if (status == CNN_OK) status = watch_step(t, watch, p, done, images, &sum_before, err);
    }
    return status == CNN_OK ? trainer_feed_end(t, err) : status;
}

static cnn_status run_pass(trainer *t, const trainer_watch *watch, pass *p, cnn_error *err)
{
    const double start = cnn_now() - t->paused; /* what is paused from here on is not the pass's */
    double sum = 0.0;
    int64_t correct = 0;
    p->synced_at = cnn_now();
    cnn_status status = run_steps(t, watch, p, err);
    const double queued = cnn_now();
    if (status == CNN_OK) status = trainer_read_sums(t, &sum, &correct, err);
    if (status == CNN_OK) status = trainer_note(t, "sums", queued, err);
    p->seconds = cnn_now() - t->paused - start;
    const double images = (double)trainer_part(t, p->set)->count;
    p->loss = sum / images;
    p->accuracy = (double)correct / images;
    if (status == CNN_OK || status == CNN_INTERRUPTED) return status;
    char what[64]; /* what an asynchronous device did wrong shows late: say at least how far it was */
    snprintf(what, sizeof what, "%s, %lld step%s queued", p->set == TRAIN ? "training" : "testing", (long long)p->steps,
             p->steps == 1 ? "" : "s");
    return trainer_name_error(t, what, status, err);
}

static cnn_status test_pass(trainer *t, const trainer_watch *watch, int64_t watched, trainer_result *result,
                            cnn_error *err)
{
    pass p = {.set = TEST, .count = t->count[TEST], .watched = watched};
    p.total = watched + p.count;
    const cnn_status status = run_pass(t, watch, &p, err);
    result->test_s = p.seconds;
    result->test_loss = p.loss;
    result->test_accuracy = p.accuracy;
    return status;
}

cnn_status trainer_test(trainer *t, const trainer_watch *watch, trainer_result *result, cnn_error *err)
{
    if (t->data == NULL) return CNN_FAIL(err, CNN_BAD_ARGUMENT, "the trainer was opened without data");
    memset(result, 0, sizeof *result);
    t->transfer_s = t->paused = 0.0;
    const cnn_status status = test_pass(t, watch != NULL ? watch : &nobody, 0, result, err);
    result->transfer_s = t->transfer_s;
    return status;
}

static cnn_status read_scaling(trainer *t, trainer_result *result, cnn_error *err)
{
    double scaling[CNN_SCALING_COUNT];
    cnn_train_state only = {.scaling = scaling};
    result->loss_scale = NAN;
    if (!trainer_is_mixed(t)) return CNN_OK;
    const cnn_status status = TRAINER_ASK(t, save, err, &only);
    result->loss_scale = scaling[CNN_LOSS_SCALE];
    result->steps_left_out = (int64_t)scaling[CNN_STEPS_LEFT_OUT];
    return status;
}

cnn_status trainer_epoch(trainer *t, int64_t epoch, const trainer_watch *watch, trainer_result *result, cnn_error *err)
{
    const double start = cnn_now();
    if (t->data == NULL) return CNN_FAIL(err, CNN_BAD_ARGUMENT, "the trainer was opened without data");
    pass p = {.set = TRAIN, .epoch = epoch, .count = t->count[TRAIN]};
    if (watch == NULL) watch = &nobody;
    p.total = p.count + t->count[TEST];
    memset(result, 0, sizeof *result);
    t->transfer_s = t->comm_s = t->comm_flight_s = t->paused = 0.0;
    t->n_host_times = 0;
    if (t->profile != NULL) profile_begin(t->profile);
    trainer_draw_pass(t, TRAIN, epoch);
    cnn_status status = trainer_note(t, "order", start, err);
    if (status == CNN_OK) status = trainer_own_laps(t, false, err);
    if (status == CNN_OK) status = run_pass(t, watch, &p, err);
    result->steps = p.steps;
    result->train_s = cnn_now() - start - t->paused; /* the shuffling too */
    result->train_loss = p.loss;
    result->train_accuracy = p.accuracy;
    result->images_per_s = (double)t->data->train.count / result->train_s;
    const bool summed = t->params.ranks != NULL && !trainer_uses_graph(t->session, &t->params);
    result->comm_s = summed ? t->comm_s : NAN;
    result->comm_flight_s = summed ? t->comm_flight_s : NAN;
    if (status == CNN_OK) status = trainer_sample_trained(t, watch->samples, err);
    if (status == CNN_OK) status = test_pass(t, watch, p.count, result, err);
    result->seconds = cnn_now() - start - t->paused;
    if (status == CNN_OK) status = read_scaling(t, result, err);
    if (status == CNN_OK) status = trainer_own_laps(t, true, err);
    if (status == CNN_OK && t->profile != NULL) status = profile_finish(t->profile, result->seconds, err);
    result->transfer_s = t->transfer_s;
    result->host_step_s = host_step_seconds(t);
    if (!cnn_impl_timed(t->session->impl))
        result->comm_s = result->comm_flight_s = result->host_step_s = result->seconds = result->train_s =
            result->test_s = result->transfer_s = result->images_per_s = NAN;
    return status;
}
