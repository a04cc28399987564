/* graph_problem.c: a convolution as cuDNN's operation graph: one operation, and behind it, each its own, what the
 * graph's tail says: the residual added, the bias added, the activation, in the order in which cuDNN documents them.
 *
 * Layouts are strides. Ours are x and y in the problem's layout but w always [oc][ic/g][kh][kw]; an engine that wants
 * the filter in the layout of x refuses, and says so. cuDNN counts the groups by itself: the channels of x over those
 * of w. Right padding is independent of the left, but most engines want them equal: see right_pad(). What cuDNN cannot
 * say is a negative one: x is then a smaller tensor within the rows of the whole. */
#include "impl_cudnn/graph.h"

#include "harness/cnn/shape.h"

enum { POINTS_MAX = 3 }; /* z, b, the activation */

typedef struct parts {
    cudnnBackendDescriptor_t tensors[GRAPH_INNER + POINTS_MAX], conv, points[POINTS_MAX], operations[1 + POINTS_MAX];
    int n_points;
} parts;

/* A tensor stored without gaps with `rows` rows of `columns`, of which dims[2] x dims[3] are seen; channels innermost
 * or, NCHW, between image and rows. */
typedef struct tensor_shape {
    const char *what;
    bool channels_last;
    int64_t dims[4], rows, columns;
} tensor_shape;

