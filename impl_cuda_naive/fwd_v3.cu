/* fwd_v3.cu: version 3 of the forward convolution: tiles in shared memory.
 *
 * What changed: a block makes a tile of outputs (tile_oc channels of tile_h x tile_w pixels), one a thread, and first
 * copies what they all read into shared memory: the piece of x under the tile, zeros where it is padding, and the
 * filters. Each x is then fetched once a block instead of once a tap, and the inner loops have no conditions. Channels
 * are staged a few at a time, as many as the shared memory allows; one that does not fit at all is refused.
 * Expected bottleneck: two reads of shared memory a multiply-add, and waiting at the barriers while tiles are copied;
 * with a stride, half of what is copied or more is read by few. */
#include "harness/cuda/epilogue.h"
#include "impl_cuda_naive/shape.h"

struct tile_sizes {
    int32_t w, h, oc;     /* of the outputs: the block's threads */
    int32_t in_w, in_h;   /* of the piece of x under it */
    int32_t channels;     /* staged at once */
    int32_t across, down; /* tiles of an image */
    int32_t group_tiles;  /* tiles of a group's output channels */
};

/* Copies channels c0 .. c0 + count - 1 of the tile at (top, left) of an image, zeros outside it. */
template <typename T>
static __device__ inline void stage_x(const conv_shape<int32_t> &s, const tile_sizes &t, const T *image, int32_t count,
                                      int32_t top, int32_t left, int32_t thread, int32_t threads, T *staged)
{
    const int32_t area = t.in_h * t.in_w;
    for (int32_t e = thread; e < count * area; e += threads) {
        const int32_t c = e / area, h = top + e % area / t.in_w, v = left + e % area % t.in_w;
        const bool inside = h >= 0 && h < s.ih && v >= 0 && v < s.iw;
        staged[e] = inside ? image[c * s.x.c + h * s.x.h + v * s.x.w] : 0;
    }
}

/* Copies `count` channels of the filters k0 .. k0 + t.oc - 1, those that there are, as [k][c][tap]. */
template <typename T>
static __device__ inline void stage_w(const conv_shape<int32_t> &s, const tile_sizes &t, const T *w, int32_t count,
                                      int32_t k0, int32_t thread, int32_t threads, T *staged)
{
    const int32_t taps = s.kh * s.kw, filter = count * taps;
    for (int32_t e = thread; e < t.oc * filter; e += threads) {
        const int32_t k = e / filter, c = e % filter / taps, tap = e % taps;
        const bool exists = k0 + k < s.group_oc;
        staged[e] = exists ? w[k * s.w.k + c * s.w.c + tap / s.kw * s.w.i + tap % s.kw * s.w.j] : 0;
    }
}

template <typename T>
static __device__ inline T staged_sum(const conv_shape<int32_t> &s, const tile_sizes &t, const T *x, const T *w,
                                      int32_t count)
{
    T sum = 0;
    x += (int32_t)threadIdx.y * s.sh * t.in_w + (int32_t)threadIdx.x * s.sw;
    w += (int32_t)threadIdx.z * count * s.kh * s.kw;
    for (int32_t c = 0; c < count; c++)
        for (int32_t i = 0; i < s.kh; i++)
            for (int32_t j = 0; j < s.kw; j++) sum += *w++ * x[(c * t.in_h + i * s.dh) * t.in_w + j * s.dw];
    return sum;
}

