/* product.cu: FWD and BWD_D as products of matrices: see product.h for how a block multiplies, tile.h for what is
 * written and read.
 *
 * Rows of the tile are pixels, its columns written channels, and a step is DEPTH read channels of one tap. A thread
 * loads these of one pixel: it finds that pixel once a tap. Weights lie in w as nobody reads them here, so a small
 * kernel lays them out first, zeros behind the last of either channel. */
#include "harness/cuda/epilogue.h"
#include "impl_cuda_naive/product_cores.h"

/* ---- Weights. */

enum { LAY_SIDE = 32, LAY_LINES = 8 };

static inline __host__ __device__ int64_t laid_width(const product_problem &p)
{
    return (int64_t)p.m_tiles * PRODUCT_COLUMNS;
}
/* [tap][read channel][written channel], or a step's read channels behind each other: of [tap][step][written channel].
 */
static __device__ inline int64_t laid_place(const product_problem &p, int32_t k, int32_t m)
{
    if (!p.by_columns) return k * laid_width(p) + m;
    return k / p.depth * (p.depth * laid_width(p)) + m * p.depth + k % p.depth;
}
static inline __host__ __device__ int64_t laid_tap(const product_problem &p)
{
    return (int64_t)p.k_steps * p.depth * laid_width(p);
}

/* A block has 32 x 32 pairs of channels of one group, and passes their taps through shared memory: it reads along the
 * channels that lie nearer to each other in w, and writes along those that lie nearer to each other there. */
template <typename T>
static __global__ void __launch_bounds__(LAY_SIDE *LAY_LINES) lay_weights(product_problem p, const T *w, T *laid)
{
    CUDA_SHARED(T, square, [LAY_SIDE][LAY_SIDE + 1]);
    const int32_t x = (int32_t)threadIdx.x, taps = p.s.kh * p.s.kw;
    const int32_t m0 = (int32_t)blockIdx.x * LAY_SIDE, k0 = (int32_t)blockIdx.y * LAY_SIDE;
    const bool along_k = p.w_k < p.w_m;
    w += p.s.w.first + (int32_t)blockIdx.z * p.w_group;
    laid += (int64_t)blockIdx.z * taps * laid_tap(p);
    for (int32_t tap = 0; tap < taps; tap++, laid += laid_tap(p)) {
        const int32_t place = tap / p.s.kw * p.s.w.i + tap % p.s.kw * p.s.w.j;
        for (int32_t y = (int32_t)threadIdx.y; y < LAY_SIDE; y += LAY_LINES) {
            const int32_t m = m0 + (along_k ? y : x), k = k0 + (along_k ? x : y);
            square[along_k ? x : y][along_k ? y : x] =
                m < p.m && k < p.k ? w[m * p.w_m + k * p.w_k + place] : cuda_stored<T>(0);
        }
        __syncthreads();
        for (int32_t y = (int32_t)threadIdx.y; y < LAY_SIDE; y += LAY_LINES) {
            const int32_t m = p.by_columns ? y : x, k = p.by_columns ? x : y;
            if (k0 + k < p.k_steps * p.depth) laid[laid_place(p, k0 + k, m0 + m)] = square[k][m];
        }
        __syncthreads();
    }
}

/* ---- Pixels. */

/* What a thread reads next: channels k to k + DEPTH - 1 of its pixel under a tap, and their weights. */
template <typename T> struct product_reader {
    int32_t image, a, b; /* the pixel that is written; image -1: none */
    int32_t t, u, k;     /* the tap */
    bool inside;
    const T *at;
    const T *w; /* the thread's first pack of the step's */
};

template <typename T>
static __device__ inline void find_tap(const product_problem &p, const tile_axis &rows, const tile_axis &cols,
                                       const T *in, const T *laid, product_reader<T> &r)
{
    const int32_t h = r.a * rows.step + rows.start + r.t * rows.tap_step;
    const int32_t v = r.b * cols.step + cols.start + r.u * cols.tap_step;
    const int32_t i = rows.tap_first + r.t * rows.tap_every, j = cols.tap_first + r.u * cols.tap_every;
    r.inside = r.image >= 0 && h >= 0 && h < rows.size && v >= 0 && v < cols.size;
    r.at = r.inside ? in + r.image * p.in.n + h * p.in.h + v * p.in.w + r.k * p.in.c : in;
    r.w = laid + (i * p.s.kw + j) * laid_tap(p) + r.k * laid_width(p);
}

