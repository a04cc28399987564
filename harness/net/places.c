/* places.c: see places.h. */
#include "places.h"

enum { PLACE_ALIGN = 256 }; /* what devices like best; a multiple of CNN_ALIGN */

size_t places_take(places *p, size_t *kind, int64_t count, size_t size)
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
