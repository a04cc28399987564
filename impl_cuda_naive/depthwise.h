/* depthwise.h: convolutions in which each group has one input channel, as MobileNet's (C++): what the three kernels of
 * the algorithm `depthwise` share.
 *
 * There is nothing to be reused between channels: a kernel of K x K does 2*K*K operations for each number that it must
 * move, so memory is the limit, as long as a thread spends few instructions on where its numbers are. A thread computes
 * a band: some outputs one below the other. It finds its place by multiplications instead of divisions, asks once which
 * of its columns and rows lie inside, and reads rows that several outputs need once. Lanes lie where memory does: along
 * the columns of NCHW, along the channels of NHWC (LAST).
 * Kernels are compiled for sides of 3, 5 and 7, and for strides S of 1 and 2 without dilation; S = 0 is any other
 * stride and dilation, where bands share no rows. */
#ifndef IMPL_CUDA_NAIVE_DEPTHWISE_H
#define IMPL_CUDA_NAIVE_DEPTHWISE_H

#include "harness/cuda/divide.h"
#include "impl_cuda_naive/shape.h"

static constexpr int32_t DEPTHWISE_THREADS = 256;
/* Of a band. */
static constexpr __host__ __device__ int32_t depthwise_rows(int stride) { return stride == 0 ? 4 : 8; }

#define DEPTHWISE_CASES(CASE)                                                                                          \
    CASE(3, 1) CASE(3, 2) CASE(3, 0) CASE(5, 1) CASE(5, 2) CASE(5, 0) CASE(7, 1) CASE(7, 2) CASE(7, 0)

typedef conv_shape<int32_t> depthwise_shape;

/* A plane of one image and channel: of x or of y. */
template <typename T> struct depthwise_plane {
    const T *at;
    int32_t rows, cols, row, col; /* sizes, strides */
};

/* mb x channels x bands x columns, in the order in which numbers lie in memory. */
struct depthwise_grid {
    cuda_divisor by_channels, by_bands, by_cols;
    int32_t count;
};
struct depthwise_place {
    int32_t n, k, band, q;
};

template <bool LAST> static __device__ inline depthwise_place depthwise_place_of(const depthwise_grid &g, int32_t e)
{
    depthwise_place at;
    if (LAST) at.k = cuda_split(&e, g.by_channels);
    at.q = cuda_split(&e, g.by_cols);
    at.band = cuda_split(&e, g.by_bands);
    if (!LAST) at.k = cuda_split(&e, g.by_channels);
    at.n = e;
    return at;
}

template <typename T>
static __device__ inline depthwise_plane<T> depthwise_x(const depthwise_shape &s, const T *x, int32_t n, int32_t c)
{
    return {x + n * s.x.n + c * s.x.c, s.ih, s.iw, s.x.h, s.x.w};
}

template <typename T>
static __device__ inline depthwise_plane<T> depthwise_y(const depthwise_shape &s, const T *y, int32_t n, int32_t k)
{
    return {y + n * s.y.n + k * s.y.c, s.oh, s.ow, s.y.h, s.y.w};
}

/* WIDTH neighbours of a row, from its own place on, zeros where `inside` says no, or the row is none; NCHW's columns
 * are 1 apart. WHOLE: the row is one, and in NHWC all columns are inside. */
template <int WIDTH, bool LAST, bool WHOLE = false, typename T>
static __device__ inline void depthwise_line(const depthwise_plane<T> &p, const T *from, int32_t row,
                                             const bool (&inside)[WIDTH], cuda_real<T> (&line)[WIDTH])
{
    const bool exists = WHOLE || (row >= 0 && row < p.rows);
#pragma unroll
    for (int j = 0; j < WIDTH; j++)
        line[j] = exists && ((WHOLE && LAST) || inside[j]) ? cuda_load(from[j * (LAST ? p.col : 1)]) : 0;
}
/* Where a line would begin. */
template <bool LAST, typename T>
static __device__ inline const T *depthwise_from(const depthwise_plane<T> &p, int32_t row, int32_t left)
{
    return p.at + (row * p.row + left * (LAST ? p.col : 1));
}
template <int WIDTH> static __device__ inline void depthwise_inside(int32_t left, int32_t cols, bool (&inside)[WIDTH])
{
#pragma unroll
    for (int j = 0; j < WIDTH; j++) inside[j] = left + j >= 0 && left + j < cols;
}