template <typename T>
static __global__ void fwd_v3(conv_shape<int32_t> s, tile_sizes t, const T *__restrict__ x, const T *__restrict__ w,
                              const T *__restrict__ b, T *y, cuda_epilogue<T> epilogue)
{
    CUDA_DYNAMIC_SHARED(T, staged_x);
    T *staged_w = staged_x + t.channels * t.in_h * t.in_w;
    const int32_t tile = (int32_t)(blockIdx.x % ((uint32_t)t.across * (uint32_t)t.down));
    const int64_t n = blockIdx.x / ((uint32_t)t.across * (uint32_t)t.down);
    const int32_t p0 = tile / t.across * t.h, q0 = tile % t.across * t.w;
    const int32_t group = (int32_t)blockIdx.y / t.group_tiles, k0 = (int32_t)blockIdx.y % t.group_tiles * t.oc;
    const int32_t threads = (int32_t)(blockDim.x * blockDim.y * blockDim.z);
    const int32_t thread = (int32_t)(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
    const T *image = x + n * s.x.n + group * s.group_ic * s.x.c;
    const T *filters = w + s.w.first + (group * s.group_oc + k0) * s.w.k;
    T sum = 0;
    for (int32_t c = 0; c < s.group_ic; c += t.channels) {
        const int32_t count = s.group_ic - c < t.channels ? s.group_ic - c : t.channels;
        __syncthreads(); /* the previous channels are read */
        stage_x(s, t, image + c * s.x.c, count, p0 * s.sh - s.ph, q0 * s.sw - s.pw, thread, threads, staged_x);
        stage_w(s, t, filters + c * s.w.c, count, k0, thread, threads, staged_w);
        __syncthreads();
        sum += staged_sum(s, t, staged_x, staged_w, count);
    }
    const int32_t p = p0 + (int32_t)threadIdx.y, q = q0 + (int32_t)threadIdx.x, k = k0 + (int32_t)threadIdx.z;
    if (p >= s.oh || q >= s.ow || k >= s.group_oc) return;
    const int32_t channel = group * s.group_oc + k;
    if (b != NULL) sum += b[channel];
    epilogue.put(y, n * s.y.n + channel * s.y.c + p * s.y.h + q * s.y.w, sum);
}

/* Everything in 64 bits first: what the gate compares with the device's limits. A side of MUCH is refused whatever the
 * other one is; cutting it there keeps the product from overflowing. */
static cnn_status fit(const cuda_context *context, const cnn_request *r, naive_launch *l, cnn_error *err)
{
    const cnn_conv_desc *d = &r->problem->u.conv;
    const int64_t group_oc = d->oc / d->g, group_ic = d->ic / d->g, asked = r->knobs[NAIVE_KNOB_V3_SHARED] * 1024;
    const int64_t device = (int64_t)context->properties.sharedMemPerBlockOptin, limit = smaller(device, asked),
                  MUCH = 1 << 20;
    const cnn_status status = conv_check_32("v3", "v2", d, err);
    if (status != CNN_OK) return status;
    l->block[0] = smaller(r->knobs[NAIVE_KNOB_V3_TILE_W], d->ow);
    l->block[1] = smaller(r->knobs[NAIVE_KNOB_V3_TILE_H], d->oh);
    l->block[2] = smaller(r->knobs[NAIVE_KNOB_V3_TILE_OC], group_oc);
    const int64_t in_w = smaller((l->block[0] - 1) * d->sw + cnn_extent(d->kw, d->dw), MUCH);
    const int64_t in_h = smaller((l->block[1] - 1) * d->sh + cnn_extent(d->kh, d->dh), MUCH);
    const int64_t channel = (in_w * in_h + l->block[2] * d->kh * d->kw) * (int64_t)element_size(d);
    const int64_t across = ceil_div(d->ow, l->block[0]), down = ceil_div(d->oh, l->block[1]);
    const int64_t channels = smaller(limit / channel, group_ic), group_tiles = ceil_div(group_oc, l->block[2]);
    if (channels == 0)
        return CNN_FAIL(err, CNN_UNSUPPORTED,
                        "v3: the smallest tile needs %lld bytes of shared memory; %lld are allowed by the knob, %lld "
                        "by the device",
                        (long long)channel, (long long)asked, (long long)device);
    const tile_sizes t = {(int32_t)l->block[0], (int32_t)l->block[1], (int32_t)l->block[2],
                          (int32_t)in_w,        (int32_t)in_h,        (int32_t)channels,
                          (int32_t)across,      (int32_t)down,        (int32_t)group_tiles};
    naive_put_args(l, t);
    l->grid[0] = d->mb * across * down;
    l->grid[1] = d->g * group_tiles;
    l->shared_bytes = channel * channels;
    return CNN_OK;
}

static cnn_status run(cuda_context *context, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const cnn_conv_desc *d = &plan->problem.u.conv;
    return CUDA_BY_DTYPE(d->t.dtype, cuda_launch(context, naive_shape(plan), err, fwd_v3<T>, conv_shape_of<int32_t>(d),
                                                 naive_args<tile_sizes>(plan), a->x, a->w, a->b, a->y,
                                                 cuda_epilogue_of<T>(plan, a)));
}

const naive_kernel naive_fwd_v3 = {"fwd_v3", fit, run};
