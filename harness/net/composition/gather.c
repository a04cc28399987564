/* gather.c: how a batch gets into its buffer, of images that stand on the device.
 *
 * In a captured step everything is fixed, so the gather finds its place in the order by a cursor on the device. Where
 * an implementation has no gather the host copies, image by image. */
#include "harness/cpu/gather.h"
#include "harness/problem/names.h"
#include "parts.h"

#include <stdlib.h>

bool step_gathers_by_cursor(const cnn_trainer *t)
{
    return t->graphs && t->gathers && t->session->impl->ops->gather != NULL;
}

cnn_status step_seek(cnn_trainer *t, int64_t first, cnn_error *err)
{
    if (!step_gathers_by_cursor(t) || t->cursor == first) return CNN_OK;
    void *cursor = trainer_at(t->loop, t->cursor_at);
    t->cursor = first;
    return first == 0 ? cnn_mem_fill(t->session, cursor, 0, sizeof first, err)
                      : cnn_mem_upload(t->session, cursor, &first, sizeof first, err);
}

/* One by one, for an implementation without gather; what is moved is moved in the host's own memory only. `order`: the
 * batch's, on the host. */
static cnn_status copy_rows(const cnn_trainer *t, const cnn_gather_args *args, const int32_t *order, cnn_error *err)
{
    const cnn_session *s = t->session;
    const size_t row = (size_t)args->row_elems * trainer_elem(t->loop), label = sizeof(int32_t);
    const bool host = s->impl->memory == NULL;
    cnn_status status = CNN_OK;
    for (int64_t i = 0; i < args->count && status == CNN_OK; i++) {
        const size_t from = (size_t)order[i];
        if (host) {
            cnn_gather_row(args, i);
            continue;
        }
        status = cnn_mem_copy(s, (char *)args->y + (size_t)i * row, (const char *)args->rows + from * row, row, err);
        if (status == CNN_OK) status = cnn_mem_copy(s, args->y_labels + i, args->labels + from, label, err);
    }
    return status;
}

cnn_gather_args trainer_gather_args(const cnn_net *net, const cnn_images *images, int64_t first, int64_t mb)
{
    const cnn_value *x = &net->values[0];
    const bool planes = net->type.layout == CNN_NCHW;
    return (cnn_gather_args){.dtype = net->type.dtype,
                             .count = mb,
                             .row_elems = cnn_net_value_elems(net, 0, 1),
                             .rows = images->rows,
                             .labels = images->labels,
                             .index = images->order + first,
                             .shifts = images->shifts != NULL ? images->shifts + first : NULL,
                             .planes = planes ? x->c : 1,
                             .h = x->h,
                             .w = x->w,
                             .pixel_elems = planes ? 1 : x->c};
}

cnn_status step_gather(cnn_trainer *t, const cnn_images *images, int64_t first, int64_t mb, cnn_error *err)
{
    const cnn_session *s = t->session;
    const bool by_cursor = step_gathers_by_cursor(t);
    cnn_gather_args args = trainer_gather_args(t->net, images, by_cursor ? 0 : first, mb);
    args.y = trainer_at(t->loop, t->loop->images_at[0]);
    args.y_labels = trainer_at(t->loop, t->loop->batch_labels_at[0]);
    args.cursor = by_cursor ? trainer_at(t->loop, t->cursor_at) : NULL;
    const int32_t *order = t->loop->order[images - t->loop->images] + first;
    cnn_status status = step_seek(t, first, err);
    if (status == CNN_OK)
        status = s->impl->ops->gather != NULL ? CNN_CALL(s->impl, ops->gather, err, s->context, &args, err)
                                              : copy_rows(t, &args, order, err);
    if (by_cursor) t->cursor += mb;
    return status == CNN_OK ? step_laps_call(t, err) : status;
}
