/* plan.c: how one direction of one convolution is cut into chunks of images, and where its workspace holds what. */
#include "harness/cnn/shape.h"
#include "impl_cuda_im2col/im2col.h"

#include <limits.h>

enum { AREA_ALIGN = 256, BATCHED_FROM_PIXELS = 1024, ELEMENTS_A_SLICE = 1024 };

static cucol_view view_of(cnn_layout layout, int64_t c, int64_t h, int64_t w)
{
    if (layout == CNN_NCHW) return (cucol_view){c * h * w, (int32_t)(h * w), (int32_t)w, 1};
    return (cucol_view){c * h * w, 1, (int32_t)(w * c), (int32_t)c};
}

cucol_copy cucol_copy_of(cnn_layout plain, cnn_layout padded, int64_t c, int64_t ih, int64_t iw, int64_t hp, int64_t wp)
{
    return (cucol_copy){.c = (int32_t)c,
                        .ih = (int32_t)ih,
                        .iw = (int32_t)iw,
                        .hp = (int32_t)hp,
                        .wp = (int32_t)wp,
                        .plain = view_of(plain, c, ih, iw),
                        .padded = view_of(padded, c, hp, wp)};
}

int32_t cucol_slices(const int64_t *knobs, int64_t count, int64_t bytes)
{
    const size_t room = cuda_workspace_limit(knobs) / 4 / (size_t)bytes; /* the columns want the rest */
    int64_t slices = count / ELEMENTS_A_SLICE, most = knobs[CUCOL_KNOB_OUTPUTS_SLICES];
    if ((size_t)most > room) most = (int64_t)room;
    if (slices > most) slices = most;
    return (int32_t)(slices < 1 ? 1 : slices);
}

/* Rows of all depths are counted together, but by deep.cu, which knows of the depths. */
static cnn_conv_desc rows_together(const cnn_problem *p)
{
    cnn_conv_desc d = cnn_with_depth(p);
    d.ih *= d.id, d.oh *= d.od, d.kh *= d.kd;
    return d;
}

/* The kernels count within an image, and cuBLAS counts the sides of a matrix, in 32 bits. */
static cnn_status check_sizes(const cnn_conv_desc *d, cnn_error *err)
{
    const struct {
        const char *what;
        int64_t value;
    } sizes[] = {{"mb", d->mb},     {"sh", d->sh},     {"sw", d->sw},    {"ph", d->ph}, {"pw", d->pw},
                 {"dh", d->dh + 1}, {"dw", d->dw + 1}, {"oc", d->oc},    {"ih", d->ih}, {"iw", d->iw},
                 {"sd", d->sd},     {"pd", d->pd},     {"dd", d->dd + 1}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i].value > INT_MAX)
            return CNN_FAIL(err, CNN_UNSUPPORTED, "%s, %lld, is more than im2col counts (%d)", sizes[i].what,
                            (long long)sizes[i].value, INT_MAX);
    return CNN_OK;
}

static cnn_status check_image(const char *what, int64_t c, int64_t h, int64_t w, int64_t *most, cnn_error *err)
{
    int64_t count;
    if (!cnn_mul4(c, h, w, 1, &count) || count > INT_MAX)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "%s of one image, %lld x %lld x %lld, are more than im2col counts (%d)",
                        what, (long long)c, (long long)h, (long long)w, INT_MAX);
    if (count > *most) *most = count;
    return CNN_OK;
}

/* Everything of one image that a kernel runs over; *most is the largest count. */
static cnn_status check_images(const cnn_conv_desc *d, const cucol_plan *m, int64_t *most, cnn_error *err)
{
    cnn_status status = check_image("input elements", d->ic, d->ih, d->iw, most, err);
    if (status == CNN_OK) status = check_image("outputs", d->oc, d->oh, d->ow, most, err);
    if (status == CNN_OK) status = check_image("elements that the windows cover", d->ic, m->hp, m->wp, most, err);
    if (status == CNN_OK) status = check_image("rows of columns", d->ic, d->kh, d->kw, most, err);
    if (status == CNN_OK) status = check_image("columns", d->ic * d->kh * d->kw, d->oh, d->ow, most, err);
    return status;
}

static size_t area(size_t *bytes, int64_t count, size_t elem)
{
    const size_t start = *bytes;
    *bytes += ((size_t)count * elem + AREA_ALIGN - 1) / AREA_ALIGN * AREA_ALIGN;
    return start;
}

/* As many images at a time as the workspace allows: one product over many images fills the device better than many
 * small ones. */
static cnn_status cut(const cnn_request *r, int64_t most, cucol_plan *m, cnn_error *err)
{
    const cnn_conv_desc rows = rows_together(r->problem), *d = &rows;
    const size_t own = (size_t)r->knobs[CUCOL_KNOB_WORKSPACE] << 20, all = cuda_workspace_limit(r->knobs);
    const bool wide = d->t.layout == CNN_NCHW && !m->batched && d->mb > 1;
    const int64_t budget = (int64_t)(own < all ? own : all);
    const int64_t columns = m->direct ? 0 : m->rows * m->pixels, padded = m->padded ? d->ic * m->hp * m->wp : 0;
    const int64_t outputs = wide ? d->oc * m->pixels : 0;
    const int64_t sums = r->dir == CNN_BWD_W && d->bias && m->slices > 1 ? m->slices * d->oc : 0;
    const int64_t areas = (columns > 0) + (padded > 0) + (outputs > 0) + (sums > 0);
    const int64_t fixed = sums * (int64_t)m->elem + areas * AREA_ALIGN;
    const int64_t image = (columns + padded + outputs) * (int64_t)m->elem;
    const int64_t room = image > 0 ? (budget - fixed) / image : INT_MAX;
    if (budget < fixed || room < 1)
        return CNN_FAIL(
            err, CNN_UNSUPPORTED,
            "one image needs %lld bytes of workspace, the knobs workspace_mib and workspace_limit allow %lld",
            (long long)(image + fixed), (long long)budget);
    m->chunk = d->mb;
    if (m->chunk > room) m->chunk = room;
    if (m->chunk > INT_MAX / most) m->chunk = INT_MAX / most;
    m->columns_at = area(&m->bytes, m->chunk * columns, m->elem);
    m->padded_at = area(&m->bytes, m->chunk * padded, m->elem);
    m->wide_at = area(&m->bytes, m->chunk * outputs, m->elem);
    m->sums_at = area(&m->bytes, sums, m->elem);
    return CNN_OK;
}

