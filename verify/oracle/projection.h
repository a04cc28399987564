/* projection.h: a whole result judged by one number, without a reference: Freivalds' check for convolutions.
 *
 * The data are integers times powers of two, so the result is one, exactly, times a power known beforehand. Both sides
 * of sum over e of result[e] * r[e]  =  the same sum of what the formula of cnn.h gives are taken modulo the prime 2^61
 * - 1, r being the product of four random factors, one for each axis of the result (r[n,c,h,w] = r0[n] * r1[c] * r2[h]
 * * r3[w]). So the right side needs no result: the sums over the axes move inside, and its cost is that of reading the
 * operands a few times, whatever the number of products.
 *
 * A result with a wrong element passes only if r is a zero of a polynomial of degree 4 that is not identically zero:
 * of all choices of r that is at most the share 4 / (2^61 - 1), less than 2e-18 (Schwartz and Zippel). */
#ifndef VERIFY_ORACLE_PROJECTION_H
#define VERIFY_ORACLE_PROJECTION_H

#include "case.h"

#define VF_MISS "missed with a probability below 2e-18"

/* Whether output `operand` of the run, rounded to multiples of its unit, is what the case's integers give. Where it is
 * not, *wrong is one of its wrong elements (found by halving the axes), else -1. CNN_OUT_OF_MEMORY. */
cnn_status vf_project(const vf_case *c, int operand, const double *result, uint64_t seed, thread_pool *pool,
                      int64_t *wrong, cnn_error *err);

/* ---- projected_formula.c: the right side: what the formula of a convolution gives, summed with factors. */

/* One factor for each index of each of an array's four axes; an element's is their product. */
typedef struct vf_factors {
    int64_t dims[4];
    uint64_t *factor[4];
} vf_factors;

/* Without what beta adds. */
cnn_status vf_projected_formula(const vf_case *c, int operand, const vf_factors *r, thread_pool *pool, uint64_t *sum,
                                cnn_error *err);

#endif
