/* plan_gradient_boxes.c: BWD_W of f32 as products of boxes (gradient_boxes.cu): tiles, and who shares them. */
#include "harness/cnn/half.h"
#include "impl_cuda_tensor/gradient_boxes.h"
#include "impl_cuda_tensor/plan.h"

#include <math.h>

typedef struct tile_row {
    int parts, high, wide;
} tile_row;
static const tile_row tile_rows[] = {
#define TILE(PARTS, U, WIDE) {PARTS, (U)*128, WIDE},
#include "gradient_tiles.inc"
#undef TILE
};

enum { CHANNELS_ENOUGH = 64, TAPS_MOST = 128 };

/* The factor with more channels is A. Of several taps those of x stand side by side, each in whole boxes, so that a
 * tile may have several; where channels are few, those of all taps count. `apart`: numbers from pixel to pixel of x. */
static cutensor_product product_of(const cnn_conv_desc *d, int32_t source, int64_t apart)
{
    const bool planes = source == CUTENSOR_PLANES;
    const int64_t taps = source == CUTENSOR_TAPS ? d->kh * d->kw : 1, boxes = ceil_div(d->ic, CUTENSOR_BOX_PIXELS);
    const int64_t of_x = taps > 1 ? taps * boxes * CUTENSOR_BOX_PIXELS : d->ic;
    const bool few = smaller(d->ic, d->oc) < CHANNELS_ENOUGH, a_is_x = (few ? of_x : d->ic) >= d->oc;
    cutensor_product g = {.source = source,
                          .parts = d->t.math == CNN_MATH_TF32 ? 1 : 2,
                          .a_is_x = a_is_x,
                          .m = (int32_t)(a_is_x ? of_x : d->oc),
                          .n = (int32_t)(a_is_x ? d->oc : of_x),
                          .ic = (int32_t)d->ic,
                          .oc = (int32_t)d->oc,
                          .taps = (int32_t)taps,
                          .reversed = d->flip,
                          .apart = (int32_t)apart,
                          .bias_row = d->bias ? (int32_t)ceil_div(d->oc, 4) * 4 : 0,
                          .images = planes ? (int32_t)d->mb : 1,
                          .plane = (int32_t)(d->oh * d->ow * (planes ? 1 : d->mb)),
                          .by_boxes = cuda_divide_by(boxes)};
    if (source == CUTENSOR_TAPS) g.window = cutensor_window_of(d, false);
    const int64_t image_steps = ceil_div(g.plane, CUTENSOR_BOX_PIXELS);
    g.by_image_steps = cuda_divide_by(image_steps);
    g.steps = (int32_t)(image_steps * g.images);
    return g;
}

static void put_tile(const tile_row *t, int64_t room, cutensor_product *g)
{
    const int32_t step = product_step_bytes(t->high, t->wide), fixed = product_fixed_bytes(t->wide, g->parts);
    g->high = t->high;
    g->wide = t->wide;
    g->across = (int32_t)ceil_div(g->n, t->wide);
    g->tiles = (int32_t)(ceil_div(g->m, t->high) * g->across);
    g->depth = (int32_t)smaller(PRODUCT_STEPS, (room - fixed) / step);
    g->shared_bytes = fixed + g->depth * step;
}

enum { PRODUCTS_A_CLOCK = 820, BYTES_A_CLOCK = 31, BYTES_ALONE = 64, CHANNEL_CLOCKS = 9 };
enum { STEP_CLOCKS = 300, BLOCK_CLOCKS = 2500 }; /* of f32, a step for each 128 channels of A */

/* Clocks of the busiest multiprocessor: a step takes its products, or its bytes, or as long as B is laid out, and then
 * 300 to be passed on; a block begins and ends; its sums are written, and read once more. Measured on an H200: boxes
 * come at 31 bytes a clock to each of all multiprocessors; B's 64 channels are laid out in 570 clocks, TF32; a step of
 * f32, of 128 by 64 channels, takes 1290 clocks, 330 more than its products. The rest is estimated. */
static double product_cost(const cutensor_product *g, int64_t sms)
{
    const int64_t blocks = (int64_t)g->tiles * g->splits;
    const double busy = (double)smaller(blocks, sms), all = BYTES_A_CLOCK * (double)sms, rate = all / busy;
    const double products = (double)g->high * g->wide * 32 * (g->parts == 2 ? 3 : 1) / PRODUCTS_A_CLOCK;
    const double load = product_step_bytes(g->high, g->wide) / (rate < BYTES_ALONE ? rate : BYTES_ALONE);
    const double lays_out = (double)g->wide * CHANNEL_CLOCKS * (g->parts == 2 ? 1.5 : 1);
    const double step = fmax(fmax(products, load), lays_out) + STEP_CLOCKS * (g->parts == 2 ? g->high / 128.0 : 1);
    const double steps = (double)ceil_div(g->steps, g->splits), sums = (double)blocks * g->high * g->wide * 4;
    return (double)ceil_div(blocks, sms) * (steps * step + BLOCK_CLOCKS) +
           (g->splits > 1 || g->taps > 1 ? 2 : 1) * sums / all;
}

