/* peaks.cu: the device's ceilings: multiply-adds, bandwidths of memory and L2, what a launch costs. (What matrix units
 * reach is a library's to show: impl_cuda_im2col/peaks.cu.) */
#include "harness/cuda/launch.h"
#include "harness/cuda/pack.h"

#include <stdlib.h>
#include <string.h>

typedef cuda_pack<float> pack;

enum peak_kind { FMA_F32, FMA_F64, READ, COPY, TRIAD, READ_L2, LAUNCH, LAUNCH_AND_WAIT, GRAPH_LAUNCH, GRAPH_NODE };
enum { PEAKS = GRAPH_NODE + 1 };

/* Arithmetic takes a millisecond or so; memory is far larger than L2, where a quarter of L2 is read again and again;
 * launches are many, so that the wait at their end is little beside them. */
enum { CHAINS = 8, THREADS = 256, BLOCKS_PER_SM = 8, LAUNCHES = 500, MEMORY_IN_L2S = 20, FILLER = 0x3f };
#ifdef BENCHCNN_CUDA_EMULATED
enum { ROUNDS = 4 };
#else
enum { ROUNDS = 8192 };
#endif

struct peak_work {
    peak_kind kind;
    pack *memory;  /* one array, or several one after the other */
    int64_t packs; /* of each */
    int passes;
    cnn_graph *graph;
};

/* ---- Kernels. Each writes its result where the compiler cannot know that it never will: nothing is left out. */

template <typename T> __global__ void peak_fma(T factor, T term, int rounds, T *out)
{
    T v[CHAINS], sum = 0;
    for (int k = 0; k < CHAINS; k++) v[k] = static_cast<T>(threadIdx.x % 7 + static_cast<unsigned>(k)) / 16;
#pragma unroll 16
    for (int r = 0; r < rounds; r++) {
#pragma unroll
        for (int k = 0; k < CHAINS; k++) v[k] = v[k] * factor + term;
    }
    for (int k = 0; k < CHAINS; k++) sum += v[k];
    if (sum == static_cast<T>(-1)) *out = sum;
}

/* Past L1, which would otherwise hold some of it. */
static __device__ inline pack load(const pack *p)
{
#ifdef BENCHCNN_CUDA_EMULATED
    return *p;
#else
    const float4 v = __ldcg(reinterpret_cast<const float4 *>(p));
    return pack{{v.x, v.y, v.z, v.w}};
#endif
}

/* Four loads in flight a thread. */
__global__ void peak_read(const pack *p, int64_t packs, int passes, float *out)
{
    const int64_t stride = (int64_t)gridDim.x * blockDim.x, first = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int pass = 0; pass < passes; pass++)
        for (int64_t i = first; i < packs; i += 4 * stride) {
            pack v[4] = {};
            for (int k = 0; k < 4; k++)
                if (i + k * stride < packs) v[k] = load(p + i + k * stride);
            for (int k = 0; k < 4; k++) sum += v[k].v[0] + v[k].v[1] + v[k].v[2] + v[k].v[3];
        }
    if (sum == -1.0f) *out = sum;
}

__global__ void peak_copy(const pack *from, pack *to, int64_t packs)
{
    for (CUDA_GRID_STRIDE(i, packs)) to[i] = from[i];
}

__global__ void peak_triad(const pack *b, const pack *c, pack *a, int64_t packs)
{
    for (CUDA_GRID_STRIDE(i, packs)) {
        const pack x = b[i], y = c[i];
        pack z;
        for (int k = 0; k < pack::size; k++) z.v[k] = x.v[k] + 0.5f * y.v[k];
        a[i] = z;
    }
}

__global__ void peak_nothing() {}

/* ---- Running one */

static cuda_shape full(const cuda_context *c, const char *kernel)
{
    return {kernel, dim3((unsigned)(c->limits.multiprocessors * BLOCKS_PER_SM)), dim3(THREADS), 0};
}

static cnn_status launch_nothing(cuda_context *c, int times, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = 0; status == CNN_OK && i < times; i++)
        status = cuda_launch(c, {"peak_nothing", dim3(1), dim3(32), 0}, err, peak_nothing);
    return status;
}

static cnn_status peak_run(cnn_context *context, const cnn_peak *peak, cnn_error *err)
{
    cuda_context *c = reinterpret_cast<cuda_context *>(context);
    const peak_work *w = static_cast<const peak_work *>(peak->state);
    pack *second = w->memory + w->packs, *third = second + w->packs;
    float *out = reinterpret_cast<float *>(w->memory);
    cnn_status status = CNN_OK;
    switch (w->kind) {
    case FMA_F32:
        return cuda_launch(c, full(c, "peak_fma"), err, peak_fma<float>, 0.75f, 0.25f, ROUNDS, out);
    case FMA_F64:
        return cuda_launch(c, full(c, "peak_fma"), err, peak_fma<double>, 0.75, 0.25, ROUNDS,
                           reinterpret_cast<double *>(w->memory));
    case READ:
    case READ_L2:
        return cuda_launch(c, full(c, "peak_read"), err, peak_read, w->memory, w->packs, w->passes, out);
    case COPY:
        return cuda_launch(c, full(c, "peak_copy"), err, peak_copy, w->memory, second, w->packs);
    case TRIAD:
        return cuda_launch(c, full(c, "peak_triad"), err, peak_triad, w->memory, second, third, w->packs);
    case LAUNCH:
        return launch_nothing(c, LAUNCHES, err);
    case LAUNCH_AND_WAIT:
        return launch_nothing(c, 1, err);
    case GRAPH_LAUNCH:
        for (int i = 0; status == CNN_OK && i < LAUNCHES; i++) status = cuda_capture.run(context, w->graph, err);
        return status;
    case GRAPH_NODE:
        return cuda_capture.run(context, w->graph, err);
    }
    return CNN_FAIL(err, CNN_INTERNAL, "there is no ceiling of kind %d", (int)w->kind);
}

