/* op_loss.c: what a network is trained by. "mb100ic10" is the softmax's cross-entropy, "quadratic:mb100ic10" the other.
 */
#include "names.h"
#include "op.h"

static cnn_status parse(const char *text, const cnn_problem_defaults *defaults, cnn_problem *p, desc_dims *d,
                        cnn_error *err)
{
    char kind[CNN_NAME_MAX];
    size_t start = 0;
    const int index = op_split_kind(text, kind, sizeof kind, &start) ? cnn_name_find(&cnn_loss_names, kind, err) : 0;
    if (index < 0) return err->status;
    const cnn_status status = op_parse_plain(text, start, "mb ic", d, err);
    if (status == CNN_OK)
        p->u.loss = (cnn_loss_desc){.t = defaults->type, .kind = (cnn_loss_kind)index, .mb = d->mb, .ic = d->ic};
    return status;
}

static void format(op_writer *w, const cnn_problem *p)
{
    const cnn_loss_desc *d = &p->u.loss;
    if (d->kind != CNN_LOSS_CROSS_ENTROPY) op_put(w, "%s:", cnn_loss_name(d->kind));
    op_put_plain(w, d->mb, d->ic, 1, 1);
}

static cnn_status check(const cnn_problem *p, cnn_error *err)
{
    return op_check_plain(p->u.loss.mb, p->u.loss.ic, 1, 1, err);
}

static void operands(op_operands *list, const cnn_problem *p, cnn_dir dir)
{
    const cnn_loss_desc *d = &p->u.loss;
    op_flat(list, dir == CNN_FWD ? "x" : "y", CNN_IN, CNN_ELEM_DTYPE, d->mb, d->ic, 1, 1);
    op_vector(list, "labels", CNN_IN, CNN_ELEM_I32, d->mb);
    op_flat(list, dir == CNN_FWD ? "y" : "dx", CNN_OUT, CNN_ELEM_DTYPE, d->mb, d->ic, 1, 1);
    if (dir != CNN_FWD) return;
    op_vector(list, "loss_sum", CNN_INOUT, CNN_ELEM_DOUBLE, 1);
    op_vector(list, "correct", CNN_INOUT, CNN_ELEM_I64, 1);
}

static double per_element(const cnn_problem *p, cnn_dir dir)
{
    (void)p;
    return dir == CNN_FWD ? 4 : 2;
}

const op_row op_loss = {.batch = offsetof(cnn_problem, u.loss.mb),
                        .parse = parse,
                        .format = format,
                        .check = check,
                        .operands = operands,
                        .per_element = per_element};
