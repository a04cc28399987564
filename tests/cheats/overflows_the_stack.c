/* It calls itself without an end, as a kernel that cuts its work in halves and never stops does. */
#include "shared/cheat.h"

static float halves(const float *x, int64_t n)
{
    volatile float room[256];
    room[0] = x[0];
    return room[0] + (n < 0 ? 0 : halves(x, n / 2) + room[0]);
}

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    *(float *)a->y = halves(a->x, 8);
    return CNN_OK;
}

static void cheat(tables *t) { t->ops.conv_fwd = trick; }
CHEAT(overflows_the_stack)