/* What is loaded for a step, on its way to shared memory. */
template <typename T, typename M> struct product_loads {
    cuda_pack<T, M::PACK> a[M::DEPTH / M::PACK];
    cuda_pack<T, M::PACK> b[PRODUCT_COLUMNS * M::DEPTH / M::PACK / M::ROWS];
};

template <bool PACKS, typename T, typename M>
static __device__ inline void load_step(const product_problem &p, const product_reader<T> &r, product_loads<T, M> &l)
{
    const int32_t there = r.inside ? p.k - r.k : 0;
    if constexpr (PACKS) {
#pragma unroll
        for (int e = 0; e < M::DEPTH / M::PACK; e++) product_load(r.at + M::PACK * e, M::PACK * e < there, &l.a[e]);
    } else {
#pragma unroll
        for (int e = 0; e < M::DEPTH; e++)
            l.a[e / M::PACK].v[e % M::PACK] = e < there ? *product_line(r.at, p.in_bytes, e) : cuda_stored<T>(0);
    }
#pragma unroll
    for (int e = 0; e < PRODUCT_COLUMNS * M::DEPTH / M::PACK / M::ROWS; e++)
        product_load(r.w + M::laid_at(e * M::ROWS, 0, laid_width(p)), true, &l.b[e]);
}

template <typename T, typename M>
static __device__ inline void keep_step(const product_loads<T, M> &l, typename M::tile &tile)
{
    M::put_row(tile, (int32_t)threadIdx.x, l.a);
#pragma unroll
    for (int e = 0; e < PRODUCT_COLUMNS * M::DEPTH / M::PACK / M::ROWS; e++)
        M::put_laid(tile, (int32_t)threadIdx.x + e * M::ROWS, l.b[e]);
}

/* The steps of the block's share. */
template <typename T, typename M, bool PACKS>
static __device__ inline void add_steps(const product_problem &p, const tile_axis &rows, const tile_axis &cols,
                                        const T *in, const T *laid, product_reader<T> r, const product_share &share,
                                        typename M::tile *tiles, cuda_real<T> (&sums)[M::R][M::C])
{
    const int32_t begin = share.begin, end = share.end;
    product_loads<T, M> loads;
    if (begin >= end) return;
    r.t = begin / p.k_steps / cols.taps;
    r.u = begin / p.k_steps % cols.taps;
    r.k = begin % p.k_steps * M::DEPTH;
    find_tap(p, rows, cols, in, laid, r);
    load_step<PACKS>(p, r, loads);
    keep_step(loads, tiles[0]);
    __syncthreads();
    for (int32_t step = begin; step < end; step++) {
        const bool more = step + 1 < end;
        const int32_t half = (step - begin) % 2;
        if (more) {
            r.k += M::DEPTH;
            r.at += M::DEPTH * p.in.c;
            r.w += M::DEPTH * laid_width(p);
            if (r.k >= p.k) {
                r.k = 0;
                if (++r.u == cols.taps) r.u = 0, r.t++;
                find_tap(p, rows, cols, in, laid, r);
            }
            load_step<PACKS>(p, r, loads);
        }
        M::multiply(tiles[half], share.rows, share.columns, sums);
        if (more) keep_step(loads, tiles[1 - half]);
        __syncthreads();
    }
}

/* Pixel `index` of a class. */
template <typename T>
static __device__ inline product_reader<T> pixel_at(int32_t index, int32_t count, const tile_axis &rows,
                                                    const tile_axis &cols)
{
    const int32_t line = index / cols.count;
    if (index >= count) return {-1, 0, 0, 0, 0, 0, false, NULL, NULL};
    return {line / rows.count, line % rows.count, index % cols.count, 0, 0, 0, false, NULL, NULL};
}

