/* It pretends to tell where the time goes, but its laps are negative, NaN and huge, their names have no end, and
 * there are none where it says there are a million. */
#include "shared/cheat.h"

static cnn_lap list[4];
static int reads;

static cnn_status open(cnn_context *c, cnn_laps **laps, cnn_error *err)
{
    *laps = (cnn_laps *)(void *)list;
    return CNN_OK;
}

static void close_(cnn_context *c, cnn_laps *laps) {}

static cnn_status use(cnn_context *c, cnn_laps *laps, cnn_error *err) { return CNN_OK; }

static cnn_status lap(cnn_context *c, const char *phase, cnn_error *err) { return CNN_OK; }

static cnn_status read_(cnn_context *c, cnn_laps *laps, const cnn_lap **out, int *count, cnn_error *err)
{
    const double lies[] = {-1, NAN, 1e300, INFINITY};
    for (int i = 0; i < 4; i++) {
        memset(list[i].phase, 'x', sizeof list[i].phase);
        list[i].seconds = lies[i];
    }
    *out = list;
    *count = ++reads > 20 ? 1000000 : 4;
    return CNN_OK;
}

static void cheat(tables *t) { t->profile = (cnn_profile){open, close_, use, lap, read_}; }
CHEAT(laps_lie)
