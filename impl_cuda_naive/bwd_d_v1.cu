/* bwd_d_v1.cu: version 1 of the gradient of the input: one thread an element of dy, which scatters.
 *
 * Idea: the forward loops with the arrow turned round (thesis eq. 3.8): dy[n,k,p,q] flows back through every tap to the
 * pixel that it came from. Several threads meet at a pixel, so the additions are atomic.
 * Expected bottleneck: the atomics, one a multiply-add, in whatever order they arrive: sums may differ in their last
 * bits from run to run. dx must be zeroed first, a pass of its own. */
#include "impl_cuda_naive/v1.h"

template <typename T> static __global__ void bwd_d_v1(conv_shape<int64_t> s, const T *dy, const T *w, T *dx)
{
    const v1_output o = v1_this_output(s);
    if (!o.inside) return;
    const int64_t first = o.k / s.group_oc * s.group_ic;
    const T gradient = dy[o.n * s.y.n + o.k * s.y.c + o.p * s.y.h + o.q * s.y.w];
    for (int64_t c = 0; c < s.group_ic; c++)
        for (int64_t i = 0; i < s.kh; i++)
            for (int64_t j = 0; j < s.kw; j++) {
                const int64_t row = o.p * s.sh + i * s.dh - s.ph, col = o.q * s.sw + j * s.dw - s.pw;
                if (row >= 0 && row < s.ih && col >= 0 && col < s.iw)
                    atomicAdd(&dx[o.n * s.x.n + (first + c) * s.x.c + row * s.x.h + col * s.x.w],
                              w[s.w.first + o.k * s.w.k + c * s.w.c + i * s.w.i + j * s.w.j] * gradient);
            }
}

static cnn_status run(cuda_context *context, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const cnn_conv_desc *d = &plan->problem.u.conv;
    const size_t bytes = (size_t)(d->mb * d->ic * d->ih * d->iw) * element_size(d);
    const cnn_status status =
        a->beta == 0 ? cuda_memory.fill(reinterpret_cast<cnn_context *>(context), a->dx, 0, bytes, err) : CNN_OK;
    if (status != CNN_OK) return status;
    return NAIVE_LAUNCH(context, plan, err, bwd_d_v1, conv_shape_of<int64_t>(d), a->dy, a->w, a->dx);
}

const naive_kernel naive_bwd_d_v1 = {"bwd_d_v1", v1_fit, run};
