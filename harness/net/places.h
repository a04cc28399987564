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

/* The next place, for `count` elements of `size` bytes, which are added to *kind. */
size_t places_take(places *p, size_t *kind, int64_t count, size_t size);

#endif
