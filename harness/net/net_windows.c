/* net_windows.c: the lines `conv` and `..._pool`: layers that slide a window over the image, and the sizes it leaves.
 */
#include "harness/problem/shape.h"
#include "net_parse.h"

/* Output size along one axis, and the right padding that makes exactly it. */
static cnn_status axis(net_builder *b, char name, int64_t i, int64_t k, int64_t s, int64_t p, int64_t d, int64_t *o,
                       int64_t *right, cnn_error *err)
{
    *o = cnn_out_size(i, k, s, p, p, d);
    if (*o < 1)
        return NET_FAIL(b->line, err,
                        "along %c the kernel spans %lld pixels, more than the input's %lld with padding %lld on both "
                        "sides",
                        name, (long long)cnn_extent(k, d), (long long)i, (long long)p);
    *right = cnn_right_pad(i, *o, k, s, p, d);
    return CNN_OK;
}

cnn_status net_read_conv(net_builder *b, int variant, cnn_error *err)
{
    int64_t oc, kernel[2] = {0, 0}, stride[2] = {1, 1}, dilation[2] = {1, 1}, pad[2] = {0, 0}, groups = 1, bias = 1;
    const net_option options[] = {
        {.key = "kernel", .least = 1, .pair = kernel},     {.key = "stride", .least = 1, .pair = stride},
        {.key = "dilation", .least = 1, .pair = dilation}, {.key = "pad", .pair = pad},
        {.key = "groups", .least = 1, .integer = &groups}, {.key = "bias", .integer = &bias}};
    (void)variant;
    cnn_status status = net_word_int(b->line, "output channels", b->line->words[1], 1, &oc, err);
    if (status == CNN_OK) status = net_read_options(b->line, 2, options, NET_COUNT(options), err);
    if (status != CNN_OK) return status;
    if (kernel[0] == 0) return NET_FAIL(b->line, err, "conv needs kernel=K or kernel=KHxKW");
    if (bias > 1) return NET_FAIL(b->line, err, "bias is %lld, but must be 0 or 1", (long long)bias);
    const cnn_value x = *net_current(b);
    if (x.c % groups != 0 || oc % groups != 0)
        return NET_FAIL(b->line, err, "groups=%lld does not divide %lld input and %lld output channels",
                        (long long)groups, (long long)x.c, (long long)oc);

    cnn_layer *layer = net_add_layer(b, CNN_OP_CONV);
    cnn_conv_desc *d = &layer->problem.u.conv;
    *d = (cnn_conv_desc){.t = d->t,
                         .g = groups,
                         .mb = b->batch,
                         .ic = x.c,
                         .ih = x.h,
                         .iw = x.w,
                         .oc = oc,
                         .kh = kernel[0],
                         .kw = kernel[1],
                         .sh = stride[0],
                         .sw = stride[1],
                         .ph = pad[0],
                         .pw = pad[1],
                         .dh = dilation[0] - 1,
                         .dw = dilation[1] - 1,
                         .bias = bias != 0};
    status = axis(b, 'h', x.h, d->kh, d->sh, d->ph, d->dh, &d->oh, &d->ph_r, err);
    if (status == CNN_OK) status = axis(b, 'w', x.w, d->kw, d->sw, d->pw, d->dw, &d->ow, &d->pw_r, err);
    if (status != CNN_OK) return status;
    int64_t weights;
    if (!cnn_mul4(oc, x.c / groups, d->kh, d->kw, &weights))
        return NET_FAIL(b->line, err, "%lld filters of %lld x %lld x %lld weights overflow", (long long)oc,
                        (long long)(x.c / groups), (long long)d->kh, (long long)d->kw);
    net_add_param(b, layer, CNN_WEIGHT, weights, weights / oc, weights / (x.c / groups) / groups);
    if (d->bias) net_add_param(b, layer, CNN_BIAS, oc, weights / oc, weights / (x.c / groups) / groups);
    net_add_output(b, layer, oc, d->oh, d->ow);
    return CNN_OK;
}

cnn_status net_read_pool(net_builder *b, int variant, cnn_error *err)
{
    int64_t kernel[2] = {0, 0}, stride[2] = {0, 0}, pad[2] = {0, 0};
    const bool global = variant == CNN_POOL_GLOBAL_AVG;
    const net_option options[] = {{.key = "kernel", .least = 1, .pair = kernel},
                                  {.key = "stride", .least = 1, .pair = stride},
                                  {.key = "pad", .pair = pad}};
    const cnn_value x = *net_current(b);
    cnn_status status = net_read_options(b->line, 1, options, global ? 0 : NET_COUNT(options), err);
    if (status != CNN_OK) return status;
    if (global) {
        kernel[0] = x.h;
        kernel[1] = x.w;
    }
    if (kernel[0] == 0) return NET_FAIL(b->line, err, "%s needs kernel=K or kernel=KHxKW", b->line->words[0]);
    for (int i = 0; i < 2; i++) {
        if (stride[i] == 0) stride[i] = kernel[i];
        if (pad[i] >= kernel[i])
            return NET_FAIL(b->line, err,
                            "pad=%lld must be less than the kernel's %lld: a window would see only padding",
                            (long long)pad[i], (long long)kernel[i]);
    }
    cnn_layer *layer = net_add_layer(b, CNN_OP_POOL);
    cnn_pool_desc *d = &layer->problem.u.pool;
    *d = (cnn_pool_desc){.t = d->t,
                         .kind = (cnn_pool_kind)variant,
                         .mb = b->batch,
                         .ic = x.c,
                         .ih = x.h,
                         .iw = x.w,
                         .kh = kernel[0],
                         .kw = kernel[1],
                         .sh = stride[0],
                         .sw = stride[1],
                         .ph = pad[0],
                         .pw = pad[1]};
    status = axis(b, 'h', x.h, d->kh, d->sh, d->ph, 0, &d->oh, &d->ph_r, err);
    if (status == CNN_OK) status = axis(b, 'w', x.w, d->kw, d->sw, d->pw, 0, &d->ow, &d->pw_r, err);
    if (status != CNN_OK) return status;
    net_add_output(b, layer, x.c, d->oh, d->ow);
    return CNN_OK;
}
