/* op_conv.c: convolution of two dimensions, and of three (CONV3D): descriptors as benchdnn's. One with a depth is of
 * three, whatever operation was named. */
#include "op.h"

/* Of a convolution without a depth, depths of one. */
static dims_axis depth_of(const cnn_problem *p)
{
    const cnn_conv_desc *d = &p->u.conv;
    if (p->op != CNN_OP_CONV3D) return (dims_axis){.o = 1, .i = 1, .k = 1, .s = 1};
    return *OP_DEPTH(d);
}

void op_put_conv(const desc_dims *d, const cnn_problem_defaults *defaults, cnn_problem *p)
{
    p->u.conv = (cnn_conv_desc){.t = defaults->type,
                                .g = d->g,
                                .mb = d->mb,
                                .ic = d->ic,
                                .oc = d->oc,
                                DIMS_AXES(d->height, d->width),
                                .bias = !defaults->no_bias,
                                .flip = defaults->flip};
}

static void put_depth(const dims_axis *a, cnn_problem *p)
{
    cnn_conv_desc *d = &p->u.conv;
    p->op = CNN_OP_CONV3D;
    d->id = a->i, d->od = a->o, d->kd = a->k, d->sd = a->s;
    d->pd = a->p, d->pd_r = a->p_r, d->dd = a->d;
}

static cnn_status parse(const char *text, const cnn_problem_defaults *defaults, cnn_problem *p, desc_dims *d,
                        cnn_error *err)
{
    char words[CNN_PROBLEM_TEXT_MAX];
    size_t start = 0;
    cnn_epilogue epilogue = defaults->epilogue;
    cnn_status status = CNN_OK;
    if (op_split_kind(text, words, sizeof words, &start)) status = op_read_epilogue(text, words, &epilogue, err);
    if (status == CNN_OK) status = dims_parse(text, start, OP_CONV_LETTERS " " OP_QUANT_LETTERS, d, err);
    if (status == CNN_OK) status = dims_deduce_windows(text, d, err);
    if (status == CNN_OK) op_put_conv(d, defaults, p);
    if (status == CNN_OK) p->u.conv.quant = op_quantization(d), p->u.conv.epilogue = epilogue;
    if (status == CNN_OK && (p->op == CNN_OP_CONV3D || dims_deep(d))) put_depth(&d->depth, p);
    return status;
}

/* With a depth, all of the three axes stand. */
static void put_sizes(char *text, const cnn_problem *p)
{
    const cnn_conv_desc *d = &p->u.conv;
    if (d->g != 1) op_put_number(text, "g", d->g);
    op_put_number(text, "mb", d->mb);
    if (p->op != CNN_OP_CONV3D) {
        op_put_windows(text, OP_HEIGHT(d), OP_WIDTH(d), d->ic, d->oc);
        return;
    }
    op_put(text, "ic%lldoc%lld", (long long)d->ic, (long long)d->oc);
    op_put_axes(text, OP_DEPTH(d), OP_HEIGHT(d), OP_WIDTH(d));
}

static void format(char *text, const cnn_problem *p)
{
    if (cnn_has_epilogue(p)) {
        op_put_epilogue(text, &p->u.conv.epilogue);
        op_put(text, ":");
    }
    put_sizes(text, p);
    op_put_quantization(text, &p->u.conv.quant);
}

/* Rows of all depths are counted together. */
static cnn_status check_depth(const cnn_problem *p, cnn_error *err)
{
    const cnn_conv_desc *d = &p->u.conv;
    const dims_axis depth = depth_of(p);
    const cnn_status status = op_check_axis('d', &depth, err);
    const op_size sizes[] = {
        {"id * ih", d->id * d->ih, 1}, {"od * oh", d->od * d->oh, 1}, {"kd * kh", d->kd * d->kh, 1}};
    return status == CNN_OK ? op_check_sizes(sizes, 3, err) : status;
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
    status = op_check_windows(OP_HEIGHT(d), OP_WIDTH(d), err);
    if (status == CNN_OK && p->op == CNN_OP_CONV3D) status = check_depth(p, err);
    return status == CNN_OK ? op_check_epilogue(&d->epilogue, err) : status;
}

