/* signed_rank.h: Wilcoxon's signed-rank test of differences in pairs, and the interval that belongs to it.
 *
 * Wilcoxon, "Individual comparisons by ranking methods" (1945); the interval: Hodges and Lehmann, "Estimates of
 * location based on rank tests" (1963). Where the two of a pair may change places, each sign is + or - with probability
 * 1/2: the distribution follows from that alone, and is computed exactly, ties included. Noise need be of no known
 * form. */
#ifndef BENCH_FIGURES_SIGNED_RANK_H
#define BENCH_FIGURES_SIGNED_RANK_H

#include "harness/cnn.h"

enum { SIGNED_RANK_MOST = 400 }; /* pairs: what the exact distribution, and the averages of all pairs, are made for */

typedef struct signed_rank {
    double middle, low, high; /* of the differences: the median of all pairs' averages, and its interval; -INFINITY and
                                 INFINITY where there are too few for one */
    double p;                 /* two-sided: that chance alone puts them so far beyond `margin`, on either side */
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
