/* product_weights.cu: BWD_W as a product of matrices: see product.h for how a block multiplies.
 *
 * Rows of the tile are output channels, its columns input channels of one tap, and a step is DEPTH output pixels. So
 * both factors are read as they lie, dy at the pixels, x where the tap reads for them: nothing is laid out first. A
 * thread loads DEPTH channels of dy and up to as many of x, all of one pixel, whose place it finds by two
 * multiplications. In NCHW the step's pixels are neighbours in memory, and DEPTH threads side by side read them; in
 * NHWC a pixel's channels are. The blocks of the first tap and input channels add up dy as well, for the bias. */
#include "impl_cuda_naive/product_cores.h"

template <typename R> struct product_outputs {
    R *dw, *db;
    bool add;
};

/* Threads of a block of ROWS that load channels of one pixel: thread t those of pixel t / LANES, in packs (PACKS: NHWC
 * whose channels come in packs), or of pixel t % DEPTH. Its channels are `lane`, lane + LANES, and so on, or these
 * packs. */
template <typename M> static constexpr int LANES = M::ROWS / M::DEPTH;
template <typename M, bool PACKS> static __device__ inline int32_t pixel_of_thread()
{
    return PACKS ? (int32_t)threadIdx.x / LANES<M> : (int32_t)threadIdx.x % M::DEPTH;
}
template <typename M, bool PACKS> static __device__ inline int32_t lane_of_thread()
{
    return PACKS ? (int32_t)threadIdx.x % LANES<M> : (int32_t)threadIdx.x / M::DEPTH % LANES<M>;
}

/* N packs of channels of one pixel, `from` being at the first of them, of which, and behind it, there are `count`. */
template <typename M, bool PACKS, typename T, int N>
static __device__ inline void load_channels(const T *from, bool inside, uint32_t bytes, int32_t count,
                                            cuda_pack<T, M::PACK> (&to)[N])
{
    const int32_t there = inside ? count : 0;
#pragma unroll
    for (int e = 0; e < (PACKS ? N : M::PACK * N); e++) {
        if constexpr (PACKS)
            product_load(from + M::PACK * e * LANES<M>, M::PACK * e * LANES<M> < there, &to[e]);
        else
            to[e / M::PACK].v[e % M::PACK] = e * LANES<M> < there ? *product_line(from, bytes, e) : cuda_stored<T>(0);
    }
}

template <typename M, bool PACKS, typename T, int N, typename S>
static __device__ inline void keep_channels(const cuda_pack<T, M::PACK> (&from)[N], S &side)
{
    const int32_t pixel = pixel_of_thread<M, PACKS>(), lane = lane_of_thread<M, PACKS>();
#pragma unroll
    for (int e = 0; e < (PACKS ? N : M::PACK * N); e++) {
        if constexpr (PACKS)
            M::put_pack(side, pixel, lane, e * LANES<M>, from[e]);
        else
            M::put(side, pixel, lane, e * LANES<M>, from[e / M::PACK].v[e % M::PACK]);
    }
}

/* What a thread reads: the tensors from its first channels on, of which there are so many, its block's tap, and bytes
 * from one of its channels to the next. */
template <typename T> struct weights_reader {
    const T *x, *dy;
    int32_t columns, rows, i, j;
    uint32_t x_bytes, dy_bytes;
};
template <typename T, typename M> struct weights_loads {
    cuda_pack<T, M::PACK> a[M::DEPTH / M::PACK];
    cuda_pack<T, M::PACK> b[PRODUCT_COLUMNS * M::DEPTH / M::PACK / M::ROWS];
};

template <typename T, typename M, bool PACKS>
static __device__ inline void load_step(const product_weights &p, const weights_reader<T> &b, int32_t step,
                                        weights_loads<T, M> &l)
{
    const conv_shape<int32_t> &s = p.s;
    const uint32_t e = (uint32_t)step * M::DEPTH + (uint32_t)pixel_of_thread<M, PACKS>();
    int32_t n = (int32_t)e;
    const int32_t column = cuda_split(&n, p.by_column), row = cuda_split(&n, p.by_row);
    const int32_t h = row * s.sh - s.ph + b.i * s.dh, v = column * s.sw - s.pw + b.j * s.dw;
    const bool exists = e < (uint32_t)p.pixels, inside = exists && h >= 0 && h < s.ih && v >= 0 && v < s.iw;
    load_channels<M, PACKS>(b.dy + (exists ? n * s.y.n + row * s.y.h + column * s.y.w : 0), exists, b.dy_bytes, b.rows,
                            l.a);
    load_channels<M, PACKS>(b.x + (inside ? n * s.x.n + h * s.x.h + v * s.x.w : 0), inside, b.x_bytes, b.columns, l.b);
}

template <typename T, typename M, bool PACKS>
static __device__ inline void keep_step(const weights_loads<T, M> &l, typename M::tile &tile)
{
    keep_channels<M, PACKS>(l.a, tile.a);
    keep_channels<M, PACKS>(l.b, tile.b);
}

