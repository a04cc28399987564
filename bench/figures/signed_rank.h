/* signed_rank.h: Wilcoxon's signed-rank test of differences in pairs, without those that are far out, and the estimate
 * and interval that belong to it.
 *
 * Wilcoxon, "Individual comparisons by ranking methods" (1945); Hodges and Lehmann, "Estimates of location based on
 * rank tests" (1963). Where the two of a pair may change places, each sign is + or - with probability 1/2: the
 * distribution follows from that alone, and is computed exactly, ties included. Noise need be of no known form.
 *
 * A machine that is in another state for one of a pair makes a difference of tens of per cent, of either sign; such
 * ranks would decide over all others. So a difference whose size is more than four times the median size counts for
 * nothing. Sizes say nothing of signs, so that the test stays exact. */
#ifndef BENCH_FIGURES_SIGNED_RANK_H
#define BENCH_FIGURES_SIGNED_RANK_H

#include "harness/cnn.h"

enum { SIGNED_RANK_MOST = 400 }; /* pairs: what the exact distribution is made for */

typedef struct signed_rank {
    double middle, low, high; /* of the differences: where as much speaks for more as for less, and what no test
                                 rejects; -INFINITY and INFINITY where there are too few */
    double p;                 /* two-sided: that chance alone puts them so far beyond `margin`, on either side */
    int far_above, far_below; /* that count for nothing around `middle` */
} signed_rank;

/* differences[0..count-1], 1 <= count <= SIGNED_RANK_MOST; margin >= 0; the interval holds with 1 - alpha.
 * CNN_OUT_OF_MEMORY. */
cnn_status signed_rank_of(const double *differences, int count, double margin, double alpha, signed_rank *result,
                          cnn_error *err);

/* The fewest pairs of which p can come to alpha at all. */
int signed_rank_least(double alpha);

/* Benjamini and Hochberg, "Controlling the false discovery rate" (1995): in place of each p the least rate of false
 * discoveries at which it is one. NaN stay, and are none of the comparisons. */
void false_discovery_rates(double *p, int count);

#endif