/* Small maps make products too small to fill the device: they go together as one, at the price of a pass over y. A
 * group is a batch of its own, and BWD_W sums over the images: both want all images of a chunk in one product. */
static bool choose_batched(const cnn_request *r, int64_t pixels)
{
    const cnn_conv_desc *d = &r->problem->u.conv;
    const int64_t knob = r->knobs[CUCOL_KNOB_GEMM_BATCHED];
    if (d->t.layout == CNN_NHWC || d->g > 1 || r->dir == CNN_BWD_W) return false;
    return knob == 1 || (knob == 2 && pixels >= BATCHED_FROM_PIXELS);
}

/* Channels of a pixel, or pixels of a channel, are then what the product wants to find side by side; only the sum of
 * several NCHW images in BWD_W, and their groups, are not one product (or one batch). */
static bool is_direct(const cnn_conv_desc *d, cnn_dir dir)
{
    const bool pointwise = d->kh == 1 && d->kw == 1 && d->sh == 1 && d->sw == 1 && d->ph == 0 && d->pw == 0 &&
                           d->oh == d->ih && d->ow == d->iw;
    return pointwise && (d->t.layout == CNN_NHWC || d->mb == 1 || (d->g == 1 && dir != CNN_BWD_W));
}

static void put_geometry(const cnn_conv_desc *d, cucol_plan *m)
{
    cucol_copy *copy = &m->copy;
    *copy = cucol_copy_of(d->t.layout, CNN_NCHW, d->ic, d->ih, d->iw, m->hp, m->wp);
    copy->ph = (int32_t)d->ph, copy->pw = (int32_t)d->pw;
    cucol_geometry g = {.tensor = copy->plain, .ic = copy->c, .ih = copy->ih, .iw = copy->iw};
    g.oh = (int32_t)d->oh, g.ow = (int32_t)d->ow, g.kh = (int32_t)d->kh, g.kw = (int32_t)d->kw;
    g.sh = (int32_t)d->sh, g.sw = (int32_t)d->sw;
    g.h0 = -copy->ph, g.w0 = -copy->pw;
    g.hstep = (int32_t)(d->dh + 1), g.wstep = (int32_t)(d->dw + 1);
    g.rows = (int32_t)m->rows, g.pixels = (int32_t)m->pixels;
    if (m->padded) { /* the kernels then see the copy alone */
        g.tensor = copy->padded;
        g.ih = copy->hp, g.iw = copy->wp;
        g.h0 = g.w0 = 0;
    }
    g.depth = (cucol_depth){.i = (int32_t)d->id,
                            .s = (int32_t)d->sd,
                            .first = (int32_t)-d->pd,
                            .step = (int32_t)(d->dd + 1),
                            .ih = (int32_t)(d->ih / d->id),
                            .oh = (int32_t)(d->oh / d->od),
                            .kh = (int32_t)(d->kh / d->kd)};
    if (d->flip) { /* the weights' first row meets the window's last */
        g.depth.first += (int32_t)(d->kd - 1) * g.depth.step, g.depth.step = -g.depth.step;
        g.h0 += (g.depth.kh - 1) * g.hstep, g.hstep = -g.hstep;
        g.w0 += (g.kw - 1) * g.wstep, g.wstep = -g.wstep;
    }
    m->g = g;
    m->outputs =
        (cucol_outputs){.channels = (int32_t)d->oc, .pixels = g.pixels, .channels_last = d->t.layout == CNN_NHWC};
}

cnn_status cucol_plan_make(const cnn_request *r, cucol_plan *m, cnn_error *err)
{
    const cnn_conv_desc all = rows_together(r->problem), *d = &all;
    const int64_t algorithm = r->algorithm->id;
    int64_t most = 1;
    cnn_status status = check_sizes(d, err);
    if (status != CNN_OK) return status;
    *m = (cucol_plan){.elem = cnn_dtype_size(d->t.dtype),
                      .group_oc = d->oc / d->g,
                      .wp = (d->ow - 1) * d->sw + cnn_extent(d->kw, d->dw)};
    if (algorithm != CUCOL_deep) m->hp = (d->oh - 1) * d->sh + cnn_extent(d->kh, d->dh);
    if ((status = check_images(d, m, &most, err)) != CNN_OK) return status;
    m->rows = d->ic * d->kh * d->kw;
    m->group_rows = m->rows / d->g;
    m->pixels = d->oh * d->ow;
    m->padded = r->dir == CNN_BWD_D ? cucol_kernels_of[algorithm].pads_dx : cucol_kernels_of[algorithm].pads_x;
    m->direct = algorithm == CUCOL_implicit_pad && is_direct(d, r->dir);
    m->batched = m->direct ? d->t.layout == CNN_NCHW && d->mb > 1 : choose_batched(r, m->pixels);
    m->slices = cucol_slices(r->knobs, d->mb * m->pixels, d->oc * (int64_t)m->elem);
    status = cut(r, most, m, err);
    if (status == CNN_OK) put_geometry(d, m);
    return status;
}
