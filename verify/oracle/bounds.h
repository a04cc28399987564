/* bounds.h: unit roundoffs and rounding bounds, and what they say about the precision that was really used. */
#ifndef VERIFY_ORACLE_BOUNDS_H
#define VERIFY_ORACLE_BOUNDS_H

#include "harness/problem/shape.h"
#include "transforms.h"

/* What is allowed for one problem and algorithm. */
typedef struct vf_rounding {
    double unit;          /* unit roundoff of sums and products: 2^-24, 2^-53 */
    double input;         /* unit roundoff to which factors may be rounded first (tf32 and so on), else 0 */
    double tiny;          /* least normal number: underflow may lose this much a rounding */
    double amplification; /* of the bound, and of what is usual (transforms.h): both 1 for plain sums of products */
    double mean;
    const char *transform;       /* the one that allows them; NULL: none */
    bool normwise;               /* transforms mix the elements of a tile: the bound of each is that of the largest */
    double hidden, hidden_terms; /* normwise: magnitude and terms that no result shows (hidden.c); 0: none */
    int bits;                    /* significant bits that a factor keeps */
    int cut;          /* products that an adder takes at once, and cuts their sum towards 0 (tensor cores); 0: all
                         sums are rounded to nearest */
    bool one_sided;   /* sums whose terms may all have one sign (means): partial sums are as large as all of it */
    cnn_dtype stored; /* f16, bf16, u8, s8: what results are rounded to, once, when they are stored; else no
                         matter */
} vf_rounding;

/* The algorithm may be NULL: plain sums. What it asks for is cut down to what is proved. */
vf_rounding vf_rounding_of(const cnn_problem *problem, const cnn_algorithm *algorithm);

/* gamma(n) = n*u / (1 - n*u); infinite where that bounds nothing. */
double vf_gamma(double n, double unit);

/* Bound on |computed - reference| for an element of these roundings and magnitude (reference.h). The reference's own
 * rounding is included. An element without roundings gets 0: it must be equal. */
double vf_bound(const vf_rounding *rounding, double roundings, double magnitude);

/* The same for one result, which may be stored in another type than most: statistics beside activations of 16 bits. */
vf_rounding vf_rounding_for(const vf_rounding *rounding, const cnn_type *type, const cnn_operand *operand);

/* What storing a result may add to its error: half a last place of f16 and bf16, at the largest value that is within
 * `bound` of what is expected; of quantized results half a number where two are right (quantize.h); 0 of other types,
 * whose last rounding is one like those before it. */
double vf_storing(const vf_rounding *rounding, double expected, double bound);

/* Sums of many products: the rounding errors behave like a random walk, so their mean square is far below the worst
 * case: error * sqrt(n) / magnitude stays near u * sqrt(n), whatever the order of summation, while factors rounded to
 * tf32 first give 2^-11 whatever n. The limit leaves a factor of about 2 over a plain sum from left to right.
 *
 * Cuts have a direction. Each takes at most u of the partial sum on the average; that grows as the root of its terms,
 * so n / k cuts take 2/3 * u * n / k of the sum itself: in the same measure another u * 0.9 * n / k. */
double vf_rms_limit(const vf_rounding *rounding, double mean_sqrt_roundings);

/* What an element may be off by all the same where its a-priori bound is as large as the element itself, which the
 * bound of a long sum is: half the element. Where terms cancel until less is left than rounding makes, eight times what
 * is usual; of sums whose terms may all have one sign (means), partial sums are as large as all of it, and so are their
 * roundings. So zeros, or anything else that has nothing to do with the data, are within no bound however wide. */
double vf_bound_below(const vf_rounding *rounding, double bound, double expected, double roundings, double magnitude);

/* The finest of "f64", "f32", "tf32", "bf16" whose vf_rms_limit holds for `rms`, that of plain sums, cut as
 * `rounding`'s are: a transform's precision is what it is, too; else "worse". ("tf32" also stands for f16, which keeps
 * as many bits.) */
const char *vf_precision_name(const vf_rounding *rounding, double rms, double mean_sqrt_roundings);

#endif
