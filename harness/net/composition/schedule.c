/* schedule.c: from the network to lists of calls: one for each pass and batch size that occurs, and one for the update.
 */
#include "parts.h"

static cnn_status schedule_forward(cnn_trainer *t, call_list *list, int64_t mb, bool inference, cnn_error *err)
{
    for (int l = 0; l < t->net->n_layers; l++) {
        const cnn_status status = step_add_call(t, list, l, CNN_FWD, mb, inference, NULL, 0.0, err);
        if (status != CNN_OK) return status;
    }
    return CNN_OK;
}

static cnn_status schedule_batch(cnn_trainer *t, int lane, int index, int64_t mb, bool trains, bool tests,
                                 cnn_error *err)
{
    step_batch *batch = &t->batches[lane][index];
    cnn_status status = CNN_OK;
    batch->mb = mb;
    if (trains) status = schedule_forward(t, &batch->forward, mb, false, err);
    if (trains && status == CNN_OK) status = step_schedule_backward(t, batch, err);
    if (tests && status == CNN_OK) status = schedule_forward(t, &batch->inference, mb, true, err);
    return status;
}

/* Which batch sizes occur: the full one; the remainder of the training images; the remainder of the test images (all
 * of them where there are fewer than a batch). Lanes differ in the images' buffer alone, and share the plans. */
cnn_status step_schedule(cnn_trainer *t, cnn_error *err)
{
    const int64_t full = t->net->batch, train = t->params.train_images % full;
    const int64_t test = t->params.test_images % full;
    const int64_t sizes[MAX_BATCHES] = {full, train, test == train ? 0 : test};
    cnn_status status = CNN_OK;
    for (int i = 0; i < MAX_BATCHES; i++) {
        if (sizes[i] == 0) continue;
        const bool trains = sizes[i] == full || sizes[i] == train, tests = sizes[i] == full || sizes[i] == test;
        for (int lane = 0; lane < t->n_lists && status == CNN_OK; lane++)
            status = schedule_batch(t, lane, t->n_batches, sizes[i], trains, tests, err);
        t->n_batches++;
    }
    if (status == CNN_OK && t->net->trained_elems > 0) status = step_add_update(t, &t->update, err);
    return status;
}

step_batch *step_find_batch(cnn_trainer *t, int lane, int64_t mb, int mode, cnn_error *err)
{
    for (int i = 0; i < t->n_batches; i++) {
        step_batch *b = &t->batches[lane][i];
        if (b->mb == mb && (mode == TRAIN ? b->forward.count : b->inference.count) > 0) return b;
    }
    CNN_FAIL(err, CNN_BAD_ARGUMENT, "a step on %lld images was not planned for", (long long)mb);
    return NULL;
}
