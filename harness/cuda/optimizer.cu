/* optimizer.cu: one update of all parameters, thesis equations 3.11 to 3.21, in one launch.
 *
 * The whole parameter vector is one array, so an update is one pass over it. What is the same for each element (the
 * rate after its decay, Adam's bias corrections with their powers) two threads of each block compute in double. The
 * step counter is moved on in the same launch (counter.h). Bottleneck: for small networks the launch, else memory. */
#include "harness/cnn/shape.h"
#include "harness/cuda/counter.h"
#include "harness/cuda/pack.h"

template <typename T> struct optimizer_vectors {
    T *w, *state[2];
    const T *grad;
};

/* The descriptor in the problem's own type, and what the step makes of it. */
template <typename T> struct optimizer_rates {
    T lr, l1, l2, eps, keep1, take1, keep2, take2, correct1, correct2, fresh; /* fresh: NAdam's, of the gradient */
};

/* One element; m and s are its states. */
template <typename T>
__device__ inline void update(cnn_optimizer_kind kind, const optimizer_rates<T> &r, T &w, T &m, T &s, T grad)
{
    const T g = grad + r.l1 * static_cast<T>((w > 0) - (w < 0)) + r.l2 * w;
    switch (kind) {
    case CNN_SGD:
        w -= r.lr * g;
        break;
    case CNN_MOMENTUM:
        m = r.keep1 * m - r.lr * g;
        w += m;
        break;
    case CNN_ADAGRAD:
        m += g * g;
        w -= r.lr * g / (sqrt(m) + r.eps);
        break;
    case CNN_RMSPROP:
        m = r.keep2 * m + r.take2 * (g * g);
        w -= r.lr * g / (sqrt(m) + r.eps);
        break;
    case CNN_NADAM:
        m = r.keep1 * m + r.take1 * g;
        s = r.keep2 * s + r.take2 * (g * g);
        w -= r.lr * (m * r.correct1 + r.fresh * g) / (sqrt(s * r.correct2) + r.eps);
        break;
    default: /* Adam */
        m = r.keep1 * m + r.take1 * g;
        s = r.keep2 * s + r.take2 * (g * g);
        w -= r.lr * (m * r.correct1) / (sqrt(s * r.correct2) + r.eps);
    }
}

/* N elements, from i*N on. */
template <typename T, int N>
__device__ inline void update_pack(const cnn_optimizer_desc &d, int states, const optimizer_rates<T> &r,
                                   const optimizer_vectors<T> &v, int64_t i)
{
    typedef cuda_pack<T, N> pack;
    pack w = reinterpret_cast<pack *>(v.w)[i], m = {}, s = {};
    const pack grad = reinterpret_cast<const pack *>(v.grad)[i];
    if (states > 0) m = reinterpret_cast<pack *>(v.state[0])[i];
    if (states > 1) s = reinterpret_cast<pack *>(v.state[1])[i];
    for (int k = 0; k < N; k++) update(d.kind, r, w.v[k], m.v[k], s.v[k], grad.v[k]);
    reinterpret_cast<pack *>(v.w)[i] = w;
    if (states > 0) reinterpret_cast<pack *>(v.state[0])[i] = m;
    if (states > 1) reinterpret_cast<pack *>(v.state[1])[i] = s;
}

/* Two threads, of different warps where there are two, share the powers: they take a microsecond. All threads get the
 * result; all must come. */
template <typename T> __device__ inline optimizer_rates<T> rates_at(const cnn_optimizer_desc &d, const int64_t *step)
{
    CUDA_SHARED(T, lr, );
    CUDA_SHARED(T, correct1, );
    CUDA_SHARED(T, correct2, );
    CUDA_SHARED(T, fresh, );
    if (threadIdx.x == 0) {
        const double t = static_cast<double>(cuda_counter_read(step));
        lr = static_cast<T>(d.decay_steps > 0 ? d.lr * fmax(0.0, 1 - t / d.decay_steps) : d.lr);
        correct1 = static_cast<T>(d.kind == CNN_NADAM  ? d.beta1 / (1 - pow(d.beta1, t + 2))
                                  : d.kind == CNN_ADAM ? 1 / (1 - pow(d.beta1, t + 1))
                                                       : 1);
    }
    if (threadIdx.x == blockDim.x - 1) {
        const double t = static_cast<double>(cuda_counter_read(step));
        const bool adam = d.kind == CNN_ADAM || d.kind == CNN_NADAM;
        correct2 = static_cast<T>(adam ? 1 / (1 - pow(d.beta2, t + 1)) : 1);
        fresh = static_cast<T>(d.kind == CNN_NADAM ? (1 - d.beta1) / (1 - pow(d.beta1, t + 1)) : 0);
    }
    __syncthreads();
    return {lr,
            static_cast<T>(d.l1),
            static_cast<T>(d.l2),
            static_cast<T>(d.eps),
            static_cast<T>(d.beta1),
            static_cast<T>(1 - d.beta1),
            static_cast<T>(d.beta2),
            static_cast<T>(1 - d.beta2),
            correct1,
            correct2,
            fresh};
}

template <typename T>
__global__ void optimizer_kernel(cnn_optimizer_desc d, int states, optimizer_vectors<T> v, int64_t *step)
{
    const int size = cuda_pack<T>::size;
    const int64_t packs = d.count / size, rest = packs * size;
    const optimizer_rates<T> rates = rates_at<T>(d, step);
    for (CUDA_GRID_STRIDE(i, packs)) update_pack<T, size>(d, states, rates, v, i);
    for (CUDA_GRID_STRIDE(i, d.count - rest)) update_pack<T, 1>(d, states, rates, v, rest + i);
    cuda_counter_add(step, 1);
}

template <typename T>
static cnn_status run(cuda_context *c, const cnn_plan *plan, const cnn_optimizer_args *a, cnn_error *err)
{
    const cnn_optimizer_desc *d = &plan->problem.u.optimizer;
    const optimizer_vectors<T> v = {static_cast<T *>(a->w),
                                    {static_cast<T *>(a->state[0]), static_cast<T *>(a->state[1])},
                                    static_cast<const T *>(a->grad)};
    return cuda_launch(c, cuda_pack_shape<T>(c, plan->knobs, "optimizer", d->count), err, optimizer_kernel<T>, *d,
                       cnn_optimizer_states(d->kind), v, a->step);
}

cnn_status cuda_optimizer_step(cnn_context *context, const cnn_plan *plan, const cnn_optimizer_args *args,
                               cnn_error *err)
{
    cuda_context *c = cuda_context_of(context);
    return CUDA_BY_DTYPE(plan->problem.u.type.dtype, run<T>(c, plan, args, err));
}
