/* weighted.c: convolution and FC in all directions: the operands' layouts outside and inside, and one primitive. */
#include "onednn.h"

/* Tensors of a convolution or of FC, and what is asked of oneDNN. */
typedef struct weighted {
    const cnn_conv_desc *d;
    onednn_shape x, y, w;
    onednn_window inside; /* layouts of oneDNN's choice, or as the algorithm says */
    int n_quantized;
    onednn_use quantized[ONEDNN_MAX_QUANTIZED]; /* what the result's attributes read */
} weighted;

/* Of oneDNN: to sums of s32 the bias is added behind it. */
static bool has_bias(const cnn_request *r, const cnn_conv_desc *d)
{
    return d->bias && r->dir != CNN_BWD_D && cnn_part_dtype(d->t.dtype, CNN_PART_RESULT) != CNN_S32;
}

static onednn_md x_as(onednn_build *b, const weighted *v, dnnl_format_tag_t tag)
{
    return onednn_activations(b, cnn_part_of(b->request->dir == CNN_BWD_D ? "dx" : "x"), &v->x, tag);
}

static onednn_md y_as(onednn_build *b, const weighted *v, dnnl_format_tag_t tag)
{
    return onednn_activations(b, cnn_part_of(b->request->dir == CNN_FWD ? "y" : "dy"), &v->y, tag);
}

static onednn_md w_as(onednn_build *b, const weighted *v, dnnl_format_tag_t tag)
{
    return onednn_activations(b, cnn_part_of(b->request->dir == CNN_BWD_W ? "dw" : "w"), &v->w, tag);
}

/* As the algorithm says; FC's results are a matrix in any case. */
static dnnl_format_tag_t tag_inside(const onednn_build *b, const onednn_shape *s)
{
    const int64_t id = b->request->algorithm->id;
    if (id == ONEDNN_ANY || id == ONEDNN_WINOGRAD) return dnnl_format_tag_any;
    return onednn_tag(s, id == ONEDNN_NHWC ? CNN_NHWC : CNN_NCHW);
}

static void lay_inside(onednn_build *b, weighted *v)
{
    const dnnl_dims_t channels = {v->d->oc};
    v->inside.algorithm =
        b->request->algorithm->id == ONEDNN_WINOGRAD ? dnnl_convolution_winograd : dnnl_convolution_direct;
    v->inside.x = x_as(b, v, tag_inside(b, &v->x));
    v->inside.y = y_as(b, v, tag_inside(b, &v->y));
    v->inside.w = w_as(b, v, dnnl_format_tag_any);
    v->inside.b =
        has_bias(b->request, v->d) ? onednn_layout(b, onednn_type(b, cnn_part_of("b")), 1, channels, dnnl_a) : NULL;
    const bool adds = cnn_epilogue_of(b->request->problem).add;
    const onednn_md z = adds ? y_as(b, v, tag_inside(b, &v->y)) : NULL;
    v->n_quantized = onednn_quantize(b, v->d, v->y.n_dims, z, v->quantized);
    if (cnn_has_epilogue(b->request->problem) && v->n_quantized == 0) onednn_fuse(b, z);
}

/* Reorders in, the operation, reorders out. The primitive says which layouts it has chosen. */
static void put_together(onednn_build *b, const weighted *v, dnnl_primitive_desc_t pd)
{
    const cnn_layout layout = v->d->t.layout;
    const onednn_md x = x_as(b, v, onednn_tag(&v->x, layout));
    const onednn_md y = y_as(b, v, onednn_tag(&v->y, layout));
    const onednn_md w = w_as(b, v, onednn_tag(&v->w, CNN_NCHW));
    const bool bias = has_bias(b->request, v->d);
    if (b->status != CNN_OK) return;
#define MD(what, index) dnnl_primitive_desc_query_md(pd, dnnl_query_##what##_md, index)
    if (b->request->dir == CNN_FWD) {
        const bool adds = cnn_epilogue_of(b->request->problem).add;
        const int at_z = v->n_quantized > 0 ? 1 : 0; /* behind the factor of a quantized result */
        onednn_use uses[5 + ONEDNN_MAX_QUANTIZED] = {
            {DNNL_ARG_SRC, onednn_input(b, ONEDNN_X, x, MD(src, 0))},
            {DNNL_ARG_WEIGHTS, onednn_input(b, ONEDNN_W, w, MD(weights, 0))},
            {DNNL_ARG_BIAS, bias ? onednn_argument(b, ONEDNN_B, v->inside.b) : -1},
            {DNNL_ARG_DST, onednn_result(b, ONEDNN_Y, y, MD(dst, 0))},
            {DNNL_ARG_ATTR_MULTIPLE_POST_OP(at_z) | DNNL_ARG_SRC_1,
             adds ? onednn_input(b, ONEDNN_Z, y, MD(dst, 0)) : -1},
        };
        for (int i = 0; i < v->n_quantized; i++) uses[5 + i] = v->quantized[i];
        onednn_operation(b, pd, uses, 5 + v->n_quantized);
    } else if (b->request->dir == CNN_BWD_D) {
        const onednn_use uses[] = {
            {DNNL_ARG_DIFF_DST, onednn_input(b, ONEDNN_DY, y, MD(diff_dst, 0))},
            {DNNL_ARG_WEIGHTS, onednn_input(b, ONEDNN_W, w, MD(weights, 0))},
            {DNNL_ARG_DIFF_SRC, onednn_result(b, ONEDNN_DX, x, MD(diff_src, 0))},
        };
        onednn_operation(b, pd, uses, 3);
    } else {
        const onednn_use uses[] = {
            {DNNL_ARG_SRC, onednn_input(b, ONEDNN_X, x, MD(src, 0))},
            {DNNL_ARG_DIFF_DST, onednn_input(b, ONEDNN_DY, y, MD(diff_dst, 0))},
            {DNNL_ARG_DIFF_WEIGHTS, onednn_result(b, ONEDNN_DW, w, MD(diff_weights, 0))},
            {DNNL_ARG_DIFF_BIAS, bias ? onednn_result(b, ONEDNN_DB, v->inside.b, MD(diff_weights, 1)) : -1},
        };
        onednn_operation(b, pd, uses, 4);
    }
#undef MD
    onednn_deliver(b);
}

