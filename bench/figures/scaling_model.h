/* scaling_model.h: what an epoch over more ranks would take, from what was measured: one rank alone, and what sums take
 * between a few ranks. docs/ranks.md says what it assumes.
 *
 * A step of a batch of B images on n ranks takes compute(B / n) + sum(n): each rank computes its share as one rank
 * alone does a batch of as many images, and then the gradients are added up. */
#ifndef BENCH_FIGURES_SCALING_MODEL_H
#define BENCH_FIGURES_SCALING_MODEL_H

#include "harness/cnn.h"

enum { SCALING_RANKS_MOST = 1024, SCALING_KNOTS_MAX = 64 };

/* What sums take between ranks: a record of kind `all_reduce_line`, alpha + bytes / beta. */
typedef struct scaling_link {
    char device[256], way[64]; /* of rank 0: its host and device; how sums are made */
    int64_t ranks;
    double alpha_s, bytes_per_s, off; /* off: the most by which the line is off a size */
} scaling_link;

typedef struct scaling_model {
    char why_not[CNN_MESSAGE_MAX]; /* "": there is a model */
    const scaling_link *link;
    double hop_s, bytes_per_s, bytes; /* of a message from one rank to the next; bytes: that a step adds up */
    int64_t train_images;
    int n_knots; /* steps of one rank, an epoch's test shared out among them, by their images */
    double images[SCALING_KNOTS_MAX], seconds[SCALING_KNOTS_MAX];
    double fixed_s, image_s, off; /* the line that is nearest to the knots, and the most by which it is off one */
} scaling_model;

/* Sets hop_s and bytes_per_s from the link: it must have ranks above 1, and a bandwidth. */
void scaling_model_link(scaling_model *m, const scaling_link *link);
/* One more knot: one rank's epoch at this batch. In any order; scaling_model_fit() behind the last. */
void scaling_model_add(scaling_model *m, int64_t batch, double epoch_s);
void scaling_model_fit(scaling_model *m);

/* Of all ranks: the smaller of a ring's and a tree's; 0 of one rank. */
double scaling_sum_s(const scaling_model *m, int64_t over);
/* One rank's step of so many images: between knots a straight line; below the first and above the last by the line that
 * is nearest to all. NaN: a single knot says nothing about other batches. */
double scaling_compute_s(const scaling_model *m, double images);
bool scaling_measured(const scaling_model *m, double images); /* whether that is within the knots */
/* NaN: unknown, and of more ranks than images in a batch, or a batch of more images than there are. */
double scaling_epoch_s(const scaling_model *m, int64_t over, int64_t batch);
/* The number of ranks, up to SCALING_RANKS_MOST, with the least epoch at this batch; 0: unknown. */
int64_t scaling_least(const scaling_model *m, int64_t batch, double *seconds);

#endif
