/* small.cu: a convolution of few channels and pixels: see small.h for what it computes.
 *
 * What changed against version 4: where all products take less time than the launch, what counts is how often a thread
 * waits: for memory, at a barrier, for a quotient. A thread computes 4 written channels of one pixel. It finds the
 * places of a batch of taps (all 9 of a 3x3 kernel) once, then asks for 4 read channels of all of them together, before
 * it multiplies: 36 numbers, of which the compiler's listing has 33 loads in a row. Up to 4 threads share a pixel with
 * more read channels than these, and add up through shared memory. The weights are in shared memory with 4 written
 * channels side by side, staged once where they fit. An image is the grid's z, so the pixel's row is the only quotient.
 * Expected bottleneck: the launch, then one wait for memory, of x and the weights. Where there are many channels a tile
 * of version 4 takes fewer loads a product. */
#include "harness/cuda/epilogue.h"
#include "impl_cuda_naive/small.h"

enum {
    SMALL_THREADS = 128,
    SMALL_WRITTEN = 4, /* channels that a thread writes ... */
    SMALL_READ = 4,    /* ... and those it reads at once */
    SMALL_STAGED = 768 /* weights of 4 written channels in shared memory: 24 KiB of f64 */
};

template <typename T> struct alignas(16) small_quad {
    T v[SMALL_WRITTEN];
};

/* The position that `at` reads by tap t; -1: none. */
template <bool DIVIDES> static __device__ inline int32_t small_position(const small_axis &axis, int32_t at, int32_t t)
{
    int32_t position = at * axis.step + axis.start + t * axis.tap_step;
    if (DIVIDES && axis.stride > 1) {
        if (position < 0 || position % axis.stride != 0) return -1;
        position /= axis.stride;
    }
    return position >= 0 && position < axis.size ? position : -1;
}

/* Weights of taps t0.. and read channels k0.. into shared memory as [k][tap], zeros behind the last written channel. */
template <typename T, int SIDE>
static __device__ inline void small_stage(const small_problem &p, const T *w, int32_t m0, int32_t k0, int32_t ks,
                                          int32_t t0, int32_t ts, small_quad<cuda_real<T>> *staged)
{
    const int32_t width = SIDE > 0 ? SIDE : p.kw;
    for (int32_t e = (int32_t)threadIdx.x; e < ks * ts; e += SMALL_THREADS) {
        const int32_t k = e / ts, t = t0 + e - k * ts, i = t / width, j = t - i * width;
        const T *from = w + m0 * p.w_m + (k0 + k) * p.w_k + i * p.w.i + j * p.w.j;
        small_quad<cuda_real<T>> quad;
#pragma unroll
        for (int r = 0; r < SMALL_WRITTEN; r++) quad.v[r] = m0 + r < p.m ? cuda_load(from[r * p.w_m]) : 0;
        staged[e] = quad;
    }
}

/* Where the taps of a batch read, from t on: -1 in the padding, and behind tap `end`. */
template <int SIDE, int BATCH>
static __device__ inline void small_places(const small_problem &p, int32_t a, int32_t b, int32_t t, int32_t end,
                                           int32_t (&at)[BATCH])
{
    if constexpr (SIDE > 0) {
        int32_t rows[SIDE], cols[SIDE];
#pragma unroll
        for (int i = 0; i < SIDE; i++) {
            rows[i] = small_position<false>(p.rows, a, i);
            cols[i] = small_position<false>(p.cols, b, i);
        }
#pragma unroll
        for (int l = 0; l < BATCH; l++) {
            const int32_t h = rows[l / SIDE], v = cols[l % SIDE];
            at[l] = h >= 0 && v >= 0 ? h * p.in.h + v * p.in.w : -1;
        }
    } else {
#pragma unroll
        for (int l = 0; l < BATCH; l++) {
            const int32_t i = (t + l) / p.kw, j = t + l - i * p.kw;
            const int32_t h = small_position<true>(p.rows, a, i), v = small_position<true>(p.cols, b, j);
            at[l] = h >= 0 && v >= 0 && t + l < end ? h * p.in.h + v * p.in.w : -1;
        }
    }
}

/* sums += staged weights * what `in` holds under them, of every `slices`th batch of read channels from the `slice`th
 * on. SIDE: of a kernel whose taps are all staged, and without a stride to divide by; 0: any. */
