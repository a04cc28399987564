/* op_optimizer.c: one step of an optimizer; "adam,lr=0.001,l2=1e-4" <-> cnn_optimizer_desc. */
#include "names.h"
#include "op.h"

#include <math.h>
#include <string.h>

/* The usual defaults: thesis section on Adam; momentum 0.9 and RMSProp 0.9 as in most frameworks. */
static const cnn_optimizer_desc usual[CNN_OPTIMIZER_COUNT] = {
    [CNN_SGD] = {.kind = CNN_SGD, .lr = 0.01},
    [CNN_MOMENTUM] = {.kind = CNN_MOMENTUM, .lr = 0.01, .beta1 = 0.9},
    [CNN_ADAGRAD] = {.kind = CNN_ADAGRAD, .lr = 0.01, .eps = 1e-8},
    [CNN_RMSPROP] = {.kind = CNN_RMSPROP, .lr = 0.001, .beta2 = 0.9, .eps = 1e-8},
    [CNN_ADAM] = {.kind = CNN_ADAM, .lr = 0.001, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8},
    [CNN_NADAM] = {.kind = CNN_NADAM, .lr = 0.001, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8},
};

/* Every option: a real from 0 to below `below`. */
#define AT(field) #field, offsetof(cnn_optimizer_desc, field)
static const struct {
    const char *name;
    size_t at;
    double below;
} options[] = {{AT(lr), INFINITY},          {AT(beta1), 1},        {AT(beta2), 1},
               {AT(eps), INFINITY},         {AT(l1), INFINITY},    {AT(l2), INFINITY},
               {AT(decay_steps), INFINITY}, {AT(growth), INFINITY}};
enum { OPTIONS = sizeof options / sizeof *options };

static double value_of(const cnn_optimizer_desc *d, int option)
{
    return *(const double *)(const void *)((const char *)d + options[option].at);
}

cnn_status cnn_optimizer_parse(const char *text, cnn_optimizer_desc *desc, cnn_error *err)
{
    char copy[CNN_PROBLEM_TEXT_MAX], *rest = copy;
    if (strlen(text) >= sizeof copy) return CNN_FAIL(err, CNN_BAD_ARGUMENT, "optimizer '%.64s...' is too long", text);
    strcpy(copy, text);

    const int kind = cnn_name_find(&cnn_optimizer_names, strsep(&rest, ","), err);
    if (kind < 0) return err->status;
    const cnn_optimizer_desc keep = *desc;
    *desc = usual[kind];
    desc->t = keep.t;
    desc->count = keep.count;
    text_option wanted[OPTIONS];
    for (int i = 0; i < OPTIONS; i++)
        wanted[i] = (text_option){options[i].name, (double *)(void *)((char *)desc + options[i].at), NULL};
    return text_options_parse("optimizer option", rest, wanted, OPTIONS, err);
}

void cnn_optimizer_format(const cnn_optimizer_desc *desc, char text[CNN_PROBLEM_TEXT_MAX])
{
    snprintf(text, CNN_PROBLEM_TEXT_MAX, "%s", cnn_optimizer_name(desc->kind));
    for (int i = 0; i < OPTIONS; i++) {
        const double value = value_of(desc, i);
        char real[TEXT_REAL_MAX];
        if (value != value_of(&usual[desc->kind], i)) op_put(text, ",%s=%s", options[i].name, text_real(value, real));
    }
}

static cnn_status read(const char *text, char *words, const cnn_problem_defaults *defaults, cnn_problem *p,
                       cnn_error *err)
{
    (void)text, (void)defaults;
    return cnn_optimizer_parse(words, &p->u.optimizer, err);
}

static void format(char *text, const cnn_problem *p) { cnn_optimizer_format(&p->u.optimizer, text); }

static cnn_status check(const cnn_problem *p, cnn_error *err)
{
    const cnn_optimizer_desc *d = &p->u.optimizer;
    if (d->count < 1) return CNN_FAIL(err, CNN_BAD_ARGUMENT, "the optimizer has %lld parameters", (long long)d->count);
    if (d->growth > 0 && !cnn_is_mixed(&d->t))
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "growth is %g, but it is of the loss scale, which f16 and bf16 have, not %s", d->growth,
                        cnn_dtype_name(d->t.dtype));
    cnn_status status = CNN_OK;
    for (int i = 0; status == CNN_OK && i < OPTIONS; i++)
        status = op_check_real(options[i].name, value_of(d, i), options[i].below, err);
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
    if (!cnn_is_mixed(&d->t)) return;
    op_vector(list, "copy", CNN_INOUT, CNN_ELEM_DTYPE, d->count);
    op_vector(list, "scaling", CNN_INOUT, CNN_ELEM_DOUBLE, CNN_SCALING_COUNT);
}

static double per_element(const cnn_problem *p, cnn_dir dir)
{
    (void)dir;
    const cnn_optimizer_kind kind = p->u.optimizer.kind;
    return kind == CNN_NADAM ? 15 : kind == CNN_ADAM ? 12 : 5;
}

const op_row op_optimizer = {.at.ic = OP_AT(optimizer.count),
                             .example = "adam:ic1000",
                             .read = read,
                             .format = format,
                             .check = check,
                             .operands = operands,
                             .per_element = per_element};
