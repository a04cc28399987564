/* depthwise.h: convolutions in which each group has one input channel, as MobileNet's (C++): what the three kernels of
 * the algorithm `depthwise` share.
 *
 * There is nothing to be reused between channels: a kernel of K x K does 2*K*K operations for each number that it must
 * move, so memory is the limit, as long as a thread spends few instructions on where its numbers are. A thread computes
 * a tile: ROWS outputs one below the other, of V numbers that lie side by side in memory, V columns of NCHW or V
 * channels of NHWC (LAST), which it loads and stores together. Rows that several outputs need it reads once. It finds
 * its place by multiplications instead of divisions, and asks once which of its columns and rows lie inside.
 * Kernels are compiled for sides of 3, 5 and 7, and for strides S of 1 and 2 without dilation; S = 0 is any other
 * stride, dilation, and number of outputs a channel or, in NHWC, of channels: there V = 1, and no row is shared. */
#ifndef IMPL_CUDA_NAIVE_DEPTHWISE_H
#define IMPL_CUDA_NAIVE_DEPTHWISE_H

#include "harness/cuda/divide.h"
#include "impl_cuda_naive/shape.h"

static constexpr int32_t DEPTHWISE_THREADS = 256;
#define DEPTHWISE_CASES(CASE)                                                                                          \
    CASE(3, 1) CASE(3, 2) CASE(3, 0) CASE(5, 1) CASE(5, 2) CASE(5, 0) CASE(7, 1) CASE(7, 2) CASE(7, 0)

template <int SIDE, int STRIDE, bool IN_NHWC, int TOGETHER> struct depthwise_tile {
    static constexpr int K = SIDE, S = STRIDE, V = TOGETHER;
    static constexpr bool LAST = IN_NHWC;
    static constexpr int ROWS = S > 0 && V < 4 && !LAST ? 8 : 4;
    static constexpr int COLUMNS = LAST ? 1 : V, CHANNELS = LAST ? V : 1;
    static constexpr int WIDTH = (COLUMNS - 1) * S + K; /* columns that a row of it reads, where S > 0 */
    static constexpr bool STAYS = LAST && S > 0;        /* a thread's next tile is of the same channels */
    /* Blocks a multiprocessor that there are registers for, unless f64's. */
    static constexpr int RESIDENT = STAYS || K == 7 ? 2 : K == 5 ? 3 : 4;
};

typedef conv_shape<int32_t> depthwise_shape;

/* A plane of one image and channel: of x or of y. */
template <typename T> struct depthwise_plane {
    const T *at;
    int32_t rows, cols, row, col; /* sizes, strides */
};

/* mb x channels x bands x columns of tiles, in the order in which numbers lie in memory. */
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

/* V numbers side by side, which begin at a multiple of V. */
template <int V, typename T> struct alignas(V * sizeof(T) < 16 ? V * sizeof(T) : 16) depthwise_pack {
    T v[V];
};

/* Zeros where there is nothing. */
template <int V, typename T>
static __device__ inline void depthwise_load(const T *from, bool there, cuda_real<T> *values)
{
    depthwise_pack<V, T> pack = {};
    if (there) pack = *reinterpret_cast<const depthwise_pack<V, T> *>(from);
#pragma unroll
    for (int v = 0; v < V; v++) values[v] = cuda_load(pack.v[v]);
}
template <int V, typename R>
static __device__ inline void depthwise_store(R *to, const cuda_real<R> (&sums)[V], bool add)
{
    depthwise_pack<V, R> pack;
#pragma unroll
    for (int v = 0; v < V; v++) pack.v[v] = cuda_stored<R>(add ? cuda_load(to[v]) + sums[v] : sums[v]);
    *reinterpret_cast<depthwise_pack<V, R> *>(to) = pack;
}

template <int WIDTH> static __device__ inline void depthwise_inside(int32_t left, int32_t cols, bool (&inside)[WIDTH])
{
#pragma unroll
    for (int j = 0; j < WIDTH; j++) inside[j] = left + j >= 0 && left + j < cols;
}