template <typename T, int SIDE>
static __device__ inline void small_add(const small_problem &p, const T *in, int32_t a, int32_t b, int32_t ks,
                                        int32_t t0, int32_t ts, int32_t slice, const small_quad<cuda_real<T>> *staged,
                                        cuda_real<T> (&sums)[SMALL_WRITTEN])
{
    constexpr int BATCH = SIDE > 0 ? SIDE * SIDE : 8;
    for (int32_t first = 0; first < ts; first += BATCH) {
        int32_t at[BATCH];
        small_places<SIDE, BATCH>(p, a, b, t0 + first, t0 + ts, at);
        for (int32_t k = slice * SMALL_READ; k < ks; k += p.slices * SMALL_READ) {
            cuda_real<T> values[SMALL_READ][BATCH];
#pragma unroll
            for (int u = 0; u < SMALL_READ; u++)
#pragma unroll
                for (int l = 0; l < BATCH; l++)
                    values[u][l] = at[l] >= 0 && k + u < ks ? cuda_load(in[at[l] + (k + u) * p.in.c]) : 0;
#pragma unroll
            for (int u = 0; u < SMALL_READ; u++) {
                if (k + u >= ks) break;
#pragma unroll
                for (int l = 0; l < BATCH; l++) {
                    if (SIDE == 0 && first + l >= ts) break;
                    const small_quad<cuda_real<T>> quad = staged[(k + u) * ts + first + l];
#pragma unroll
                    for (int r = 0; r < SMALL_WRITTEN; r++) sums[r] += quad.v[r] * values[u][l];
                }
            }
        }
    }
}

/* To the sums of slice 0 those of the others, in their order. */
template <typename U>
static __device__ inline void small_add_slices(const small_problem &p, int32_t slice, U (&sums)[SMALL_WRITTEN],
                                               small_quad<U> *shares)
{
    const int32_t thread = (int32_t)threadIdx.x, width = SMALL_THREADS / p.slices;
#pragma unroll
    for (int r = 0; r < SMALL_WRITTEN; r++) shares[thread].v[r] = sums[r];
    __syncthreads();
    if (slice > 0) return;
    for (int32_t other = 1; other < p.slices; other++)
#pragma unroll
        for (int r = 0; r < SMALL_WRITTEN; r++) sums[r] += shares[other * width + thread].v[r];
}

template <typename T, typename R, int SIDE>
static __global__ void __launch_bounds__(SMALL_THREADS)
    small_kernel(small_problem p, const T *__restrict__ in, const T *__restrict__ w, const R *__restrict__ bias, R *out,
                 cuda_line_epilogue<R> epilogue)
{
    CUDA_SHARED(small_quad<cuda_real<T>>, staged, [SMALL_STAGED]);
    CUDA_SHARED(small_quad<cuda_real<T>>, shares, [SMALL_THREADS]);
    const int32_t thread = (int32_t)threadIdx.x, width = SMALL_THREADS / p.slices, slice = thread / width;
    const int32_t mine = (int32_t)blockIdx.x * width + thread % width, e = min(mine, p.pixels - 1);
    const int32_t a = e / p.width, b = e - a * p.width;
    const int32_t group = (int32_t)blockIdx.y / p.quads, m0 = ((int32_t)blockIdx.y - group * p.quads) * SMALL_WRITTEN;
    const int32_t taps = SIDE > 0 ? SIDE * SIDE : p.kh * p.kw;
    cuda_real<T> sums[SMALL_WRITTEN] = {};
    in += (int64_t)blockIdx.z * p.in.n + group * p.k * p.in.c;
    w += p.w.first + group * p.w_group;
    for (int32_t k0 = 0; k0 < p.k; k0 += p.stage_k)
        for (int32_t t0 = 0; t0<taps; t0 += SIDE> 0 ? taps : p.stage_taps) {
            const int32_t ks = min(p.stage_k, p.k - k0), ts = SIDE > 0 ? taps : min(p.stage_taps, taps - t0);
            if (k0 + t0 > 0) __syncthreads(); /* what was staged before is read */
            small_stage<T, SIDE>(p, w, m0, k0, ks, t0, ts, staged);
            __syncthreads();
            small_add<T, SIDE>(p, in + k0 * p.in.c, a, b, ks, t0, ts, slice, staged, sums);
        }
    if (p.slices > 1) small_add_slices(p, slice, sums, shares);
    if (mine >= p.pixels || slice > 0) return;
    const int64_t at = (int64_t)blockIdx.z * p.out.n + a * p.out.h + b * p.out.w;
#pragma unroll
    for (int r = 0; r < SMALL_WRITTEN; r++) {
        if (m0 + r >= p.m) break;
        const int32_t channel = group * p.m + m0 + r;
        epilogue.put(out, at + channel * p.out.c, sums[r] + (bias != NULL ? cuda_load(bias[channel]) : 0));
    }
}

