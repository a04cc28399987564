/* chunk.c: from a problem to the geometry of its kernels and the matrices of its products. */
#include "impl_cuda_im2col/im2col.h"

static cucol_geometry geometry_of(const cnn_conv_desc *d)
{
    cucol_geometry g = {.tensor = cucol_view_of(d->t.layout, d->ic, d->ih, d->iw)};
    g.ic = (int32_t)d->ic, g.ih = (int32_t)d->ih, g.iw = (int32_t)d->iw;
    g.oh = (int32_t)d->oh, g.ow = (int32_t)d->ow, g.kh = (int32_t)d->kh, g.kw = (int32_t)d->kw;
    g.sh = (int32_t)d->sh, g.sw = (int32_t)d->sw;
    g.h0 = -(int32_t)d->ph, g.w0 = -(int32_t)d->pw;
    g.hstep = (int32_t)(d->dh + 1), g.wstep = (int32_t)(d->dw + 1);
    g.rows = g.ic * g.kh * g.kw, g.pixels = g.oh * g.ow;
    return g;
}

static cucol_copy copy_of(const cnn_conv_desc *d, const cucol_plan *m)
{
    cucol_copy copy = {.plain = cucol_view_of(d->t.layout, d->ic, d->ih, d->iw),
                       .padded = cucol_view_of(CNN_NCHW, d->ic, m->hp, m->wp)};
    copy.c = (int32_t)d->ic, copy.ih = (int32_t)d->ih, copy.iw = (int32_t)d->iw;
    copy.hp = (int32_t)m->hp, copy.wp = (int32_t)m->wp;
    copy.ph = (int32_t)d->ph, copy.pw = (int32_t)d->pw;
    return copy;
}

void cucol_put_geometry(const cnn_conv_desc *d, cucol_plan *m)
{
    cucol_geometry g = geometry_of(d);
    m->copy = copy_of(d, m);
    if (m->padded) { /* the kernels then see the copy alone */
        g.tensor = m->copy.padded;
        g.ih = m->copy.hp, g.iw = m->copy.wp;
        g.h0 = g.w0 = 0;
    }
    if (d->flip) { /* the weights' first row meets the window's last */
        g.h0 += (g.kh - 1) * g.hstep, g.hstep = -g.hstep;
        g.w0 += (g.kw - 1) * g.wstep, g.wstep = -g.wstep;
    }
    m->g = g;
    m->outputs.channels = (int32_t)d->oc, m->outputs.pixels = g.pixels;
    m->outputs.channels_last = d->t.layout == CNN_NHWC;
}

cucol_chunk cucol_chunk_of(const cnn_plan *plan, const cnn_weighted_args *args)
{
    const cucol_plan *m = plan->state;
    const bool sliced = plan->dir == CNN_BWD_W && args->db && m->slices > 1;
    char *base = args->workspace;
    return (cucol_chunk){.plan = plan,
                         .d = &plan->problem.u.conv,
                         .m = m,
                         .g = m->g,
                         .copy = m->copy,
                         .outputs = m->outputs,
                         .columns = base + m->columns_at,
                         .padded = base + m->padded_at,
                         .wide = base + m->wide_at,
                         .sums = sliced ? base + m->sums_at : args->db};
}

/* A product an image, its weights always the same; or a product a group, all images of the chunk side by side. */
static void lay_out_matrices(cucol_chunk *c)
{
    const cucol_plan *m = c->m;
    const bool last = c->outputs.channels_last;
    c->width = m->batched ? m->pixels : c->g.n * m->pixels;
    c->batch = m->batched ? c->g.n : c->d->g;
    c->weights = (cuda_matrix){m->group_rows, m->batched ? 0 : m->group_oc * m->group_rows, false};
    c->column_matrix = (cuda_matrix){c->width, m->group_rows * c->width, false};
    c->output_matrix = (cuda_matrix){c->width, m->group_oc * c->width, false};
    if (last) c->output_matrix = (cuda_matrix){c->d->oc, m->group_oc, true};
    if (last && m->direct) c->column_matrix = (cuda_matrix){c->d->ic, m->group_rows, true};
    c->transposes = !m->batched && !last && c->g.n > 1; /* one image is its own wide outputs */
}

bool cucol_chunk_next(cucol_chunk *c)
{
    c->first += c->g.n;
    const int64_t left = c->d->mb - c->first, n = left < c->m->chunk ? left : c->m->chunk;
    c->g.n = c->copy.n = c->outputs.n = (int32_t)n;
    c->g.row_stride = c->m->batched ? c->m->pixels : n * c->m->pixels;
    c->g.image_stride = c->m->batched ? c->m->rows * c->m->pixels : c->m->pixels;
    lay_out_matrices(c);
    return n > 0;
}
