/* net_windows.c: the lines `conv` and `..._pool`: layers that slide a window over the image, and the sizes it leaves.
 */
#include "harness/problem/dims.h"
#include "harness/problem/shape.h"
#include "net_parse.h"

/* Output size along one axis, and the right padding that makes exactly it. */
static cnn_status finish(net_builder *b, char name, dims_axis *a, cnn_error *err)
{
    a->o = cnn_out_size(a->i, a->k, a->s, a->p, a->p, a->d);
    if (a->o < 1)
        return NET_FAIL(b->line, err,
                        "along %c the kernel spans %lld pixels, more than the input's %lld with padding %lld on both "
                        "sides",
                        name, (long long)cnn_extent(a->k, a->d), (long long)a->i, (long long)a->p);
    a->p_r = cnn_right_pad(a->i, a->o, a->k, a->s, a->p, a->d);
    return CNN_OK;
}

cnn_status net_read_conv(net_builder *b, cnn_error *err)
{
    int64_t oc, kernel[2] = {0, 0}, stride[2] = {1, 1}, dilation[2] = {1, 1}, pad[2] = {0, 0}, groups = 1, bias = 1;
    const net_option options[] = {
        {.key = "kernel", .least = 1, .pair = kernel},     {.key = "stride", .least = 1, .pair = stride},
        {.key = "dilation", .least = 1, .pair = dilation}, {.key = "pad", .pair = pad},
        {.key = "groups", .least = 1, .integer = &groups}, {.key = "bias", .integer = &bias}};
    cnn_status status = net_word_int(b->line, "output channels", b->line->words[1], 1, &oc, err);
    if (status == CNN_OK) status = net_read_options(b->line, 2, options, NET_COUNT(options), err);
    if (status != CNN_OK) return status;
    if (kernel[0] == 0) return NET_FAIL(b->line, err, "conv needs kernel=K or kernel=KHxKW");
    if (bias > 1) return NET_FAIL(b->line, err, "bias is %lld, but must be 0 or 1", (long long)bias);
    const cnn_value x = *net_current(b);
    if (x.c % groups != 0 || oc % groups != 0)
        return NET_FAIL(b->line, err, "groups=%lld does not divide %lld input and %lld output channels",
                        (long long)groups, (long long)x.c, (long long)oc);

    dims_axis h = {.i = x.h, .k = kernel[0], .s = stride[0], .p = pad[0], .d = dilation[0] - 1};
    dims_axis w = {.i = x.w, .k = kernel[1], .s = stride[1], .p = pad[1], .d = dilation[1] - 1};
    status = finish(b, 'h', &h, err);
    if (status == CNN_OK) status = finish(b, 'w', &w, err);
    if (status != CNN_OK) return status;
    int64_t weights;
    if (!cnn_mul4(oc, x.c / groups, h.k, w.k, &weights))
        return NET_FAIL(b->line, err, "%lld filters of %lld x %lld x %lld weights overflow", (long long)oc,
                        (long long)(x.c / groups), (long long)h.k, (long long)w.k);
    cnn_layer *layer = net_add_layer(b, CNN_OP_CONV);
    cnn_conv_desc *d = &layer->problem.u.conv;
    *d = (cnn_conv_desc){
        .t = d->t, .g = groups, .mb = b->batch, .ic = x.c, .oc = oc, DIMS_AXES(h, w), .bias = bias != 0};
    net_add_param(b, layer, CNN_WEIGHT, weights, weights / oc, weights / (x.c / groups) / groups);
    if (d->bias) net_add_param(b, layer, CNN_BIAS, oc, weights / oc, weights / (x.c / groups) / groups);
    net_add_output(b, layer, oc, d->oh, d->ow);
    return CNN_OK;
}

cnn_status net_read_pool(net_builder *b, cnn_error *err)
{
    int64_t kernel[2] = {0, 0}, stride[2] = {0, 0}, pad[2] = {0, 0};
    const bool global = b->variant == CNN_POOL_GLOBAL_AVG;
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
    dims_axis h = {.i = x.h, .k = kernel[0], .s = stride[0], .p = pad[0]};
    dims_axis w = {.i = x.w, .k = kernel[1], .s = stride[1], .p = pad[1]};
    status = finish(b, 'h', &h, err);
    if (status == CNN_OK) status = finish(b, 'w', &w, err);
    if (status != CNN_OK) return status;
    cnn_layer *layer = net_add_layer(b, CNN_OP_POOL);
    cnn_pool_desc *d = &layer->problem.u.pool;
    *d = (cnn_pool_desc){.t = d->t, .kind = (cnn_pool_kind)b->variant, .mb = b->batch, .ic = x.c, DIMS_AXES(h, w)};
    net_add_output(b, layer, x.c, d->oh, d->ow);
    return CNN_OK;
}
