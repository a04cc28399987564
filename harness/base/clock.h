/* clock.h: the harness's clock. */
#ifndef HARNESS_BASE_CLOCK_H
#define HARNESS_BASE_CLOCK_H

double cnn_now(void); /* monotonic seconds */

#endif
