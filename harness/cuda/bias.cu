/* bias.cu: one pass each. The gradient is a block a channel in NCHW, its sum a tree of a fixed shape; in NHWC, where
 * channels lie side by side, a block takes 32 channels and each of its warps every 32nd pixel. Large batches are cut
 * into parts, whose sums the last block to arrive adds up in a fixed order.
 *
 * Bottleneck: memory. cudnnConvolutionBackwardBias() took longer than the convolution itself. */
#include "harness/cuda/bias.h"
#include "harness/cuda/real.h"
#include "harness/cuda/reduce.h"

enum { MOST_THREADS = 1024, LANES = 32, NHWC_THREADS = LANES * LANES };

template <typename T, typename I>
__global__ void bias_add_kernel(int64_t count, I channels, I pixels, bool nhwc, const T *b, T *y)
{
    for (CUDA_GRID_STRIDE(i, count)) {
        const I at = static_cast<I>(i);
        y[i] += b[nhwc ? at % channels : at / pixels % channels];
    }
}

/* One thread's sum over a channel of images [n, last), pixels a block's width apart: four sums, so that four loads are
 * under way at a time. The (image, pixel) pair is stepped, not divided for. */
template <typename T, typename I>
__device__ cuda_real<T> sum_of_images(int64_t n, int64_t last, int64_t channels, int64_t channel, I pixels, const T *dy)
{
    cuda_real<T> sum[4] = {0, 0, 0, 0};
    I p = threadIdx.x % pixels;
    const I step_n = blockDim.x / pixels, step_p = blockDim.x % pixels;
    n += static_cast<int64_t>(threadIdx.x / pixels);
    while (n < last) {
        cuda_real<T> at[4];
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const int64_t from = (n * channels + channel) * static_cast<int64_t>(pixels) + static_cast<int64_t>(p);
            at[j] = n < last ? cuda_load(dy[from]) : cuda_real<T>(0);
            n += static_cast<int64_t>(step_n);
            p += step_p;
            if (p >= pixels) {
                p -= pixels;
                n++;
            }
        }
#pragma unroll
        for (int j = 0; j < 4; j++) sum[j] += at[j];
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* Grid (channel, part of the batch). The last part to arrive adds the partial sums, always in the same order. */
template <typename T, typename R, typename I>
__global__ void __launch_bounds__(MOST_THREADS)
    bias_gradient_nchw(int64_t mb, I pixels, const T *dy, R *db, bool add, cuda_scratch *scratch)
{
    CUDA_SHARED(cuda_real<T>, shared, [32]);
    const int64_t c = blockIdx.x, parts = gridDim.y, part = blockIdx.y;
    cuda_real<T> total =
        cuda_block_sum(sum_of_images(mb * part / parts, mb * (part + 1) / parts, gridDim.x, c, pixels, dy), shared);
    if (threadIdx.x != 0) return;
    if (parts > 1) {
        volatile double *partials = scratch->partials + c * parts;
        partials[part] = static_cast<double>(total);
        __threadfence();
        if (atomicAdd(&scratch->arrived[c], 1u) != parts - 1) return;
        __threadfence();
        double sum = 0;
        for (int64_t i = 0; i < parts; i++) sum += partials[i];
        scratch->arrived[c] = 0;
        total = static_cast<cuda_real<T>>(sum);
    }
    cuda_put(&db[c], total, add);
}

/* One thread's sum over a channel of rows [r, last), every 32nd: four sums, so that four loads are under way at a time.
 */
template <typename T>
__device__ cuda_real<T> sum_of_rows(int64_t r, int64_t last, int64_t channels, int64_t c, const T *dy)
{
    cuda_real<T> sum[4] = {0, 0, 0, 0};
    for (; r < last; r += 4 * LANES) {
#pragma unroll
        for (int j = 0; j < 4; j++)
            if (r + j * LANES < last) sum[j] += cuda_load(dy[(r + j * LANES) * channels + c]);
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* Grid (32 channels, part of the rows). The last part to arrive adds the partial sums, always in the same order. */
template <typename T, typename R>
__global__ void __launch_bounds__(NHWC_THREADS)
    bias_gradient_nhwc(int64_t rows, int64_t channels, const T *dy, R *db, bool add, cuda_scratch *scratch)
{
    CUDA_SHARED(cuda_real<T>, shared, [LANES][LANES + 1]);
    CUDA_SHARED(unsigned, before, [1]);
    const int lane = static_cast<int>(threadIdx.x) % LANES, row = static_cast<int>(threadIdx.x) / LANES;
    const int64_t parts = gridDim.y, part = blockIdx.y, c = static_cast<int64_t>(blockIdx.x) * LANES + lane;
    const int64_t first = rows * part / parts, last = rows * (part + 1) / parts;
    shared[row][lane] = c < channels ? sum_of_rows(first + row, last, channels, c, dy) : cuda_real<T>(0);
    __syncthreads();
    cuda_real<T> total = cuda_warp_sum(shared[lane][row]); /* warp `row` now sums the block's channel `row` */
    const int64_t mine = static_cast<int64_t>(blockIdx.x) * LANES + row;
    if (parts > 1) {
        volatile double *partials = scratch->partials + mine * parts;
        if (lane == 0 && mine < channels) partials[part] = static_cast<double>(total);
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) before[0] = atomicAdd(&scratch->arrived[blockIdx.x], 1u);
        __syncthreads();
        if (before[0] != parts - 1) return;
        __threadfence();
        double sum = 0;
        for (int64_t i = lane; i < parts && mine < channels; i += LANES) sum += partials[i];
        total = static_cast<cuda_real<T>>(cuda_warp_sum(sum));
        if (threadIdx.x == 0) scratch->arrived[blockIdx.x] = 0;
    }
    if (lane == 0 && mine < channels) cuda_put(&db[mine], total, add);
}

cnn_status cuda_bias_add(cuda_context *c, const cuda_bias *s, const void *b, void *y, cnn_error *err)
{
    const int64_t count = s->mb * s->channels * s->pixels;
    const cuda_shape shape = cuda_shape_pointwise(c, s->knobs, "bias_add", count);
    return CUDA_BY_TYPES(s->t.dtype, count < (int64_t)1 << 31, uint32_t, uint64_t,
                         cuda_launch(c, shape, err, bias_add_kernel<T, I>, count, s->channels, s->pixels,
                                     s->t.layout == CNN_NHWC, b, y));
}

/* Into how many parts the batch is cut (NHWC: its pixels): by the problem and `parts` alone. */
static int64_t parts_of(const cuda_bias *s, bool nhwc)
{
    const int64_t elems_a_part = nhwc ? 512 : 16384, most = s->parts, room = CUDA_PARTIALS_MAX / s->channels;
    int64_t parts = s->mb * s->pixels / elems_a_part;
    if (parts > s->mb && !nhwc) parts = s->mb;
    if (parts > most) parts = most;
    if (parts > room) parts = room;
    return parts < 1 || s->channels > CUDA_SUMS_MAX ? 1 : parts;
}

cnn_status cuda_bias_gradient(cuda_context *c, const cuda_bias *s, const void *dy, void *db, double beta,
                              cnn_error *err)
{
    const bool add = beta != 0;
    if (s->t.layout == CNN_NHWC || s->pixels == 1) {
        const dim3 grid(static_cast<unsigned>((s->channels + LANES - 1) / LANES),
                        static_cast<unsigned>(parts_of(s, true)));
        const cuda_shape shape = {"bias_gradient", grid, dim3(NHWC_THREADS), 0};
        return CUDA_BY_PARTS(s->t.dtype, cuda_launch(c, shape, err, bias_gradient_nhwc<T, R>, s->mb * s->pixels,
                                                     s->channels, dy, db, add, c->scratch));
    }
    const dim3 grid(static_cast<unsigned>(s->channels), static_cast<unsigned>(parts_of(s, false)));
    const cuda_shape shape = {"bias_gradient", grid, dim3(static_cast<unsigned>(s->threads)), 0};
    return CUDA_BY_PARTS_INDEXED(
        s->t.dtype, s->pixels <= INT32_MAX, uint32_t, uint64_t,
        cuda_launch(c, shape, err, bias_gradient_nchw<T, R, I>, s->mb, s->pixels, dy, db, add, c->scratch));
}

/* Of a transposed convolution, whose y has the shape of the convolution's x. */
static cuda_bias turned_bias(const cnn_plan *plan)
{
    enum { THREADS = 1024, PARTS = 32 };
    const cnn_conv_desc *d = &plan->problem.u.conv;
    const cuda_bias bias = {d->t, d->mb, d->ic, d->ih * d->iw, THREADS, PARTS, plan->knobs};
    return bias;
}

cnn_status cuda_bias_add_slot(cnn_context *c, const cnn_plan *plan, const cnn_bias_args *args, cnn_error *err)
{
    const cuda_bias bias = turned_bias(plan);
    return cuda_bias_add((cuda_context *)c, &bias, args->b, args->y, err);
}

cnn_status cuda_bias_gradient_slot(cnn_context *c, const cnn_plan *plan, const cnn_bias_args *args, cnn_error *err)
{
    const cuda_bias bias = turned_bias(plan);
    return cuda_bias_gradient((cuda_context *)c, &bias, args->dy, args->db, args->beta, err);
}
