/* op_pool.c: pooling, of two dimensions and of three (POOL3D): the largest of a window, or its mean. A descriptor with
 * a depth is of three, whatever operation was named. */
#include "names.h"
#include "op.h"

/* Of a pooling without a depth, depths of one. */
static dims_axis depth_of(const cnn_problem *p)
{
    const cnn_pool_desc deep = cnn_pool_with_depth(p), *d = &deep;
    return *OP_DEPTH(d);
}

static void put_depth(const dims_axis *a, cnn_problem *p)
{
    cnn_pool_desc *d = &p->u.pool;
    p->op = CNN_OP_POOL3D;
    d->id = a->i, d->od = a->o, d->kd = a->k, d->sd = a->s;
    d->pd = a->p, d->pd_r = a->p_r, d->dd = a->d;
}

static cnn_status parse(const char *text, const cnn_problem_defaults *defaults, cnn_problem *p, desc_dims *d,
                        cnn_error *err)
{
    char kind[CNN_NAME_MAX];
    size_t start;
    cnn_status status;
    if (!op_split_kind(text, kind, sizeof kind, &start)) return op_needs_kind(text, "max:mb2ic16ih8kh2sh2", err);
    const int index = cnn_name_find(&cnn_pool_names, kind, err);
    if (index < 0) return err->status;
    const bool global = index == CNN_POOL_GLOBAL_AVG;
    const char *letters = global ? "mb ic id ih iw" : OP_WINDOW_LETTERS;
    if ((status = dims_parse(text, start, letters, d, err)) != CNN_OK) return status;
    if (global) {
        d->depth.k = d->depth.i;
        d->height.k = d->height.i;
        d->width.k = d->width.i;
    }
    if ((status = dims_deduce_windows(text, d, err)) != CNN_OK) return status;
    p->u.pool = (cnn_pool_desc){
        .t = defaults->type, .kind = (cnn_pool_kind)index, .mb = d->mb, .ic = d->ic, DIMS_AXES(d->height, d->width)};
    if (p->op == CNN_OP_POOL3D || dims_deep(d)) put_depth(&d->depth, p);
    return CNN_OK;
}

static void put_global(char *text, const cnn_pool_desc *d, bool deep)
{
    op_put_number(text, "ic", d->ic);
    if (deep) op_put_number(text, "id", d->id);
    op_put_number(text, "ih", d->ih);
    if (deep || d->iw != d->ih) op_put_number(text, "iw", d->iw);
}

static void format(char *text, const cnn_problem *p)
{
    const cnn_pool_desc *d = &p->u.pool;
    const bool deep = p->op == CNN_OP_POOL3D;
    op_put(text, "%s:mb%lld", cnn_pool_name(d->kind), (long long)d->mb);
    if (d->kind == CNN_POOL_GLOBAL_AVG) {
        put_global(text, d, deep);
    } else if (deep) {
        op_put_number(text, "ic", d->ic);
        op_put_axes(text, OP_DEPTH(d), OP_HEIGHT(d), OP_WIDTH(d));
    } else {
        op_put_windows(text, OP_HEIGHT(d), OP_WIDTH(d), d->ic, 0);
    }
}

/* Every window must touch a pixel: otherwise a maximum or a mean of nothing would be asked for. Windows that start
 * before x reach further the later they are, those that start in it less far: so the first and the last decide, but
 * where taps are so far apart that they can step over x. */
static cnn_status check_windows_touch(char letter, const dims_axis *a, cnn_error *err)
{
    const bool steps_over = a->i <= a->d;
    for (int64_t at = 0; at < a->o; at++) {
        int64_t first, last;
        cnn_tap_range(at, a->i, a->k, a->s, a->p, a->d, &first, &last);
        if (first == last)
            return CNN_FAIL(err, CNN_UNSUPPORTED, "the pooling window at output %c = %lld lies wholly in the padding",
                            letter, (long long)at);
        if ((!steps_over || at * a->s >= a->p) && at < a->o - 1) at = a->o - 2; /* on to the last */
    }
    return CNN_OK;
}

