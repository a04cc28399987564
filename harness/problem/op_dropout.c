/* op_dropout.c: dropout, with the mask drawn from a seed and the step. */
#include "op.h"
#include "text_options.h"

#include <inttypes.h>
#include <string.h>

/* "RATE,seed=N" or "inference,rate=...". */
static cnn_status parse(const char *text, const cnn_problem_defaults *defaults, cnn_problem *p, desc_dims *d,
                        cnn_error *err)
{
    char words[CNN_PROBLEM_TEXT_MAX], *rest = words;
    size_t start;
    cnn_dropout_desc desc = {.t = defaults->type, .rate = CNN_DROPOUT_RATE, .seed = CNN_DROPOUT_SEED};
    const text_option options[] = {{"rate", &desc.rate, NULL}, {"seed", NULL, &desc.seed}};
    if (!op_split_kind(text, words, sizeof words, &start)) return op_needs_kind(text, "0.2:mb2ic20ih16", err);
    const char *rate = strsep(&rest, ",");
    desc.inference = strcmp(rate, "inference") == 0;
    if (!desc.inference && !text_real_parse(rate, &desc.rate))
        return CNN_FAIL(err, CNN_BAD_FORMAT, "bad descriptor '%.200s': '%.64s' is no dropout rate", text, rate);
    cnn_status status = text_options_parse("dropout option", rest, options, 2, err);
    if (status == CNN_OK) status = op_parse_plain(text, start, "mb ic ih iw", d, err);
    if (status != CNN_OK) return status;
    p->u.dropout =
        (cnn_dropout_desc){.t = desc.t, .rate = desc.rate, .seed = desc.seed, .inference = desc.inference, OP_PLAIN(d)};
    return CNN_OK;
}

/* The rate first, or "inference", where it does nothing and is told if it is not the usual one. */
static void format(op_writer *w, const cnn_problem *p)
{
    const cnn_dropout_desc *d = &p->u.dropout;
    char rate[TEXT_REAL_MAX];
    text_real(d->rate, rate);
    op_put(w, "%s", d->inference ? "inference" : rate);
    if (d->inference && d->rate != CNN_DROPOUT_RATE) op_put(w, ",rate=%s", rate);
    if (d->seed != CNN_DROPOUT_SEED) op_put(w, ",seed=%" PRIu64, d->seed);
    op_put(w, ":");
    op_put_plain(w, d->mb, d->ic, d->ih, d->iw);
}

static cnn_status check(const cnn_problem *p, cnn_error *err)
{
    const cnn_dropout_desc *d = &p->u.dropout;
    cnn_status status = op_check_real("dropout rate", d->rate, 0, 1, err);
    return status == CNN_OK ? op_check_plain(d->mb, d->ic, d->ih, d->iw, err) : status;
}

static void operands(op_operands *list, const cnn_problem *p, cnn_dir dir)
{
    const cnn_dropout_desc *d = &p->u.dropout;
    if (dir == CNN_FWD) op_tensor(list, "x", CNN_IN, d->mb, d->ic, d->ih, d->iw);
    op_vector(list, "step", CNN_IN, CNN_ELEM_I64, 1);
    if (dir == CNN_BWD_D) op_tensor(list, "dy", CNN_IN, d->mb, d->ic, d->ih, d->iw);
    op_tensor(list, dir == CNN_FWD ? "y" : "dx", CNN_OUT, d->mb, d->ic, d->ih, d->iw);
}

const op_row op_dropout = {.batch = offsetof(cnn_problem, u.dropout.mb),
                           .parse = parse,
                           .format = format,
                           .check = check,
                           .operands = operands};
