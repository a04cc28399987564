/* bwd_w_depthwise.cu: gradient of the weights of groups of one input channel (depthwise.h).
 *
 * A thread takes bands of dy, and keeps the K*K sums of its channel, and the bias's, in registers. NCHW: a block has
 * one channel, its threads lie along the columns; NHWC: a block has 32 channels, a warp's lanes. The bands of all
 * images are cut into `splits` parts, so that there are blocks enough; each block leaves its sums in the workspace, and
 * a second kernel adds them up in their order. So the bits are the same in every run. */
#include "harness/cuda/reduce.h"
#include "impl_cuda_naive/depthwise.h"

static constexpr int32_t LANES = 32, LINES = DEPTHWISE_THREADS / LANES;

struct depthwise_parts {
    cuda_divisor by_bands, by_cols;
    int32_t splits;
    int64_t items; /* bands x columns of all images */
};

/* One item: a band of dy at a column, and what its taps read. */
template <int K, int S, bool LAST, typename T>
static __device__ inline void add_item(const depthwise_shape &s, const depthwise_parts &parts, const T *x, const T *dy,
                                       int32_t item, cuda_real<T> (&sums)[K * K + 1])
{
    constexpr int ROWS = depthwise_rows(S);
    const int32_t q = cuda_split(&item, parts.by_cols), first = cuda_split(&item, parts.by_bands) * ROWS, n = item;
    const T *from = dy + n * s.y.n + first * s.y.h + q * s.y.w;
    cuda_real<T> d[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        d[r] = first + r < s.oh ? cuda_load(from[r * s.y.h]) : 0;
        sums[K * K] += d[r];
    }
    depthwise_band<K, S, LAST>(s, depthwise_x(s, x, n, 0), first * s.sh - s.ph, q * s.sw - s.pw,
                               [&](int r, int i, int j, cuda_real<T> v) { sums[i * K + j] += d[r] * v; });
}

template <typename T, int K, int S, bool LAST>
static __global__ void __launch_bounds__(DEPTHWISE_THREADS)
    bwd_w_depthwise(depthwise_shape s, const T *__restrict__ x, const T *__restrict__ dy,
                    cuda_real<T> *__restrict__ parts, depthwise_parts p)
{
    CUDA_SHARED(cuda_real<T>, shares, [LINES][LANES]);
    const int32_t line = (int32_t)threadIdx.x / LANES, lane = (int32_t)threadIdx.x % LANES;
    const int32_t k = LAST ? (int32_t)blockIdx.x * LANES + lane : (int32_t)blockIdx.x;
    const int32_t begin = (int32_t)(p.items * blockIdx.y / p.splits),
                  end = (int32_t)(p.items * (blockIdx.y + 1) / p.splits);
    cuda_real<T> sums[K * K + 1] = {};
    if (k < s.oc)
        for (int32_t item = begin + (LAST ? line : (int32_t)threadIdx.x); item < end;
             item += LAST ? LINES : DEPTHWISE_THREADS)
            add_item<K, S, LAST>(s, p, x + k / s.group_oc * s.x.c, dy + k * s.y.c, item, sums);
    cuda_real<T> *to = parts + ((int64_t)blockIdx.y * s.oc + k) * (K * K + 1);
#pragma unroll
    for (int e = 0; e <= K * K; e++) {
        cuda_real<T> sum = sums[e];
        if (!LAST) {
            sum = cuda_block_sum(sum, &shares[0][0]);
        } else {
            shares[line][lane] = sum;
            __syncthreads();
            for (int l = 1; l < LINES && line == 0; l++) sum += shares[l][lane];
            __syncthreads();
        }
        if (k < s.oc && (LAST ? line == 0 : threadIdx.x == 0)) to[e] = sum;
    }
}

/* A thread a weight or bias. */
template <typename T, typename R>
static __global__ void add_splits(depthwise_shape s, const cuda_real<T> *__restrict__ parts, R *__restrict__ dw,
                                  R *__restrict__ db, int32_t splits, bool add)
{
    const int32_t all = s.kh * s.kw + 1;
    const int64_t count = (int64_t)s.oc * all;
    for (CUDA_GRID_STRIDE(e, count)) {
        const int32_t k = (int32_t)(e / all), tap = (int32_t)(e % all);
        cuda_real<T> sum = 0;
        if (tap == all - 1 && db == NULL) continue;
        for (int32_t z = 0; z < splits; z++) sum += parts[z * count + e];
        R *to = tap == all - 1 ? db + k : dw + s.w.first + k * s.w.k + tap / s.kw * s.w.i + tap % s.kw * s.w.j;
        cuda_put(to, sum, add);
    }
}

static depthwise_parts parts_of(const cuda_context *context, const cnn_conv_desc *d)
{
    const int64_t full = 8, least = 2; /* blocks a multiprocessor; items a thread of a part */
    const bool last = d->t.layout == CNN_NHWC;
    const int64_t blocks = last ? ceil_div(d->oc, LANES) : d->oc, threads = last ? LINES : DEPTHWISE_THREADS;
    const int64_t bands = depthwise_bands(d, d->oh);
    depthwise_parts p = {cuda_divide_by(bands), cuda_divide_by(d->ow), 1, d->mb * bands * d->ow};
    const int64_t most = smaller(ceil_div(p.items, threads * least), 1024);
    p.splits = (int32_t)smaller(ceil_div(context->properties.multiProcessorCount * full, blocks), most);
    return p;
}

static cnn_status fit(const cuda_context *context, const cnn_request *r, naive_launch *l, cnn_error *err)
{
    const cnn_conv_desc *d = &r->problem->u.conv;
    const cnn_status status = depthwise_check(d, err);
    if (status != CNN_OK) return status;
    const depthwise_parts p = parts_of(context, d);
    l->grid[0] = d->t.layout == CNN_NHWC ? ceil_div(d->oc, LANES) : d->oc;
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
    cnn_status status = CNN_INTERNAL;
#define CASE(k, stride)                                                                                                \
    if (d->kh == (k) && depthwise_stride(d) == (stride))                                                               \
        status = cuda_launch(context, naive_shape(plan), err, bwd_w_depthwise<T, k, stride, LAST>, s, a->x, a->dy,     \
                             parts, p);
    DEPTHWISE_CASES(CASE)
#undef CASE
    if (status != CNN_OK) return status;
    const cuda_shape shape = cuda_shape_1d(context, "add_splits", d->oc * (d->kh * d->kw + 1), 64, 16);
    return cuda_launch(context, shape, err, add_splits<T, R>, s, parts, a->dw, a->db, p.splits, a->beta != 0);
}

static cnn_status run(cuda_context *context, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const bool last = plan->problem.u.conv.t.layout == CNN_NHWC;
    return CUDA_BY_PARTS(plan->problem.u.type.dtype,
                         last ? launch<T, R, true>(context, plan, a, err) : launch<T, R, false>(context, plan, a, err));
}

const naive_kernel naive_bwd_w_depthwise = {"bwd_w_depthwise", fit, run};
