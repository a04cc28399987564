/* feed.c: how batches get into their buffers.
 *
 * Images on the device: they are uploaded once, with the order of each epoch; a gather there makes a batch. In a
 * captured step everything is fixed, so the gather finds its place in the order by a cursor on the device. Where an
 * implementation has no gather the host copies, image by image.
 * Images on the host: a batch is gathered into a staging buffer and uploaded, by two lanes in turn: while the device
 * computes on one, the host fills the other. */
#include "harness/base/clock.h"
#include "harness/cpu/gather.h"
#include "harness/device/call.h"
#include "harness/problem/names.h"
#include "composition/parts.h"

#include <stdlib.h>
#include <string.h>

bool trainer_feeds_itself(const trainer *t)
{
    return t->graphs && !t->params.host_data && t->session->impl->ops->gather != NULL;
}

static size_t row_bytes(const trainer *t) { return (size_t)cnn_net_value_elems(t->net, 0, 1) * trainer_elem(t); }

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
    const size_t bytes = trainer_staging_bytes(t);
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

cnn_status trainer_feed_start(trainer *t, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int set = 0; set < SETS && status == CNN_OK; set++)
        status = t->params.host_data ? convert_part(t, trainer_part(t, set), set, err)
                                     : upload_part(t, trainer_part(t, set), set, err);
    for (int lane = 0; lane < LANES && t->params.host_data && status == CNN_OK; lane++)
        status = make_staging(t, lane, err);
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
    for (int set = 0; set < SETS; set++) free(t->rows[set]);
}

/* ---- A pass ---- */

/* Test images stay where they are. */
static const cnn_shift *shifts_of(const trainer *t, int set) { return set == TRAIN_SET ? t->shifts : NULL; }

cnn_status trainer_feed_order(trainer *t, int set, cnn_error *err)
{
    const cnn_shift *shifts = shifts_of(t, set);
    const size_t count = (size_t)trainer_part(t, set)->count;
    if (t->params.host_data) return CNN_OK;
    cnn_status status = cnn_mem_upload(t->session, trainer_at(t, t->order_at), t->order, count * sizeof *t->order, err);
    if (status == CNN_OK && shifts != NULL)
        status = cnn_mem_upload(t->session, trainer_at(t, t->shifts_at), shifts, count * sizeof *shifts, err);
    return status == CNN_OK && trainer_feeds_itself(t)
               ? cnn_mem_fill(t->session, trainer_at(t, t->cursor_at), 0, sizeof(int64_t), err)
               : status;
}

cnn_gather_args trainer_gather_args(const trainer *t, int64_t mb)
{
    const cnn_value *x = &t->net->values[0];
    const bool planes = t->net->type.layout == CNN_NCHW;
    return (cnn_gather_args){.dtype = t->net->type.dtype,
                             .count = mb,
                             .row_elems = cnn_net_value_elems(t->net, 0, 1),
                             .planes = planes ? x->c : 1,
                             .h = x->h,
                             .w = x->w,
                             .pixel_elems = planes ? 1 : x->c};
}

/* One by one, for an implementation without gather; what is moved is moved by the host, in its own memory. */
static cnn_status copy_rows(const trainer *t, const cnn_gather_args *args, const int32_t *order, cnn_error *err)
{
    const size_t row = row_bytes(t), label = sizeof(int32_t);
    const bool host = t->session->impl->memory == NULL;
    cnn_status status = CNN_OK;
    for (int64_t i = 0; i < args->count && status == CNN_OK; i++) {
        const size_t from = (size_t)order[i];
        if (host) {
            cnn_gather_row(args, i);
            continue;
        }
        status = cnn_mem_copy(t->session, (char *)args->y + (size_t)i * row, (const char *)args->rows + from * row, row,
                              err);
        if (status == CNN_OK) status = cnn_mem_copy(t->session, args->y_labels + i, args->labels + from, label, err);
    }
    return status;
}

static cnn_status gather_on_device(trainer *t, int lane, int set, int64_t first, int64_t mb, cnn_error *err)
{
    const cnn_session *s = t->session;
    const bool by_cursor = trainer_feeds_itself(t), moved = shifts_of(t, set) != NULL;
    const int64_t at = by_cursor ? 0 : first;
    cnn_gather_args args = trainer_gather_args(t, mb);
    args.rows = trainer_at(t, t->rows_at[set]);
    args.labels = trainer_at(t, t->labels_at[set]);
    args.index = (const int32_t *)trainer_at(t, t->order_at) + at;
    args.shifts = moved ? (const cnn_shift *)trainer_at(t, t->shifts_at) + at : NULL;
    args.y = trainer_at(t, t->images_at[lane]);
    args.y_labels = trainer_at(t, t->batch_labels_at[lane]);
    args.cursor = by_cursor ? trainer_at(t, t->cursor_at) : NULL;
    return s->impl->ops->gather != NULL ? CNN_CALL(s->impl, ops->gather, err, s->context, &args, err)
                                        : copy_rows(t, &args, t->order + first, err);
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
    const size_t bytes = trainer_staging_bytes(t);
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

static cnn_status feed_from_host(trainer *t, int lane, int set, int64_t first, int64_t mb, cnn_error *err)
{
    const cnn_status status = drain(t, lane, err);
    if (status != CNN_OK) return status;
    cnn_gather_args args = trainer_gather_args(t, mb);
    args.rows = t->rows[set];
    args.labels = trainer_part(t, set)->labels;
    args.index = t->order + first;
    args.shifts = shifts_of(t, set) != NULL ? t->shifts + first : NULL;
    args.y = t->staging[lane];
    args.y_labels = (int32_t *)(t->staging[lane] + (t->batch_labels_at[lane] - t->images_at[lane]));
    for (int64_t i = 0; i < mb; i++) cnn_gather_row(&args, i);
    return upload_staging(t, lane, err);
}

cnn_status trainer_feed(trainer *t, int lane, int set, int64_t first, int64_t mb, cnn_error *err)
{
    const cnn_status status = t->params.host_data ? feed_from_host(t, lane, set, first, mb, err)
                                                  : gather_on_device(t, lane, set, first, mb, err);
    return status == CNN_OK ? trainer_profile_call(t, err) : status;
}

cnn_status trainer_feed_end(trainer *t, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int lane = 0; lane < LANES && t->params.host_data && status == CNN_OK; lane++) status = drain(t, lane, err);
    return status;
}
