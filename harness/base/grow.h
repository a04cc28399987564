/* grow.h: arrays that grow by one item. */
#ifndef HARNESS_BASE_GROW_H
#define HARNESS_BASE_GROW_H

#include "harness/cnn.h"

#include <limits.h>
#include <stdlib.h>

/* Room for one more of `size` bytes behind `count`: the array, perhaps moved, and its capacity. NULL: out of memory,
 * and the array stays as it is; the error names the items: "records of a sweep". */
static inline void *cnn_grow(void *items, int count, int *capacity, size_t size, const char *what, cnn_error *err)
{
    if (count < *capacity) return items;
    const int more = *capacity == 0 ? 64 : *capacity <= INT_MAX / 2 ? 2 * *capacity : 0;
    void *longer = more > 0 && size <= SIZE_MAX / (size_t)more ? realloc(items, (size_t)more * size) : NULL;
    if (!longer) {
        CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for more than %d %s", count, what);
        return NULL;
    }
    *capacity = more;
    return longer;
}

#endif
