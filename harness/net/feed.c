/* feed.c: how images get to the device.
 *
 * Images on the device: they are uploaded once, and the order of each epoch; the trainer makes batches of them.
 * Images on the host: a batch is gathered into a staging buffer and uploaded, by two lanes in turn: while the device
 * computes on one, the host fills the other. */
#include "harness/base/clock.h"
#include "harness/device/call.h"
#include "harness/problem/names.h"
#include "trainer_parts.h"

#include <stdlib.h>
#include <string.h>

static size_t row_bytes(const trainer *t) { return (size_t)cnn_net_value_elems(t->net, 0, 1) * trainer_elem(t); }

/* ---- Places ---- */

size_t trainer_place(trainer *t, size_t *kind, int64_t count, size_t size)
{
    enum { ALIGN = 256 }; /* what devices like best; a multiple of CNN_ALIGN */
    size_t bytes, end;
    const size_t at = t->bytes.total;
    if (__builtin_mul_overflow((size_t)count, size, &bytes) || bytes > SIZE_MAX / 2 - ALIGN ||
        __builtin_add_overflow(at, (bytes + ALIGN - 1) / ALIGN * ALIGN, &end) || end > SIZE_MAX / 2) {
        t->overflow = true;
        return 0;
    }
    *kind += bytes;
    t->bytes.total = end;
    return at;
}

/* Images, then labels: what a lane holds, and what one upload brings. */
static size_t lane_bytes(const trainer *t)
{
    return t->batch_labels_at[0] + (size_t)t->net->batch * sizeof(int32_t) - t->images_at[0];
}

static void place_batches(trainer *t, int count)
{
    for (int lane = 0; lane < count; lane++) { /* labels right behind the images: one upload brings both */
        t->images_at[lane] =
            trainer_place(t, &t->bytes.values, cnn_net_value_elems(t->net, 0, t->net->batch), trainer_elem(t));
        t->batch_labels_at[lane] = trainer_place(t, &t->bytes.small, t->net->batch, sizeof(int32_t));
    }
    if (!t->params.host_data) return;
    const size_t images = (size_t)cnn_net_value_elems(t->net, 0, t->data->train.count + t->data->test.count);
    if (__builtin_mul_overflow(images, trainer_elem(t), &t->bytes.host) ||
        __builtin_add_overflow(t->bytes.host, LANES * lane_bytes(t), &t->bytes.host))
        t->overflow = true;
}

void trainer_feed_place(trainer *t)
{
    t->loss_at = trainer_place(t, &t->bytes.small, 1, sizeof(double));
    t->correct_at = trainer_place(t, &t->bytes.small, 1, sizeof(int64_t));
    t->shifts_at = NOWHERE;
    place_batches(t, t->n_lanes == 0 && t->algorithm == NULL ? 1 : t->n_lanes);
    for (int set = 0; set < PASSES && t->n_lanes == 0; set++) {
        const int64_t count = trainer_part(t, set)->count;
        t->rows_at[set] = trainer_place(t, &t->bytes.data, cnn_net_value_elems(t->net, 0, count), trainer_elem(t));
        t->labels_at[set] = trainer_place(t, &t->bytes.data, count, sizeof(int32_t));
        t->order_at[set] = trainer_place(t, &t->bytes.small, t->count[set], sizeof **t->order);
    }
    if (t->params.shift > 0 && t->n_lanes == 0)
        t->shifts_at = trainer_place(t, &t->bytes.small, t->count[TRAIN], sizeof *t->shifts);
}

/* ---- Starting and ending ---- */