/* A block has four steps at least; all blocks run at once, where there are several a tile, or in few rounds. */
enum { ROUNDS = 4 };
static void choose_splits(int64_t sms, cutensor_product *g)
{
    const int64_t most = smaller((g->taps > 1 ? ROUNDS : 1) * sms / g->tiles, g->steps / 4);
    cutensor_product best = *g;
    best.splits = 1;
    for (int32_t splits = 2; splits <= most; splits++) {
        g->splits = splits;
        if (product_cost(g, sms) < product_cost(&best, sms)) best = *g;
    }
    *g = best;
}

/* By the problem, wherever it can. Measured on an H200, NHWC, in microseconds, by patches or gathered, and as boxes:
 * 3x3 of 64, 128, 256 and 512 channels, ResNet-50's, mb32, f32 94 92 88 91 and 87 68 75 96, TF32 63 60 60 65 and 54 43
 * 39 52; mb8, f32 38 35 40 41 and 30 25 27 40, TF32 27 26 31 32 and 23 20 19 25; one image, f32 19 19 24 24 and 11 10
 * 11 19, TF32 17 17 23 22 and 10 9 9 15; with stride 2, 128 to 512, mb32, f32 193 147 141 and 69 77 99, TF32 135 122
 * 117 and 43 39 54. Of 16 to 16, 32 to 32 and 64 to 64 channels at 32x32, 16x16 and 8x8, mb125, f32 106 38 21 and 67 26
 * 15, TF32 70 28 18 and 56 21 13. ResNet-50's first layer, its rows folded, mb32, TF32 466 and 123. */
static bool takes_taps(const cnn_request *r, const cnn_conv_desc *d)
{
    const bool rows = d->t.layout == CNN_NHWC && d->g == 1 && (d->ic | d->oc) % 4 == 0;
    const cutensor_window w = cutensor_window_of(d, false);
    return r->knobs[CUTENSOR_KNOB_MATRIX] != 0 && rows && d->kh * d->kw <= TAPS_MOST &&
           !cnn_is_half(cnn_part_dtype(d->t.dtype, CNN_PART_FACTOR)) && cutensor_taps_follow(&w);
}

static int32_t source_of(const cnn_request *r, const cnn_conv_desc *d, bool folded)
{
    if (r->dir != CNN_BWD_W) return CUTENSOR_PATCHES;
    const int32_t source = folded ? CUTENSOR_PATCHES : cutensor_boxes_of(r->knobs, d, r->dir);
    return source == CUTENSOR_PATCHES && takes_taps(r, d) ? CUTENSOR_TAPS : source;
}

/* By the problem, f32 of which a patch serves all taps is left to that where blocks run in rounds, long ones, of which
 * the last is not full. Measured on an H200, NHWC, 512 channels at 7x7, by patches and as boxes: mb32 90 and 94 us,
 * mb16 58 and 60; mb8 41 and 40. */
enum { LONG_STEPS = 24 };
static bool waits(const cutensor_product *g, int64_t sms)
{
    const int64_t rounds = ceil_div((int64_t)g->tiles * g->splits, sms);
    const double busiest = (double)rounds * (double)ceil_div(g->steps, g->splits);
    return rounds > 1 && g->steps >= LONG_STEPS && busiest * (double)sms > 1.2 * (double)g->tiles * g->steps;
}
static bool is_for_patches(const cnn_request *r, const cnn_conv_desc *d, const cutensor_product *g, int64_t sms)
{
    const bool asked = r->knobs[CUTENSOR_KNOB_MATRIX] == 1, strided = d->sh * d->sw > 1;
    return !asked && g->source == CUTENSOR_TAPS && g->parts == 2 && !strided && waits(g, sms);
}

bool cutensor_plan_product(const cuda_context *c, const cnn_request *r, const cnn_conv_desc *d, bool folded,
                           cutensor_product *g)
{
    const int64_t sms = c->properties.multiProcessorCount, room = (int64_t)c->properties.sharedMemPerBlockOptin;
    const int32_t source = source_of(r, d, folded);
    if (source == CUTENSOR_PATCHES) return false;
    *g = (cutensor_product){.depth = 0};
    for (size_t i = 0; i < sizeof tile_rows / sizeof *tile_rows; i++) {
        cutensor_product one = product_of(d, source, folded ? 4 : d->ic);
        if (tile_rows[i].parts != one.parts) continue;
        put_tile(&tile_rows[i], room, &one);
        choose_splits(sms, &one);
        if (one.depth >= 2 && (g->depth == 0 || product_cost(&one, sms) < product_cost(g, sms))) *g = one;
    }
    return g->depth > 0 && !is_for_patches(r, d, g, sms);
}
