/* conv_open.c: the descriptors of a convolution. What cuDNN's legacy calls cannot say is refused here: a right padding
 * that is not the left one, and more than 32 bits. */
#include "impl_cudnn/conv.h"

#include "harness/cnn/half.h"
#include "harness/cnn/shape.h"

#include <limits.h>
#include <stdlib.h>

/* An FC layer is a convolution whose kernel covers the image. Where x is stored as the weights count it, channels
 * first, all pixels are taken for channels of one: the plain matrix product that it is. */
static cnn_status conv_of_fc(const cnn_fc_desc *f, cnn_conv_desc *d, cnn_error *err)
{
    int64_t inputs;
    if (!cnn_mul4(f->ic, f->ih, f->iw, 1, &inputs))
        return CNN_FAIL(err, CNN_UNSUPPORTED, "%lld x %lld x %lld inputs overflow", (long long)f->ic, (long long)f->ih,
                        (long long)f->iw);
    *d = cnn_fc_as_conv(f);
    if (f->t.layout == CNN_NCHW || f->ic == 1 || f->ih * f->iw == 1) {
        d->t.layout = CNN_NCHW;
        d->ic = inputs;
        d->ih = d->iw = d->kh = d->kw = 1;
    }
    return CNN_OK;
}

/* cuDNN pads both sides alike, and takes the output to be as large as that makes it. */
static cnn_status check_output(const cnn_conv_desc *d, cnn_error *err)
{
    const int64_t oh = cnn_out_size(d->ih, d->kh, d->sh, d->ph, d->ph, d->dh);
    const int64_t ow = cnn_out_size(d->iw, d->kw, d->sw, d->pw, d->pw, d->dw);
    const int64_t od = cnn_out_size(d->id, d->kd, d->sd, d->pd, d->pd, d->dd);
    if (od == d->od && oh == d->oh && ow == d->ow) return CNN_OK;
    return CNN_FAIL(err, CNN_UNSUPPORTED,
                    "cuDNN's legacy calls pad both sides alike: the output would be %lld x %lld x %lld, not %lld x "
                    "%lld x %lld; graph:* pads each side by itself",
                    (long long)od, (long long)oh, (long long)ow, (long long)d->od, (long long)d->oh, (long long)d->ow);
}

/* In int, as cuDNN takes them. The tensors' sizes are checked where they are made. */
static cnn_status check_ints(const cnn_conv_desc *d, cnn_error *err)
{
    const int64_t list[] = {d->g,  d->kh, d->kw,     d->sh,     d->sw,     d->ph, d->pw,
                            d->kd, d->sd, d->dh + 1, d->dw + 1, d->dd + 1, d->pd};
    int64_t count;
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        if (list[i] < 0 || list[i] > INT_MAX)
            return CNN_FAIL(err, CNN_UNSUPPORTED, "%lld is no size that cuDNN's legacy calls can take (0 to %d)",
                            (long long)list[i], INT_MAX);
    if (!cnn_mul4(d->oc, d->ic / d->g, d->kd * d->kh, d->kw, &count) || count > INT_MAX)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "weights of %lld x %lld x %lld x %lld are more than cuDNN can count (%d)",
                        (long long)d->oc, (long long)(d->ic / d->g), (long long)d->kh, (long long)d->kw, INT_MAX);
    return CNN_OK;
}

cudnnMathType_t conv_math_type(const cnn_type *t)
{
    /* The default lets f32 products be of TF32 factors; for f64 there is nothing to forbid. Tensor cores multiply f16
     * and bf16 exactly, and sum in f32. */
    if (cnn_is_half(t->dtype)) return CUDNN_TENSOR_OP_MATH;
    return t->dtype == CNN_F32 && t->math == CNN_MATH_F32 ? CUDNN_FMA_MATH : CUDNN_DEFAULT_MATH;
}

static cnn_status open_convolution(cudnn_context *c, conv_state *s, cnn_error *err)
{
    const cnn_conv_desc *d = &s->d;
    const cudnnConvolutionMode_t mode = d->flip ? CUDNN_CONVOLUTION : CUDNN_CROSS_CORRELATION;
    CUDNN_TRY(c, cudnnCreateConvolutionDescriptor(&s->conv), err);
    CUDNN_TRY(c,
              cudnnSetConvolution2dDescriptor(s->conv, (int)d->ph, (int)d->pw, (int)d->sh, (int)d->sw, (int)d->dh + 1,
                                              (int)d->dw + 1, mode, cudnn_sum_type(d->t.dtype)),
              err);
    CUDNN_TRY(c, cudnnSetConvolutionGroupCount(s->conv, (int)d->g), err);
    return CUDNN_CHECK(c, cudnnSetConvolutionMathType(s->conv, conv_math_type(&d->t)), err);
}

/* ---- Of three dimensions: channels first. */