/* More, while each has read channels of its own and the device is not full. */
static int32_t slices_of(const small_problem &p, int64_t groups_of_pixels, int64_t multiprocessors)
{
    int32_t slices = 1;
    while (slices < 4 && slices * SMALL_READ < p.stage_k &&
           groups_of_pixels * ceil_div(p.pixels, SMALL_THREADS / slices) < 4 * multiprocessors)
        slices *= 2;
    return slices;
}

static small_problem problem_of(const cnn_conv_desc *d, cnn_dir dir)
{
    const conv_shape<int32_t> s = conv_shape_of<int32_t>(d);
    small_problem p = {};
    p.kh = s.kh, p.kw = s.kw, p.w = s.w;
    p.w_group = s.group_oc * s.w.k;
    if (dir == CNN_FWD) {
        p.rows = {s.ih, s.sh, -s.ph, s.dh, 1}, p.cols = {s.iw, s.sw, -s.pw, s.dw, 1};
        p.pixels = s.oh * s.ow, p.width = s.ow;
        p.m = s.group_oc, p.k = s.group_ic, p.w_m = s.w.k, p.w_k = s.w.c;
        p.in = s.x, p.out = s.y;
    } else {
        p.rows = {s.oh, 1, s.ph, -s.dh, s.sh}, p.cols = {s.ow, 1, s.pw, -s.dw, s.sw};
        p.pixels = s.ih * s.iw, p.width = s.iw;
        p.m = s.group_ic, p.k = s.group_oc, p.w_m = s.w.c, p.w_k = s.w.k;
        p.in = s.y, p.out = s.x;
    }
    p.quads = (int32_t)ceil_div(p.m, SMALL_WRITTEN);
    p.stage_taps = (int32_t)smaller((int64_t)p.kh * p.kw, SMALL_STAGED);
    p.stage_k = (int32_t)smaller(p.k, SMALL_STAGED / p.stage_taps);
    return p;
}

cnn_status small_fit(const cuda_context *context, const cnn_request *r, naive_launch *l, cnn_error *err)
{
    const cnn_conv_desc *d = &r->problem->u.conv;
    const cnn_status status = conv_check_32(l->kernel, "v2", d, err);
    if (status != CNN_OK) return status;
    small_problem p = problem_of(d, r->dir);
    p.slices = slices_of(p, d->mb * d->g * p.quads, context->properties.multiProcessorCount);
    l->lines = true;
    l->grid[0] = ceil_div(p.pixels, SMALL_THREADS / p.slices);
    l->grid[1] = d->g * p.quads;
    l->grid[2] = d->mb;
    l->block[0] = SMALL_THREADS;
    naive_put_args(l, p);
    return CNN_OK;
}

cnn_status small_run(cuda_context *context, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const bool forward = plan->dir == CNN_FWD;
    const void *in = forward ? a->x : a->dy, *bias = forward ? a->b : NULL;
    void *out = forward ? a->y : a->dx;
    const small_problem p = naive_args<small_problem>(plan);
    const cuda_shape shape = naive_shape(plan);
    if (p.kh == 3 && p.kw == 3 && p.rows.stride == 1 && p.cols.stride == 1)
        return CUDA_BY_PARTS(plan->problem.u.type.dtype,
                             cuda_launch(context, shape, err, small_kernel<T, R, 3>, p, in, a->w, bias, out,
                                         cuda_line_epilogue_of<R>(plan, a)));
    return CUDA_BY_PARTS(plan->problem.u.type.dtype, cuda_launch(context, shape, err, small_kernel<T, R, 0>, p, in,
                                                                 a->w, bias, out, cuda_line_epilogue_of<R>(plan, a)));
}
