/* weights.h: the register-tiled gradient of the weights, BWD_W's version 3 (C++): weights.cu, weights_choice.cu.
 *
 * Columns: a group's weights of one output channel, (c, i, j) in that order, and with a bias one more, which stands for
 * an input that is 1 everywhere: its "weight gradient" is the bias's. Rows: the group's output channels. The batch's
 * output pixels, counted through all images, are cut into `splits` parts. */
#ifndef IMPL_CUDA_NAIVE_WEIGHTS_H
#define IMPL_CUDA_NAIVE_WEIGHTS_H

#include "impl_cuda_naive/shape.h"

struct weights_problem {
    conv_shape<int32_t> s;
    int32_t columns;         /* those of weights, without the bias's */
    int32_t all_columns;     /* with it */
    int32_t row_tiles;       /* tiles of a group's output channels: grid.y counts them, group after group */
    int32_t chunk;           /* pixels of dy staged at once */
    int64_t pixels, a_split; /* of all images; of one part */
    int64_t results;         /* of one part: groups * output channels of a group * all_columns */
};

struct weights_choice {
    int32_t channels, columns;   /* a thread computes so many columns of so many output channels */
    int32_t lanes, rows, slices; /* the block's x, y, z */
    int32_t splits;
};

/* The arguments in a plan's launch. */
struct weights_args {
    weights_problem p;
    weights_choice choice;
};

/* `instead`: the algorithm to use where this one cannot count so far. */
cnn_status weights_fit(const cnn_conv_desc *, const int64_t *knobs, const char *instead, naive_launch *, cnn_error *);
cnn_status weights_run(cuda_context *, const cnn_plan *, const cnn_weighted_args *, cnn_error *);

#endif
