/* epoch.c: running: batches, updates, whole epochs, captured or not. Nothing here allocates. */
#include "harness/base/clock.h"
#include "harness/base/rng.h"
#include "harness/device/call.h"
#include "harness/problem/names.h"
#include "harness/problem/problem.h"
#include "composition/parts.h"

#include <math.h>
#include <string.h>

static cnn_status put_in_front(const char *what, cnn_error *err)
{
    char why[CNN_MESSAGE_MAX];
    snprintf(why, sizeof why, "%s", err->message);
    return cnn_error_set(err, err->status, err->file, err->line, "%s: %s", what, why);
}

cnn_status trainer_name_error(const trainer *t, const char *what, cnn_error *err)
{
    char place[CNN_MESSAGE_MAX];
    snprintf(place, sizeof place, "%s at batch %lld, %s", t->net->name, (long long)t->net->batch, what);
    return put_in_front(place, err);
}

/* Which operation it was that failed. Of which network is said where the steps are asked for. */
static cnn_status name_call(const trainer *t, const trainer_call *c, cnn_error *err)
{
    char what[CNN_NAME_MAX + 2 * CNN_PROBLEM_TEXT_MAX], problem[CNN_PROBLEM_TEXT_MAX];
    if (c->plan < 0) return put_in_front("copying a gradient", err);
    const trainer_plan *p = &t->plans[c->plan];
    cnn_problem_format(&p->plan.problem, problem);
    snprintf(what, sizeof what, "%s %s (%s, %s)",
             p->layer < 0                  ? "sum of gradients"
             : p->layer == OPTIMIZER_LAYER ? "update"
                                           : t->net->layers[p->layer].name,
             cnn_dir_name(p->plan.dir), problem, p->plan.algorithm.name);
    return put_in_front(what, err);
}

cnn_status trainer_run(trainer *t, const call_list *list, cnn_error *err)
{
    const cnn_impl *impl = t->session->impl;
    for (int i = 0; i < list->count; i++) {
        const trainer_call *c = &list->calls[i];
        if (impl->ranges != NULL) CNN_CALL_VOID(impl, ranges->push, t->session->context, c->range);
        cnn_status status = c->plan < 0 ? cnn_mem_copy(t->session, c->operands[1], c->operands[0], c->copy_bytes, err)
                                        : cnn_run(t->session, &t->plans[c->plan].plan, c->operands, &c->extra, err);
        if (impl->ranges != NULL) CNN_CALL_VOID(impl, ranges->pop, t->session->context);
        if (status == CNN_OK) status = trainer_profile_call(t, err);
        if (status != CNN_OK) return name_call(t, c, err);
    }
    return CNN_OK;
}

cnn_status trainer_clear_sums(trainer *t, cnn_error *err)
{
    const cnn_status status = cnn_mem_fill(t->session, trainer_at(t, t->loss_at), 0, sizeof(double), err);
    return status == CNN_OK ? cnn_mem_fill(t->session, trainer_at(t, t->correct_at), 0, sizeof(int64_t), err) : status;
}

cnn_status trainer_read_sums(trainer *t, double *loss_sum, int64_t *correct, cnn_error *err)
{
    cnn_status status = cnn_sync(t->session, err);
    if (status == CNN_OK)
        status = cnn_mem_download(t->session, loss_sum, trainer_at(t, t->loss_at), sizeof *loss_sum, err);
    if (status == CNN_OK)
        status = cnn_mem_download(t->session, correct, trainer_at(t, t->correct_at), sizeof *correct, err);
    return status;
}

static cnn_status fused_update(trainer *t, int64_t mb, int lane, cnn_error *err)
{
    const cnn_step_args args = {.mb = mb,
                                .x = trainer_at(t, t->images_at[lane]),
                                .labels = trainer_at(t, t->batch_labels_at[lane]),
                                .params = trainer_at(t, t->params_at),
                                .grads = trainer_at(t, t->grads_at),
                                .state = {trainer_at(t, t->state_at[0]), trainer_at(t, t->state_at[1])},
                                .step = trainer_at(t, t->step_at),
                                .correct = trainer_at(t, t->correct_at),
                                .loss_sum = trainer_at(t, t->loss_at),
                                .workspace = trainer_at(t, t->workspace_at)};
    return CNN_CALL(t->session->impl, stepping->run, err, t->session->context, t->stepper, &args, err);
}

