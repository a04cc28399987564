/* both.h: `find`: the faster of what cuDNN's two interfaces have for a problem.
 *
 * Neither has all kernels: the legacy calls alone have Winograd's and FFT transforms with names and bounds, the graph
 * API alone has the engines that read NHWC in f32 without a turn. So `legacy:find` and `graph:find` both search, and
 * what they find is measured once more, side by side. */
#ifndef IMPL_CUDNN_BOTH_H
#define IMPL_CUDNN_BOTH_H

#include "impl_cudnn/context.h"

/* cnn_algorithm.id */
enum { CUDNN_FIND_BOTH = 950 };

/* CNN_OK where either interface takes the problem. */
cnn_status both_supports(cudnn_context *, const cnn_request *, cnn_error *);
/* plan->state becomes the plan of the one that is faster, with the algorithm's id of that interface's own search. */
cnn_status both_prepare(cudnn_context *, cnn_plan *, cnn_error *);
void both_release(cnn_plan *);
/* The plan that runs: of `find` the one in its state, else the plan itself. */
static inline const cnn_plan *both_chosen(const cnn_plan *plan)
{
    return plan->algorithm.id == CUDNN_FIND_BOTH ? (const cnn_plan *)plan->state : plan;
}

#endif
