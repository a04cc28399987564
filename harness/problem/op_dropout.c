/* op_dropout.c: dropout, with the mask drawn from a seed and the step. */
#include "op.h"

#include <inttypes.h>
#include <string.h>

/* "RATE,seed=N" or "inference,rate=...". */
static cnn_status read(const char *text, char *words, const cnn_problem_defaults *defaults, cnn_problem *p,
                       cnn_error *err)
{
    cnn_dropout_desc *d = &p->u.dropout;
    const text_option options[] = {{"rate", &d->rate, NULL}, {"seed", NULL, &d->seed}};
    const char *rate = strsep(&words, ",");
    (void)defaults;
    d->rate = CNN_DROPOUT_RATE;
    d->seed = CNN_DROPOUT_SEED;
    d->inference = strcmp(rate, "inference") == 0;
    if (!d->inference && !text_real_parse(rate, &d->rate))
        return CNN_FAIL(err, CNN_BAD_FORMAT, "bad descriptor '%.200s': '%.64s' is no dropout rate", text, rate);
    return text_options_parse("dropout option", words, options, 2, err);
}

/* The rate first, or "inference", where it does nothing and is told if it is not the usual one. */
static void format(char *text, const cnn_problem *p)
{
    const cnn_dropout_desc *d = &p->u.dropout;
    char rate[TEXT_REAL_MAX];
    text_real(d->rate, rate);
    op_put(text, "%s", d->inference ? "inference" : rate);
    if (d->inference && d->rate != CNN_DROPOUT_RATE) op_put(text, ",rate=%s", rate);
    if (d->seed != CNN_DROPOUT_SEED) op_put(text, ",seed=%" PRIu64, d->seed);
}

static cnn_status check(const cnn_problem *p, cnn_error *err)
{
    return op_check_real("dropout rate", p->u.dropout.rate, 1, err);
}

static void operands(op_operands *list, const cnn_problem *p, cnn_dir dir)
{
    const cnn_dropout_desc *d = &p->u.dropout;
    if (dir == CNN_FWD) op_tensor(list, "x", CNN_IN, d->mb, d->ic, d->ih, d->iw);
    op_vector(list, "step", CNN_IN, CNN_ELEM_I64, 1);
    if (dir == CNN_BWD_D) op_tensor(list, "dy", CNN_IN, d->mb, d->ic, d->ih, d->iw);
    op_tensor(list, dir == CNN_FWD ? "y" : "dx", CNN_OUT, d->mb, d->ic, d->ih, d->iw);
}

const op_row op_dropout = {.at = OP_TENSOR_AT(dropout),
                           .example = "0.2:mb2ic20ih16",
                           .read = read,
                           .format = format,
                           .check = check,
                           .operands = operands};
