/* bwd_d_depthwise.cu: gradient of the input of groups of one input channel: a thread a tile of dx (depthwise.h).
 *
 * With a stride of 1 and no dilation this is a forward pass over dy with the kernel turned. With a stride of 2 every
 * second tap of a row and of a column reaches a pixel, the even or the odd ones: so tiles are of even width and begin
 * where it is known when compiling which taps reach which pixel, and read each number of dy once. Else a pixel gathers
 * what the taps bring whose output position divides by the stride. */
#include "impl_cuda_naive/depthwise.h"

/* Units of V numbers that lie side by side, in a row of a tile of dx. */
template <typename G> static constexpr int UNITS_OF = G::S == 2 && (G::LAST || G::V == 1) ? 2 : 1;

/* With a stride of 2, tap i reaches row r of a tile where SIDE/2 + r - i is even, and brings row p + (SIDE/2%2 + r -
 * i)/2 of dy. COUNT rows or columns need LOW of dy before p, and HIGH behind it. */
template <int SIDE, int COUNT> struct spread_reach {
    static constexpr int ODD = SIDE / 2 % 2, LOW = (SIDE - 1) / 2 - ODD, HIGH = COUNT / 2 - 1 + ODD;
};
/* How far before the image the first tile begins, and where dy's p is for a tile that begins at pixel `first`. */
static __host__ __device__ inline int32_t spread_before(int32_t side, int32_t pad) { return (pad - side / 2) & 1; }
template <int SIDE> static __device__ inline int32_t spread_from(int32_t first, int32_t pad)
{
    return (first + pad - (SIDE / 2 % 2)) / 2;
}

/* From (p, q), see above; column c of a tile is number c % V of unit c / V in NCHW, and unit c in NHWC. */
template <typename G, typename T, int UNITS>
static __device__ inline void spread(const depthwise_plane<T> &dy, int32_t p, int32_t q,
                                     const cuda_real<T> (&weights)[G::K][G::K][G::CHANNELS],
                                     cuda_real<T> (&sum)[G::ROWS][UNITS][G::V])
{
    constexpr int K = G::K, ROWS = G::ROWS, C = G::CHANNELS, COLUMNS = G::LAST ? UNITS : UNITS * G::V;
    typedef spread_reach<K, COLUMNS> across;
    typedef spread_reach<K, ROWS> down;
    constexpr int ODD = across::ODD, LOW = across::LOW, WIDTH = LOW + across::HIGH + 1;
    bool inside[WIDTH];
    depthwise_inside<WIDTH>(q - LOW, dy.cols, inside);
    const T *from = dy.at + ((p - LOW) * dy.row + (q - LOW) * dy.col);
#pragma unroll
    for (int t = -LOW; t <= down::HIGH; t++, from += dy.row) {
        const bool exists = p + t >= 0 && p + t < dy.rows;
        cuda_real<T> line[WIDTH][C];
#pragma unroll
        for (int j = 0; j < WIDTH; j++)
            depthwise_load<C>(from + j * (G::LAST ? dy.col : 1), exists && inside[j], line[j]);
#pragma unroll
        for (int i = 0; i < K; i++) {
            const int r = 2 * t - ODD + i;
            if (r < 0 || r >= ROWS) continue;
#pragma unroll
            for (int j = 0; j < K; j++)
#pragma unroll
                for (int c = 0; c < COLUMNS; c++) {
                    if ((ODD + c + j) % 2 != 0) continue;
#pragma unroll
                    for (int v = 0; v < C; v++)
                        sum[r][G::LAST ? c : c / G::V][G::LAST ? v : c % G::V] +=
                            weights[i][j][v] * line[LOW + (ODD + c - j) / 2][v];
                }
        }
    }
}

template <typename T, int K>
static __device__ inline cuda_real<T> gather(const depthwise_shape &s, const depthwise_plane<T> &dy,
                                             const cuda_real<T> (&weights)[K][K][1], int32_t h, int32_t v)
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
            sum += weights[i][j][0] * cuda_load(dy.at[p / s.sh * dy.row + q / s.sw * dy.col]);
        }
    }
    return sum;
}

template <typename G, typename T, int UNITS>
static __device__ inline void add_tile(const depthwise_shape &s, const depthwise_plane<T> &dy, int32_t h, int32_t v,
                                       const cuda_real<T> (&weights)[G::K][G::K][G::CHANNELS],
                                       cuda_real<T> (&sum)[G::ROWS][UNITS][G::V])
{
    constexpr int K = G::K;
    if constexpr (G::S == 1) {
        depthwise_band<G>(s, dy, h + s.ph - (K - 1), v + s.pw - (K - 1),
                          [&](int r, int i, int j, int n, cuda_real<T> value) {
                              sum[r][0][n] += weights[K - 1 - i][K - 1 - j][G::LAST ? n : 0] * value;
                          });
    } else if constexpr (G::S == 2) {
        spread<G>(dy, spread_from<K>(h, s.ph), spread_from<K>(v, s.pw), weights, sum);
    } else {
#pragma unroll
        for (int r = 0; r < G::ROWS; r++) sum[r][0][0] += gather<T, K>(s, dy, weights, h + r, v);
    }
}

