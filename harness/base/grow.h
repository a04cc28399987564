/* grow.h: arrays that grow by one item. */
#ifndef HARNESS_BASE_GROW_H
#define HARNESS_BASE_GROW_H

#include "harness/cnn.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* One more item of `size` bytes, all zeros, at the end of an array; `array` is the address of the pointer to it, which
 * may move. NULL: out of memory, and the array stays as it is; the error names the items: "records of a sweep". */
static inline void *cnn_add_item(void *array, int *count, int *capacity, size_t size, const char *what, cnn_error *err)
{
    char *items;
    memcpy(&items, array, sizeof items);
    if (*count == *capacity) {
        const int more = *capacity == 0 ? 64 : *capacity <= INT_MAX / 2 ? 2 * *capacity : 0;
        char *longer = more > 0 && size <= SIZE_MAX / (size_t)more ? realloc(items, (size_t)more * size) : NULL;
        if (!longer) {
            CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for more than %d %s", *count, what);
            return NULL;
        }
        items = longer;
        memcpy(array, &items, sizeof items);
        *capacity = more;
    }
    return memset(items + (size_t)(*count)++ * size, 0, size);
}

#endif
