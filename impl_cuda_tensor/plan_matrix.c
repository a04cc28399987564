/* plan_matrix.c: which convolutions are products of matrices (matrix.cu), and how those are cut into tiles. */
#include "harness/cnn/half.h"
#include "impl_cuda_tensor/matrix.h"
#include "impl_cuda_tensor/plan.h"

/* Of one tap, which stands where its output pixel does; in memory by pixels; channels in 16 bytes, as copies want it.
 */
static bool is_matrix(const cnn_conv_desc *d)
{
    const bool one_tap = d->kh * d->kw == 1 && d->sh == 1 && d->sw == 1 && d->ph == 0 && d->pw == 0;
    return one_tap && d->g == 1 && (d->t.layout == CNN_NHWC || d->ih * d->iw == 1) && d->oh == d->ih &&
           d->ow == d->iw && d->ic % 8 == 0 && d->oc % 8 == 0 &&
           cnn_is_half(cnn_part_dtype(d->t.dtype, CNN_PART_FACTOR));
}

static void put_tiles(cutensor_matrix *g, int32_t high, int32_t wide)
{
    g->high = high;
    g->wide = wide;
    g->across = (int32_t)ceil_div(g->n, wide);
    g->tiles = (int32_t)(ceil_div(g->m, high) * g->across);
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

static void choose_forward(cutensor_matrix *g, int64_t sms)
{
    cutensor_matrix narrow = *g;
    put_tiles(&narrow, 128, 64);
    put_tiles(g, 128, 128);
    if (cost_of(&narrow, sms) < cost_of(g, sms)) *g = narrow;
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
    const int32_t pixels = (int32_t)(d->mb * d->oh * d->ow), ic = (int32_t)d->ic, oc = (int32_t)d->oc;
    cutensor_matrix *g = &m->matrix;
    if (wish == 0 || !is_matrix(d) || !cutensor_can_map()) return false;
    *g = (cutensor_matrix){.dir = r->dir, .m = pixels, .n = oc, .k = ic, .splits = 1};
    if (r->dir == CNN_BWD_D) g->n = ic, g->k = oc;
    if (r->dir == CNN_BWD_W) g->m = oc, g->n = ic, g->k = pixels;
    g->has_bias = d->bias && r->dir == CNN_FWD;
    g->steps = (int32_t)ceil_div(g->k, MATRIX_SIDE);
    if (r->dir == CNN_BWD_W)
        choose_weights(g, sms);
    else
        choose_forward(g, sms);
    put_blocks(c, g);
    return wish == 1 || r->dir == CNN_BWD_W || busies(g, sms);
}