/* ---- Opening one */

static void name(cnn_peak *peak, const char *what, const char *variant, cnn_peak_unit unit, double amount)
{
    snprintf(peak->what, sizeof peak->what, "%s", what);
    snprintf(peak->variant, sizeof peak->variant, "%s", variant);
    peak->unit = unit;
    peak->amount = amount;
}

static void name_arithmetic(const cuda_context *c, const peak_work *w, cnn_peak *peak)
{
    const int64_t threads = (int64_t)c->limits.multiprocessors * BLOCKS_PER_SM * THREADS;
    const int64_t multiply_adds = threads * CHAINS * ROUNDS;
    name(peak, "fma", "", CNN_PEAK_FLOPS, 2 * (double)multiply_adds);
    peak->dtype = w->kind == FMA_F32 ? CNN_F32 : CNN_F64;
}

static cnn_status open_memory(cuda_context *c, peak_work *w, cnn_peak *peak, cnn_error *err)
{
    static const char *const whats[] = {"read", "copy", "triad"};
    const bool l2 = w->kind == READ_L2;
    const int arrays = w->kind == TRIAD ? 3 : w->kind == COPY ? 2 : 1;
    const size_t array = l2 ? c->limits.l2_bytes / 4 : c->limits.l2_bytes * MEMORY_IN_L2S / (size_t)arrays;
    void *memory = NULL;
    w->packs = (int64_t)(array / sizeof(pack));
    w->passes = l2 ? 4 * MEMORY_IN_L2S : 1;
    if (w->packs == 0) return CNN_FAIL(err, CNN_UNSUPPORTED, "the device does not tell how large its L2 cache is");
    const size_t bytes = (size_t)w->packs * sizeof(pack);
    const cnn_status status =
        cuda_memory.alloc(reinterpret_cast<cnn_context *>(c), bytes * (size_t)arrays, &memory, err);
    if (status != CNN_OK) return status;
    w->memory = static_cast<pack *>(memory);
    CUDA_TRY(c, cudaMemsetAsync(memory, FILLER, bytes * (size_t)arrays, c->stream), err);
    name(peak, l2 ? "read" : whats[w->kind - READ], l2 ? "L2" : "", CNN_PEAK_BYTES, (double)bytes * arrays * w->passes);
    peak->holds = l2 ? c->limits.l2_bytes : 0;
    return CNN_OK;
}

static cnn_status open_graph(cuda_context *c, int nodes, cnn_graph **graph, cnn_error *err)
{
    cnn_context *context = reinterpret_cast<cnn_context *>(c);
    cnn_error ended;
    cnn_status status = launch_nothing(c, 1, err); /* loaded before it is captured */
    if (status == CNN_OK) status = cuda_capture.begin(context, err);
    if (status != CNN_OK) return status;
    status = launch_nothing(c, nodes, err);
    const cnn_status end = cuda_capture.end(context, graph, status == CNN_OK ? err : &ended);
    return status != CNN_OK ? status : end;
}

static cnn_status open_kind(cuda_context *c, peak_work *w, cnn_peak *peak, cnn_error *err)
{
    void *memory = NULL;
    switch (w->kind) {
    case FMA_F32:
    case FMA_F64:
        name_arithmetic(c, w, peak);
        if (cuda_memory.alloc(reinterpret_cast<cnn_context *>(c), sizeof(pack), &memory, err) != CNN_OK)
            return err->status;
        w->memory = static_cast<pack *>(memory);
        return CNN_OK;
    case LAUNCH:
        name(peak, "launch", "", CNN_PEAK_SECONDS, LAUNCHES);
        return CNN_OK;
    case LAUNCH_AND_WAIT:
        name(peak, "launch_and_wait", "", CNN_PEAK_SECONDS, 1);
        return CNN_OK;
    case GRAPH_LAUNCH:
        name(peak, "graph_launch", "", CNN_PEAK_SECONDS, LAUNCHES);
        return open_graph(c, 1, &w->graph, err);
    case GRAPH_NODE:
        name(peak, "graph_node", "", CNN_PEAK_SECONDS, LAUNCHES);
        return open_graph(c, LAUNCHES, &w->graph, err);
    default:
        return open_memory(c, w, peak, err);
    }
}

static void peak_close(cnn_context *context, cnn_peak *peak)
{
    peak_work *w = static_cast<peak_work *>(peak->state);
    if (w == NULL) return;
    cuda_capture.free(context, w->graph);
    if (w->memory != NULL) cuda_memory.free(context, w->memory);
    free(w);
    peak->state = NULL;
}

static cnn_status peak_open(cnn_context *context, int index, cnn_peak *peak, cnn_error *err)
{
    memset(peak, 0, sizeof *peak);
    if (index < 0 || index >= PEAKS) return CNN_FAIL(err, CNN_BAD_ARGUMENT, "there is no ceiling number %d", index);
    peak_work *w = static_cast<peak_work *>(calloc(1, sizeof *w));
    if (w == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a ceiling");
    w->kind = static_cast<peak_kind>(index);
    peak->state = w;
    const cnn_status status = open_kind(reinterpret_cast<cuda_context *>(context), w, peak, err);
    if (status != CNN_OK) peak_close(context, peak);
    return status;
}

const cnn_peaks cuda_peaks = {PEAKS, peak_open, peak_run, peak_close};