template <typename T, typename R, typename M, bool PACKS>
static __global__ void __launch_bounds__(M::ROWS, M::THREADS / M::ROWS)
    product_kernel(product_problem p, const T *__restrict__ in, const T *__restrict__ laid, const R *__restrict__ bias,
                   R *out, cuda_real<T> *parts, cuda_line_epilogue<R> epilogue)
{
    typedef cuda_real<T> U;
    typedef typename M::tile tile;
    CUDA_SHARED(tile, tiles, [2]);
    const conv_shape<int32_t> &d = p.s;
    const int32_t classes = p.backward ? d.sh * d.sw : 1;
    const int32_t of_class = (int32_t)blockIdx.z % classes, split = (int32_t)blockIdx.z / classes;
    const tile_axis rows = tile_axis_of(p.backward, of_class / d.sw, d.ih, d.oh, d.kh, d.sh, d.ph, d.dh);
    const tile_axis cols = tile_axis_of(p.backward, of_class % d.sw, d.iw, d.ow, d.kw, d.sw, d.pw, d.dw);
    const int32_t group = (int32_t)blockIdx.y / p.m_tiles, m0 = (int32_t)blockIdx.y % p.m_tiles * PRODUCT_COLUMNS;
    const int32_t count = d.mb * rows.count * cols.count, first = (int32_t)blockIdx.x * M::ROWS;
    const int64_t steps = (int64_t)rows.taps * cols.taps * p.k_steps;
    const product_share share = {(int32_t)(steps * split / p.splits), (int32_t)(steps * (split + 1) / p.splits),
                                 count - first, p.m - m0};
    U sums[M::R][M::C] = {};
    if (first >= count) return;
    laid += (int64_t)group * d.kh * d.kw * laid_tap(p) + M::laid_at((int32_t)threadIdx.x, m0, laid_width(p));
    add_steps<T, M, PACKS>(p, rows, cols, in + group * p.k * p.in.c, laid,
                           pixel_at<T>(first + (int32_t)threadIdx.x, count, rows, cols), share, tiles, sums);
#pragma unroll
    for (int r = 0; r < M::R; r++) {
        const product_reader<T> to = pixel_at<T>(first + M::row(r), count, rows, cols);
        if (to.image < 0) continue;
        const int32_t at = to.image * p.out.n + (rows.write_first + to.a * rows.write_step) * p.out.h +
                           (cols.write_first + to.b * cols.write_step) * p.out.w;
#pragma unroll
        for (int c = 0; c < M::C; c++) {
            const int32_t m = m0 + M::column(c), channel = group * p.m + m;
            if (m >= p.m) continue;
            if (parts != NULL)
                parts[(int64_t)split * p.results + at + channel * p.out.c] = sums[r][c];
            else
                epilogue.put(out, at + channel * p.out.c, sums[r][c] + (bias != NULL ? cuda_load(bias[channel]) : 0));
        }
    }
}

template <typename U, typename R>
static __global__ void add_parts(product_problem p, const U *parts, const R *bias, R *out,
                                 cuda_line_epilogue<R> epilogue)
{
    const int32_t channels = p.backward ? p.s.ic : p.s.oc;
    for (CUDA_GRID_STRIDE(i, p.results)) {
        const int32_t e = (int32_t)i, channel = e / p.out.c % channels;
        epilogue.put(out, e,
                     product_sum(parts, p.results, p.splits, e) + (bias != NULL ? cuda_load(bias[channel]) : 0));
    }
}

/* ---- The host's side. */

struct product_args {
    product_problem p;
    product_way way;
    int32_t rows;
    int64_t laid; /* bytes of the laid out weights, before the parts */
};

static product_problem problem_of(const cnn_conv_desc *d, cnn_dir dir, product_way way)
{
    const conv_shape<int32_t> s = conv_shape_of<int32_t>(d);
    const bool back = dir != CNN_FWD;
    const int64_t elem = (int64_t)factor_size(d);
    product_problem p = {};
    p.s = s, p.backward = back;
    p.m = s.group_oc, p.k = s.group_ic;
    p.in = s.x, p.out = s.y;
    p.w_m = s.w.k, p.w_k = s.w.c, p.w_group = s.group_oc * s.w.k;
    if (back) {
        p.m = s.group_ic, p.k = s.group_oc;
        p.in = s.y, p.out = s.x;
        p.w_m = s.w.c, p.w_k = s.w.k;
    }
    p.splits = 1;
    p.depth = product_depth(elem);
    p.by_columns = way != PRODUCT_UNITS;
    p.k_steps = (int32_t)ceil_div(p.k, p.depth);
    p.m_tiles = (int32_t)ceil_div(p.m, PRODUCT_COLUMNS);
    p.results = (int32_t)(back ? d->mb * d->ic * d->ih * d->iw : d->mb * d->oc * d->oh * d->ow);
    p.in_bytes = (uint32_t)(p.in.c * (int32_t)elem);
    p.packs = p.in.c == 1 && p.k % product_pack(elem) == 0;
    return p;
}

