/* plan_direct.c: one tap of f32 for direct.cu: how its tensors lie along rows, columns and k, and who shares the work.
 */
#include "impl_cuda_tensor/direct.h"
#include "impl_cuda_tensor/plan.h"

/* ---- Axes */

/* How many numbers lie between neighbours of a tensor. */
typedef struct strides {
    int64_t image, line, pixel, channel;
} strides;
static strides strides_of(const cnn_conv_desc *d, int64_t channels, int64_t high, int64_t wide)
{
    const bool planes = d->t.layout == CNN_NCHW;
    const int64_t pixel = planes ? 1 : channels;
    return (strides){channels * high * wide, wide * pixel, pixel, planes ? high * wide : 1};
}

static cutensor_axis channels_of(int64_t count, int64_t step)
{
    return (cutensor_axis){.count = (int32_t)count, .step = (int32_t)step};
}

/* Of high by wide pixels of each image, every down-th line's every right-th in the tensor. */
static cutensor_axis pixels_of(const cnn_conv_desc *d, const strides *s, int64_t down, int64_t right)
{
    const int64_t step = right * s->pixel, line = down * s->line, plane = d->oh * d->ow;
    cutensor_axis a = channels_of(d->mb * plane, step);
    if (line == d->ow * step && (d->mb == 1 || s->image == plane * step)) return a; /* all as far apart */
    a.pixels = true;
    a.image = (int32_t)s->image;
    a.line = (int32_t)line;
    a.by_plane = cuda_divide_by(plane);
    a.by_wide = cuda_divide_by(d->ow);
    return a;
}

/* Whether each four elements from the first on are neighbours in memory, and begin at a multiple of 4 numbers. */
static bool has_fours(const cutensor_axis *a)
{
    if (a->step != 1) return false;
    if (!a->pixels) return a->count % 4 == 0;
    return a->line == a->by_wide.d && a->by_plane.d % 4 == 0 && a->image % 4 == 0;
}
static bool in_fours(const cutensor_axis *a)
{
    return a->step % 4 == 0 && (!a->pixels || (a->line % 4 == 0 && a->image % 4 == 0));
}

static int32_t way_of(const cutensor_factor *f)
{
    if (has_fours(&f->k) && !f->k.pixels && in_fours(&f->rows)) return CUTENSOR_ALONG_K;
    if (!has_fours(&f->rows) || !in_fours(&f->k)) return CUTENSOR_ONE_BY_ONE;
    return f->k.pixels ? CUTENSOR_ROWS_OF_PIXELS : CUTENSOR_ALONG_ROWS;
}
static void put_ways(cutensor_direct *g)
{
    g->a.way = way_of(&g->a);
    g->b.way = way_of(&g->b);
    switch (g->a.way * CUTENSOR_WAYS + g->b.way) {
#define WAYS(A, B) case CUTENSOR_##A *CUTENSOR_WAYS + CUTENSOR_##B:
#include "direct_ways.inc"
#undef WAYS
        break;
    default:
        g->a.way = g->b.way = CUTENSOR_ONE_BY_ONE;
    }
}

/* ---- What is multiplied: w by the pixels that are read, or dy by x. */

static void put_forward(const cnn_conv_desc *d, const strides *x, const strides *y, cutensor_direct *g)
{
    g->a = (cutensor_factor){.rows = channels_of(d->oc, d->ic), .k = channels_of(d->ic, 1)};
    g->b = (cutensor_factor){.rows = pixels_of(d, x, d->sh, d->sw), .k = channels_of(d->ic, x->channel)};
    g->columns = pixels_of(d, y, 1, 1);
    g->row_step = (int32_t)y->channel;
}

