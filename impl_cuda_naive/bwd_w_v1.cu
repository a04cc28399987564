/* bwd_w_v1.cu: version 1 of the gradient of the weights: one thread a weight (or a bias).
 *
 * Idea: dw[k,c,i,j] is a sum of its own over all images and outputs (thesis eq. 3.9, 3.10), so every one gets a thread;
 * the threads behind the last weight sum a bias each. The order of a sum is fixed, so it is deterministic.
 * Expected bottleneck: far too few threads (6,400 weights for a GPU that wants a hundred thousand), each with a sum as
 * long as batch x outputs, of loads that wait for memory one after the other. */
#include "impl_cuda_naive/v1.h"

template <typename T>
static __device__ cuda_real<T> weight_sum(const conv_shape<int64_t> &s, const T *x, const T *dy, int64_t k, int64_t c,
                                          int64_t i, int64_t j)
{
    const int64_t channel = k / s.group_oc * s.group_ic + c;
    cuda_real<T> sum = 0;
    for (int64_t n = 0; n < s.mb; n++)
        for (int64_t p = 0; p < s.oh; p++)
            for (int64_t q = 0; q < s.ow; q++) {
                const int64_t row = p * s.sh + i * s.dh - s.ph, col = q * s.sw + j * s.dw - s.pw;
                if (row >= 0 && row < s.ih && col >= 0 && col < s.iw)
                    sum += cuda_load(x[n * s.x.n + channel * s.x.c + row * s.x.h + col * s.x.w]) *
                           cuda_load(dy[n * s.y.n + k * s.y.c + p * s.y.h + q * s.y.w]);
            }
    return sum;
}

template <typename T> static __device__ cuda_real<T> bias_sum(const conv_shape<int64_t> &s, const T *dy, int64_t k)
{
    cuda_real<T> sum = 0;
    for (int64_t n = 0; n < s.mb; n++)
        for (int64_t p = 0; p < s.oh; p++)
            for (int64_t q = 0; q < s.ow; q++) sum += cuda_load(dy[n * s.y.n + k * s.y.c + p * s.y.h + q * s.y.w]);
    return sum;
}

template <typename T, typename R>
static __global__ void bwd_w_v1(conv_shape<int64_t> s, const T *x, const T *dy, R *dw, R *db, bool add)
{
    const int64_t filter = s.group_ic * s.kh * s.kw, weights = s.oc * filter;
    const int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (e < weights) {
        const int64_t j = e % s.kw, i = e / s.kw % s.kh, c = e / (s.kh * s.kw) % s.group_ic, k = e / filter;
        const cuda_real<T> sum = weight_sum(s, x, dy, k, c, i, j);
        cuda_put(&dw[s.w.first + k * s.w.k + c * s.w.c + i * s.w.i + j * s.w.j], sum, add);
    } else if (db != NULL && e < weights + s.oc) {
        cuda_put(&db[e - weights], bias_sum(s, dy, e - weights), add);
    }
}

/* A thread a weight and, with a bias, a thread an output channel. */
static cnn_status fit(const cuda_context *, const cnn_request *r, naive_launch *l, cnn_error *)
{
    const cnn_conv_desc *d = &r->problem->u.conv;
    const int64_t weights = d->oc * (d->ic / d->g) * d->kh * d->kw;
    l->block[0] = r->knobs[NAIVE_KNOB_V1_THREADS];
    l->grid[0] = ceil_div(weights + (d->bias ? d->oc : 0), l->block[0]);
    return CNN_OK;
}

static cnn_status run(cuda_context *context, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    return NAIVE_LAUNCH(context, plan, err, bwd_w_v1, conv_shape_of<int64_t>(&plan->problem.u.conv), a->x, a->dy, a->dw,
                        a->db, a->beta != 0);
}

const naive_kernel naive_bwd_w_v1 = {"bwd_w_v1", fit, run};
