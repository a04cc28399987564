/* single.c: single steps on given images: what verification uses. */
#include "trainer_parts.h"

/* Puts the images and labels into the lane; labels are checked, for kernels do not. */
static cnn_status take_batch(trainer *t, const void *images, const int32_t *labels, int64_t mb, cnn_error *err)
{
    if (t->n_lanes == 0)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "a trainer whose images stand on the device takes no others");
    if (mb < 1 || mb > t->net->batch)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "a step on %lld images: the batch is %lld", (long long)mb,
                        (long long)t->net->batch);
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

/* Behind a step that ended with this status. */
static cnn_status mean_loss(trainer *t, cnn_status status, int64_t mb, double *loss, int64_t *correct, cnn_error *err)
{
    double sum = 0.0;
    int64_t right = 0;
    if (status != CNN_OK) return trainer_name_error(t, "a single step", status, err);
    status = trainer_read_sums(t, &sum, &right, err);
    if (loss != NULL) *loss = sum / (double)mb;
    if (correct != NULL) *correct = right;
    return status;
}

cnn_status trainer_gradients(trainer *t, const void *images, const int32_t *labels, int64_t mb, void *grads,
                             double *loss, cnn_error *err)
{
    cnn_train_state only = {.grads = grads};
    cnn_status status = take_batch(t, images, labels, mb, err);
    if (status != CNN_OK) return status;
    status = TRAINER_ASK(t, gradients, err, &t->lanes[0], 0, mb);
    status = mean_loss(t, status, mb, loss, NULL, err);
    return status == CNN_OK && grads != NULL ? TRAINER_ASK(t, save, err, &only) : status;
}

cnn_status trainer_step(trainer *t, const void *images, const int32_t *labels, int64_t mb, double *loss,
                        int64_t *correct, cnn_error *err)
{
    const cnn_status status = take_batch(t, images, labels, mb, err);
    if (status != CNN_OK) return status;
    return mean_loss(t, TRAINER_ASK(t, train, err, &t->lanes[0], 0, mb), mb, loss, correct, err);
}

cnn_status trainer_infer(trainer *t, const void *images, const int32_t *labels, int64_t mb, double *loss,
                         int64_t *correct, cnn_error *err)
{
    const cnn_status status = take_batch(t, images, labels, mb, err);
    if (status != CNN_OK) return status;
    return mean_loss(t, TRAINER_ASK(t, test, err, &t->lanes[0], 0, mb), mb, loss, correct, err);
}
