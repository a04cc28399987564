/* conv.h: convolution and FC through cuDNN's legacy calls: what the files conv*.c share.
 *
 * conv_algorithms.c names the algorithms, conv_open.c makes the descriptors, conv_calls.c has cuDNN's calls, which
 * differ by direction in name only, conv_choose.c searches, conv_arena.c
 * lends memory to that, and conv.c is what the face calls. */
#ifndef IMPL_CUDNN_CONV_H
#define IMPL_CUDNN_CONV_H

#include "impl_cudnn/cudnn.h"

/* ---- conv_algorithms.c */

/* Ids of the rows that conv and FC have in the implementation's table; every id below CONV_ALGORITHMS. */
typedef enum conv_id {
    CONV_HEURISTIC,
    CONV_FIND,
#define ALGORITHM(id, ...) CONV_##id,
#include "impl_cudnn/conv_algorithms.inc"
#undef ALGORITHM
    CONV_ALGORITHMS
} conv_id;

/* The rounding bound's factor for what the searches may choose: the largest of conv_algorithms.inc. */
#define CONV_AMPLIFICATION 1000.0

enum { CONV_NONE = -1 };
/* cuDNN's number (cudnnConvolutionFwdAlgo_t and so on) of a named algorithm; CONV_NONE where the direction lacks it. */
int conv_algo_of(int64_t id, cnn_dir dir);
/* The name of cuDNN's number, "algo 9" if it is not in the table. */
void conv_algo_name(cnn_dir dir, int algo, char *name, size_t size);
bool conv_algo_deterministic(cnn_dir dir, int algo);

/* ---- conv_open.c */

/* Of cuDNN's workspace and of the turned weights: what cudaMalloc gives. */
enum { CONV_ALIGN = 256 };

/* plan->state. */
typedef struct conv_state {
    cnn_conv_desc d; /* an FC layer as the convolution that it is */
    cnn_dir dir;
    cudnnTensorDescriptor_t x, y, b;
    cudnnFilterDescriptor_t w;
    cudnnConvolutionDescriptor_t conv;
    /* NHWC: cuDNN's kernels want the filter as [oc][kh][kw][ic/g]. Then the weights are turned into workspace, and dw
     * from there; as tensors, w_ours and w_theirs. NULL where they are the same bytes. */
    cudnnTensorDescriptor_t w_ours, w_theirs;
    int algo;
    size_t cudnn_bytes;     /* cuDNN's own workspace */
    size_t weights_offset;  /* the turned weights, behind it; both from the aligned start */
    size_t workspace_bytes; /* the whole, room to align included */
} conv_state;

/* How the filter is given in NHWC problems; in NCHW there is only AS_STORED. */
typedef enum conv_filter { CONV_FILTER_TURNED, CONV_FILTER_AS_STORED, CONV_FILTERS } conv_filter;

/* Descriptors without an algorithm. CNN_UNSUPPORTED where cuDNN cannot say this problem. */
cnn_status conv_open(cudnn_context *, const cnn_problem *, cnn_dir, conv_filter, conv_state **, cnn_error *);
void conv_close(conv_state *);
/* Chooses the algorithm: sets the math type and sizes the workspace. CNN_UNSUPPORTED where cuDNN refuses, or where the
 * limit of the context is exceeded. */
cnn_status conv_settle(cudnn_context *, conv_state *, int algo, cudnnMathType_t, cnn_error *);
/* The math type that the problem's math allows at most. */
cudnnMathType_t conv_math_type(const cnn_type *);

/* ---- conv_calls.c */

/* What the query and the measurement say of one algorithm, whatever the direction. */
typedef struct conv_perf {
    int algo;
    cudnnStatus_t status;
    double seconds;
    cudnnMathType_t math;
} conv_perf;
enum { CONV_PERFS_MAX = 32 };

/* Operands in the order of cuDNN's calls, the turned weights already in place. */
typedef struct conv_buffers {
    const void *x, *w, *dy;
    void *y, *dx, *dw;
    void *workspace;
    size_t workspace_bytes;
} conv_buffers;

cnn_status conv_call_workspace(cudnn_context *, const conv_state *, int algo, size_t *bytes, cnn_error *);
cnn_status conv_call_heuristics(cudnn_context *, const conv_state *, conv_perf list[CONV_PERFS_MAX], int *count,
                                cnn_error *);
cnn_status conv_call_find(cudnn_context *, const conv_state *, const conv_buffers *, conv_perf list[CONV_PERFS_MAX],
                          int *count, cnn_error *);
cnn_status conv_call_run(cudnn_context *, const conv_state *, const conv_buffers *, double beta, cnn_error *);

/* ---- conv_arena.c: operands for runs in `prepare`; closed by itself when opening fails. */
typedef struct conv_arena {
    void *memory[8]; /* four operands, a bias, the workspace, and room */
    int count;
    cnn_weighted_args args;
    size_t workspace_bytes;
} conv_arena;
cnn_status conv_arena_open(cudnn_context *, const cnn_problem *, cnn_dir, conv_arena *, cnn_error *);
cnn_status conv_arena_workspace(cudnn_context *, conv_arena *, size_t bytes, cnn_error *);
void conv_arena_close(cudnn_context *, conv_arena *);

/* ---- conv_choose.c: on success *state has an algorithm. */
cnn_status conv_choose_named(cudnn_context *, const cnn_problem *, cnn_dir, int algo, conv_state **, cnn_error *);
cnn_status conv_choose_heuristic(cudnn_context *, const cnn_problem *, cnn_dir, conv_state **, cnn_error *);
cnn_status conv_choose_find(cudnn_context *, const cnn_problem *, cnn_dir, conv_state **, cnn_error *);

/* ---- conv.c: the slots. */
cnn_status conv_supports(cudnn_context *, const cnn_problem *, cnn_dir, const cnn_algorithm *, cnn_error *);
cnn_status conv_prepare(cudnn_context *, cnn_plan *, cnn_error *);
cnn_status conv_run(cudnn_context *, const cnn_plan *, const cnn_weighted_args *, cnn_error *);

#endif