/* The steps of the block's share; *bias: of the thread's own row. */
template <typename T, typename M, bool PACKS>
static __device__ inline void add_steps(const product_weights &p, const weights_reader<T> &b,
                                        const product_share &share, bool of_bias, typename M::tile *tiles,
                                        cuda_real<T> (&sums)[M::R][M::C], cuda_real<T> *bias)
{
    const int32_t begin = share.begin, end = share.end;
    weights_loads<T, M> loads;
    if (begin >= end) return;
    load_step<T, M, PACKS>(p, b, begin, loads);
    keep_step<T, M, PACKS>(loads, tiles[0]);
    __syncthreads();
    /* Behind the last step one more is loaded, which nobody multiplies: with a condition around them, the compiler puts
     * the loads behind the product. */
    for (int32_t step = begin; step < end; step++) {
        const typename M::tile &tile = tiles[(step - begin) % 2];
        if (of_bias) M::add_row(tile, (int32_t)threadIdx.x, bias);
        load_step<T, M, PACKS>(p, b, step + 1, loads);
        M::multiply(tile, share.rows, share.columns, sums);
        keep_step<T, M, PACKS>(loads, tiles[1 - (step - begin) % 2]);
        __syncthreads();
    }
}

/* Result e of a part: weights [tap][output channel][input channel], then the biases. */
template <typename R>
static __device__ inline void put(const product_weights &p, const product_outputs<R> &out, int32_t e, cuda_real<R> sum)
{
    const conv_shape<int32_t> &s = p.s;
    const int32_t weights = s.kh * s.kw * s.oc * s.group_ic, c = e % s.group_ic, k = e / s.group_ic % s.oc;
    const int32_t tap = e / s.group_ic / s.oc;
    if (e >= weights)
        cuda_put(&out.db[e - weights], sum, out.add);
    else
        cuda_put(&out.dw[s.w.first + k * s.w.k + c * s.w.c + tap / s.kw * s.w.i + tap % s.kw * s.w.j], sum, out.add);
}

template <typename T, typename R, typename M, bool PACKS>
static __global__ void __launch_bounds__(M::ROWS, M::THREADS_BWD_W / M::ROWS)
    product_weights_kernel(product_weights p, const T *__restrict__ x, const T *__restrict__ dy, product_outputs<R> out,
                           cuda_real<T> *parts)
{
    typedef cuda_real<T> U;
    typedef typename M::tile tile;
    constexpr int ROWS = M::ROWS;
    CUDA_SHARED(tile, tiles, [2]);
    const conv_shape<int32_t> &s = p.s;
    const int32_t tap = (int32_t)blockIdx.x / p.column_tiles;
    const int32_t c0 = (int32_t)blockIdx.x % p.column_tiles * PRODUCT_COLUMNS;
    const int32_t group = (int32_t)blockIdx.y / p.row_tiles, k0 = (int32_t)blockIdx.y % p.row_tiles * ROWS;
    const int32_t first = group * s.group_oc + k0, t = (int32_t)threadIdx.x;
    const int64_t steps = (p.pixels + M::DEPTH - 1) / M::DEPTH;
    const int32_t rows = s.group_oc - k0, columns = s.group_ic - c0; /* of the tile, and behind it */
    const product_share share = {(int32_t)(steps * blockIdx.z / p.splits),
                                 (int32_t)(steps * (blockIdx.z + 1) / p.splits), rows, columns};
    const int32_t lane = (PACKS ? M::PACK : 1) * lane_of_thread<M, PACKS>();
    const weights_reader<T> b = {x + (group * s.group_ic + c0 + lane) * s.x.c,
                                 dy + (first + lane) * s.y.c,
                                 columns - lane,
                                 rows - lane,
                                 tap / s.kw,
                                 tap % s.kw,
                                 (uint32_t)(LANES<M> * s.x.c * (int32_t)sizeof(T)),
                                 (uint32_t)(LANES<M> * s.y.c * (int32_t)sizeof(T))};
    const bool of_bias = out.db != NULL && blockIdx.x == 0;
    U sums[M::R][M::C] = {}, bias = 0;
    add_steps<T, M, PACKS>(p, b, share, of_bias, tiles, sums, &bias);
    parts = parts != NULL ? parts + (int64_t)blockIdx.z * p.results : NULL;
#pragma unroll
    for (int r = 0; r < M::R; r++)
#pragma unroll
        for (int c = 0; c < M::C; c++) {
            const int32_t row = M::row(r), column = M::column(c);
            const int32_t e = (tap * s.oc + first + row) * s.group_ic + c0 + column;
            if (row >= rows || column >= columns) continue;
            if (parts != NULL)
                parts[e] = sums[r][c];
            else
                put(p, out, e, sums[r][c]);
        }
    if (!of_bias || t >= rows) return;
    const int32_t e = s.kh * s.kw * s.oc * s.group_ic + first + t;
    if (parts != NULL)
        parts[e] = bias;
    else
        put(p, out, e, bias);
}