static cnn_status fit(const cnn_request *r, product_way way, naive_launch *l, cnn_error *err)
{
    const cnn_conv_desc *d = &r->problem->u.conv;
    const cnn_status status = product_check(l->kernel, d, err);
    if (status != CNN_OK) return status;
    product_args args = {problem_of(d, r->dir, way), way, 0, 0};
    product_problem &p = args.p;
    const int64_t elem = (int64_t)sum_size(d), classes = p.backward ? d->sh * d->sw : 1;
    const int64_t pixels = p.backward ? d->mb * ceil_div(d->ih, d->sh) * ceil_div(d->iw, d->sw)
                                      : d->mb * d->oh * d->ow; /* of the largest class */
    const int64_t tiles = d->g * p.m_tiles * classes;
    args.laid = d->g * d->kh * d->kw * laid_tap(p) * (int64_t)factor_size(d);
    const product_size size = {tiles * ceil_div(pixels, 64),
                               tiles * ceil_div(pixels, 128),
                               ceil_div(d->kh * d->kw, classes) * p.k_steps,
                               p.results * elem,
                               product_room(r->knobs, args.laid),
                               elem > 4 ? PRODUCT_THREADS_FEW : PRODUCT_THREADS};
    const product_choice choice = product_choose(size, r->knobs);
    args.rows = choice.rows;
    p.splits = choice.splits;
    l->workspace_bytes = (size_t)(args.laid + (p.splits > 1 ? (int64_t)p.splits * p.results * elem : 0));
    l->lines = true;
    l->grid[0] = ceil_div(pixels, args.rows);
    l->grid[1] = d->g * p.m_tiles;
    l->grid[2] = classes * p.splits;
    l->block[0] = args.rows;
    naive_put_args(l, args);
    return CNN_OK;
}

cnn_status product_fit(const cuda_context *, const cnn_request *r, naive_launch *l, cnn_error *err)
{
    return fit(r, PRODUCT_UNITS, l, err);
}

cnn_status product_cores_fit(const cuda_context *c, const cnn_request *r, naive_launch *l, cnn_error *err)
{
    product_way way;
    const cnn_status status = product_cores_way(c, r, &way, err);
    return status == CNN_OK ? fit(r, way, l, err) : status;
}

template <typename T, typename R>
using kernel = void(product_problem, const T *, const T *, const R *, R *, cuda_real<T> *, cuda_line_epilogue<R>);

template <typename T, typename R, int ROWS> static kernel<T, R> *kernel_of_rows(product_way way, bool packs)
{
    return product_with<T, ROWS>(way, [packs](auto multiplier) -> kernel<T, R> * {
        typedef decltype(multiplier) M;
        return packs ? product_kernel<T, R, M, true> : product_kernel<T, R, M, false>;
    });
}

template <typename T, typename R>
static cnn_status launch(cuda_context *context, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    typedef cuda_real<T> U;
    const product_args args = naive_args<product_args>(plan);
    const product_problem &p = args.p;
    const void *in = p.backward ? a->dy : a->x, *bias = p.backward ? NULL : a->b;
    void *out = p.backward ? a->dx : a->y;
    T *laid = static_cast<T *>(a->workspace);
    U *parts = p.splits > 1 ? reinterpret_cast<U *>(static_cast<char *>(a->workspace) + args.laid) : NULL;
    const cuda_line_epilogue<R> epilogue = cuda_line_epilogue_of<R>(plan, a);
    const dim3 grid((unsigned)(p.m_tiles * PRODUCT_COLUMNS / LAY_SIDE),
                    (unsigned)ceil_div((int64_t)p.k_steps * p.depth, LAY_SIDE), (unsigned)plan->problem.u.conv.g);
    cnn_status status =
        cuda_launch(context, {"lay_weights", grid, dim3(LAY_SIDE, LAY_LINES), 0}, err, lay_weights<T>, p, a->w, laid);
    if (status != CNN_OK) return status;
    kernel<T, R> *const product =
        args.rows == 128 ? kernel_of_rows<T, R, 128>(args.way, p.packs) : kernel_of_rows<T, R, 64>(args.way, p.packs);
    status = cuda_launch(context, naive_shape(plan), err, product, p, in, laid, bias, out, parts, epilogue);
    if (status != CNN_OK || parts == NULL) return status;
    return cuda_launch(context, cuda_shape_1d(context, "add_parts", p.results, 256, 16), err, add_parts<U, R>, p, parts,
                       bias, out, epilogue);
}

cnn_status product_run(cuda_context *context, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    return CUDA_BY_PARTS(plan->problem.u.type.dtype, launch<T, R>(context, plan, a, err));
}
