/* clock.h: the harness's clock. */
#ifndef HARNESS_BASE_CLOCK_H
#define HARNESS_BASE_CLOCK_H

#include <time.h>

/* Monotonic seconds. */
static inline double cnn_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
