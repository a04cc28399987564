/* v3.cu: plans and launches v3.h: compiled for the network at hand by NVRTC; beforehand, in an emulated build, for
 * those of nets/. A trainer has two kernels: one that trains, by clusters of as many blocks as the batch leaves idle,
 * and one that tests, a block an image. */
#include "impl_cuda_fused/fused.h"

#include "harness/cuda/launch.h"
#include "impl_cuda_fused/spread.h"
#ifdef BENCHCNN_CUDA_EMULATED
#include "impl_cuda_fused/v3.h"
#else
#include "impl_cuda_fused/jit.h"
#endif

#include <cstdlib>
#include <cstring>
#include <initializer_list>

typedef cnn_status v3_launcher(cuda_context *, const cuda_shape &, const fused_pass &, cnn_error *);

/* ---- Compiled beforehand: nets/v3_NAME.inc is what source.c writes. */

#ifdef BENCHCNN_CUDA_EMULATED
namespace
{
#include "impl_cuda_fused/nets/v3_mlp_64_1.inc"
#include "impl_cuda_fused/nets/v3_small_1.inc"
#include "impl_cuda_fused/nets/v3_small_2.inc"
#include "impl_cuda_fused/nets/v3_thesis_1.inc"
#include "impl_cuda_fused/nets/v3_thesis_2.inc"
} // namespace
#define FUSED_NETS(X) X(fused_small_1) X(fused_small_2) X(fused_thesis_1) X(fused_thesis_2) X(fused_mlp_64_1)

template <class N> __global__ void __launch_bounds__(N::threads, 1) fused_v3_kernel(fused_pass p)
{
    CUDA_DYNAMIC_SHARED(float, sm);
    fused_v3_pass<N>(p, sm);
}

template <class T> static bool same(const T &a, const T &b) { return std::memcmp(&a, &b, sizeof a) == 0; }

template <class N> static bool is_net(const fused_net *net, const fused_spread *l)
{
    if (N::n != net->n_stages || N::cluster != l->cluster || N::slots != l->slots || N::floats != l->floats ||
        N::nhwc != net->nhwc || N::quadratic != net->quadratic || N::classes != net->classes)
        return false;
    for (int i = 0; i < N::n; i++) {
        fused_stage a = N::stages[i], b = net->stages[i];
        a.seed = b.seed;
        a.w = b.w; /* offsets of parameters, which the slots know */
        if (a.b >= 0) a.b = b.b;
        const fused_tile tile = N::tiles[i];
        if (!same(a, b) || !same(tile, l->tiles[i])) return false;
    }
    for (int i = 0; i <= N::n; i++) {
        const fused_place place = N::places[i];
        if (!same(place, l->places[i])) return false;
    }
    return true;
}

template <class N>
static cnn_status launch_net(cuda_context *c, const cuda_shape &shape, const fused_pass &p, cnn_error *err)
{
    return cuda_launch(c, shape, err, fused_v3_kernel<N>, p);
}

static v3_launcher *beforehand(const fused_net *net, const fused_spread *l)
{
#define FUSED_USE(name)                                                                                                \
    if (is_net<name>(net, l)) return launch_net<name>;
    FUSED_NETS(FUSED_USE)
#undef FUSED_USE
    return nullptr;
}
#endif

/* ---- Planning */

struct v3_plan_of {
    fused_spread train, test;
    int blocks; /* of the grid that trains */
    bool alone; /* each cluster updates all weights: where there is little to add up */
};

static cnn_status spread(const cuda_context *c, const fused_net *net, int cluster, fused_spread *l, cnn_error *err)
{
    const cudaDeviceProp *device = &c->properties;
    if (cluster > 1 && device->major < 9)
        return CNN_FAIL(err, CNN_UNSUPPORTED,
                        "cuda_fused:v3: blocks share an image on devices of compute capability 9.0 and later, and this "
                        "one's is %d.%d: take v3.cluster=1",
                        device->major, device->minor);
    const int blocks = cuda_clusters(c, cluster) * cluster;
    if (blocks == 0)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "cuda_fused:v3: the device has no %d multiprocessors for a cluster",
                        cluster);
    return fused_spread_of(net, cluster, blocks, device->sharedMemPerBlockOptin, l, err);
}

/* The largest clusters of which there is one for each image. */
static cnn_status choose(const cuda_context *c, const fused_net *net, const fused_request *r, fused_spread *l,
                         cnn_error *err)
{
    const int asked = (int)r->knobs[FUSED_KNOB_V3_CLUSTER];
    if (asked > 0) return spread(c, net, asked, l, err);
    for (int cluster : {10, 5, 4, 2}) {
        cnn_error none;
        if (r->batch <= cuda_clusters(c, cluster) && spread(c, net, cluster, l, &none) == CNN_OK) return CNN_OK;
    }
    return spread(c, net, 1, l, err);
}

