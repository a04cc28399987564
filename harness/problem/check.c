/* check.c: what makes a problem valid. Whoever makes a problem, from text or from a network, has it checked here. */
#include "names.h"
#include "shape.h"

#include <math.h>

typedef struct named_size {
    const char *name;
    int64_t value, least;
} named_size;

static cnn_status check_sizes(const named_size *sizes, int count, cnn_error *err)
{
    for (int i = 0; i < count; i++)
        if (sizes[i].value < sizes[i].least || sizes[i].value > INT32_MAX)
            return CNN_FAIL(err, CNN_BAD_ARGUMENT, "%s is %lld, but must be from %lld to %d", sizes[i].name,
                            (long long)sizes[i].value, (long long)sizes[i].least, INT32_MAX);
    return CNN_OK;
}

/* A window axis: the right padding is the one that makes the output exactly o (cnn_right_pad). */
static cnn_status check_axis(char axis, const int64_t v[7], cnn_error *err)
{
    const int64_t i = v[0], o = v[1], k = v[2], s = v[3], p = v[4], d = v[5], p_r = v[6];
    const named_size sizes[] = {{"input size", i, 1}, {"output size", o, 1}, {"kernel size", k, 1},
                                {"stride", s, 1},     {"padding", p, 0},     {"dilation", d, 0}};
    cnn_status status = check_sizes(sizes, 6, err);
    if (status != CNN_OK) return status;
    if (cnn_right_pad(i, o, k, s, p, d) != p_r)
        return CNN_FAIL(
            err, CNN_BAD_ARGUMENT,
            "along %c: input %lld, kernel %lld, stride %lld, padding %lld and %lld, dilation %lld do not give "
            "output %lld",
            axis, (long long)i, (long long)k, (long long)s, (long long)p, (long long)p_r, (long long)d, (long long)o);
    return CNN_OK;
}

static cnn_status check_conv(const cnn_conv_desc *d, cnn_error *err)
{
    const named_size sizes[] = {{"g", d->g, 1}, {"mb", d->mb, 1}, {"ic", d->ic, 1}, {"oc", d->oc, 1}};
    cnn_status status = check_sizes(sizes, 4, err);
    if (status != CNN_OK) return status;
    if (d->ic % d->g != 0 || d->oc % d->g != 0)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "g%lld does not divide ic%lld and oc%lld", (long long)d->g,
                        (long long)d->ic, (long long)d->oc);
    status = check_axis('h', (const int64_t[7]){d->ih, d->oh, d->kh, d->sh, d->ph, d->dh, d->ph_r}, err);
    if (status != CNN_OK) return status;
    return check_axis('w', (const int64_t[7]){d->iw, d->ow, d->kw, d->sw, d->pw, d->dw, d->pw_r}, err);
}

/* Every window must touch a pixel: otherwise a maximum or a mean of nothing would be asked for. Windows that start
 * before x reach further the later they are, those that start in it less far: so the first and the last decide, but
 * where taps are so far apart that they can step over x. */
static cnn_status check_windows_touch(char axis, int64_t i, int64_t o, int64_t k, int64_t s, int64_t p, int64_t d,
                                      cnn_error *err)
{
    const bool steps_over = i <= d;
    for (int64_t at = 0; at < o; at++) {
        int64_t first, last;
        cnn_tap_range(at, i, k, s, p, d, &first, &last);
        if (first == last)
            return CNN_FAIL(err, CNN_BAD_ARGUMENT, "the pooling window at output %c = %lld lies wholly in the padding",
                            axis, (long long)at);
        if ((!steps_over || at * s >= p) && at < o - 1) at = o - 2; /* on to the last */
    }
    return CNN_OK;
}

static cnn_status check_pool(const cnn_pool_desc *d, cnn_error *err)
{
    const named_size sizes[] = {{"mb", d->mb, 1}, {"ic", d->ic, 1}};
    cnn_status status = check_sizes(sizes, 2, err);
    if (status != CNN_OK) return status;
    status = check_axis('h', (const int64_t[7]){d->ih, d->oh, d->kh, d->sh, d->ph, d->dh, d->ph_r}, err);
    if (status != CNN_OK) return status;
    status = check_axis('w', (const int64_t[7]){d->iw, d->ow, d->kw, d->sw, d->pw, d->dw, d->pw_r}, err);
    if (status != CNN_OK) return status;
    status = check_windows_touch('h', d->ih, d->oh, d->kh, d->sh, d->ph, d->dh, err);
    if (status != CNN_OK) return status;
    status = check_windows_touch('w', d->iw, d->ow, d->kw, d->sw, d->pw, d->dw, err);
    if (status != CNN_OK) return status;
    if (d->kind == CNN_POOL_GLOBAL_AVG && (d->kh != d->ih || d->kw != d->iw || d->oh != 1 || d->ow != 1))
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "global average pooling has the kernel of its input's size, and output 1 x 1");
    return CNN_OK;
}

