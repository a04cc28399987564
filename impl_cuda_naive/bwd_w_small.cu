/* bwd_w_small.cu: the gradient of the weights by the algorithm `small`: one launch, a cluster 36 weights.
 *
 * What changed against version 3: the bias's gradient comes with it, and parts of a sum meet in the blocks' shared
 * memory, not in a second launch. A thread has 9 taps of 4 output channels and one input channel, 36 sums, and 4 more
 * of dy: for a pixel it loads 9 numbers of x and 4 of dy, and has two pixels under way. Then a warp adds up its lanes'
 * sums: at each step a lane gives away half of its sums, and gets the other half of its partner's, so that 40 of them
 * take 40 shuffles, where sum by sum would take 200. The blocks of a cluster share its pixels, and the first one adds
 * up their sums. The order is fixed by the problem and by how large clusters can be, so results are the same each time.
 * Expected bottleneck: the launch; of many images, the loads. */
#include "harness/cuda/cluster.h"
#include "impl_cuda_naive/shape.h"

enum {
    SMALL_THREADS = 256,
    SMALL_CHANNELS = 4,
    SMALL_TAPS = 9,
    SMALL_SUMS = SMALL_CHANNELS * (SMALL_TAPS + 1), /* those of dy behind the others */
    SMALL_CLUSTER = 8                               /* as every device with clusters has them */
};

/* grid.x: clusters for batches of taps, for input channels of a group, for quads of output channels, for groups. */
struct small_gradient {
    conv_shape<int32_t> s;
    int32_t batches, quads, pixels, cluster; /* pixels: of all images */
};

/* What a cluster computes: its first tap, input channel of a group, first output channel, how many of them. */
struct small_part {
    int32_t t0, c, k, channels, group, rank;
};

static __device__ inline small_part part_of(const small_gradient &g)
{
    const int32_t cluster = (int32_t)blockIdx.x / g.cluster, rank = (int32_t)blockIdx.x - cluster * g.cluster;
    const int32_t batch = cluster % g.batches, c = cluster / g.batches % g.s.group_ic;
    const int32_t quad = cluster / g.batches / g.s.group_ic, group = quad / g.quads;
    const int32_t first = (quad - group * g.quads) * SMALL_CHANNELS;
    const int32_t channels = min((int32_t)SMALL_CHANNELS, g.s.group_oc - first);
    return {batch * SMALL_TAPS, c, group * g.s.group_oc + first, channels, group, rank};
}

/* A pixel of dy; another one is as far behind it. */
struct small_pixel {
    int32_t n, p, q;

    __device__ inline void go(const conv_shape<int32_t> &s, const small_pixel &by)
    {
        q += by.q, p += by.p, n += by.n;
        if (q >= s.ow) q -= s.ow, p++;
        if (p >= s.oh) p -= s.oh, n++;
    }
};
static __device__ inline small_pixel pixel_at(const conv_shape<int32_t> &s, int32_t m)
{
    const int32_t line = m / s.ow, n = line / s.oh;
    return {n, line - n * s.oh, m - line * s.ow};
}

/* The taps of a part, and their places in x from a window's corner. */
struct small_taps {
    int32_t rows[SMALL_TAPS], cols[SMALL_TAPS];
};
static __device__ inline small_taps taps_of(const conv_shape<int32_t> &s, int32_t t0)
{
    small_taps taps;
#pragma unroll
    for (int t = 0; t < SMALL_TAPS; t++) {
        const int32_t tap = t0 + t, row = tap / s.kw;
        taps.rows[t] = tap < s.kh * s.kw ? row * s.dh : INT32_MIN / 2; /* outside of every image */
        taps.cols[t] = (tap - row * s.kw) * s.dw;
    }
    return taps;
}

