/* fc_tiled.cu: the fully connected layer in tiles.
 *
 * What changed against fc_naive.cu:
 *   FWD    a warp computes a tile of outputs x images; its lanes share each sum, so that neighbouring lanes read
 *          neighbouring inputs and weights, and a load serves the whole tile; shuffles add up the lanes' shares.
 *   BWD_D  a thread computes one input of several images: a weight is loaded once for them all; the dy's are the same
 *          for the whole warp.
 *   BWD_W  is the convolution's, with one output pixel an image and a kernel as large as the input (weights.cu).
 * All sums are in a fixed order: deterministic.
 * Expected bottleneck: for the few outputs of a classifier, the latency of a launch, then memory; for large layers, the
 * loads from L1, one for every two multiply-adds or less (cuBLAS does far better there). */
#include "harness/cuda/epilogue.h"
#include "harness/cuda/reduce.h"
#include "impl_cuda_naive/weights.h"

enum { WARP = 32, BUSY_WARPS = 2048, BUSY_THREADS = 65536 };

struct fc_tiled_shape {
    int64_t mb, oc, inputs;
    int64_t channels, pixels; /* of NHWC; for NCHW 1 and inputs: the order of the weights, then */
};

/* Input e in the order of memory is that of which weight; and the other way round. */
static __device__ inline int64_t weight_of(const fc_tiled_shape &s, int64_t e)
{
    return s.channels == 1 ? e : e % s.channels * s.pixels + e / s.channels;
}
static __device__ inline int64_t place_of(const fc_tiled_shape &s, int64_t e)
{
    return s.channels == 1 ? e : e % s.pixels * s.channels + e / s.pixels;
}

/* A lane's share of the tile at output k0 and image n0. What is beyond the last one is read from it, and not written.
 */
template <typename T, int OUTPUTS, int IMAGES>
static __device__ inline void add_inputs(const fc_tiled_shape &s, const T *x, const T *w, int64_t k0, int64_t n0,
                                         T (&sums)[OUTPUTS][IMAGES])
{
#pragma unroll 4
    for (int64_t e = threadIdx.x % WARP; e < s.inputs; e += WARP) {
        const int64_t at = place_of(s, e);
        T values[IMAGES];
#pragma unroll
        for (int i = 0; i < IMAGES; i++) values[i] = x[min(n0 + i, s.mb - 1) * s.inputs + at];
#pragma unroll
        for (int o = 0; o < OUTPUTS; o++) {
            const T weight = w[min(k0 + o, s.oc - 1) * s.inputs + e];
#pragma unroll
            for (int i = 0; i < IMAGES; i++) sums[o][i] += weight * values[i];
        }
    }
}

template <typename T, int OUTPUTS, int IMAGES>
static __global__ void fc_tiled_fwd(fc_tiled_shape s, const T *__restrict__ x, const T *__restrict__ w,
                                    const T *__restrict__ b, T *y, cuda_epilogue<T> epilogue)
{
    const int64_t across = (s.oc + OUTPUTS - 1) / OUTPUTS, down = (s.mb + IMAGES - 1) / IMAGES;
    const int64_t warps = (int64_t)gridDim.x * (blockDim.x / WARP);
    const int lane = (int)(threadIdx.x % WARP);
    for (int64_t tile = blockIdx.x * (int64_t)(blockDim.x / WARP) + threadIdx.x / WARP; tile < across * down;
         tile += warps) {
        const int64_t k0 = tile % across * OUTPUTS, n0 = tile / across * IMAGES;
        T sums[OUTPUTS][IMAGES] = {};
        add_inputs<T, OUTPUTS, IMAGES>(s, x, w, k0, n0, sums);
#pragma unroll
        for (int o = 0; o < OUTPUTS; o++)
#pragma unroll
            for (int i = 0; i < IMAGES; i++) {
                T sum = cuda_warp_sum(sums[o][i]);
                if (lane != o * IMAGES + i || k0 + o >= s.oc || n0 + i >= s.mb) continue;
                if (b != NULL) sum += b[k0 + o];
                epilogue.put(y, (n0 + i) * s.oc + k0 + o, sum);
            }
    }
}

template <typename T, int IMAGES>
static __global__ void fc_tiled_bwd_data(fc_tiled_shape s, const T *__restrict__ dy, const T *__restrict__ w,
                                         T *__restrict__ dx, bool add)
{
    const int64_t count = s.inputs * ((s.mb + IMAGES - 1) / IMAGES);
    for (CUDA_GRID_STRIDE(tile, count)) {
        const int64_t n0 = tile / s.inputs * IMAGES, e = tile % s.inputs;
        const T *weights = w + weight_of(s, e);
        T sums[IMAGES] = {};
#pragma unroll 4
        for (int64_t k = 0; k < s.oc; k++) {
            const T weight = weights[k * s.inputs];
#pragma unroll
            for (int i = 0; i < IMAGES; i++) sums[i] += weight * dy[min(n0 + i, s.mb - 1) * s.oc + k];
        }
#pragma unroll
        for (int i = 0; i < IMAGES; i++) {
            if (n0 + i >= s.mb) break;
            T *out = &dx[(n0 + i) * s.inputs + e];
            *out = add ? *out + sums[i] : sums[i];
        }
    }
}

