/* batchnorm.cu: batch normalisation: the sums of each channel (batchnorm_sums.h), then one pass over all elements.
 *
 * The sums are in double. What the rounding of a long sum leaves in x - mean corrects both mean and variance; blocks
 * that share a channel each find mean and squares of their own items, so that no difference of large sums loses its
 * digits. The pass over the elements is in the problem's own type, with the mean in two parts, and reads each channel's
 * numbers, which the sums have left in the workspace. Bottleneck: memory (three reads and a write forward).
 *
 * T is the type of x, y and their gradients; of 16 bits they are only read and written (real.h), and all else is f32.
 */
#include "harness/cuda/batchnorm_sums.h"
#include "harness/cuda/layout.h"
#include "harness/cuda/pack.h"
#include "harness/cuda/real.h"

/* Forward: y = ((x - mean) - rest) * scale + shift; backward: dx = scale * (dy - shift - (x - mean) * rest). */
template <typename R> struct __align__(4 * sizeof(R)) bn_channel { R mean, rest, scale, shift; };

/* What one block knows of a channel: mean and squares about it forward, the sums of dy and dy * xhat backward. */
struct bn_part {
    double first, second;
};

template <typename T> struct bn_vectors {
    typedef cuda_real<T> real;
    const T *x, *dy;
    T *y, *dx;
    const real *gamma, *beta;
    real *dgamma, *dbeta, *running_mean, *running_var, *save_mean, *save_invstd;
    bn_channel<real> *channels;
    bn_part *parts; /* [splits][channels], where there are splits */
};

/* As the sums are computed. */
template <typename T> __device__ inline double as_double(T x) { return static_cast<double>(cuda_load(x)); }

/* The whole channel's mean and squares are known. */
template <typename T>
__device__ void finish_statistics(const bn_shape &s, const bn_vectors<T> &v, int64_t c, const bn_part &sums)
{
    typedef cuda_real<T> real;
    const double n = static_cast<double>(s.count), mean = sums.first, var = sums.second / n;
    const double invstd = 1 / sqrt(var + s.eps), unbias = n > 1 ? n / (n - 1) : 1, keep = 1 - s.momentum;
    const real high = static_cast<real>(mean);
    v.save_mean[c] = high;
    v.save_invstd[c] = static_cast<real>(invstd);
    v.running_mean[c] = static_cast<real>(keep * static_cast<double>(v.running_mean[c]) + s.momentum * mean);
    v.running_var[c] = static_cast<real>(keep * static_cast<double>(v.running_var[c]) + s.momentum * (var * unbias));
    v.channels[c] = {high, static_cast<real>(mean - static_cast<double>(high)),
                     static_cast<real>(static_cast<double>(v.gamma[c]) * invstd), v.beta[c]};
}

/* With xhat = (x - mean) * invstd: dbeta = sum dy, dgamma = sum dy * xhat, and, since mean and variance depend on every
 * x too, dx = gamma * invstd * (dy - dbeta/n - xhat * dgamma/n). */
template <typename T>
__device__ void finish_gradients(const bn_shape &s, const bn_vectors<T> &v, int64_t c, const bn_part &sums)
{
    typedef cuda_real<T> real;
    const double n = static_cast<double>(s.count), invstd = static_cast<double>(v.save_invstd[c]);
    v.dbeta[c] = static_cast<real>(sums.first);
    v.dgamma[c] = static_cast<real>(sums.second);
    v.channels[c] = {v.save_mean[c], static_cast<real>(sums.second * invstd / n),
                     static_cast<real>(static_cast<double>(v.gamma[c]) * invstd), static_cast<real>(sums.first / n)};
}

template <typename T> __global__ void __launch_bounds__(BN_MOST_THREADS) statistics_kernel(bn_shape s, bn_vectors<T> v)
{
    CUDA_SHARED(double, shared, [BN_MOST_ROWS][BN_LANES]);
    const bn_walk walk = bn_walk_of(s);
    const double n = static_cast<double>(bn_items(s, blockIdx.y));
    double sum = 0, rest = 0, squares = 0;
    bn_each(walk, [&](int64_t i) { sum += as_double(v.x[i]); });
    const double mean = bn_sum(s, sum, shared) / n;
    bn_each(walk, [&](int64_t i) {
        const double d = as_double(v.x[i]) - mean;
        rest += d;
        squares += d * d;
    });
    rest = bn_sum(s, rest, shared);
    squares = bn_sum(s, squares, shared);
    if (!bn_writes(s)) return;
    const int64_t c = bn_channel_of_thread(s);
    const bn_part part = {mean + rest / n, squares - rest * rest / n};
    if (s.splits > 1)
        v.parts[blockIdx.y * s.channels + c] = part;
    else
        finish_statistics(s, v, c, part);
}

