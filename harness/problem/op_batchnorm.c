/* op_batchnorm.c: batch normalisation, in training or in inference. */
#include "op.h"

#include <string.h>

/* "inference", options, or both; or nothing. */
static cnn_status read(const char *text, char *words, const cnn_problem_defaults *defaults, cnn_problem *p,
                       cnn_error *err)
{
    static const char inference[] = "inference";
    const size_t length = sizeof inference - 1;
    cnn_batchnorm_desc *d = &p->u.batchnorm;
    const text_option options[] = {{"eps", &d->eps, NULL}, {"momentum", &d->momentum, NULL}};
    (void)defaults;
    d->eps = CNN_BATCHNORM_EPS;
    d->momentum = CNN_BATCHNORM_MOMENTUM;
    if (words == NULL) return CNN_OK;
    d->inference = strncmp(words, inference, length) == 0 && (words[length] == ',' || words[length] == '\0');
    if (!d->inference && strchr(words, '=') == NULL)
        return CNN_FAIL(err, CNN_BAD_FORMAT, "bad descriptor '%.200s': '%.64s' should be 'inference' or an option",
                        text, words);
    if (d->inference) strsep(&words, ",");
    return text_options_parse("batch norm option", words, options, 2, err);
}

static void format(char *text, const cnn_problem *p)
{
    const cnn_batchnorm_desc *d = &p->u.batchnorm;
    char real[TEXT_REAL_MAX];
    if (d->inference) op_put(text, "inference");
    if (d->eps != CNN_BATCHNORM_EPS) op_put(text, "%seps=%s", text[0] != '\0' ? "," : "", text_real(d->eps, real));
    if (d->momentum != CNN_BATCHNORM_MOMENTUM)
        op_put(text, "%smomentum=%s", text[0] != '\0' ? "," : "", text_real(d->momentum, real));
}

static cnn_status check(const cnn_problem *p, cnn_error *err)
{
    const cnn_batchnorm_desc *d = &p->u.batchnorm;
    if (!(d->eps > 0)) return CNN_FAIL(err, CNN_BAD_ARGUMENT, "eps is %g, but must be > 0", d->eps);
    return op_check_real("momentum", d->momentum, 1.0000001, err);
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

const op_row op_batchnorm = {.at = OP_TENSOR_AT(batchnorm),
                             .read = read,
                             .format = format,
                             .check = check,
                             .operands = operands,
                             .per_element = per_element};
