/* bwd_w_depthwise.cu: gradient of the weights of groups of one input channel (depthwise.h).
 *
 * A thread takes tiles of dy, and keeps the K*K sums of its channels, and the biases', in registers. A block has one
 * channel of NCHW, its threads lie along the columns, or up to 32 V channels of NHWC, a warp's lanes or a part of them.
 * The tiles of all images are cut into `splits` parts, so that there are blocks enough; each block leaves its sums in
 * the workspace, and a second kernel adds them up in their order. So the bits are the same in every run. */
#include "impl_cuda_naive/depthwise.h"

static constexpr int32_t LANES = 32, WARPS = DEPTHWISE_THREADS / LANES;

struct depthwise_parts {
    cuda_divisor by_bands, by_cols;
    int32_t splits;
    int32_t lanes; /* a power of 2: threads of a block side by side along the channels; the others are at other tiles */
    int64_t items; /* tiles of a channel of all images */
};

/* Blocks a multiprocessor, by the sums that a thread keeps in registers. */
static constexpr int resident_with(int sums) { return sums <= 26 ? 4 : 2; }
template <typename G> static constexpr int resident = resident_with((G::K * G::K + 1) * G::CHANNELS);

/* One tile of dy, and what its taps read. */
template <typename G, typename T>
static __device__ inline void add_item(const depthwise_shape &s, const depthwise_parts &parts, const T *x, const T *dy,
                                       int32_t item, cuda_real<T> (&sums)[G::K * G::K + 1][G::CHANNELS])
{
    constexpr int K = G::K, ROWS = G::ROWS, V = G::V;
    const int32_t q = cuda_split(&item, parts.by_cols) * G::COLUMNS, n = cuda_divided(item, parts.by_bands),
                  first = (item - n * parts.by_bands.d) * ROWS;
    const T *from = dy + n * s.y.n + first * s.y.h + q * s.y.w;
    cuda_real<T> d[ROWS][V];
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        depthwise_load<V>(from + r * s.y.h, first + r < s.oh, d[r]);
#pragma unroll
        for (int v = 0; v < V; v++) sums[K * K][G::LAST ? v : 0] += d[r][v];
    }
    depthwise_band<G>(
        s, depthwise_x(s, x, n, 0), first * s.sh - s.ph, q * s.sw - s.pw,
        [&](int r, int i, int j, int v, cuda_real<T> value) { sums[i * K + j][G::LAST ? v : 0] += d[r][v] * value; });
}

/* What the threads of a block summed of each channel, into `to`, a channel's COUNT sums side by side; `channels` of the
 * block's exist. All of its threads must come. */
