/* schedule.c: from the network to lists of calls: one for each pass and batch size that occurs, and one for the update.
 */
#include "trainer_parts.h"

static cnn_status schedule_forward(trainer *t, call_list *list, int64_t mb, bool inference, cnn_error *err)
{
    for (int l = 0; l < t->net->n_layers; l++) {
        const cnn_status status = trainer_add_call(t, list, l, CNN_FWD, mb, inference, NULL, 0.0, err);
        if (status != CNN_OK) return status;
    }
    return CNN_OK;
}

/* Which batch sizes occur: the full one; the remainder of the training images; the remainder of the test images (all
 * of them where there are fewer than a batch). */
cnn_status trainer_schedule(trainer *t, cnn_error *err)
{
    const int64_t full = t->net->batch, train = t->data != NULL ? t->data->train.count % full : 0;
    const int64_t test = t->data != NULL ? t->data->test.count % full : 0;
    const int64_t sizes[MAX_BATCHES] = {full, train, test == train ? 0 : test};
    cnn_status status = CNN_OK;
    for (int i = 0; i < MAX_BATCHES && status == CNN_OK; i++) {
        if (sizes[i] == 0) continue;
        trainer_batch *batch = &t->batches[t->n_batches++];
        const bool trains = sizes[i] == full || sizes[i] == train, tests = sizes[i] == full || sizes[i] == test;
        batch->mb = sizes[i];
        if (trains) status = schedule_forward(t, &batch->forward, batch->mb, false, err);
        if (trains && status == CNN_OK) status = trainer_schedule_backward(t, batch, err);
        if (tests && status == CNN_OK) status = schedule_forward(t, &batch->inference, batch->mb, true, err);
    }
    if (status == CNN_OK && t->net->trained_elems > 0) status = trainer_add_update(t, &t->update, err);
    return status;
}