/* Into host memory straight; to a device by way of a small buffer. */
static cnn_status upload_part(const trainer *t, const dataset_part *part, int set, cnn_error *err)
{
    enum { CHUNK = 512 };
    const bool host = t->session->impl->memory == NULL;
    const size_t row = row_bytes(t);
    char *rows = trainer_at(t, t->rows_at[set]), *chunk = host ? NULL : malloc(CHUNK * row);
    cnn_status status = cnn_mem_upload(t->session, trainer_at(t, t->labels_at[set]), part->labels,
                                       (size_t)part->count * sizeof *part->labels, err);
    if (host)
        dataset_rows(t->data, part, 0, part->count, &t->net->type, rows);
    else if (chunk == NULL)
        status = CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to upload images");
    for (int64_t i = 0; !host && status == CNN_OK && i < part->count; i += CHUNK) {
        const int64_t count = part->count - i < CHUNK ? part->count - i : CHUNK;
        dataset_rows(t->data, part, i, count, &t->net->type, chunk);
        status = cnn_mem_upload(t->session, rows + (size_t)i * row, chunk, (size_t)count * row, err);
    }
    free(chunk);
    return status;
}

static cnn_status convert_part(trainer *t, const dataset_part *part, int set, cnn_error *err)
{
    const size_t bytes = (size_t)part->count * row_bytes(t);
    t->rows[set] = malloc(bytes);
    if (t->rows[set] == NULL)
        return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "cannot allocate %zu bytes of host memory for the images", bytes);
    dataset_rows(t->data, part, 0, part->count, &t->net->type, t->rows[set]);
    return CNN_OK;
}

static cnn_status make_staging(trainer *t, int lane, cnn_error *err)
{
    const cnn_impl *impl = t->session->impl;
    const size_t bytes = lane_bytes(t);
    void *memory = NULL;
    if (impl->uploads != NULL) {
        const cnn_status status = CNN_CALL(impl, uploads->host_alloc, err, t->session->context, bytes, &memory, err);
        if (status != CNN_OK) return status;
    } else if ((memory = malloc(bytes)) == NULL) {
        return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "cannot allocate %zu bytes of host memory for a batch", bytes);
    }
    t->staging[lane] = memset(memory, 0, bytes); /* gaps are uploaded, too */
    return CNN_OK;
}

/* What the trainer is told of the places. */
static void name_places(trainer *t)
{
    for (int lane = 0; lane < t->n_lanes; lane++)
        t->lanes[lane] = (cnn_images){.rows = trainer_at(t, t->images_at[lane]),
                                      .labels = trainer_at(t, t->batch_labels_at[lane]),
                                      .count = t->net->batch};
    for (int set = 0; set < PASSES && t->n_lanes == 0; set++)
        t->images[set] = (cnn_images){.rows = trainer_at(t, t->rows_at[set]),
                                      .labels = trainer_at(t, t->labels_at[set]),
                                      .order = trainer_at(t, t->order_at[set]),
                                      .shifts = set == TRAIN ? trainer_at(t, t->shifts_at) : NULL,
                                      .count = t->count[set]};
}

cnn_status trainer_feed_start(trainer *t, cnn_error *err)
{
    const int64_t batch = t->net->batch;
    cnn_status status = CNN_OK;
    name_places(t);
    for (int set = 0; set < PASSES && t->data != NULL && status == CNN_OK; set++) {
        status = t->params.host_data ? convert_part(t, trainer_part(t, set), set, err)
                                     : upload_part(t, trainer_part(t, set), set, err);
        trainer_draw_pass(t, set, 0);
        if (status == CNN_OK) status = trainer_feed_order(t, set, err);
    }
    for (int lane = 0; lane < t->n_lanes && t->data != NULL && status == CNN_OK; lane++)
        status = make_staging(t, lane, err);
    if (status == CNN_OK) status = trainer_gatherers_open(t, row_bytes(t), err);
    for (int lane = 0; lane < t->n_lanes && t->data != NULL && status == CNN_OK; lane++)
        status = trainer_feed_lane(t, lane, TRAIN, 0, batch, err);
    return status;
}

void trainer_feed_close(trainer *t)
{
    const cnn_impl *impl = t->session->impl;
    for (int lane = 0; lane < LANES; lane++) {
        if (t->staging[lane] != NULL && impl->uploads != NULL)
            CNN_CALL_VOID(impl, uploads->host_free, t->session->context, t->staging[lane]);
        else
            free(t->staging[lane]);
    }
    for (int set = 0; set < PASSES; set++) free(t->rows[set]);
    trainer_gatherers_close(t);
}

