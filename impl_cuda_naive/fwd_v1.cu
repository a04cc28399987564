/* fwd_v1.cu: version 1 of the forward convolution: one thread an output, the loops of the definition.
 *
 * Idea: y[n,k,p,q] is a sum of its own, so every one gets a thread, which walks the channels and taps and asks of each
 * whether it lies inside the image (the thesis's forward algorithm, its outer loops replaced by the grid).
 * Expected bottleneck: instructions that are not multiply-adds: two comparisons and two 64-bit addresses a tap, with
 * two loads for one multiply-add. Neighbouring threads read the same x and the same w, which only the caches notice. */
#include "harness/cuda/epilogue.h"
#include "impl_cuda_naive/v1.h"

template <typename T, typename R>
static __global__ void fwd_v1(conv_shape<int64_t> s, const T *x, const T *w, const R *b, R *y,
                              cuda_epilogue<R> epilogue)
{
    const v1_output o = v1_this_output(s);
    if (!o.inside) return;
    const int64_t first = o.k / s.group_oc * s.group_ic;
    cuda_real<T> sum = b != NULL ? cuda_load(b[o.k]) : 0;
    for (int64_t c = 0; c < s.group_ic; c++)
        for (int64_t i = 0; i < s.kh; i++)
            for (int64_t j = 0; j < s.kw; j++) {
                const int64_t row = o.p * s.sh + i * s.dh - s.ph, col = o.q * s.sw + j * s.dw - s.pw;
                if (row >= 0 && row < s.ih && col >= 0 && col < s.iw)
                    sum += cuda_load(w[s.w.first + o.k * s.w.k + c * s.w.c + i * s.w.i + j * s.w.j]) *
                           cuda_load(x[o.n * s.x.n + (first + c) * s.x.c + row * s.x.h + col * s.x.w]);
            }
    epilogue.put(y, o.n * s.y.n + o.k * s.y.c + o.p * s.y.h + o.q * s.y.w, sum);
}

static cnn_status run(cuda_context *context, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    return NAIVE_LAUNCH(context, plan, err, fwd_v1, conv_shape_of<int64_t>(&plan->problem.u.conv), a->x, a->w, a->b,
                        a->y, cuda_epilogue_of<R>(plan, a));
}

const naive_kernel naive_fwd_v1 = {"fwd_v1", v1_fit, run};
