/* conv.h: convolution and FC through cuDNN's legacy calls.
 *
 * From the ground up: conv_algorithms names the algorithms; conv_open makes the descriptors; conv_calls has cuDNN's
 * calls, which differ by direction in name only; conv_choose and conv_find pick the algorithm; conv.c runs it, with
 * what cuDNN leaves to us: the bias, and the filter's order in NHWC. */
#ifndef IMPL_CUDNN_CONV_H
#define IMPL_CUDNN_CONV_H

#include "impl_cudnn/amplification.h"
#include "impl_cudnn/context.h"

/* ---- conv_algorithms.c: cuDNN numbers its algorithms for each direction apart; here an algorithm has one name and one
 * id, and conv_algorithms.inc says which number that is in which direction. */

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
bool conv_algo_transforms(cnn_dir dir, int algo);
/* What cuDNN's number is held to with this kernel, where `algorithm` promises for all that it may choose: whether it
 * transforms, and the rounding bound's factor. */
void conv_settled(cnn_dir dir, int algo, int64_t kh, int64_t kw, cnn_algorithm *algorithm);

/* ---- conv_open.c: a convolution as the legacy calls want it: descriptors of x, w, y and of the convolution itself. */

/* Of cuDNN's workspace and of the turned weights: what cudaMalloc gives. */
enum { CONV_ALIGN = 256 };

/* plan->state. */
typedef struct conv_state {
    cnn_conv_desc d; /* an FC layer as the convolution that it is; depths of one where there is none */
    bool deep;       /* of three dimensions */
    cnn_dir dir;
    const int64_t *knobs; /* the request's, or the plan's */
    cudnnTensorDescriptor_t x, y;
    cudnnFilterDescriptor_t w;
    cudnnConvolutionDescriptor_t conv;
    /* NHWC: cuDNN's kernels want the filter as [oc][kh][kw][ic/g]. Then the weights are turned into workspace, and dw
     * from there; as tensors, w_ours and w_theirs. NULL where they are the same bytes. */
    cudnnTensorDescriptor_t w_ours, w_theirs;
    int algo;
    cudnnMathType_t math;   /* as the convolution has it */
    size_t cudnn_bytes;     /* cuDNN's own workspace */
    size_t weights_offset;  /* the turned weights, behind it; both from the aligned start */
    size_t workspace_bytes; /* the whole, room to align included */
    bool as_launched;       /* `legacy:find` could not record it */
} conv_state;

/* Descriptors without an algorithm; of NHWC problems with the filter turned or as it is stored. CNN_UNSUPPORTED where
 * cuDNN cannot say this problem. */
cnn_status conv_open(cudnn_context *, const cnn_request *, bool turned, conv_state **, cnn_error *);
void conv_close(conv_state *);
/* The math type that the problem's math allows at most. */
cudnnMathType_t conv_math_type(const cnn_type *);

/* ---- conv_calls.c: cuDNN's calls, one function for the three directions. */

/* What the query and the measurement say of one algorithm, whatever the direction. */
typedef struct conv_perf {
    int algo;
    cudnnStatus_t status;
    cudnnMathType_t math;
} conv_perf;
enum { CONV_PERFS_MAX = 32 };

cnn_status conv_call_workspace(cudnn_context *, const conv_state *, int algo, size_t *bytes, cnn_error *);
/* The algorithms, best first: by cuDNN's heuristics, or, where there are operands, as it measures them on those. */
cnn_status conv_call_list(cudnn_context *, const conv_state *, const cnn_weighted_args *, size_t workspace_bytes,
                          conv_perf list[CONV_PERFS_MAX], int *count, cnn_error *);
/* cuDNN's part of the run: operands with the turned weights already in place, and its own workspace. */
cnn_status conv_call_run(cudnn_context *, const conv_state *, const cnn_weighted_args *, size_t workspace_bytes,
                         cnn_error *);

/* ---- conv_choose.c, conv_find.c: which algorithm a plan gets. */

/* The one named, the first that cuDNN's heuristics propose and that can be had, or, with `search`, what `legacy:find`
 * finds; without, what it would measure need not be measured to know that there is something. */
cnn_status conv_choose(cudnn_context *, const cnn_request *, bool search, conv_state **, cnn_error *);
/* Takes what cuDNN ranks if it fits the math, the workspace limit of the request and its wish for determinism: sets
 * algorithm and math type and sizes the workspace. CNN_UNSUPPORTED where it does not fit. */
cnn_status conv_settle(cudnn_context *, conv_state *, const conv_perf *, cnn_error *);
/* Settles on the fastest of all, measured on operands that are the device's for that long only. */
cnn_status conv_find(cudnn_context *, conv_state *, const cnn_request *, cnn_error *);

/* ---- conv.c: what the face calls. */
cnn_status conv_supports(cudnn_context *, const cnn_request *, cnn_error *);
cnn_status conv_prepare(cudnn_context *, cnn_plan *, cnn_error *);
void conv_release(cnn_plan *);
cnn_status conv_run(cudnn_context *, const cnn_plan *, const cnn_weighted_args *, cnn_error *);

#endif