template <typename T> __global__ void __launch_bounds__(BN_MOST_THREADS) gradients_kernel(bn_shape s, bn_vectors<T> v)
{
    CUDA_SHARED(double, shared, [BN_MOST_ROWS][BN_LANES]);
    const int64_t c = bn_channel_of_thread(s);
    const bool there = c < s.channels;
    const double mean = there ? static_cast<double>(v.save_mean[c]) : 0;
    const double invstd = there ? static_cast<double>(v.save_invstd[c]) : 0;
    double sum = 0, dot = 0;
    bn_each(bn_walk_of(s), [&](int64_t i) {
        const double dy = as_double(v.dy[i]);
        sum += dy;
        dot += dy * ((as_double(v.x[i]) - mean) * invstd);
    });
    sum = bn_sum(s, sum, shared);
    dot = bn_sum(s, dot, shared);
    if (!bn_writes(s)) return;
    const bn_part part = {sum, dot};
    if (s.splits > 1)
        v.parts[blockIdx.y * s.channels + c] = part;
    else
        finish_gradients(s, v, c, part);
}

/* A warp a channel. Squares about the whole mean: those about each part's own, and n (part's mean - mean)^2. */
template <typename T> __global__ void merge_kernel(bn_shape s, bn_vectors<T> v, bool forward)
{
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int64_t c = (static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
    if (c >= s.channels) return; /* whole warps */
    const bn_part *parts = v.parts + c;
    double first = 0, second = 0;
    for (int64_t i = lane; i < s.splits; i += 32)
        first += parts[i * s.channels].first * (forward ? static_cast<double>(bn_items(s, i)) : 1.0);
    first = cuda_warp_sum(first);
    const double mean = first / static_cast<double>(s.count);
    for (int64_t i = lane; i < s.splits; i += 32) {
        const double d = forward ? parts[i * s.channels].first - mean : 0.0;
        second += parts[i * s.channels].second + static_cast<double>(bn_items(s, i)) * d * d;
    }
    second = cuda_warp_sum(second);
    if (lane != 0) return;
    if (forward)
        finish_statistics(s, v, c, {mean, second});
    else
        finish_gradients(s, v, c, {first, second});
}

template <typename T> __global__ void inference_kernel(bn_shape s, bn_vectors<T> v)
{
    typedef cuda_real<T> real;
    for (CUDA_GRID_STRIDE(c, s.channels)) {
        const double invstd = 1 / sqrt(static_cast<double>(v.running_var[c]) + s.eps);
        const real scale = static_cast<real>(static_cast<double>(v.gamma[c]) * invstd);
        v.channels[c] = {v.running_mean[c], real(0), scale, v.beta[c]};
    }
}

/* The pass over the elements, N at a time: they belong to one channel in NCHW, to N neighbours in NHWC. */
template <typename T, typename I, int N> __global__ void elements_kernel(bn_shape s, bn_vectors<T> v, bool forward)
{
    typedef cuda_pack<T, N> pack;
    typedef cuda_real<T> real;
    const I channels = static_cast<I>(s.channels), pixels = static_cast<I>(s.pixels);
    const pack *x = reinterpret_cast<const pack *>(v.x), *dy = reinterpret_cast<const pack *>(v.dy);
    pack *out = reinterpret_cast<pack *>(forward ? v.y : v.dx);
    for (CUDA_GRID_STRIDE(i, s.count * s.channels / N)) {
        const I at = static_cast<I>(i) * N, channel = s.nhwc ? at % channels : at / pixels % channels;
        const pack in = x[i], gradient = forward ? in : dy[i];
        pack result;
        for (int k = 0; k < N; k++) {
            const bn_channel<real> c = v.channels[s.nhwc ? channel + k : channel];
            const real d = cuda_load(in.v[k]) - c.mean;
            result.v[k] = cuda_stored<T>(forward ? (d - c.rest) * c.scale + c.shift
                                                 : c.scale * (cuda_load(gradient.v[k]) - c.shift - d * c.rest));
        }
        out[i] = result;
    }
}

static size_t channels_bytes(const bn_shape &s) { return static_cast<size_t>(s.channels) * sizeof(bn_channel<double>); }

/* plan->state is a bn_shape. */
cnn_status cuda_batchnorm_prepare(cnn_plan *plan, cnn_error *err)
{
    const cnn_batchnorm_desc *d = &plan->problem.u.batchnorm;
    const bn_shape s = bn_shape_of(plan->knobs, d);
    const size_t parts = d->inference || s.splits == 1 ? 0 : static_cast<size_t>(s.splits * s.channels);
    plan->workspace_bytes = channels_bytes(s) + parts * sizeof(bn_part);
    return cuda_keep(plan, &s, sizeof s, err);
}

/* Leaves each channel's numbers in v.channels. */
template <typename T>
static cnn_status sums(cuda_context *c, const cnn_plan *plan, const bn_shape &s, const bn_vectors<T> &v, cnn_error *err)
{
    const bool forward = plan->dir == CNN_FWD;
    if (forward && plan->problem.u.batchnorm.inference)
        return cuda_launch(c, cuda_shape_pointwise(c, plan->knobs, "batchnorm_inference", s.channels), err,
                           inference_kernel<T>, s, v);
    const dim3 grid(static_cast<unsigned>(bn_tiles(s)), static_cast<unsigned>(s.splits));
    const cuda_shape shape = {"batchnorm_sums", grid, dim3(static_cast<unsigned>(s.threads)), 0};
    const cnn_status status = cuda_launch(c, shape, err, forward ? statistics_kernel<T> : gradients_kernel<T>, s, v);
    if (status != CNN_OK || s.splits == 1) return status;
    const cuda_shape merge = {"batchnorm_merge", dim3(static_cast<unsigned>((s.channels + 3) / 4)), dim3(4 * 32), 0};
    return cuda_launch(c, merge, err, merge_kernel<T>, s, v, forward);
}

template <typename T>
static cnn_status elements(cuda_context *c, const cnn_plan *plan, const bn_shape &s, const bn_vectors<T> &v,
                           cnn_error *err)
{
    const int size = cuda_pack<T>::size, less = sizeof(T) == 2 ? 4 : 1; /* 14 x 14 pixels are no packs of 8 */
    const int64_t count = s.count * s.channels, together = s.nhwc ? s.channels : s.pixels;
    const bool small = cuda_fits_32(count);
    const int n = small && together % size == 0 ? size : small && together % less == 0 ? less : 1;
    return cuda_launch(c, cuda_shape_pointwise(c, plan->knobs, "batchnorm", count / n), err,
                       n == size   ? elements_kernel<T, uint32_t, size>
                       : n == less ? elements_kernel<T, uint32_t, less>
                       : small     ? elements_kernel<T, uint32_t, 1>
                                   : elements_kernel<T, uint64_t, 1>,
                       s, v, plan->dir == CNN_FWD);
}

template <typename T>
static cnn_status run(cuda_context *c, const cnn_plan *plan, const cnn_batchnorm_args *a, cnn_error *err)
{
    typedef cuda_real<T> real;
    const bn_shape &s = *static_cast<const bn_shape *>(plan->state);
    char *room = static_cast<char *>(a->workspace);
    const bn_vectors<T> v = {static_cast<const T *>(a->x),
                             static_cast<const T *>(a->dy),
                             static_cast<T *>(a->y),
                             static_cast<T *>(a->dx),
                             static_cast<const real *>(a->gamma),
                             static_cast<const real *>(a->beta),
                             static_cast<real *>(a->dgamma),
                             static_cast<real *>(a->dbeta),
                             static_cast<real *>(a->running_mean),
                             static_cast<real *>(a->running_var),
                             static_cast<real *>(a->save_mean),
                             static_cast<real *>(a->save_invstd),
                             reinterpret_cast<bn_channel<real> *>(room),
                             reinterpret_cast<bn_part *>(room + channels_bytes(s))};
    const cnn_status status = sums<T>(c, plan, s, v, err);
    return status == CNN_OK ? elements<T>(c, plan, s, v, err) : status;
}

cnn_status cuda_batchnorm(cnn_context *context, const cnn_plan *plan, const cnn_batchnorm_args *args, cnn_error *err)
{
    cuda_context *c = cuda_context_of(context);
    return CUDA_BY_NUMBER(plan->problem.u.batchnorm.t.dtype, run<T>(c, plan, args, err));
}
