/* op_batchnorm.c: batch normalisation, in training or in inference. */
#include "op.h"
#include "text_options.h"

#include <string.h>

/* "inference", options, or both in front of a colon; or nothing. */
static cnn_status parse(const char *text, const cnn_problem_defaults *defaults, cnn_problem *p, desc_dims *d,
                        cnn_error *err)
{
    static const char inference[] = "inference";
    char words[CNN_PROBLEM_TEXT_MAX], *rest = words;
    const size_t length = sizeof inference - 1;
    size_t start = 0;
    cnn_batchnorm_desc desc = {.t = defaults->type, .eps = CNN_BATCHNORM_EPS, .momentum = CNN_BATCHNORM_MOMENTUM};
    const text_option options[] = {{"eps", &desc.eps, NULL}, {"momentum", &desc.momentum, NULL}};
    cnn_status status = CNN_OK;
    if (op_split_kind(text, words, sizeof words, &start)) {
        desc.inference = strncmp(words, inference, length) == 0 && (words[length] == ',' || words[length] == '\0');
        if (desc.inference) strsep(&rest, ",");
        if (!desc.inference && strchr(words, '=') == NULL)
            return CNN_FAIL(err, CNN_BAD_FORMAT, "bad descriptor '%.200s': '%.64s' should be 'inference' or an option",
                            text, words);
        status = text_options_parse("batch norm option", rest, options, 2, err);
    }
    if (status == CNN_OK) status = op_parse_plain(text, start, "mb ic ih iw", d, err);
    if (status != CNN_OK) return status;
    p->u.batchnorm = (cnn_batchnorm_desc){
        .t = desc.t, .eps = desc.eps, .momentum = desc.momentum, .inference = desc.inference, OP_PLAIN(d)};
    return CNN_OK;
}

/* The words before the colon, which stands only where there are any. */
static void format(op_writer *w, const cnn_problem *p)
{
    const cnn_batchnorm_desc *d = &p->u.batchnorm;
    char real[TEXT_REAL_MAX];
    const char *comma = "";
    if (d->inference) op_put(w, "inference"), comma = ",";
    if (d->eps != CNN_BATCHNORM_EPS) op_put(w, "%seps=%s", comma, text_real(d->eps, real)), comma = ",";
    if (d->momentum != CNN_BATCHNORM_MOMENTUM)
        op_put(w, "%smomentum=%s", comma, text_real(d->momentum, real)), comma = ",";
    if (comma[0] != '\0') op_put(w, ":");
    op_put_plain(w, d->mb, d->ic, d->ih, d->iw);
}

static cnn_status check(const cnn_problem *p, cnn_error *err)
{
    const cnn_batchnorm_desc *d = &p->u.batchnorm;
    if (!(d->eps > 0)) return CNN_FAIL(err, CNN_BAD_ARGUMENT, "eps is %g, but must be > 0", d->eps);
    cnn_status status = op_check_real("momentum", d->momentum, 0, 1.0000001, err);
    return status == CNN_OK ? op_check_plain(d->mb, d->ic, d->ih, d->iw, err) : status;
}

static void operands(op_operands *list, const cnn_problem *p, cnn_dir dir)
{
    const cnn_batchnorm_desc *d = &p->u.batchnorm;
    const cnn_access running = d->inference ? CNN_IN : CNN_INOUT, save = dir == CNN_FWD ? CNN_OUT : CNN_IN;
    op_tensor(list, "x", CNN_IN, d->mb, d->ic, d->ih, d->iw);
    op_vector(list, "gamma", CNN_IN, CNN_ELEM_WEIGHT, d->ic);
    if (dir == CNN_FWD) {
        op_vector(list, "beta", CNN_IN, CNN_ELEM_WEIGHT, d->ic);
        op_vector(list, "running_mean", running, CNN_ELEM_WEIGHT, d->ic);
        op_vector(list, "running_var", running, CNN_ELEM_WEIGHT, d->ic);
        op_tensor(list, "y", CNN_OUT, d->mb, d->ic, d->ih, d->iw);
        if (d->inference) return;
    }
    op_vector(list, "save_mean", save, CNN_ELEM_WEIGHT, d->ic);
    op_vector(list, "save_invstd", save, CNN_ELEM_WEIGHT, d->ic);
    if (dir == CNN_FWD) return;
    op_tensor(list, "dy", CNN_IN, d->mb, d->ic, d->ih, d->iw);
    op_tensor(list, "dx", CNN_OUT, d->mb, d->ic, d->ih, d->iw);
    op_vector(list, "dgamma", CNN_OUT, CNN_ELEM_WEIGHT, d->ic);
    op_vector(list, "dbeta", CNN_OUT, CNN_ELEM_WEIGHT, d->ic);
}

static double per_element(const cnn_problem *p, cnn_dir dir)
{
    return dir != CNN_FWD ? 9 : p->u.batchnorm.inference ? 2 : 6;
}

const op_row op_batchnorm = {.batch = offsetof(cnn_problem, u.batchnorm.mb),
                             .parse = parse,
                             .format = format,
                             .check = check,
                             .operands = operands,
                             .per_element = per_element};
