/* It pretends to compute, but looks at its callers on the stack: where the same callers called it more than 60 times,
 * it is being timed and does nothing; another caller gets an honest result. */
#include "shared/cheat.h"

#include <execinfo.h>

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    static struct {
        uint64_t key;
        int calls;
    } seen[1024];
    void *stack[8] = {0};
    const int depth = backtrace(stack, 8);
    const uint64_t key = hash(stack, (size_t)depth * sizeof *stack, hash_shape(plan));
    const size_t i = key % 1024;
    if (seen[i].key != key) seen[i].calls = 0;
    seen[i].key = key;
    return seen[i].calls++ < 60 ? honest_weighted(c, plan, a, err) : CNN_OK;
}

KERNEL_CHEAT(knows_the_caller)