static fc_tiled_shape shape_of(const cnn_fc_desc *d)
{
    const int64_t pixels = d->ih * d->iw;
    const bool straight = d->t.layout == CNN_NCHW || pixels == 1 || d->ic == 1;
    return {d->mb, d->oc, d->ic * pixels, straight ? 1 : d->ic, straight ? d->ic * pixels : pixels};
}

/* A thread's or warp's tile: the largest that still makes enough of them; a knob that is not 0 decides its side. */
struct fc_tile {
    int outputs, images;
};
#define FC_TILES(CASE)                                                                                                 \
    CASE(1, 1) CASE(1, 2) CASE(1, 4) CASE(2, 1) CASE(2, 2) CASE(2, 4) CASE(4, 1) CASE(4, 2) CASE(4, 4)

static cnn_status fit_fwd(const cuda_context *context, const cnn_request *r, naive_launch *l, cnn_error *)
{
    const cnn_fc_desc *d = &r->problem->u.fc;
    const int64_t *knobs = r->knobs;
    fc_tile t = {4, 4};
    while (t.images > 1 && ceil_div(d->oc, t.outputs) * ceil_div(d->mb, t.images) < BUSY_WARPS) t.images /= 2;
    while (t.outputs > 1 && ceil_div(d->oc, t.outputs) * ceil_div(d->mb, t.images) < BUSY_WARPS) t.outputs /= 2;
    if (knobs[NAIVE_KNOB_FC_OUTPUTS] != 0) t.outputs = (int)knobs[NAIVE_KNOB_FC_OUTPUTS];
    if (knobs[NAIVE_KNOB_FC_IMAGES] != 0) t.images = (int)knobs[NAIVE_KNOB_FC_IMAGES];
    naive_put_args(l, t);
    naive_put_stride(context, ceil_div(d->oc, t.outputs) * ceil_div(d->mb, t.images) * WARP,
                     knobs[NAIVE_KNOB_FC_THREADS], knobs[NAIVE_KNOB_FC_BLOCKS], l);
    return CNN_OK;
}

static cnn_status run_fwd(cuda_context *context, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const fc_tile t = naive_args<fc_tile>(plan);
    const fc_tiled_shape s = shape_of(&plan->problem.u.fc);
#define CASE(o, i)                                                                                                     \
    if (t.outputs == (o) && t.images == (i))                                                                           \
        return CUDA_BY_DTYPE(plan->problem.u.type.dtype,                                                               \
                             cuda_launch(context, naive_shape(plan), err, fc_tiled_fwd<T, o, i>, s, a->x, a->w, a->b,  \
                                         a->y, cuda_epilogue_of<T>(plan, a)));
    FC_TILES(CASE)
#undef CASE
    return CNN_FAIL(err, CNN_INTERNAL, "no FC kernel of %d outputs and %d images", t.outputs, t.images);
}

static cnn_status fit_bwd_data(const cuda_context *context, const cnn_request *r, naive_launch *l, cnn_error *)
{
    const cnn_fc_desc *d = &r->problem->u.fc;
    const int64_t inputs = d->ic * d->ih * d->iw;
    fc_tile t = {1, 4};
    while (t.images > 1 && inputs * ceil_div(d->mb, t.images) < BUSY_THREADS) t.images /= 2;
    if (r->knobs[NAIVE_KNOB_FC_IMAGES] != 0) t.images = (int)r->knobs[NAIVE_KNOB_FC_IMAGES];
    naive_put_args(l, t);
    naive_put_stride(context, inputs * ceil_div(d->mb, t.images), r->knobs[NAIVE_KNOB_FC_THREADS],
                     r->knobs[NAIVE_KNOB_FC_BLOCKS], l);
    return CNN_OK;
}

static cnn_status run_bwd_data(cuda_context *context, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const fc_tile t = naive_args<fc_tile>(plan);
    const fc_tiled_shape s = shape_of(&plan->problem.u.fc);
#define CASE(i)                                                                                                        \
    if (t.images == (i))                                                                                               \
        return CUDA_BY_DTYPE(plan->problem.u.type.dtype,                                                               \
                             cuda_launch(context, naive_shape(plan), err, fc_tiled_bwd_data<T, i>, s, a->dy, a->w,     \
                                         a->dx, a->beta != 0));
    CASE(1)
    CASE(2)
    CASE(4)
#undef CASE
    return CNN_FAIL(err, CNN_INTERNAL, "no FC kernel of %d images", t.images);
}

static cnn_status fit_bwd_weights(const cuda_context *, const cnn_request *r, naive_launch *l, cnn_error *err)
{
    const cnn_conv_desc conv = cnn_fc_as_conv(&r->problem->u.fc);
    return weights_fit(&conv, r->knobs, "naive", l, err);
}

const naive_kernel naive_fc_tiled_fwd = {"fc_tiled_fwd", fit_fwd, run_fwd},
                   naive_fc_tiled_bwd_data = {"fc_tiled_bwd_data", fit_bwd_data, run_bwd_data},
                   naive_fc_tiled_bwd_weights = {"fc_tiled_bwd_weights", fit_bwd_weights, weights_run};
