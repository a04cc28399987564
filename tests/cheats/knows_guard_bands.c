/* It pretends to compute, but does so only when the bytes on both sides of the output are alike, as the verifier's
 * guard bands are; otherwise it leaves the output as it is after the first 5 calls. */
#include "shared/cheat.h"

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const cnn_conv_desc d = as_conv(&plan->problem);
    span in[3], out[2];
    spans(&d, plan->dir, a, in, out);
    const unsigned char *before = (const unsigned char *)out[0].p - 32, *first = (const unsigned char *)out[0].p - 4;
    const unsigned char *behind = (const unsigned char *)(out[0].p + out[0].n);
    bool guarded = memcmp(before, behind, 16) == 0 || (memcmp(before, before + 4, 16) == 0 && *first != 0);
    const int calls = earlier_calls(plan);
    return guarded || calls < 5 ? honest_weighted(c, plan, a, err) : CNN_OK;
}

KERNEL_CHEAT(knows_guard_bands)
