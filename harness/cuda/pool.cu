/* pool.cu: pooling: forward a thread an output, backward a thread an input pixel.
 *
 * The backward gathers: a pixel looks at the windows that hold it and, for the maximum, finds each window's winner
 * again (the first of equals in row-major order, or the first NaN). So nothing is added atomically, sums have one
 * order, and dx needs no clearing. Windows that overlap are read as often as they have pixels, from the cache.
 * Bottleneck: memory, where windows are small and do not overlap. A global average is one warp an (image, channel). */
#include "harness/cuda/pool.h"
#include "harness/cuda/reduce.h"

/* I is signed, and 32 bits wide where all sums of these fit. */
template <typename I> struct pool_shape {
    cuda_extent<I> in, out;
    cnn_pool_kind kind;
    I count;                          /* of what the threads stand for */
    I kh, kw, sh, sw, ph, pw, dh, dw; /* dh, dw: the spacing of the taps */
};

template <typename T, typename I> __global__ void pool_fwd_kernel(pool_shape<I> s, const T *x, T *y)
{
    typedef cuda_real<T> real;
    for (CUDA_GRID_STRIDE(i, static_cast<int64_t>(s.count))) {
        const cuda_point<I> o = cuda_point_of(s.out, static_cast<I>(i));
        const I h0 = o.h * s.sh - s.ph, w0 = o.w * s.sw - s.pw;
        const pool_span<I> rows = pool_taps_inside(h0, s.kh, s.dh, s.in.h),
                           cols = pool_taps_inside(w0, s.kw, s.dw, s.in.w);
        const bool largest = s.kind == CNN_POOL_MAX;
        real result = largest ? -static_cast<real>(INFINITY) : real(0);
        for (I r = rows.first; r < rows.last; r++) {
            for (I q = cols.first; q < cols.last; q++) {
                const real v = cuda_load(x[cuda_index_of(s.in, o.n, o.c, h0 + r * s.dh, w0 + q * s.dw)]);
                if (largest)
                    result = pool_beats(v, result) ? v : result;
                else
                    result += v;
            }
        }
        const I inside = (rows.last - rows.first) * (cols.last - cols.first);
        const real divide_by = static_cast<real>(s.kind == CNN_POOL_AVG_PAD ? s.kh * s.kw : inside);
        y[i] = cuda_stored<T>(largest ? result : result / divide_by);
    }
}

/* What the window at output (p, q) gives to the pixel (h, w) of o.n, o.c. */
template <typename T, typename I>
__device__ cuda_real<T> share(const pool_shape<I> &s, const T *x, const T *dy, const cuda_point<I> &o, I p, I q)
{
    typedef cuda_real<T> real;
    const I h0 = p * s.sh - s.ph, w0 = q * s.sw - s.pw;
    const pool_span<I> rows = pool_taps_inside(h0, s.kh, s.dh, s.in.h), cols = pool_taps_inside(w0, s.kw, s.dw, s.in.w);
    const real gradient = cuda_load(dy[cuda_index_of(s.out, o.n, o.c, p, q)]);
    if (s.kind != CNN_POOL_MAX) {
        const I inside = (rows.last - rows.first) * (cols.last - cols.first);
        return gradient / static_cast<real>(s.kind == CNN_POOL_AVG_PAD ? s.kh * s.kw : inside);
    }
    bool first = true, mine = false;
    real max = real(0);
    for (I r = rows.first; r < rows.last; r++) {
        for (I k = cols.first; k < cols.last; k++) {
            const I h = h0 + r * s.dh, w = w0 + k * s.dw;
            const real v = cuda_load(x[cuda_index_of(s.in, o.n, o.c, h, w)]);
            if (!first && !pool_beats(v, max)) continue;
            max = v;
            mine = h == o.h && w == o.w;
            first = false;
        }
    }
    return mine ? gradient : real(0);
}

template <typename T, typename I>
__global__ void __launch_bounds__(CUDA_BLOCK_MOST, 1) pool_bwd_kernel(pool_shape<I> s, const T *x, const T *dy, T *dx)
{
    for (CUDA_GRID_STRIDE(i, static_cast<int64_t>(s.count))) {
        const cuda_point<I> o = cuda_point_of(s.in, static_cast<I>(i));
        const I h = o.h + s.ph, w = o.w + s.pw;
        const pool_span<I> rows = pool_windows_over(h, s.kh, s.sh, s.dh, s.out.h);
        const pool_span<I> cols = pool_windows_over(w, s.kw, s.sw, s.dw, s.out.w);
        cuda_real<T> sum = 0;
        for (I p = rows.first; p < rows.last; p++) {
            if (s.dh != 1 && (h - p * s.sh) % s.dh != 0) continue; /* between two taps */
            for (I q = cols.first; q < cols.last; q++) {
                if (s.dw != 1 && (w - q * s.sw) % s.dw != 0) continue;
                sum += share(s, x, dy, o, p, q);
            }
        }
        dx[i] = cuda_stored<T>(sum);
    }
}

/* A warp sums the pixels of one image's channel, in double. */
template <typename T>
__global__ void global_avg_kernel(int64_t planes, int64_t channels, int64_t pixels, bool nhwc, const T *x, T *y)
{
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int64_t warps = static_cast<int64_t>(gridDim.x) * (blockDim.x / 32);
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32; i < planes; i += warps) {
        const T *plane = nhwc ? x + i / channels * channels * pixels + i % channels : x + i * pixels;
        double sum = 0;
        for (int64_t p = lane; p < pixels; p += 32)
            sum += static_cast<double>(cuda_load(plane[nhwc ? p * channels : p]));
        sum = cuda_warp_sum(sum);
        if (lane == 0) y[i] = cuda_stored<T>(static_cast<cuda_real<T>>(sum / static_cast<double>(pixels)));
    }
}

