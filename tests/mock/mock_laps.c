/* mock_laps.c: laps on the mock's stream; its clock is a counter of marks. */
#include "mock_parts.h"

#include <stdlib.h>

static cnn_status run_mark(mock *m, const call *c, cnn_error *err)
{
    *c->args.mark = m->ticks++;
    return CNN_OK;
}

cnn_status mock_lap(cnn_context *context, const char *phase, cnn_error *err)
{
    mock *m = mock_of(context);
    if (m->laps == NULL) return CNN_OK;
    if (m->laps->count == MOCK_LAPS) return CNN_FAIL(err, CNN_INTERNAL, "mock: too many laps");
    snprintf(m->laps->list[m->laps->count].phase, sizeof m->laps->list->phase, "%s", phase);
    const call c = {.run = run_mark, .args.mark = &m->laps->passed[++m->laps->count]};
    return mock_launch(m, &c, err);
}

static cnn_status mock_laps_open(cnn_context *context, cnn_laps **laps, cnn_error *err)
{
    *laps = calloc(1, sizeof **laps);
    return *laps != NULL ? CNN_OK : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "mock: no memory");
}

static void mock_laps_close(cnn_context *context, cnn_laps *laps)
{
    if (mock_of(context)->laps == laps) mock_of(context)->laps = NULL;
    free(laps);
}

static cnn_status mock_laps_use(cnn_context *context, cnn_laps *laps, cnn_error *err)
{
    mock *m = mock_of(context);
    m->laps = laps;
    if (laps == NULL) return CNN_OK;
    laps->count = 0;
    const call c = {.run = run_mark, .args.mark = &laps->passed[0]};
    return mock_launch(m, &c, err);
}

static cnn_status mock_laps_read(cnn_context *context, cnn_laps *laps, const cnn_lap **list, int *count, cnn_error *err)
{
    for (int i = 0; i < laps->count; i++)
        laps->list[i].seconds = 1e-7 * (double)(laps->passed[i + 1] - laps->passed[i]);
    *list = laps->list;
    *count = laps->count;
    return CNN_OK;
}

const cnn_profile mock_profile = {
    .open = mock_laps_open, .close = mock_laps_close, .use = mock_laps_use, .lap = mock_lap, .read = mock_laps_read};