/* A row of what a tile reads, zeros outside of the image; WHOLE: the row is inside, and in NHWC all columns are. Of
 * several columns in NCHW the first K/2 lie before a multiple of V, and those of the tile's outputs are inside. */
template <typename G, bool WHOLE, typename T>
static __device__ inline void depthwise_line(const depthwise_plane<T> &p, const T *from, int32_t row,
                                             const bool (&inside)[G::WIDTH],
                                             cuda_real<T> (&line)[G::WIDTH][G::CHANNELS])
{
    constexpr int BEFORE = G::COLUMNS > 1 ? G::K / 2 : G::WIDTH, PACKED = G::COLUMNS > 1 ? G::COLUMNS * G::S : 0;
    const bool exists = WHOLE || (row >= 0 && row < p.rows);
#pragma unroll
    for (int j = 0; j < G::WIDTH; j++) {
        if (j >= BEFORE && j < BEFORE + PACKED) continue;
        depthwise_load<G::CHANNELS>(from + j * (G::LAST ? p.col : 1), exists && ((WHOLE && G::LAST) || inside[j]),
                                    line[j]);
    }
#pragma unroll
    for (int j = 0; j < PACKED; j += 4)
        depthwise_load<PACKED % 4 == 0 ? 4 : 2>(from + BEFORE + j, exists, line[BEFORE + j]);
}

/* Of a tile's channels, as they lie in memory, in their order or (mode convolution) backwards. */
template <typename G, typename T>
static __device__ inline void depthwise_take(const depthwise_shape &s, const T *from,
                                             cuda_real<T> (&weights)[G::K][G::K][G::CHANNELS])
{
    constexpr int K = G::K, C = G::CHANNELS;
    const bool backwards = s.w.j < 0;
    cuda_real<T> all[C * K * K];
#pragma unroll
    for (int t = 0; t < C * K * K; t += C) depthwise_load<C>(from + t, true, &all[t]);
#pragma unroll
    for (int c = 0; c < C; c++)
#pragma unroll
        for (int t = 0; t < K * K; t++) weights[t / K][t % K][c] = all[c * K * K + (backwards ? K * K - 1 - t : t)];
}
template <typename G, typename T>
static __device__ inline void depthwise_weights(const depthwise_shape &s, const T *w, int32_t k,
                                                cuda_real<T> (&weights)[G::K][G::K][G::CHANNELS])
{
    depthwise_take<G>(s, w + k * s.w.k, weights);
}

/* The same where a thread stays with its channels: a block's lie side by side, so that it reads them in one piece into
 * shared memory, some at a time. All of its threads must come. */
template <typename G, typename T>
static __device__ inline void depthwise_weights_of_block(const depthwise_shape &s, const T *w,
                                                         const cuda_divisor &packs,
                                                         cuda_real<T> (&weights)[G::K][G::K][G::CHANNELS])
{
    constexpr int SIZE = G::CHANNELS * G::K * G::K, SLOTS = sizeof(T) < 8 ? 128 : 64;
    CUDA_SHARED(T, staged, [SLOTS * SIZE]);
    const bool all = packs.d <= DEPTHWISE_THREADS;
    int32_t mine = (int32_t)threadIdx.x, first = (int32_t)(blockIdx.x * DEPTHWISE_THREADS);
    if (all) mine += first, first = 0; /* or as many as there are threads, which go round at the last channel */
    if (all) mine = cuda_split(&mine, packs);
    first = cuda_split(&first, packs);
    for (int32_t from = 0; from < min(packs.d, DEPTHWISE_THREADS); from += SLOTS) {
        const int32_t count = min(SLOTS, min(packs.d, DEPTHWISE_THREADS) - from) * SIZE;
        __syncthreads();
        for (int32_t i = (int32_t)threadIdx.x; i < count; i += DEPTHWISE_THREADS) {
            int32_t pack = first + from + i / SIZE;
            if (pack >= packs.d) pack -= packs.d;
            staged[i] = w[pack * SIZE + i % SIZE];
        }
        __syncthreads();
        if (mine >= from && mine < from + SLOTS) depthwise_take<G>(s, &staged[(mine - from) * SIZE], weights);
    }
}

