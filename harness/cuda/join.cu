/* join.cu: add, and concatenation along the channels. Concat moves each input's contiguous runs (a whole image's
 * channels in NCHW, a pixel's in NHWC) to or from its place in the wide tensor, one launch an input.
 * Bottleneck: memory; in NHWC with few channels, the division an element takes. */
#include "harness/cuda/pack.h"

template <typename T> struct sum_of {
    __device__ T operator()(T a, T b) const { return a + b; }
};

template <typename T> static cnn_status add(cuda_context *c, int64_t count, const cnn_join_args *a, cnn_error *err)
{
    return cuda_launch(c, cuda_pack_shape<T>(c, "add", count), err, cuda_map2<T, sum_of<T>>, count,
                       static_cast<const T *>(a->x[0]), static_cast<const T *>(a->x[1]), static_cast<T *>(a->y),
                       sum_of<T>());
}

cnn_status cuda_add_fwd(cnn_context *context, const cnn_plan *plan, const cnn_join_args *args, cnn_error *err)
{
    cuda_context *c = reinterpret_cast<cuda_context *>(context);
    const cnn_add_desc *d = &plan->problem.u.add;
    const int64_t count = d->mb * d->ic * d->ih * d->iw;
    return d->t.dtype == CNN_F32 ? add<float>(c, count, args, err) : add<double>(c, count, args, err);
}

/* Runs of `run` elements: packed one after another on one side, `stride` apart from `offset` on, on the other. */
struct concat_runs {
    int64_t count, run, stride, offset;
};

template <typename T> __global__ void join_kernel(concat_runs r, const T *packed, T *wide)
{
    for (CUDA_GRID_STRIDE(i, r.count)) wide[i / r.run * r.stride + r.offset + i % r.run] = packed[i];
}

template <typename T> __global__ void split_kernel(concat_runs r, T *packed, const T *wide)
{
    for (CUDA_GRID_STRIDE(i, r.count)) packed[i] = wide[i / r.run * r.stride + r.offset + i % r.run];
}

/* Input i's runs; the offset is where the inputs before it end. */
static concat_runs runs_of(const cnn_concat_desc *d, int i)
{
    const int64_t pixels = d->ih * d->iw, unit = d->t.layout == CNN_NCHW ? pixels : 1;
    concat_runs r = {d->mb * d->ic[i] * pixels, d->ic[i] * unit, 0, 0};
    for (int k = 0; k < d->n_inputs; k++) {
        r.stride += d->ic[k] * unit;
        if (k < i) r.offset += d->ic[k] * unit;
    }
    return r;
}

template <typename T>
static cnn_status concat(cuda_context *c, const cnn_concat_desc *d, const cnn_join_args *a, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = 0; i < d->n_inputs && status == CNN_OK; i++) {
        const concat_runs r = runs_of(d, i);
        status = cuda_launch(c, cuda_shape_1d(c, "concat_fwd", r.count, 0, 0), err, join_kernel<T>, r,
                             static_cast<const T *>(a->x[i]), static_cast<T *>(a->y));
    }
    return status;
}

template <typename T>
static cnn_status split(cuda_context *c, const cnn_concat_desc *d, const cnn_split_args *a, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = 0; i < d->n_inputs && status == CNN_OK; i++) {
        const concat_runs r = runs_of(d, i);
        if (a->dx[i] == NULL) continue;
        status = cuda_launch(c, cuda_shape_1d(c, "concat_bwd", r.count, 0, 0), err, split_kernel<T>, r,
                             static_cast<T *>(a->dx[i]), static_cast<const T *>(a->dy));
    }
    return status;
}

cnn_status cuda_concat_fwd(cnn_context *context, const cnn_plan *plan, const cnn_join_args *args, cnn_error *err)
{
    cuda_context *c = reinterpret_cast<cuda_context *>(context);
    const cnn_concat_desc *d = &plan->problem.u.concat;
    return d->t.dtype == CNN_F32 ? concat<float>(c, d, args, err) : concat<double>(c, d, args, err);
}

cnn_status cuda_concat_bwd(cnn_context *context, const cnn_plan *plan, const cnn_split_args *args, cnn_error *err)
{
    cuda_context *c = reinterpret_cast<cuda_context *>(context);
    const cnn_concat_desc *d = &plan->problem.u.concat;
    return d->t.dtype == CNN_F32 ? split<float>(c, d, args, err) : split<double>(c, d, args, err);
}
