/* v2.cu: launches v2.h: compiled for the network at hand by NVRTC, or beforehand for those of nets/. */
#include "impl_cuda_fused/fused.h"

#include "harness/cuda/launch.h"
#include "impl_cuda_fused/common.h"
#include "impl_cuda_fused/v2.h"
#ifndef BENCHCNN_CUDA_EMULATED
#include "impl_cuda_fused/jit.h"
#endif

#include <cstdlib>
#include <cstring>

/* ---- Compiled beforehand: nets/NAME.inc is what source.c writes. */

namespace
{
#include "impl_cuda_fused/nets/mlp_64.inc"
#include "impl_cuda_fused/nets/small.inc"
#include "impl_cuda_fused/nets/thesis.inc"
} // namespace
#define FUSED_NETS(X) X(fused_small) X(fused_thesis) X(fused_mlp_64)

template <class N> __global__ void __launch_bounds__(N::threads, 1) fused_v2_kernel(fused_pass p)
{
    CUDA_DYNAMIC_SHARED(float, sm);
    fused_v2_pass<N>(p, sm);
}

template <class N> static bool is_net(const fused_net *net, const fused_layout *l)
{
    if (N::n != net->n_stages || N::threads != l->threads || N::slots != l->slots || N::floats != l->floats ||
        N::nhwc != net->nhwc || N::quadratic != net->quadratic || N::classes != net->classes)
        return false;
    for (int i = 0; i < N::n; i++) {
        fused_stage a = N::stages[i], b = net->stages[i];
        a.seed = b.seed;
        a.w = b.w; /* slots stand in the cuts */
        if (a.b >= 0) a.b = b.b;
        const fused_cut cut = N::cuts[i];
        if (std::memcmp(&a, &b, sizeof a) != 0 || std::memcmp(&cut, &l->cuts[i], sizeof cut) != 0) return false;
    }
    for (int i = 0; i <= N::n; i++) {
        const fused_place place = N::places[i];
        if (std::memcmp(&place, &l->places[i], sizeof place) != 0) return false;
    }
    return true;
}

typedef cnn_status v2_launcher(cuda_context *, const cuda_shape &, const fused_pass &, cnn_error *);

template <class N>
static cnn_status launch_net(cuda_context *c, const cuda_shape &shape, const fused_pass &p, cnn_error *err)
{
    return cuda_launch(c, shape, err, fused_v2_kernel<N>, p);
}

/* NULL: none was compiled for it. */
static v2_launcher *beforehand(const fused_net *net, const fused_layout *l)
{
#define FUSED_USE(name)                                                                                                \
    if (is_net<name>(net, l)) return launch_net<name>;
    FUSED_NETS(FUSED_USE)
#undef FUSED_USE
    return nullptr;
}

/* ---- Opening */

struct v2_own {
    v2_launcher *launcher; /* else the jit's kernel */
#ifndef BENCHCNN_CUDA_EMULATED
    cuda_jit jit;
#endif
};

static cnn_status v2_plan(const cuda_context *c, const fused_net *net, const fused_request *r, fused_plan *plan,
                          cnn_error *err)
{
    const cudaDeviceProp *device = &c->properties;
    const int threads = (int)r->knobs[FUSED_KNOB_V2_THREADS];
    plan->blocks = device->multiProcessorCount;
    cnn_status status =
        fused_layout_of(net, threads, (int)plan->blocks, device->sharedMemPerBlockOptin, &plan->layout, err);
    if (status != CNN_OK) return status;
    plan->slots = plan->layout.slots;
    plan->parts = plan->blocks;
    if (beforehand(net, &plan->layout) != nullptr) return CNN_OK;
#ifdef BENCHCNN_CUDA_EMULATED
    return CNN_FAIL(
        err, CNN_UNSUPPORTED,
        "cuda_fused:v2 was not compiled for network shapes like these, and an emulated device has no NVRTC; "
        "take v1");
#else
    return fused_jit_available(err);
#endif
}

static cnn_status v2_open(cuda_context *c, const fused_net *net, const fused_request *, fused_plan *plan,
                          cnn_error *err)
{
    v2_own *own = static_cast<v2_own *>(std::calloc(1, sizeof(v2_own)));
    if (own == nullptr) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a trainer of cuda_fused");
    plan->own = own;
    own->launcher = beforehand(net, &plan->layout);
#ifdef BENCHCNN_CUDA_EMULATED
    (void)c;
    return CNN_OK;
#else
    const size_t size = 1 << 15;
    char *text = own->launcher == nullptr ? static_cast<char *>(std::malloc(size)) : nullptr;
    if (own->launcher != nullptr) return CNN_OK;
    if (text == nullptr) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the text of a network");
    fused_source_kernel(net, &plan->layout, "fused_v2_this", text, size);
    const cnn_status status = fused_jit_make(c, text, "fused_v2_this", &own->jit, err);
    std::free(text);
    return status;
#endif
}

static void v2_close(fused_plan *plan)
{
    v2_own *own = static_cast<v2_own *>(plan->own);
    if (own == nullptr) return;
#ifndef BENCHCNN_CUDA_EMULATED
    cuda_jit_free(&own->jit);
#endif
    std::free(own);
    plan->own = nullptr;
}

static cnn_status v2_launch(cuda_context *c, const fused_net *, const fused_plan *plan, fused_pass *p, cnn_error *err)
{
    const v2_own *own = static_cast<const v2_own *>(plan->own);
    if (p->mode == FUSED_TEST) p->batch = p->count; /* no image waits for another: all blocks have some */
    const cuda_shape shape = {"fused_v2", dim3((unsigned)plan->blocks), dim3((unsigned)plan->layout.threads),
                              plan->layout.shared_bytes, true}; /* blocks without an image help at the step's end */
    if (own->launcher != nullptr) return own->launcher(c, shape, *p, err);
#ifdef BENCHCNN_CUDA_EMULATED
    return CNN_FAIL(err, CNN_INTERNAL, "cuda_fused:v2 has no kernel");
#else
    void *arguments[] = {p};
    return cuda_launch_kernel(c, shape, err, reinterpret_cast<const void *>(own->jit.kernel), arguments);
#endif
}

const fused_version fused_v2 = {v2_plan, v2_open, v2_close, v2_launch};
