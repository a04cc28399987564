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
    const int64_t sizes[] = {d->mb, d->ic, d->ih, d->iw, d->oh, d->ow, d->kh, d->kw};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i] > INT_MAX)
            onednn_refuse(b, CNN_UNSUPPORTED, "%lld is more than oneDNN's kernels count to", (long long)sizes[i]);
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

void onednn_build_pool(onednn_build *b)
{
    const cnn_pool_desc *d = &b->request->problem->u.pool;
    const onednn_shape x = {4, {d->mb, d->ic, d->ih, d->iw}}, y = {4, {d->mb, d->ic, d->oh, d->ow}};
    const bool backward = b->request->dir != CNN_FWD;
    onednn_window o = {.algorithm = kind_of(d->kind),
                       .x = onednn_activations(b, CNN_PART_FACTOR, &x, onednn_tag(&x, d->t.layout)),
                       .y = onednn_activations(b, CNN_PART_FACTOR, &y, onednn_tag(&y, d->t.layout)),
                       .kernel = {d->kh, d->kw},
                       .stride = {d->sh, d->sw},
                       .dilation = {d->dh, d->dw},
                       .left = {d->ph, d->pw},
                       .right = {d->ph_r, d->pw_r}};
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
