/* mine_cuda.cu: the folder to copy, for CUDA: convolution forward, one thread an output element.
 *
 *   make cuda && benchcnn verify --plugin ./libmine_cuda.so --impl mine_cuda --op conv --dir FWD
 *
 * The harness owns the memory, through the tables below, and times by your events. Everything runs on one stream. */
#include <cnn.h>
#include <cuda_runtime.h>

#include <cstdlib>

struct cnn_context {
    int device;
    cudaStream_t stream;
    cudaEvent_t start, stop;
};

/* Every call is checked; the sentence says which one failed. */
static cnn_status check(cudaError_t error, const char *call, cnn_error *err)
{
    if (error == cudaSuccess) return CNN_OK;
    return CNN_FAIL(err, error == cudaErrorMemoryAllocation ? CNN_OUT_OF_MEMORY : CNN_DEVICE, "%s: %s", call,
                    cudaGetErrorString(error));
}
#define CHECK(call) check((call), #call, err)

static cnn_status mine_probe(cnn_error *err)
{
    int devices = 0;
    if (cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0) return CNN_OK;
    return CNN_FAIL(err, CNN_UNAVAILABLE, "no CUDA device: a GPU and its driver are needed");
}

static void mine_close(cnn_context *c)
{
    if (c->start != nullptr) cudaEventDestroy(c->start);
    if (c->stop != nullptr) cudaEventDestroy(c->stop);
    if (c->stream != nullptr) cudaStreamDestroy(c->stream);
    free(c);
}

static cnn_status mine_open(const cnn_open_params *params, cnn_context **context, cnn_error *err)
{
    cnn_context *c = static_cast<cnn_context *>(calloc(1, sizeof *c));
    if (c == nullptr) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a context");
    c->device = params->device;
    cnn_status status = CHECK(cudaSetDevice(c->device));
    if (status == CNN_OK) status = CHECK(cudaStreamCreate(&c->stream));
    if (status == CNN_OK) status = CHECK(cudaEventCreate(&c->start));
    if (status == CNN_OK) status = CHECK(cudaEventCreate(&c->stop));
    if (status == CNN_OK)
        *context = c;
    else
        mine_close(c);
    return status;
}

/* ---- Memory and time on the device. */
static cnn_status mine_alloc(cnn_context *, size_t bytes, void **memory, cnn_error *err)
{
    return CHECK(cudaMalloc(memory, bytes));
}
static void mine_free(cnn_context *, void *memory) { cudaFree(memory); }
static cnn_status mine_move(cnn_context *c, void *dst, const void *src, size_t bytes, cnn_error *err)
{
    const cnn_status status = CHECK(cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDefault, c->stream));
    return status == CNN_OK ? CHECK(cudaStreamSynchronize(c->stream)) : status;
}
static cnn_status mine_copy(cnn_context *c, void *dst, const void *src, size_t bytes, cnn_error *err)
{
    return CHECK(cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDeviceToDevice, c->stream));
}
static cnn_status mine_fill(cnn_context *c, void *dst, int byte, size_t bytes, cnn_error *err)
{
    return CHECK(cudaMemsetAsync(dst, byte, bytes, c->stream));
}
static cnn_status mine_available(cnn_context *, size_t *bytes, cnn_error *err)
{
    size_t total;
    return CHECK(cudaMemGetInfo(bytes, &total));
}
static cnn_status mine_sync(cnn_context *c, cnn_error *err) { return CHECK(cudaStreamSynchronize(c->stream)); }
static cnn_status mine_timer_start(cnn_context *c, cnn_error *err)
{
    return CHECK(cudaEventRecord(c->start, c->stream));
}
static cnn_status mine_timer_stop(cnn_context *c, double *seconds, cnn_error *err)
{
    float ms = 0;
    cnn_status status = CHECK(cudaEventRecord(c->stop, c->stream));
    if (status == CNN_OK) status = CHECK(cudaEventSynchronize(c->stop));
    if (status == CNN_OK) status = CHECK(cudaEventElapsedTime(&ms, c->start, c->stop));
    *seconds = ms / 1e3;
    return status;
}

