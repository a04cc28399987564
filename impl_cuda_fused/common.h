/* common.h: what the kernel versions share: activations, dropout, the optimizer, the loss, the barrier of the grid.
 * Beside stage.h it needs no other header, so that NVRTC can take it. */
#ifndef IMPL_CUDA_FUSED_COMMON_H
#define IMPL_CUDA_FUSED_COMMON_H

#include "impl_cuda_fused/stage.h"

/* ---- Pointwise. Comparisons are written so that a NaN comes through. */

__device__ inline float fused_act_of(int act, float alpha, float x)
{
    switch (act) {
    case FUSED_RELU:
        return x <= 0 ? 0.0f : x;
    case FUSED_LEAKY:
        return x <= 0 ? alpha * x : x;
    case FUSED_CLIPPED:
        return x <= 0 ? 0.0f : x >= alpha ? alpha : x;
    case FUSED_ELU:
        return x <= 0 ? alpha * expm1f(x) : x;
    case FUSED_SIGMOID: {
        const float e = expf(-fabsf(x));
        return (x < 0 ? e : 1.0f) / (1 + e);
    }
    case FUSED_TANH:
        return tanhf(x);
    default:
        return x;
    }
}

/* The derivative from y = f(x), times dy. */
__device__ inline float fused_act_back(int act, float alpha, float dy, float y)
{
    switch (act) {
    case FUSED_RELU:
        return y <= 0 ? 0.0f : dy;
    case FUSED_LEAKY:
        return y <= 0 ? alpha * dy : dy;
    case FUSED_CLIPPED:
        return y <= 0 || y >= alpha ? 0.0f : dy;
    case FUSED_ELU:
        return y <= 0 ? (y + alpha) * dy : dy;
    case FUSED_SIGMOID:
        return y * (1 - y) * dy;
    case FUSED_TANH:
        return (1 - y) * (1 + y) * dy;
    default:
        return dy;
    }
}

/* cnn_dropout_keep() of cnn/desc.h, in the types that NVRTC knows: small.net has dropout, and is held to impl_cpu's
 * steps by test_cuda_fused.sh. */
__device__ inline bool fused_keep(unsigned long long seed, long long step, long long index, double rate)
{
    unsigned long long z = seed + 0x9E3779B97F4A7C15ull * ((unsigned long long)step * 0xD1342543DE82EF95ull +
                                                           (unsigned long long)index + 1);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    z ^= z >> 31;
    return (double)(z >> 11) * (1.0 / 9007199254740992.0) >= rate;
}

/* ---- Quotients and roots to two units in the last place, without the branches that correct rounding takes: chains of
 * them decide how long a step's end is. */

__device__ inline float fused_quotient(float a, float b)
{
#ifdef __CUDA_ARCH__
    float q;
    asm("div.full.f32 %0, %1, %2;" : "=f"(q) : "f"(a), "f"(b));
    return q;
#else
    return a / b;
#endif
}

__device__ inline float fused_root(float x)
{
#ifdef __CUDA_ARCH__
    float root;
    asm("sqrt.approx.f32 %0, %1;" : "=f"(root) : "f"(x));
    return root;
#else
    return sqrtf(x);
#endif
}

/* ---- The optimizer: one slot; g is the gradient of the loss alone. */

struct fused_rates {
    float lr, l1, l2, eps, keep1, take1, keep2, take2, correct1, correct2;
};

__device__ inline fused_rates fused_rates_of(const fused_rule &r, long long step, double power1, double power2)
{
    const double left = r.decay_steps > 0 ? fmax(0.0, 1 - (double)step / r.decay_steps) : 1.0;
    const bool adam = r.kind == FUSED_ADAM;
    return {(float)(r.lr * left),
            (float)r.l1,
            (float)r.l2,
            (float)r.eps,
            (float)r.beta1,
            (float)(1 - r.beta1),
            (float)r.beta2,
            (float)(1 - r.beta2),
            (float)(adam ? 1 / (1 - power1 * r.beta1) : 1.0),
            (float)(adam ? 1 / (1 - power2 * r.beta2) : 1.0)};
}

__device__ inline void fused_update(int kind, const fused_rates &r, float grad, float &w, float &m, float &v)
{
    const float g = grad + r.l1 * (float)((w > 0) - (w < 0)) + r.l2 * w;
    switch (kind) {
    case FUSED_SGD:
        w -= r.lr * g;
        break;
    case FUSED_MOMENTUM:
        m = r.keep1 * m - r.lr * g;
        w += m;
        break;
    case FUSED_ADAGRAD:
        m += g * g;
        w -= fused_quotient(r.lr * g, fused_root(m) + r.eps);
        break;
    case FUSED_RMSPROP:
        m = r.keep2 * m + r.take2 * (g * g);
        w -= fused_quotient(r.lr * g, fused_root(m) + r.eps);
        break;
    default:
        m = r.keep1 * m + r.take1 * g;
        v = r.keep2 * v + r.take2 * (g * g);
        w -= fused_quotient(r.lr * (m * r.correct1), fused_root(v * r.correct2) + r.eps);
    }
}

