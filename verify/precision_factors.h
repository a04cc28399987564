/* precision_factors.h: which factor of a product was rounded, and to what: of results that are one product each. */
#ifndef VERIFY_PRECISION_FACTORS_H
#define VERIFY_PRECISION_FACTORS_H

#include <stdbool.h>
#include <stddef.h>

enum { VF_NARROW_FORMATS = 3, VF_NARROW_WAYS = 2, VF_NARROWED = 4 };

/* How many products each guess foretells: by format, to the nearest or cut, and what is narrowed: the first factor, the
 * second, both, the product. */
typedef struct vf_votes {
    int count, votes[VF_NARROW_FORMATS][VF_NARROW_WAYS][VF_NARROWED];
} vf_votes;

/* A result that should be first*second, numbers of f32, and came out as `got`. */
void vf_votes_add(vf_votes *votes, double first, double second, double got);
/* "w is cut to bf16, x is not", where that foretells nine of ten products; else false. */
bool vf_votes_text(const vf_votes *votes, const char *first, const char *second, char *text, size_t size);

#endif
