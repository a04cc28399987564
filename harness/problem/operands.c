/* operands.c: what each operation reads and writes, with its shape, and how much of it at least: the one place that
 * knows. */
#include "names.h"
#include "shape.h"

#include <string.h>

typedef struct operand_list {
    cnn_operand *items;
    int count;
    cnn_dtype dtype;
    const cnn_operand *overflow; /* the first whose size no number holds */
} operand_list;

static void add(operand_list *list, const char *name, cnn_access access, cnn_elem elem, cnn_shape_kind shape,
                const int64_t dims[4])
{
    cnn_operand *operand = &list->items[list->count++];
    size_t size = elem == CNN_ELEM_DTYPE ? cnn_dtype_size(list->dtype) : elem == CNN_ELEM_I32 ? 4 : 8;
    int64_t bytes = 0;
    *operand = (cnn_operand){.name = name, .access = access, .elem = elem, .shape = shape};
    for (int i = 0; i < 4; i++) operand->dims[i] = dims[i];
    if (!cnn_mul4(dims[0], dims[1], dims[2], dims[3], &operand->count) ||
        !cnn_mul(operand->count, (int64_t)size, &bytes))
        list->overflow = list->overflow != NULL ? list->overflow : operand;
    operand->bytes = (size_t)bytes;
}

static void tensor(operand_list *list, const char *name, cnn_access access, int64_t n, int64_t c, int64_t h, int64_t w)
{
    add(list, name, access, CNN_ELEM_DTYPE, CNN_SHAPE_TENSOR, (const int64_t[4]){n, c, h, w});
}

static void flat(operand_list *list, const char *name, cnn_access access, int64_t a, int64_t b, int64_t c, int64_t d)
{
    add(list, name, access, CNN_ELEM_DTYPE, CNN_SHAPE_FLAT, (const int64_t[4]){a, b, c, d});
}

static void vector(operand_list *list, const char *name, cnn_access access, cnn_elem elem, int64_t count)
{
    add(list, name, access, elem, CNN_SHAPE_FLAT, (const int64_t[4]){count, 1, 1, 1});
}

static void conv_operands(operand_list *list, const cnn_conv_desc *d, cnn_dir dir)
{
    if (dir != CNN_BWD_D) tensor(list, "x", CNN_IN, d->mb, d->ic, d->ih, d->iw);
    if (dir != CNN_FWD) tensor(list, "dy", CNN_IN, d->mb, d->oc, d->oh, d->ow);
    if (dir != CNN_BWD_W) flat(list, "w", CNN_IN, d->oc, d->ic / d->g, d->kh, d->kw);
    if (dir == CNN_FWD && d->bias) vector(list, "b", CNN_IN, CNN_ELEM_DTYPE, d->oc);
    if (dir == CNN_FWD) tensor(list, "y", CNN_OUT, d->mb, d->oc, d->oh, d->ow);
    if (dir == CNN_BWD_D) tensor(list, "dx", CNN_OUT, d->mb, d->ic, d->ih, d->iw);
    if (dir == CNN_BWD_W) flat(list, "dw", CNN_OUT, d->oc, d->ic / d->g, d->kh, d->kw);
    if (dir == CNN_BWD_W && d->bias) vector(list, "db", CNN_OUT, CNN_ELEM_DTYPE, d->oc);
}

static void fc_operands(operand_list *list, const cnn_fc_desc *d, cnn_dir dir)
{
    if (dir != CNN_BWD_D) tensor(list, "x", CNN_IN, d->mb, d->ic, d->ih, d->iw);
    if (dir != CNN_FWD) flat(list, "dy", CNN_IN, d->mb, d->oc, 1, 1);
    if (dir != CNN_BWD_W) flat(list, "w", CNN_IN, d->oc, d->ic, d->ih, d->iw);
    if (dir == CNN_FWD && d->bias) vector(list, "b", CNN_IN, CNN_ELEM_DTYPE, d->oc);
    if (dir == CNN_FWD) flat(list, "y", CNN_OUT, d->mb, d->oc, 1, 1);
    if (dir == CNN_BWD_D) tensor(list, "dx", CNN_OUT, d->mb, d->ic, d->ih, d->iw);
    if (dir == CNN_BWD_W) flat(list, "dw", CNN_OUT, d->oc, d->ic, d->ih, d->iw);
    if (dir == CNN_BWD_W && d->bias) vector(list, "db", CNN_OUT, CNN_ELEM_DTYPE, d->oc);
}