static cnn_status plan_of(const cuda_context *c, const fused_net *net, const fused_request *r, v3_plan_of *plan,
                          cnn_error *err)
{
    const cudaDeviceProp *device = &c->properties;
    cnn_status status = spread(c, net, 1, &plan->test, err);
    if (status == CNN_OK) status = choose(c, net, r, &plan->train, err);
    if (status != CNN_OK) return status;
    const fused_spread *l = &plan->train;
    const int most = l->cluster > 1 ? cuda_clusters(c, l->cluster) : device->multiProcessorCount;
    const int busy = r->batch < most ? (int)r->batch : most;
    plan->alone = (int64_t)busy * l->slots <= r->knobs[FUSED_KNOB_V3_ALONE] &&
                  fused_spread_bytes(l, busy * l->cluster, true) <= device->sharedMemPerBlockOptin;
    plan->blocks = (plan->alone ? busy : most) * l->cluster;
    return CNN_OK;
}

static cnn_status v3_plan(const cuda_context *c, const fused_net *net, const fused_request *r, fused_plan *plan,
                          cnn_error *err)
{
    v3_plan_of mine;
    const cnn_status status = plan_of(c, net, r, &mine, err);
    if (status != CNN_OK) return status;
    plan->blocks = c->properties.multiProcessorCount > mine.blocks ? c->properties.multiProcessorCount : mine.blocks;
    plan->slots = net->params; /* state is in the order of cnn_net.params */
    const int64_t parts = (int64_t)mine.blocks * mine.train.slots * (mine.alone ? 2 : 1);
    plan->parts = (parts + net->params - 1) / net->params;
#ifdef BENCHCNN_CUDA_EMULATED
    if (beforehand(net, &mine.train) != nullptr && beforehand(net, &mine.test) != nullptr) return CNN_OK;
    return CNN_FAIL(
        err, CNN_UNSUPPORTED,
        "cuda_fused:v3 was not compiled for network shapes like these, and an emulated device has no NVRTC; "
        "take v1");
#else
    return fused_jit_available(err);
#endif
}

/* ---- Opening */

/* A kernel, and what it finds in device memory. */
struct v3_side {
    fused_spread spread;
    int blocks;
    bool alone;
#ifdef BENCHCNN_CUDA_EMULATED
    v3_launcher *launcher;
#else
    cuda_jit jit;
#endif
    float *images;
    int *params, *at, *back;
};

struct v3_own {
    v3_side train, test;
    char *memory;
};

static size_t tables_of(const v3_side *s) { return (size_t)((s->spread.cluster + 2) * s->spread.slots) * sizeof(int); }
static size_t images_of(const v3_side *s) { return (size_t)(s->spread.cluster * s->spread.weights) * sizeof(float); }

static cnn_status upload(cuda_context *c, const fused_net *net, v3_side *s, char *memory, cnn_error *err)
{
    const size_t slots = (size_t)s->spread.slots, shared = (size_t)s->spread.cluster * slots;
    int *table = static_cast<int *>(std::malloc(tables_of(s)));
    if (table == nullptr) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a trainer of cuda_fused");
    fused_spread_slots(net, &s->spread, table, table + shared, table + shared + slots);
    s->images = reinterpret_cast<float *>(memory);
    s->params = reinterpret_cast<int *>(memory + images_of(s));
    s->at = s->params + shared;
    s->back = s->at + slots;
    cudaError_t error = cudaMemsetAsync(s->images, 0, images_of(s), c->stream);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(s->params, table, tables_of(s), cudaMemcpyHostToDevice, c->stream);
    if (error == cudaSuccess) error = cudaStreamSynchronize(c->stream);
    std::free(table);
    CUDA_TRY(c, error, err);
    return CNN_OK;
}

static cuda_shape shape_of(const v3_side *s)
{
    return {"fused_v3",
            dim3((unsigned)s->blocks),
            dim3((unsigned)s->spread.threads),
            fused_spread_bytes(&s->spread, s->blocks, s->alone),
            true,
            (unsigned)s->spread.cluster};
}

