/* op_concat.c: tensors joined along their channels. */
#include "op.h"

#include <stdlib.h>

static cnn_status read(const char *text, char *words, const cnn_problem_defaults *defaults, cnn_problem *p,
                       cnn_error *err)
{
    cnn_concat_desc *d = &p->u.concat;
    (void)defaults;
    for (const char *at = words; at != NULL;) {
        char *end;
        const long long channels = strtoll(at, &end, 10);
        if (end == at || (*end != '+' && *end != '\0') || d->n_inputs == CNN_MAX_INPUTS)
            return CNN_FAIL(err, CNN_BAD_FORMAT,
                            "bad descriptor '%.200s': '%.64s' is no list of up to %d channel counts", text, words,
                            CNN_MAX_INPUTS);
        d->ic[d->n_inputs++] = channels;
        at = *end == '+' ? end + 1 : NULL;
    }
    return CNN_OK;
}

static void format(char *text, const cnn_problem *p)
{
    const cnn_concat_desc *d = &p->u.concat;
    for (int i = 0; i < d->n_inputs; i++) op_put(text, "%s%lld", i > 0 ? "+" : "", (long long)d->ic[i]);
}

static cnn_status check(const cnn_problem *p, cnn_error *err)
{
    const cnn_concat_desc *d = &p->u.concat;
    cnn_status status = CNN_OK;
    if (d->n_inputs < 1 || d->n_inputs > CNN_MAX_INPUTS)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "concat has %d inputs, but takes 1 to %d", d->n_inputs, CNN_MAX_INPUTS);
    for (int i = 0; status == CNN_OK && i < d->n_inputs; i++)
        status = op_check_sizes(&(op_size){"ic", d->ic[i], 1}, 1, err);
    return status;
}

static void operands(op_operands *list, const cnn_problem *p, cnn_dir dir)
{
    static const char *const x[CNN_MAX_INPUTS] = {"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7"};
    static const char *const dx[CNN_MAX_INPUTS] = {"dx0", "dx1", "dx2", "dx3", "dx4", "dx5", "dx6", "dx7"};
    const cnn_concat_desc *d = &p->u.concat;
    int64_t channels = 0;
    for (int i = 0; i < d->n_inputs; i++) channels += d->ic[i];
    if (dir == CNN_BWD_D) op_tensor(list, "dy", CNN_IN, d->mb, channels, d->ih, d->iw);
    for (int i = 0; i < d->n_inputs; i++)
        op_tensor(list, dir == CNN_FWD ? x[i] : dx[i], dir == CNN_FWD ? CNN_IN : CNN_OUT, d->mb, d->ic[i], d->ih,
                  d->iw);
    if (dir == CNN_FWD) op_tensor(list, "y", CNN_OUT, d->mb, channels, d->ih, d->iw);
}

static double per_element(const cnn_problem *p, cnn_dir dir)
{
    (void)p, (void)dir;
    return 0;
}

const op_row op_concat = {.at = {.mb = OP_AT(concat.mb), .ih = OP_AT(concat.ih), .iw = OP_AT(concat.iw)},
                          .example = "3+5+7:mb2ih16",
                          .read = read,
                          .format = format,
                          .check = check,
                          .operands = operands,
                          .per_element = per_element};
