/* op_optimizer.c: one step of an optimizer. Its words are optimizer_text.c's. */
#include "op.h"

#include <math.h>

static cnn_status read(const char *text, char *words, const cnn_problem_defaults *defaults, cnn_problem *p,
                       cnn_error *err)
{
    (void)text, (void)defaults;
    return cnn_optimizer_parse(words, &p->u.optimizer, err);
}

static void format(op_writer *w, const cnn_problem *p)
{
    char text[CNN_PROBLEM_TEXT_MAX];
    cnn_optimizer_format(&p->u.optimizer, text);
    op_put(w, "%s", text);
}

static cnn_status check(const cnn_problem *p, cnn_error *err)
{
    const cnn_optimizer_desc *d = &p->u.optimizer;
    if (d->count < 1) return CNN_FAIL(err, CNN_BAD_ARGUMENT, "the optimizer has %lld parameters", (long long)d->count);
    const struct {
        const char *name;
        double value, least, below;
    } reals[] = {{"lr", d->lr, 0, INFINITY},
                 {"beta1", d->beta1, 0, 1},
                 {"beta2", d->beta2, 0, 1},
                 {"eps", d->eps, 0, INFINITY},
                 {"l1", d->l1, 0, INFINITY},
                 {"l2", d->l2, 0, INFINITY},
                 {"decay_steps", d->decay_steps, 0, INFINITY}};
    cnn_status status = CNN_OK;
    for (int i = 0; status == CNN_OK && i < 7; i++)
        status = op_check_real(reals[i].name, reals[i].value, reals[i].least, reals[i].below, err);
    return status;
}

static void operands(op_operands *list, const cnn_problem *p, cnn_dir dir)
{
    const cnn_optimizer_desc *d = &p->u.optimizer;
    const int states = cnn_optimizer_states(d->kind);
    (void)dir;
    op_vector(list, "w", CNN_INOUT, CNN_ELEM_WEIGHT, d->count);
    op_vector(list, "grad", CNN_IN, CNN_ELEM_WEIGHT, d->count);
    if (states > 0) op_vector(list, "state0", CNN_INOUT, CNN_ELEM_WEIGHT, d->count);
    if (states > 1) op_vector(list, "state1", CNN_INOUT, CNN_ELEM_WEIGHT, d->count);
    op_vector(list, "step", CNN_INOUT, CNN_ELEM_I64, 1);
}

static double per_element(const cnn_problem *p, cnn_dir dir)
{
    (void)dir;
    return p->u.optimizer.kind == CNN_ADAM ? 12 : 5;
}

const op_row op_optimizer = {.at.ic = OP_AT(optimizer.count),
                             .example = "adam:ic1000",
                             .read = read,
                             .format = format,
                             .check = check,
                             .operands = operands,
                             .per_element = per_element};