/* Backward of the global average: every pixel gets its channel's share. */
template <typename T>
__global__ void global_spread_kernel(int64_t count, int64_t channels, int64_t pixels, bool nhwc, const T *dy, T *dx)
{
    const cuda_real<T> divide_by = static_cast<cuda_real<T>>(pixels);
    for (CUDA_GRID_STRIDE(i, count)) {
        const int64_t plane = nhwc ? i / (channels * pixels) * channels + i % channels : i / pixels;
        dx[i] = cuda_stored<T>(cuda_load(dy[plane]) / divide_by);
    }
}

static cnn_status global_spread(cuda_context *c, const cnn_plan *plan, const void *dy, void *dx, cnn_error *err)
{
    const cnn_pool_desc d = cnn_pool_with_depth(&plan->problem);
    const int64_t pixels = d.id * d.ih * d.iw, count = d.mb * d.ic * pixels;
    const cuda_shape shape = cuda_shape_pointwise(c, plan->knobs, "global_spread", count);
    return CUDA_BY_NUMBER(d.t.dtype, cuda_launch(c, shape, err, global_spread_kernel<T>, count, d.ic, pixels,
                                                 d.t.layout == CNN_NHWC, dy, dx));
}

static cnn_status global_avg(cuda_context *c, const cnn_plan *plan, const void *x, void *y, cnn_error *err)
{
    const cnn_pool_desc d = cnn_pool_with_depth(&plan->problem);
    const int64_t planes = d.mb * d.ic;
    cuda_shape shape = cuda_shape_pointwise(c, plan->knobs, "global_avg", planes * 32);
    shape.block.x = (shape.block.x + 31) / 32 * 32; /* whole warps */
    return CUDA_BY_NUMBER(d.t.dtype, cuda_launch(c, shape, err, global_avg_kernel<T>, planes, d.ic, d.id * d.ih * d.iw,
                                                 d.t.layout == CNN_NHWC, x, y));
}

template <typename I> static pool_shape<I> shape_of(const cnn_pool_desc *d, int64_t count)
{
    const bool nhwc = d->t.layout == CNN_NHWC;
    const I c = static_cast<I>(d->ic);
    return {{nhwc, c, static_cast<I>(d->ih), static_cast<I>(d->iw)},
            {nhwc, c, static_cast<I>(d->oh), static_cast<I>(d->ow)},
            d->kind,
            static_cast<I>(count),
            static_cast<I>(d->kh),
            static_cast<I>(d->kw),
            static_cast<I>(d->sh),
            static_cast<I>(d->sw),
            static_cast<I>(d->ph),
            static_cast<I>(d->pw),
            static_cast<I>(d->dh + 1),
            static_cast<I>(d->dw + 1)};
}

static bool small(const cnn_pool_desc *d)
{
    return cuda_fits_32(d->mb * d->ic * d->ih * d->iw) && cuda_fits_32(d->mb * d->ic * d->oh * d->ow) &&
           pool_axis_fits_32(d->ih, d->ph, d->kh, d->dh) && pool_axis_fits_32(d->iw, d->pw, d->kw, d->dw) &&
           cuda_fits_32(d->kh * d->kw) && cuda_fits_32(d->sh) && cuda_fits_32(d->sw);
}

cnn_status cuda_pool_fwd(cnn_context *context, const cnn_plan *plan, const cnn_map_fwd_args *a, cnn_error *err)
{
    cuda_context *c = cuda_context_of(context);
    const cnn_pool_desc *d = &plan->problem.u.pool;
    const int64_t count = d->mb * d->ic * d->oh * d->ow;
    if (d->kind == CNN_POOL_GLOBAL_AVG) return global_avg(c, plan, a->x, a->y, err);
    if (plan->problem.op == CNN_OP_POOL3D) return cuda_pool3d_fwd(c, plan, a, err);
    const cuda_shape shape = cuda_shape_pointwise(c, plan->knobs, "pool_fwd", count);
    return CUDA_BY_NUMBERS(d->t.dtype, small(d), int32_t, int64_t,
                           cuda_launch(c, shape, err, pool_fwd_kernel<T, I>, shape_of<I>(d, count), a->x, a->y));
}

cnn_status cuda_pool_bwd(cnn_context *context, const cnn_plan *plan, const cnn_map_bwd_args *a, cnn_error *err)
{
    cuda_context *c = cuda_context_of(context);
    const cnn_pool_desc *d = &plan->problem.u.pool;
    const int64_t count = d->mb * d->ic * d->ih * d->iw;
    if (d->kind == CNN_POOL_GLOBAL_AVG) return global_spread(c, plan, a->dy, a->dx, err);
    if (plan->problem.op == CNN_OP_POOL3D) return cuda_pool3d_bwd(c, plan, a, err);
    const cuda_shape shape = cuda_shape_pointwise(c, plan->knobs, "pool_bwd", count);
    return CUDA_BY_NUMBERS(
        d->t.dtype, small(d), int32_t, int64_t,
        cuda_launch(c, shape, err, pool_bwd_kernel<T, I>, shape_of<I>(d, count), a->x, a->dy, a->dx));
}
