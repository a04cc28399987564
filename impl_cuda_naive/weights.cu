/* weights.cu: a register-tiled gradient of the weights; see weights.h for its rows, columns and parts.
 *
 * Idea: a thread computes CHANNELS output channels of COLUMNS weights, all in registers, over its share of the pixels.
 * dy is staged in shared memory with the output channels side by side, so that one read of four serves the whole warp;
 * x comes through the L1 cache, for neighbouring columns read neighbouring pixels of one image. Every dy is read once a
 * column tile, instead of once a weight.
 * The threads of the block's z take every slices-th pixel and add up in shared memory. If that is not parallel enough,
 * the pixels are cut into parts: each part's sums go to the workspace, and a second kernel adds them, in their order:
 * deterministic, without atomics.
 * Expected bottleneck: the multiply-adds and the addresses of x (some 5 instructions for 20 multiply-adds); for few
 * output channels, the loads of x. */
#include "impl_cuda_naive/tile.h"
#include "impl_cuda_naive/weights.h"

/* A column of one thread: where its x lies relative to the window, and what stands for x outside the image. */
template <typename T> struct weights_column {
    int32_t row, col, offset;
    T outside;
};

/* The bias's column is always outside, where x is 1; one behind the last column is, too, and 0. */
template <typename T> static __device__ inline weights_column<T> column_at(const weights_problem &p, int32_t column)
{
    const conv_shape<int32_t> &s = p.s;
    if (column >= p.columns) return {0, -1 - s.ow * s.sw, 0, column == p.columns ? (T)1 : (T)0};
    const int32_t j = column % s.kw, i = column / s.kw % s.kh, c = column / s.kw / s.kh;
    const int32_t row = i * s.dh - s.ph, col = j * s.dw - s.pw;
    return {row, col, c * s.x.c + row * s.x.h + col * s.x.w, 0};
}

/* Copies `count` pixels of dy from pixel `first` of image `image` on (and of those behind it) as [pixel][channel]. */
template <typename T>
static __device__ inline void stage_dy(const weights_problem &p, const T *dy, int64_t image, int32_t first,
                                       int32_t count, int32_t k0, int32_t width, pack<T> *staged)
{
    const conv_shape<int32_t> &s = p.s;
    const int32_t threads = (int32_t)(blockDim.x * blockDim.y * blockDim.z), area = s.oh * s.ow;
    const int32_t thread = (int32_t)(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
    for (int32_t e = thread; e < count * width; e += threads) {
        const int32_t pixel = e % count, k = e / count, n = (first + pixel) / area, at = (first + pixel) % area;
        staged[(pixel * width + k) / 4].v[k % 4] =
            k0 + k < s.group_oc ? dy[(image + n) * s.y.n + (k0 + k) * s.y.c + at * s.y.w] : 0;
    }
}

/* sums += dy * x over this slice's staged pixels. */
template <typename T, int CHANNELS, int COLUMNS>
static __device__ inline void add_pixels(const weights_problem &p, const T *x, int32_t first, int32_t count,
                                         const weights_column<T> (&columns)[COLUMNS], const pack<T> *dy, int32_t width,
                                         T (&sums)[CHANNELS][COLUMNS])
{
    const conv_shape<int32_t> &s = p.s;
    const int32_t slices = (int32_t)blockDim.z, slice = (int32_t)threadIdx.z;
    const int32_t step_q = slices % s.ow, step_p = slices / s.ow % s.oh, step_n = slices / s.ow / s.oh;
    int32_t q = (first + slice) % s.ow, row = (first + slice) / s.ow % s.oh, n = (first + slice) / s.ow / s.oh;
    /* Loads in flight, paid for in registers. */
#pragma unroll(CHANNELS *COLUMNS >= 64 ? 2 : 4)
    for (int32_t e = slice; e < count; e += slices) {
        const T *window = x + n * (int64_t)s.x.n;
        const int32_t h = row * s.sh, v = q * s.sw, at = h * s.x.h + v * s.x.w;
        T values[COLUMNS];
#pragma unroll
        for (int l = 0; l < COLUMNS; l++) {
            const bool inside =
                (uint32_t)(h + columns[l].row) < (uint32_t)s.ih && (uint32_t)(v + columns[l].col) < (uint32_t)s.iw;
            values[l] = inside ? window[at + columns[l].offset] : columns[l].outside;
        }
#pragma unroll
        for (int r = 0; r < CHANNELS / 4; r++) {
            const pack<T> four = dy[e * (width / 4) + r];
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int l = 0; l < COLUMNS; l++) sums[4 * r + i][l] += four.v[i] * values[l];
        }
        /* The next pixel of this slice, with carries instead of divisions. */
        q += step_q;
        row += step_p;
        n += step_n;
        if (q >= s.ow) q -= s.ow, row++;
        if (row >= s.oh) row -= s.oh, n++;
    }
}

