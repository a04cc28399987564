/* huge.h: convolutions and FC layers above options->reference_flops, for which the reference would take too long.
 *
 * In place of it: results of integers are judged as a whole by projection (projection.h), results of reals by sampled
 * elements, corners, borders and tails among them, each computed by itself (element.h). */
#ifndef VERIFY_HUGE_H
#define VERIFY_HUGE_H

#include "engine.h"

/* check_exact.c and check_bound.c for such problems. */
vf_check_fn vf_huge_exact, vf_huge_bound;

#endif