static void put_backward(const cnn_conv_desc *d, const strides *x, const strides *y, cutensor_direct *g)
{
    g->a = (cutensor_factor){.rows = channels_of(d->ic, 1), .k = channels_of(d->oc, d->ic)};
    g->b = (cutensor_factor){.rows = pixels_of(d, y, 1, 1), .k = channels_of(d->oc, y->channel)};
    g->columns = pixels_of(d, x, d->sh, d->sw);
    g->row_step = (int32_t)x->channel;
    if (d->sh * d->sw == 1) return;
    /* Where the pixel lies in its image is asked for, too. */
    g->columns = (cutensor_axis){.count = g->columns.count,
                                 .step = (int32_t)(d->sw * x->pixel),
                                 .pixels = true,
                                 .image = (int32_t)x->image,
                                 .line = (int32_t)(d->sh * x->line),
                                 .by_plane = cuda_divide_by(d->oh * d->ow),
                                 .by_wide = cuda_divide_by(d->ow)};
    g->cell_high = (int32_t)d->sh;
    g->cell_wide = (int32_t)d->sw;
    g->out_high = (int32_t)d->ih;
    g->out_wide = (int32_t)d->iw;
    g->down = (int32_t)x->line;
    g->right = (int32_t)x->pixel;
}

static void put_weights(const cnn_conv_desc *d, const strides *x, const strides *y, cutensor_direct *g)
{
    g->a = (cutensor_factor){.rows = channels_of(d->oc, y->channel), .k = pixels_of(d, y, 1, 1)};
    g->b = (cutensor_factor){.rows = channels_of(d->ic, x->channel), .k = pixels_of(d, x, d->sh, d->sw)};
    g->columns = channels_of(d->ic, 1);
    g->row_step = (int32_t)d->ic;
}

/* ---- Who shares the work */

static int32_t log_of(int32_t power)
{
    int32_t log = 0;
    while (1 << log < power) log++;
    return log;
}

/* Steps are dealt out to up to 8 warps, four to each, or two while the device could hold more warps; and to the blocks
 * of a cluster, while the device holds a cluster for each tile. Where there is one tile at most a multiprocessor, its
 * warps have registers for two steps ahead. */
static void put_work(const cuda_context *c, cutensor_direct *g)
{
    enum { WARPS_ENOUGH = 8 };
    const int64_t sms = c->properties.multiProcessorCount, steps = ceil_div(g->a.k.count, DIRECT_STEP);
    g->across = (int32_t)ceil_div(g->columns.count, DIRECT_SIDE);
    g->down_tiles = (int32_t)ceil_div(g->a.rows.count, DIRECT_SIDE);
    const int64_t tiles = (int64_t)g->down_tiles * g->across;
    const int32_t most = g->parts == 2 && tiles > sms ? DIRECT_WARPS / 2 : DIRECT_WARPS;
    g->ahead = tiles <= sms ? 2 : 1;
    g->warps = g->splits = 1;
    while (g->warps < most && steps >= (tiles * g->warps < WARPS_ENOUGH * sms ? 2 : 4) * 2 * g->warps) g->warps *= 2;
    while (g->splits < DIRECT_SPLITS && tiles <= cuda_clusters(c, g->splits * 2) && steps >= 4 * g->splits * g->warps)
        g->splits *= 2;
    g->steps = g->a.k.count / DIRECT_STEP;
    g->has_rest = g->a.k.count % DIRECT_STEP != 0;
    g->log_splits = log_of(g->splits);
    g->log_units = log_of(g->splits * g->warps);
}

/* ---- Whether it is quicker than the other kernels: microseconds of both on an H200, by what counts.
 *
 * Fitted to 360 figures of ResNet-50's 1x1 layers, f32 and TF32, 1 to 4 images, both ways; what is chosen by them took
 * 1.2 % longer than the faster way (geometric mean). With stride 2, since others read boxes there: 350 figures of 1 to
 * 32 images, NCHW and NHWC, 1.6 %. */

