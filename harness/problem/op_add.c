/* op_add.c: the sum of two tensors. */
#include "op.h"

static void operands(op_operands *list, const cnn_problem *p, cnn_dir dir)
{
    const cnn_add_desc *d = &p->u.add;
    (void)dir;
    op_tensor(list, "x0", CNN_IN, d->mb, d->ic, d->ih, d->iw);
    op_tensor(list, "x1", CNN_IN, d->mb, d->ic, d->ih, d->iw);
    op_tensor(list, "y", CNN_OUT, d->mb, d->ic, d->ih, d->iw);
}

const op_row op_add = {.at = OP_TENSOR_AT(add), .operands = operands};
