/* plan_boxes.c: which convolutions of f32 read their pixels as boxes (forward_boxes.h), and what their tiles cost. */
#include "harness/cnn/half.h"
#include "impl_cuda_tensor/forward.h"
#include "impl_cuda_tensor/plan.h"
#include "impl_cuda_tensor/tensor.h"

/* Of one tap, which stands where its output pixel does. */
static bool is_product(const cnn_conv_desc *d)
{
    const bool one_tap = d->kh * d->kw == 1 && d->sh == 1 && d->sw == 1 && d->ph == 0 && d->pw == 0;
    return one_tap && d->g == 1 && d->oh == d->ih && d->ow == d->iw &&
           !cnn_is_half(cnn_part_dtype(d->t.dtype, CNN_PART_FACTOR));
}

/* Copies want rows of channels, or an image's pixels, in 16 bytes. BWD_W copies both tensors, and stores channels in
 * pairs. Of NCHW, by the problem, where images have no more than a third of positions without a pixel. */
int32_t cutensor_boxes_of(const int64_t *knobs, const cnn_conv_desc *d, cnn_dir dir)
{
    const int64_t wish = knobs[CUTENSOR_KNOB_MATRIX], plane = d->ih * d->iw, both = d->ic | d->oc;
    const int64_t channels = dir == CNN_FWD ? d->ic : dir == CNN_BWD_D ? d->oc : both;
    if (wish == 0 || !is_product(d) || !cutensor_can_map()) return CUTENSOR_PATCHES;
    if (d->t.layout == CNN_NHWC || plane == 1) return channels % 4 == 0 ? CUTENSOR_ROWS : CUTENSOR_PATCHES;
    const bool filled = cutensor_positions(plane) * 3 <= plane * 4, pairs = dir != CNN_BWD_W || both % 2 == 0;
    return plane % 4 == 0 && pairs && (filled || wish == 1) ? CUTENSOR_PLANES : CUTENSOR_PATCHES;
}

/* Along an axis: what a map of taps can say of it (PTX ISA: strides of 3 bits, bounds and distances of 8). */
static bool can_say(int32_t in, int32_t out, int32_t pad, int32_t mul, int32_t reach)
{
    const int64_t above = (int64_t)(out - 1) * mul - pad - (in - 1);
    return mul <= 8 && pad <= 128 && pad >= -127 && above >= -128 && above <= 127 && reach <= 255;
}

bool cutensor_taps_follow(const cutensor_window *w)
{
    return w->div_h == 1 && w->div_w == 1 && can_say(w->ih, w->oh, w->pad_h, w->mul_h, (w->kh - 1) * w->step_h) &&
           can_say(w->iw, w->ow, w->pad_w, w->mul_w, (w->kw - 1) * w->step_w) && cutensor_can_map();
}

/* Measured on an H200, FWD, NHWC, in microseconds, without boxes of taps and with them. Of the six layers of ResNet-50
 * with stride 2, mb32: f32 111 112 125 101 99 114 and 68 67 87 67 63 77, TF32 73 77 91 68 72 82 and 36 48 47 36 30 41.
 * Where a patch serves all of nine taps, 64 to 512 channels, mb32: f32 70 63 63 77 and 67 66 66 86, TF32 38 28 31 48
 * and 40 34 47 50; mb1, where few tiles are shared, of which nine times as many pieces can be dealt out: f32 18 17 20
 * 27 and 12 14 19 30, TF32 13 15 18 25 and 12 14 17 28. BWD_D of 1x1 with stride 2, TF32, mb32: 80 62 73 and 57 48 65.
 * Rows of few channels that fold.cu made one tap, ResNet-50's first layer, mb32: f32 239 and 133, TF32 221 and 102. */
enum { SHARED_CHUNKS = 8 };
bool cutensor_boxes_of_taps(const int64_t *knobs, const cutensor_forward *f, bool patched, bool shared)
{
    const int64_t wish = knobs[CUTENSOR_KNOB_MATRIX];
    const bool rows = f->in.together == 4, folded = f->in.pixel < f->in.channels / 4; /* f32 in NHWC */
    const bool gains = !patched || folded || f->taps == 1 || (shared && f->chunks <= SHARED_CHUNKS);
    if (wish == 0 || (wish == 2 && !gains) || f->source != CUTENSOR_PATCHES) return false;
    return f->groups == 1 && rows && cutensor_taps_follow(&f->window);
}

enum { PRODUCTS_A_CLOCK = 820 }; /* of the 1024 that there are: assumed */

