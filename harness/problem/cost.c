/* cost.c: the arithmetic and the memory traffic that a problem needs at least. */
#include "names.h"
#include "shape.h"

/* Sum over the outputs of one axis of the taps that fall inside the input. */
static double axis_taps(int64_t i, int64_t o, int64_t k, int64_t s, int64_t p, int64_t d)
{
    double taps = 0;
    for (int64_t at = 0; at < o; at++) {
        int64_t first, last;
        cnn_tap_range(at, i, k, s, p, d, &first, &last);
        taps += (double)(last - first);
    }
    return taps;
}

static double conv_flops(const cnn_conv_desc *d, cnn_dir dir)
{
    const double taps =
        axis_taps(d->ih, d->oh, d->kh, d->sh, d->ph, d->dh) * axis_taps(d->iw, d->ow, d->kw, d->sw, d->pw, d->dw);
    const double macs = (double)d->mb * (double)d->oc * (double)(d->ic / d->g) * taps;
    const double outputs = (double)d->mb * (double)d->oc * (double)d->oh * (double)d->ow;
    return 2 * macs + (d->bias && dir != CNN_BWD_D ? outputs : 0);
}

static double fc_flops(const cnn_fc_desc *d, cnn_dir dir)
{
    const double macs = (double)d->mb * (double)d->oc * (double)d->ic * (double)d->ih * (double)d->iw;
    return 2 * macs + (d->bias && dir != CNN_BWD_D ? (double)d->mb * (double)d->oc : 0);
}

static double pool_flops(const cnn_pool_desc *d)
{
    return (double)d->mb * (double)d->ic * axis_taps(d->ih, d->oh, d->kh, d->sh, d->ph, d->dh) *
           axis_taps(d->iw, d->ow, d->kw, d->sw, d->pw, d->dw);
}

/* Simple operations an element: one for a copy-like one, a handful for the others (exp, log, sqrt counted as one). */
static double per_element(const cnn_problem *problem, cnn_dir dir)
{
    switch (problem->op) {
    case CNN_OP_LOSS:
        return dir == CNN_FWD ? 4 : 2;
    case CNN_OP_BATCHNORM:
        return dir == CNN_FWD ? (problem->u.batchnorm.inference ? 2 : 6) : 9;
    case CNN_OP_OPTIMIZER:
        return problem->u.optimizer.kind == CNN_ADAM ? 12 : 5;
    case CNN_OP_CONCAT:
        return 0;
    default:
        return 1;
    }
}

double cnn_flops(const cnn_problem *problem, cnn_dir dir)
{
    if (problem->op == CNN_OP_CONV) return conv_flops(&problem->u.conv, dir);
    if (problem->op == CNN_OP_FC) return fc_flops(&problem->u.fc, dir);
    if (problem->op == CNN_OP_POOL) return pool_flops(&problem->u.pool);
    cnn_operand operands[CNN_MAX_OPERANDS];
    cnn_error err;
    const int count = cnn_operands(problem, dir, operands, &err);
    int64_t largest = 0;
    for (int i = 0; i < count; i++)
        if (operands[i].count > largest) largest = operands[i].count;
    return per_element(problem, dir) * (double)largest;
}

double cnn_bytes(const cnn_problem *problem, cnn_dir dir)
{
    cnn_operand operands[CNN_MAX_OPERANDS];
    cnn_error err;
    const int count = cnn_operands(problem, dir, operands, &err);
    double bytes = 0;
    for (int i = 0; i < count; i++) {
        const cnn_operand *o = &operands[i];
        const double size = (double)o->bytes / (double)o->count * (o->access == CNN_INOUT ? 2 : 1);
        bytes += size * (double)cnn_operand_needed(problem, dir, o);
    }
    return bytes;
}
