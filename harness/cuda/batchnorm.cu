/* batchnorm.cu: batch normalisation: a block a channel for the sums, then one pass over all elements.
 *
 * The sums are in double and always the same tree. What the rounding of a long sum leaves in x - mean corrects both
 * mean and variance. The second pass reads each channel's numbers, which the first has left in memory.
 * Bottleneck: memory (three reads and a write forward), and for few channels the idle multiprocessors of the first
 * kernel. */
#include "harness/cuda/launch.h"
#include "harness/cuda/reduce.h"
#include "harness/cuda/workspaces.h"

enum { CHANNEL_THREADS = 512 };

struct bn_shape {
    int64_t mb, channels, pixels;
    bool nhwc;
    double eps, momentum;
};

/* Place of element i (of mb*pixels) of a channel. */
__device__ inline int64_t at(const bn_shape &s, int64_t channel, int64_t i)
{
    if (s.nhwc) return i * s.channels + channel;
    return (i / s.pixels * s.channels + channel) * s.pixels + i % s.pixels;
}

__device__ inline int64_t channel_of(const bn_shape &s, int64_t i)
{
    return s.nhwc ? i % s.channels : i / s.pixels % s.channels;
}

/* What the second pass needs of a channel: y = (x - mean) * scale + shift forward; backward dx = scale * (dy - shift -
 * (x - mean) * slope). */
struct bn_channel {
    double mean, scale, shift, slope;
};

template <typename T> struct bn_vectors {
    const T *x, *gamma, *beta, *dy;
    T *y, *dx, *dgamma, *dbeta, *running_mean, *running_var, *save_mean, *save_invstd;
};

template <typename T> __global__ void statistics_kernel(bn_shape s, bn_vectors<T> v, bn_channel *channels)
{
    __shared__ double shared[32];
    const int64_t c = blockIdx.x, count = s.mb * s.pixels;
    const double n = static_cast<double>(count);
    double sum = 0, rest = 0, squares = 0;
    for (int64_t i = threadIdx.x; i < count; i += blockDim.x) sum += static_cast<double>(v.x[at(s, c, i)]);
    double mean = cuda_block_sum(sum, shared) / n;
    for (int64_t i = threadIdx.x; i < count; i += blockDim.x) {
        const double d = static_cast<double>(v.x[at(s, c, i)]) - mean;
        rest += d;
        squares += d * d;
    }
    rest = cuda_block_sum(rest, shared);
    squares = cuda_block_sum(squares, shared) - rest * rest / n;
    mean += rest / n;
    if (threadIdx.x != 0) return;
    const double invstd = 1 / sqrt(squares / n + s.eps), unbias = n > 1 ? n / (n - 1) : 1;
    v.save_mean[c] = static_cast<T>(mean);
    v.save_invstd[c] = static_cast<T>(invstd);
    v.running_mean[c] = static_cast<T>((1 - s.momentum) * static_cast<double>(v.running_mean[c]) + s.momentum * mean);
    v.running_var[c] =
        static_cast<T>((1 - s.momentum) * static_cast<double>(v.running_var[c]) + s.momentum * (squares / n * unbias));
    channels[c] = {mean, static_cast<double>(v.gamma[c]) * invstd, static_cast<double>(v.beta[c]), 0};
}

template <typename T> __global__ void inference_kernel(bn_shape s, bn_vectors<T> v, bn_channel *channels)
{
    for (CUDA_GRID_STRIDE(c, s.channels)) {
        const double invstd = 1 / sqrt(static_cast<double>(v.running_var[c]) + s.eps);
        channels[c] = {static_cast<double>(v.running_mean[c]), static_cast<double>(v.gamma[c]) * invstd,
                       static_cast<double>(v.beta[c]), 0};
    }
}

template <typename T> __global__ void normalise_kernel(bn_shape s, bn_vectors<T> v, const bn_channel *channels)
{
    for (CUDA_GRID_STRIDE(i, s.mb * s.channels * s.pixels)) {
        const bn_channel c = channels[channel_of(s, i)];
        v.y[i] = static_cast<T>((static_cast<double>(v.x[i]) - c.mean) * c.scale + c.shift);
    }
}

/* With xhat = (x - mean) * invstd: dbeta = sum dy, dgamma = sum dy * xhat, and, since mean and variance depend on every
 * x too, dx = gamma * invstd * (dy - dbeta/n - xhat * dgamma/n). */