#ifndef BENCHCNN_CUDA_EMULATED
/* As many clusters as are there at once. */
static cnn_status fit(cuda_context *c, v3_side *s, cnn_error *err)
{
    const void *kernel = reinterpret_cast<const void *>(s->jit.kernel);
    const cuda_shape shape = shape_of(s);
    int clusters = 0;
    CUDA_TRY(c, cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1), err);
    const cnn_status status = cuda_launch_check(c, shape, kernel, err);
    if (status != CNN_OK) return status;
    cudaLaunchAttribute together[2];
    const cudaLaunchConfig_t config = cuda_launch_config(c, shape, together);
    CUDA_TRY(c, cudaOccupancyMaxActiveClusters(&clusters, kernel, &config), err);
    if (clusters == 0)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "cuda_fused:v3: no cluster of %d blocks of %zu bytes fits on the device",
                        s->spread.cluster, shape.shared_bytes);
    if (s->blocks > clusters * s->spread.cluster) s->blocks = clusters * s->spread.cluster;
    return CNN_OK;
}
#endif

static cnn_status make(cuda_context *c, const fused_net *net, v3_side *s, cnn_error *err)
{
#ifdef BENCHCNN_CUDA_EMULATED
    (void)c;
    s->launcher = beforehand(net, &s->spread);
    return s->launcher != nullptr ? CNN_OK : CNN_FAIL(err, CNN_INTERNAL, "cuda_fused:v3 has no kernel");
#else
    const size_t size = 1 << 15;
    char *text = static_cast<char *>(std::malloc(size));
    if (text == nullptr) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the text of a network");
    fused_spread_kernel(net, &s->spread, "fused_v3_this", text, size);
    const cnn_status status = fused_jit_make(c, text, "fused_v3_this", &s->jit, err);
    std::free(text);
    return status == CNN_OK && s->spread.cluster > 1 ? fit(c, s, err) : status;
#endif
}

static cnn_status open_sides(cuda_context *c, const fused_net *net, v3_own *own, cnn_error *err)
{
    cnn_status status = make(c, net, &own->train, err);
    if (status == CNN_OK) status = make(c, net, &own->test, err);
    const size_t train = images_of(&own->train) + tables_of(&own->train) + CNN_ALIGN;
    const size_t first = train / CNN_ALIGN * CNN_ALIGN;
    if (status != CNN_OK || cuda_enter(c, err) != CNN_OK) return err->status;
    CUDA_TRY(c, cudaMalloc(&own->memory, first + images_of(&own->test) + tables_of(&own->test)), err);
    status = upload(c, net, &own->train, own->memory, err);
    return status == CNN_OK ? upload(c, net, &own->test, own->memory + first, err) : status;
}

static cnn_status v3_open(cuda_context *c, const fused_net *net, const fused_request *r, fused_plan *plan,
                          cnn_error *err)
{
    v3_plan_of mine;
    const cnn_status status = plan_of(c, net, r, &mine, err);
    if (status != CNN_OK) return status;
    v3_own *own = static_cast<v3_own *>(std::calloc(1, sizeof(v3_own)));
    if (own == nullptr) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a trainer of cuda_fused");
    plan->own = own;
    own->train.spread = mine.train;
    own->train.blocks = mine.blocks;
    own->train.alone = mine.alone;
    own->test.spread = mine.test;
    own->test.blocks = c->properties.multiProcessorCount;
#ifndef BENCHCNN_CUDA_EMULATED
    if (!r->laps) own->train.spread.laps = own->test.spread.laps = 0;
#endif
    return open_sides(c, net, own, err);
}

static void v3_close(fused_plan *plan)
{
    v3_own *own = static_cast<v3_own *>(plan->own);
    if (own == nullptr) return;
#ifndef BENCHCNN_CUDA_EMULATED
    cuda_jit_free(&own->train.jit);
    cuda_jit_free(&own->test.jit);
#endif
    (void)cudaFree(own->memory);
    std::free(own);
    plan->own = nullptr;
}

/* ---- Launching */

static cnn_status v3_launch(cuda_context *c, const fused_net *, const fused_plan *plan, fused_pass *p, cnn_error *err)
{
    v3_own *own = static_cast<v3_own *>(plan->own);
    const v3_side *s = p->mode == FUSED_TEST ? &own->test : &own->train;
    if (p->mode == FUSED_TEST) p->batch = p->count; /* no image waits for another: all blocks have some */
    p->images = s->images;
    p->params = s->params;
    p->at = s->at;
    p->back = s->back;
    p->alone = s->alone;
    const cuda_shape shape = shape_of(s);
#ifdef BENCHCNN_CUDA_EMULATED
    return s->launcher(c, shape, *p, err);
#else
    void *arguments[] = {p};
    return cuda_launch_kernel(c, shape, err, reinterpret_cast<const void *>(s->jit.kernel), arguments);
#endif
}

const fused_version fused_v3 = {v3_plan, v3_open, v3_close, v3_launch};
