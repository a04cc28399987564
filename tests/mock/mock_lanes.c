/* mock_lanes.c: uploads beside the mock's stream, as late as cnn.h lets them be, or as early. */
#include "mock_parts.h"

#include <string.h>

static void copy_now(lane *l)
{
    if (l->waiting) memcpy(l->upload.dst, l->upload.src, l->upload.bytes);
    l->waiting = false;
}

static cnn_status mock_upload_start(cnn_context *context, int index, void *dst, const void *src, size_t bytes,
                                    cnn_error *err)
{
    mock *m = mock_of(context);
    lane *l = &m->lanes[index];
    if (l->undrained) return CNN_FAIL(err, CNN_DEVICE, "mock: lane %d was not drained", index);
    if (m->last_lane == index) return CNN_FAIL(err, CNN_DEVICE, "mock: lane %d twice in a row", index);
    m->last_lane = index;
    m->counts.uploads_beside++;
    *l = (lane){.upload = {.dst = dst, .src = src, .bytes = bytes},
                .waiting = true,
                .undrained = true,
                .uploads = l->uploads + 1,
                .used_at = l->used_at};
    if (!m->knobs[MOCK_EARLY_UPLOADS]) return CNN_OK;
    const cnn_status status = mock_run_until(m, m->lanes[1 - index].used_at, err);
    copy_now(l); /* nothing after that has run: whoever still reads dst there gets the new batch */
    return status;
}

static cnn_status run_use(mock *m, const call *c, cnn_error *err)
{
    lane *l = &m->lanes[c->args.copy.lane];
    if (c->args.copy.upload == l->uploads) copy_now(l); /* else it was drained long ago */
    return CNN_OK;
}

static cnn_status mock_upload_use(cnn_context *context, int index, cnn_error *err)
{
    mock *m = mock_of(context);
    const call c = {.run = run_use, .args.copy = {.lane = index, .upload = m->lanes[index].uploads}};
    m->lanes[index].used_at = m->queue.count;
    return mock_append(&m->queue, &c, 1, err);
}

static cnn_status mock_upload_drain(cnn_context *context, int index, double *seconds, cnn_error *err)
{
    mock *m = mock_of(context);
    lane *l = &m->lanes[index];
    *seconds = l->undrained ? 1.0 : 0.0; /* so that they can be counted */
    const cnn_status status = l->waiting ? mock_run_until(m, m->lanes[1 - index].used_at, err) : CNN_OK;
    copy_now(l);
    l->undrained = false;
    return status;
}

const cnn_uploads mock_uploads = {.host_alloc = mock_host_alloc,
                                  .host_free = mock_free,
                                  .start = mock_upload_start,
                                  .use = mock_upload_use,
                                  .drain = mock_upload_drain};
