/* op_fc.c: the fully connected layer. */
#include "op.h"

static cnn_status read(const char *text, char *words, const cnn_problem_defaults *defaults, cnn_problem *p,
                       cnn_error *err)
{
    p->u.fc.bias = !defaults->no_bias;
    p->u.fc.epilogue = defaults->epilogue;
    return words != NULL ? op_read_epilogue(text, words, &p->u.fc.epilogue, err) : CNN_OK;
}

static void format(char *text, const cnn_problem *p) { op_put_epilogue(text, &p->u.fc.epilogue); }

static cnn_status check(const cnn_problem *p, cnn_error *err) { return op_check_epilogue(&p->u.fc.epilogue, err); }

static void operands(op_operands *list, const cnn_problem *p, cnn_dir dir)
{
    const cnn_fc_desc *d = &p->u.fc;
    if (dir != CNN_BWD_D) op_tensor(list, "x", CNN_IN, d->mb, d->ic, d->ih, d->iw);
    if (dir != CNN_FWD) op_flat(list, "dy", CNN_IN, CNN_ELEM_DTYPE, d->mb, d->oc, 1, 1);
    if (dir != CNN_BWD_W) op_flat(list, "w", CNN_IN, CNN_ELEM_WEIGHT, d->oc, d->ic, d->ih, d->iw);
    if (dir == CNN_FWD && d->bias) op_vector(list, "b", CNN_IN, CNN_ELEM_WEIGHT, d->oc);
    if (dir == CNN_FWD) op_scale(list, &d->quant, d->oc);
    if (dir == CNN_FWD && d->epilogue.add) op_flat(list, "z", CNN_IN, CNN_ELEM_DTYPE, d->mb, d->oc, 1, 1);
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

const op_row op_fc = {.at = {OP_AT(fc.mb), OP_AT(fc.ic), OP_AT(fc.ih), OP_AT(fc.iw), OP_AT(fc.oc), OP_AT(fc.quant)},
                      .read = read,
                      .format = format,
                      .check = check,
                      .operands = operands,
                      .flops = flops};
