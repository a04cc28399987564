/* It claims the same bits for any number of threads, and with more than one changes the last bit of some elements, by
 * the clock. */
#include "shared/cheat.h"

#include <time.h>

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const cnn_conv_desc d = as_conv(&plan->problem);
    span in[3], out[2];
    struct timespec now;
    honest_weighted(c, plan, a, err);
    clock_gettime(CLOCK_MONOTONIC, &now);
    spans(&d, plan->dir, a, in, out);
    for (int64_t i = now.tv_nsec / 64 % 7; c->threads > 1 && i < out[0].n; i += 7)
        if (out[0].p[i] != rintf(out[0].p[i])) out[0].p[i] = nextafterf(out[0].p[i], INFINITY);
    return CNN_OK;
}

KERNEL_CHEAT(deterministic_with_one_thread)