cnn_status trainer_update(trainer *t, const trainer_batch *batch, int lane, cnn_error *err)
{
    if (t->stepper != NULL) return fused_update(t, batch->mb, lane, err);
    cnn_status status = trainer_run(t, &batch->forward, err);
    if (status == CNN_OK) status = trainer_run(t, &batch->backward, err);
    return status == CNN_OK ? trainer_run(t, &t->update, err) : status;
}

cnn_status trainer_set_step(trainer *t, const trainer_batch *batch, int lane, int set, cnn_error *err)
{
    return set == TRAIN_SET ? trainer_update(t, batch, lane, err) : trainer_run(t, &batch->inference, err);
}

void trainer_order(uint64_t seed, int64_t epoch, int64_t count, int32_t *order)
{
    cnn_rng rng = rng_stream(seed, (uint64_t)epoch);
    for (int64_t i = 0; i < count; i++) order[i] = (int32_t)i;
    for (int64_t i = count - 1; i > 0; i--) { /* Fisher and Yates */
        const int64_t j = rng_int(&rng, 0, i);
        const int32_t other = order[j];
        order[j] = order[i];
        order[i] = other;
    }
}

void trainer_shifts(uint64_t seed, int64_t epoch, int64_t count, int64_t most, cnn_shift *shifts)
{
    cnn_rng rng = rng_stream(~seed, (uint64_t)epoch); /* not the order's numbers once more */
    for (int64_t i = 0; i < count; i++) {
        shifts[i].dy = (int16_t)rng_int(&rng, -most, most);
        shifts[i].dx = (int16_t)rng_int(&rng, -most, most);
    }
}

void trainer_draw_pass(trainer *t, int set, int64_t epoch)
{
    const int64_t count = trainer_part(t, set)->count;
    if (set == TEST_SET) {
        for (int64_t i = 0; i < count; i++) t->order[i] = (int32_t)i;
        return;
    }
    trainer_order(t->params.seed, epoch, count, t->order);
    if (t->shifts != NULL) trainer_shifts(t->params.seed, epoch, count, t->params.shift, t->shifts);
}

/* One pass over a set; `watched` images are done before it, of `total`. */
typedef struct pass {
    int set;
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
    if (watch == NULL) return CNN_OK;
    if (watch->loss != NULL && p->set == TRAIN_SET) {
        double sum;
        int64_t correct;
        const cnn_status status = trainer_read_sums(t, &sum, &correct, err);
        if (status != CNN_OK) return status;
        watch->loss(watch->user, p->steps - 1, (sum - *sum_before) / (double)mb);
        *sum_before = sum;
    }
    if (watch->each == NULL) return CNN_OK;
    const cnn_status status = wait_sometimes(t, p, err);
    if (status != CNN_OK) return status;
    if (!watch->each(watch->user, p->watched + done, p->total))
        return CNN_FAIL(err, CNN_INTERRUPTED, "interrupted after %lld of %lld images", (long long)(p->watched + done),
                        (long long)p->total);
    return CNN_OK;
}

cnn_status trainer_queue_step(trainer *t, int set, int64_t step, cnn_error *err)
{
    const cnn_session *s = t->session;
    const int64_t full = t->net->batch, first = step * full, left = trainer_part(t, set)->count - first;
    const int64_t mb = left < full ? left : full;
    const int lane = (int)(step % t->n_lanes);
    trainer_batch *batch = trainer_find_batch(t, lane, mb);
    cnn_status status = trainer_profile_begin(t, batch, set, err);
    if (status == CNN_OK && !trainer_feeds_itself(t)) {
        status = trainer_feed(t, lane, set, first, mb, err);
        if (status == CNN_OK) status = trainer_profile_fed(t, err);
    }
    if (status != CNN_OK) return status;
    return t->graphs ? CNN_CALL(s->impl, capture->run, err, s->context, batch->step[set], err)
                     : trainer_set_step(t, batch, lane, set, err);
}

/* What comes next: one step or, where `several` may come at once and are captured as one, STEPS_A_GRAPH of them. */
static int64_t steps_ahead(const trainer *t, const pass *p, bool several)
{
    const bool captured = several && t->batches[0][0].steps[p->set] != NULL;
    return captured && p->count / t->net->batch - p->steps >= STEPS_A_GRAPH ? STEPS_A_GRAPH : 1;
}

