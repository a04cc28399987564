/* transforms.h: how much larger a transform's errors may be than those of a plain sum of products. A kernel names its
 * transform by the factor that it asks for (cnn_algorithm.amplification); it gets no more than the table has for one
 * that fits the problem. So a kernel does not set its own tolerance.
 *
 * Winograd's F(m,r) makes m results of r taps from a tile of m + r - 1 elements: y = A [(G g) * (B d)], in two
 * dimensions F(m x m, r x r) with each matrix on both sides. Of one point p of the tile (Barabasz, Anderson, Soodhalter
 * and Gregg, "Error analysis and improving the accuracy of Winograd convolution for deep neural networks", 2020):
 *     |error of y_i|  <=  gamma(k) sum_p |A_ip| (|G| |g|)_p (|B| |d|)_p,    k roundings on the way.
 * Each product |g_k d_j| is a term of some result's magnitude, so none is above `top`, the largest magnitude. Hence
 *     |error|  <=  S gamma(k) top,    S = max_i sum_p |A_ip| (row sum of |G|)_p (row sum of |B|)_p,
 * and in two dimensions S^2: that is proved for any data, and for roundings that all conspire. It takes k + C roundings
 * for C channels, where the plain sum's bound counts C r^2, which is why the factor may be less than S^2. Roundings do
 * not conspire: with independent ones (Higham and Mary, "A new approach to probabilistic rounding error analysis",
 * 2019) sums over p become roots of sums of squares. `bound` is about S, and 2 S for the two small tiles.
 *
 *                                                              S      S^2   needed: bound   mean
 *   F(2,3)   0, 1, -1, infinity                                8       64             0.3    0.6
 *   F(4,3)   0, +-1, +-2, infinity                            48    2,304             3.6    3.1
 *   F(9,5)   0, +-1, +-2, +-1/2, +-3/2, +-2/3, 3, infinity 4,029    1.6e7           3,200  1,800
 *            0, +-1, +-2, +-1/2, +-3/4, +-4, 1/4, infinity 1,881    3.5e6             770    500
 *   FFT      32 x 32 and 256 x 256 points                                             4.0    1.9
 * Needed is what an evaluation in f32 of one channel shows, the worst case: more channels need less.
 *
 * FFT of N points: |error|_2 <= log2(N) eta |y|_2, eta at most 6.7 u (Higham, "Accuracy and Stability of Numerical
 * Algorithms", theorem 24.2). Two of them, the products and one back: 3 log2(N) eta |g|_2 |d|_2. The error spreads
 * evenly over N results: 3 log2(N) eta |g|_2 |d|_2 / sqrt(N) each. At N = 32 x 32 that is 200 u |g|_2 times the mean
 * size of an element of d. A kernel of one tap has three roundings to set against it: a factor of 67; at 256 x 256
 * points, the largest image that is transformed whole, 107. Larger kernels need less.
 *
 * `mean` is for statistics, where the usual error counts: the root mean square, nine of ten products. It is a few times
 * what is needed. The last row says that an F(9,5) in f32 is no better than TF32; so its precision is named, too.
 *
 * tests/verify/test_transforms.c makes all of these from the matrices again. */
#ifndef VERIFY_ORACLE_TRANSFORMS_H
#define VERIFY_ORACLE_TRANSFORMS_H

#include "harness/cnn.h"

/* TRANSFORM(name, bound, mean, saved, least taps a side, most taps a side), from the least bound to the largest. Any
 * kernel can be cut into parts of 3 x 3; the large tile of 13 x 13 is for kernels above 3 x 3 and up to 12 x 12.
 * Saved: how many products of the definition one of the transform's stands for: F(m,r) has (m + r - 1)^2 for m^2 r^2;
 * 0: as many as the kernel has taps, which is the most that any can do. */
#define VF_TRANSFORMS(TRANSFORM)                                                                                       \
    TRANSFORM("Winograd F(2x2,3x3)", 16.0, 2.0, 36.0 / 16, 1, INT64_MAX)                                               \
    TRANSFORM("Winograd F(4x4,3x3)", 96.0, 16.0, 144.0 / 36, 1, INT64_MAX)                                             \
    TRANSFORM("FFT", 100.0, 16.0, 0, 1, INT64_MAX)                                                                     \
    TRANSFORM("Winograd F(9x9,5x5)", 4000.0, 4000.0, 2025.0 / 169, 4, 12)

typedef struct vf_transform {
    const char *name;
    double bound, mean, saved;
    int64_t least_taps, most_taps;
} vf_transform;

/* The first of the table that allows what the algorithm asks for, else the largest that fits the problem. NULL: plain
 * sums, or an operation that nothing transforms. */
const vf_transform *vf_transform_of(const cnn_problem *problem, const cnn_algorithm *algorithm);
/* How many times fewer products than the definition's the algorithm may do with; 1 without a transform. */
double vf_transform_saves(const cnn_problem *problem, const cnn_algorithm *algorithm);

#endif