/* Slice 0 gets the sum over the slices, in their order. Every thread of the block calls it. As in tile.cu, but without
 * its return in the middle: with that, a whole epoch of thesis.net at batch 5 took 3 % longer. */
template <typename T, int CHANNELS, int COLUMNS>
static __device__ inline void add_slices(T *buffer, T (&sums)[CHANNELS][COLUMNS])
{
    const int32_t plane = (int32_t)(blockDim.x * blockDim.y), slice = (int32_t)threadIdx.z;
    T *mine = buffer + threadIdx.y * blockDim.x + threadIdx.x;
#pragma unroll
    for (int r = 0; r < CHANNELS; r++)
#pragma unroll
        for (int l = 0; l < COLUMNS; l++)
            if (slice > 0) mine[((slice - 1) * CHANNELS * COLUMNS + r * COLUMNS + l) * plane] = sums[r][l];
    __syncthreads();
    for (int32_t z = 0; slice == 0 && z < (int32_t)blockDim.z - 1; z++) {
#pragma unroll
        for (int r = 0; r < CHANNELS; r++)
#pragma unroll
            for (int l = 0; l < COLUMNS; l++) sums[r][l] += mine[(z * CHANNELS * COLUMNS + r * COLUMNS + l) * plane];
    }
}

/* Where the results go: the workspace, or dw and db at once if there is only one part. */
template <typename T> struct weights_outputs {
    T *dw, *db, *parts;
    bool add;
};

template <typename T>
static __device__ inline void put(const weights_problem &p, const weights_outputs<T> &out, int32_t channel,
                                  int32_t column, T sum)
{
    const conv_shape<int32_t> &s = p.s;
    const int32_t j = column % s.kw, i = column / s.kw % s.kh, c = column / s.kw / s.kh;
    T *at = column == p.columns ? &out.db[channel]
                                : &out.dw[s.w.first + channel * s.w.k + c * s.w.c + i * s.w.i + j * s.w.j];
    *at = out.add ? *at + sum : sum;
}

template <typename T, int CHANNELS, int COLUMNS>
static __device__ inline void write(const weights_problem &p, const weights_outputs<T> &out, int32_t group, int32_t k0,
                                    const T (&sums)[CHANNELS][COLUMNS])
{
#pragma unroll
    for (int l = 0; l < COLUMNS; l++) {
        const int32_t column = (int32_t)((blockIdx.x * COLUMNS + l) * blockDim.x + threadIdx.x);
        if (column >= p.all_columns) continue;
#pragma unroll
        for (int r = 0; r < CHANNELS; r++) {
            if (k0 + r >= p.s.group_oc) break;
            const int32_t channel = group * p.s.group_oc + k0 + r;
            if (out.parts != NULL)
                out.parts[blockIdx.z * p.results + (int64_t)channel * p.all_columns + column] = sums[r][l];
            else
                put(p, out, channel, column, sums[r][l]);
        }
    }
}

