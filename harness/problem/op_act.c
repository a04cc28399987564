/* op_act.c: activations. */
#include "names.h"
#include "op.h"
#include "text_options.h"

#include <math.h>
#include <string.h>

double cnn_act_usual_alpha(cnn_act_kind kind)
{
    return kind == CNN_ACT_LEAKY_RELU ? 0.01 : kind == CNN_ACT_CLIPPED_RELU ? 6 : kind == CNN_ACT_ELU ? 1 : 0;
}

static cnn_status parse(const char *text, const cnn_problem_defaults *defaults, cnn_problem *p, desc_dims *d,
                        cnn_error *err)
{
    char kind[CNN_NAME_MAX];
    size_t start;
    if (!op_split_kind(text, kind, sizeof kind, &start)) return op_needs_kind(text, "leaky_relu=0.01:mb2ic20ih16", err);
    char *equals = strchr(kind, '=');
    if (equals != NULL) *equals = '\0';
    const int index = cnn_name_find(&cnn_act_names, kind, err);
    if (index < 0) return err->status;
    double alpha = cnn_act_usual_alpha((cnn_act_kind)index);
    if (equals != NULL && (alpha == 0 || !text_real_parse(equals + 1, &alpha)))
        return CNN_FAIL(err, CNN_BAD_FORMAT, "bad descriptor '%.200s': %s takes no parameter '%s'", text, kind,
                        equals + 1);
    cnn_status status = op_parse_plain(text, start, "mb ic ih iw", d, err);
    if (status != CNN_OK) return status;
    p->u.act = (cnn_act_desc){.t = defaults->type, .kind = (cnn_act_kind)index, .alpha = alpha, OP_PLAIN(d)};
    return CNN_OK;
}

static void format(op_writer *w, const cnn_problem *p)
{
    const cnn_act_desc *d = &p->u.act;
    char real[TEXT_REAL_MAX];
    op_put(w, "%s", cnn_act_name(d->kind));
    if (cnn_act_usual_alpha(d->kind) != 0) op_put(w, "=%s", text_real(d->alpha, real));
    op_put(w, ":");
    op_put_plain(w, d->mb, d->ic, d->ih, d->iw);
}

static cnn_status check(const cnn_problem *p, cnn_error *err)
{
    const cnn_act_desc *d = &p->u.act;
    cnn_status status = op_check_real("alpha", d->alpha, 0, INFINITY, err);
    return status == CNN_OK ? op_check_plain(d->mb, d->ic, d->ih, d->iw, err) : status;
}

static void operands(op_operands *list, const cnn_problem *p, cnn_dir dir)
{
    const cnn_act_desc *d = &p->u.act;
    op_tensor(list, "x", CNN_IN, d->mb, d->ic, d->ih, d->iw);
    op_tensor(list, "y", dir == CNN_FWD ? CNN_OUT : CNN_IN, d->mb, d->ic, d->ih, d->iw);
    if (dir == CNN_FWD) return;
    op_tensor(list, "dy", CNN_IN, d->mb, d->ic, d->ih, d->iw);
    op_tensor(list, "dx", CNN_OUT, d->mb, d->ic, d->ih, d->iw);
}

/* f' can be had from y alone; the identity's is 1. */
static int64_t needed(const cnn_problem *p, cnn_dir dir, const cnn_operand *operand)
{
    if (dir == CNN_BWD_D && op_is(operand, "x")) return 0;
    if (dir == CNN_BWD_D && op_is(operand, "y") && p->u.act.kind == CNN_ACT_IDENTITY) return 0;
    return operand->count;
}

const op_row op_act = {.batch = offsetof(cnn_problem, u.act.mb),
                       .parse = parse,
                       .format = format,
                       .check = check,
                       .operands = operands,
                       .needed = needed};
