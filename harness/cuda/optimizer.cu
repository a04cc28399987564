/* optimizer.cu: one update of all parameters, thesis equations 3.11 to 3.21, in one launch.
 *
 * The whole parameter vector is one array, so an update is one pass over it. What is the same for each element (the
 * rate after its decay, Adam's bias corrections with their powers) two threads of each block compute in double. The
 * step counter is moved on in the same launch (counter.h). Bottleneck: for small networks the launch, else memory.
 *
 * In a type of 16 bits a launch before it looks whether all gradients are finite: no weight may be changed before that
 * is known of the last one. It leaves its verdict in the context's scratch, so the host waits for nothing, and a
 * captured step can be replayed. */
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

/* What an update has beside the rule: nothing where all is of one type. */
template <typename T> struct optimizer_plain {
    __device__ inline T gradient(T grad) const { return grad; }
    template <int N> __device__ inline void keep(const cuda_pack<T, N> &, int64_t) const {}
};

/* And beside activations of type H: what the loss was multiplied by is divided out, w is rounded for the kernels. */
template <typename H> struct optimizer_mixed {
    H *copy; /* or NULL */
    float unscale;

    __device__ inline float gradient(float grad) const { return unscale * grad; }
    template <int N> __device__ inline void keep(const cuda_pack<float, N> &w, int64_t i) const
    {
        cuda_pack<H, N> rounded;
        if (copy == NULL) return;
        for (int k = 0; k < N; k++) rounded.v[k] = cuda_stored<H>(w.v[k]);
        reinterpret_cast<cuda_pack<H, N> *>(copy)[i] = rounded;
    }
};

