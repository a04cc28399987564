/* operands.c: the matrices of a product, as they lie in memory. */
#include "task.h"

mx_operands mx_operands_of(const mx_run *r, int64_t group, int64_t part)
{
    const mx_plan *m = r->m;
    const cnn_weighted_args *a = r->a;
    const int64_t icg = m->d.ic / m->d.g, ocg = m->d.oc / m->d.g, weights = group * ocg * icg * m->elem;
    const bool forward = m->dir == CNN_FWD, last = m->d.t.layout == CNN_NHWC;
    const void *x = m->dir == CNN_BWD_D ? a->dx : a->x, *y = forward ? a->y : a->dy;
    const mx_matrix in = {
        (char *)(uintptr_t)x + group * icg * m->x.channel * m->elem, &m->x, {MX_PIXELS, m->x.channel}};
    const mx_matrix out = {
        (char *)(uintptr_t)y + group * ocg * m->y.channel * m->elem, &m->y, {MX_PIXELS, m->y.channel}};
    if (m->dir == CNN_BWD_W) {
        char *dw = m->k.parts == 1 ? a->dw : r->workspace + m->sums_at + part * m->d.oc * icg * m->elem;
        return (mx_operands){{out.p, out.tensor, {m->y.channel, MX_PIXELS}},
                             {in.p, in.tensor, {m->x.channel, MX_PIXELS}},
                             {dw + weights, NULL, {icg, 1}},
                             NULL};
    }
    const mx_matrix w = {(char *)(uintptr_t)a->w + weights, NULL, {forward ? icg : 1, forward ? 1 : icg}};
    const mx_matrix from = forward ? in : out, to = forward ? out : in;
    const char *bias = forward && a->b != NULL ? (const char *)a->b + group * ocg * m->elem : NULL;
    if (last) return (mx_operands){from, w, to, bias};
    return (mx_operands){w, from, {to.p, to.tensor, {to.step[1], MX_PIXELS}}, bias};
}

/* Where the pixels [first, first + count) of the batch stand. */
static void list_places(const mx_plan *m, const mx_tensor *t, int64_t first, int64_t count, int64_t *list)
{
    const int64_t ow = m->d.ow, oh = m->d.oh;
    int64_t w = first % ow, h = first / ow % oh, n = first / ow / oh;
    for (int64_t i = 0; i < count; i++) {
        list[i] = n * t->image + h * t->row + w * t->pixel;
        if (++w < ow) continue;
        w = 0;
        if (++h < oh) continue;
        h = 0;
        n++;
    }
}

void mx_list_pixels(const mx_task *t, int64_t first, int64_t count)
{
    list_places(t->m, &t->m->x, first, count, t->lists[0]);
    list_places(t->m, &t->m->y, first, count, t->lists[1]);
}

mx_view mx_view_at(const mx_task *t, const mx_matrix *x, int64_t first, int64_t second)
{
    mx_view v = {x->p, {{NULL, x->step[0]}, {NULL, x->step[1]}}};
    const int64_t at[2] = {first, second};
    for (int i = 0; i < 2; i++)
        if (x->step[i] == MX_PIXELS)
            v.axis[i] = (mx_axis){t->lists[x->tensor == &t->m->y], 0};
        else
            v.p += at[i] * x->step[i] * t->m->elem;
    return v;
}

void mx_pack_lanes(const mx_task *t, const mx_view *from, int64_t first, int64_t lanes, int64_t width, char *to)
{
    const mx_axis lane = from->axis[0];
    const mx_pack p = {.from = from->p + (lane.at ? 0 : first * lane.step) * t->m->elem,
                       .lane = {lane.at ? lane.at + first : NULL, lane.step},
                       .k = from->axis[1],
                       .lanes = lanes,
                       .width = width,
                       .count = t->terms,
                       .panel = width * MX_BLOCK,
                       .to = to};
    t->m->kernels->pack(&p);
}
