/* compat_3.c: oneDNN 3.x. */
#include "compat.h"

dnnl_status_t onednn_md_make(int n_dims, const dnnl_dims_t dims, dnnl_data_type_t type, dnnl_format_tag_t tag,
                             onednn_md *md)
{
    dnnl_memory_desc_t made = NULL;
    const dnnl_status_t status = dnnl_memory_desc_create_with_tag(&made, n_dims, dims, type, tag);
    *md = made;
    return status;
}

void onednn_md_free(onednn_md md)
{
    if (md != NULL) (void)dnnl_memory_desc_destroy((dnnl_memory_desc_t)(uintptr_t)md);
}

/* From the descriptor of the first kernel to that of the first one that will do. */
static dnnl_status_t pick(const onednn_make *m, dnnl_status_t status, dnnl_primitive_desc_t *pd)
{
    if (status != dnnl_success) return status;
    while (status == dnnl_success && !onednn_takes(m, *pd)) status = dnnl_primitive_desc_next_impl(*pd);
    if (status != dnnl_success) (void)dnnl_primitive_desc_destroy(*pd);
    return status == dnnl_last_impl_reached ? dnnl_unimplemented : status;
}

dnnl_status_t onednn_make_conv(const onednn_make *m, cnn_dir dir, const onednn_window *d, dnnl_primitive_desc_t *pd)
{
    if (dir == CNN_FWD)
        return pick(m,
                    dnnl_convolution_forward_primitive_desc_create(pd, m->engine, dnnl_forward_training, d->algorithm,
                                                                   d->x, d->w, d->b, d->y, d->stride, d->dilation,
                                                                   d->left, d->right, m->attr),
                    pd);
    if (dir == CNN_BWD_D)
        return dnnl_convolution_backward_data_primitive_desc_create(pd, m->engine, d->algorithm, d->x, d->w, d->y,
                                                                    d->stride, d->dilation, d->left, d->right,
                                                                    m->forward, m->attr);
    return dnnl_convolution_backward_weights_primitive_desc_create(pd, m->engine, d->algorithm, d->x, d->w, d->b, d->y,
                                                                   d->stride, d->dilation, d->left, d->right,
                                                                   m->forward, m->attr);
}

dnnl_status_t onednn_make_fc(const onednn_make *m, cnn_dir dir, const onednn_window *d, dnnl_primitive_desc_t *pd)
{
    if (dir == CNN_FWD)
        return pick(m,
                    dnnl_inner_product_forward_primitive_desc_create(pd, m->engine, dnnl_forward_training, d->x, d->w,
                                                                     d->b, d->y, m->attr),
                    pd);
    if (dir == CNN_BWD_D)
        return dnnl_inner_product_backward_data_primitive_desc_create(pd, m->engine, d->x, d->w, d->y, m->forward,
                                                                      m->attr);
    return dnnl_inner_product_backward_weights_primitive_desc_create(pd, m->engine, d->x, d->w, d->b, d->y, m->forward,
                                                                     m->attr);
}

dnnl_status_t onednn_make_pool(const onednn_make *m, cnn_dir dir, bool keeps, const onednn_window *d,
                               dnnl_primitive_desc_t *pd)
{
    if (dir == CNN_FWD)
        return dnnl_pooling_forward_primitive_desc_create(
            pd, m->engine, keeps ? dnnl_forward_training : dnnl_forward_inference, d->algorithm, d->x, d->y, d->stride,
            d->kernel, d->dilation, d->left, d->right, m->attr);
    return dnnl_pooling_backward_primitive_desc_create(pd, m->engine, d->algorithm, d->x, d->y, d->stride, d->kernel,
                                                       d->dilation, d->left, d->right, m->forward, m->attr);
}

dnnl_status_t onednn_make_act(const onednn_make *m, cnn_dir dir, dnnl_alg_kind_t algorithm, onednn_md md, float alpha,
                              float beta, dnnl_primitive_desc_t *pd)
{
    if (dir == CNN_FWD)
        return dnnl_eltwise_forward_primitive_desc_create(pd, m->engine, dnnl_forward_training, algorithm, md, md,
                                                          alpha, beta, m->attr);
    return dnnl_eltwise_backward_primitive_desc_create(pd, m->engine, algorithm, md, md, md, alpha, beta, m->forward,
                                                       m->attr);
}

dnnl_status_t onednn_make_batchnorm(const onednn_make *m, cnn_dir dir, bool inference, onednn_md md, float eps,
                                    dnnl_primitive_desc_t *pd)
{
    const unsigned flags = dnnl_use_scale | dnnl_use_shift | (inference ? dnnl_use_global_stats : 0);
    const dnnl_prop_kind_t forward = inference ? dnnl_forward_inference : dnnl_forward_training;
    if (dir == CNN_FWD)
        return dnnl_batch_normalization_forward_primitive_desc_create(pd, m->engine, forward, md, md, eps, flags,
                                                                      m->attr);
    return dnnl_batch_normalization_backward_primitive_desc_create(pd, m->engine, dnnl_backward, md, md, md, eps, flags,
                                                                   m->forward, m->attr);
}

dnnl_status_t onednn_make_add(const onednn_make *m, onednn_md md, dnnl_primitive_desc_t *pd)
{
    return dnnl_binary_primitive_desc_create(pd, m->engine, dnnl_binary_add, md, md, md, m->attr);
}

dnnl_status_t onednn_append_sum(dnnl_post_ops_t ops)
{
    return dnnl_post_ops_append_sum(ops, 1, 0, dnnl_data_type_undef);
}

dnnl_status_t onednn_append_eltwise(dnnl_post_ops_t ops, dnnl_alg_kind_t algorithm, float alpha, float beta)
{
    return dnnl_post_ops_append_eltwise(ops, algorithm, alpha, beta);
}

dnnl_status_t onednn_set_zero_point(dnnl_primitive_attr_t attr, int arg)
{
    return dnnl_primitive_attr_set_zero_points_mask(attr, arg, 0);
}