/* ---- The kernel. See mine.c for supports() and the arithmetic in words. */
static cnn_status mine_supports(cnn_context *, const cnn_request *request, cnn_error *err)
{
    const cnn_conv_desc *d = &request->problem->u.conv;
    if (request->problem->op != CNN_OP_CONV || request->dir != CNN_FWD)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "mine_cuda does convolution, direction FWD, only");
    if (d->t.dtype != CNN_F32 || d->t.math != CNN_MATH_F32 || d->t.layout != CNN_NCHW || d->flip)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "mine_cuda computes in f32, in layout NCHW, without flip, only");
    return CNN_OK;
}

static __global__ void loops(cnn_conv_desc d, const float *x, const float *w, const float *b, float *y, bool add)
{
    const int64_t count = d.mb * d.oc * d.oh * d.ow, channels = d.ic / d.g;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (int64_t)gridDim.x * blockDim.x) {
        const int64_t ow = i % d.ow, oh = i / d.ow % d.oh, k = i / d.ow / d.oh % d.oc, n = i / d.ow / d.oh / d.oc;
        const int64_t first = k / (d.oc / d.g) * channels;
        float sum = b != nullptr ? b[k] : 0;
        for (int64_t c = 0; c < channels; c++)
            for (int64_t kh = 0; kh < d.kh; kh++)
                for (int64_t kw = 0; kw < d.kw; kw++) {
                    const int64_t h = oh * d.sh - d.ph + kh * (d.dh + 1), v = ow * d.sw - d.pw + kw * (d.dw + 1);
                    if (h < 0 || h >= d.ih || v < 0 || v >= d.iw) continue;
                    sum += x[((n * d.ic + first + c) * d.ih + h) * d.iw + v] *
                           w[((k * channels + c) * d.kh + kh) * d.kw + kw];
                }
        y[i] = add ? y[i] + sum : sum;
    }
}

static cnn_status mine_conv_fwd(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *args, cnn_error *err)
{
    const cnn_conv_desc *d = &plan->problem.u.conv;
    const int64_t blocks = (d->mb * d->oc * d->oh * d->ow + 255) / 256;
    loops<<<(unsigned)(blocks < 65536 ? blocks : 65536), 256, 0, c->stream>>>(
        *d, static_cast<const float *>(args->x), static_cast<const float *>(args->w),
        static_cast<const float *>(args->b), static_cast<float *>(args->y), args->beta != 0);
    return CHECK(cudaGetLastError());
}

static const cnn_memory memory = {mine_alloc, mine_free, mine_move, mine_move, mine_copy, mine_fill, mine_available};
static const cnn_timing timing = {mine_timer_start, mine_timer_stop};
static const cnn_algorithm algorithms[] = {
    {"loops", "one thread an output element", 1u << CNN_OP_CONV, CNN_ALGO_DETERMINISTIC, 1, 0},
};

extern "C" CNN_PLUGIN const cnn_impl *cnn_plugin(void)
{
    static cnn_operations ops = {};
    static const cnn_impl impl = [] {
        cnn_impl i = {};
        i.abi_version = CNN_ABI_VERSION;
        i.struct_size = sizeof(cnn_impl);
        i.name = "mine_cuda";
        i.doc = "convolution forward, one thread an output element";
        i.device_kind = CNN_DEVICE_CUDA;
        i.algorithms = algorithms;
        i.n_algorithms = sizeof algorithms / sizeof algorithms[0];
        i.probe = mine_probe, i.open = mine_open, i.close = mine_close;
        i.sync = mine_sync, i.supports = mine_supports;
        ops.struct_size = sizeof ops, ops.conv_fwd = mine_conv_fwd;
        i.ops = &ops, i.memory = &memory, i.timing = &timing;
        return i;
    }();
    return &impl;
}
