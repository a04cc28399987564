/* fc_naive.cu: the fully connected layer, one thread a result: y = w x + b and its gradients by their definitions.
 *
 * Idea: every number of y, dx, dw and db is a dot product; a thread each computes one, in order (deterministic).
 * Expected bottleneck: loads: two a multiply-add, in FWD far apart between neighbouring threads (each walks its own row
 * of w); and at small batches too few threads, each with a long sum. */
#include "harness/cuda/epilogue.h"
#include "impl_cuda_naive/shape.h"

/* x is [mb][ic][ih][iw] through strides; w is [oc][inputs], inputs in NCHW's order whatever the layout. */
struct fc_naive_shape {
    int64_t mb, oc, inputs, h, w;
    tensor_strides<int64_t> x;
};

/* Where input e, in the order of the weights, stands within an image. */
static __device__ inline int64_t input_at(const fc_naive_shape &s, int64_t e)
{
    return e / (s.h * s.w) * s.x.c + e / s.w % s.h * s.x.h + e % s.w * s.x.w;
}

template <typename T, typename R>
static __global__ void fc_naive_fwd(fc_naive_shape s, const T *x, const T *w, const R *b, R *y,
                                    cuda_epilogue<R> epilogue)
{
    const int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= s.mb * s.oc) return;
    const int64_t n = e / s.oc, k = e % s.oc;
    cuda_real<T> sum = b != NULL ? cuda_load(b[k]) : 0;
    for (int64_t i = 0; i < s.inputs; i++)
        sum += cuda_load(w[k * s.inputs + i]) * cuda_load(x[n * s.x.n + input_at(s, i)]);
    epilogue.put(y, e, sum);
}

template <typename T, typename R>
static __global__ void fc_naive_bwd_data(fc_naive_shape s, const T *dy, const T *w, R *dx, bool add)
{
    const int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= s.mb * s.inputs) return;
    const int64_t n = e / s.inputs, i = e % s.inputs;
    cuda_real<T> sum = 0;
    for (int64_t k = 0; k < s.oc; k++) sum += cuda_load(w[k * s.inputs + i]) * cuda_load(dy[n * s.oc + k]);
    cuda_put(&dx[n * s.x.n + input_at(s, i)], sum, add);
}

/* Behind the last weight, a thread a bias. */
template <typename T, typename R>
static __global__ void fc_naive_bwd_weights(fc_naive_shape s, const T *x, const T *dy, R *dw, R *db, bool add)
{
    const int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, weights = s.oc * s.inputs;
    if (e >= weights + (db != NULL ? s.oc : 0)) return;
    const bool bias = e >= weights;
    const int64_t k = bias ? e - weights : e / s.inputs, at = bias ? 0 : input_at(s, e % s.inputs);
    cuda_real<T> sum = 0;
    for (int64_t n = 0; n < s.mb; n++)
        sum += cuda_load(dy[n * s.oc + k]) * (bias ? (cuda_real<T>)1 : cuda_load(x[n * s.x.n + at]));
    cuda_put(bias ? &db[k] : &dw[e], sum, add);
}

static fc_naive_shape shape_of(const cnn_fc_desc *d)
{
    return {d->mb, d->oc, d->ic * d->ih * d->iw,
            d->ih, d->iw, tensor_strides_of<int64_t>(d->t.layout, d->ic, d->ih, d->iw)};
}

/* A thread a result: of BWD_W the weights and, behind the last one, the biases. */
static cnn_status fit(const cuda_context *, const cnn_request *r, naive_launch *l, cnn_error *)
{
    const cnn_fc_desc *d = &r->problem->u.fc;
    const int64_t inputs = d->ic * d->ih * d->iw, weights = d->oc * inputs + (d->bias ? d->oc : 0);
    const int64_t results[CNN_DIR_COUNT] = {d->mb * d->oc, d->mb * inputs, weights};
    l->block[0] = r->knobs[NAIVE_KNOB_V1_THREADS];
    l->grid[0] = ceil_div(results[r->dir], l->block[0]);
    return CNN_OK;
}

static cnn_status run(cuda_context *context, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const fc_naive_shape s = shape_of(&plan->problem.u.fc);
    const bool add = a->beta != 0;
    if (plan->dir == CNN_FWD)
        return NAIVE_LAUNCH(context, plan, err, fc_naive_fwd, s, a->x, a->w, a->b, a->y, cuda_epilogue_of<R>(plan, a));
    if (plan->dir == CNN_BWD_D) return NAIVE_LAUNCH(context, plan, err, fc_naive_bwd_data, s, a->dy, a->w, a->dx, add);
    return NAIVE_LAUNCH(context, plan, err, fc_naive_bwd_weights, s, a->x, a->dy, a->dw, a->db, add);
}

const naive_kernel naive_fc_naive_fwd = {"fc_naive_fwd", fit, run},
                   naive_fc_naive_bwd_data = {"fc_naive_bwd_data", fit, run},
                   naive_fc_naive_bwd_weights = {"fc_naive_bwd_weights", fit, run};
