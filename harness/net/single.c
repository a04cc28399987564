/* single.c: single steps on given images, and the parameters in and out: what verification uses. */
#include "harness/problem/names.h"
#include "composition/parts.h"

#include <stdlib.h>

static size_t param_bytes(const trainer *t) { return (size_t)t->net->param_elems * trainer_elem(t); }

cnn_status trainer_get_params(trainer *t, void *params, cnn_error *err)
{
    const cnn_status status = cnn_sync(t->session, err);
    return status == CNN_OK ? cnn_mem_download(t->session, params, trainer_at(t, t->params_at), param_bytes(t), err)
                            : status;
}

cnn_status trainer_set_params(trainer *t, const void *params, cnn_error *err)
{
    return cnn_mem_upload(t->session, trainer_at(t, t->params_at), params, param_bytes(t), err);
}

cnn_status trainer_reset(trainer *t, cnn_error *err)
{
    trainer_state initial;
    cnn_status status = trainer_state_make(t, &initial, err);
    if (status != CNN_OK) return status;
    cnn_net_init_params(t->network, initial.params);
    status = trainer_state_put(t, &initial, err);
    trainer_state_free(&initial);
    return status;
}

/* Puts the images and labels into the batch buffers; labels are checked, for kernels do not. */
static cnn_status take_batch(trainer *t, const void *images, const int32_t *labels, const trainer_batch *batch,
                             int64_t mb, cnn_error *err)
{
    if (batch == NULL)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "a step on %lld images was not planned for", (long long)mb);
    for (int64_t i = 0; i < mb; i++)
        if (labels[i] < 0 || labels[i] >= t->net->classes)
            return CNN_FAIL(err, CNN_BAD_ARGUMENT, "label %d at image %lld: expected 0 to %lld", labels[i],
                            (long long)i, (long long)t->net->classes - 1);
    const size_t bytes = (size_t)cnn_net_value_elems(t->net, 0, mb) * trainer_elem(t);
    cnn_status status = cnn_mem_upload(t->session, trainer_at(t, t->images_at[0]), images, bytes, err);
    if (status == CNN_OK)
        status =
            cnn_mem_upload(t->session, trainer_at(t, t->batch_labels_at[0]), labels, (size_t)mb * sizeof *labels, err);
    return status == CNN_OK ? trainer_clear_sums(t, err) : status;
}

static cnn_status mean_loss(trainer *t, int64_t mb, double *loss, int64_t *correct, cnn_error *err)
{
    double sum = 0.0;
    int64_t right = 0;
    const cnn_status status = trainer_read_sums(t, &sum, &right, err);
    if (loss != NULL) *loss = sum / (double)mb;
    if (correct != NULL) *correct = right;
    return status;
}

/* Sets the running statistics aside, or (back) brings them back: a forward in training mode changes them. */
static cnn_status keep_running(trainer *t, bool back, cnn_error *err)
{
    const size_t elem = trainer_elem(t);
    const size_t bytes = (size_t)(t->net->param_elems - t->net->trained_elems) * elem;
    char *running = (char *)trainer_at(t, t->params_at) + (size_t)t->net->trained_elems * elem;
    char *kept = trainer_at(t, t->kept_at);
    return bytes == 0 ? CNN_OK : cnn_mem_copy(t->session, back ? running : kept, back ? kept : running, bytes, err);
}

static cnn_status name_step(const trainer *t, cnn_status status, cnn_error *err)
{
    return status == CNN_OK ? CNN_OK : trainer_name_error(t, "a single step", err);
}

cnn_status trainer_gradients(trainer *t, const void *images, const int32_t *labels, int64_t mb, void *grads,
                             double *loss, cnn_error *err)
{
    const trainer_batch *batch = trainer_find_batch(t, 0, mb);
    if (batch != NULL && batch->backward.count == 0) batch = NULL;
    cnn_status status = take_batch(t, images, labels, batch, mb, err);
    if (status == CNN_OK) status = keep_running(t, false, err);
    if (status == CNN_OK) status = name_step(t, trainer_run(t, &batch->forward, err), err);
    if (status == CNN_OK) status = name_step(t, trainer_run(t, &batch->backward, err), err);
    if (status == CNN_OK) status = keep_running(t, true, err);
    if (status == CNN_OK) status = mean_loss(t, mb, loss, NULL, err);
    if (status == CNN_OK)
        status = cnn_mem_download(t->session, grads, trainer_at(t, t->grads_at),
                                  (size_t)t->net->trained_elems * trainer_elem(t), err);
    return status;
}

cnn_status trainer_step(trainer *t, const void *images, const int32_t *labels, int64_t mb, double *loss, cnn_error *err)
{
    const trainer_batch *batch = trainer_find_batch(t, 0, mb);
    if (batch != NULL && batch->forward.count == 0) batch = NULL;
    cnn_status status = take_batch(t, images, labels, batch, mb, err);
    if (status == CNN_OK) status = name_step(t, trainer_update(t, batch, 0, err), err);
    return status == CNN_OK ? mean_loss(t, mb, loss, NULL, err) : status;
}

cnn_status trainer_forward(trainer *t, const void *images, const int32_t *labels, int64_t mb, bool inference,
                           double *loss, int64_t *correct, void *probabilities, cnn_error *err)
{
    const trainer_batch *batch = trainer_find_batch(t, 0, mb);
    const call_list *list = batch == NULL ? NULL : inference ? &batch->inference : &batch->forward;
    if (list != NULL && list->count == 0) batch = NULL;
    cnn_status status = take_batch(t, images, labels, batch, mb, err);
    if (status == CNN_OK) status = keep_running(t, false, err);
    if (status == CNN_OK) status = name_step(t, trainer_run(t, list, err), err);
    if (status == CNN_OK) status = keep_running(t, true, err);
    if (status == CNN_OK) status = mean_loss(t, mb, loss, correct, err);
    if (status == CNN_OK && probabilities != NULL)
        status = cnn_mem_download(t->session, probabilities,
                                  trainer_at(t, t->value_at[t->net->layers[t->net->n_layers - 1].output]),
                                  (size_t)(mb * t->net->classes) * trainer_elem(t), err);
    return status;
}