static void pool_operands(operand_list *list, const cnn_pool_desc *d, cnn_dir dir)
{
    tensor(list, "x", CNN_IN, d->mb, d->ic, d->ih, d->iw);
    tensor(list, "y", dir == CNN_FWD ? CNN_OUT : CNN_IN, d->mb, d->ic, d->oh, d->ow);
    if (dir == CNN_FWD) return;
    tensor(list, "dy", CNN_IN, d->mb, d->ic, d->oh, d->ow);
    tensor(list, "dx", CNN_OUT, d->mb, d->ic, d->ih, d->iw);
}

static void act_operands(operand_list *list, const cnn_act_desc *d, cnn_dir dir)
{
    tensor(list, "x", CNN_IN, d->mb, d->ic, d->ih, d->iw);
    tensor(list, "y", dir == CNN_FWD ? CNN_OUT : CNN_IN, d->mb, d->ic, d->ih, d->iw);
    if (dir == CNN_FWD) return;
    tensor(list, "dy", CNN_IN, d->mb, d->ic, d->ih, d->iw);
    tensor(list, "dx", CNN_OUT, d->mb, d->ic, d->ih, d->iw);
}

static void loss_operands(operand_list *list, const cnn_loss_desc *d, cnn_dir dir)
{
    if (dir == CNN_FWD) flat(list, "x", CNN_IN, d->mb, d->ic, 1, 1);
    if (dir == CNN_BWD_D) flat(list, "y", CNN_IN, d->mb, d->ic, 1, 1);
    vector(list, "labels", CNN_IN, CNN_ELEM_I32, d->mb);
    if (dir == CNN_BWD_D) {
        flat(list, "dx", CNN_OUT, d->mb, d->ic, 1, 1);
        return;
    }
    flat(list, "y", CNN_OUT, d->mb, d->ic, 1, 1);
    vector(list, "loss_sum", CNN_INOUT, CNN_ELEM_DOUBLE, 1);
    vector(list, "correct", CNN_INOUT, CNN_ELEM_I64, 1);
}

static void dropout_operands(operand_list *list, const cnn_dropout_desc *d, cnn_dir dir)
{
    if (dir == CNN_FWD) tensor(list, "x", CNN_IN, d->mb, d->ic, d->ih, d->iw);
    vector(list, "step", CNN_IN, CNN_ELEM_I64, 1);
    if (dir == CNN_BWD_D) tensor(list, "dy", CNN_IN, d->mb, d->ic, d->ih, d->iw);
    tensor(list, dir == CNN_FWD ? "y" : "dx", CNN_OUT, d->mb, d->ic, d->ih, d->iw);
}

static void add_operands(operand_list *list, const cnn_add_desc *d)
{
    tensor(list, "x0", CNN_IN, d->mb, d->ic, d->ih, d->iw);
    tensor(list, "x1", CNN_IN, d->mb, d->ic, d->ih, d->iw);
    tensor(list, "y", CNN_OUT, d->mb, d->ic, d->ih, d->iw);
}

static void concat_operands(operand_list *list, const cnn_concat_desc *d, cnn_dir dir)
{
    static const char *const x[CNN_MAX_INPUTS] = {"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7"};
    static const char *const dx[CNN_MAX_INPUTS] = {"dx0", "dx1", "dx2", "dx3", "dx4", "dx5", "dx6", "dx7"};
    int64_t channels = 0;
    for (int i = 0; i < d->n_inputs; i++) channels += d->ic[i];
    if (dir == CNN_BWD_D) tensor(list, "dy", CNN_IN, d->mb, channels, d->ih, d->iw);
    for (int i = 0; i < d->n_inputs; i++)
        tensor(list, dir == CNN_FWD ? x[i] : dx[i], dir == CNN_FWD ? CNN_IN : CNN_OUT, d->mb, d->ic[i], d->ih, d->iw);
    if (dir == CNN_FWD) tensor(list, "y", CNN_OUT, d->mb, channels, d->ih, d->iw);
}