/* With groups the weights have a dimension more. */
static onednn_shape shape_of_weights(const cnn_conv_desc *d, bool depth)
{
    onednn_shape w = {.n_dims = 0};
    if (d->g > 1) w.dims[w.n_dims++] = d->g;
    w.dims[w.n_dims++] = d->oc / d->g;
    w.dims[w.n_dims++] = d->ic / d->g;
    if (depth) w.dims[w.n_dims++] = d->kd;
    w.dims[w.n_dims++] = d->kh;
    w.dims[w.n_dims++] = d->kw;
    return w;
}

void onednn_build_conv(onednn_build *b)
{
    const cnn_conv_desc *d = &b->request->problem->u.conv;
    const bool depth = b->request->problem->op == CNN_OP_CONV3D;
    weighted v = {.d = d, .w = shape_of_weights(d, depth)};
    onednn_window *o = &v.inside;
    dnnl_primitive_desc_t pd = NULL;
    onednn_check_weighted(b, d);
    if (depth) {
        v.x = (onednn_shape){5, {d->mb, d->ic, d->id, d->ih, d->iw}};
        v.y = (onednn_shape){5, {d->mb, d->oc, d->od, d->oh, d->ow}};
        o->stride[0] = d->sd, o->dilation[0] = d->dd, o->left[0] = d->pd, o->right[0] = d->pd_r;
    } else {
        v.x = (onednn_shape){4, {d->mb, d->ic, d->ih, d->iw}};
        v.y = (onednn_shape){4, {d->mb, d->oc, d->oh, d->ow}};
    }
    o->stride[depth] = d->sh, o->dilation[depth] = d->dh, o->left[depth] = d->ph, o->right[depth] = d->ph_r;
    o->stride[depth + 1] = d->sw, o->dilation[depth + 1] = d->dw, o->left[depth + 1] = d->pw;
    o->right[depth + 1] = d->pw_r;
    lay_inside(b, &v);
    if (b->status != CNN_OK) return;
    const onednn_make how = onednn_how(b, NULL);
    const dnnl_status_t status = onednn_make_conv(&how, b->request->dir, o, &pd);
    put_together(b, &v, onednn_keep(b, status, pd));
}

/* Images of one pixel are a matrix. oneDNN's inner products have no zero points: with these it is a convolution. */
void onednn_build_fc(onednn_build *b)
{
    const cnn_conv_desc d = cnn_fc_as_conv(&b->request->problem->u.fc);
    const bool zeros = d.quant.zero_x != 0 || d.quant.zero_y != 0;
    const int n_dims = d.ih == 1 && d.iw == 1 && !zeros ? 2 : 4;
    weighted v = {.d = &d,
                  .x = {n_dims, {d.mb, d.ic, d.ih, d.iw}},
                  .y = {zeros ? 4 : 2, {d.mb, d.oc, 1, 1}},
                  .w = {n_dims, {d.oc, d.ic, d.ih, d.iw}},
                  .inside = {.stride = {1, 1}}};
    dnnl_primitive_desc_t pd = NULL;
    onednn_check_weighted(b, &d);
    lay_inside(b, &v);
    if (b->status != CNN_OK) return;
    const onednn_make how = onednn_how(b, NULL);
    const dnnl_status_t status = zeros ? onednn_make_conv(&how, b->request->dir, &v.inside, &pd)
                                       : onednn_make_fc(&how, b->request->dir, &v.inside, &pd);
    put_together(b, &v, onednn_keep(b, status, pd));
}

cnn_status onednn_weighted(cnn_context *context, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const onednn_program *program = plan->state;
    const onednn_call call = {.pointers = {[ONEDNN_X] = a->x,
                                           [ONEDNN_W] = a->w,
                                           [ONEDNN_B] = a->b,
                                           [ONEDNN_DY] = a->dy,
                                           [ONEDNN_Y] = a->y,
                                           [ONEDNN_DX] = a->dx,
                                           [ONEDNN_DW] = a->dw,
                                           [ONEDNN_DB] = a->db,
                                           [ONEDNN_Z] = a->z,
                                           [ONEDNN_SCALE] = a->scale,
                                           [ONEDNN_ZERO_X] = &program->zero_x,
                                           [ONEDNN_ZERO_Y] = &program->zero_y},
                              .beta = a->beta,
                              .workspace = a->workspace};
    const cnn_status status = onednn_run(context, plan, &call, err);
    if (status == CNN_OK) onednn_whole_bias((const onednn_context *)context, &plan->problem, a);
    return status;
}
