/* pool3d.cu: pooling of three dimensions: forward a thread an output, backward a thread an input pixel, as in pool.cu.
 *
 * In memory the rows of all depths lie behind one another: place (z, h) is row z * ih + h of an image that is id * ih
 * high. Row-major order begins with the depth, so the first of equal maxima is the first that the loops meet. */
#include "harness/cnn/shape.h"
#include "harness/cuda/pool.h"

/* d: the spacing of the taps. */
template <typename I> struct pool3d_axis {
    I in, out, k, s, p, d;
};

/* I is signed, and 32 bits wide where all sums of these fit. */
template <typename I> struct pool3d_shape {
    cuda_extent<I> in, out;
    pool3d_axis<I> z, h, w;
    cnn_pool_kind kind;
    I count; /* of what the threads stand for */
};

/* Where a window begins, and its taps that lie inside. */
template <typename I> struct pool3d_window {
    I z0, h0, w0;
    pool_span<I> z, h, w;
};

template <typename I> __device__ inline pool3d_window<I> window_at(const pool3d_shape<I> &s, I r, I p, I q)
{
    const I z0 = r * s.z.s - s.z.p, h0 = p * s.h.s - s.h.p, w0 = q * s.w.s - s.w.p;
    return {z0,
            h0,
            w0,
            pool_taps_inside(z0, s.z.k, s.z.d, s.z.in),
            pool_taps_inside(h0, s.h.k, s.h.d, s.h.in),
            pool_taps_inside(w0, s.w.k, s.w.d, s.w.in)};
}

/* What the mean of a window divides by. */
template <typename T, typename I>
__device__ inline cuda_real<T> divisor(const pool3d_shape<I> &s, const pool3d_window<I> &v)
{
    const I inside = (v.z.last - v.z.first) * (v.h.last - v.h.first) * (v.w.last - v.w.first);
    return static_cast<cuda_real<T>>(s.kind == CNN_POOL_AVG_PAD ? s.z.k * s.h.k * s.w.k : inside);
}

template <typename T, typename I> __global__ void pool3d_fwd_kernel(pool3d_shape<I> s, const T *x, T *y)
{
    typedef cuda_real<T> real;
    for (CUDA_GRID_STRIDE(i, static_cast<int64_t>(s.count))) {
        const cuda_point<I> o = cuda_point_of(s.out, static_cast<I>(i));
        const pool3d_window<I> v = window_at(s, o.h / s.h.out, o.h % s.h.out, o.w);
        const bool largest = s.kind == CNN_POOL_MAX;
        real result = largest ? -static_cast<real>(INFINITY) : real(0);
        for (I t = v.z.first; t < v.z.last; t++) {
            for (I r = v.h.first; r < v.h.last; r++) {
                const I row = (v.z0 + t * s.z.d) * s.h.in + v.h0 + r * s.h.d;
                for (I k = v.w.first; k < v.w.last; k++) {
                    const real value = cuda_load(x[cuda_index_of(s.in, o.n, o.c, row, v.w0 + k * s.w.d)]);
                    if (largest)
                        result = pool_beats(value, result) ? value : result;
                    else
                        result += value;
                }
            }
        }
        y[i] = cuda_stored<T>(largest ? result : result / divisor<T>(s, v));
    }
}

/* Whether the maximum of the window is the pixel o. */
template <typename T, typename I>
__device__ bool is_winner(const pool3d_shape<I> &s, const T *x, const cuda_point<I> &o, const pool3d_window<I> &v)
{
    typedef cuda_real<T> real;
    bool first = true, mine = false;
    real max = real(0);
    for (I t = v.z.first; t < v.z.last; t++) {
        for (I r = v.h.first; r < v.h.last; r++) {
            const I row = (v.z0 + t * s.z.d) * s.h.in + v.h0 + r * s.h.d;
            for (I k = v.w.first; k < v.w.last; k++) {
                const I w = v.w0 + k * s.w.d;
                const real value = cuda_load(x[cuda_index_of(s.in, o.n, o.c, row, w)]);
                if (!first && !pool_beats(value, max)) continue;
                max = value;
                mine = row == o.h && w == o.w;
                first = false;
            }
        }
    }
    return mine;
}

template <typename I> __device__ inline bool between_taps(const pool3d_axis<I> &a, I at, I output)
{
    return a.d != 1 && (at - output * a.s) % a.d != 0;
}

