/* pool.c: pooling in the layout of the tensors.
 *
 * oneDNN's backward of a maximum wants to be told by its forward where the maxima were. The interface has no place for
 * that between two calls, so the backward is a forward, whose y nobody wants, and then the gradient. */
#include "onednn.h"

#include <limits.h>

static dnnl_alg_kind_t kind_of(cnn_pool_kind kind)
{
    if (kind == CNN_POOL_MAX) return dnnl_pooling_max;
    return kind == CNN_POOL_AVG_PAD ? dnnl_pooling_avg_include_padding : dnnl_pooling_avg_exclude_padding;
}

static void check(onednn_build *b, const cnn_pool_desc *d)
{
    const int64_t sizes[] = {d->mb, d->ic, d->id, d->ih, d->iw, d->od, d->oh, d->ow, d->kd, d->kh, d->kw};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i] > INT_MAX)
            onednn_refuse(b, CNN_UNSUPPORTED, "%lld is more than oneDNN's kernels count to", (long long)sizes[i]);
    if (d->t.dtype == CNN_BF16 && b->request->dir != CNN_FWD) /* seen with 2.6.3, where the processor has AVX512_BF16 */
        onednn_refuse(b, CNN_UNSUPPORTED,
                      "pooling BWD_D in bf16: oneDNN rounds a gradient with each window that adds to it, here once");
}

static void put_backward(onednn_build *b, dnnl_primitive_desc_t forward, dnnl_primitive_desc_t pd, onednn_md x,
                         onednn_md y)
{
    const onednn_md kept = pd != NULL ? dnnl_primitive_desc_query_md(pd, dnnl_query_workspace_md, 0) : NULL;
    const bool keeps = kept != NULL && dnnl_memory_desc_get_size(kept) > 0;
    const int places = keeps ? onednn_inside(b, kept) : -1;
    if (keeps) {
        const onednn_use again[] = {{DNNL_ARG_SRC, onednn_argument(b, ONEDNN_X, x)},
                                    {DNNL_ARG_DST, onednn_inside(b, y)},
                                    {DNNL_ARG_WORKSPACE, places}};
        onednn_step_add(b, ONEDNN_ALWAYS, "forward again", forward, again, 3);
    }
    const onednn_use uses[] = {{DNNL_ARG_DIFF_DST, onednn_argument(b, ONEDNN_DY, y)},
                               {DNNL_ARG_DIFF_SRC, onednn_argument(b, ONEDNN_DX, x)},
                               {DNNL_ARG_WORKSPACE, places}};
    onednn_operation(b, pd, uses, 3);
}

/* Without a depth an axis less. */
static onednn_window window_of(onednn_build *b, const cnn_pool_desc *d)
{
    const int64_t axes[3][7] = {{d->id, d->od, d->kd, d->sd, d->dd, d->pd, d->pd_r},
                                {d->ih, d->oh, d->kh, d->sh, d->dh, d->ph, d->ph_r},
                                {d->iw, d->ow, d->kw, d->sw, d->dw, d->pw, d->pw_r}};
    const int first = b->request->problem->op == CNN_OP_POOL3D ? 0 : 1;
    onednn_shape x = {2, {d->mb, d->ic}}, y = x;
    onednn_window o = {.algorithm = kind_of(d->kind)};
    for (int i = first; i < 3; i++) {
        const int64_t *a = axes[i];
        x.dims[x.n_dims++] = a[0], y.dims[y.n_dims++] = a[1];
        o.kernel[i - first] = a[2], o.stride[i - first] = a[3], o.dilation[i - first] = a[4];
        o.left[i - first] = a[5], o.right[i - first] = a[6];
    }
    o.x = onednn_activations(b, CNN_PART_FACTOR, &x, onednn_tag(&x, d->t.layout));
    o.y = onednn_activations(b, CNN_PART_FACTOR, &y, onednn_tag(&y, d->t.layout));
    return o;
}

void onednn_build_pool(onednn_build *b)
{
    const cnn_pool_desc deep = cnn_pool_with_depth(b->request->problem), *d = &deep;
    const bool backward = b->request->dir != CNN_FWD;
    onednn_window o = window_of(b, d);
    dnnl_primitive_desc_t made = NULL;
    check(b, d);
    if (b->status != CNN_OK) return;
    onednn_make how = onednn_how(b, NULL);
    dnnl_status_t status = onednn_make_pool(&how, CNN_FWD, backward, &o, &made);
    dnnl_primitive_desc_t forward = onednn_keep(b, status, made);
    if (!backward) {
        const onednn_use uses[] = {{DNNL_ARG_SRC, onednn_argument(b, ONEDNN_X, o.x)},
                                   {DNNL_ARG_DST, onednn_argument(b, ONEDNN_Y, o.y)}};
        onednn_operation(b, forward, uses, 2);
    }
    if (!backward || b->status != CNN_OK) return;
    how = onednn_how(b, forward);
    status = onednn_make_pool(&how, CNN_BWD_D, true, &o, &made);
    put_backward(b, forward, onednn_keep(b, status, made), o.x, o.y);
}
