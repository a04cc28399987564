/* bwd_w_v2.cu: version 2 of the gradient of the weights: one block a weight (or a bias), summed by a tree.
 *
 * What changed: a sum is cut among the threads of a block, so that short on weights no longer means short on threads,
 * and neighbouring threads read neighbouring pixels. The partial sums meet in a tree of fixed shape (warp shuffles,
 * then one warp over shared memory), so it stays deterministic. Outputs whose tap is padding are left out beforehand.
 * Expected bottleneck: x and dy are read again for every weight, from L2: two loads a multiply-add. */
#include "harness/cuda/reduce.h"
#include "impl_cuda_naive/shape.h"
#include "impl_cuda_naive/taps.h"

/* This thread's share of dw[k,c,i,j]: every blockDim.x-th of the outputs whose tap (i,j) lies inside x. */
template <typename T, typename I>
static __device__ cuda_real<T> weight_share(const conv_shape<I> &s, const T *x, const T *dy, I i, I j)
{
    const I top = i * s.dh - s.ph, left = j * s.dw - s.pw;
    const tap_range<I> rows = taps_inside(top, s.sh, s.ih, s.oh), cols = taps_inside(left, s.sw, s.iw, s.ow);
    const I width = cols.last - cols.first, pixels = (rows.last - rows.first) * width;
    cuda_real<T> sum = 0;
    for (int64_t e = threadIdx.x; e < (int64_t)s.mb * pixels; e += blockDim.x) {
        const I n = (I)e / pixels, pixel = (I)e % pixels, p = rows.first + pixel / width,
                q = cols.first + pixel % width;
        sum += cuda_load(x[n * s.x.n + (top + p * s.sh) * s.x.h + (left + q * s.sw) * s.x.w]) *
               cuda_load(dy[n * s.y.n + p * s.y.h + q * s.y.w]);
    }
    return sum;
}

template <typename T, typename I> static __device__ cuda_real<T> bias_share(const conv_shape<I> &s, const T *dy)
{
    const I pixels = s.oh * s.ow;
    cuda_real<T> sum = 0;
    for (int64_t e = threadIdx.x; e < (int64_t)s.mb * pixels; e += blockDim.x)
        sum += cuda_load(dy[(I)e / pixels * s.y.n + (I)e % pixels * s.y.w]);
    return sum;
}

template <typename T, typename R, typename I>
static __global__ void bwd_w_v2(conv_shape<I> s, const T *__restrict__ x, const T *__restrict__ dy, R *__restrict__ dw,
                                R *__restrict__ db, bool add)
{
    CUDA_SHARED(cuda_real<T>, warps, [32]);
    const I taps = s.kh * s.kw, filter = s.group_ic * taps, weights = s.oc * filter;
    const int64_t sums = (int64_t)weights + (db != NULL ? s.oc : 0);
    for (int64_t block = blockIdx.x; block < sums; block += gridDim.x) {
        const I e = (I)block;
        cuda_real<T> sum;
        R *out;
        if (e < weights) {
            const I j = e % s.kw, i = e / s.kw % s.kh, c = e / taps % s.group_ic, k = e / filter;
            const I channel = k / s.group_oc * s.group_ic + c;
            sum = weight_share<T, I>(s, x + channel * s.x.c, dy + k * s.y.c, i, j);
            out = &dw[s.w.first + k * s.w.k + c * s.w.c + i * s.w.i + j * s.w.j];
        } else {
            sum = bias_share<T, I>(s, dy + (e - weights) * s.y.c);
            out = &db[e - weights];
        }
        sum = cuda_block_sum(sum, warps);
        if (threadIdx.x == 0) cuda_put(out, sum, add);
    }
}

static cnn_status fit(const cuda_context *context, const cnn_request *r, naive_launch *l, cnn_error *)
{
    const cnn_conv_desc *d = &r->problem->u.conv;
    const int64_t sums = d->oc * (d->ic / d->g) * d->kh * d->kw + (d->bias ? d->oc : 0);
    const int64_t knob = r->knobs[NAIVE_KNOB_V2_REDUCE_BLOCKS] * context->properties.multiProcessorCount;
    const int64_t most = context->properties.maxGridSize[0];
    l->grid[0] = smaller(sums, knob > 0 ? smaller(knob, most) : most);
    l->block[0] = r->knobs[NAIVE_KNOB_V2_REDUCE];
    return CNN_OK;
}

static cnn_status run(cuda_context *context, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    return NAIVE_LAUNCH_INDEXED(context, plan, err, bwd_w_v2, a->x, a->dy, a->dw, a->db, a->beta != 0);
}

const naive_kernel naive_bwd_w_v2 = {"bwd_w_v2", fit, run};