template <typename G, bool WHOLE, typename T, typename F>
static __device__ inline void depthwise_dense(const depthwise_plane<T> &p, int32_t top, int32_t left,
                                              const bool (&inside)[G::WIDTH], F each)
{
    constexpr int K = G::K, S = G::S;
    const T *from = p.at + (top * p.row + left * (G::LAST ? p.col : 1));
#pragma unroll
    for (int t = 0; t < (G::ROWS - 1) * S + K; t++, from += p.row) {
        cuda_real<T> line[G::WIDTH][G::CHANNELS];
        depthwise_line<G, WHOLE>(p, from, top + t, inside, line);
#pragma unroll
        for (int r = 0; r < G::ROWS; r++) {
            if (t < r * S || t >= r * S + K) continue;
#pragma unroll
            for (int j = 0; j < K; j++)
#pragma unroll
                for (int v = 0; v < G::V; v++) {
                    if constexpr (G::LAST)
                        each(r, t - r * S, j, v, line[j][v]);
                    else
                        each(r, t - r * S, j, v, line[v * S + j][0]);
                }
        }
    }
}

/* Gives each(r, i, j, v, value) what output (r, v) of a tile reads through tap (i, j): rows from top to bottom, each
 * number loaded once. Most tiles lie inside the image, so small kernels, of few products, ask that once. */
template <typename G, typename T, typename F>
static __device__ inline void depthwise_band(const depthwise_shape &s, const depthwise_plane<T> &p, int32_t top,
                                             int32_t left, F each)
{
    constexpr int K = G::K;
    if constexpr (G::S > 0) {
        bool inside[G::WIDTH];
        const bool whole = K == 3 && top >= 0 && top + (G::ROWS - 1) * G::S + K <= p.rows &&
                           (!G::LAST || (left >= 0 && left + K <= p.cols));
        depthwise_inside<G::WIDTH>(left, p.cols, inside);
        if (whole)
            depthwise_dense<G, K == 3>(p, top, left, inside, each);
        else
            depthwise_dense<G, false>(p, top, left, inside, each);
    } else {
#pragma unroll
        for (int r = 0; r < G::ROWS; r++)
#pragma unroll
            for (int i = 0; i < K; i++) {
                const int32_t row = top + r * s.sh + i * s.dh;
#pragma unroll
                for (int j = 0; j < K; j++) {
                    const int32_t col = left + j * s.dw;
                    const bool inside = row >= 0 && row < p.rows && col >= 0 && col < p.cols;
                    each(r, i, j, 0, inside ? cuda_load(p.at[row * p.row + col * p.col]) : 0);
                }
            }
    }
}

/* On the host: which tile serves a problem. */
struct depthwise_choice {
    int stride, together; /* S and V */
};

