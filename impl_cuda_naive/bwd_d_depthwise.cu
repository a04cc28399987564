/* bwd_d_depthwise.cu: gradient of the input of groups of one input channel: a thread a band of dx (depthwise.h).
 *
 * With a stride of 1 and no dilation this is a forward pass over dy with the kernel turned. With a stride of 2 every
 * second tap of a row and of a column reaches a pixel, the even or the odd ones: so a band is two columns wide and
 * begins at an even place of the padded image, where it is known when compiling which taps reach which pixel, and reads
 * each number of dy once. Else a pixel gathers what the taps bring whose output position divides by the stride. */
#include "impl_cuda_naive/depthwise.h"

/* Of a band with a stride of 2: its first row and pair of columns, in dx, and where tap 0 of that corner reads dy. */
struct spread_corner {
    int32_t h, v, p, q;
};

/* sum[2*r + c] is pixel (r, c) of the band. Tap (i, j) brings it dy at ((r - i) / 2, (c - j) / 2) from (p, q), where
 * both are even. */
template <int K, bool LAST, typename T>
static __device__ inline void spread(const depthwise_plane<T> &dy, const spread_corner &at,
                                     const cuda_real<T> (&weights)[K][K], cuda_real<T> (&sum)[2 * depthwise_rows(2)])
{
    constexpr int ROWS = depthwise_rows(2), REACH = (K - 1) / 2;
    bool inside[REACH + 1];
    depthwise_inside<REACH + 1>(at.q - REACH, dy.cols, inside);
    const T *from = depthwise_from<LAST>(dy, at.p - REACH, at.q - REACH);
#pragma unroll
    for (int t = -REACH; t < ROWS / 2; t++, from += dy.row) {
        cuda_real<T> line[REACH + 1];
        depthwise_line<REACH + 1, LAST>(dy, from, at.p + t, inside, line);
#pragma unroll
        for (int i = 0; i < K; i++) {
            const int r = 2 * t + i;
            if (r < 0 || r >= ROWS) continue;
#pragma unroll
            for (int j = 0; j < K; j++) sum[2 * r + j % 2] += weights[i][j] * line[REACH - j / 2];
        }
    }
}

template <typename T, int K>
static __device__ inline cuda_real<T> gather(const depthwise_shape &s, const depthwise_plane<T> &dy,
                                             const cuda_real<T> (&weights)[K][K], int32_t h, int32_t v)
{
    cuda_real<T> sum = 0;
#pragma unroll
    for (int i = 0; i < K; i++) {
        const int32_t p = h + s.ph - i * s.dh;
        if (p < 0 || p % s.sh != 0 || p / s.sh >= s.oh) continue;
#pragma unroll
        for (int j = 0; j < K; j++) {
            const int32_t q = v + s.pw - j * s.dw;
            if (q < 0 || q % s.sw != 0 || q / s.sw >= s.ow) continue;
            sum += weights[i][j] * cuda_load(dy.at[p / s.sh * dy.row + q / s.sw * dy.col]);
        }
    }
    return sum;
}

/* How many columns a band has, and how far before the image the first one begins. */
static constexpr __host__ __device__ int32_t columns_of(int stride) { return stride == 2 ? 2 : 1; }
static __host__ __device__ inline int32_t before(int stride, int32_t pad) { return stride == 2 ? pad % 2 : 0; }

template <typename T, int K, int S, bool LAST>
static __device__ inline void add_band(const depthwise_shape &s, const depthwise_plane<T> &dy, const T *w, int32_t k,
                                       const spread_corner &at, cuda_real<T> (&sum)[depthwise_rows(S) * columns_of(S)])
{
    cuda_real<T> weights[K][K];
    depthwise_weights<K>(s, w, k, weights);
    if constexpr (S == 1) {
        depthwise_band<K, 1, LAST>(
            s, dy, at.h + s.ph - (K - 1), at.v + s.pw - (K - 1),
            [&](int r, int i, int j, cuda_real<T> v) { sum[r] += weights[K - 1 - i][K - 1 - j] * v; });
    } else if constexpr (S == 2) {
        spread<K, LAST>(dy, at, weights, sum);
    } else {
#pragma unroll
        for (int r = 0; r < depthwise_rows(S); r++) sum[r] += gather<T, K>(s, dy, weights, at.h + r, at.v);
    }
}