static void batchnorm_operands(operand_list *list, const cnn_batchnorm_desc *d, cnn_dir dir)
{
    const cnn_access running = d->inference ? CNN_IN : CNN_INOUT, save = dir == CNN_FWD ? CNN_OUT : CNN_IN;
    tensor(list, "x", CNN_IN, d->mb, d->ic, d->ih, d->iw);
    vector(list, "gamma", CNN_IN, CNN_ELEM_DTYPE, d->ic);
    if (dir == CNN_FWD) {
        vector(list, "beta", CNN_IN, CNN_ELEM_DTYPE, d->ic);
        vector(list, "running_mean", running, CNN_ELEM_DTYPE, d->ic);
        vector(list, "running_var", running, CNN_ELEM_DTYPE, d->ic);
        tensor(list, "y", CNN_OUT, d->mb, d->ic, d->ih, d->iw);
        if (d->inference) return;
    }
    vector(list, "save_mean", save, CNN_ELEM_DTYPE, d->ic);
    vector(list, "save_invstd", save, CNN_ELEM_DTYPE, d->ic);
    if (dir == CNN_FWD) return;
    tensor(list, "dy", CNN_IN, d->mb, d->ic, d->ih, d->iw);
    tensor(list, "dx", CNN_OUT, d->mb, d->ic, d->ih, d->iw);
    vector(list, "dgamma", CNN_OUT, CNN_ELEM_DTYPE, d->ic);
    vector(list, "dbeta", CNN_OUT, CNN_ELEM_DTYPE, d->ic);
}

static void optimizer_operands(operand_list *list, const cnn_optimizer_desc *d)
{
    const int states = cnn_optimizer_states(d->kind);
    vector(list, "w", CNN_INOUT, CNN_ELEM_DTYPE, d->count);
    vector(list, "grad", CNN_IN, CNN_ELEM_DTYPE, d->count);
    if (states > 0) vector(list, "state0", CNN_INOUT, CNN_ELEM_DTYPE, d->count);
    if (states > 1) vector(list, "state1", CNN_INOUT, CNN_ELEM_DTYPE, d->count);
    vector(list, "step", CNN_INOUT, CNN_ELEM_I64, 1);
}

int cnn_optimizer_states(cnn_optimizer_kind kind) { return kind == CNN_SGD ? 0 : kind == CNN_ADAM ? 2 : 1; }

uint32_t cnn_op_dirs(const cnn_problem *problem)
{
    const uint32_t fwd = 1u << CNN_FWD, bwd_d = 1u << CNN_BWD_D, bwd_w = 1u << CNN_BWD_W;
    switch (problem->op) {
    case CNN_OP_CONV:
    case CNN_OP_FC:
        return fwd | bwd_d | bwd_w;
    case CNN_OP_ADD:
    case CNN_OP_OPTIMIZER:
        return fwd;
    case CNN_OP_BATCHNORM:
        return problem->u.batchnorm.inference ? fwd : fwd | bwd_d;
    default:
        return fwd | bwd_d;
    }
}

