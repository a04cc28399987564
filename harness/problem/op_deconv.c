/* op_deconv.c: the transposed convolution: benchdnn's descriptors of deconvolutions. What is kept is the convolution
 * that it is the other way round (cnn_problem), so its input is that one's output. */
#include "op.h"

static void swap(int64_t *a, int64_t *b)
{
    const int64_t t = *a;
    *a = *b;
    *b = t;
}

/* Output and padding that were not given: the output that the padding leaves of all that the taps reach, or the padding
 * that leaves this output. */
static cnn_status deduce(const char *text, char letter, dims_axis *a, cnn_error *err)
{
    const int64_t s = a->s < 0 ? 1 : a->s, d = a->d < 0 ? 0 : a->d;
    if (a->i == 0 && a->k == 0 && a->o == 0) return CNN_OK;
    if (a->i == 0 && a->o > 0 && a->k > 0 && s > 0) { /* the input whose taps reach as far as the output goes */
        if (a->p < 0) a->p = 0;
        a->i = cnn_out_size(a->o, a->k, s, a->p, a->p, d);
    }
    if (a->i == 0 || a->k == 0)
        return CNN_FAIL(err, CNN_BAD_FORMAT, "bad descriptor '%.200s': i%c and k%c are needed, and not 0", text, letter,
                        letter);
    const int64_t reached = (a->i - 1) * s + cnn_extent(a->k, d);
    if (a->o == 0) {
        if (a->p < 0) a->p = 0;
        a->o = reached - 2 * a->p;
    } else if (a->p < 0) {
        a->p = (reached - a->o) / 2;
    }
    if (a->o > 0 && a->p >= 0) return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_FORMAT,
                    "bad descriptor '%.200s': along %c the taps reach %lld pixels: too few for o%c%lld p%c%lld", text,
                    letter, (long long)reached, letter, (long long)a->o, letter, (long long)a->p);
}

static cnn_status parse(const char *text, const cnn_problem_defaults *defaults, cnn_problem *p, desc_dims *d,
                        cnn_error *err)
{
    dims_axis *const axes[] = {&d->depth, &d->height, &d->width};
    cnn_status status = dims_parse(text, 0, OP_CONV_LETTERS, d, err);
    for (int i = 0; status == CNN_OK && i < 3; i++) status = deduce(text, "dhw"[i], axes[i], err);
    for (int i = 0; i < 3; i++) swap(&axes[i]->i, &axes[i]->o);
    swap(&d->ic, &d->oc);
    if (status == CNN_OK) status = dims_deduce_windows(text, d, err);
    if (status == CNN_OK) status = dims_refuse_deep(text, d, err);
    if (status == CNN_OK) op_put_conv(d, defaults, p);
    return status;
}

static void format(char *text, const cnn_problem *p)
{
    const cnn_conv_desc *d = &p->u.conv;
    dims_axis h = *OP_HEIGHT(d), w = *OP_WIDTH(d);
    swap(&h.i, &h.o);
    swap(&w.i, &w.o);
    if (d->g != 1) op_put_number(text, "g", d->g);
    op_put_number(text, "mb", d->mb);
    op_put_windows(text, &h, &w, d->oc, d->ic);
}

static cnn_status check(const cnn_problem *p, cnn_error *err)
{
    const cnn_conv_desc *d = &p->u.conv;
    const op_size sizes[] = {{"ic", d->oc, 1}, {"oc", d->ic, 1}};
    const cnn_status status = op_check_sizes(sizes, 2, err);
    return status == CNN_OK ? op_conv.check(p, err) : status;
}

static void operands(op_operands *list, const cnn_problem *p, cnn_dir dir)
{
    const cnn_conv_desc *d = &p->u.conv;
    if (dir != CNN_BWD_D) op_tensor(list, "x", CNN_IN, d->mb, d->oc, d->oh, d->ow);
    if (dir != CNN_FWD) op_tensor(list, "dy", CNN_IN, d->mb, d->ic, d->ih, d->iw);
    if (dir != CNN_BWD_W) op_flat(list, "w", CNN_IN, CNN_ELEM_WEIGHT, d->oc, d->ic / d->g, d->kh, d->kw);
    if (dir == CNN_FWD && d->bias) op_vector(list, "b", CNN_IN, CNN_ELEM_WEIGHT, d->ic);
    if (dir == CNN_FWD) op_tensor(list, "y", CNN_OUT, d->mb, d->ic, d->ih, d->iw);
    if (dir == CNN_BWD_D) op_tensor(list, "dx", CNN_OUT, d->mb, d->oc, d->oh, d->ow);
    if (dir == CNN_BWD_W) op_flat(list, "dw", CNN_OUT, CNN_ELEM_WEIGHT, d->oc, d->ic / d->g, d->kh, d->kw);
    if (dir == CNN_BWD_W && d->bias) op_vector(list, "db", CNN_OUT, CNN_ELEM_WEIGHT, d->ic);
}

/* dy counts in db wherever it stands. */
static int64_t needed(const cnn_problem *p, cnn_dir dir, const cnn_operand *operand)
{
    const cnn_conv_desc *d = &p->u.conv;
    const cnn_axis_use h = op_use_of(OP_HEIGHT(d)), w = op_use_of(OP_WIDTH(d));
    const int64_t images_and_channels = operand->dims[0] * operand->dims[1];
    if (op_is(operand, "x")) return images_and_channels * h.outputs * w.outputs;
    if (op_is(operand, "w")) return images_and_channels * h.taps * w.taps;
    if (op_is(operand, "dy") && !(dir == CNN_BWD_W && d->bias)) return images_and_channels * h.pixels * w.pixels;
    return operand->count;
}

static double flops(const cnn_problem *p, cnn_dir dir)
{
    const cnn_conv_desc *d = &p->u.conv;
    const double macs = (double)d->mb * (double)d->oc * (double)(d->ic / d->g) * op_taps(OP_HEIGHT(d), OP_WIDTH(d));
    const double outputs = (double)d->mb * (double)d->ic * (double)d->ih * (double)d->iw;
    return 2 * macs + (d->bias && dir != CNN_BWD_D ? outputs : 0);
}

const op_row op_deconv = {.at.mb = OP_AT(conv.mb),
                          .parse = parse,
                          .format = format,
                          .check = check,
                          .operands = operands,
                          .needed = needed,
                          .flops = flops};
