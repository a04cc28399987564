/* epilogue.cu: an epilogue as a pass of its own, behind a kernel that cannot do it: y = f(y + z), 16 bytes at a time.
 *
 * Bottleneck: memory. It reads and writes y once more than an epilogue inside of the kernel; so it rounds once more,
 * and is not for results of 16 bits: the questions of gate.c. */
#include "harness/cnn/shape.h"
#include "harness/cuda/activation.h"
#include "harness/cuda/pack.h"

template <typename T> struct add_and_act {
    act_fwd<T> f;
    __device__ T operator()(T y, T z) const { return f(y + z); }
};

template <typename T>
static cnn_status pass(cuda_context *c, const cnn_plan *plan, const cnn_weighted_args *a, int64_t count,
                       const cnn_epilogue *e, cnn_error *err)
{
    const act_fwd<T> f = {e->act, static_cast<T>(e->alpha)};
    const cuda_shape shape = cuda_pack_shape<T>(c, plan->knobs, "epilogue", count);
    if (!e->add) return cuda_launch(c, shape, err, cuda_map1<T, act_fwd<T>>, count, a->y, a->y, f);
    return cuda_launch(c, shape, err, cuda_map2<T, add_and_act<T>>, count, a->y, a->z, a->y, add_and_act<T>{f});
}

cnn_status cuda_epilogue_pass(cuda_context *c, const cnn_plan *plan, const cnn_weighted_args *a, int64_t images,
                              cnn_epilogue e, cnn_error *err)
{
    const cnn_problem *p = &plan->problem;
    const cnn_conv_desc *d = &p->u.conv;
    const int64_t depth = p->op == CNN_OP_CONV3D ? d->od : 1;
    const int64_t count = images * (p->op == CNN_OP_FC ? p->u.fc.oc : d->oc * depth * d->oh * d->ow);
    if (plan->dir != CNN_FWD || (!e.add && e.act == CNN_ACT_IDENTITY)) return CNN_OK;
    return CUDA_BY_DTYPE(cnn_part_dtype(p->u.type.dtype, CNN_PART_RESULT), pass<T>(c, plan, a, count, &e, err));
}
