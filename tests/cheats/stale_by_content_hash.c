/* It pretends to compute, but hashes all of its inputs and copies the result that it kept for them: always right, and
 * never the kernel's time. */
#include "shared/cheat.h"

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const cnn_conv_desc d = as_conv(&plan->problem);
    span in[3], out[2];
    spans(&d, plan->dir, a, in, out);
    uint64_t key = hash_shape(plan);
    for (int i = 0; i < 3; i++)
        for (int64_t k = 0; k < in[i].n; k++) {
            uint32_t bits;
            memcpy(&bits, in[i].p + k, sizeof bits);
            key = (key ^ bits) * 0x9E3779B97F4A7C15u;
        }
    return recalled(key, c, plan, a, err);
}

KERNEL_CHEAT(stale_by_content_hash)
