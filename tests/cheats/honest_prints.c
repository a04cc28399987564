/* It pretends nothing: it computes, and prints what it does to standard output and standard error. */
#include "shared/cheat.h"

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    static int calls;
    if (++calls <= 300) {
        printf("honest_prints: call %d {\"kind\":\n", calls);
        fprintf(stderr, "honest_prints: call %d\n", calls);
    }
    return honest_weighted(c, plan, a, err);
}

KERNEL_CHEAT(honest_prints)