/* Output k's, which lie side by side, in their order or (mode convolution) backwards. */
template <int K, typename T>
static __device__ inline void depthwise_weights(const depthwise_shape &s, const T *w, int32_t k,
                                                cuda_real<T> (&weights)[K][K])
{
    const T *from = w + k * s.w.k;
    const bool backwards = s.w.j < 0;
    cuda_real<T> taps[K * K];
#pragma unroll
    for (int t = 0; t < K * K; t++) taps[t] = cuda_load(from[t]);
#pragma unroll
    for (int t = 0; t < K * K; t++) weights[t / K][t % K] = backwards ? taps[K * K - 1 - t] : taps[t];
}

template <int K, int S, bool LAST, bool WHOLE, typename T, typename F>
static __device__ inline void depthwise_dense(const depthwise_plane<T> &p, int32_t top, int32_t left,
                                              const bool (&inside)[K], F each)
{
    constexpr int ROWS = depthwise_rows(S);
    const T *from = depthwise_from<LAST>(p, top, left);
#pragma unroll
    for (int t = 0; t < (ROWS - 1) * S + K; t++, from += p.row) {
        cuda_real<T> line[K];
        depthwise_line<K, LAST, WHOLE>(p, from, top + t, inside, line);
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            if (t < r * S || t >= r * S + K) continue;
#pragma unroll
            for (int j = 0; j < K; j++) each(r, t - r * S, j, line[j]);
        }
    }
}

/* Gives each(r, i, j, v) what output r of a band reads through tap (i, j): rows of a dense band from top to bottom,
 * each number loaded once. Most bands lie inside the image, so small kernels, of few products, ask that once. */
template <int K, int S, bool LAST, typename T, typename F>
static __device__ inline void depthwise_band(const depthwise_shape &s, const depthwise_plane<T> &p, int32_t top,
                                             int32_t left, F each)
{
    constexpr int ROWS = depthwise_rows(S);
    if constexpr (S > 0) {
        bool inside[K];
        const bool whole =
            K == 3 && top >= 0 && top + (ROWS - 1) * S + K <= p.rows && (!LAST || (left >= 0 && left + K <= p.cols));
        depthwise_inside<K>(left, p.cols, inside);
        if (whole)
            depthwise_dense<K, S, LAST, K == 3>(p, top, left, inside, each);
        else
            depthwise_dense<K, S, LAST, false>(p, top, left, inside, each);
    } else {
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
            for (int i = 0; i < K; i++) {
                const int32_t row = top + r * s.sh + i * s.dh;
#pragma unroll
                for (int j = 0; j < K; j++) {
                    const int32_t col = left + j * s.dw;
                    const bool inside = row >= 0 && row < p.rows && col >= 0 && col < p.cols;
                    each(r, i, j, inside ? cuda_load(p.at[row * p.row + col * p.col]) : 0);
                }
            }
    }
}

/* The S of the kernel: see above. */
static inline int depthwise_stride(const cnn_conv_desc *d)
{
    return d->sh == d->sw && d->sh <= 2 && d->dh == 0 && d->dw == 0 ? (int)d->sh : 0;
}
static inline int64_t depthwise_bands(const cnn_conv_desc *d, int64_t rows)
{
    return ceil_div(rows, depthwise_rows(depthwise_stride(d)));
}
static inline depthwise_grid depthwise_grid_of(int64_t mb, int64_t channels, int64_t bands, int64_t cols)
{
    return {cuda_divide_by(channels), cuda_divide_by(bands), cuda_divide_by(cols),
            (int32_t)(mb * channels * bands * cols)};
}

static inline cnn_status depthwise_check(const cnn_conv_desc *d, cnn_error *err)
{
    if (d->ic != d->g)
        return CNN_FAIL(err, CNN_UNSUPPORTED,
                        "depthwise takes groups of one input channel, and a group has %lld here: use %s",
                        (long long)(d->ic / d->g), cuda_has_half(d->t.dtype) ? "v2" : "v4");
    if (d->kh != d->kw || (d->kh != 3 && d->kh != 5 && d->kh != 7))
        return CNN_FAIL(err, CNN_UNSUPPORTED, "depthwise takes kernels of 3x3, 5x5 and 7x7, not %lldx%lld: use v2",
                        (long long)d->kh, (long long)d->kw);
    if (!conv_fits_32(d, d->mb))
        return CNN_FAIL(err, CNN_UNSUPPORTED, "depthwise counts in 32 bits, and this is too large for that: use v2");
    return CNN_OK;
}

#endif
