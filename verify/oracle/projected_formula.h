/* projected_formula.h: the right side of a projection: what the formula of a convolution gives, summed with factors. */
#ifndef VERIFY_ORACLE_PROJECTED_FORMULA_H
#define VERIFY_ORACLE_PROJECTED_FORMULA_H

#include "case.h"

/* One factor for each index of each of an array's four axes; an element's is their product. */
typedef struct vf_factors {
    int64_t dims[4];
    uint64_t *factor[4];
} vf_factors;

/* Without what beta adds. */
cnn_status vf_projected_formula(const vf_case *c, int operand, const vf_factors *r, thread_pool *pool, uint64_t *sum,
                                cnn_error *err);

#endif