/* ---- A pass ---- */

/* Test images stay where they are. */
static const cnn_shift *shifts_of(const trainer *t, int set) { return set == TRAIN ? t->shifts : NULL; }

cnn_status trainer_feed_order(trainer *t, int set, cnn_error *err)
{
    const size_t count = (size_t)t->count[set];
    if (t->n_lanes > 0) return CNN_OK;
    const cnn_status status =
        cnn_mem_upload(t->session, trainer_at(t, t->order_at[set]), t->order[set], count * sizeof **t->order, err);
    return status == CNN_OK && shifts_of(t, set) != NULL
               ? cnn_mem_upload(t->session, trainer_at(t, t->shifts_at), t->shifts, count * sizeof *t->shifts, err)
               : status;
}

/* Waits until the lane's staging buffer may be filled again. */
static cnn_status drain(trainer *t, int lane, cnn_error *err)
{
    const cnn_impl *impl = t->session->impl;
    double seconds = 0.0;
    if (impl->uploads == NULL) return CNN_OK;
    const cnn_status status = CNN_CALL(impl, uploads->drain, err, t->session->context, lane, &seconds, err);
    t->transfer_s += seconds;
    return status;
}

static cnn_status upload_staging(trainer *t, int lane, cnn_error *err)
{
    const cnn_impl *impl = t->session->impl;
    cnn_context *context = t->session->context;
    const size_t bytes = lane_bytes(t);
    void *to = trainer_at(t, t->images_at[lane]);
    if (impl->uploads != NULL) {
        const cnn_status status = CNN_CALL(impl, uploads->start, err, context, lane, to, t->staging[lane], bytes, err);
        return status == CNN_OK ? CNN_CALL(impl, uploads->use, err, context, lane, err) : status;
    }
    const double start = cnn_now();
    const cnn_status status = cnn_mem_upload(t->session, to, t->staging[lane], bytes, err);
    t->transfer_s += cnn_now() - start;
    return status;
}

cnn_status trainer_feed_lane(trainer *t, int lane, int set, int64_t first, int64_t mb, cnn_error *err)
{
    const cnn_status status = drain(t, lane, err);
    if (status != CNN_OK) return status;
    const cnn_images images = {.rows = t->rows[set],
                               .labels = trainer_part(t, set)->labels,
                               .order = t->order[set],
                               .shifts = shifts_of(t, set)};
    cnn_gather_args args = trainer_gather_args(t->net, &images, first, mb);
    args.y = t->staging[lane];
    args.y_labels = (int32_t *)(t->staging[lane] + (t->batch_labels_at[lane] - t->images_at[lane]));
    trainer_gather(t, &args, mb);
    return upload_staging(t, lane, err);
}

cnn_status trainer_feed_end(trainer *t, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int lane = 0; lane < LANES && t->params.host_data && status == CNN_OK; lane++) status = drain(t, lane, err);
    return status;
}

/* ---- To the trainer ---- */

cnn_status trainer_note(const trainer *t, const char *what, double since, cnn_error *err)
{
    return t->profile != NULL ? profile_overhead(t->profile, what, cnn_now() - since, err) : CNN_OK;
}

static cnn_status ask(trainer *t, int set, const cnn_images *images, int64_t first, int64_t count, cnn_error *err)
{
    return set == TRAIN ? TRAINER_ASK(t, train, err, images, first, count)
                        : TRAINER_ASK(t, test, err, images, first, count);
}

cnn_status trainer_take(trainer *t, int set, int64_t first, int64_t count, cnn_error *err)
{
    const double start = cnn_now();
    if (t->n_lanes == 0) return ask(t, set, &t->images[set], first, count, err);
    const int lane = (int)(first / t->net->batch % t->n_lanes);
    cnn_status status = trainer_feed_lane(t, lane, set, first, count, err);
    if (status == CNN_OK) status = trainer_note(t, "feeding", start, err);
    return status == CNN_OK ? ask(t, set, &t->lanes[lane], 0, count, err) : status;
}
