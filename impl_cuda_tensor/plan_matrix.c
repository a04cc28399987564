/* plan_matrix.c: which convolutions are products of matrices (matrix.cu), and how those are cut into tiles. */
#include "harness/cnn/half.h"
#include "impl_cuda_tensor/matrix.h"
#include "impl_cuda_tensor/plan.h"

/* Of one tap, which stands where its output pixel does; channels in 16 bytes, as copies want it, and where they lie in
 * planes, these as well. */
static bool is_matrix(const cnn_conv_desc *d, bool planes)
{
    const bool one_tap = d->kh * d->kw == 1 && d->sh == 1 && d->sw == 1 && d->ph == 0 && d->pw == 0;
    return one_tap && d->g == 1 && (!planes || d->ih * d->iw % 8 == 0) && d->oh == d->ih && d->ow == d->iw &&
           d->ic % 8 == 0 && d->oc % 8 == 0 && cnn_is_half(cnn_part_dtype(d->t.dtype, CNN_PART_FACTOR));
}

/* Tiles of NCHW are those of an image, of FWD and BWD_D, for each image. */
static void put_tiles(cutensor_matrix *g, int32_t high, int32_t wide)
{
    const bool images = g->plane > 0 && g->dir != CNN_BWD_W;
    g->high = high;
    g->wide = wide;
    g->across = (int32_t)(images ? ceil_div(g->m, high) : ceil_div(g->n, wide));
    g->image_tiles = (int32_t)ceil_div(g->n, wide);
    g->tiles = (int32_t)(images ? (int64_t)g->images * g->image_tiles : ceil_div(g->m, high)) * g->across;
}

/* Clocks of the busiest multiprocessor (estimated): a step takes its products, 2048 a clock, or its bytes, 26 a clock
 * where all multiprocessors load and 64 where few do; a tile 800 more. */
static double cost_of(const cutensor_matrix *g, int64_t sms)
{
    const double busy = (double)smaller(g->tiles, sms), products = (double)g->high * g->wide * 64 / 2048;
    const double bytes = (double)(g->high + g->wide) * 128, rate = 26.0 * (double)sms / busy;
    const double load = bytes / (rate < 64 ? rate : 64);
    return (double)ceil_div(g->tiles, sms) * (g->steps * (products > load ? products : load) + 800);
}

/* Few tiles of long sums leave most of the device idle, where the other kernels share out a tile's sums. */
static bool busies(const cutensor_matrix *g, int64_t sms) { return g->tiles * 4 >= sms || g->steps <= 32; }

/* Of NCHW a tile of 64 channels takes more pixels instead. */
static void choose_forward(cutensor_matrix *g, int64_t sms)
{
    const bool few = g->plane > 0 && g->m <= 64;
    cutensor_matrix other = *g;
    put_tiles(g, few ? 64 : 128, 128);
    if (g->plane > 0 && !few) return;
    put_tiles(&other, few ? 64 : 128, few ? 256 : 64);
    if (cost_of(&other, sms) < cost_of(g, sms)) *g = other;
}

/* Of a tile's steps, a block has four at least. */
static void choose_weights(cutensor_matrix *g, int64_t sms)
{
    if (g->m <= 64)
        put_tiles(g, 64, g->n <= 128 ? 128 : 256);
    else
        put_tiles(g, 128, g->n <= 64 ? 64 : 128);
    const int64_t most = smaller(sms / g->tiles, ceil_div(g->steps, 4));
    g->splits = most > 1 ? (int32_t)most : 1;
}

/* As many steps under way as there is room for. */
static void put_blocks(const cuda_context *c, cutensor_matrix *g)
{
    const int64_t room = (int64_t)c->properties.sharedMemPerBlockOptin - 1024 - 2 * MATRIX_STEPS * 8;
    g->depth = (int32_t)smaller(MATRIX_STEPS, room / matrix_step_bytes(g));
    g->blocks = (int32_t)smaller((int64_t)g->tiles * g->splits, c->properties.multiProcessorCount);
}

bool cutensor_plan_matrix(const cuda_context *c, const cnn_request *r, const cnn_conv_desc *d, cutensor_plan *m)
{
    const int64_t wish = r->knobs[CUTENSOR_KNOB_MATRIX], sms = c->properties.multiProcessorCount;
    const int32_t plane = (int32_t)(d->oh * d->ow), ic = (int32_t)d->ic, oc = (int32_t)d->oc;
    const bool planes = d->t.layout == CNN_NCHW && plane > 1, backward = r->dir == CNN_BWD_D;
    cutensor_matrix *g = &m->matrix;
    if (wish == 0 || !is_matrix(d, planes) || !cutensor_can_map()) return false;
    const int32_t pixels = planes ? plane : (int32_t)d->mb * plane, out = backward ? ic : oc, in = backward ? oc : ic;
    *g = (cutensor_matrix){.dir = r->dir, .m = pixels, .n = out, .k = in, .splits = 1};
    if (planes) g->m = out, g->n = pixels, g->images = (int32_t)d->mb, g->plane = plane;
    if (r->dir == CNN_BWD_W) g->m = oc, g->n = ic, g->k = pixels;
    g->has_bias = d->bias && r->dir == CNN_FWD;
    g->image_steps = g->steps = (int32_t)ceil_div(g->k, MATRIX_SIDE);
    if (planes && r->dir == CNN_BWD_W) g->steps *= g->images;
    if (r->dir == CNN_BWD_W)
        choose_weights(g, sms);
    else
        choose_forward(g, sms);
    put_blocks(c, g);
    return wish == 1 || r->dir == CNN_BWD_W || busies(g, sms);
}
