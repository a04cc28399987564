/* epoch.c: running: batches, updates, whole epochs. Nothing here allocates. */
#include "../rng.h"
#include "trainer_parts.h"

#include "../names.h"

#include <string.h>

cnn_status trainer_run(trainer *t, const call_list *list, cnn_error *err)
{
    for (int i = 0; i < list->count; i++) {
        const trainer_call *c = &list->calls[i];
        const cnn_status status = c->plan < 0
                                      ? cnn_mem_copy(t->session, c->operands[1], c->operands[0], c->copy_bytes, err)
                                      : cnn_run(t->session, &t->plans[c->plan].plan, c->operands, &c->extra, err);
        if (status != CNN_OK) return status;
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

const trainer_batch *trainer_find_batch(const trainer *t, int64_t mb)
{
    for (int i = 0; i < t->n_batches; i++)
        if (t->batches[i].mb == mb) return &t->batches[i];
    return NULL;
}

static cnn_status fused_update(trainer *t, int64_t mb, cnn_error *err)
{
    const cnn_step_args args = {.mb = mb,
                                .x = trainer_at(t, t->value_at[0]),
                                .labels = trainer_at(t, t->batch_labels_at),
                                .params = trainer_at(t, t->params_at),
                                .grads = trainer_at(t, t->grads_at),
                                .state = {trainer_at(t, t->state_at[0]), trainer_at(t, t->state_at[1])},
                                .step = trainer_at(t, t->step_at),
                                .correct = trainer_at(t, t->correct_at),
                                .loss_sum = trainer_at(t, t->loss_at),
                                .workspace = trainer_at(t, t->workspace_at)};
    return t->session->impl->step_run(t->session->context, t->stepper, &args, err);
}

cnn_status trainer_update(trainer *t, const trainer_batch *batch, cnn_error *err)
{
    if (t->stepper != NULL) return fused_update(t, batch->mb, err);
    cnn_status status = trainer_run(t, &batch->forward, err);
    if (status == CNN_OK) status = trainer_run(t, &batch->backward, err);
    return status == CNN_OK ? trainer_run(t, &t->update, err) : status;
}

/* Brings images order[first ...] of a set into the batch buffers. */
static cnn_status gather(trainer *t, int set, int64_t first, int64_t mb, cnn_error *err)
{
    const cnn_session *s = t->session;
    const cnn_gather_args args = {.dtype = t->net->type.dtype,
                                  .count = mb,
                                  .row_elems = cnn_net_value_elems(t->net, 0, 1),
                                  .rows = trainer_at(t, t->rows_at[set]),
                                  .labels = trainer_at(t, t->labels_at[set]),
                                  .index = (const int32_t *)trainer_at(t, t->order_at) + first,
                                  .y = trainer_at(t, t->value_at[0]),
                                  .y_labels = trainer_at(t, t->batch_labels_at)};
    if (s->impl->gather != NULL) return s->impl->gather(s->context, &args, err);
    const size_t row = (size_t)args.row_elems * trainer_elem(t), label = sizeof(int32_t);
    for (int64_t i = 0; i < mb; i++) { /* one by one, for an implementation without gather */
        const size_t from = (size_t)t->order[first + i];
        cnn_status status =
            cnn_mem_copy(s, (char *)args.y + (size_t)i * row, (const char *)args.rows + from * row, row, err);
        if (status == CNN_OK) status = cnn_mem_copy(s, args.y_labels + i, args.labels + from, label, err);
        if (status != CNN_OK) return status;
    }
    return CNN_OK;
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

static cnn_status upload_order(trainer *t, int64_t count, cnn_error *err)
{
    return cnn_mem_upload(t->session, trainer_at(t, t->order_at), t->order, (size_t)count * sizeof *t->order, err);
}

/* One pass over a set; `watched` images are done before it, of `total`. */
typedef struct pass {
    int set;
    int64_t count, watched, total;
    double loss, accuracy, seconds;
    int64_t steps;
} pass;

static cnn_status watch_step(trainer *t, const trainer_watch *watch, const pass *p, int64_t done, int64_t mb,
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
    if (watch->each != NULL && !watch->each(watch->user, p->watched + done, p->total))
        return CNN_FAIL(err, CNN_INTERRUPTED, "interrupted after %lld of %lld images", (long long)(p->watched + done),
                        (long long)p->total);
    return CNN_OK;
}

static cnn_status run_pass(trainer *t, const trainer_watch *watch, pass *p, cnn_error *err)
{
    const double start = cnn_now();
    double sum = 0.0;
    int64_t correct = 0;
    cnn_status status = upload_order(t, p->count, err);
    if (status == CNN_OK) status = trainer_clear_sums(t, err);
    for (int64_t first = 0; first < p->count && status == CNN_OK;) {
        const int64_t left = p->count - first, mb = left < t->net->batch ? left : t->net->batch;
        const trainer_batch *batch = trainer_find_batch(t, mb);
        status = gather(t, p->set, first, mb, err);
        if (status == CNN_OK)
            status = p->set == TRAIN_SET ? trainer_update(t, batch, err) : trainer_run(t, &batch->inference, err);
        first += mb;
        p->steps++;
        if (status == CNN_OK) status = watch_step(t, watch, p, first, mb, &sum, err);
    }
    if (status == CNN_OK) status = trainer_read_sums(t, &sum, &correct, err);
    p->seconds = cnn_now() - start;
    p->loss = sum / (double)p->count;
    p->accuracy = (double)correct / (double)p->count;
    return status;
}

static cnn_status test_pass(trainer *t, const trainer_watch *watch, int64_t watched, trainer_result *result,
                            cnn_error *err)
{
    pass p = {.set = TEST_SET, .count = t->data->test.count, .watched = watched};
    p.total = watched + p.count;
    for (int64_t i = 0; i < p.count; i++) t->order[i] = (int32_t)i;
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
    return test_pass(t, watch, 0, result, err);
}

cnn_status trainer_epoch(trainer *t, int64_t epoch, const trainer_watch *watch, trainer_result *result, cnn_error *err)
{
    const double start = cnn_now();
    if (t->data == NULL) return CNN_FAIL(err, CNN_BAD_ARGUMENT, "the trainer was opened without data");
    pass p = {.set = TRAIN_SET, .count = t->data->train.count};
    p.total = p.count + t->data->test.count;
    memset(result, 0, sizeof *result);
    trainer_order(t->params.seed, epoch, p.count, t->order);
    cnn_status status = run_pass(t, watch, &p, err);
    result->steps = p.steps;
    result->train_s = cnn_now() - start; /* the shuffling too */
    result->train_loss = p.loss;
    result->train_accuracy = p.accuracy;
    result->images_per_s = (double)p.count / result->train_s;
    if (status == CNN_OK) status = test_pass(t, watch, p.count, result, err);
    result->seconds = cnn_now() - start;
    return status;
}
