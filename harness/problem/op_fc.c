/* op_fc.c: the fully connected layer. */
#include "op.h"

static cnn_status parse(const char *text, const cnn_problem_defaults *defaults, cnn_problem *p, desc_dims *d,
                        cnn_error *err)
{
    cnn_status status = op_parse_plain(text, 0, "mb ic id ih iw oc", d, err);
    if (status != CNN_OK) return status;
    p->u.fc = (cnn_fc_desc){.t = defaults->type, OP_PLAIN(d), .oc = d->oc, .bias = !defaults->no_bias};
    return CNN_OK;
}

static void format(op_writer *w, const cnn_problem *p)
{
    const cnn_fc_desc *d = &p->u.fc;
    op_put_plain(w, d->mb, d->ic, d->ih, d->iw);
    op_put_number(w, "oc", d->oc);
}

static cnn_status check(const cnn_problem *p, cnn_error *err)
{
    const cnn_fc_desc *d = &p->u.fc;
    const op_size oc = {"oc", d->oc, 1};
    cnn_status status = op_check_sizes(&oc, 1, err);
    return status == CNN_OK ? op_check_plain(d->mb, d->ic, d->ih, d->iw, err) : status;
}

static void operands(op_operands *list, const cnn_problem *p, cnn_dir dir)
{
    const cnn_fc_desc *d = &p->u.fc;
    if (dir != CNN_BWD_D) op_tensor(list, "x", CNN_IN, d->mb, d->ic, d->ih, d->iw);
    if (dir != CNN_FWD) op_flat(list, "dy", CNN_IN, CNN_ELEM_DTYPE, d->mb, d->oc, 1, 1);
    if (dir != CNN_BWD_W) op_flat(list, "w", CNN_IN, CNN_ELEM_WEIGHT, d->oc, d->ic, d->ih, d->iw);
    if (dir == CNN_FWD && d->bias) op_vector(list, "b", CNN_IN, CNN_ELEM_WEIGHT, d->oc);
    if (dir == CNN_FWD) op_flat(list, "y", CNN_OUT, CNN_ELEM_DTYPE, d->mb, d->oc, 1, 1);
    if (dir == CNN_BWD_D) op_tensor(list, "dx", CNN_OUT, d->mb, d->ic, d->ih, d->iw);
    if (dir == CNN_BWD_W) op_flat(list, "dw", CNN_OUT, CNN_ELEM_WEIGHT, d->oc, d->ic, d->ih, d->iw);
    if (dir == CNN_BWD_W && d->bias) op_vector(list, "db", CNN_OUT, CNN_ELEM_WEIGHT, d->oc);
}

static double flops(const cnn_problem *p, cnn_dir dir)
{
    const cnn_fc_desc *d = &p->u.fc;
    const double macs = (double)d->mb * (double)d->oc * (double)d->ic * (double)d->ih * (double)d->iw;
    return 2 * macs + (d->bias && dir != CNN_BWD_D ? (double)d->mb * (double)d->oc : 0);
}

const op_row op_fc = {.batch = offsetof(cnn_problem, u.fc.mb),
                      .parse = parse,
                      .format = format,
                      .check = check,
                      .operands = operands,
                      .flops = flops};