template <int COUNT, int C, typename U>
static __device__ inline void leave_sums(U (&sums)[COUNT][C], int32_t lanes, int32_t channels, U *to)
{
    constexpr int AT_ONCE = 8;
    CUDA_SHARED(U, shares, [AT_ONCE][WARPS][LANES * C]);
    const int32_t warp = (int32_t)threadIdx.x / LANES, lane = (int32_t)threadIdx.x % LANES, width = lanes * C;
#pragma unroll
    for (int first = 0; first < COUNT; first += AT_ONCE) {
        const int32_t count = COUNT - first < AT_ONCE ? COUNT - first : AT_ONCE;
#pragma unroll
        for (int e = 0; e < AT_ONCE; e++) {
            if (first + e >= COUNT) continue;
#pragma unroll
            for (int c = 0; c < C; c++) {
                U sum = sums[first + e][c];
                for (int32_t step = LANES / 2; step >= lanes; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
                if (lane < lanes) shares[e][warp][lane * C + c] = sum;
            }
        }
        __syncthreads();
        for (int32_t i = (int32_t)threadIdx.x; i < count * width; i += DEPTHWISE_THREADS) {
            const int32_t e = i / width, k = i % width;
            U sum = 0;
#pragma unroll
            for (int other = 0; other < WARPS; other++) sum += shares[e][other][k];
            if (k < channels) to[k * COUNT + first + e] = sum;
        }
        __syncthreads();
    }
}

template <typename T, typename G>
static __global__ void __launch_bounds__(DEPTHWISE_THREADS, sizeof(T) < 8 ? resident<G> : 1)
    bwd_w_depthwise(depthwise_shape s, const T *__restrict__ x, const T *__restrict__ dy,
                    cuda_real<T> *__restrict__ parts, depthwise_parts p)
{
    constexpr int COUNT = G::K * G::K + 1, C = G::CHANNELS;
    const int32_t begin = (int32_t)(p.items * blockIdx.y / p.splits),
                  end = (int32_t)(p.items * (blockIdx.y + 1) / p.splits);
    const int32_t line = (int32_t)threadIdx.x / p.lanes, lines = DEPTHWISE_THREADS / p.lanes;
    const int32_t first = (int32_t)blockIdx.x * p.lanes * C, k = first + (int32_t)threadIdx.x % p.lanes * C;
    cuda_real<T> sums[COUNT][C] = {};
    if (k < s.oc)
        for (int32_t item = begin + line; item < end; item += lines)
            add_item<G>(s, p, x + k / s.group_oc * s.x.c, dy + k * s.y.c, item, sums);
    leave_sums<COUNT, C>(sums, p.lanes, s.oc - first, parts + ((int64_t)blockIdx.y * s.oc + first) * COUNT);
}

static constexpr int32_t ADD_WIDTH = 32, ADD_LINES = 16;

/* ADD_WIDTH weights or biases a block; its lines share the splits. */
template <typename T, typename R>
static __global__ void __launch_bounds__(ADD_WIDTH *ADD_LINES)
    add_splits(depthwise_shape s, const cuda_real<T> *__restrict__ parts, R *__restrict__ dw, R *__restrict__ db,
               int32_t splits, bool add)
{
    CUDA_SHARED(cuda_real<T>, shares, [ADD_LINES][ADD_WIDTH]);
    const int32_t lane = (int32_t)threadIdx.x % ADD_WIDTH, line = (int32_t)threadIdx.x / ADD_WIDTH;
    const int32_t all = s.kh * s.kw + 1, count = s.oc * all, e = (int32_t)blockIdx.x * ADD_WIDTH + lane;
    cuda_real<T> sum = 0;
    if (e < count)
        for (int32_t z = line; z < splits; z += ADD_LINES) sum += parts[(int64_t)z * count + e];
    shares[line][lane] = sum;
    __syncthreads();
    if (line > 0 || e >= count) return;
    for (int32_t other = 1; other < ADD_LINES; other++) sum += shares[other][lane];
    const int32_t k = e / all, tap = e % all;
    if (tap == all - 1 && db == NULL) return;
    R *to = tap == all - 1 ? db + k : dw + s.w.first + k * s.w.k + tap / s.kw * s.w.i + tap % s.kw * s.w.j;
    cuda_put(to, sum, add);
}

static depthwise_choice choose(const cnn_conv_desc *d) { return depthwise_choose(d, false, d->pw == d->kw / 2); }

/* Blocks along the channels, and into how many parts their tiles are cut. */
static depthwise_parts parts_of(const cuda_context *context, const cnn_conv_desc *d, int64_t *blocks)
{
    const int64_t least = 2; /* tiles a thread of a part */
    const depthwise_choice of = choose(d);
    const bool last = d->t.layout == CNN_NHWC;
    const int64_t full =
        context->properties.multiProcessorCount * resident_with((int)(d->kh * d->kw + 1) * (last ? of.together : 1));
    const int64_t bands = ceil_div(d->oh, depthwise_rows(d, of)), packs = d->oc / (last ? of.together : 1),
                  columns = d->ow / (last ? 1 : of.together);
    depthwise_parts p = {cuda_divide_by(bands), cuda_divide_by(columns), 1, 1, d->mb * bands * columns};
    while (last && p.lanes < LANES && p.lanes < packs) p.lanes *= 2;
    *blocks = ceil_div(packs, p.lanes);
    const int64_t most = smaller(ceil_div(p.items, DEPTHWISE_THREADS / p.lanes * least), 1024);
    p.splits = (int32_t)smaller(full > *blocks ? full / *blocks : 1, most);
    return p;
}

static cnn_status fit(const cuda_context *context, const cnn_request *r, naive_launch *l, cnn_error *err)
{
    const cnn_conv_desc *d = &r->problem->u.conv;
    const cnn_status status = depthwise_check(d, err);
    if (status != CNN_OK) return status;
    const depthwise_parts p = parts_of(context, d, &l->grid[0]);
    l->grid[1] = p.splits;
    l->block[0] = DEPTHWISE_THREADS;
    l->workspace_bytes = (size_t)(p.splits * d->oc * (d->kh * d->kw + 1)) * sum_size(d);
    naive_put_args(l, p);
    return CNN_OK;
}

template <typename T, typename R, bool LAST>
static cnn_status launch(cuda_context *context, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const cnn_conv_desc *d = &plan->problem.u.conv;
    const depthwise_shape s = conv_shape_of<int32_t>(d);
    const depthwise_parts p = naive_args<depthwise_parts>(plan);
    cuda_real<T> *parts = static_cast<cuda_real<T> *>(a->workspace);
    const cnn_status status = depthwise_call<T, LAST, false>(d, choose(d), [&](auto tile) {
        return cuda_launch(context, naive_shape(plan), err, bwd_w_depthwise<T, decltype(tile)>, s, a->x, a->dy, parts,
                           p);
    });
    if (status != CNN_OK) return status;
    const int64_t blocks = ceil_div(d->oc * (d->kh * d->kw + 1), ADD_WIDTH);
    const cuda_shape shape = {"add_splits", dim3((unsigned)blocks), dim3(ADD_WIDTH * ADD_LINES), 0};
    return cuda_launch(context, shape, err, add_splits<T, R>, s, parts, a->dw, a->db, p.splits, a->beta != 0);
}

static cnn_status run(cuda_context *context, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const bool last = plan->problem.u.conv.t.layout == CNN_NHWC;
    return CUDA_BY_PARTS(plan->problem.u.type.dtype,
                         last ? launch<T, R, true>(context, plan, a, err) : launch<T, R, false>(context, plan, a, err));
}

const naive_kernel naive_bwd_w_depthwise = {"bwd_w_depthwise", fit, run};
