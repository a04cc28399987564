/* op_add.c: the sum of two tensors. */
#include "op.h"

static cnn_status parse(const char *text, const cnn_problem_defaults *defaults, cnn_problem *p, desc_dims *d,
                        cnn_error *err)
{
    cnn_status status = op_parse_plain(text, 0, "mb ic ih iw", d, err);
    if (status != CNN_OK) return status;
    p->u.add = (cnn_add_desc){.t = defaults->type, OP_PLAIN(d)};
    return CNN_OK;
}

static void format(op_writer *w, const cnn_problem *p)
{
    const cnn_add_desc *d = &p->u.add;
    op_put_plain(w, d->mb, d->ic, d->ih, d->iw);
}

static cnn_status check(const cnn_problem *p, cnn_error *err)
{
    const cnn_add_desc *d = &p->u.add;
    return op_check_plain(d->mb, d->ic, d->ih, d->iw, err);
}

static void operands(op_operands *list, const cnn_problem *p, cnn_dir dir)
{
    const cnn_add_desc *d = &p->u.add;
    (void)dir;
    op_tensor(list, "x0", CNN_IN, d->mb, d->ic, d->ih, d->iw);
    op_tensor(list, "x1", CNN_IN, d->mb, d->ic, d->ih, d->iw);
    op_tensor(list, "y", CNN_OUT, d->mb, d->ic, d->ih, d->iw);
}

const op_row op_add = {
    .batch = offsetof(cnn_problem, u.add.mb), .parse = parse, .format = format, .check = check, .operands = operands};
