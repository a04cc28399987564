/* epilogue.cu: an epilogue as a pass of its own, behind a kernel that cannot do it: y = f(y + z), 16 bytes at a time.
 *
 * Bottleneck: memory. It reads and writes y once more than an epilogue inside of the kernel; so it rounds once more,
 * and is not for results of 16 bits: the questions of gate.c. */
#include "harness/cuda/activation.h"
#include "harness/cuda/pack.h"

template <typename T> struct add_and_act {
    act_fwd<T> f;
    __device__ T operator()(T y, T z) const { return f(y + z); }
};

template <typename T> static cnn_status run(cuda_context *c, const cuda_pass *p, cnn_error *err)
{
    const act_fwd<T> f = {p->left.act, static_cast<T>(p->left.alpha)};
    const cuda_shape shape = cuda_pack_shape<T>(c, p->knobs, "epilogue", p->count);
    if (!p->left.add) return cuda_launch(c, shape, err, cuda_map1<T, act_fwd<T>>, p->count, p->y, p->y, f);
    return cuda_launch(c, shape, err, cuda_map2<T, add_and_act<T>>, p->count, p->y, p->z, p->y, add_and_act<T>{f});
}

cnn_status cuda_epilogue_pass(cuda_context *c, const cuda_pass *p, cnn_error *err)
{
    if (!p->left.add && p->left.act == CNN_ACT_IDENTITY) return CNN_OK;
    return CUDA_BY_DTYPE(p->dtype, run<T>(c, p, err));
}