static cnn_status open_deep_convolution(cudnn_context *c, conv_state *s, cnn_error *err)
{
    const cnn_conv_desc *d = &s->d;
    const cudnnDataType_t type = cudnn_data_type(d->t.dtype);
    const int filter[] = {(int)d->oc, (int)(d->ic / d->g), (int)d->kd, (int)d->kh, (int)d->kw};
    const int pad[] = {(int)d->pd, (int)d->ph, (int)d->pw}, stride[] = {(int)d->sd, (int)d->sh, (int)d->sw};
    const int dilation[] = {(int)d->dd + 1, (int)d->dh + 1, (int)d->dw + 1};
    const cudnnConvolutionMode_t mode = d->flip ? CUDNN_CONVOLUTION : CUDNN_CROSS_CORRELATION;
    CUDNN_TRY(c, cudnnCreateFilterDescriptor(&s->w), err);
    CUDNN_TRY(c, cudnnSetFilterNdDescriptor(s->w, type, CUDNN_TENSOR_NCHW, 5, filter), err);
    CUDNN_TRY(c, cudnnCreateConvolutionDescriptor(&s->conv), err);
    CUDNN_TRY(c, cudnnSetConvolutionNdDescriptor(s->conv, 3, pad, stride, dilation, mode, cudnn_sum_type(d->t.dtype)),
              err);
    CUDNN_TRY(c, cudnnSetConvolutionGroupCount(s->conv, (int)d->g), err);
    return CUDNN_CHECK(c, cudnnSetConvolutionMathType(s->conv, conv_math_type(&d->t)), err);
}

static cnn_status open_deep(cudnn_context *c, conv_state *s, cnn_error *err)
{
    const cnn_conv_desc *d = &s->d;
    const int64_t x[] = {d->mb, d->ic, d->id, d->ih, d->iw}, y[] = {d->mb, d->oc, d->od, d->oh, d->ow};
    if (d->t.layout != CNN_NCHW)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "by cuDNN's legacy calls three dimensions are done in NCHW");
    cnn_status status = check_ints(d, err);
    if (status == CNN_OK) status = check_output(d, err);
    if (status == CNN_OK) status = cudnn_tensor_open_deep(c, &d->t, x, &s->x, err);
    if (status == CNN_OK) status = cudnn_tensor_open_deep(c, &d->t, y, &s->y, err);
    return status == CNN_OK ? open_deep_convolution(c, s, err) : status;
}

/* ---- Of two. */

/* The filter as cuDNN is to see it, and what turns ours into that, where the bytes differ. */
static cnn_status open_filter(cudnn_context *c, conv_state *s, bool turned, cnn_error *err)
{
    const cnn_conv_desc *d = &s->d;
    const int64_t ic = d->ic / d->g;
    const bool nhwc = d->t.layout == CNN_NHWC && turned;
    cnn_type ours = d->t, theirs = d->t;
    ours.layout = CNN_NCHW;
    theirs.layout = CNN_NHWC;
    CUDNN_TRY(c, cudnnCreateFilterDescriptor(&s->w), err);
    CUDNN_TRY(c,
              cudnnSetFilter4dDescriptor(s->w, cudnn_data_type(d->t.dtype),
                                         nhwc ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW, (int)d->oc, (int)ic, (int)d->kh,
                                         (int)d->kw),
              err);
    if (!nhwc || ic == 1 || d->kh * d->kw == 1) return CNN_OK; /* the same bytes */
    const cnn_status status = cudnn_tensor_open(c, &ours, d->oc, ic, d->kh, d->kw, &s->w_ours, err);
    if (status != CNN_OK) return status;
    return cudnn_tensor_open(c, &theirs, d->oc, ic, d->kh, d->kw, &s->w_theirs, err);
}

static cnn_status open_all(cudnn_context *c, conv_state *s, bool turned, cnn_error *err)
{
    const cnn_conv_desc *d = &s->d;
    cnn_status status = check_ints(d, err);
    if (status == CNN_OK) status = check_output(d, err);
    if (status == CNN_OK) status = cudnn_tensor_open(c, &d->t, d->mb, d->ic, d->ih, d->iw, &s->x, err);
    if (status == CNN_OK) status = cudnn_tensor_open(c, &d->t, d->mb, d->oc, d->oh, d->ow, &s->y, err);
    if (status == CNN_OK) status = open_convolution(c, s, err);
    return status == CNN_OK ? open_filter(c, s, turned, err) : status;
}

cnn_status conv_open(cudnn_context *c, const cnn_request *r, bool turned, conv_state **state, cnn_error *err)
{
    conv_state *s = calloc(1, sizeof *s);
    cnn_status status = CNN_OK;
    *state = NULL;
    if (s == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a plan");
    s->dir = r->dir;
    s->knobs = r->knobs;
    s->deep = r->problem->op == CNN_OP_CONV3D;
    s->d = cnn_with_depth(r->problem);
    if (r->problem->op == CNN_OP_FC) status = conv_of_fc(&r->problem->u.fc, &s->d, err);
    if (status == CNN_OK) status = s->deep ? open_deep(c, s, err) : open_all(c, s, turned, err);
    if (status == CNN_OK)
        *state = s;
    else
        conv_close(s);
    return status;
}

void conv_close(conv_state *s)
{
    if (s == NULL) return;
    cudnnTensorDescriptor_t *tensors[] = {&s->x, &s->y, &s->w_ours, &s->w_theirs};
    for (size_t i = 0; i < sizeof tensors / sizeof tensors[0]; i++) cudnn_tensor_close(tensors[i]);
    if (s->w != NULL) (void)cudnnDestroyFilterDescriptor(s->w);
    if (s->conv != NULL) (void)cudnnDestroyConvolutionDescriptor(s->conv);
    free(s);
}
