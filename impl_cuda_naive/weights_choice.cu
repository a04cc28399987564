/* weights_choice.cu: which tile for which problem: host side of weights.h.
 *
 * Few pixels: small tiles, many slices, one part, so that a single launch does it. Many: large tiles, and as many parts
 * as it takes to fill a GPU. The same for every device, so that results are, too. */
#include "impl_cuda_naive/tile.h"
#include "impl_cuda_naive/weights.h"

enum { FEW_PIXELS = 2048, BLOCK_THREADS = 256, BUSY_BLOCKS = 512, LEAST_PIXELS = 128 };

static int32_t lanes_for(int64_t columns, int32_t a_thread)
{
    const int64_t lanes = ceil_div(ceil_div(columns, a_thread), 32) * 32;
    return (int32_t)(lanes <= 96 ? lanes : lanes % 96 == 0 ? 96 : 64);
}

/* The block: rows are output channels, m of a group. */
static void choose_block(int64_t m, int64_t columns, int64_t pixels, weights_choice *c)
{
    const bool few = pixels <= FEW_PIXELS;
    c->channels = few ? 4 : tile_best_channels(m);
    c->columns = few || columns < 64 ? 1 : columns < 128 ? 2 : 4;
    c->lanes = few ? 32 : lanes_for(columns, c->columns);
    c->rows = few ? 1 : (int32_t)smaller(ceil_div(m, c->channels), BLOCK_THREADS / c->lanes);
    c->slices = few ? 16 : BLOCK_THREADS / (c->lanes * c->rows);
    if (c->slices > pixels) c->slices = (int32_t)pixels;
}

/* part_bytes: the workspace of a part, of which two are the fewest. */
static weights_choice choose(const int64_t *knobs, int64_t groups, int64_t m, int64_t columns, int64_t pixels,
                             int64_t part_bytes)
{
    weights_choice c = {};
    choose_block(m, columns, pixels, &c);
    if (knobs[NAIVE_KNOB_WEIGHTS_CHANNELS] != 0) c.channels = (int32_t)knobs[NAIVE_KNOB_WEIGHTS_CHANNELS];
    if (knobs[NAIVE_KNOB_WEIGHTS_COLUMNS] != 0) c.columns = (int32_t)knobs[NAIVE_KNOB_WEIGHTS_COLUMNS];
    if (knobs[NAIVE_KNOB_WEIGHTS_LANES] != 0) c.lanes = (int32_t)knobs[NAIVE_KNOB_WEIGHTS_LANES];
    if (knobs[NAIVE_KNOB_WEIGHTS_SLICES] != 0) c.slices = (int32_t)knobs[NAIVE_KNOB_WEIGHTS_SLICES];
    const int64_t tiles =
        groups * ceil_div(m, (int64_t)c.rows * c.channels) * ceil_div(columns, (int64_t)c.lanes * c.columns);
    const int64_t room = (int64_t)(cuda_workspace_limit(knobs) / (size_t)part_bytes);
    const int64_t useful = smaller(room, smaller(BUSY_BLOCKS / tiles, pixels / LEAST_PIXELS));
    const int64_t wanted = pixels <= FEW_PIXELS ? 1 : useful;
    const int64_t splits = knobs[NAIVE_KNOB_WEIGHTS_SPLITS] != 0 ? knobs[NAIVE_KNOB_WEIGHTS_SPLITS] : wanted;
    c.splits = (int32_t)(splits < 1 ? 1 : smaller(splits, pixels));
    return c;
}

cnn_status weights_fit(const cnn_conv_desc *d, const int64_t *knobs, const char *instead, naive_launch *l,
                       cnn_error *err)
{
    const cnn_status status = conv_check_32(l->kernel, instead, d, err);
    if (status != CNN_OK) return status;
    const int64_t elem = (int64_t)element_size(d);
    weights_args args = {};
    weights_problem *p = &args.p;
    p->s = conv_shape_of<int32_t>(d);
    p->columns = p->s.group_ic * p->s.kh * p->s.kw;
    p->all_columns = p->columns + (d->bias ? 1 : 0);
    p->pixels = d->mb * d->oh * d->ow;
    p->results = d->oc * p->all_columns;
    weights_choice c = choose(knobs, d->g, p->s.group_oc, p->all_columns, p->pixels, p->results * elem);
    const int64_t width = (int64_t)c.rows * c.channels, plane = (int64_t)c.lanes * c.rows * c.channels * c.columns;
    p->row_tiles = (int32_t)ceil_div(p->s.group_oc, width);
    p->a_split = ceil_div(p->pixels, c.splits);
    p->chunk = (int32_t)smaller(knobs[NAIVE_KNOB_WEIGHTS_CHUNK], p->a_split);
    c.splits = (int32_t)ceil_div(p->pixels, p->a_split); /* none of them empty */
    args.choice = c;
    naive_put_args(l, args);
    l->shared_bytes = (p->chunk * width + (c.slices - 1) * plane) * elem;
    l->workspace_bytes = c.splits > 1 ? (size_t)(c.splits * p->results * elem) : 0;
    l->grid[0] = ceil_div(p->all_columns, (int64_t)c.lanes * c.columns);
    l->grid[1] = d->g * p->row_tiles;
    l->grid[2] = c.splits;
    return tile_put_block(c.lanes, c.rows, c.slices, c.channels, c.columns, (size_t)elem, l, err);
}
