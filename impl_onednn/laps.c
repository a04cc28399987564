/* laps.c: marks by the monotonic clock: operations are done when they return, so a lap is what passed between two. */
#include "onednn.h"

#include "harness/base/clock.h"
#include "harness/base/grow.h"

#include <stdlib.h>

struct cnn_laps {
    cnn_lap *list;
    int count, capacity;
    double last;
};

static cnn_status laps_open(cnn_context *context, cnn_laps **laps, cnn_error *err)
{
    (void)context;
    *laps = calloc(1, sizeof **laps);
    return *laps != NULL ? CNN_OK : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for laps");
}

static void laps_close(cnn_context *context, cnn_laps *laps)
{
    onednn_context *c = (onednn_context *)context;
    if (laps == NULL) return;
    if (c->laps == laps) c->laps = NULL;
    free(laps->list);
    free(laps);
}

static cnn_status laps_use(cnn_context *context, cnn_laps *laps, cnn_error *err)
{
    (void)err;
    ((onednn_context *)context)->laps = laps;
    if (laps == NULL) return CNN_OK;
    laps->count = 0;
    laps->last = cnn_now();
    return CNN_OK;
}

void onednn_phase(const onednn_context *c, const char *phase)
{
    cnn_laps *laps = c->laps;
    cnn_error ignored; /* without memory the mark is left out, and the next one takes its time */
    if (laps == NULL) return;
    const double now = cnn_now();
    cnn_lap *lap = cnn_add_item(&laps->list, &laps->count, &laps->capacity, sizeof *lap, "laps", &ignored);
    if (lap == NULL) return;
    snprintf(lap->phase, sizeof lap->phase, "%.*s", (int)sizeof lap->phase - 1, phase);
    lap->seconds = now - laps->last;
    laps->last = now;
}

static cnn_status mark(cnn_context *context, const char *phase, cnn_error *err)
{
    (void)err;
    onednn_phase((const onednn_context *)context, phase);
    return CNN_OK;
}

static cnn_status laps_read(cnn_context *context, cnn_laps *laps, const cnn_lap **list, int *count, cnn_error *err)
{
    (void)context, (void)err;
    *list = laps->list;
    *count = laps->count;
    return CNN_OK;
}

const cnn_profile onednn_profile = {
    .open = laps_open, .close = laps_close, .use = laps_use, .lap = mark, .read = laps_read};
