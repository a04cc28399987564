/* op_conv.c: convolution: descriptors as benchdnn's. */
#include "op.h"

static cnn_status parse(const char *text, const cnn_problem_defaults *defaults, cnn_problem *p, desc_dims *d,
                        cnn_error *err)
{
    const char *letters = "g mb ic id ih iw oc od oh ow kd kh kw sd sh sw pd ph pw dd dh dw";
    cnn_status status;
    if ((status = dims_parse(text, 0, letters, d, err)) != CNN_OK) return status;
    if ((status = dims_deduce_windows(text, d, err)) != CNN_OK) return status;
    p->u.conv = (cnn_conv_desc){.t = defaults->type,
                                .g = d->g,
                                .mb = d->mb,
                                .ic = d->ic,
                                .oc = d->oc,
                                DIMS_AXES(d->height, d->width),
                                .bias = !defaults->no_bias,
                                .flip = defaults->flip};
    return CNN_OK;
}

static void format(op_writer *w, const cnn_problem *p)
{
    const cnn_conv_desc *d = &p->u.conv;
    if (d->g != 1) op_put_number(w, "g", d->g);
    op_put_number(w, "mb", d->mb);
    op_put_windows(w, OP_HEIGHT(d), OP_WIDTH(d), d->ic, d->oc);
}

static cnn_status check(const cnn_problem *p, cnn_error *err)
{
    const cnn_conv_desc *d = &p->u.conv;
    const op_size sizes[] = {{"g", d->g, 1}, {"mb", d->mb, 1}, {"ic", d->ic, 1}, {"oc", d->oc, 1}};
    cnn_status status = op_check_sizes(sizes, 4, err);
    if (status != CNN_OK) return status;
    if (d->ic % d->g != 0 || d->oc % d->g != 0)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "g%lld does not divide ic%lld and oc%lld", (long long)d->g,
                        (long long)d->ic, (long long)d->oc);
    return op_check_windows(OP_HEIGHT(d), OP_WIDTH(d), err);
}

static void operands(op_operands *list, const cnn_problem *p, cnn_dir dir)
{
    const cnn_conv_desc *d = &p->u.conv;
    if (dir != CNN_BWD_D) op_tensor(list, "x", CNN_IN, d->mb, d->ic, d->ih, d->iw);
    if (dir != CNN_FWD) op_tensor(list, "dy", CNN_IN, d->mb, d->oc, d->oh, d->ow);
    if (dir != CNN_BWD_W) op_flat(list, "w", CNN_IN, CNN_ELEM_WEIGHT, d->oc, d->ic / d->g, d->kh, d->kw);
    if (dir == CNN_FWD && d->bias) op_vector(list, "b", CNN_IN, CNN_ELEM_WEIGHT, d->oc);
    if (dir == CNN_FWD) op_tensor(list, "y", CNN_OUT, d->mb, d->oc, d->oh, d->ow);
    if (dir == CNN_BWD_D) op_tensor(list, "dx", CNN_OUT, d->mb, d->ic, d->ih, d->iw);
    if (dir == CNN_BWD_W) op_flat(list, "dw", CNN_OUT, CNN_ELEM_WEIGHT, d->oc, d->ic / d->g, d->kh, d->kw);
    if (dir == CNN_BWD_W && d->bias) op_vector(list, "db", CNN_OUT, CNN_ELEM_WEIGHT, d->oc);
}

/* dy counts in db wherever it stands. */
static int64_t needed(const cnn_problem *p, cnn_dir dir, const cnn_operand *operand)
{
    const cnn_conv_desc *d = &p->u.conv;
    if (operand->access != CNN_IN) return operand->count;
    const cnn_axis_use h = op_use_of(OP_HEIGHT(d)), w = op_use_of(OP_WIDTH(d));
    const int64_t images_and_channels = operand->dims[0] * operand->dims[1];
    if (op_is(operand, "x")) return images_and_channels * h.pixels * w.pixels;
    if (op_is(operand, "w")) return images_and_channels * h.taps * w.taps;
    if (op_is(operand, "dy") && !(dir == CNN_BWD_W && d->bias)) return images_and_channels * h.outputs * w.outputs;
    return operand->count;
}

static double flops(const cnn_problem *p, cnn_dir dir)
{
    const cnn_conv_desc *d = &p->u.conv;
    const double macs = (double)d->mb * (double)d->oc * (double)(d->ic / d->g) * op_taps(OP_HEIGHT(d), OP_WIDTH(d));
    const double outputs = (double)d->mb * (double)d->oc * (double)d->oh * (double)d->ow;
    return 2 * macs + (d->bias && dir != CNN_BWD_D ? outputs : 0);
}

const op_row op_conv = {.at.mb = OP_AT(conv.mb),
                        .parse = parse,
                        .format = format,
                        .check = check,
                        .operands = operands,
                        .needed = needed,
                        .flops = flops};
