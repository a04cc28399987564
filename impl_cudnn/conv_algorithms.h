/* conv_algorithms.h: the names of cuDNN's legacy algorithms.
 *
 * cuDNN numbers them for each direction apart; here an algorithm has one name and one id, and conv_algorithms.inc says
 * which number that is in which direction. */
#ifndef IMPL_CUDNN_CONV_ALGORITHMS_H
#define IMPL_CUDNN_CONV_ALGORITHMS_H

#include "impl_cudnn/amplification.h"
#include "impl_cudnn/context.h"

/* Ids of the rows that conv and FC have in the implementation's table; every id below CONV_ALGORITHMS. */
typedef enum conv_id {
    CONV_HEURISTIC,
    CONV_FIND,
#define ALGORITHM(id, ...) CONV_##id,
#include "impl_cudnn/conv_algorithms.inc"
#undef ALGORITHM
    CONV_ALGORITHMS
} conv_id;

enum { CONV_NONE = -1 };
/* cuDNN's number (cudnnConvolutionFwdAlgo_t and so on) of a named algorithm; CONV_NONE where the direction lacks it. */
int conv_algo_of(int64_t id, cnn_dir dir);
/* The name of cuDNN's number, "algo 9" if it is not in the table. */
void conv_algo_name(cnn_dir dir, int algo, char *name, size_t size);
bool conv_algo_deterministic(cnn_dir dir, int algo);
/* What cuDNN's number is held to with this kernel, where `algorithm` promises for all that it may choose: whether it
 * transforms, and the rounding bound's factor. */
void conv_settled(cnn_dir dir, int algo, int64_t kh, int64_t kw, cnn_algorithm *algorithm);

#endif