static cnn_status queue_steps(trainer *t, pass *p, int64_t steps, cnn_error *err)
{
    const cnn_session *s = t->session;
    const int64_t first = p->steps;
    p->steps += steps;
    return steps == 1 ? trainer_queue_step(t, p->set, first, err)
                      : CNN_CALL(s->impl, capture->run, err, s->context, t->batches[0][0].steps[p->set], err);
}

/* Only the first calls of an epoch: later ones may find the device's queue full and wait for it. */
static void note_host_time(trainer *t, const pass *p, double seconds, int64_t steps)
{
    if (p->set == TRAIN_SET && t->n_host_times < HOST_TIMES) t->host_times[t->n_host_times++] = seconds / (double)steps;
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
    const bool several = watch == NULL || watch->loss == NULL || p->set == TEST_SET;
    const double begun = cnn_now();
    double sum_before = 0.0;
    cnn_status status = trainer_feed_order(t, p->set, err);
    if (status == CNN_OK) status = trainer_clear_sums(t, err);
    if (status == CNN_OK) status = trainer_profile_note(t, "order", begun, err);
    for (int64_t done = 0; done < p->count && status == CNN_OK;) {
        const int64_t steps = steps_ahead(t, p, several), left = p->count - done, most = steps * t->net->batch;
        const int64_t images = left < most ? left : most;
        status = trainer_sample_before(t, watch, p->set, p->steps, steps, err);
        const double start = cnn_now();
        if (status == CNN_OK) status = queue_steps(t, p, steps, err);
        note_host_time(t, p, cnn_now() - start, steps);
        if (status == CNN_OK) status = trainer_profile_end(t, err);
        done += images;
        if (status == CNN_OK) status = trainer_sample_after(t, watch, p->set, p->steps, done == p->count, err);
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
    if (status == CNN_OK) status = trainer_profile_note(t, "sums", queued, err);
    p->seconds = cnn_now() - t->paused - start;
    p->loss = sum / (double)p->count;
    p->accuracy = (double)correct / (double)p->count;
    if (status == CNN_OK || status == CNN_INTERRUPTED) return status;
    char what[64]; /* what an asynchronous device did wrong shows late: say at least how far it was */
    snprintf(what, sizeof what, "%s, %lld step%s queued", p->set == TRAIN_SET ? "training" : "testing",
             (long long)p->steps, p->steps == 1 ? "" : "s");
    return trainer_name_error(t, what, err);
}

static cnn_status test_pass(trainer *t, const trainer_watch *watch, int64_t watched, trainer_result *result,
                            cnn_error *err)
{
    pass p = {.set = TEST_SET, .count = t->data->test.count, .watched = watched};
    p.total = watched + p.count;
    trainer_draw_pass(t, TEST_SET, 0);
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
    const cnn_status status = test_pass(t, watch, 0, result, err);
    result->transfer_s = t->transfer_s;
    return status;
}

cnn_status trainer_epoch(trainer *t, int64_t epoch, const trainer_watch *watch, trainer_result *result, cnn_error *err)
{
    const double start = cnn_now();
    if (t->data == NULL) return CNN_FAIL(err, CNN_BAD_ARGUMENT, "the trainer was opened without data");
    pass p = {.set = TRAIN_SET, .count = t->data->train.count};
    p.total = p.count + t->data->test.count;
    memset(result, 0, sizeof *result);
    t->transfer_s = t->paused = 0.0;
    t->n_host_times = 0;
    trainer_profile_start(t);
    trainer_draw_pass(t, TRAIN_SET, epoch);
    cnn_status status = trainer_profile_note(t, "order", start, err);
    if (status == CNN_OK) status = run_pass(t, watch, &p, err);
    result->steps = p.steps;
    result->train_s = cnn_now() - start - t->paused; /* the shuffling too */
    result->train_loss = p.loss;
    result->train_accuracy = p.accuracy;
    result->images_per_s = (double)p.count / result->train_s;
    if (status == CNN_OK) status = trainer_sample_trained(t, watch, err);
    if (status == CNN_OK) status = test_pass(t, watch, p.count, result, err);
    result->seconds = cnn_now() - start - t->paused;
    if (status == CNN_OK) status = trainer_profile_finish(t, result->seconds, err);
    result->transfer_s = t->transfer_s;
    result->host_step_s = host_step_seconds(t);
    if (!cnn_impl_timed(t->session->impl))
        result->host_step_s = result->seconds = result->train_s = result->test_s = result->transfer_s =
            result->images_per_s = NAN;
    return status;
}
