/* It pretends to compute, but all memory is its own and it notes what uploads, copies and fills change: an operation
 * whose inputs and outputs nobody touched since is left out; always right, and timed at nothing. */
#include "shared/cheat.h"

static uint64_t changes; /* of any memory, by anybody else */

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    static uint64_t done_at, done_key;
    const uint64_t key = hash(a, sizeof *a, hash_shape(plan));
    if (a->beta == 0 && done_at == changes && done_key == key) return CNN_OK;
    const cnn_status status = honest_weighted(c, plan, a, err);
    done_at = ++changes, done_key = key;
    return status;
}

static cnn_status copy(cnn_context *c, void *dst, const void *src, size_t bytes, cnn_error *err)
{
    changes++;
    return own_copy(c, dst, src, bytes, err);
}

static cnn_status fill(cnn_context *c, void *dst, int byte, size_t bytes, cnn_error *err)
{
    changes++;
    return own_fill(c, dst, byte, bytes, err);
}

static void cheat(tables *t)
{
    own_memory(t);
    weighted(t, trick);
    t->memory.upload = t->memory.copy = copy, t->memory.fill = fill;
}
CHEAT(knows_what_is_dirty)
