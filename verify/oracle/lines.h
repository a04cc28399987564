/* lines.h: sums in which one product outweighs all others, hidden among ordinary data.
 *
 * A long sum hides what its products are worth: the roundings of n additions are as large as what a kernel leaves that
 * keeps log2(sqrt(n)) bits fewer of each factor. So some lines of the data are not like the others: all elements that
 * one line of the result is made of (the weights of an output channel; BWD_D: those of an input channel; BWD_W: the x
 * of a channel) are tiny, but for one. What comes out is this one's product. The rest is lost beside it in any order of
 * additions, so the result is exact but for the rounding of that product, however long the sum is:
 *
 *   S the large product, R the sum of the absolute values of all other terms, u the unit roundoff. A partial sum
 *   without S is off by at most n*u*R. An addition of such a partial sum r to one that holds S is off by at most |r|,
 *   for what it is added to is a number of the type. So all in all |error| <= u*S + (1 + n*u) * R, and where
 *   R <= u/4 * S, it is below 1.5 * u * S. Allowed is VF_ALONE_MOST * u * S, for f32 on tensor cores is three products
 * of TF32 (x = hi + lo, hi of 11 bits, rounded): a lo of 12 bits loses its last one, 2u for each factor; lo * lo is
 * left out, 2^-22 = 4u; tensor cores cut the sum, 2u, and it is added up once more, 1u. That comes to 11u at most, and
 * so keeps 21 bits. Factors of 20 bits are off by 16u each.
 *
 * Tiny elements stand everywhere (one in sixteen is smaller by a random power of two), so that a line is hidden by what
 * surrounds it, and no range of an array gives it away. Not in f16, whose range ends too early. */
#ifndef VERIFY_ORACLE_LINES_H
#define VERIFY_ORACLE_LINES_H

#include "case.h"

/* The lines of one factor, as a direction of the convolution sums them up: each is all of the factor's elements that a
 * line of the result reads. */
typedef struct vf_lines {
    cnn_conv_desc d; /* as vf_as_conv; of an FC layer the one of one pixel */
    cnn_dir dir;     /* of the convolution */
    char tensor;     /* 'w'; BWD_W: 'x', or 'y' of a transposed one */
    int64_t count, size;
} vf_lines;

vf_lines vf_lines_of(const cnn_problem *problem, cnn_dir dir);
/* The position of the line's element. */
int64_t vf_line_at(const vf_lines *lines, int64_t line, int64_t element);
/* The line that an element of the result is made of. */
int64_t vf_line_of_result(const vf_lines *lines, int64_t index);

/* Hides such lines in the values of an operand of a convolution or FC layer, and tiny elements; what is added to a
 * hidden line's sums (bias, old values) is made tiny, too. */
void vf_hide(const vf_case *c, const cnn_operand *operand, cnn_rng *rng, double *values);

/* A tap that some output meets the image by: the index of its two axes, as the weights have them. */
int64_t vf_live_tap(const cnn_conv_desc *d, cnn_rng *rng);

/* What an element of a result is the sum of: VF_ALONE: of one product, beside which all else is lost; VF_UNEVEN:
 * of one that is more than an eighth of all, or of n terms more than 1/sqrt(n): as large as partial sums of the others
 * get, so that their roundings are not those of a random walk. Found in the data as they are, whoever made them. */
enum { VF_EVEN, VF_UNEVEN, VF_ALONE };
enum { VF_ALONE_MOST = 12 };
int vf_kind_of(const cnn_problem *problem, double largest, double rest, double terms);
/* Sets the kinds of a case's result from its inputs and magnitudes. Nothing where it has none. */
void vf_find_kinds(vf_case *c);

#endif