/* N elements, from i*N on. */
template <typename T, int N, typename M>
__device__ inline void update_pack(const cnn_optimizer_desc &d, int states, const optimizer_rates<T> &r,
                                   const optimizer_vectors<T> &v, const M &more, int64_t i)
{
    typedef cuda_pack<T, N> pack;
    pack w = reinterpret_cast<pack *>(v.w)[i], m = {}, s = {};
    const pack grad = reinterpret_cast<const pack *>(v.grad)[i];
    if (states > 0) m = reinterpret_cast<pack *>(v.state[0])[i];
    if (states > 1) s = reinterpret_cast<pack *>(v.state[1])[i];
    for (int k = 0; k < N; k++) update(d.kind, r, w.v[k], m.v[k], s.v[k], more.gradient(grad.v[k]));
    reinterpret_cast<pack *>(v.w)[i] = w;
    if (states > 0) reinterpret_cast<pack *>(v.state[0])[i] = m;
    if (states > 1) reinterpret_cast<pack *>(v.state[1])[i] = s;
    more.keep(w, i);
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

template <typename T, typename M>
__device__ inline void update_all(const cnn_optimizer_desc &d, int states, const optimizer_vectors<T> &v, const M &more,
                                  int64_t *step)
{
    const int size = cuda_pack<T>::size;
    const int64_t packs = d.count / size, rest = packs * size;
    const optimizer_rates<T> rates = rates_at<T>(d, step);
    for (CUDA_GRID_STRIDE(i, packs)) update_pack<T, size>(d, states, rates, v, more, i);
    for (CUDA_GRID_STRIDE(i, d.count - rest)) update_pack<T, 1>(d, states, rates, v, more, rest + i);
    cuda_counter_add(step, 1);
}

template <typename T>
__global__ void optimizer_kernel(cnn_optimizer_desc d, int states, optimizer_vectors<T> v, int64_t *step)
{
    update_all<T>(d, states, v, optimizer_plain<T>(), step);
}

/* ---- Types of 16 bits. */

/* What the look at the gradients leaves to the update. */
enum { UNSCALE, LEFT_OUT }; /* 1 / the loss scale that the gradients have; 1: the step is left out */

/* The loss scale after a step: cnn_optimizer_desc says how. The update needs the one before it. */
__device__ inline void settle(double growth, double *scaling, double *verdict, bool broken)
{
    const double scale = scaling[CNN_LOSS_SCALE], kept = broken ? 0 : scaling[CNN_STEPS_KEPT] + 1;
    const bool grows = growth > 0 && !broken && kept >= growth, falls = growth > 0 && broken && scale > 1;
    verdict[UNSCALE] = 1 / scale;
    verdict[LEFT_OUT] = broken ? 1 : 0;
    scaling[CNN_LOSS_SCALE] = grows ? 2 * scale : falls ? scale / 2 : scale;
    scaling[CNN_STEPS_KEPT] = grows ? 0 : kept;
    scaling[CNN_STEPS_LEFT_OUT] += broken ? 1 : 0;
}

/* x - x is 0 of a finite x, and else a NaN. */
__device__ inline bool is_finite(float x) { return x - x == 0; }

/* Whether all gradients are finite. Who finds one that is not sets a flag; the last block to arrive settles what
 * becomes of the step, and leaves the scratch as it was. */
__global__ void look_kernel(int64_t count, double growth, const float *grad, double *scaling, cuda_scratch *scratch)
{
    typedef cuda_pack<float> pack;
    const int64_t packs = count / pack::size, rest = packs * pack::size;
    volatile unsigned *flag = &scratch->arrived[1];
    bool finite = true;
    for (CUDA_GRID_STRIDE(i, packs)) {
        const pack p = reinterpret_cast<const pack *>(grad)[i];
        for (int k = 0; k < pack::size; k++) finite &= is_finite(p.v[k]);
    }
    for (CUDA_GRID_STRIDE(i, count - rest)) finite &= is_finite(grad[rest + i]);
    if (!finite) *flag = 1;
    __threadfence();
    __syncthreads();
    if (threadIdx.x != 0 || atomicAdd(&scratch->arrived[0], 1u) != gridDim.x - 1) return;
    __threadfence();
    settle(growth, scaling, scratch->partials, *flag != 0);
    scratch->arrived[0] = *flag = 0;
}

/* verdict: NULL where there is no loss scale. All threads find the same there. */
template <typename H>
__global__ void mixed_kernel(cnn_optimizer_desc d, int states, optimizer_vectors<float> v, int64_t *step, H *copy,
                             const double *verdict)
{
    if (verdict != NULL && verdict[LEFT_OUT] != 0) return;
    const optimizer_mixed<H> more = {copy, verdict != NULL ? static_cast<float>(verdict[UNSCALE]) : 1.0f};
    update_all<float>(d, states, v, more, step);
}

/* ---- Launches. */

template <typename T> static optimizer_vectors<T> vectors_of(const cnn_optimizer_args *a)
{
    return {static_cast<T *>(a->w),
            {static_cast<T *>(a->state[0]), static_cast<T *>(a->state[1])},
            static_cast<const T *>(a->grad)};
}

template <typename T>
static cnn_status run(cuda_context *c, const cnn_plan *plan, const cnn_optimizer_args *a, cnn_error *err)
{
    const cnn_optimizer_desc *d = &plan->problem.u.optimizer;
    return cuda_launch(c, cuda_pack_shape<T>(c, plan->knobs, "optimizer", d->count), err, optimizer_kernel<T>, *d,
                       cnn_optimizer_states(d->kind), vectors_of<T>(a), a->step);
}

template <typename H>
static cnn_status run_mixed(cuda_context *c, const cnn_plan *plan, const cnn_optimizer_args *a, cnn_error *err)
{
    const cnn_optimizer_desc *d = &plan->problem.u.optimizer;
    const double *verdict = NULL;
    if (a->scaling != NULL) {
        const cuda_shape look = cuda_pack_shape<float>(c, plan->knobs, "optimizer_finite", d->count);
        const cnn_status status = cuda_launch(c, look, err, look_kernel, d->count, d->growth,
                                              static_cast<const float *>(a->grad), a->scaling, c->scratch);
        if (status != CNN_OK) return status;
        verdict = c->scratch->partials;
    }
    return cuda_launch(c, cuda_pack_shape<float>(c, plan->knobs, "optimizer", d->count), err, mixed_kernel<H>, *d,
                       cnn_optimizer_states(d->kind), vectors_of<float>(a), a->step, static_cast<H *>(a->copy),
                       verdict);
}

cnn_status cuda_optimizer_step(cnn_context *context, const cnn_plan *plan, const cnn_optimizer_args *args,
                               cnn_error *err)
{
    cuda_context *c = cuda_context_of(context);
    const cnn_dtype dtype = plan->problem.u.type.dtype;
    if (dtype == CNN_F16) return run_mixed<__half>(c, plan, args, err);
    if (dtype == CNN_BF16) return run_mixed<__nv_bfloat16>(c, plan, args, err);
    return CUDA_BY_DTYPE(dtype, run<T>(c, plan, args, err));
}
