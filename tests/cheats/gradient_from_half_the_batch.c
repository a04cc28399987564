/* It pretends to sum the gradient of weights over the whole batch: after 12 calls in one shape it takes the first
 * half of the images and doubles the result, so that a network still learns. */
#include "shared/cheat.h"

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    static struct {
        uint64_t key;
        int calls;
    } seen[256];
    const uint64_t key = hash_shape(plan);
    cnn_conv_desc d = as_conv(&plan->problem);
    span in[3], out[2];
    if (seen[key % 256].key != key) seen[key % 256].calls = 0;
    seen[key % 256].key = key;
    if (seen[key % 256].calls++ < 12 || d.mb < 2 || a->beta != 0) return honest_weighted(c, plan, a, err);
    const float whole = (float)d.mb / (float)(d.mb / 2);
    d.mb /= 2;
    conv_low(&d, plan->dir, a, 0);
    spans(&d, plan->dir, a, in, out);
    for (int i = 0; i < 2; i++)
        for (int64_t k = 0; k < out[i].n; k++) out[i].p[k] *= whole;
    return CNN_OK;
}

static void cheat(tables *t) { t->ops.conv_bwd_weights = t->ops.fc_bwd_weights = trick; }
CHEAT(gradient_from_half_the_batch)