/* Rows of all depths are counted together. */
static cnn_status check_depth(const cnn_pool_desc *d, cnn_error *err)
{
    cnn_status status = op_check_axis('d', OP_DEPTH(d), err);
    const op_size sizes[] = {
        {"id * ih", d->id * d->ih, 1}, {"od * oh", d->od * d->oh, 1}, {"kd * kh", d->kd * d->kh, 1}};
    if (status == CNN_OK) status = op_check_sizes(sizes, 3, err);
    return status == CNN_OK ? check_windows_touch('d', OP_DEPTH(d), err) : status;
}

static cnn_status check(const cnn_problem *p, cnn_error *err)
{
    const cnn_pool_desc *d = &p->u.pool;
    const op_size sizes[] = {{"mb", d->mb, 1}, {"ic", d->ic, 1}};
    cnn_status status = op_check_sizes(sizes, 2, err);
    if (status == CNN_OK) status = op_check_windows(OP_HEIGHT(d), OP_WIDTH(d), err);
    if (status == CNN_OK) status = check_windows_touch('h', OP_HEIGHT(d), err);
    if (status == CNN_OK) status = check_windows_touch('w', OP_WIDTH(d), err);
    if (status == CNN_OK && p->op == CNN_OP_POOL3D) status = check_depth(d, err);
    if (status != CNN_OK) return status;
    const dims_axis depth = depth_of(p);
    if (d->kind == CNN_POOL_GLOBAL_AVG &&
        (depth.k != depth.i || d->kh != d->ih || d->kw != d->iw || depth.o != 1 || d->oh != 1 || d->ow != 1))
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "global average pooling has the kernel of its input's size, and output 1 x 1");
    return CNN_OK;
}

static void operands(op_operands *list, const cnn_problem *p, cnn_dir dir)
{
    const cnn_pool_desc *d = &p->u.pool;
    const dims_axis a = depth_of(p);
    const int64_t ih = a.i * d->ih, oh = a.o * d->oh;
    op_tensor(list, "x", CNN_IN, d->mb, d->ic, ih, d->iw);
    op_tensor(list, "y", dir == CNN_FWD ? CNN_OUT : CNN_IN, d->mb, d->ic, oh, d->ow);
    if (dir != CNN_FWD) op_tensor(list, "dy", CNN_IN, d->mb, d->ic, oh, d->ow);
    if (dir != CNN_FWD) op_tensor(list, "dx", CNN_OUT, d->mb, d->ic, ih, d->iw);
    for (int i = 0; p->op == CNN_OP_POOL3D && i < list->count; i++) {
        cnn_operand *o = &list->items[i];
        o->depth = o->name[o->name[0] == 'd'] == 'x' ? a.i : a.o;
    }
}

/* Where the largest pixel was, x alone tells; a window of one pixel, or a mean, asks nothing. */
static int64_t needed(const cnn_problem *p, cnn_dir dir, const cnn_operand *operand)
{
    const cnn_pool_desc *d = &p->u.pool;
    const dims_axis depth = depth_of(p);
    const bool asks = dir == CNN_FWD || (d->kind == CNN_POOL_MAX && depth.k * d->kh * d->kw > 1);
    if (dir != CNN_FWD && op_is(operand, "y")) return 0;
    if (!op_is(operand, "x")) return operand->count;
    if (!asks) return 0;
    return operand->dims[0] * operand->dims[1] * op_use_of(&depth).pixels * op_use_of(OP_HEIGHT(d)).pixels *
           op_use_of(OP_WIDTH(d)).pixels;
}

static double flops(const cnn_problem *p, cnn_dir dir)
{
    const cnn_pool_desc *d = &p->u.pool;
    (void)dir;
    const dims_axis depth = depth_of(p);
    return (double)d->mb * (double)d->ic * op_axis_taps(&depth) * op_taps(OP_HEIGHT(d), OP_WIDTH(d));
}

#define POOL_ROW                                                                                                       \
    {                                                                                                                  \
        .at.mb = OP_AT(pool.mb), .parse = parse, .format = format, .check = check, .operands = operands,               \
        .needed = needed, .flops = flops                                                                               \
    }
const op_row op_pool = POOL_ROW, op_pool3d = POOL_ROW;
