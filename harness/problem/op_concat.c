/* op_concat.c: tensors joined along their channels. */
#include "op.h"

#include <stdlib.h>

static cnn_status parse(const char *text, const cnn_problem_defaults *defaults, cnn_problem *p, desc_dims *d,
                        cnn_error *err)
{
    char list[CNN_NAME_MAX], *at = list;
    size_t start;
    cnn_concat_desc desc = {.t = defaults->type};
    if (!op_split_kind(text, list, sizeof list, &start)) return op_needs_kind(text, "3+5+7:mb2ih16", err);
    do {
        char *end;
        const long long channels = strtoll(at, &end, 10);
        if (end == at || (*end != '+' && *end != '\0') || desc.n_inputs == CNN_MAX_INPUTS)
            return CNN_FAIL(err, CNN_BAD_FORMAT, "bad descriptor '%.200s': '%s' is no list of up to %d channel counts",
                            text, list, CNN_MAX_INPUTS);
        desc.ic[desc.n_inputs++] = channels;
        at = *end == '+' ? end + 1 : NULL;
    } while (at != NULL);
    cnn_status status = op_parse_plain(text, start, "mb ih iw", d, err);
    if (status != CNN_OK) return status;
    desc.mb = d->mb;
    desc.ih = d->height.i;
    desc.iw = d->width.i;
    p->u.concat = desc;
    return CNN_OK;
}

static void format(op_writer *w, const cnn_problem *p)
{
    const cnn_concat_desc *d = &p->u.concat;
    for (int i = 0; i < d->n_inputs; i++) op_put(w, "%s%lld", i > 0 ? "+" : "", (long long)d->ic[i]);
    op_put(w, ":");
    op_put_plain(w, d->mb, 0, d->ih, d->iw);
}

static cnn_status check(const cnn_problem *p, cnn_error *err)
{
    const cnn_concat_desc *d = &p->u.concat;
    if (d->n_inputs < 1 || d->n_inputs > CNN_MAX_INPUTS)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "concat has %d inputs, but takes 1 to %d", d->n_inputs, CNN_MAX_INPUTS);
    for (int i = 0; i < d->n_inputs; i++) {
        cnn_status status = op_check_plain(d->mb, d->ic[i], d->ih, d->iw, err);
        if (status != CNN_OK) return status;
    }
    return CNN_OK;
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

const op_row op_concat = {.batch = offsetof(cnn_problem, u.concat.mb),
                          .parse = parse,
                          .format = format,
                          .check = check,
                          .operands = operands,
                          .per_element = per_element};
