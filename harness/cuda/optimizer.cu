/* optimizer.cu: one update of all parameters, thesis equations 3.11 to 3.21, in one launch.
 *
 * The whole parameter vector is one array, so an update is one pass over it. What is the same for each element (the
 * rate after its decay, Adam's bias corrections with their powers) one thread of each block computes in double. The
 * step counter is moved on in the same launch (counter.h). Bottleneck: for small networks the launch, else memory. */
#include "harness/cuda/counter.h"
#include "harness/cuda/launch.h"

template <typename T> struct optimizer_vectors {
    T *w, *m, *s;
    const T *grad;
};

template <typename T> struct optimizer_rates {
    T lr, correct1, correct2;
};

template <typename T> __device__ optimizer_rates<T> rates_at(const cnn_optimizer_desc &d, int64_t step)
{
    double lr = d.lr, correct1 = 1, correct2 = 1;
    if (d.decay_steps > 0) lr *= fmax(0.0, 1 - (double)step / d.decay_steps);
    if (d.kind == CNN_ADAM) {
        correct1 = 1 / (1 - pow(d.beta1, (double)(step + 1)));
        correct2 = 1 / (1 - pow(d.beta2, (double)(step + 1)));
    }
    return {static_cast<T>(lr), static_cast<T>(correct1), static_cast<T>(correct2)};
}

template <typename T>
__device__ void update_one(const cnn_optimizer_desc &d, const optimizer_rates<T> &r, const optimizer_vectors<T> &v,
                           int64_t i)
{
    const T w = v.w[i], sign = static_cast<T>((w > 0) - (w < 0)), eps = static_cast<T>(d.eps);
    const T g = v.grad[i] + static_cast<T>(d.l1) * sign + static_cast<T>(d.l2) * w;
    const T keep1 = static_cast<T>(d.beta1), keep2 = static_cast<T>(d.beta2);
    switch (d.kind) {
    case CNN_SGD:
        v.w[i] = w - r.lr * g;
        break;
    case CNN_MOMENTUM:
        v.w[i] = w + (v.m[i] = keep1 * v.m[i] - r.lr * g);
        break;
    case CNN_ADAGRAD:
        v.w[i] = w - r.lr * g / (sqrt(v.m[i] += g * g) + eps);
        break;
    case CNN_RMSPROP:
        v.m[i] = keep2 * v.m[i] + static_cast<T>(1 - d.beta2) * (g * g);
        v.w[i] = w - r.lr * g / (sqrt(v.m[i]) + eps);
        break;
    default: { /* Adam */
        const T m = v.m[i] = keep1 * v.m[i] + static_cast<T>(1 - d.beta1) * g;
        const T s = v.s[i] = keep2 * v.s[i] + static_cast<T>(1 - d.beta2) * (g * g);
        v.w[i] = w - r.lr * (m * r.correct1) / (sqrt(s * r.correct2) + eps);
    }
    }
}

template <typename T> __global__ void optimizer_kernel(cnn_optimizer_desc d, optimizer_vectors<T> v, int64_t *step)
{
    __shared__ T lr, correct1, correct2;
    if (threadIdx.x == 0) {
        const optimizer_rates<T> r = rates_at<T>(d, cuda_counter_read(step));
        lr = r.lr;
        correct1 = r.correct1;
        correct2 = r.correct2;
    }
    __syncthreads();
    const optimizer_rates<T> rates = {lr, correct1, correct2};
    for (CUDA_GRID_STRIDE(i, d.count)) update_one<T>(d, rates, v, i);
    cuda_counter_add(step, 1);
}

template <typename T>
static cnn_status run(cuda_context *c, const cnn_optimizer_desc *d, const cnn_optimizer_args *a, cnn_error *err)
{
    const optimizer_vectors<T> v = {static_cast<T *>(a->w), static_cast<T *>(a->state[0]),
                                    static_cast<T *>(a->state[1]), static_cast<const T *>(a->grad)};
    return cuda_launch(c, cuda_shape_1d(c, "optimizer", d->count, 0, 0), err, optimizer_kernel<T>, *d, v, a->step);
}

cnn_status cuda_optimizer_step(cnn_context *context, const cnn_plan *plan, const cnn_optimizer_args *args,
                               cnn_error *err)
{
    cuda_context *c = reinterpret_cast<cuda_context *>(context);
    const cnn_optimizer_desc *d = &plan->problem.u.optimizer;
    return d->t.dtype == CNN_F32 ? run<float>(c, d, args, err) : run<double>(c, d, args, err);
}
