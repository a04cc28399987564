/* epilogue.h: how FWD stores its sums (C++): y = f(b + sum + z), a cnn_epilogue; without one y = b + sum, or with beta
 * 1 that onto what is there. Both add something of y's type, shape and layout, so a kernel's one question serves them:
 *
 *   cuda_epilogue_of<R>(plan, args)    on the host: an argument of the kernel, a cuda_epilogue<R>
 *   e.put(y, at, b + sum);             on the device, in place of cuda_put(&y[at], b + sum, add)
 */
#ifndef HARNESS_CUDA_EPILOGUE_H
#define HARNESS_CUDA_EPILOGUE_H

#include "harness/cnn/shape.h"
#include "harness/cuda/activation.h"

/* R: what y and z are stored in. The sum, z and f are computed in cuda_real<R>, and rounded once, into y. */
template <typename R, typename F = act_fwd<cuda_real<R>>> struct cuda_epilogue {
    const R *from; /* what is added: z, or with beta 1 what is there; NULL: nothing */
    F f;

    __device__ inline void put(R *y, int64_t at, cuda_real<R> sum) const
    {
        if (from != NULL) sum = cuda_load(from[at]) + sum;
        y[at] = cuda_stored<R>(f.kind == CNN_ACT_IDENTITY ? sum : f(sum));
    }
};
/* Of a kernel that stores many sums a thread: f in a few instructions, or not at all. A pass follows, then, which does
 * cuda_epilogue_rest(): of results in f32 and f64, for it rounds once more. */
template <typename R> using cuda_line_epilogue = cuda_epilogue<R, act_line<cuda_real<R>>>;

/* Of FWD and BWD_D; BWD_D's has nothing but beta. */
template <typename R>
static inline cuda_epilogue<R> cuda_epilogue_of(const cnn_plan *plan, const cnn_weighted_args *args)
{
    const cnn_epilogue e = cnn_epilogue_of(&plan->problem);
    return {static_cast<const R *>(cuda_epilogue_from(plan, args)), {e.act, static_cast<cuda_real<R>>(e.alpha)}};
}
template <typename R>
static inline cuda_line_epilogue<R> cuda_line_epilogue_of(const cnn_plan *plan, const cnn_weighted_args *args)
{
    typedef cuda_real<R> real;
    const cuda_line l = cuda_epilogue_line(&plan->problem);
    return {static_cast<const R *>(cuda_epilogue_from(plan, args)),
            {l.kind, static_cast<real>(l.down), static_cast<real>(l.up), static_cast<real>(l.top)}};
}

#endif