/* A multiprocessor's steps and tiles. */
static double direct_us(const cutensor_direct *g, bool weights, int64_t sms)
{
    const double tiles = (double)g->down_tiles * g->across, blocks = tiles * g->splits, all = (double)sms;
    const double steps = tiles * (double)ceil_div(g->a.k.count, DIRECT_STEP) / (blocks < all ? blocks : all);
    const double one_by_one = weights && g->b.way == CUTENSOR_ONE_BY_ONE ? 1.5 : 1;
    if (g->parts == 1) return (weights ? 3.2 + 0.1 * one_by_one * steps : 3.6 + 0.07 * steps) + 0.2 * tiles / all;
    return 2.5 + (weights ? 0.16 * one_by_one : 0.14) * steps + 0.6 * tiles / all;
}

/* 256 numbers of k, and 2^20 numbers of a, of b, and of what comes out. */
static double other_us(const cutensor_direct *g, bool weights, bool strided)
{
    static const double costs[2][2][2][5] = {
        {{{6.1, 1.3, 7.5, 1.2, 0.3}, {6.6, 1, 12.5, 1.8, 0.5}}, {{7.7, 2.1, 5.2, 5.9, 0}, {9.7, 1.4, 7.2, 7, 0.8}}},
        {{{6.8, 0, 2, 2, 0}, {8.5, 0, 2.2, 2.2, 0}}, {{7.8, 0, 6.3, 3.1, 0.4}, {8.2, 0, 7.5, 3.7, 1}}},
    };
    const double *cost = costs[weights][strided][g->parts - 1], million = 1 << 20;
    const double rows = g->a.rows.count, columns = g->columns.count, k = g->a.k.count;
    return cost[0] + cost[1] * k / 256 +
           (cost[2] * rows * k + cost[3] * columns * k + cost[4] * rows * columns) / million;
}

/* Indices have 32 bits, products of a step's number by a warp's among them. */
static bool is_direct(const cnn_conv_desc *d)
{
    const double x = (double)d->mb * (double)d->ic * (double)d->ih * (double)d->iw, w = (double)d->ic * (double)d->oc;
    const double y = (double)d->mb * (double)d->oc * (double)d->oh * (double)d->ow, most = INT32_MAX / 64;
    return d->t.dtype == CNN_F32 && d->g == 1 && d->kh * d->kw == 1 && d->ph == 0 && d->pw == 0 &&
           d->oh == ceil_div(d->ih, d->sh) && d->ow == ceil_div(d->iw, d->sw) && x <= INT32_MAX && y <= INT32_MAX &&
           w <= INT32_MAX && (double)d->ic <= most && (double)d->oc <= most &&
           (double)d->mb * (double)d->oh * (double)d->ow <= most;
}

bool cutensor_plan_direct(const cuda_context *c, const cnn_request *r, const cnn_conv_desc *d, cutensor_direct *g)
{
    const int64_t *knobs = r->knobs, wish = knobs[CUTENSOR_KNOB_DIRECT];
    const bool other = knobs[CUTENSOR_KNOB_MATRIX] != 2 || knobs[CUTENSOR_KNOB_KEEP] != 2 ||
                       knobs[CUTENSOR_KNOB_TILE] != 0 || knobs[CUTENSOR_KNOB_SPLIT] != 2; /* ways to do it, by hand */
    if (wish == 0 || (wish == 2 && other) || !is_direct(d)) return false;
    const strides x = strides_of(d, d->ic, d->ih, d->iw), y = strides_of(d, d->oc, d->oh, d->ow);
    *g = (cutensor_direct){.parts = d->t.math == CNN_MATH_TF32 ? 1 : 2, .has_bias = d->bias && r->dir == CNN_FWD};
    if (r->dir == CNN_BWD_W)
        put_weights(d, &x, &y, g);
    else if (r->dir == CNN_BWD_D)
        put_backward(d, &x, &y, g);
    else
        put_forward(d, &x, &y, g);
    g->fours = g->row_step == 1 && g->a.rows.count % 4 == 0;
    put_ways(g);
    put_work(c, g);
    const bool weights = r->dir == CNN_BWD_W;
    return wish == 1 ||
           direct_us(g, weights, c->properties.multiProcessorCount) <= other_us(g, weights, d->sh * d->sw > 1);
}
