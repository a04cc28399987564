/* tile_choice.cu: which tile for which problem: host side of tile.h.
 *
 * Tiles are as large as they can be, for as many multiply-adds a load as registers allow: where they leave too few
 * threads to keep a GPU busy, several share a sum (slices), and only where these are too few as well is the tile
 * smaller. The same for every device, so that results are, too. */
#include "impl_cuda_naive/taps.h"
#include "impl_cuda_naive/tile.h"

/* A large GPU of 132 multiprocessors then has 7 warps each: enough where a thread has many sums to go on with,
 * MANY_SUMS. Where it has few, twice as many threads are better. */
enum { BUSY_THREADS = 30000, SLICED_THREADS = 32768, MANY_SUMS = 32, BLOCK_THREADS = 128, MOST_SLICES = 8 };

/* Computing `channels` at a time wastes what m is not a multiple of; computing few at a time wastes loads. */
static double cost_of(int64_t m, int channels)
{
    return (double)(ceil_div(m, channels) * channels) * (1.0 + 2.0 / channels);
}

int tile_best_channels(int64_t m)
{
    int best = 20;
    if (cost_of(m, 8) < cost_of(m, best)) best = 8;
    if (cost_of(m, 4) < cost_of(m, best)) best = 4;
    return best;
}

/* A slice has eight products of a sum, or more. */
static int64_t most_slices(int64_t products) { return products >= 16 ? smaller(products / 8, MOST_SLICES) : 1; }

/* pixels: written, of all images and classes; products: of one sum. The first of these tiles that keeps a GPU busy, or
 * the smallest. */
static void choose_tile(int64_t m, int64_t groups, int64_t pixels, int64_t products, tile_choice *c)
{
    const int best = tile_best_channels(m);
    const int tiles[4][2] = {{best, 4}, {best, 2}, {best, 1}, {4, 1}};
    for (int i = 0; i < 4; i++) {
        c->channels = tiles[i][0];
        c->pixels = tiles[i][1];
        const int64_t threads = groups * ceil_div(m, c->channels) * ceil_div(pixels, c->pixels);
        if (threads >= ceil_div(BUSY_THREADS, most_slices(products))) break;
    }
}

static int32_t power_of_2_upto(int64_t value, int32_t limit)
{
    int32_t power = 1;
    while (power * 2 <= value && power * 2 <= limit) power *= 2;
    return power;
}

static tile_choice choose(const int64_t *knobs, int64_t m, int64_t groups, int64_t pixels, int64_t products)
{
    tile_choice c = {};
    choose_tile(m, groups, pixels, products, &c);
    if (knobs[NAIVE_KNOB_TILE_CHANNELS] != 0) c.channels = (int32_t)knobs[NAIVE_KNOB_TILE_CHANNELS];
    if (knobs[NAIVE_KNOB_TILE_PIXELS] != 0) c.pixels = (int32_t)knobs[NAIVE_KNOB_TILE_PIXELS];
    const int64_t row_tiles = ceil_div(m, c.channels), threads = groups * row_tiles * ceil_div(pixels, c.pixels);
    const int64_t wanted = c.channels * c.pixels >= MANY_SUMS ? SLICED_THREADS : 2 * SLICED_THREADS;
    c.slices = power_of_2_upto(smaller(wanted / threads, most_slices(products)), MOST_SLICES);
    if (knobs[NAIVE_KNOB_TILE_SLICES] != 0) c.slices = (int32_t)knobs[NAIVE_KNOB_TILE_SLICES];
    c.rows = c.slices > 1 ? 1 : (int32_t)smaller(row_tiles, 4);
    if (knobs[NAIVE_KNOB_TILE_ROWS] != 0) c.rows = (int32_t)knobs[NAIVE_KNOB_TILE_ROWS];
    /* What is left to the problem makes room for what is not. */
    while (knobs[NAIVE_KNOB_TILE_SLICES] == 0 && c.slices > 1 && c.rows * c.slices * 32 > 256) c.slices /= 2;
    c.lanes = BLOCK_THREADS;
    while (c.lanes > 32 && c.lanes * c.rows * c.slices > BLOCK_THREADS) c.lanes /= 2;
    if (knobs[NAIVE_KNOB_TILE_LANES] != 0) c.lanes = (int32_t)knobs[NAIVE_KNOB_TILE_LANES];
    return c;
}

/* The most taps that a class has: the first of them may be any. */
static int64_t most_taps(int64_t taps, int64_t stride, int64_t step)
{
    return ceil_div(taps, taps_dividing<int64_t>(0, step, stride).every);
}

