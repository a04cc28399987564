/* forward_half.cu: forward.cu's kernels on f16 and bf16, with results of the same type or of f32. */
#include "impl_cuda_tensor/forward_multiply.h"

cnn_status cutensor_forward_half_run(cuda_context *c, const cutensor_plan *p, const cutensor_operands *o,
                                     cnn_error *err)
{
    if (p->forward.strip) return cutensor_forward_strip_run(c, p, o, err);
    switch (p->bias.t.dtype) {
    case CNN_F16:
        return launch_forward<__half, __half>(c, p, *o, err);
    case CNN_BF16:
        return launch_forward<__nv_bfloat16, __nv_bfloat16>(c, p, *o, err);
    case CNN_F16_F16_F32:
        return launch_forward<__half, float>(c, p, *o, err);
    default:
        return launch_forward<__nv_bfloat16, float>(c, p, *o, err);
    }
}