template <typename T> __global__ void gradients_kernel(bn_shape s, bn_vectors<T> v, bn_channel *channels)
{
    __shared__ double shared[32];
    const int64_t c = blockIdx.x, count = s.mb * s.pixels;
    const double n = static_cast<double>(count), mean = static_cast<double>(v.save_mean[c]);
    const double invstd = static_cast<double>(v.save_invstd[c]);
    double sum = 0, dot = 0;
    for (int64_t i = threadIdx.x; i < count; i += blockDim.x) {
        const int64_t p = at(s, c, i);
        const double dy = static_cast<double>(v.dy[p]);
        sum += dy;
        dot += dy * ((static_cast<double>(v.x[p]) - mean) * invstd);
    }
    sum = cuda_block_sum(sum, shared);
    dot = cuda_block_sum(dot, shared);
    if (threadIdx.x != 0) return;
    v.dbeta[c] = static_cast<T>(sum);
    v.dgamma[c] = static_cast<T>(dot);
    channels[c] = {mean, static_cast<double>(v.gamma[c]) * invstd, sum / n, dot * invstd / n};
}

template <typename T> __global__ void differentiate_kernel(bn_shape s, bn_vectors<T> v, const bn_channel *channels)
{
    for (CUDA_GRID_STRIDE(i, s.mb * s.channels * s.pixels)) {
        const bn_channel c = channels[channel_of(s, i)];
        const double x = static_cast<double>(v.x[i]) - c.mean;
        v.dx[i] = static_cast<T>(c.scale * (static_cast<double>(v.dy[i]) - c.shift - x * c.slope));
    }
}

size_t cuda_batchnorm_workspace(const cnn_batchnorm_desc *d, cnn_dir dir)
{
    (void)dir;
    return static_cast<size_t>(d->ic) * sizeof(bn_channel);
}

template <typename T>
static cnn_status run(cuda_context *c, const cnn_plan *plan, const cnn_batchnorm_args *a, cnn_error *err)
{
    const cnn_batchnorm_desc *d = &plan->problem.u.batchnorm;
    const bn_shape s = {d->mb, d->ic, d->ih * d->iw, d->t.layout == CNN_NHWC, d->eps, d->momentum};
    const bn_vectors<T> v = {
        static_cast<const T *>(a->x),     static_cast<const T *>(a->gamma), static_cast<const T *>(a->beta),
        static_cast<const T *>(a->dy),    static_cast<T *>(a->y),           static_cast<T *>(a->dx),
        static_cast<T *>(a->dgamma),      static_cast<T *>(a->dbeta),       static_cast<T *>(a->running_mean),
        static_cast<T *>(a->running_var), static_cast<T *>(a->save_mean),   static_cast<T *>(a->save_invstd)};
    bn_channel *channels = static_cast<bn_channel *>(a->workspace);
    const cuda_shape sums = {"batchnorm_sums", dim3(static_cast<unsigned>(d->ic)), dim3(CHANNEL_THREADS), 0};
    const cuda_shape all = cuda_shape_1d(c, "batchnorm", s.mb * s.channels * s.pixels, 0, 0);
    const bool forward = plan->dir == CNN_FWD;
    cnn_status status;
    if (forward && d->inference)
        status = cuda_launch(c, cuda_shape_1d(c, "batchnorm_inference", d->ic, 0, 0), err, inference_kernel<T>, s, v,
                             channels);
    else
        status = cuda_launch(c, sums, err, forward ? statistics_kernel<T> : gradients_kernel<T>, s, v, channels);
    if (status != CNN_OK) return status;
    return cuda_launch(c, all, err, forward ? normalise_kernel<T> : differentiate_kernel<T>, s, v,
                       static_cast<const bn_channel *>(channels));
}

static cnn_status either(cnn_context *context, const cnn_plan *plan, const cnn_batchnorm_args *args, cnn_error *err)
{
    cuda_context *c = reinterpret_cast<cuda_context *>(context);
    return plan->problem.u.batchnorm.t.dtype == CNN_F32 ? run<float>(c, plan, args, err)
                                                        : run<double>(c, plan, args, err);
}

cnn_status cuda_batchnorm_fwd(cnn_context *context, const cnn_plan *plan, const cnn_batchnorm_args *args,
                              cnn_error *err)
{
    return either(context, plan, args, err);
}

cnn_status cuda_batchnorm_bwd(cnn_context *context, const cnn_plan *plan, const cnn_batchnorm_args *args,
                              cnn_error *err)
{
    return either(context, plan, args, err);
}
