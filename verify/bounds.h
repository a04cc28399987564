/* bounds.h: unit roundoffs and rounding bounds, and what they say about the precision that was really used. */
#ifndef VERIFY_BOUNDS_H
#define VERIFY_BOUNDS_H

#include "harness/cnn.h"

/* What is allowed for one problem and algorithm. */
typedef struct vf_rounding {
    double unit;          /* unit roundoff of sums and products: 2^-24, 2^-53 */
    double input;         /* unit roundoff to which factors may be rounded first (tf32 and so on), else 0 */
    double tiny;          /* least normal number: underflow may lose this much a rounding */
    double amplification; /* of the algorithm */
    bool normwise;        /* transforms mix the elements of a tile: the bound of each is that of the largest */
    int bits;             /* significant bits that a factor keeps */
} vf_rounding;

/* The algorithm may be NULL: amplification 1. */
vf_rounding vf_rounding_of(const cnn_problem *problem, const cnn_algorithm *algorithm);

/* gamma(n) = n*u / (1 - n*u); infinite where that bounds nothing. */
double vf_gamma(double n, double unit);

/* Bound on |computed - reference| for an element of these roundings and magnitude (reference.h). The reference's own
 * rounding is included. An element without roundings gets 0: it must be equal. */
double vf_bound(const vf_rounding *rounding, double roundings, double magnitude);

/* Sums of many products: the rounding errors behave like a random walk, so their mean square is far below the worst
 * case: error * sqrt(n) / magnitude stays near u * sqrt(n), whatever the order of summation, while factors rounded to
 * tf32 first give 2^-11 whatever n. The limit leaves a factor of about 4 over a plain sum from left to right. */
double vf_rms_limit(const vf_rounding *rounding, double mean_sqrt_roundings);

/* The finest of "f64", "f32", "tf32", "bf16" whose vf_rms_limit holds for `rms`; else "worse". ("tf32" also stands for
 * f16, which keeps as many bits.) */
const char *vf_precision_name(double rms, double mean_sqrt_roundings);

#endif
