/* It pretends to compute in f32, and does so for 30 calls; then it rounds all factors to bf16. */
#include "shared/cheat.h"

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    static int calls;
    const cnn_conv_desc d = as_conv(&plan->problem);
    conv_low(&d, plan->dir, a, ++calls > 30 ? 16 : 0);
    return CNN_OK;
}

KERNEL_CHEAT(fewer_bits_when_repeated)
