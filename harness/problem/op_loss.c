/* op_loss.c: what a network is trained by. "mb100ic10" is the softmax's cross-entropy; the others have a word before
 * it: "quadratic:mb100ic10". */
#include "names.h"
#include "op.h"

static cnn_status read(const char *text, char *words, const cnn_problem_defaults *defaults, cnn_problem *p,
                       cnn_error *err)
{
    const int index = words != NULL ? cnn_name_find(&cnn_loss_names, words, err) : 0;
    (void)text, (void)defaults;
    p->u.loss.kind = (cnn_loss_kind)index;
    return index < 0 ? err->status : CNN_OK;
}

static void format(char *text, const cnn_problem *p)
{
    if (p->u.loss.kind != CNN_LOSS_CROSS_ENTROPY) op_put(text, "%s", cnn_loss_name(p->u.loss.kind));
}

static void operands(op_operands *list, const cnn_problem *p, cnn_dir dir)
{
    const cnn_loss_desc *d = &p->u.loss;
    const bool forward = dir == CNN_FWD;
    op_flat(list, forward ? "x" : "y", CNN_IN, forward ? CNN_ELEM_DTYPE : CNN_ELEM_WEIGHT, d->mb, d->ic, 1, 1);
    op_vector(list, "labels", CNN_IN, CNN_ELEM_I32, d->mb);
    if (!forward && cnn_is_mixed(&d->t)) op_vector(list, "loss_scale", CNN_IN, CNN_ELEM_DOUBLE, 1);
    op_flat(list, forward ? "y" : "dx", CNN_OUT, forward ? CNN_ELEM_WEIGHT : CNN_ELEM_DTYPE, d->mb, d->ic, 1, 1);
    if (!forward) return;
    op_vector(list, "loss_sum", CNN_INOUT, CNN_ELEM_DOUBLE, 1);
    op_vector(list, "correct", CNN_INOUT, CNN_ELEM_I64, 1);
}

static double per_element(const cnn_problem *p, cnn_dir dir)
{
    (void)p;
    return dir == CNN_FWD ? 4 : 2;
}

const op_row op_loss = {.at = {.mb = OP_AT(loss.mb), .ic = OP_AT(loss.ic)},
                        .read = read,
                        .format = format,
                        .operands = operands,
                        .per_element = per_element};
