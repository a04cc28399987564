/* epilogue.c: a residual and an activation behind the sums (cnn_epilogue), as post-operations of oneDNN's: z is an
 * operand of its own, a binary addition, stored as y is; of a quantized result its zero point is taken off; then the
 * function.
 *
 * In oneDNN 2.6 convolutions by GEMM in NHWC add the wrong elements of z (found by verify: exact and bound fail for all
 * results above 0, in every problem that has more than one pixel): their kernels are passed over. Those on integers
 * have NHWC inside whatever the algorithm, and are wrong with groups, as in
 * add:g2mb1ic32ih9oc34kh3ph1 in u8:s8:u8. */
#include "onednn.h"

#include "harness/cnn/half.h"

#include <string.h>

bool onednn_fused_takes(void *user, const char *kernel)
{
    onednn_build *b = user;
    const cnn_problem *p = b->request->problem;
    const bool whole = cnn_sums_whole(p->u.type.dtype), groups = cnn_is_conv(p) && p->u.conv.g > 1;
    const bool nhwc = b->request->algorithm->id == ONEDNN_NHWC;
    if (!(whole ? groups : nhwc) || strstr(kernel, whole ? "gemm_s8" : "gemm") == NULL)
        return onednn_conv_takes(user, kernel);
    return onednn_pass_over(b, kernel, "add z in another order than it stands in");
}

dnnl_status_t onednn_append_epilogue(onednn_build *b, dnnl_post_ops_t ops, onednn_md z, int zero)
{
    const cnn_epilogue e = cnn_epilogue_of(b->request->problem);
    const cnn_dtype result = cnn_part_dtype(b->request->problem->u.type.dtype, CNN_PART_RESULT);
    const cnn_dtype stored = cnn_is_whole(result) ? CNN_F32 : result;
    const cnn_act_desc act = {.t = {stored, stored, CNN_NCHW, CNN_MATH_F32}, .kind = e.act, .alpha = e.alpha};
    const onednn_function f = onednn_function_of(&act);
    dnnl_status_t status = e.add ? dnnl_post_ops_append_binary(ops, dnnl_binary_add, z) : dnnl_success;
    if (status == dnnl_success && e.add && zero != 0)
        status = onednn_append_eltwise(ops, dnnl_eltwise_linear, 1.0f, (float)-zero);
    if (status == dnnl_success && e.act != CNN_ACT_IDENTITY)
        status = onednn_append_eltwise(ops, f.forward, (float)f.alpha, (float)f.beta);
    return status;
}

static dnnl_status_t set_attributes(onednn_build *b, onednn_md z)
{
    dnnl_post_ops_t ops = NULL;
    dnnl_status_t status = dnnl_primitive_attr_clone(&b->fused, b->plain);
    if (status == dnnl_success) status = dnnl_post_ops_create(&ops);
    if (status == dnnl_success) status = onednn_append_epilogue(b, ops, z, 0);
    if (status == dnnl_success) status = dnnl_primitive_attr_set_post_ops(b->fused, ops);
    if (ops != NULL) (void)dnnl_post_ops_destroy(ops);
    return status;
}

void onednn_fuse(onednn_build *b, onednn_md z)
{
    if (cnn_epilogue_of(b->request->problem).act == CNN_ACT_SELU)
        onednn_refuse(b, CNN_UNSUPPORTED, "oneDNN has no SELU: its ELU has one factor");
    if (b->status != CNN_OK) return;
    const dnnl_status_t status = set_attributes(b, z);
    if (status != dnnl_success) (void)onednn_keep(b, status, NULL);
}
