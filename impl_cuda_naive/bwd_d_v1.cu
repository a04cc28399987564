/* bwd_d_v1.cu: version 1 of the gradient of the input: one thread an element of dy, which scatters.
 *
 * Idea: the forward loops with the arrow turned round (thesis eq. 3.8): dy[n,k,p,q] flows back through every tap to the
 * pixel that it came from. Several threads meet at a pixel, so the additions are atomic.
 * Expected bottleneck: the atomics, one a multiply-add, in whatever order they arrive: sums may differ in their last
 * bits from run to run. dx must be zeroed first, a pass of its own.
 * In f16 and bf16 the sums are in the workspace, as f32, and a second pass rounds each once. */
#include "impl_cuda_naive/v1.h"

template <typename T, typename R>
static __global__ void bwd_d_v1(conv_shape<int64_t> s, const T *dy, const T *w, cuda_real<T> *dx)
{
    const v1_output o = v1_this_output(s);
    if (!o.inside) return;
    const int64_t first = o.k / s.group_oc * s.group_ic;
    const cuda_real<T> gradient = cuda_load(dy[o.n * s.y.n + o.k * s.y.c + o.p * s.y.h + o.q * s.y.w]);
    for (int64_t c = 0; c < s.group_ic; c++)
        for (int64_t i = 0; i < s.kh; i++)
            for (int64_t j = 0; j < s.kw; j++) {
                const int64_t row = o.p * s.sh + i * s.dh - s.ph, col = o.q * s.sw + j * s.dw - s.pw;
                if (row >= 0 && row < s.ih && col >= 0 && col < s.iw)
                    atomicAdd(&dx[o.n * s.x.n + (first + c) * s.x.c + row * s.x.h + col * s.x.w],
                              cuda_load(w[s.w.first + o.k * s.w.k + c * s.w.c + i * s.w.i + j * s.w.j]) * gradient);
            }
}

template <typename T> static __global__ void round_sums(int64_t count, const cuda_real<T> *sums, T *dx, bool add)
{
    for (CUDA_GRID_STRIDE(i, count)) cuda_put(&dx[i], sums[i], add);
}

static int64_t pixels_of(const cnn_conv_desc *d) { return d->mb * d->ic * d->ih * d->iw; }

static cnn_status fit(const cuda_context *context, const cnn_request *r, naive_launch *l, cnn_error *err)
{
    const cnn_conv_desc *d = &r->problem->u.conv;
    if (cuda_is_half(d->t.dtype)) l->workspace_bytes = (size_t)pixels_of(d) * sum_size(d);
    return v1_fit(context, r, l, err);
}

static cnn_status run(cuda_context *context, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const cnn_conv_desc *d = &plan->problem.u.conv;
    const bool apart = cuda_is_half(d->t.dtype), add = a->beta != 0;
    const int64_t count = pixels_of(d);
    const size_t bytes = (size_t)count * sum_size(d);
    void *sums = apart ? a->workspace : a->dx;
    cnn_status status =
        apart || !add ? cuda_memory.fill(reinterpret_cast<cnn_context *>(context), sums, 0, bytes, err) : CNN_OK;
    if (status == CNN_OK)
        status = NAIVE_LAUNCH(context, plan, err, bwd_d_v1, conv_shape_of<int64_t>(d), a->dy, a->w, sums);
    if (status != CNN_OK || !apart) return status;
    const cuda_shape shape = cuda_shape_1d(context, "round_sums", count, 256, 16);
    return CUDA_BY_NUMBER(d->t.dtype, cuda_launch(context, shape, err, round_sums<T>, count, sums, a->dx, add));
}

const naive_kernel naive_bwd_d_v1 = {"bwd_d_v1", fit, run};
