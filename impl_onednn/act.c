/* act.c: activations. The backward reads y, never x: so it is the same after a forward in place. */
#include "onednn.h"

#include "harness/cnn/half.h"

onednn_function onednn_function_of(const cnn_act_desc *d)
{
    switch (d->kind) {
    case CNN_ACT_RELU:
        return (onednn_function){dnnl_eltwise_relu, dnnl_eltwise_relu_use_dst_for_bwd, 0, 0};
    case CNN_ACT_LEAKY_RELU:
        return (onednn_function){dnnl_eltwise_relu, dnnl_eltwise_relu_use_dst_for_bwd, d->alpha, 0};
    case CNN_ACT_CLIPPED_RELU: /* clip_v2, since the derivative of clip is not 0 at the ceiling */
        return (onednn_function){dnnl_eltwise_clip_v2, dnnl_eltwise_clip_v2_use_dst_for_bwd, 0, cnn_act_ceiling(d)};
    case CNN_ACT_ELU:
        return (onednn_function){dnnl_eltwise_elu, dnnl_eltwise_elu_use_dst_for_bwd, d->alpha, 0};
    case CNN_ACT_SIGMOID:
        return (onednn_function){dnnl_eltwise_logistic, dnnl_eltwise_logistic_use_dst_for_bwd, 0, 0};
    case CNN_ACT_TANH:
        return (onednn_function){dnnl_eltwise_tanh, dnnl_eltwise_tanh_use_dst_for_bwd, 0, 0};
    default: /* alpha * x + 0, whose derivative needs neither x nor y */
        return (onednn_function){dnnl_eltwise_linear, dnnl_eltwise_linear, d->kind == CNN_ACT_SCALE ? d->alpha : 1, 0};
    }
}

void onednn_build_act(onednn_build *b)
{
    const cnn_act_desc *d = &b->request->problem->u.act;
    const onednn_function f = onednn_function_of(d);
    const onednn_shape shape = {4, {d->mb, d->ic, d->ih, d->iw}};
    const onednn_md md = onednn_activations(b, CNN_PART_FACTOR, &shape, onednn_tag(&shape, d->t.layout));
    const bool linear = f.forward == dnnl_eltwise_linear;
    dnnl_primitive_desc_t made = NULL;
    if (b->status != CNN_OK) return;
    const cnn_dir dir = b->request->dir;
    onednn_make how = onednn_how(b, NULL);
    dnnl_status_t status = onednn_make_act(&how, CNN_FWD, dir == CNN_FWD ? f.forward : f.backward, md, (float)f.alpha,
                                           (float)f.beta, &made);
    dnnl_primitive_desc_t forward = onednn_keep(b, status, made);
    if (dir == CNN_FWD) {
        const onednn_use uses[] = {{DNNL_ARG_SRC, onednn_argument(b, ONEDNN_X, md)},
                                   {DNNL_ARG_DST, onednn_argument(b, ONEDNN_Y, md)}};
        onednn_operation(b, forward, uses, 2);
    }
    if (dir == CNN_FWD || b->status != CNN_OK) return;
    how = onednn_how(b, forward);
    status = onednn_make_act(&how, dir, f.backward, md, (float)f.alpha, (float)f.beta, &made);
    const onednn_use uses[] = {{linear ? DNNL_ARG_SRC : DNNL_ARG_DST, onednn_argument(b, ONEDNN_Y, md)},
                               {DNNL_ARG_DIFF_DST, onednn_argument(b, ONEDNN_DY, md)},
                               {DNNL_ARG_DIFF_SRC, onednn_argument(b, ONEDNN_DX, md)}};
    onednn_operation(b, onednn_keep(b, status, made), uses, 3);
}
