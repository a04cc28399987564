/* gather_check.c: whether an implementation's `gather` makes the batches that it is asked for. No other check sees it:
 * a gather that mixes up images and labels, or does not move them, shows as a network that learns badly. */
#include "harness/cpu/gather.h"
#include "harness/problem/names.h"
#include "parts.h"

#include <stdlib.h>
#include <string.h>

/* Of a batch the first so many images; and batches in a row, two at least, for the second is where the cursor must have
 * gone, up to so many images, for of a few the shifts may happen to be none. */
enum { CHECKED = 512, CHECKED_LEAST = 64 };

typedef struct checked {
    char *images, *row, *expected; /* of the batch; one image; the same as it is to be */
    int32_t *labels;
} checked;

/* Image `at` of the order, as it is to be, is image i of the batch. */
static cnn_status check_image(const cnn_trainer *t, const checked *c, int64_t at, int64_t i, size_t bytes,
                              cnn_error *err)
{
    const dataset_part *part = &t->loop->data->train;
    const int32_t first = 0, from = t->loop->order[TRAIN][at];
    const cnn_shift *shifts = t->loop->shifts;
    int32_t label;
    dataset_rows(t->loop->data, part, from, 1, &t->net->type, c->row);
    const cnn_images one = {.rows = c->row,
                            .labels = &part->labels[from],
                            .order = &first,
                            .shifts = shifts != NULL ? &shifts[at] : NULL,
                            .count = 1};
    cnn_gather_args args = trainer_gather_args(t->net, &one, 0, 1);
    args.y = c->expected;
    args.y_labels = &label;
    cnn_gather_row(&args, 0);
    if (label == c->labels[i] && memcmp(c->expected, c->images + (size_t)i * bytes, bytes) == 0) return CNN_OK;
    return CNN_FAIL(err, CNN_INTERNAL,
                    "implementation %s: its gather gives another %s than asked for at image %lld of %lld%s",
                    t->session->impl->name, label == c->labels[i] ? "image" : "label", (long long)at,
                    (long long)part->count, shifts != NULL ? ", moved by --shift" : "");
}

static cnn_status check_batch(cnn_trainer *t, const checked *c, int64_t first, int64_t count, cnn_error *err)
{
    const size_t bytes = (size_t)cnn_net_value_elems(t->net, 0, 1) * trainer_elem(t->loop);
    const trainer *loop = t->loop;
    void *images = trainer_at(loop, loop->images_at[0]), *labels = trainer_at(loop, loop->batch_labels_at[0]);
    const size_t label_bytes = (size_t)count * sizeof *c->labels;
    /* What an earlier batch left must not pass for this one. */
    cnn_status status = cnn_mem_fill(t->session, images, 0xff, (size_t)count * bytes, err);
    if (status == CNN_OK) status = cnn_mem_fill(t->session, labels, 0xff, label_bytes, err);
    if (status == CNN_OK) status = step_gather(t, &t->loop->images[TRAIN], first, t->net->batch, err);
    if (status == CNN_OK) status = cnn_sync(t->session, err);
    if (status == CNN_OK) status = cnn_mem_download(t->session, c->images, images, (size_t)count * bytes, err);
    if (status == CNN_OK) status = cnn_mem_download(t->session, c->labels, labels, label_bytes, err);
    for (int64_t i = 0; i < count && status == CNN_OK; i++) status = check_image(t, c, first + i, i, bytes, err);
    return status;
}

cnn_status step_check_gather(cnn_trainer *t, cnn_error *err)
{
    const int64_t all = t->loop->count[TRAIN], batch = t->net->batch, count = batch < CHECKED ? batch : CHECKED;
    const size_t bytes = (size_t)cnn_net_value_elems(t->net, 0, 1) * trainer_elem(t->loop);
    if (t->session->impl->ops->gather == NULL) return CNN_OK; /* the harness does it */
    const checked c = {.images = malloc((size_t)count * bytes),
                       .row = malloc(bytes),
                       .expected = malloc(bytes),
                       .labels = calloc((size_t)count, sizeof(int32_t))};
    cnn_status status = CNN_OK;
    if (c.images == NULL || c.row == NULL || c.expected == NULL || c.labels == NULL)
        status = CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to check %lld images", (long long)count);
    for (int64_t at = 0; (at < 2 * batch || at < CHECKED_LEAST) && at + batch <= all && status == CNN_OK; at += batch)
        status = check_batch(t, &c, at, count, err);
    free(c.images);
    free(c.row);
    free(c.expected);
    free(c.labels);
    return status;
}
