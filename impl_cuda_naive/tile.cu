/* tile.cu: a register-tiled convolution: see tile.h for what it computes.
 *
 * Idea: a thread computes CHANNELS written channels of PIXELS pixels, all in registers. A read pixel is fetched once
 * for all its channels; the weights lie in shared memory with the written channels side by side, so that one read of
 * four serves the whole warp (all its threads want the same ones). Taps are outside, read channels inside: whether a
 * tap is padding is asked once a tap, and the inner loop has no conditions, only a load a pixel and the multiply-adds.
 * Where the problem is small, `slices` threads (the block's z) share one sum, each with every slices-th tap (or
 * channel), and add up in shared memory: in order, so the result is the same each time.
 * Expected bottleneck: for many channels, the multiply-adds themselves; for few, the loads. */
#include "harness/cuda/epilogue.h"
#include "impl_cuda_naive/tile.h"

/* Copies weights of taps t0.. and read channels k0.. into shared memory as [tap][k][m], zeros behind the last m. */
template <typename T>
static __device__ inline void stage(const tile_problem &p, const tile_axis &rows, const tile_axis &cols, const T *w,
                                    int32_t m0, int32_t width, int32_t t0, int32_t taps, int32_t k0, int32_t ks,
                                    pack<T> *staged)
{
    const int32_t threads = (int32_t)(blockDim.x * blockDim.y * blockDim.z);
    const int32_t thread = (int32_t)(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
    for (int32_t e = thread; e < width * ks * taps; e += threads) {
        const int32_t t = e % taps, k = e / taps % ks, m = e / taps / ks;
        const int32_t i = rows.tap_first + (t0 + t) / cols.taps * rows.tap_every;
        const int32_t j = cols.tap_first + (t0 + t) % cols.taps * cols.tap_every;
        const bool exists = m0 + m < p.m;
        staged[((t * p.stage_k + k) * width + m) / 4].v[m % 4] =
            exists ? w[(m0 + m) * p.w_m + (k0 + k) * p.w_k + i * p.s.w.i + j * p.s.w.j] : 0;
    }
}

/* A pixel that a thread writes, and where reading for it begins; one that does not exist reads nothing. */
struct tile_pixel {
    int64_t image;
    int32_t a, b;
};

static __device__ inline tile_pixel pixel_at(int64_t index, int64_t count, int32_t height, int32_t width)
{
    if (index >= count) return {-1, 0, 0};
    if (count <= INT32_MAX) {
        const int32_t e = (int32_t)index, line = e / width;
        return {line / height, line % height, e % width};
    }
    const int64_t line = index / width;
    return {line / height, (int32_t)(line % height), (int32_t)(index % width)};
}

/* sums += staged weights * what `in` holds under one tap, over the channels first, first + every, ... < ks. */
template <typename T, int CHANNELS, int PIXELS>
static __device__ inline void add_tap(const T *const (&at)[PIXELS], const bool (&inside)[PIXELS], int32_t stride,
                                      const pack<T> *weights, int32_t width, int32_t first, int32_t every, int32_t ks,
                                      T (&sums)[CHANNELS][PIXELS])
{
    /* Loads in flight, paid for in registers. */
#pragma unroll(CHANNELS *PIXELS >= 64 ? 2 : 4)
    for (int32_t k = first; k < ks; k += every) {
        T values[PIXELS];
#pragma unroll
        for (int s = 0; s < PIXELS; s++) values[s] = inside[s] ? at[s][k * stride] : 0;
#pragma unroll
        for (int r = 0; r < CHANNELS / 4; r++) {
            const pack<T> four = weights[k * width + r];
#pragma unroll
            for (int l = 0; l < 4; l++)
#pragma unroll
                for (int s = 0; s < PIXELS; s++) sums[4 * r + l][s] += four.v[l] * values[s];
        }
    }
}

/* All staged taps: this slice's share of them, or, with fewer taps than slices, of the channels. */
template <typename T, int CHANNELS, int PIXELS>
static __device__ inline void add_staged(const tile_problem &p, const tile_axis &rows, const tile_axis &cols,
                                         const T *in, const tile_pixel (&pixels)[PIXELS], const pack<T> *weights,
                                         int32_t t0, int32_t taps, int32_t ks, T (&sums)[CHANNELS][PIXELS])
{
    const int32_t slices = (int32_t)blockDim.z, slice = (int32_t)threadIdx.z,
                  width = (int32_t)blockDim.y * CHANNELS / 4;
    const bool by_tap = taps >= slices;
    for (int32_t t = by_tap ? slice : 0; t < taps; t += by_tap ? slices : 1) {
        const int32_t ti = (t0 + t) / cols.taps, tj = (t0 + t) % cols.taps;
        const T *at[PIXELS];
        bool inside[PIXELS], any = false;
#pragma unroll
        for (int s = 0; s < PIXELS; s++) {
            const int32_t h = pixels[s].a * rows.step + rows.start + ti * rows.tap_step;
            const int32_t v = pixels[s].b * cols.step + cols.start + tj * cols.tap_step;
            inside[s] = pixels[s].image >= 0 && h >= 0 && h < rows.size && v >= 0 && v < cols.size;
            at[s] = inside[s] ? in + pixels[s].image * p.in.n + h * p.in.h + v * p.in.w : in;
            any = any || inside[s];
        }
        if (any)
            add_tap<T, CHANNELS, PIXELS>(at, inside, p.in.c,
                                         weights + t * p.stage_k * width + (int32_t)threadIdx.y * (CHANNELS / 4), width,
                                         by_tap ? 0 : slice, by_tap ? 1 : slices, ks, sums);
    }
}

/* Slice 0 gets the sum over the slices, in their order. Every thread of the block calls it. */
template <typename T, int CHANNELS, int PIXELS>
static __device__ inline void add_slices(T *buffer, T (&sums)[CHANNELS][PIXELS])
{
    const int32_t plane = (int32_t)(blockDim.x * blockDim.y);
    T *mine = buffer + threadIdx.y * blockDim.x + threadIdx.x;
    if (threadIdx.z > 0) {
#pragma unroll
        for (int r = 0; r < CHANNELS; r++)
#pragma unroll
            for (int s = 0; s < PIXELS; s++)
                mine[(((int32_t)threadIdx.z - 1) * CHANNELS * PIXELS + r * PIXELS + s) * plane] = sums[r][s];
    }
    __syncthreads();
    if (threadIdx.z > 0) return;
    for (int32_t z = 0; z < (int32_t)blockDim.z - 1; z++) {
#pragma unroll
        for (int r = 0; r < CHANNELS; r++)
#pragma unroll
            for (int s = 0; s < PIXELS; s++) sums[r][s] += mine[(z * CHANNELS * PIXELS + r * PIXELS + s) * plane];
    }
}

template <typename T, int CHANNELS, int PIXELS>
static __device__ inline void write(const tile_problem &p, const tile_axis &rows, const tile_axis &cols,
                                    const tile_pixel (&pixels)[PIXELS], int32_t group, int32_t m0, const T *bias,
                                    const T (&sums)[CHANNELS][PIXELS], T *out, const cuda_line_epilogue<T> &epilogue)
{
    int64_t at[PIXELS];
#pragma unroll
    for (int s = 0; s < PIXELS; s++) {
        at[s] = max(pixels[s].image, (int64_t)0) * p.out.n +
                (rows.write_first + pixels[s].a * rows.write_step) * p.out.h +
                (cols.write_first + pixels[s].b * cols.write_step) * p.out.w;
    }
    /* Channels outside: what belongs to a channel then takes a register once, not CHANNELS times. */
#pragma unroll
    for (int r = 0; r < CHANNELS; r++) {
        if (m0 + r >= p.m) break;
        const int32_t channel = group * p.m + m0 + r, offset = channel * p.out.c;
        const T shift = bias != NULL ? bias[channel] : 0;
#pragma unroll
        for (int s = 0; s < PIXELS; s++)
            if (pixels[s].image >= 0) epilogue.put(out, at[s] + offset, sums[r][s] + shift);
    }
}

/* Blocks go through several tiles each, so that weights which fit as a whole are staged once. */
template <typename T, int CHANNELS, int PIXELS>
static __global__ void __launch_bounds__(tile_threads(sizeof(T), CHANNELS *PIXELS), 1)
    tile_kernel(tile_problem p, const T *__restrict__ in, const T *__restrict__ w, const T *__restrict__ bias, T *out,
                cuda_line_epilogue<T> epilogue)
{
    CUDA_DYNAMIC_SHARED(pack<T>, staged);
    const conv_shape<int32_t> &d = p.s;
    const int32_t width = (int32_t)blockDim.y * CHANNELS;
    const tile_axis rows = tile_axis_of(p.backward, (int32_t)blockIdx.z / d.sw, d.ih, d.oh, d.kh, d.sh, d.ph, d.dh);
    const tile_axis cols = tile_axis_of(p.backward, (int32_t)blockIdx.z % d.sw, d.iw, d.ow, d.kw, d.sw, d.pw, d.dw);
    const int32_t group = (int32_t)blockIdx.y / p.row_tiles, m0 = (int32_t)blockIdx.y % p.row_tiles * width;
    const int32_t taps = rows.taps * cols.taps, mine = m0 + (int32_t)threadIdx.y * CHANNELS;
    const bool once = taps <= p.stage_taps && p.k <= p.stage_k; /* the weights stay from tile to tile */
    const int64_t count = (int64_t)d.mb * rows.count * cols.count, tile = (int64_t)blockDim.x * PIXELS;
    T *slices = staged[(int64_t)p.stage_taps * p.stage_k * width / 4].v;
    in += group * p.k * p.in.c;
    w += d.w.first + group * p.w_group;
    for (int64_t first = blockIdx.x * tile; first < count; first += gridDim.x * tile) {
        T sums[CHANNELS][PIXELS] = {};
        tile_pixel pixels[PIXELS];
#pragma unroll
        for (int s = 0; s < PIXELS; s++)
            pixels[s] = pixel_at(first + s * (int64_t)blockDim.x + threadIdx.x, count, rows.count, cols.count);
        for (int32_t t0 = 0; t0 < taps; t0 += p.stage_taps)
            for (int32_t k0 = 0; k0 < p.k; k0 += p.stage_k) {
                const int32_t some_taps = min(p.stage_taps, taps - t0), some_k = min(p.stage_k, p.k - k0);
                if (!once || first == blockIdx.x * tile) {
                    __syncthreads(); /* what was staged before is read */
                    stage(p, rows, cols, w, m0, width, t0, some_taps, k0, some_k, staged);
                    __syncthreads();
                }
                add_staged<T, CHANNELS, PIXELS>(p, rows, cols, in + k0 * p.in.c, pixels, staged, t0, some_taps, some_k,
                                                sums);
            }
        if (blockDim.z > 1) {
            __syncthreads(); /* the previous tile's slices are read */
            add_slices<T, CHANNELS, PIXELS>(slices, sums);
        }
        if (threadIdx.z == 0) write<T, CHANNELS, PIXELS>(p, rows, cols, pixels, group, mine, bias, sums, out, epilogue);
    }
}

cnn_status tile_run(cuda_context *context, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const bool forward = plan->dir == CNN_FWD;
    const void *in = forward ? a->x : a->dy, *bias = forward ? a->b : NULL;
    void *out = forward ? a->y : a->dx;
    const tile_args t = naive_args<tile_args>(plan);
    const cuda_shape shape = naive_shape(plan);
#define CASE(c, s)                                                                                                     \
    if (t.choice.channels == (c) && t.choice.pixels == (s))                                                            \
        return CUDA_BY_DTYPE(plan->problem.u.type.dtype,                                                               \
                             cuda_launch(context, shape, err, tile_kernel<T, c, s>, t.p, in, a->w, bias, out,          \
                                         cuda_line_epilogue_of<T>(plan, a)));
    TILE_SIZES(CASE)
#undef CASE
    return CNN_FAIL(err, CNN_INTERNAL, "%s: no kernel of %d channels and %d pixels", shape.kernel, t.choice.channels,
                    t.choice.pixels);
}