/* Of NHWC, by the registers that a thread has for V x K x K weights; f64 takes twice as many. */
template <typename T> static constexpr int depthwise_channels(int k)
{
    return sizeof(T) > 4 || k > 5 ? 1 : k > 3 ? 2 : 4;
}
/* Of NCHW with a stride of 2, so that a thread loads packs of 4 numbers of x, or stores them, in BWD_D. */
static constexpr __host__ __device__ int depthwise_halves(bool bwd_d) { return bwd_d ? 4 : 2; }
/* Where `aligned`, packs of the rows of x, whole ones, begin at multiples of them. */
static inline int depthwise_columns(const cnn_conv_desc *d, bool bwd_d, bool aligned)
{
    if (!aligned || d->oc != d->ic || d->t.dtype == CNN_F64) return 1;
    if (d->iw % 4 == 0) return d->sw == 2 ? depthwise_halves(bwd_d) : 4;
    return d->iw % 2 == 0 && d->sw == 1 && d->kw == 3 ? 2 : 1;
}
/* `aligned`: with the padding, a tile of several columns lies as depthwise_line() says, or as dx's packs do. */
static inline depthwise_choice depthwise_choose(const cnn_conv_desc *d, bool bwd_d, bool aligned)
{
    const int stride = d->sh == d->sw && d->sh <= 2 && d->dh == 0 && d->dw == 0 ? (int)d->sh : 0;
    const int channels =
        d->t.dtype == CNN_F64 ? depthwise_channels<double>((int)d->kw) : depthwise_channels<float>((int)d->kw);
    if (d->t.layout == CNN_NCHW) return {stride, stride > 0 ? depthwise_columns(d, bwd_d, aligned) : 1};
    if (d->oc != d->ic || d->ic % channels != 0) return {0, 1};
    return {stride, stride > 0 ? channels : 1};
}
static inline int depthwise_rows(const cnn_conv_desc *d, const depthwise_choice &of)
{
    return of.stride > 0 && of.together < 4 && d->t.layout == CNN_NCHW ? 8 : 4;
}

/* call(depthwise_tile<...>()) for the tile that was chosen; CNN_INTERNAL if there is none. */
template <typename T, bool LAST, bool BWD_D, int K, int S, typename F>
static inline cnn_status depthwise_with(int together, F call)
{
    if constexpr (S == 0) {
        return call(depthwise_tile<K, 0, LAST, 1>());
    } else if constexpr (LAST) {
        return call(depthwise_tile<K, S, true, depthwise_channels<T>(K)>());
    } else {
        constexpr int WIDE = S == 2 ? depthwise_halves(BWD_D) : 4;
        if constexpr (sizeof(T) < 8)
            if (together == WIDE) return call(depthwise_tile<K, S, false, WIDE>());
        if constexpr (sizeof(T) < 8 && K == 3 && S == 1)
            if (together == 2) return call(depthwise_tile<K, S, false, 2>());
        return call(depthwise_tile<K, S, false, 1>());
    }
}
template <typename T, bool LAST, bool BWD_D, typename F>
static inline cnn_status depthwise_call(const cnn_conv_desc *d, const depthwise_choice &of, F call)
{
#define CASE(k, s)                                                                                                     \
    if (d->kh == (k) && of.stride == (s)) return depthwise_with<T, LAST, BWD_D, k, s>(of.together, call);
    DEPTHWISE_CASES(CASE)
#undef CASE
    return CNN_INTERNAL;
}

static inline depthwise_grid depthwise_grid_of(int64_t mb, int64_t channels, int64_t bands, int64_t cols)
{
    return {cuda_divide_by(channels), cuda_divide_by(bands), cuda_divide_by(cols),
            (int32_t)(mb * channels * bands * cols)};
}
/* A grid-stride loop over tiles. Where a thread stays with its channels, there are no more blocks than run at once, and
 * a multiple of as many as make its next tile one of them. */
static inline void depthwise_put_stride(const cuda_context *context, const cnn_request *r, const depthwise_grid &g,
                                        bool stays, naive_launch *l)
{
    const int64_t most = r->knobs[NAIVE_KNOB_DEPTHWISE_BLOCKS];
    naive_put_stride(context, g.count, DEPTHWISE_THREADS, stays ? smaller(most, 2) : most, l); /* RESIDENT */
    if (!stays) return;
    int64_t a = g.by_channels.d, b = DEPTHWISE_THREADS; /* their greatest common divisor */
    while (b > 0) {
        const int64_t rest = a % b;
        a = b, b = rest;
    }
    const int64_t step = g.by_channels.d / a;
    l->grid[0] = l->grid[0] < step ? step : l->grid[0] / step * step;
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