template <typename T, typename R, typename G>
static __global__ void __launch_bounds__(DEPTHWISE_THREADS, sizeof(T) < 8 ? G::RESIDENT : 1)
    bwd_d_depthwise(depthwise_shape s, const T *__restrict__ dy, const T *__restrict__ w, R *__restrict__ dx,
                    depthwise_grid g, bool add)
{
    constexpr int K = G::K, ROWS = G::ROWS, V = G::V, UNITS = UNITS_OF<G>, COLUMNS = UNITS * (G::LAST ? 1 : V);
    const int32_t above = G::S == 2 ? spread_before(K, s.ph) : 0, before = G::S == 2 ? spread_before(K, s.pw) : 0;
    cuda_real<T> weights[K][K][G::CHANNELS];
    if constexpr (G::STAYS) depthwise_weights_of_block<G>(s, w, g.by_channels, weights);
    for (CUDA_GRID_STRIDE(e, g.count)) {
        const depthwise_place at = depthwise_place_of<G::LAST>(g, (int32_t)e);
        const int32_t h = at.band * ROWS - above, v = at.q * COLUMNS - before, c = at.k * G::CHANNELS;
        const int32_t outputs = V > 1 || G::STAYS ? 1 : s.group_oc;
        cuda_real<T> sum[ROWS][UNITS][V] = {};
        for (int32_t m = 0; m < outputs; m++) {
            const int32_t k = c * outputs + m;
            if constexpr (!G::STAYS) depthwise_weights<G>(s, w, k, weights);
            add_tile<G>(s, depthwise_y(s, dy, at.n, k), h, v, weights, sum);
        }
        R *to = dx + (at.n * s.x.n + c * s.x.c + h * s.x.h + v * s.x.w);
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
            for (int u = 0; u < UNITS; u++)
                if (h + r >= 0 && h + r < s.ih && v + u >= 0 && v + u < s.iw)
                    depthwise_store<V>(to + r * s.x.h + u * s.x.w, sum[r][u], add);
    }
}

/* With a stride of 2, tiles of several columns of NCHW must begin at the image's first. */
static depthwise_choice choose(const cnn_conv_desc *d)
{
    return depthwise_choose(d, true,
                            d->sw == 2 ? spread_before((int32_t)d->kw, (int32_t)d->pw) == 0 : d->pw == d->kw / 2);
}

static cnn_status fit(const cuda_context *context, const cnn_request *r, naive_launch *l, cnn_error *err)
{
    const cnn_conv_desc *d = &r->problem->u.conv;
    const cnn_status status = depthwise_check(d, err);
    if (status != CNN_OK) return status;
    const depthwise_choice of = choose(d);
    const bool last = d->t.layout == CNN_NHWC, spreads = of.stride == 2;
    const int64_t units = spreads && (last || of.together == 1) ? 2 : 1;
    const int64_t rows = d->ih + (spreads ? spread_before((int32_t)d->kh, (int32_t)d->ph) : 0);
    const int64_t columns = d->iw + (spreads ? spread_before((int32_t)d->kw, (int32_t)d->pw) : 0);
    const depthwise_grid g =
        depthwise_grid_of(d->mb, d->ic / (last ? of.together : 1), ceil_div(rows, depthwise_rows(d, of)),
                          ceil_div(columns, units * (last ? 1 : of.together)));
    naive_put_args(l, g);
    depthwise_put_stride(context, r, g, last && of.stride > 0, l);
    return CNN_OK;
}

template <typename T, typename R, bool LAST>
static cnn_status launch(cuda_context *context, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const cnn_conv_desc *d = &plan->problem.u.conv;
    return depthwise_call<T, LAST, true>(d, choose(d), [&](auto tile) {
        return cuda_launch(context, naive_shape(plan), err, bwd_d_depthwise<T, R, decltype(tile)>,
                           conv_shape_of<int32_t>(d), a->dy, a->w, a->dx, naive_args<depthwise_grid>(plan),
                           a->beta != 0);
    });
}

static cnn_status run(cuda_context *context, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const bool last = plan->problem.u.conv.t.layout == CNN_NHWC;
    return CUDA_BY_PARTS(plan->problem.u.type.dtype,
                         last ? launch<T, R, true>(context, plan, a, err) : launch<T, R, false>(context, plan, a, err));
}

const naive_kernel naive_bwd_d_depthwise = {"bwd_d_depthwise", fit, run};