/* ---- The loss of one image, by one warp: d loss / dx times scale, through the activation that has made x, goes to dx,
 * which may be x; what the image adds to the sums, in every lane. dx NULL: only that. A row of NaN is no hit. */
struct fused_loss_desc {
    int classes;
    bool quadratic;
    int act;
    float alpha, scale;
};

/* What a lane knows of an image when its gradient is made, and what the image then comes to. */
struct fused_softened {
    float mine, most, sum, beaten;
};
struct fused_judged {
    float loss;
    int hit;
};

/* So many lanes share the classes; those beyond do the same again. */
__host__ __device__ constexpr int fused_lanes_of(int classes)
{
    return classes > 16 ? 32 : classes > 8 ? 16 : classes > 4 ? 8 : classes > 2 ? 4 : 2;
}

__device__ inline fused_softened fused_soften(const fused_loss_desc &d, const float *x, float *dx, int label, int lane)
{
    const int lanes = fused_lanes_of(d.classes), mine_first = lane % lanes;
    const float mine = x[label];
    float most = x[0], sum = 0, beaten = 0, power = 0;
    for (int k = mine_first; k < d.classes; k += 32) {
        const float at = x[k], off = k == label ? at - 1 : at;
        most = at > most ? at : most;
        const bool beats = k < label ? !(at < mine) : k > label ? !(at <= mine) : at != at;
        beaten += beats ? 1.0f : 0.0f;
        if (d.quadratic) sum += off * off;
    }
    for (int step = lanes / 2; step > 0; step /= 2) {
        const float other = __shfl_xor_sync(0xffffffffu, most, step);
        most = other > most ? other : most;
    }
    for (int k = mine_first; k < d.classes && !d.quadratic; k += 32) {
        power = expf(x[k] - most);
        sum += power;
    }
    for (int step = lanes / 2; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    /* dx may be x, and all lanes have read of it. */
    __syncwarp();
    for (int k = lane; k < d.classes && dx != nullptr; k += 32) { /* lane is below `lanes` here */
        if (d.classes > 32) power = expf(x[k] - most);            /* else it is still at hand */
        const float y = d.quadratic ? x[k] : fused_quotient(power, sum);
        dx[k] = fused_act_back(d.act, d.alpha, (k == label ? y - 1 : y) * d.scale, x[k]);
    }
    return {mine, most, sum, beaten};
}

__device__ inline fused_judged fused_judge(const fused_loss_desc &d, fused_softened s)
{
    for (int step = fused_lanes_of(d.classes) / 2; step > 0; step /= 2)
        s.beaten += __shfl_xor_sync(0xffffffffu, s.beaten, step);
    return {d.quadratic ? s.sum / 2 : logf(s.sum) - (s.mine - s.most), s.beaten == 0};
}

__device__ inline fused_judged fused_loss(const fused_loss_desc &d, const float *x, float *dx, int label, int lane)
{
    return fused_judge(d, fused_soften(d, x, dx, label, lane));
}

/* ---- The grid: all blocks are resident (a cooperative launch). `goal` counts what `arrived` must reach. */

/* To come there, and to wait for the others: what needs none of them stands in between. */
__device__ inline void fused_arrive(unsigned *arrived, unsigned &goal)
{
    goal += gridDim.x;
#ifdef BENCHCNN_CUDA_EMULATED
    (void)arrived;
#else
    __syncthreads();
    if (threadIdx.x == 0) asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(arrived) : "memory");
#endif
}

__device__ inline void fused_await(unsigned *arrived, unsigned goal)
{
#ifdef BENCHCNN_CUDA_EMULATED
    (void)arrived, (void)goal;
    emulated_grid_barrier(__FILE__, __LINE__);
#else
    if (threadIdx.x == 0) {
        unsigned seen;
        do {
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(arrived) : "memory");
        } while (seen < goal);
    }
    __syncthreads();
#endif
}

__device__ inline void fused_barrier(unsigned *arrived, unsigned &goal)
{
    fused_arrive(arrived, goal);
    fused_await(arrived, goal);
}

/* Behind the last barrier of a launch: block 0 adds up what each block has left. */
__device__ inline void fused_add_sums(const fused_pass &p)
{
    if (blockIdx.x != 0 || threadIdx.x != 0) return;
    double loss = 0;
    long long hits = 0;
    for (unsigned b = 0; b < gridDim.x; b++) {
        loss += ((volatile double *)p.losses)[b];
        hits += ((volatile long long *)p.hits)[b];
    }
    *p.loss_sum += loss;
    *p.correct += hits;
}

/* Pixel (c, h, w) of image i of the pass, as it stands or moved. */
__device__ inline float fused_pixel(const fused_pass &p, long long i, long long row, int channels, int height,
                                    int width, int c, int h, int w)
{
    if (p.shifts != nullptr) {
        h -= p.shifts[2 * i];
        w -= p.shifts[2 * i + 1];
        if (h < 0 || h >= height || w < 0 || w >= width) return 0;
    }
    const int at = p.nhwc ? (h * width + w) * channels + c : (c * height + h) * width + w;
    return p.rows[row * p.image + at];
}

#endif
