/* cuda_kernels.h: the honest operations as kernels, one thread an element, and what they are launched with. */
#ifndef CHEATS_CUDA_KERNELS_H
#define CHEATS_CUDA_KERNELS_H
#include "harness/cuda/platform.h"

#include "elements.h"

#include <cstdlib>

enum { MOST_CALLS = 4096 };

struct call { /* of a convolution or FC, kept for later */
    cnn_conv_desc d;
    cnn_dir dir;
    cnn_weighted_args a;
};

struct cnn_context {
    cudaStream_t stream, other; /* the other one is for cheats */
    cudaEvent_t start, stop;
    bool capturing;
    int calls, noted; /* for cheats: */
    call queue[MOST_CALLS];
    void *kept;
};

struct cnn_graph {
    cudaGraphExec_t exec;
    int replays;
};

#define TRY(call_)                                                                                                     \
    do {                                                                                                               \
        const cudaError_t error_ = (call_);                                                                            \
        if (error_ != cudaSuccess) return CNN_FAIL(err, CNN_DEVICE, #call_ ": %s", cudaGetErrorString(error_));        \
    } while (0)

/* ---- Kernels: a function of the index, for each of n. */
template <typename F> static __global__ void each(F f, int64_t n)
{
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x) f(i);
}

template <typename F> static cnn_status launch_on(cudaStream_t stream, F f, int64_t n, cnn_error *err)
{
    const unsigned blocks = (unsigned)((n + 63) / 64 < 1024 ? (n + 63) / 64 : 1024);
#ifdef BENCHCNN_CUDA_EMULATED
    TRY(emulated_launch(dim3(blocks), dim3(64), 0, stream, each<F>, f, n));
#else
    each<F><<<blocks, 64, 0, stream>>>(f, n);
#endif
    TRY(cudaGetLastError());
    return CNN_OK;
}

struct weighted_kernel {
    call c;
    __device__ void operator()(int64_t i) const
    {
        const int64_t n = out_count(&c.d, c.dir);
        if (i < n)
            conv_element(&c.d, c.dir, &c.a, i, 0);
        else
            bias_element(&c.d, &c.a, i - n);
    }
};

/* All elements, or the first `part` of `parts`. */
static inline cnn_status launch_call(cudaStream_t stream, const call *c, int64_t part, int64_t parts, cnn_error *err)
{
    const int64_t bias = c->dir == CNN_BWD_W && c->a.db != NULL ? c->d.oc : 0;
    const weighted_kernel kernel = {*c};
    return launch_on(stream, kernel, (out_count(&c->d, c->dir) + bias) * part / parts, err);
}

static inline call call_of(const cnn_plan *plan, const cnn_weighted_args *a)
{
    const call c = {as_conv(&plan->problem), plan->dir, *a};
    return c;
}

static inline cnn_status honest_weighted(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a,
                                         cnn_error *err)
{
    const call made = call_of(plan, a);
    return launch_call(c->stream, &made, 1, 1, err);
}

struct loss_kernel { /* one thread: it adds up */
    cnn_loss_desc d;
    cnn_loss_args a;
    __device__ void operator()(int64_t) const
    {
        for (int64_t n = 0; n < d.mb; n++) loss_element(&d, &a, n);
    }
};
struct loss_bwd_kernel {
    cnn_loss_desc d;
    cnn_loss_args a;
    __device__ void operator()(int64_t i) const { loss_bwd_element(&d, &a, i); }
};
struct sgd_kernel {
    cnn_optimizer_desc d;
    cnn_optimizer_args a;
    __device__ void operator()(int64_t i) const { sgd_element(&d, &a, i); }
};
struct step_kernel {
    int64_t *step;
    __device__ void operator()(int64_t) const { ++*step; }
};

static inline cnn_status honest_loss(cnn_context *c, const cnn_plan *plan, const cnn_loss_args *a, cnn_error *err)
{
    const cnn_loss_desc *d = &plan->problem.u.loss;
    const loss_kernel fwd = {*d, *a};
    const loss_bwd_kernel bwd = {*d, *a};
    return plan->dir == CNN_FWD ? launch_on(c->stream, fwd, 1, err) : launch_on(c->stream, bwd, d->mb * d->ic, err);
}

static inline cnn_status honest_sgd(cnn_context *c, const cnn_plan *plan, const cnn_optimizer_args *a, cnn_error *err)
{
    const sgd_kernel update = {plan->problem.u.optimizer, *a};
    const step_kernel count = {a->step};
    const cnn_status status = launch_on(c->stream, update, update.d.count, err);
    return status == CNN_OK ? launch_on(c->stream, count, 1, err) : status;
}

#endif