template <typename U, typename R>
static __global__ void add_parts(product_weights p, const U *parts, product_outputs<R> out)
{
    for (CUDA_GRID_STRIDE(i, p.results)) put(p, out, (int32_t)i, product_sum(parts, p.results, p.splits, (int32_t)i));
}

/* ---- The host's side. */

struct product_weights_args {
    product_weights p;
    product_way way;
    int32_t rows;
    bool packs; /* both tensors lie in packs, one channel behind the other */
};

static cnn_status fit(const cnn_request *r, product_way way, naive_launch *l, cnn_error *err)
{
    const cnn_conv_desc *d = &r->problem->u.conv;
    const cnn_status status = product_check(l->kernel, d, err);
    if (status != CNN_OK) return status;
    const int64_t elem = (int64_t)sum_size(d), taps = d->kh * d->kw;
    product_weights_args args = {};
    args.way = way;
    product_weights &p = args.p;
    p.s = conv_shape_of<int32_t>(d);
    p.by_row = cuda_divide_by(d->oh), p.by_column = cuda_divide_by(d->ow);
    p.pixels = (int32_t)(d->mb * d->oh * d->ow);
    p.column_tiles = (int32_t)ceil_div(p.s.group_ic, PRODUCT_COLUMNS);
    p.results = (int32_t)(taps * d->oc * p.s.group_ic + (d->bias ? d->oc : 0));
    const int32_t pack = product_pack((int64_t)factor_size(d));
    args.packs = d->t.layout == CNN_NHWC && p.s.group_ic % pack == 0 && p.s.group_oc % pack == 0;
    const int64_t tiles = d->g * taps * p.column_tiles;
    const product_size size = {tiles * ceil_div(p.s.group_oc, 64),
                               tiles * ceil_div(p.s.group_oc, 128),
                               ceil_div(p.pixels, product_depth((int64_t)factor_size(d))),
                               p.results * elem,
                               product_room(r->knobs, 0),
                               elem > 4 || way != PRODUCT_UNITS ? PRODUCT_THREADS_FEW : PRODUCT_THREADS};
    const product_choice choice = product_choose(size, r->knobs);
    args.rows = choice.rows;
    p.splits = choice.splits;
    p.row_tiles = (int32_t)ceil_div(p.s.group_oc, args.rows);
    l->workspace_bytes = p.splits > 1 ? (size_t)((int64_t)p.splits * p.results * elem) : 0;
    l->grid[0] = taps * p.column_tiles;
    l->grid[1] = d->g * p.row_tiles;
    l->grid[2] = p.splits;
    l->block[0] = args.rows;
    naive_put_args(l, args);
    return CNN_OK;
}

cnn_status product_weights_fit(const cuda_context *, const cnn_request *r, naive_launch *l, cnn_error *err)
{
    return fit(r, PRODUCT_UNITS, l, err);
}

cnn_status product_cores_weights_fit(const cuda_context *c, const cnn_request *r, naive_launch *l, cnn_error *err)
{
    product_way way;
    const cnn_status status = product_cores_way(c, r, &way, err);
    return status == CNN_OK ? fit(r, way, l, err) : status;
}

template <typename T, typename R>
using kernel = void(product_weights, const T *, const T *, product_outputs<R>, cuda_real<T> *);

template <typename T, typename R, int ROWS> static kernel<T, R> *kernel_of_rows(product_way way, bool packs)
{
    return product_with<T, ROWS>(way, [packs](auto multiplier) -> kernel<T, R> * {
        typedef decltype(multiplier) M;
        return packs ? product_weights_kernel<T, R, M, true> : product_weights_kernel<T, R, M, false>;
    });
}

template <typename T, typename R>
static cnn_status launch(cuda_context *context, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    typedef cuda_real<T> U;
    const product_weights_args args = naive_args<product_weights_args>(plan);
    const product_weights &p = args.p;
    U *parts = p.splits > 1 ? static_cast<U *>(a->workspace) : NULL;
    const product_outputs<R> out = {static_cast<R *>(a->dw), static_cast<R *>(a->db), a->beta != 0};
    kernel<T, R> *const product = args.rows == 128 ? kernel_of_rows<T, R, 128>(args.way, args.packs)
                                                   : kernel_of_rows<T, R, 64>(args.way, args.packs);
    const cnn_status status = cuda_launch(context, naive_shape(plan), err, product, p, a->x, a->dy, out, parts);
    if (status != CNN_OK || parts == NULL) return status;
    return cuda_launch(context, cuda_shape_1d(context, "add_parts", p.results, 256, 16), err, add_parts<U, R>, p, parts,
                       out);
}

cnn_status product_weights_run(cuda_context *context, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    return CUDA_BY_PARTS(plan->problem.u.type.dtype, launch<T, R>(context, plan, a, err));
}