/* What a pixel of dy is multiplied with, and dy; zeros if it does not exist. */
template <typename R> struct small_factors {
    R x[SMALL_TAPS], dy[SMALL_CHANNELS];
};
template <typename T>
static __device__ inline small_factors<cuda_real<T>> factors_of(const conv_shape<int32_t> &s, const small_taps &taps,
                                                                const T *x, const T *dy, const small_pixel &at,
                                                                int32_t channels, bool exists)
{
    const int32_t h = at.p * s.sh - s.ph, v = at.q * s.sw - s.pw;
    const T *image = x + (int64_t)at.n * s.x.n;
    const T *pixel = dy + (int64_t)at.n * s.y.n + at.p * s.y.h + at.q * s.y.w;
    small_factors<cuda_real<T>> f;
#pragma unroll
    for (int r = 0; r < SMALL_CHANNELS; r++) f.dy[r] = exists && r < channels ? cuda_load(pixel[r * s.y.c]) : 0;
#pragma unroll
    for (int t = 0; t < SMALL_TAPS; t++) {
        const int32_t a = h + taps.rows[t], b = v + taps.cols[t];
        const bool inside = exists && a >= 0 && a < s.ih && b >= 0 && b < s.iw;
        f.x[t] = inside ? cuda_load(image[a * s.x.h + b * s.x.w]) : 0;
    }
    return f;
}

template <typename R> static __device__ inline void add_products(const small_factors<R> &f, R (&sums)[SMALL_SUMS])
{
#pragma unroll
    for (int r = 0; r < SMALL_CHANNELS; r++) {
#pragma unroll
        for (int t = 0; t < SMALL_TAPS; t++) sums[r * SMALL_TAPS + t] += f.dy[r] * f.x[t];
        sums[SMALL_CHANNELS * SMALL_TAPS + r] += f.dy[r];
    }
}

/* This thread's pixels, two at a time, so that 26 loads are under way. */
template <typename T>
static __device__ inline void add_pixels(const small_gradient &g, const small_part &part, const T *x, const T *dy,
                                         cuda_real<T> (&sums)[SMALL_SUMS])
{
    const conv_shape<int32_t> &s = g.s;
    const small_taps taps = taps_of(s, part.t0);
    const int32_t begin = part.rank * SMALL_THREADS + (int32_t)threadIdx.x, step = g.cluster * SMALL_THREADS;
    const small_pixel by = pixel_at(s, step);
    small_pixel at = pixel_at(s, begin);
    for (int32_t left = g.pixels - begin; left > 0; left -= 2 * step) {
        small_pixel next = at;
        next.go(s, by);
        const small_factors<cuda_real<T>> one = factors_of(s, taps, x, dy, at, part.channels, true);
        const small_factors<cuda_real<T>> two = factors_of(s, taps, x, dy, next, part.channels, left > step);
        add_products(one, sums);
        add_products(two, sums);
        at = next;
        at.go(s, by);
    }
}

/* Of `count` sums a lane keeps one half, added to its partner's, who keeps the other one. Which sum is the first of
 * those that are left, is added to `first`. */
template <typename T, int COUNT, int STEP> static __device__ inline void fold(T (&sums)[SMALL_SUMS], int32_t *first)
{
    constexpr int HALF = (COUNT + 1) / 2;
    const bool upper = ((int32_t)threadIdx.x & STEP) != 0;
#pragma unroll
    for (int i = 0; i < HALF; i++) {
        const T low = sums[i], high = HALF + i < COUNT ? sums[HALF + i] : 0;
        sums[i] = (upper ? high : low) + __shfl_xor_sync(0xffffffffu, upper ? low : high, STEP);
    }
    if (upper) *first += HALF;
    if constexpr (STEP > 1) fold<T, HALF, STEP / 2>(sums, first);
}

/* Where sum `i` of the cluster goes; NULL: nowhere. */
template <typename R>
static __device__ inline R *place_of(const small_gradient &g, const small_part &part, int32_t i, R *dw, R *db)
{
    const conv_shape<int32_t> &s = g.s;
    if (i >= SMALL_CHANNELS * SMALL_TAPS) {
        const int32_t r = i - SMALL_CHANNELS * SMALL_TAPS;
        return db != NULL && part.c == 0 && part.t0 == 0 && r < part.channels ? &db[part.k + r] : NULL;
    }
    const int32_t r = i / SMALL_TAPS, t = part.t0 + i - r * SMALL_TAPS, row = t / s.kw, col = t - row * s.kw;
    if (r >= part.channels || t >= s.kh * s.kw) return NULL;
    return &dw[s.w.first + (part.k + r) * s.w.k + part.c * s.w.c + row * s.w.i + col * s.w.j];
}