/* Clocks of the busiest multiprocessor (estimated, not measured): a step takes its products, 820 a clock, or its
 * bytes, 26 a clock where all multiprocessors load and 64 where few do; a tile is stored at the same rate, and 800 more
 * go by. Of a tile that is dealt out in pieces all blocks leave their sums, and the first reads those of the others. */
static double rate_of(const cutensor_boxes *w, int64_t units)
{
    const double rate = 26.0 * (double)w->sms / (double)smaller(units, w->sms);
    return rate < 64 ? rate : 64;
}
double cutensor_boxes_step(const cutensor_boxes *w, int64_t units)
{
    const double each = rate_of(w, units), bytes = (double)(w->tall + w->wide * w->parts) * 128;
    const double products = (double)(w->tall * w->wide * (w->parts == 2 ? 3 : 1)) * 32 / PRODUCTS_A_CLOCK;
    return products > bytes / each ? products : bytes / each;
}
double cutensor_boxes_cost(const cutensor_boxes *w, bool split)
{
    const int64_t units = split ? w->tiles * w->pieces : w->tiles, most = ceil_div(units, w->sms);
    const double each = rate_of(w, units), sums = (double)(w->tall * w->wide) * 4;
    const double step = cutensor_boxes_step(w, units), tile = sums / each + 800;
    if (!split) return (double)most * ((double)w->pieces * step + tile);
    const double sharing = (double)w->pieces / (double)most + 1; /* blocks of a tile */
    return (double)most * step + (double)(ceil_div(most, w->pieces) + 1) * tile + sharing * sums / each + 2000;
}

/* ---- Weights that stay in shared memory */

/* As many boxes a warpgroup as there is room for. Where its channels take several turns, a line's boxes stay for all of
 * them, and there is one more for the next line. */
static bool keep_fits(int64_t room, int32_t parts, cutensor_forward *f)
{
    const int64_t tiles = (int64_t)f->group_tiles * f->chunks, bytes = forward_step_bytes(FORWARD_KEEP_WIDE, parts);
    if (tiles > FORWARD_KEEP_TILES) return false;
    const int64_t left = room - forward_keep_fixed_bytes() - tiles * bytes;
    f->buffers = (int32_t)smaller(FORWARD_PATCHES, left / (FORWARD_KEEP_WARPGROUPS * (int64_t)f->buffer_bytes));
    return f->buffers >= 2 && (f->group_tiles == 1 || f->chunks < f->buffers);
}

/* As cutensor_boxes_cost(); one warpgroup stores while another multiplies. */
static double keep_cost(const cutensor_forward *f, int32_t parts, int64_t sms)
{
    const int64_t lines = ceil_div(f->pixels, FORWARD_KEEP_TALL),
                  rounds = ceil_div(lines, sms * FORWARD_KEEP_WARPGROUPS);
    const double pixels = (double)rounds * FORWARD_KEEP_WARPGROUPS * FORWARD_KEEP_TALL;
    const double tiles = (double)f->group_tiles * f->chunks, tile = forward_step_bytes(FORWARD_KEEP_WIDE, parts);
    const double products = pixels * FORWARD_KEEP_WIDE * tiles * (parts == 2 ? 3 : 1) * 32 / PRODUCTS_A_CLOCK;
    const double bytes = pixels * (128.0 * f->chunks + 4.0 * f->group_tiles * FORWARD_KEEP_WIDE) + tiles * tile;
    const double last = FORWARD_KEEP_WARPGROUPS * FORWARD_KEEP_TALL * FORWARD_KEEP_WIDE * 4 / 26.0;
    return (products > bytes / 26 ? products : bytes / 26) + last + 800;
}

bool cutensor_plan_keep(const cuda_context *c, const int64_t *knobs, int32_t parts, double cost, cutensor_forward *f)
{
    const int64_t wish = knobs[CUTENSOR_KNOB_KEEP], sms = c->properties.multiProcessorCount;
    cutensor_forward kept = *f;
    if (wish == 0 || f->source == CUTENSOR_PATCHES || f->source == CUTENSOR_TAPS) return false;
    kept.high = FORWARD_KEEP_TALL;
    kept.wide_tile = FORWARD_KEEP_WIDE;
    kept.group_tiles = (int32_t)ceil_div(f->oc, FORWARD_KEEP_WIDE);
    kept.by_tiles = kept.by_group_tiles = cuda_divide_by(kept.group_tiles);
    kept.buffer_bytes = FORWARD_KEEP_TALL * CUTENSOR_ROW_BYTES;
    if (!keep_fits((int64_t)c->properties.sharedMemPerBlockOptin, parts, &kept)) return false;
    if (wish == 2 && keep_cost(&kept, parts, sms) >= cost) return false;
    kept.keeps = true;
    *f = kept;
    return true;
}