/* How much of the weights is staged at once: all taps of as many channels as fit; if not even one's, fewer taps. */
static void choose_stage(int64_t taps, int64_t k_bytes, int64_t limit, tile_problem *p)
{
    const int64_t rows = k_bytes > 0 && limit > 0 ? limit / k_bytes : 0; /* of one channel and tap */
    int64_t k = smaller(rows / taps, p->k);
    if (k >= 4 && k < p->k) k -= k % 4; /* the inner loop is unrolled by 4 */
    p->stage_k = (int32_t)(k > 0 ? k : 1);
    p->stage_taps = (int32_t)(k > 0 ? taps : smaller(rows, taps));
}

static tile_problem problem_of(const cnn_conv_desc *d, cnn_dir dir)
{
    const conv_shape<int32_t> s = conv_shape_of<int32_t>(d);
    const int32_t w_group = s.group_oc * s.w.k;
    if (dir == CNN_FWD) return {s, false, s.group_oc, s.group_ic, s.x, s.y, s.w.k, s.w.c, w_group, 0, 0, 0};
    return {s, true, s.group_ic, s.group_oc, s.y, s.x, s.w.c, s.w.k, w_group, 0, 0, 0};
}

cnn_status tile_put_block(int32_t lanes, int32_t lines, int32_t slices, int rows, int columns, size_t elem,
                          naive_launch *l, cnn_error *err)
{
    const int most = tile_threads(elem, rows * columns);
    l->block[0] = lanes;
    l->block[1] = lines;
    l->block[2] = slices;
    if (l->block[0] * l->block[1] * l->block[2] <= most) return CNN_OK;
    return CNN_FAIL(err, CNN_UNSUPPORTED,
                    "%s: a block of %d x %d x %d threads; with %d x %d results a thread, %d is the most", l->kernel,
                    lanes, lines, slices, rows, columns, most);
}

cnn_status tile_fit(const cuda_context *context, const cnn_request *r, naive_launch *l, cnn_error *err)
{
    const cnn_conv_desc *d = &r->problem->u.conv;
    const cnn_status status = conv_check_32(l->kernel, "v2", d, err);
    if (status != CNN_OK) return status;
    l->lines = true;
    tile_args args = {problem_of(d, r->dir), {}};
    tile_problem *p = &args.p;
    const bool back = p->backward;
    const int64_t elem = (int64_t)element_size(d);
    const int64_t pixels = back ? d->mb * d->ih * d->iw : d->mb * d->oh * d->ow;
    const int64_t taps = back ? most_taps(d->kh, d->sh, d->dh + 1) * most_taps(d->kw, d->sw, d->dw + 1) : d->kh * d->kw;
    const int64_t class_pixels =
        back ? d->mb * ceil_div(d->ih, d->sh) * ceil_div(d->iw, d->sw) : pixels; /* of the largest class */
    const tile_choice c = args.choice = choose(r->knobs, p->m, d->g, pixels, p->k * taps);
    const int64_t width = (int64_t)c.rows * c.channels, plane = (int64_t)c.lanes * c.rows * c.channels * c.pixels;
    const int64_t reduce = (c.slices - 1) * plane * elem, asked = r->knobs[NAIVE_KNOB_TILE_SHARED];
    choose_stage(taps, width * elem,
                 smaller(asked * 1024, (int64_t)context->properties.sharedMemPerBlockOptin - reduce), p);
    if (p->stage_taps == 0)
        return CNN_FAIL(err, CNN_UNSUPPORTED,
                        "%s: tile.shared_kib = %lld does not hold one tap of one channel for %d channels", l->kernel,
                        (long long)asked, c.rows * c.channels);
    p->row_tiles = (int32_t)ceil_div(p->m, width);
    l->shared_bytes = p->stage_taps * p->stage_k * width * elem + reduce;
    l->grid[1] = d->g * p->row_tiles;
    l->grid[2] = back ? d->sh * d->sw : 1;
    const int64_t resident = context->properties.multiProcessorCount * r->knobs[NAIVE_KNOB_TILE_BLOCKS];
    const int64_t most = resident / (l->grid[1] * l->grid[2]);
    l->grid[0] = smaller(ceil_div(class_pixels, (int64_t)c.lanes * c.pixels), most > 1 ? most : 1);
    naive_put_args(l, args);
    return tile_put_block(c.lanes, c.rows, c.slices, c.channels, c.pixels, (size_t)elem, l, err);
}