static cnn_status make_tensor(cnn_dtype dtype, int id, const tensor_shape *s, cudnnBackendDescriptor_t *made,
                              cnn_error *err)
{
    const bool inner = id >= GRAPH_INNER; /* which is never stored */
    const cudnnDataType_t type = inner ? cudnn_sum_type(dtype) : cudnn_data_type(dtype);
    const int64_t c = s->dims[1], n = c * s->rows * s->columns;
    const int64_t nchw[4] = {n, s->rows * s->columns, s->columns, 1}, nhwc[4] = {n, 1, s->columns * c, c};
    graph_maker m = graph_make(CUDNN_BACKEND_TENSOR_DESCRIPTOR, s->what, err);
    graph_set(&m, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
    graph_set(&m, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, s->dims);
    graph_set(&m, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, s->channels_last ? nhwc : nchw);
    graph_set_int64(&m, CUDNN_ATTR_TENSOR_UNIQUE_ID, id);
    graph_set_int64(&m, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CNN_ALIGN);
    if (inner) graph_set(&m, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &inner);
    return graph_finish(&m, made);
}

/* Every right padding from `exact` to exact + stride - 1 makes the same output: the rest of the division is not read.
 * The same as on the left where possible, which all engines know; else none, else the nearest to it. */
static int64_t right_pad(int64_t exact, int64_t left, int64_t stride)
{
    if (exact <= left && left < exact + stride) return left;
    if (exact > 0) return exact;
    return exact + stride > 0 ? 0 : exact + stride - 1;
}

/* Rows or columns at the end of x that the kernel never touches: cuDNN takes no negative padding, but a smaller x. */
static int64_t unread(int64_t exact, int64_t left, int64_t stride)
{
    const int64_t right = right_pad(exact, left, stride);
    return right < 0 ? -right : 0;
}

bool graph_leaves_rest(const cnn_conv_desc *d)
{
    return unread(d->ph_r, d->ph, d->sh) > 0 || unread(d->pw_r, d->pw, d->sw) > 0;
}

static bool has_epilogue(const cnn_conv_desc *d) { return d->epilogue.add || d->epilogue.act != CNN_ACT_IDENTITY; }

graph_tail graph_tail_of(const cnn_conv_desc *d, cnn_dir dir)
{
    if (dir != CNN_FWD) return GRAPH_BARE;
    return has_epilogue(d) ? GRAPH_FUSED : d->bias ? GRAPH_BIAS : GRAPH_BARE;
}

/* Which tensors a graph has beside x, w, y and those inside. */
static bool takes(const graph_request *r, int id)
{
    if (id != GRAPH_B && id != GRAPH_Z) return true;
    return r->tail != GRAPH_BARE && (id == GRAPH_B ? r->conv->bias : r->conv->epilogue.add);
}

static cnn_status make_tensors(const graph_request *r, parts *p, cnn_error *err)
{
    const cnn_conv_desc *d = r->conv;
    const int64_t below = unread(d->ph_r, d->ph, d->sh), beside = unread(d->pw_r, d->pw, d->sw), c = d->ic / d->g;
    const bool last = d->t.layout == CNN_NHWC;
    /* With one channel or one tap both orders of w are the same memory, and NHWC engines then take it. */
    const bool w_last = last && (c == 1 || d->kh * d->kw == 1);
    const tensor_shape y = {"tensor y", last, {d->mb, d->oc, d->oh, d->ow}, d->oh, d->ow};
    const tensor_shape list[] = {
        [GRAPH_X] = {"tensor x", last, {d->mb, d->ic, d->ih - below, d->iw - beside}, d->ih, d->iw},
        [GRAPH_W] = {"tensor w", w_last, {d->oc, c, d->kh, d->kw}, d->kh, d->kw},
        [GRAPH_Y] = y,
        [GRAPH_B] = {"tensor b", last, {1, d->oc, 1, 1}, 1, 1},
        [GRAPH_Z] = y,
    };
    cnn_status status = CNN_OK;
    for (int id = GRAPH_X; id < GRAPH_INNER + p->n_points && status == CNN_OK; id++)
        if (takes(r, id)) status = make_tensor(d->t.dtype, id, id < GRAPH_INNER ? &list[id] : &y, &p->tensors[id], err);
    return status;
}

static cnn_status make_conv(const cnn_conv_desc *d, cudnnBackendDescriptor_t *made, cnn_error *err)
{
    const cudnnDataType_t type = cudnn_sum_type(d->t.dtype);
    const cudnnConvolutionMode_t mode = d->flip ? CUDNN_CONVOLUTION : CUDNN_CROSS_CORRELATION;
    const int64_t dilation[2] = {d->dh + 1, d->dw + 1}, stride[2] = {d->sh, d->sw}, left[2] = {d->ph, d->pw};
    const int64_t below = right_pad(d->ph_r, d->ph, d->sh), beside = right_pad(d->pw_r, d->pw, d->sw);
    const int64_t right[2] = {below > 0 ? below : 0, beside > 0 ? beside : 0};
    graph_maker m = graph_make(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, "convolution", err);
    graph_set_int64(&m, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, 2);
    graph_set(&m, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
    graph_set(&m, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode);
    graph_set(&m, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, 2, left);
    graph_set(&m, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, 2, right);
    graph_set(&m, CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, 2, dilation);
    graph_set(&m, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, 2, stride);
    return graph_finish(&m, made);
}

/* What the three directions call their operation and its parts. */
static const struct {
    cudnnBackendDescriptorType_t type;
    cudnnBackendAttributeName_t tensors[3]; /* GRAPH_X, GRAPH_W, GRAPH_Y */
    cudnnBackendAttributeName_t alpha, beta, conv;
} directions[CNN_DIR_COUNT] = {
#define DIRECTION(op, prefix, x, w, y)                                                                                 \
    {                                                                                                                  \
        CUDNN_BACKEND_OPERATION_CONVOLUTION_##op##_DESCRIPTOR,                                                         \
            {CUDNN_ATTR_OPERATION_CONVOLUTION_##prefix##_##x, CUDNN_ATTR_OPERATION_CONVOLUTION_##prefix##_##w,         \
             CUDNN_ATTR_OPERATION_CONVOLUTION_##prefix##_##y},                                                         \
            CUDNN_ATTR_OPERATION_CONVOLUTION_##prefix##_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_##prefix##_BETA,       \
            CUDNN_ATTR_OPERATION_CONVOLUTION_##prefix##_CONV_DESC                                                      \
    }
    [CNN_FWD] = DIRECTION(FORWARD, FORWARD, X, W, Y),
    [CNN_BWD_D] = DIRECTION(BACKWARD_DATA, BWD_DATA, DX, W, DY),
    [CNN_BWD_W] = DIRECTION(BACKWARD_FILTER, BWD_FILTER, X, DW, DY),
#undef DIRECTION
};

static cnn_status make_operation(const graph_request *r, parts *p, cnn_error *err)
{
    const bool wide = r->conv->t.dtype == CNN_F64; /* the scalars are of the type of the sums */
    const cudnnBackendAttributeType_t type = wide ? CUDNN_TYPE_DOUBLE : CUDNN_TYPE_FLOAT;
    const double alpha = 1, beta = r->add ? 1 : 0;
    const float alpha_f = 1, beta_f = (float)beta;
    graph_maker m = graph_make(directions[r->dir].type, "operation", err);
    for (int i = 0; i < 3; i++) {
        const int id = GRAPH_X + i;
        const bool inside = p->n_points > 0 && id == GRAPH_Y;
        graph_set_part(&m, directions[r->dir].tensors[i], p->tensors[inside ? GRAPH_INNER : id]);
    }
    graph_set(&m, directions[r->dir].alpha, type, 1, wide ? (const void *)&alpha : &alpha_f);
    graph_set(&m, directions[r->dir].beta, type, 1, wide ? (const void *)&beta : &beta_f);
    graph_set_part(&m, directions[r->dir].conv, p->conv);
    return graph_finish(&m, &p->operations[0]);
}

/* What the operations behind the convolution do, by the tensor that each adds; 0: the activation. */
static int list_points(const graph_request *r, int adds[POINTS_MAX])
{
    int count = 0;
    if (r->tail == GRAPH_BARE) return 0;
    if (takes(r, GRAPH_Z)) adds[count++] = GRAPH_Z;
    if (takes(r, GRAPH_B)) adds[count++] = GRAPH_B;
    if (r->conv->epilogue.act != CNN_ACT_IDENTITY) adds[count++] = 0;
    return count;
}

/* false: cuDNN has no such operation, or none to be used: its tanh in a graph gives 0 for small sums (9.14, H200), so
 * it is a pass behind the convolution here. */
static bool set_activation(graph_maker *m, const cnn_epilogue *e)
{
    static const cudnnPointwiseMode_t modes[CNN_ACT_COUNT] = {[CNN_ACT_RELU] = CUDNN_POINTWISE_RELU_FWD,
                                                              [CNN_ACT_LEAKY_RELU] = CUDNN_POINTWISE_RELU_FWD,
                                                              [CNN_ACT_CLIPPED_RELU] = CUDNN_POINTWISE_RELU_FWD,
                                                              [CNN_ACT_ELU] = CUDNN_POINTWISE_ELU_FWD,
                                                              [CNN_ACT_SIGMOID] = CUDNN_POINTWISE_SIGMOID_FWD};
    const cudnnPointwiseMode_t mode = modes[e->act];
    if (e->act == CNN_ACT_SELU || e->act == CNN_ACT_SCALE || e->act == CNN_ACT_TANH) return false;
    graph_set(m, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode);
    if (e->act == CNN_ACT_LEAKY_RELU)
        graph_set(m, CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, CUDNN_TYPE_DOUBLE, 1, &e->alpha);
    if (e->act == CNN_ACT_CLIPPED_RELU)
        graph_set(m, CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, CUDNN_TYPE_DOUBLE, 1, &e->alpha);
    if (e->act == CNN_ACT_ELU) graph_set(m, CUDNN_ATTR_POINTWISE_ELU_ALPHA, CUDNN_TYPE_DOUBLE, 1, &e->alpha);
    return true;
}

/* Operation i behind the convolution: from one inner tensor to the next, the last one to y. */
static cnn_status make_point(const graph_request *r, parts *p, int i, int adds, cnn_error *err)
{
    const cudnnDataType_t type = cudnn_sum_type(r->conv->t.dtype);
    const cudnnPointwiseMode_t add = CUDNN_POINTWISE_ADD;
    graph_maker m = graph_make(CUDNN_BACKEND_POINTWISE_DESCRIPTOR, "operation on each element", err);
    if (adds != 0)
        graph_set(&m, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &add);
    else if (!set_activation(&m, &r->conv->epilogue))
        m.status = CNN_FAIL(err, CNN_UNSUPPORTED, "cuDNN's graphs have no %s that is right",
                            cnn_act_name(r->conv->epilogue.act));
    graph_set(&m, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1, &type);
    cnn_status status = graph_finish(&m, &p->points[i]);
    if (status != CNN_OK) return status;
    m = graph_make(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, "graph's operation on each element", err);
    graph_set_part(&m, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, p->points[i]);
    graph_set_part(&m, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, p->tensors[GRAPH_INNER + i]);
    if (adds != 0) graph_set_part(&m, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, p->tensors[adds]);
    graph_set_part(&m, CUDNN_ATTR_OPERATION_POINTWISE_YDESC,
                   p->tensors[i + 1 < p->n_points ? GRAPH_INNER + i + 1 : GRAPH_Y]);
    return graph_finish(&m, &p->operations[1 + i]);
}

cnn_status graph_build(cudnn_context *context, const graph_request *request, cudnnBackendDescriptor_t *graph,
                       cnn_error *err)
{
    parts p = {0};
    int adds[POINTS_MAX];
    *graph = NULL;
    p.n_points = list_points(request, adds);
    cnn_status status = make_tensors(request, &p, err);
    if (status == CNN_OK) status = make_conv(request->conv, &p.conv, err);
    if (status == CNN_OK) status = make_operation(request, &p, err);
    for (int i = 0; i < p.n_points && status == CNN_OK; i++) status = make_point(request, &p, i, adds[i], err);
    if (status == CNN_OK) {
        graph_maker m = graph_make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, "operation graph", err);
        graph_set(&m, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &context->handle);
        graph_set(&m, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1 + p.n_points, p.operations);
        status = graph_finish(&m, graph);
    }
    for (int i = 0; i < GRAPH_INNER + POINTS_MAX; i++) graph_drop(&p.tensors[i]);
    graph_drop(&p.conv);
    for (int i = 0; i < POINTS_MAX; i++) graph_drop(&p.points[i]);
    for (int i = 0; i < 1 + POINTS_MAX; i++) graph_drop(&p.operations[i]);
    return status;
}
