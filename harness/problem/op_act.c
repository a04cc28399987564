/* op_act.c: activations. */
#include "names.h"
#include "op.h"

#include <math.h>
#include <string.h>

double cnn_act_default_alpha(cnn_act_kind kind)
{
    return kind == CNN_ACT_LEAKY_RELU                     ? 0.01
           : kind == CNN_ACT_CLIPPED_RELU                 ? 6
           : kind == CNN_ACT_ELU || kind == CNN_ACT_SCALE ? 1
                                                          : 0;
}

cnn_status op_read_act(const char *text, char *words, cnn_act_kind *kind, double *alpha, cnn_error *err)
{
    char *equals = strchr(words, '=');
    if (equals != NULL) *equals = '\0';
    const int index = cnn_name_find(&cnn_act_names, words, err);
    if (index < 0) return err->status;
    *kind = (cnn_act_kind)index;
    *alpha = cnn_act_default_alpha(*kind);
    if (equals != NULL && (*alpha == 0 || !text_real_parse(equals + 1, alpha)))
        return CNN_FAIL(err, CNN_BAD_FORMAT, "bad descriptor '%.200s': %s takes no parameter '%.64s'", text, words,
                        equals + 1);
    return CNN_OK;
}

void op_put_act(char *text, cnn_act_kind kind, double alpha)
{
    char real[TEXT_REAL_MAX];
    op_put(text, "%s", cnn_act_name(kind));
    if (cnn_act_default_alpha(kind) != 0) op_put(text, "=%s", text_real(alpha, real));
}

static cnn_status read(const char *text, char *words, const cnn_problem_defaults *defaults, cnn_problem *p,
                       cnn_error *err)
{
    (void)defaults;
    return op_read_act(text, words, &p->u.act.kind, &p->u.act.alpha, err);
}

static void format(char *text, const cnn_problem *p) { op_put_act(text, p->u.act.kind, p->u.act.alpha); }

static cnn_status check(const cnn_problem *p, cnn_error *err)
{
    return op_check_real("alpha", p->u.act.alpha, INFINITY, err);
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

/* f' can be had from y alone; those of the identity and of a factor need not even that. */
static int64_t needed(const cnn_problem *p, cnn_dir dir, const cnn_operand *operand)
{
    if (dir == CNN_BWD_D && op_is(operand, "x")) return 0;
    const bool linear = p->u.act.kind == CNN_ACT_IDENTITY || p->u.act.kind == CNN_ACT_SCALE;
    if (dir == CNN_BWD_D && op_is(operand, "y") && linear) return 0;
    return operand->count;
}

const op_row op_act = {.at = OP_TENSOR_AT(act),
                       .example = "leaky_relu=0.01:mb2ic20ih16",
                       .read = read,
                       .format = format,
                       .check = check,
                       .operands = operands,
                       .needed = needed};