static cnn_status check_plain(int64_t mb, int64_t ic, int64_t ih, int64_t iw, cnn_error *err)
{
    const named_size sizes[] = {{"mb", mb, 1}, {"ic", ic, 1}, {"ih", ih, 1}, {"iw", iw, 1}};
    return check_sizes(sizes, 4, err);
}

static cnn_status check_real(const char *name, double value, double least, double below, cnn_error *err)
{
    if (value >= least && value < below) return CNN_OK; /* false for a NaN */
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "%s is %g, but must be at least %g and below %g", name, value, least, below);
}

static cnn_status check_concat(const cnn_concat_desc *d, cnn_error *err)
{
    if (d->n_inputs < 1 || d->n_inputs > CNN_MAX_INPUTS)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "concat has %d inputs, but takes 1 to %d", d->n_inputs, CNN_MAX_INPUTS);
    for (int i = 0; i < d->n_inputs; i++) {
        cnn_status status = check_plain(d->mb, d->ic[i], d->ih, d->iw, err);
        if (status != CNN_OK) return status;
    }
    return CNN_OK;
}

static cnn_status check_optimizer(const cnn_optimizer_desc *d, cnn_error *err)
{
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
    for (int i = 0; i < 7; i++) {
        cnn_status status = check_real(reals[i].name, reals[i].value, reals[i].least, reals[i].below, err);
        if (status != CNN_OK) return status;
    }
    return CNN_OK;
}

static cnn_status check_descriptor(const cnn_problem *p, cnn_error *err)
{
    cnn_status status;
    switch (p->op) {
    case CNN_OP_CONV:
        return check_conv(&p->u.conv, err);
    case CNN_OP_FC:
        if (p->u.fc.oc < 1 || p->u.fc.oc > INT32_MAX)
            return CNN_FAIL(err, CNN_BAD_ARGUMENT, "oc is %lld, but must be from 1 to %d", (long long)p->u.fc.oc,
                            INT32_MAX);
        return check_plain(p->u.fc.mb, p->u.fc.ic, p->u.fc.ih, p->u.fc.iw, err);
    case CNN_OP_POOL:
        return check_pool(&p->u.pool, err);
    case CNN_OP_ACT:
        if ((status = check_real("alpha", p->u.act.alpha, 0, INFINITY, err)) != CNN_OK) return status;
        return check_plain(p->u.act.mb, p->u.act.ic, p->u.act.ih, p->u.act.iw, err);
    case CNN_OP_LOSS:
        return check_plain(p->u.loss.mb, p->u.loss.ic, 1, 1, err);
    case CNN_OP_DROPOUT:
        if ((status = check_real("dropout rate", p->u.dropout.rate, 0, 1, err)) != CNN_OK) return status;
        return check_plain(p->u.dropout.mb, p->u.dropout.ic, p->u.dropout.ih, p->u.dropout.iw, err);
    case CNN_OP_ADD:
        return check_plain(p->u.add.mb, p->u.add.ic, p->u.add.ih, p->u.add.iw, err);
    case CNN_OP_CONCAT:
        return check_concat(&p->u.concat, err);
    case CNN_OP_BATCHNORM:
        if (!(p->u.batchnorm.eps > 0))
            return CNN_FAIL(err, CNN_BAD_ARGUMENT, "eps is %g, but must be > 0", p->u.batchnorm.eps);
        if ((status = check_real("momentum", p->u.batchnorm.momentum, 0, 1.0000001, err)) != CNN_OK) return status;
        return check_plain(p->u.batchnorm.mb, p->u.batchnorm.ic, p->u.batchnorm.ih, p->u.batchnorm.iw, err);
    case CNN_OP_OPTIMIZER:
        return check_optimizer(&p->u.optimizer, err);
    case CNN_OP_COUNT:
        break;
    }
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "there is no operation number %d", (int)p->op);
}

cnn_status cnn_problem_check(const cnn_problem *problem, cnn_error *err)
{
    cnn_status status = check_descriptor(problem, err);
    if (status != CNN_OK) return status;
    const uint32_t dirs = cnn_op_dirs(problem);
    for (int dir = 0; dir < CNN_DIR_COUNT; dir++) {
        cnn_operand operands[CNN_MAX_OPERANDS];
        if (dirs & 1u << dir && cnn_operands(problem, (cnn_dir)dir, operands, err) < 0) return err->status;
    }
    return CNN_OK;
}