int cnn_operands(const cnn_problem *problem, cnn_dir dir, cnn_operand *items, cnn_error *err)
{
    operand_list list = {.items = items, .dtype = problem->u.type.dtype};
    if (!(cnn_op_dirs(problem) & 1u << dir)) {
        CNN_FAIL(err, CNN_UNSUPPORTED, "operation %s has no direction %s", cnn_op_name(problem->op), cnn_dir_name(dir));
        return -1;
    }
    switch (problem->op) {
    case CNN_OP_CONV:
        conv_operands(&list, &problem->u.conv, dir);
        break;
    case CNN_OP_FC:
        fc_operands(&list, &problem->u.fc, dir);
        break;
    case CNN_OP_POOL:
        pool_operands(&list, &problem->u.pool, dir);
        break;
    case CNN_OP_ACT:
        act_operands(&list, &problem->u.act, dir);
        break;
    case CNN_OP_LOSS:
        loss_operands(&list, &problem->u.loss, dir);
        break;
    case CNN_OP_DROPOUT:
        dropout_operands(&list, &problem->u.dropout, dir);
        break;
    case CNN_OP_ADD:
        add_operands(&list, &problem->u.add);
        break;
    case CNN_OP_CONCAT:
        concat_operands(&list, &problem->u.concat, dir);
        break;
    case CNN_OP_BATCHNORM:
        batchnorm_operands(&list, &problem->u.batchnorm, dir);
        break;
    case CNN_OP_OPTIMIZER:
        optimizer_operands(&list, &problem->u.optimizer);
        break;
    case CNN_OP_COUNT:
        break;
    }
    if (list.overflow != NULL) {
        const cnn_operand *o = list.overflow;
        CNN_FAIL(err, CNN_OVERFLOW, "%s of %lld x %lld x %lld x %lld has more bytes than a 64-bit size can hold",
                 o->name, (long long)o->dims[0], (long long)o->dims[1], (long long)o->dims[2], (long long)o->dims[3]);
        return -1;
    }
    return list.count;
}

/* ---- What is needed of them ---- */

static bool is(const cnn_operand *operand, const char *name) { return strcmp(operand->name, name) == 0; }

/* dy counts in db wherever it stands. */
static int64_t needed_by_conv(const cnn_conv_desc *d, cnn_dir dir, const cnn_operand *operand)
{
    const cnn_axis_use h = cnn_use_of_axis(d->ih, d->oh, d->kh, d->sh, d->ph, d->dh);
    const cnn_axis_use w = cnn_use_of_axis(d->iw, d->ow, d->kw, d->sw, d->pw, d->dw);
    const int64_t images_and_channels = operand->dims[0] * operand->dims[1];
    if (is(operand, "x")) return images_and_channels * h.pixels * w.pixels;
    if (is(operand, "w")) return images_and_channels * h.taps * w.taps;
    if (is(operand, "dy") && !(dir == CNN_BWD_W && d->bias)) return images_and_channels * h.outputs * w.outputs;
    return operand->count;
}

/* Where the largest pixel was, x alone tells; a window of one pixel, or a mean, asks nothing. */
static int64_t needed_by_pool(const cnn_pool_desc *d, cnn_dir dir, const cnn_operand *operand)
{
    const bool asks = dir == CNN_FWD || (d->kind == CNN_POOL_MAX && d->kh * d->kw > 1);
    if (dir != CNN_FWD && is(operand, "y")) return 0;
    if (!is(operand, "x")) return operand->count;
    if (!asks) return 0;
    return operand->dims[0] * operand->dims[1] * cnn_use_of_axis(d->ih, d->oh, d->kh, d->sh, d->ph, d->dh).pixels *
           cnn_use_of_axis(d->iw, d->ow, d->kw, d->sw, d->pw, d->dw).pixels;
}

int64_t cnn_operand_needed(const cnn_problem *problem, cnn_dir dir, const cnn_operand *operand)
{
    if (problem->op == CNN_OP_CONV && operand->access == CNN_IN) return needed_by_conv(&problem->u.conv, dir, operand);
    if (problem->op == CNN_OP_POOL) return needed_by_pool(&problem->u.pool, dir, operand);
    if (problem->op == CNN_OP_ACT && dir == CNN_BWD_D) { /* f' can be had from y alone; the identity's is 1 */
        if (is(operand, "x")) return 0;
        if (is(operand, "y") && problem->u.act.kind == CNN_ACT_IDENTITY) return 0;
    }
    return operand->count;
}
