/* It pretends to compute the gradients of weights every time, but once the same call came 40 times in a row of its
 * own it leaves the old gradient there. */
#include "shared/cheat.h"

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    static struct {
        uint64_t key;
        int calls;
    } seen[256];
    const uint64_t key = hash(&a->dw, sizeof a->dw, hash_shape(plan));
    if (seen[key % 256].key != key) seen[key % 256].calls = 0;
    seen[key % 256].key = key;
    return seen[key % 256].calls++ < 40 ? honest_weighted(c, plan, a, err) : CNN_OK;
}

static void cheat(tables *t) { t->ops.conv_bwd_weights = t->ops.fc_bwd_weights = trick; }
CHEAT(backward_rests_later)
