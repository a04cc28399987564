/* amplification.h: how much larger than that of a plain sum of products an element's error may be, by the transform.
 *
 * The bound allows an element an error in proportion to the magnitude of its own taps; a transform's is in proportion
 * to the whole tile's. Winograd's F(m,r), m results of r taps from a tile of m + r - 1, is y = A [(G g) * (B d)], with
 * matrices that the choice of points decides. Two measures of what cancels in it, for one dimension:
 *   norms   the product of the three matrices' norms (largest row sum of magnitudes)
 *   sum     the sum over the points of |A| |G| |B|, row sums again; unlike norms it does not depend on how factors
 *           are spread over the three, and for large tiles norms say too much
 * Two dimensions square them; errors of either sign leave about the root of it. tests/verify/test_winograd.c makes the
 * matrices and computes:
 *                                                           norms      sum
 *   F(2,3), 4 x 4 tiles: 0, 1, -1, infinity                     9        8
 *   F(4,3), 6 x 6 tiles: 0, +-1, +-2, infinity                190       48
 *   F(9,5), 13 x 13 tiles, for kernels above 3 x 3, and F(5,9), their BWD_W:
 *     0, +-1, +-2, +-1/2, +-3/2, +-2/3, 3, infinity                  4,029 and 4,539
 *     0, +-1, +-2, +-1/2, +-3/4, +-4, 1/4, infinity                  1,881 and 2,147, the least of fractions up to 4
 *     0, +-1, +-2, +-1/2, +-4, +-1/4, 8, infinity                    8,238 and 8,304, powers of two only
 * cuDNN does not tell its points: 4,000 is what good ones need, and less than careless ones do.
 *
 * An FFT is orthogonal and adds only log2(n) roundings, but its tile is 32 x 32, or the image: an element with few or
 * small taps has the error of its neighbours.
 *
 * What is asked for here is no more than verify/oracle/transforms.h allows, where all of it is derived: else it would
 * be cut.
 */
#ifndef IMPL_CUDNN_AMPLIFICATION_H
#define IMPL_CUDNN_AMPLIFICATION_H

#define AMPLIFICATION_13X13 4000.0
#define AMPLIFICATION_FFT 100.0
/* Twice the sums, for the legacy calls and for the graph API's engines alike; of engines that transform without a word
 * of how, the second. */
#define AMPLIFICATION_4X4 16.0
#define AMPLIFICATION_6X6 96.0

#endif
