/* peaks.cu: the device's ceilings: multiply-adds, bandwidths of memory and L2, what a launch costs. (What matrix units
 * reach is a library's to show: impl_cuda_im2col/peaks.cu.) */
#include "harness/cuda/launch.h"
#include "harness/cuda/pack.h"

#include <stdlib.h>
#include <string.h>

typedef cuda_pack<float> pack;

/* Arithmetic takes a millisecond or so; memory is far larger than L2, where a quarter of L2 is read again and again;
 * launches are many, so that the wait at their end is little beside them. */
enum { CHAINS = 8, THREADS = 256, BLOCKS_PER_SM = 8, LAUNCHES = 500, MEMORY_IN_L2S = 20, FILLER = 0x3f };
#ifdef BENCHCNN_CUDA_EMULATED
enum { ROUNDS = 4 };
#else
enum { ROUNDS = 8192 };
#endif

enum peak_kind { FMA_F32, FMA_F64, READ, COPY, TRIAD, READ_L2, EMPTY };
struct peak_row {
    const char *what, *variant;
    peak_kind kind;
    cnn_peak_unit unit;
    int arrays;          /* of memory */
    int launches, nodes; /* of empty kernels: so many, or so many replays of a graph with so many nodes */
};
static const peak_row rows[] = {
    {"fma", "", FMA_F32, CNN_PEAK_FLOPS, 1, 0, 0},
    {"fma", "", FMA_F64, CNN_PEAK_FLOPS, 1, 0, 0},
    {"read", "", READ, CNN_PEAK_BYTES, 1, 0, 0},
    {"copy", "", COPY, CNN_PEAK_BYTES, 2, 0, 0},
    {"triad", "", TRIAD, CNN_PEAK_BYTES, 3, 0, 0},
    {"read", "L2", READ_L2, CNN_PEAK_BYTES, 1, 0, 0},
    {"launch", "", EMPTY, CNN_PEAK_SECONDS, 0, LAUNCHES, 0},
    {"launch_and_wait", "", EMPTY, CNN_PEAK_SECONDS, 0, 1, 0},
    {"graph_launch", "", EMPTY, CNN_PEAK_SECONDS, 0, LAUNCHES, 1},
    {"graph_node", "", EMPTY, CNN_PEAK_SECONDS, 0, 1, LAUNCHES},
};
enum { PEAKS = sizeof rows / sizeof rows[0] };

struct peak_work {
    const peak_row *row;
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
    return {kernel, dim3((unsigned)(c->properties.multiProcessorCount * BLOCKS_PER_SM)), dim3(THREADS), 0};
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
    cuda_context *c = cuda_context_of(context);
    const peak_work *w = static_cast<const peak_work *>(peak->state);
    pack *second = w->memory + w->packs, *third = second + w->packs;
    float *out = reinterpret_cast<float *>(w->memory);
    cnn_status status = CNN_OK;
    switch (w->row->kind) {
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
    case EMPTY:
        break;
    }
    if (w->graph == NULL) return launch_nothing(c, w->row->launches, err);
    for (int i = 0; status == CNN_OK && i < w->row->launches; i++) status = cuda_capture.run(context, w->graph, err);
    return status;
}

/* ---- Opening one */

static cnn_status open_arithmetic(cuda_context *c, peak_work *w, cnn_peak *peak, cnn_error *err)
{
    const int64_t threads = (int64_t)c->properties.multiProcessorCount * BLOCKS_PER_SM * THREADS;
    const int64_t multiply_adds = threads * CHAINS * ROUNDS;
    void *memory = NULL;
    peak->amount = 2 * (double)multiply_adds;
    peak->dtype = w->row->kind == FMA_F32 ? CNN_F32 : CNN_F64;
    const cnn_status status = cuda_memory.alloc(reinterpret_cast<cnn_context *>(c), sizeof(pack), &memory, err);
    w->memory = static_cast<pack *>(memory);
    return status;
}

static cnn_status open_memory(cuda_context *c, peak_work *w, cnn_peak *peak, cnn_error *err)
{
    const bool l2 = w->row->kind == READ_L2;
    const size_t arrays = static_cast<size_t>(w->row->arrays), cache = static_cast<size_t>(c->properties.l2CacheSize);
    const size_t array = l2 ? cache / 4 : cache * MEMORY_IN_L2S / arrays;
    void *memory = NULL;
    w->packs = (int64_t)(array / sizeof(pack));
    w->passes = l2 ? 4 * MEMORY_IN_L2S : 1;
    if (w->packs == 0) return CNN_FAIL(err, CNN_UNSUPPORTED, "the device does not tell how large its L2 cache is");
    const size_t bytes = (size_t)w->packs * sizeof(pack) * arrays;
    const cnn_status status = cuda_memory.alloc(reinterpret_cast<cnn_context *>(c), bytes, &memory, err);
    if (status != CNN_OK) return status;
    w->memory = static_cast<pack *>(memory);
    CUDA_TRY(c, cudaMemsetAsync(memory, FILLER, bytes, c->stream), err);
    peak->amount = (double)bytes * w->passes;
    peak->holds = l2 ? cache : 0;
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

static cnn_status open_row(cuda_context *c, peak_work *w, cnn_peak *peak, cnn_error *err)
{
    const peak_row *row = w->row;
    snprintf(peak->what, sizeof peak->what, "%s", row->what);
    snprintf(peak->variant, sizeof peak->variant, "%s", row->variant);
    peak->unit = row->unit;
    if (row->unit == CNN_PEAK_FLOPS) return open_arithmetic(c, w, peak, err);
    if (row->unit == CNN_PEAK_BYTES) return open_memory(c, w, peak, err);
    peak->amount = row->launches * (row->nodes > 0 ? row->nodes : 1);
    return row->nodes > 0 ? open_graph(c, row->nodes, &w->graph, err) : CNN_OK;
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
    w->row = &rows[index];
    peak->state = w;
    const cnn_status status = open_row(cuda_context_of(context), w, peak, err);
    if (status != CNN_OK) peak_close(context, peak);
    return status;
}

const cnn_peaks cuda_peaks = {PEAKS, peak_open, peak_run, peak_close};
