/* add.c: the sum of two tensors; and the slots of pooling, activations and this. */
#include "onednn.h"

void onednn_build_add(onednn_build *b)
{
    const cnn_add_desc *d = &b->request->problem->u.add;
    const onednn_shape shape = {4, {d->mb, d->ic, d->ih, d->iw}};
    const onednn_md md = onednn_activations(b, CNN_PART_FACTOR, &shape, onednn_tag(&shape, d->t.layout));
    dnnl_primitive_desc_t made = NULL;
    if (b->status != CNN_OK) return;
    const onednn_make how = onednn_how(b, NULL);
    const dnnl_status_t status = onednn_make_add(&how, md, &made);
    const onednn_use uses[] = {{DNNL_ARG_SRC_0, onednn_argument(b, ONEDNN_X, md)},
                               {DNNL_ARG_SRC_1, onednn_argument(b, ONEDNN_X1, md)},
                               {DNNL_ARG_DST, onednn_argument(b, ONEDNN_Y, md)}};
    onednn_operation(b, onednn_keep(b, status, made), uses, 3);
}

cnn_status onednn_add_fwd(cnn_context *context, const cnn_plan *plan, const cnn_join_args *a, cnn_error *err)
{
    const onednn_call call = {.pointers = {[ONEDNN_X] = a->x[0], [ONEDNN_X1] = a->x[1], [ONEDNN_Y] = a->y}};
    return onednn_run(context, plan, &call, err);
}

cnn_status onednn_map_fwd(cnn_context *context, const cnn_plan *plan, const cnn_map_fwd_args *a, cnn_error *err)
{
    const onednn_call call = {.pointers = {[ONEDNN_X] = a->x, [ONEDNN_Y] = a->y}, .workspace = a->workspace};
    return onednn_run(context, plan, &call, err);
}

cnn_status onednn_map_bwd(cnn_context *context, const cnn_plan *plan, const cnn_map_bwd_args *a, cnn_error *err)
{
    const onednn_call call = {
        .pointers = {[ONEDNN_X] = a->x, [ONEDNN_Y] = a->y, [ONEDNN_DY] = a->dy, [ONEDNN_DX] = a->dx},
        .workspace = a->workspace};
    return onednn_run(context, plan, &call, err);
}
