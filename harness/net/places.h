/* places.h: a memory plan: everything is a piece of one allocation, placed before anything is allocated. */
#ifndef HARNESS_NET_PLACES_H
#define HARNESS_NET_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A place is an offset into the allocation; NOWHERE for a buffer that is left out. */
#define NOWHERE SIZE_MAX

typedef struct places {
    size_t total;
    bool overflow; /* more than can be addressed; `total` then means nothing */
} places;

enum { PLACE_ALIGN = 256 }; /* what devices like best; a multiple of CNN_ALIGN */

/* The next place, for `count` elements of `size` bytes, which are added to *kind. */
static inline size_t places_take(places *p, size_t *kind, int64_t count, size_t size)
{
    size_t bytes, end;
    const size_t at = p->total;
    if (__builtin_mul_overflow((size_t)count, size, &bytes) || bytes > SIZE_MAX / 2 - PLACE_ALIGN ||
        __builtin_add_overflow(at, (bytes + PLACE_ALIGN - 1) / PLACE_ALIGN * PLACE_ALIGN, &end) || end > SIZE_MAX / 2) {
        p->overflow = true;
        return 0;
    }
    *kind += bytes;
    p->total = end;
    return at;
}

#endif