/* Pixels are cut among blockIdx.z too: weights alone are too few to fill the device. */
template <typename T, int CHANNELS, int COLUMNS>
static __global__ void __launch_bounds__(tile_threads(sizeof(T), CHANNELS *COLUMNS), 1)
    weights_kernel(weights_problem p, const T *__restrict__ x, const T *__restrict__ dy, weights_outputs<T> out)
{
    CUDA_DYNAMIC_SHARED(pack<T>, staged);
    const conv_shape<int32_t> &s = p.s;
    const int32_t width = (int32_t)blockDim.y * CHANNELS, area = s.oh * s.ow;
    const int32_t group = (int32_t)blockIdx.y / p.row_tiles, k0 = (int32_t)blockIdx.y % p.row_tiles * width;
    const int64_t begin = blockIdx.z * p.a_split, end = min(begin + p.a_split, p.pixels);
    weights_column<T> columns[COLUMNS];
#pragma unroll
    for (int l = 0; l < COLUMNS; l++)
        columns[l] = column_at<T>(p, (int32_t)((blockIdx.x * COLUMNS + l) * blockDim.x + threadIdx.x));
    x += group * s.group_ic * s.x.c;
    dy += group * s.group_oc * s.y.c;
    T sums[CHANNELS][COLUMNS] = {};
    for (int64_t at = begin; at < end; at += p.chunk) {
        const int32_t count = (int32_t)min((int64_t)p.chunk, end - at), first = (int32_t)(at % area);
        const int64_t image = at / area;
        __syncthreads(); /* the previous chunk is read */
        stage_dy(p, dy, image, first, count, k0, width, staged);
        __syncthreads();
        add_pixels<T, CHANNELS, COLUMNS>(p, x + image * s.x.n, first, count, columns,
                                         staged + (int32_t)threadIdx.y * (CHANNELS / 4), width, sums);
    }
    if (blockDim.z > 1) add_slices<T, CHANNELS, COLUMNS>(staged[(int64_t)p.chunk * width / 4].v, sums);
    if (threadIdx.z == 0) write<T, CHANNELS, COLUMNS>(p, out, group, k0 + (int32_t)threadIdx.y * CHANNELS, sums);
}

enum { ADD_RESULTS = 32, ADD_PARTS = 8 };

/* The second stage: ADD_PARTS threads a result, each with every ADD_PARTS-th part; the first then adds up theirs. */
template <typename T> static __global__ void add_parts(weights_problem p, weights_outputs<T> out, int32_t splits)
{
    CUDA_SHARED(T, shares, [ADD_PARTS][ADD_RESULTS]);
    const int64_t e = (int64_t)blockIdx.x * ADD_RESULTS + threadIdx.x;
    T sum = 0;
#pragma unroll 4
    for (int32_t z = (int32_t)threadIdx.y; e < p.results && z < splits; z += ADD_PARTS)
        sum += out.parts[z * p.results + e];
    shares[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y > 0 || e >= p.results) return;
    for (int l = 1; l < ADD_PARTS; l++) sum += shares[l][threadIdx.x];
    put(p, out, (int32_t)(e / p.all_columns), (int32_t)(e % p.all_columns), sum);
}

template <typename T>
static cnn_status launch(cuda_context *context, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const weights_args w = naive_args<weights_args>(plan);
    const cuda_shape shape = naive_shape(plan);
    T *parts = w.choice.splits > 1 ? static_cast<T *>(a->workspace) : NULL;
    const weights_outputs<T> out = {static_cast<T *>(a->dw), static_cast<T *>(a->db), parts, a->beta != 0};
    cnn_status status = CNN_INTERNAL;
#define CASE(c, s)                                                                                                     \
    if (w.choice.channels == (c) && w.choice.columns == (s))                                                           \
        status = cuda_launch(context, shape, err, weights_kernel<T, c, s>, w.p, a->x, a->dy, out);
    TILE_SIZES(CASE)
#undef CASE
    if (status != CNN_OK || parts == NULL) return status;
    const dim3 grid((unsigned)ceil_div(w.p.results, ADD_RESULTS)), block(ADD_RESULTS, ADD_PARTS);
    return cuda_launch(context, {shape.kernel, grid, block, 0}, err, add_parts<T>, w.p, out, w.choice.splits);
}

cnn_status weights_run(cuda_context *context, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    return CUDA_BY_DTYPE(plan->problem.u.type.dtype, launch<T>(context, plan, a, err));
}