/* The windows of o's column of windows (r, p) that hold it. */
template <typename T, typename I>
__device__ cuda_real<T> shares(const pool3d_shape<I> &s, const T *x, const T *dy, const cuda_point<I> &o, I r, I p)
{
    const I w = o.w + s.w.p;
    const pool_span<I> over = pool_windows_over(w, s.w.k, s.w.s, s.w.d, s.w.out);
    cuda_real<T> sum = 0;
    for (I q = over.first; q < over.last; q++) {
        if (between_taps(s.w, w, q)) continue;
        const pool3d_window<I> v = window_at(s, r, p, q);
        const cuda_real<T> gradient = cuda_load(dy[cuda_index_of(s.out, o.n, o.c, r * s.h.out + p, q)]);
        if (s.kind != CNN_POOL_MAX)
            sum += gradient / divisor<T>(s, v);
        else if (is_winner(s, x, o, v))
            sum += gradient;
    }
    return sum;
}

template <typename T, typename I>
__global__ void __launch_bounds__(CUDA_BLOCK_MOST, 1)
    pool3d_bwd_kernel(pool3d_shape<I> s, const T *x, const T *dy, T *dx)
{
    for (CUDA_GRID_STRIDE(i, static_cast<int64_t>(s.count))) {
        const cuda_point<I> o = cuda_point_of(s.in, static_cast<I>(i));
        const I z = o.h / s.h.in + s.z.p, h = o.h % s.h.in + s.h.p;
        const pool_span<I> depths = pool_windows_over(z, s.z.k, s.z.s, s.z.d, s.z.out);
        const pool_span<I> rows = pool_windows_over(h, s.h.k, s.h.s, s.h.d, s.h.out);
        cuda_real<T> sum = 0;
        for (I r = depths.first; r < depths.last; r++) {
            if (between_taps(s.z, z, r)) continue;
            for (I p = rows.first; p < rows.last; p++)
                if (!between_taps(s.h, h, p)) sum += shares(s, x, dy, o, r, p);
        }
        dx[i] = cuda_stored<T>(sum);
    }
}

template <typename I> static pool3d_axis<I> axis_of(int64_t in, int64_t out, int64_t k, int64_t s, int64_t p, int64_t d)
{
    return {static_cast<I>(in), static_cast<I>(out), static_cast<I>(k),
            static_cast<I>(s),  static_cast<I>(p),   static_cast<I>(d + 1)};
}

template <typename I> static pool3d_shape<I> shape_of(const cnn_pool_desc *d, int64_t count)
{
    const bool nhwc = d->t.layout == CNN_NHWC;
    const I c = static_cast<I>(d->ic);
    return {{nhwc, c, static_cast<I>(d->id * d->ih), static_cast<I>(d->iw)},
            {nhwc, c, static_cast<I>(d->od * d->oh), static_cast<I>(d->ow)},
            axis_of<I>(d->id, d->od, d->kd, d->sd, d->pd, d->dd),
            axis_of<I>(d->ih, d->oh, d->kh, d->sh, d->ph, d->dh),
            axis_of<I>(d->iw, d->ow, d->kw, d->sw, d->pw, d->dw),
            d->kind,
            static_cast<I>(count)};
}

static bool small(const cnn_pool_desc *d)
{
    return cuda_fits_32(d->mb * d->ic * d->id * d->ih * d->iw) && cuda_fits_32(d->mb * d->ic * d->od * d->oh * d->ow) &&
           pool_axis_fits_32(d->id, d->pd, d->kd, d->dd) && pool_axis_fits_32(d->ih, d->ph, d->kh, d->dh) &&
           pool_axis_fits_32(d->iw, d->pw, d->kw, d->dw) && cuda_fits_32(d->kd * d->kh * d->kw) &&
           cuda_fits_32(d->sd) && cuda_fits_32(d->sh) && cuda_fits_32(d->sw);
}

cnn_status cuda_pool3d_fwd(cuda_context *c, const cnn_plan *plan, const cnn_map_fwd_args *a, cnn_error *err)
{
    const cnn_pool_desc *d = &plan->problem.u.pool;
    const int64_t count = d->mb * d->ic * d->od * d->oh * d->ow;
    const cuda_shape shape = cuda_shape_pointwise(c, plan->knobs, "pool3d_fwd", count);
    return CUDA_BY_NUMBERS(d->t.dtype, small(d), int32_t, int64_t,
                           cuda_launch(c, shape, err, pool3d_fwd_kernel<T, I>, shape_of<I>(d, count), a->x, a->y));
}

cnn_status cuda_pool3d_bwd(cuda_context *c, const cnn_plan *plan, const cnn_map_bwd_args *a, cnn_error *err)
{
    const cnn_pool_desc *d = &plan->problem.u.pool;
    const int64_t count = d->mb * d->ic * d->id * d->ih * d->iw;
    const cuda_shape shape = cuda_shape_pointwise(c, plan->knobs, "pool3d_bwd", count);
    return CUDA_BY_NUMBERS(
        d->t.dtype, small(d), int32_t, int64_t,
        cuda_launch(c, shape, err, pool3d_bwd_kernel<T, I>, shape_of<I>(d, count), a->x, a->dy, a->dx));
}