template <typename T, typename R, int K, int S, bool LAST>
static __global__ void __launch_bounds__(DEPTHWISE_THREADS)
    bwd_d_depthwise(depthwise_shape s, const T *__restrict__ dy, const T *__restrict__ w, R *__restrict__ dx,
                    depthwise_grid g, bool add)
{
    constexpr int ROWS = depthwise_rows(S), COLUMNS = columns_of(S);
    for (CUDA_GRID_STRIDE(e, g.count)) {
        const depthwise_place place = depthwise_place_of<LAST>(g, (int32_t)e);
        const spread_corner at = {place.band * ROWS - before(S, s.ph), place.q * COLUMNS - before(S, s.pw),
                                  place.band * (ROWS / 2) + s.ph / 2, place.q + s.pw / 2};
        cuda_real<T> sum[ROWS * COLUMNS] = {};
        for (int32_t m = 0; m < s.group_oc; m++) {
            const int32_t k = place.k * s.group_oc + m;
            add_band<T, K, S, LAST>(s, depthwise_y(s, dy, place.n, k), w, k, at, sum);
        }
        const int32_t out = place.n * s.x.n + place.k * s.x.c + at.h * s.x.h + at.v * s.x.w;
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
            for (int c = 0; c < COLUMNS; c++) {
                const int32_t h = at.h + r, v = at.v + c;
                if (h >= 0 && h < s.ih && v >= 0 && v < s.iw)
                    cuda_put(dx + out + r * s.x.h + c * s.x.w, sum[r * COLUMNS + c], add);
            }
    }
}

static cnn_status fit(const cuda_context *context, const cnn_request *r, naive_launch *l, cnn_error *err)
{
    const cnn_conv_desc *d = &r->problem->u.conv;
    const cnn_status status = depthwise_check(d, err);
    if (status != CNN_OK) return status;
    const int stride = depthwise_stride(d);
    const int64_t bands = depthwise_bands(d, d->ih + before(stride, (int32_t)d->ph));
    const int64_t columns = ceil_div(d->iw + before(stride, (int32_t)d->pw), columns_of(stride));
    const depthwise_grid g = depthwise_grid_of(d->mb, d->ic, bands, columns);
    naive_put_args(l, g);
    naive_put_stride(context, g.count, DEPTHWISE_THREADS, r->knobs[NAIVE_KNOB_DEPTHWISE_BLOCKS], l);
    return CNN_OK;
}

template <typename T, typename R, bool LAST>
static cnn_status launch(cuda_context *context, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const cnn_conv_desc *d = &plan->problem.u.conv;
    const depthwise_shape s = conv_shape_of<int32_t>(d);
    cnn_status status = CNN_INTERNAL;
#define CASE(k, stride)                                                                                                \
    if (d->kh == (k) && depthwise_stride(d) == (stride))                                                               \
        status = cuda_launch(context, naive_shape(plan), err, bwd_d_depthwise<T, R, k, stride, LAST>, s, a->dy, a->w,  \
                             a->dx, naive_args<depthwise_grid>(plan), a->beta != 0);
    DEPTHWISE_CASES(CASE)
#undef CASE
    return status;
}

static cnn_status run(cuda_context *context, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const bool last = plan->problem.u.conv.t.layout == CNN_NHWC;
    return CUDA_BY_PARTS(plan->problem.u.type.dtype,
                         last ? launch<T, R, true>(context, plan, a, err) : launch<T, R, false>(context, plan, a, err));
}

const naive_kernel naive_bwd_d_depthwise = {"bwd_d_depthwise", fit, run};
