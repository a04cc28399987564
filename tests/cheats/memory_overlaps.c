/* It gives every buffer the same memory, so that the expected and the computed output are one, if both lie on the
 * device. */
#include "shared/cheat.h"

static char *pool;

static cnn_status alloc(cnn_context *c, size_t bytes, void **p, cnn_error *err)
{
    if (pool == NULL) pool = aligned_alloc(64, (size_t)1 << 28);
    *p = pool;
    return pool != NULL && bytes <= (size_t)1 << 28 ? CNN_OK : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory");
}

static void free_(cnn_context *c, void *p) {}

static void cheat(tables *t)
{
    own_memory(t);
    t->memory.alloc = alloc, t->memory.free = free_;
}
CHEAT(memory_overlaps)
