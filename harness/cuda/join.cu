/* join.cu: add, and concatenation along the channels: one launch for all inputs, a thread an element of the wide
 * tensor, which looks up the input that it belongs to. Bottleneck: memory; with many inputs, that look-up. */
#include "harness/cuda/layout.h"
#include "harness/cuda/pack.h"

template <typename T> struct sum_of {
    __device__ T operator()(T a, T b) const { return a + b; }
};

cnn_status cuda_add_fwd(cnn_context *context, const cnn_plan *plan, const cnn_join_args *a, cnn_error *err)
{
    cuda_context *c = cuda_context_of(context);
    const cnn_add_desc *d = &plan->problem.u.add;
    const int64_t count = d->mb * d->ic * d->ih * d->iw;
    return CUDA_BY_NUMBER(d->t.dtype, cuda_launch(c, cuda_pack_shape<T>(c, plan->knobs, "add", count), err,
                                                  cuda_map2<T, sum_of<cuda_real<T>>>, count, a->x[0], a->x[1], a->y,
                                                  sum_of<cuda_real<T>>()));
}

/* The wide tensor is rows of `width` elements, in which input k takes those from start[k] to start[k + 1]; the inputs
 * that are not there start at the width. */
template <typename I> struct concat_rows {
    I count, width, start[CNN_MAX_INPUTS + 1];
};

/* P: a pointer to const for concat, to what is written for its backward. */
template <typename P> struct concat_inputs {
    P at[CNN_MAX_INPUTS];
};

/* Element i of the wide tensor: the address in its input, or NULL where that is left out. All inputs are looked at, in
 * a loop that unrolls, since an index into parameters would have them copied to memory first. */
template <typename P, typename I> __device__ inline P place_of(const concat_rows<I> &r, const concat_inputs<P> &in, I i)
{
    const I row = i / r.width, column = i - row * r.width;
    P at = in.at[0];
    I start = 0, run = r.start[1];
#pragma unroll
    for (int k = 1; k < CNN_MAX_INPUTS; k++) {
        if (column < r.start[k]) continue;
        at = in.at[k];
        start = r.start[k];
        run = r.start[k + 1] - start;
    }
    return at == NULL ? at : at + (row * run + column - start);
}

template <typename T, typename I> __global__ void concat_kernel(concat_rows<I> r, concat_inputs<const T *> x, T *y)
{
    for (CUDA_GRID_STRIDE(i, static_cast<int64_t>(r.count))) y[i] = *place_of(r, x, static_cast<I>(i));
}

template <typename T, typename I> __global__ void split_kernel(concat_rows<I> r, const T *dy, concat_inputs<T *> dx)
{
    for (CUDA_GRID_STRIDE(i, static_cast<int64_t>(r.count))) {
        T *to = place_of(r, dx, static_cast<I>(i));
        if (to != NULL) *to = dy[i];
    }
}

/* A row is an image's channels in NCHW, a pixel's in NHWC. */
template <typename I> static concat_rows<I> rows_of(const cnn_concat_desc *d)
{
    const int64_t pixels = d->ih * d->iw, unit = d->t.layout == CNN_NCHW ? pixels : 1;
    concat_rows<I> r = {};
    for (int k = 0; k < CNN_MAX_INPUTS; k++)
        r.start[k + 1] = r.start[k] + (k < d->n_inputs ? static_cast<I>(d->ic[k] * unit) : 0);
    r.width = r.start[d->n_inputs];
    r.count = static_cast<I>(d->mb * pixels / unit) * r.width;
    return r;
}

template <typename T, typename I>
static cnn_status concat(cuda_context *c, const cnn_plan *plan, const cnn_join_args *a, cnn_error *err)
{
    const cnn_concat_desc *d = &plan->problem.u.concat;
    const concat_rows<I> r = rows_of<I>(d);
    concat_inputs<const T *> from = {};
    for (int k = 0; k < d->n_inputs; k++) from.at[k] = static_cast<const T *>(a->x[k]);
    return cuda_launch(c, cuda_shape_pointwise(c, plan->knobs, "concat_fwd", static_cast<int64_t>(r.count)), err,
                       concat_kernel<T, I>, r, from, a->y);
}

template <typename T, typename I>
static cnn_status split(cuda_context *c, const cnn_plan *plan, const cnn_split_args *a, cnn_error *err)
{
    const cnn_concat_desc *d = &plan->problem.u.concat;
    const concat_rows<I> r = rows_of<I>(d);
    concat_inputs<T *> to = {};
    for (int k = 0; k < d->n_inputs; k++) to.at[k] = static_cast<T *>(a->dx[k]);
    return cuda_launch(c, cuda_shape_pointwise(c, plan->knobs, "concat_bwd", static_cast<int64_t>(r.count)), err,
                       split_kernel<T, I>, r, a->dy, to);
}

static bool small(const cnn_concat_desc *d) { return cuda_fits_32(static_cast<int64_t>(rows_of<uint64_t>(d).count)); }

cnn_status cuda_concat_fwd(cnn_context *context, const cnn_plan *plan, const cnn_join_args *args, cnn_error *err)
{
    cuda_context *c = cuda_context_of(context);
    const cnn_concat_desc *d = &plan->problem.u.concat;
    return CUDA_BY_NUMBERS(d->t.dtype, small(d), uint32_t, uint64_t, concat<T, I>(c, plan, args, err));
}

cnn_status cuda_concat_bwd(cnn_context *context, const cnn_plan *plan, const cnn_split_args *args, cnn_error *err)
{
    cuda_context *c = cuda_context_of(context);
    const cnn_concat_desc *d = &plan->problem.u.concat;
    return CUDA_BY_NUMBERS(d->t.dtype, small(d), uint32_t, uint64_t, split<T, I>(c, plan, args, err));
}