static void operands(op_operands *list, const cnn_problem *p, cnn_dir dir)
{
    const cnn_conv_desc *d = &p->u.conv;
    const dims_axis a = depth_of(p);
    const int64_t ih = a.i * d->ih, oh = a.o * d->oh, kh = a.k * d->kh;
    if (dir != CNN_BWD_D) op_tensor(list, "x", CNN_IN, d->mb, d->ic, ih, d->iw);
    if (dir != CNN_FWD) op_tensor(list, "dy", CNN_IN, d->mb, d->oc, oh, d->ow);
    if (dir != CNN_BWD_W) op_flat(list, "w", CNN_IN, CNN_ELEM_WEIGHT, d->oc, d->ic / d->g, kh, d->kw);
    if (dir == CNN_FWD && d->bias) op_vector(list, "b", CNN_IN, CNN_ELEM_WEIGHT, d->oc);
    if (dir == CNN_FWD) op_scale(list, &d->quant, d->oc);
    if (dir == CNN_FWD && d->epilogue.add) op_tensor(list, "z", CNN_IN, d->mb, d->oc, oh, d->ow);
    if (dir == CNN_FWD) op_tensor(list, "y", CNN_OUT, d->mb, d->oc, oh, d->ow);
    if (dir == CNN_BWD_D) op_tensor(list, "dx", CNN_OUT, d->mb, d->ic, ih, d->iw);
    if (dir == CNN_BWD_W) op_flat(list, "dw", CNN_OUT, CNN_ELEM_WEIGHT, d->oc, d->ic / d->g, kh, d->kw);
    if (dir == CNN_BWD_W && d->bias) op_vector(list, "db", CNN_OUT, CNN_ELEM_WEIGHT, d->oc);
    for (int i = 0; p->op == CNN_OP_CONV3D && i < list->count; i++) {
        cnn_operand *o = &list->items[i];
        const char tensor = o->name[o->name[0] == 'd'];
        o->depth = tensor == 'x' ? a.i : tensor == 'y' || tensor == 'z' ? a.o : tensor == 'w' ? a.k : 0;
    }
}

/* dy counts in db wherever it stands. */
static int64_t needed(const cnn_problem *p, cnn_dir dir, const cnn_operand *operand)
{
    const cnn_conv_desc *d = &p->u.conv;
    if (operand->access != CNN_IN) return operand->count;
    const dims_axis depth = depth_of(p);
    const cnn_axis_use z = op_use_of(&depth), h = op_use_of(OP_HEIGHT(d)), w = op_use_of(OP_WIDTH(d));
    const int64_t planes = operand->dims[0] * operand->dims[1];
    if (op_is(operand, "x")) return planes * z.pixels * h.pixels * w.pixels;
    if (op_is(operand, "w")) return planes * z.taps * h.taps * w.taps;
    if (op_is(operand, "dy") && !(dir == CNN_BWD_W && d->bias)) return planes * z.outputs * h.outputs * w.outputs;
    return operand->count;
}

static double flops(const cnn_problem *p, cnn_dir dir)
{
    const cnn_conv_desc *d = &p->u.conv;
    const dims_axis a = depth_of(p);
    const double taps = op_axis_taps(&a) * op_taps(OP_HEIGHT(d), OP_WIDTH(d));
    const double macs = (double)d->mb * (double)d->oc * (double)(d->ic / d->g) * taps;
    const double outputs = (double)d->mb * (double)d->oc * (double)a.o * (double)d->oh * (double)d->ow;
    return 2 * macs + (d->bias && dir != CNN_BWD_D ? outputs : 0);
}

#define CONV_ROW                                                                                                       \
    {                                                                                                                  \
        .at.mb = OP_AT(conv.mb), .parse = parse, .format = format, .check = check, .operands = operands,               \
        .needed = needed, .flops = flops                                                                               \
    }
const op_row op_conv = CONV_ROW, op_conv3d = CONV_ROW;
