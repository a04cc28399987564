/* dropout.cu: a counter-based draw an element (cnn_dropout_keep), so that nothing is stored between forward and
 * backward. Bottleneck: memory bandwidth, closely followed by the 64-bit integer arithmetic of the draw. */
#include "harness/cuda/pack.h"

template <typename T>
__global__ void dropout_kernel(int64_t count, const T *x, T *y, uint64_t seed, const int64_t *step, double rate)
{
    const int64_t t = *step;
    typedef cuda_real<T> real;
    const real scale = static_cast<real>(1 - rate);
    for (CUDA_GRID_STRIDE(i, count))
        y[i] = cuda_stored<T>(cnn_dropout_keep(seed, t, i, rate) ? cuda_load(x[i]) / scale : real(0));
}

template <typename T> struct dropout_copy {
    __device__ T operator()(T x) const { return x; }
};

static cnn_status run(cnn_context *context, const cnn_plan *plan, const void *x, void *y, const int64_t *step,
                      cnn_error *err)
{
    cuda_context *c = cuda_context_of(context);
    const cnn_dropout_desc *d = &plan->problem.u.dropout;
    const int64_t count = d->mb * d->ic * d->ih * d->iw;
    if (d->inference && x == y) return CNN_OK;
    if (d->inference)
        return CUDA_BY_NUMBER(d->t.dtype, cuda_launch(c, cuda_pack_shape<T>(c, plan->knobs, "dropout_copy", count), err,
                                                      cuda_map1<T, dropout_copy<cuda_real<T>>>, count, x, y,
                                                      dropout_copy<cuda_real<T>>()));
    return CUDA_BY_NUMBER(d->t.dtype, cuda_launch(c, cuda_shape_pointwise(c, plan->knobs, "dropout", count), err,
                                                  dropout_kernel<T>, count, x, y, d->seed, step, d->rate));
}

cnn_status cuda_dropout_fwd(cnn_context *context, const cnn_plan *plan, const cnn_map_fwd_args *args, cnn_error *err)
{
    return run(context, plan, args->x, args->y, args->step, err);
}

cnn_status cuda_dropout_bwd(cnn_context *context, const cnn_plan *plan, const cnn_map_bwd_args *args, cnn_error *err)
{
    return run(context, plan, args->dy, args->dx, args->step, err);
}
