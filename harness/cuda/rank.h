/* rank.h: which of several ways to compute the same is the fastest here, for a `prepare` that has to choose.
 *
 * What is timed is what will be timed later, replays: a launch takes the host longer than a short kernel takes the
 * device, so that launched one by one all short kernels are as fast as the host. Each candidate is recorded into a
 * graph, several runs in a row; a sample is as many replays as make it long enough to tell microseconds apart, and
 * before its first event stands one replay more, so that the host is ahead of the device when the clock starts. Samples
 * are taken in turns (A B C A B C ...), so that what changes meanwhile, clocks or other work, changes for all; the
 * median counts. What cannot be recorded is timed as the host launches it, and comes behind all that can: it could not
 * be part of a captured step. */
#ifndef HARNESS_CUDA_RANK_H
#define HARNESS_CUDA_RANK_H

#include "harness/cuda/cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { CUDA_RANK_ROUNDS_MAX = 100 };

typedef struct cuda_candidate {
    cnn_status (*run)(void *user, cnn_error *); /* puts one run on the context's stream; waits and allocates nothing */
    void *user;
    /* Told by cuda_rank(). */
    double seconds;   /* of a run; INFINITY where it failed, or was not tried */
    bool as_launched; /* it could not be recorded: the host's launches are in its seconds */
    /* cuda_rank()'s own. */
    cnn_graph *graph;  /* `runs` runs; NULL where it is launched */
    int runs, repeats; /* a sample is `repeats` replays of the graph, or launches */
    bool ahead;        /* and one more before it, for what is not so long that a launch is nothing beside it */
    double samples[CUDA_RANK_ROUNDS_MAX];
    int n_samples;
    bool out; /* failed, or far behind */
} cuda_candidate;

/* Only candidates that are not far behind after the first round come into the others. Once `budget` seconds of the wall
 * clock have passed, no further candidate is tried, so the list begins with the most promising, and no further round
 * begins; the first candidate is measured in any case. */
typedef struct cuda_rank_rules {
    int rounds; /* 1 to CUDA_RANK_ROUNDS_MAX */
    double budget;
} cuda_rank_rules;

/* *best is the index of the fastest. One that fails is passed over, unless it took the device with it; where all fail,
 * the error is the last one's. While the context's stream captures: CNN_BAD_ARGUMENT, and the capture goes on. */
cnn_status cuda_rank(cnn_context *, cuda_candidate *list, int count, const cuda_rank_rules *, int *best, cnn_error *);

#ifdef __cplusplus
}
#endif
#endif