template <typename T, typename R>
static __global__ void __launch_bounds__(SMALL_THREADS)
    bwd_w_small(small_gradient g, const T *__restrict__ x, const T *__restrict__ dy, R *__restrict__ dw,
                R *__restrict__ db, bool add)
{
    CUDA_DYNAMIC_SHARED(cuda_real<T>, kept); /* the warps' sums; before them the block's */
    const conv_shape<int32_t> &s = g.s;
    const int32_t thread = (int32_t)threadIdx.x, warp = thread / 32;
    const small_part part = part_of(g);
    int32_t first = 0;
    cuda_real<T> sums[SMALL_SUMS] = {};
    add_pixels(g, part, x + (part.group * s.group_ic + part.c) * s.x.c, dy + part.k * s.y.c, sums);
    fold<cuda_real<T>, SMALL_SUMS, 16>(sums, &first);
    /* 40, 20, 10, 5, 3, 2: the last two times one of a lane's sums may be none. */
#pragma unroll
    for (int32_t i = 0; i < 2; i++) {
        const int32_t of_3 = i + 2 * (thread & 1), of_5 = of_3 + 3 * (thread >> 1 & 1);
        if (of_3 < 3 && of_5 < 5) kept[SMALL_SUMS * (1 + warp) + first + i] = sums[i];
    }
    __syncthreads();
    if (thread < SMALL_SUMS) {
        cuda_real<T> sum = 0;
        for (int32_t w = 1; w <= SMALL_THREADS / 32; w++) sum += kept[SMALL_SUMS * w + thread];
        kept[thread] = sum;
    }
    cuda_cluster_barrier();
    if (part.rank == 0 && thread < SMALL_SUMS) {
        cuda_real<T> sum = 0;
        for (int32_t rank = 0; rank < g.cluster; rank++) sum += *cuda_cluster_peer(&kept[thread], rank);
        R *to = place_of<R>(g, part, thread, dw, db);
        if (to != NULL) cuda_put(to, sum, add);
    }
    cuda_cluster_leave(); /* the first block has read the others' */
}

static cnn_status fit(const cuda_context *context, const cnn_request *r, naive_launch *l, cnn_error *err)
{
    const cnn_conv_desc *d = &r->problem->u.conv;
    const double pixels = (double)d->mb * (double)d->oh * (double)d->ow;
    const cnn_status status = conv_check_32(l->kernel, "v2", d, err);
    if (status != CNN_OK) return status;
    if (pixels > INT32_MAX / 2)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "%s counts %.0f pixels of dy in 31 bits; use algorithm v2", l->kernel,
                        pixels);
    small_gradient g = {conv_shape_of<int32_t>(d), (int32_t)ceil_div(d->kh * d->kw, SMALL_TAPS),
                        (int32_t)ceil_div(d->oc / d->g, SMALL_CHANNELS), (int32_t)pixels, SMALL_CLUSTER};
    while (g.cluster > 1 && (g.pixels < g.cluster * SMALL_THREADS || cuda_clusters_of_code(context, g.cluster) == 0))
        g.cluster /= 2;
    l->grid[0] = (int64_t)g.batches * (d->ic / d->g) * g.quads * d->g * g.cluster;
    l->block[0] = SMALL_THREADS;
    l->cluster = g.cluster;
    l->shared_bytes = SMALL_SUMS * (1 + SMALL_THREADS / 32) * (int64_t)sum_size(d);
    naive_put_args(l, g);
    return CNN_OK;
}

static cnn_status run(cuda_context *context, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    return NAIVE_LAUNCH(context, plan, err, bwd_w_small, naive_args<small_gradient>(plan), a->x, a->dy, a->dw, a->db,
                        a->beta != 0);
}

const naive_kernel naive_bwd_w_small = {"bwd_w_small", fit, run};
