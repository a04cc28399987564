/* compat_2.c: oneDNN 2.6. */
#include "compat.h"

#include <stdlib.h>

dnnl_status_t onednn_md_make(int n_dims, const dnnl_dims_t dims, dnnl_data_type_t type, dnnl_format_tag_t tag,
                             onednn_md *md)
{
    dnnl_memory_desc_t *made = malloc(sizeof *made);
    *md = made;
    return made == NULL ? dnnl_out_of_memory : dnnl_memory_desc_init_by_tag(made, n_dims, dims, type, tag);
}

void onednn_md_free(onednn_md md) { free((void *)(uintptr_t)md); }

static dnnl_status_t make(const onednn_make *m, dnnl_status_t described, const_dnnl_op_desc_t desc,
                          dnnl_primitive_desc_t *pd)
{
    dnnl_primitive_desc_iterator_t all = NULL;
    if (described != dnnl_success) return described;
    if (m->takes == NULL) return dnnl_primitive_desc_create(pd, desc, m->attr, m->engine, m->forward);
    dnnl_status_t status = dnnl_primitive_desc_iterator_create(&all, desc, m->attr, m->engine, m->forward);
    for (bool taken = false; status == dnnl_success && !taken;) {
        *pd = dnnl_primitive_desc_iterator_fetch(all);
        taken = onednn_takes(m, *pd);
        if (!taken) (void)dnnl_primitive_desc_destroy(*pd);
        if (!taken) status = dnnl_primitive_desc_iterator_next(all);
    }
    if (all != NULL) (void)dnnl_primitive_desc_iterator_destroy(all);
    return status == dnnl_iterator_ends ? dnnl_unimplemented : status;
}

dnnl_status_t onednn_make_conv(const onednn_make *m, cnn_dir dir, const onednn_window *d, dnnl_primitive_desc_t *pd)
{
    dnnl_convolution_desc_t desc;
    dnnl_status_t status;
    if (dir == CNN_FWD)
        status = dnnl_dilated_convolution_forward_desc_init(&desc, dnnl_forward_training, d->algorithm, d->x, d->w,
                                                            d->b, d->y, d->stride, d->dilation, d->left, d->right);
    else if (dir == CNN_BWD_D)
        status = dnnl_dilated_convolution_backward_data_desc_init(&desc, d->algorithm, d->x, d->w, d->y, d->stride,
                                                                  d->dilation, d->left, d->right);
    else
        status = dnnl_dilated_convolution_backward_weights_desc_init(&desc, d->algorithm, d->x, d->w, d->b, d->y,
                                                                     d->stride, d->dilation, d->left, d->right);
    return make(m, status, &desc, pd);
}

dnnl_status_t onednn_make_fc(const onednn_make *m, cnn_dir dir, const onednn_window *d, dnnl_primitive_desc_t *pd)
{
    dnnl_inner_product_desc_t desc;
    dnnl_status_t status;
    if (dir == CNN_FWD)
        status = dnnl_inner_product_forward_desc_init(&desc, dnnl_forward_training, d->x, d->w, d->b, d->y);
    else if (dir == CNN_BWD_D)
        status = dnnl_inner_product_backward_data_desc_init(&desc, d->x, d->w, d->y);
    else
        status = dnnl_inner_product_backward_weights_desc_init(&desc, d->x, d->w, d->b, d->y);
    return make(m, status, &desc, pd);
}

dnnl_status_t onednn_make_pool(const onednn_make *m, cnn_dir dir, bool keeps, const onednn_window *d,
                               dnnl_primitive_desc_t *pd)
{
    dnnl_pooling_v2_desc_t desc;
    dnnl_status_t status;
    if (dir == CNN_FWD)
        status = dnnl_pooling_v2_forward_desc_init(&desc, keeps ? dnnl_forward_training : dnnl_forward_inference,
                                                   d->algorithm, d->x, d->y, d->stride, d->kernel, d->dilation, d->left,
                                                   d->right);
    else
        status = dnnl_pooling_v2_backward_desc_init(&desc, d->algorithm, d->x, d->y, d->stride, d->kernel, d->dilation,
                                                    d->left, d->right);
    return make(m, status, &desc, pd);
}

dnnl_status_t onednn_make_act(const onednn_make *m, cnn_dir dir, dnnl_alg_kind_t algorithm, onednn_md md, float alpha,
                              float beta, dnnl_primitive_desc_t *pd)
{
    dnnl_eltwise_desc_t desc;
    dnnl_status_t status;
    if (dir == CNN_FWD)
        status = dnnl_eltwise_forward_desc_init(&desc, dnnl_forward_training, algorithm, md, alpha, beta);
    else
        status = dnnl_eltwise_backward_desc_init(&desc, algorithm, md, md, alpha, beta);
    return make(m, status, &desc, pd);
}

dnnl_status_t onednn_make_batchnorm(const onednn_make *m, cnn_dir dir, bool inference, onednn_md md, float eps,
                                    dnnl_primitive_desc_t *pd)
{
    const unsigned flags = dnnl_use_scale | dnnl_use_shift | (inference ? dnnl_use_global_stats : 0);
    const dnnl_prop_kind_t forward = inference ? dnnl_forward_inference : dnnl_forward_training;
    dnnl_batch_normalization_desc_t desc;
    dnnl_status_t status;
    if (dir == CNN_FWD)
        status = dnnl_batch_normalization_forward_desc_init(&desc, forward, md, eps, flags);
    else
        status = dnnl_batch_normalization_backward_desc_init(&desc, dnnl_backward, md, md, eps, flags);
    return make(m, status, &desc, pd);
}

dnnl_status_t onednn_make_add(const onednn_make *m, onednn_md md, dnnl_primitive_desc_t *pd)
{
    dnnl_binary_desc_t desc;
    return make(m, dnnl_binary_desc_init(&desc, dnnl_binary_add, md, md, md), &desc, pd);
}

dnnl_status_t onednn_append_sum(dnnl_post_ops_t ops) { return dnnl_post_ops_append_sum(ops, 1); }

dnnl_status_t onednn_append_eltwise(dnnl_post_ops_t ops, dnnl_alg_kind_t algorithm, float alpha, float beta)
{
    return dnnl_post_ops_append_eltwise(ops, 1, algorithm, alpha, beta);
}

dnnl_status_t onednn_set_zero_point(dnnl_primitive_attr_t attr, int arg)
{
    const int32_t at_run_time = DNNL_RUNTIME_S32_VAL;
    return dnnl_primitive_attr_set_zero_points(attr, arg, 1, 0, &at_run_time);
}
