/* plan.c: how a convolution is cut into work, from the problem, the knobs and the device: windows, tiles, pieces, and
 * what lies where in the workspace. */
#include "impl_cuda_tensor/plan.h"
#include "harness/cnn/half.h"
#include "harness/cnn/shape.h"
#include "impl_cuda_tensor/forward.h"
#include "impl_cuda_tensor/gradient.h"

#include <limits.h>
#include <math.h>

enum { AREA_ALIGN = 1024 };

cnn_conv_desc cutensor_conv_of(const cnn_problem *problem)
{
    if (problem->op != CNN_OP_FC) return problem->u.conv;
    cnn_conv_desc d = cnn_fc_as_conv(&problem->u.fc);
    if (d.t.layout == CNN_NHWC) return d;
    d.ic *= d.ih * d.iw; /* an image is its own pixel, its elements the channels */
    d.ih = d.iw = d.kh = d.kw = 1;
    d.t.layout = CNN_NHWC;
    return d;
}

/* ---- What is refused: sizes that 32 bits do not count. */

static cnn_status check_count(const char *what, double count, cnn_error *err)
{
    if (count <= INT_MAX) return CNN_OK;
    return CNN_FAIL(err, CNN_UNSUPPORTED, "%.0f %s: this algorithm counts to %d; take a smaller batch", count, what,
                    INT_MAX);
}

static cnn_status check_sizes(const cnn_conv_desc *d, cnn_error *err)
{
    const double n = (double)d->mb, reach_h = (double)(d->kh - 1) * (double)(d->dh + 1),
                 reach_w = (double)(d->kw - 1) * (double)(d->dw + 1);
    const double high = (double)d->oh * (double)d->sh + (double)d->ih + reach_h + (double)d->ph;
    const double wide = (double)d->ow * (double)d->sw + (double)d->iw + reach_w + (double)d->pw;
    const double channels = (double)(d->ic > d->oc ? d->ic : d->oc) + 3.0 * (double)d->g + 256;
    cnn_status status = check_count("pixels with their padding", n * high * wide, err);
    if (status == CNN_OK)
        status = check_count("weights with their padding",
                             channels * channels * (double)d->kh * (double)d->kw / (double)d->g, err);
    if (status == CNN_OK)
        status = check_count("places of 4 channels", n * (double)d->ih * (double)d->iw * channels / 4, err);
    if (status == CNN_OK)
        status = check_count("places of 4 channels", n * (double)d->oh * (double)d->ow * channels / 4, err);
    return status;
}

/* ---- Windows */

void cutensor_window_divisors(cutensor_window *w)
{
    w->high = (w->oh - 1) * w->mul_h + (w->kh - 1) * w->step_h + 1;
    w->wide = (w->ow - 1) * w->mul_w + (w->kw - 1) * w->step_w + 1;
    w->by_plane = cuda_divide_by((int64_t)w->oh * w->ow);
    w->by_ow = cuda_divide_by(w->ow);
    w->by_high = cuda_divide_by(w->high);
    w->by_wide = cuda_divide_by(w->wide);
    w->by_kw = cuda_divide_by(w->kw);
    w->by_div_h = cuda_divide_by(w->div_h);
    w->by_div_w = cuda_divide_by(w->div_w);
}

cutensor_window cutensor_window_of(const cnn_conv_desc *d, bool backward)
{
    cutensor_window w = {
        .kh = (int32_t)d->kh, .kw = (int32_t)d->kw, .step_h = (int32_t)d->dh + 1, .step_w = (int32_t)d->dw + 1};
    if (backward) { /* from dx to dy, taps in reverse */
        w.oh = (int32_t)d->ih, w.ow = (int32_t)d->iw, w.ih = (int32_t)d->oh, w.iw = (int32_t)d->ow;
        w.mul_h = w.mul_w = 1;
        w.div_h = (int32_t)d->sh, w.div_w = (int32_t)d->sw;
        w.pad_h = (w.kh - 1) * w.step_h - (int32_t)d->ph, w.pad_w = (w.kw - 1) * w.step_w - (int32_t)d->pw;
    } else {
        w.oh = (int32_t)d->oh, w.ow = (int32_t)d->ow, w.ih = (int32_t)d->ih, w.iw = (int32_t)d->iw;
        w.mul_h = (int32_t)d->sh, w.mul_w = (int32_t)d->sw;
        w.div_h = w.div_w = 1;
        w.pad_h = (int32_t)d->ph, w.pad_w = (int32_t)d->pw;
    }
    cutensor_window_divisors(&w);
    return w;
}

static int64_t row_of_pixel(const cutensor_window *w, int64_t m)
{
    const int64_t plane = (int64_t)w->oh * w->ow, n = m / plane, r = m % plane;
    return (n * w->high + r / w->ow * w->mul_h) * w->wide + r % w->ow * w->mul_w;
}

/* The most rows of a patch of `tall` neighbouring output pixels, which begin at any multiple of `each`. */
static int64_t patch_rows(const cutensor_window *w, int64_t pixels, int64_t tall, int64_t each)
{
    const int64_t reach = (int64_t)(w->kh - 1) * w->step_h * w->wide + (int64_t)(w->kw - 1) * w->step_w;
    const int64_t period = (int64_t)w->oh * w->ow * each; /* then they begin at the same places of an image again */
    int64_t most = 0;
    for (int64_t m = 0; m < smaller(pixels, period); m += each) {
        const int64_t rows = row_of_pixel(w, smaller(m + tall, pixels) - 1) - row_of_pixel(w, m) + reach + 1;
        if (rows > most) most = rows;
        if (most > CUTENSOR_PATCH_MOST) break;
    }
    return most;
}

/* ---- Tensors */

/* Of x, w and dy. */
static bool has_half(const cnn_conv_desc *d) { return cnn_is_half(cnn_part_dtype(d->t.dtype, CNN_PART_FACTOR)); }
static int32_t number_bytes(const cnn_conv_desc *d) { return has_half(d) ? 2 : 4; }
/* An f32 is one part or two. */
static int parts_of(const cnn_conv_desc *d) { return has_half(d) || d->t.math == CNN_MATH_TF32 ? 1 : 2; }

/* `pixels`: of an image. */
static cutensor_input input_of(const cnn_conv_desc *d, int64_t group_channels, int64_t pixels)
{
    const int64_t channels = group_channels * d->g;
    const bool planes = d->t.layout == CNN_NCHW && pixels > 1;
    const int64_t most = 16 / number_bytes(d), together = !planes && group_channels % most == 0 ? most : 0;
    const int64_t pixel = planes ? 1 : together ? channels / together : channels, places = d->mb * pixels * channels;
    return (cutensor_input){.together = (int32_t)together,
                            .channels = (int32_t)group_channels,
                            .pixel = (int32_t)pixel,
                            .channel = (int32_t)(planes ? pixels : 1),
                            .rest = (int32_t)(planes ? (channels - 1) * pixels : 0),
                            .all = (int32_t)smaller(together ? places / together : places, INT_MAX),
                            .by_plane = cuda_divide_by(pixels)};
}

/* x as it is read: of pixels that overlap, where it was folded. */
static cutensor_input input_as_read(const cutensor_plan *m, const cnn_conv_desc *d, int64_t group_channels,
                                    int64_t pixels)
{
    cnn_conv_desc in = *d;
    if (m->fold.places > 0) in.t.layout = CNN_NHWC;
    cutensor_input as_read = input_of(&in, group_channels, pixels);
    if (m->fold.places > 0) as_read.pixel = 1, as_read.all = m->fold.places;
    return as_read;
}

/* check_sizes() has counted fours. */
static cnn_status check_input(const cnn_conv_desc *d, const cutensor_input *in, int64_t pixels, cnn_error *err)
{
    const double places = (double)d->mb * (double)pixels * (double)in->channels * (double)d->g;
    return check_count("numbers whose channels do not lie in 16 bytes", in->together ? 0 : places, err);
}

size_t cutensor_area(cutensor_plan *m, size_t bytes)
{
    const size_t at = m->bytes;
    m->bytes += (bytes + AREA_ALIGN - 1) / AREA_ALIGN * AREA_ALIGN;
    return at;
}

/* ---- Precision */

/* Of the sums that have any terms, the fewest along one axis: over the outputs, or (BWD_W) over the taps. */
static int64_t fewest(int64_t i, int64_t o, int64_t k, int64_t s, int64_t p, int64_t step, cnn_dir dir)
{
    int64_t least = INT64_MAX;
    const int64_t sums = dir == CNN_FWD ? o : dir == CNN_BWD_D ? i : k, terms = dir == CNN_BWD_W ? o : k;
    for (int64_t a = 0; a < sums; a++) {
        int64_t count = 0;
        for (int64_t b = 0; b < terms; b++) {
            if (dir == CNN_BWD_D) {
                const int64_t at = a + p - b * step;
                count += at >= 0 && at % s == 0 && at / s < o;
            } else {
                const int64_t at = (dir == CNN_FWD ? a * s + b * step : b * s + a * step) - p;
                count += at >= 0 && at < i;
            }
        }
        if (count > 0) least = smaller(least, count);
    }
    return least == INT64_MAX ? 1 : least;
}

/* Whether results of f32 are better off without the tensor cores: see few.cu. */
enum { TERMS_ENOUGH = 16 };
static bool has_few_terms(const cnn_conv_desc *d, cnn_dir dir)
{
    const int64_t with = dir == CNN_BWD_W ? d->mb : (dir == CNN_FWD ? d->ic : d->oc) / d->g;
    if (d->t.math == CNN_MATH_TF32 || cnn_is_half(d->t.dtype) || with >= TERMS_ENOUGH) return false;
    return with * fewest(d->ih, d->oh, d->kh, d->sh, d->ph, d->dh + 1, dir) *
               fewest(d->iw, d->ow, d->kw, d->sw, d->pw, d->dw + 1, dir) <
           TERMS_ENOUGH;
}

static cutensor_view view_of(cnn_layout layout, int64_t channels, int64_t pixels)
{
    const bool last = layout == CNN_NHWC;
    return (cutensor_view){channels * pixels, last ? (int32_t)channels : 1, last ? 1 : (int32_t)pixels};
}

static cutensor_few few_of(const cnn_conv_desc *d, cnn_dir dir)
{
    const bool backward = dir == CNN_BWD_D;
    const int64_t ic = d->ic / d->g, oc = d->oc / d->g, in_pixels = d->ih * d->iw, out_pixels = d->oh * d->ow;
    const cutensor_view x = view_of(d->t.layout, d->ic, in_pixels), y = view_of(d->t.layout, d->oc, out_pixels);
    return (cutensor_few){.window = cutensor_window_of(d, backward),
                          .in = backward ? y : x,
                          .out = backward ? x : y,
                          .pixels = (int32_t)(d->mb * (backward ? in_pixels : out_pixels)),
                          .groups = (int32_t)d->g,
                          .rows = (int32_t)(backward ? ic : oc),
                          .depth = (int32_t)(backward ? oc : ic),
                          .taps = (int32_t)(d->kh * d->kw),
                          .reversed = backward != d->flip,
                          .transposed = backward};
}

static cuda_bias bias_of(const cnn_conv_desc *d)
{
    enum { THREADS = 256, PARTS = 64 };
    return (cuda_bias){
        .t = d->t, .mb = d->mb, .channels = d->oc, .pixels = d->oh * d->ow, .threads = THREADS, .parts = PARTS};
}

/* ---- FWD and BWD_D */

typedef struct tile_row {
    int id, parts, warpgroups, high, wide;
} tile_row;
static const tile_row tiles[] = {
#define TILE(id, PARTS, WARPGROUPS, HIGH, WIDE) {id, PARTS, WARPGROUPS, HIGH, WIDE},
#include "impl_cuda_tensor/tiles.inc"
#undef TILE
};
enum { TILES = sizeof tiles / sizeof tiles[0] };
static const double CLOCKS_A_US = 1900,
                    US_OF_PRODUCTS = 0.25; /* of an H200; of 64 pixels by 64 channels, three products */

/* Of a patch of a strip, in whole lines. */
static int64_t strip_rows(const cutensor_window *w, int64_t tall)
{
    const int64_t reach = (int64_t)(w->kh - 1) * w->step_h * w->wide + (int64_t)(w->kw - 1) * w->step_w;
    return ((tall - 1 + reach + w->wide - 1) / w->wide + 1) * w->wide;
}

/* How a tile would do: its patches, whether pieces of it are dealt out, and how long it would take. */
typedef struct fitted {
    const tile_row *tile;
    int64_t tall, rows, group_tiles, tiles, whole_lines;
    int64_t sharers; /* blocks that share a tile evenly; 0: pieces are dealt out to all blocks */
    bool patched, split;
    double cost;
} fitted;

/* Pieces are dealt out one by one where whole tiles would leave more than 7 % of the device idle in the last wave. */
static bool choose_split(int64_t wish, int64_t tile_count, int64_t sms)
{
    const double waves = (double)tile_count / (double)sms;
    return wish == 2 ? waves / (double)ceil_div(tile_count, sms) < 0.93 : wish == 1;
}

/* A patch serves all taps, or one. */
static int64_t pieces_of(const cutensor_forward *f, const fitted *r) { return f->chunks * (r->patched ? 1 : f->taps); }

/* Of f32 in two parts: for how long the device is busy, in products of 64 pixels by 64 channels. Dealt out evenly; each
 * step of a tile costs its products and some more for loading pixels, fewer per channel where the tile is wide. */
static double step_of_parts(const cutensor_forward *f, const tile_row *t, const fitted *r)
{
    const double products = (double)t->high * t->warpgroups * t->wide / 64.0;
    const double loads = r->patched ? 0.25 * (double)r->tall / 64.0 : (double)smaller(r->tall, f->pixels) / 64.0;
    return products + loads;
}
static double cost_of_parts(const cutensor_forward *f, const tile_row *t, const fitted *r, int64_t sms)
{
    const double steps = (double)r->tiles * f->chunks * (double)f->taps / (double)sms;
    return (steps < 1 ? 1 : steps) * step_of_parts(f, t, r);
}

/* Of one part: microseconds of the busiest block, fitted to bf16 on an H100 (six layers, three tiles, whole and split:
 * what it chooses is within 3 % of the fastest of the six). A step takes 0.5 and its products, or as
 * long as its loads; a tile that is split leaves its sums in memory, and its first block reads those of the others. */
static double step_of_one(const cutensor_forward *f, const tile_row *t, const fitted *r)
{
    const double kib = 1.0 / 1024, products = 0.0365 * t->high * t->warpgroups * t->wide / 64.0;
    const double rows = r->patched ? (double)r->rows / f->taps : (double)smaller(r->rows, f->pixels);
    const double patch = rows * 128 * kib, weights = t->wide * 128.0 * kib;
    return fmax(0.5 + products, 0.04 * patch + 0.02 * weights);
}
static double cost_of_one(const cutensor_forward *f, const tile_row *t, const fitted *r, bool split, int64_t sms)
{
    const int64_t pieces = pieces_of(f, r), piece_steps = r->patched ? f->taps : 1;
    const int64_t units = split ? r->tiles * pieces : r->tiles, most = ceil_div(units, sms) * (split ? 1 : pieces);
    const double blocks = ceil((double)pieces / fmax(1, (double)units / (double)sms)); /* that share a tile */
    const double sums = split && blocks > 1 ? (double)r->tall * t->wide * 4 / 1024 / 23 * blocks : 0;
    return (double)(most * piece_steps) * step_of_one(f, t, r) + sums;
}

/* Where there are so few tiles that most of the device would add up a tile's sums with one block, so many blocks share
 * each that its time is least: a block more saves steps, and the first one adds up its sums, `each` longer. Costs are
 * in the unit of `piece`. */
enum { SHARES_OF_FEW = 6 };
static void share_few(int64_t wish_split, int64_t pieces, double piece, double each, int64_t sms, fitted *r)
{
    if (wish_split != 2 || r->tiles * SHARES_OF_FEW > sms) return;
    const int64_t most = smaller(pieces, sms / r->tiles);
    r->sharers = 1;
    r->cost = (double)pieces * piece;
    for (int64_t s = 2; s <= most; s++) {
        const double cost = (double)ceil_div(pieces, s) * piece + (double)s * each;
        if (cost < r->cost) r->cost = cost, r->sharers = s;
    }
    r->split = r->sharers > 1;
}
/* Microseconds in which a tile's sums are read by one block and added up. On an H200 16 blocks' of 64 KiB took some 2
 * each where each was waited for in its turn; waited for together, half of that or less is expected, not measured. */
static double sums_us(const fitted *r) { return 0.3 + 0.5 * (double)(r->tall * r->tile->wide) * 4 / 65536; }

static int64_t buffers_of(const cutensor_forward *f, const tile_row *t, int64_t rows, int64_t room)
{
    const int64_t bytes = ceil_div(rows * 128, 1024) * 1024;
    return smaller(FORWARD_PATCHES, (room - forward_fixed_bytes(t->wide, t->parts, f->table_bytes)) / bytes);
}

/* Tiles of boxes are whole or in pieces, whichever costs less. */
static void fit_boxes(const cutensor_forward *f, int64_t wish_split, int64_t sms, fitted *r)
{
    const cutensor_boxes work = {.tiles = r->tiles,
                                 .pieces = pieces_of(f, r),
                                 .tall = r->tall,
                                 .wide = r->tile->wide,
                                 .parts = r->tile->parts,
                                 .sms = sms};
    const double whole = cutensor_boxes_cost(&work, false), split = cutensor_boxes_cost(&work, true);
    r->split = wish_split == 2 ? split < whole : wish_split == 1;
    r->cost = r->split ? split : whole;
    share_few(wish_split, work.pieces, cutensor_boxes_step(&work, r->tiles), sums_us(r) * CLOCKS_A_US, sms, r);
}

static fitted fit_tile(const cutensor_forward *f, const tile_row *t, int64_t room, int64_t sms, const int64_t *knobs)
{
    const int64_t wish = knobs[CUTENSOR_KNOB_PATCH], wish_split = knobs[CUTENSOR_KNOB_SPLIT];
    fitted r = {.tile = t, .tall = (int64_t)t->warpgroups * t->high * 64};
    const int64_t taps = (int64_t)f->window.kh * f->window.kw;
    const bool can = f->window.div_h == 1 && f->window.div_w == 1 && !f->strip && f->source == CUTENSOR_PATCHES;
    const int64_t rows = can ? patch_rows(&f->window, f->pixels, r.tall, r.tall) : CUTENSOR_PATCH_MOST + 1;
    r.patched = f->strip ||
                (rows <= CUTENSOR_PATCH_MOST && buffers_of(f, t, rows, room) >= 2 &&
                 (wish == 2 ? rows < smaller(r.tall, f->pixels) * taps || (taps == 1 && rows == r.tall) : wish == 1));
    r.rows = f->strip ? strip_rows(&f->window, r.tall) : r.patched ? rows : r.tall;
    r.group_tiles = ceil_div(f->group_oc, t->wide);
    r.tiles = ceil_div(f->pixels, r.tall) * r.group_tiles * f->groups;
    if (f->source != CUTENSOR_PATCHES) {
        fit_boxes(f, wish_split, sms, &r);
        return r;
    }
    if (t->parts == 2) {
        r.split = choose_split(wish_split, r.tiles, sms);
        r.cost = cost_of_parts(f, t, &r, sms);
        const double step = step_of_parts(f, t, &r), piece_steps = r.patched ? (double)taps : 1;
        share_few(wish_split, pieces_of(f, &r), step * piece_steps, sums_us(&r) / US_OF_PRODUCTS, sms, &r);
        return r;
    }
    const double whole = cost_of_one(f, t, &r, false, sms), split = cost_of_one(f, t, &r, true, sms);
    r.split = wish_split == 2 ? split < whole : wish_split == 1;
    r.cost = r.split ? split : whole;
    const double step = step_of_one(f, t, &r), piece_steps = r.patched ? f->taps : 1;
    share_few(wish_split, pieces_of(f, &r), step * piece_steps, sums_us(&r), sms, &r);
    return r;
}

/* Where a few whole tiles are left for the last wave, tiles of half their height are dealt out there (strips). */
static void halve_last(const cutensor_forward *f, int64_t sms, fitted *r)
{
    const int64_t lines = ceil_div(f->pixels, r->tall), whole = r->tiles / sms * sms / r->group_tiles;
    const int64_t halves = ceil_div(f->pixels - whole * r->tall, r->tall / 2);
    r->whole_lines = lines;
    if (!f->strip || r->split || r->tile->high != 2 || whole == 0 || halves * r->group_tiles > sms) return;
    if (whole == lines) return;
    r->whole_lines = whole;
    r->tiles = (whole + halves) * r->group_tiles;
}

/* `wish`: which tile; 0: by the problem. NULL: there is no such tile. */
static fitted choose_tile(const cutensor_forward *f, int parts, int64_t wish, const int64_t *knobs, int64_t room,
                          int64_t sms)
{
    fitted best = {.tile = NULL};
    for (int i = 0; i < TILES; i++) {
        if (tiles[i].parts != parts || (wish != 0 && wish != tiles[i].id)) continue;
        fitted r = fit_tile(f, &tiles[i], room, sms, knobs);
        if (f->strip && buffers_of(f, r.tile, r.rows, room) < 2) continue;
        halve_last(f, sms, &r);
        if (best.tile == NULL || r.cost < best.cost) best = r;
    }
    return best;
}

/* The same, with each tap's pixels as boxes where that is better than a patch. */
static fitted choose_source(cutensor_forward *f, int parts, int64_t wish, const int64_t *knobs, int64_t room,
                            int64_t sms)
{
    const fitted tile = choose_tile(f, parts, wish, knobs, room, sms);
    if (tile.tile == NULL || !cutensor_boxes_of_taps(knobs, f, tile.patched, tile.sharers > 0)) return tile;
    f->source = CUTENSOR_TAPS;
    f->table_bytes = 0;
    return choose_tile(f, parts, wish, knobs, room, sms);
}

static void put_tile(cutensor_forward *f, const fitted *t, int64_t room)
{
    f->tile = t->tile->id;
    f->high = (int32_t)t->tall;
    f->wide_tile = t->tile->wide;
    f->group_tiles = (int32_t)t->group_tiles;
    f->patched = t->patched;
    f->whole_lines = (int32_t)t->whole_lines;
    f->taps_at_once = t->patched ? f->taps : 1;
    f->pieces = f->chunks * (f->taps / f->taps_at_once);
    f->buffers = (int32_t)buffers_of(f, t->tile, t->rows, room);
    f->buffer_bytes = (int32_t)(ceil_div(t->rows * 128, 1024) * 1024);
    f->by_pieces = cuda_divide_by(f->pieces);
    f->by_tiles = cuda_divide_by((int64_t)f->group_tiles * f->groups);
    f->by_group_tiles = cuda_divide_by(f->group_tiles);
    f->by_steps = cuda_divide_by(f->taps / f->taps_at_once);
}

static cutensor_weights weights_of(const cutensor_forward *f, const cnn_conv_desc *d, bool backward, int parts,
                                   int64_t sms)
{
    const int64_t rows = (backward ? d->ic : d->oc) / d->g, depth = (backward ? d->oc : d->ic) / d->g;
    cutensor_weights w = {.groups = f->groups,
                          .rows = (int32_t)rows,
                          .depth = (int32_t)depth,
                          .taps = f->all_taps,
                          .reversed = backward != d->flip,
                          .transposed = backward,
                          .group_tiles = f->group_tiles,
                          .wide = f->wide_tile,
                          .chunks = f->chunks,
                          .parts = parts,
                          .planes = f->source == CUTENSOR_PLANES};
    /* A block takes all taps of a few rows, or where that leaves multiprocessors without a block, three of them. */
    const int64_t eights = (int64_t)f->groups * f->group_tiles * (f->wide_tile / 8) * f->chunks;
    w.at_once = (int32_t)smaller(f->all_taps, eights < sms ? 3 : 9);
    w.block_rows = w.at_once < 3 ? 32 : 8;
    w.line = w.at_once * (backward ? w.block_rows : has_half(d) ? 64 : 32);
    w.by_tap_groups = cuda_divide_by(ceil_div(w.taps, w.at_once));
    w.by_chunks = cuda_divide_by(w.chunks);
    w.by_lines = cuda_divide_by((int64_t)w.group_tiles * w.wide / w.block_rows);
    w.by_wide = cuda_divide_by(w.wide);
    w.tap_factor = UINT32_MAX / (uint32_t)w.at_once + 1;
    w.line_factor = UINT32_MAX / (uint32_t)w.line + 1;
    return w;
}

/* Whether pixels are boxes; of NCHW whole ones, so that tiles count positions. */
static void put_boxes(const cnn_request *r, const cnn_conv_desc *d, cutensor_forward *f)
{
    f->source = cutensor_boxes_of(r->knobs, d, r->dir);
    f->table_bytes = f->source == CUTENSOR_PATCHES ? CUTENSOR_PATCH_MOST * 4 : 0;
    if (f->source != CUTENSOR_PLANES) return;
    f->plane = f->window.by_plane.d;
    f->window.by_plane = cuda_divide_by(cutensor_positions(f->plane));
    f->pixels = (int32_t)(d->mb * f->window.by_plane.d);
}

/* Weights as tiles, `flags` of whether blocks' sums are there, and what so many blocks that share tiles leave. */
static void put_areas(const cutensor_forward *f, int64_t flags, int64_t sharing, cutensor_plan *m)
{
    m->weights.in_order = f->strip;
    m->weights.flags = (int32_t)flags;
    m->weights_at =
        cutensor_area(m, (size_t)f->groups * (size_t)f->group_tiles * (size_t)f->chunks * (size_t)f->all_taps *
                             (size_t)forward_step_bytes(f->wide_tile, m->weights.parts));
    m->flags_at = cutensor_area(m, (size_t)flags * sizeof(unsigned));
    m->partials_at = cutensor_area(m, (size_t)sharing * (size_t)f->high * (size_t)f->wide_tile * sizeof(float));
}

static void put_keep(const cnn_conv_desc *d, bool backward, int64_t sms, cutensor_plan *m)
{
    const cutensor_forward *f = &m->forward;
    const int parts = parts_of(d);
    m->blocks = (int32_t)smaller(sms, ceil_div(f->pixels, FORWARD_KEEP_TALL));
    m->threads = (FORWARD_KEEP_WARPGROUPS + 1) * 128;
    m->shared_bytes = forward_keep_fixed_bytes() +
                      f->group_tiles * f->chunks * forward_step_bytes(f->wide_tile, parts) +
                      FORWARD_KEEP_WARPGROUPS * f->buffers * f->buffer_bytes;
    m->weights = weights_of(f, d, backward, parts, sms);
    put_areas(f, 0, 0, m);
}

static size_t output_bytes(const cnn_conv_desc *d)
{
    const cnn_dtype dtype = cnn_part_dtype(d->t.dtype, CNN_PART_RESULT);
    return (size_t)d->mb * (size_t)d->ic * (size_t)d->ih * (size_t)d->iw * cnn_dtype_size(dtype);
}

/* A launch by this tile, of a forward whose sizes are set. */
static cnn_status put_launch(const cuda_context *c, const fitted *tile, cutensor_phase *p, cnn_error *err)
{
    const int64_t sms = c->properties.multiProcessorCount, room = (int64_t)c->properties.sharedMemPerBlockOptin;
    cutensor_forward *f = &p->forward;
    put_tile(f, tile, room);
    if (f->buffers < 2)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "two patches of %d bytes do not fit the %lld bytes of shared memory",
                        f->buffer_bytes, (long long)room);
    f->unit = tile->split ? 1 : f->pieces;
    f->units = (int32_t)(tile->tiles * (tile->split ? f->pieces : 1));
    p->blocks = (int32_t)(tile->sharers > 0 ? tile->tiles * tile->sharers : smaller(sms, f->units));
    p->shared_bytes =
        forward_fixed_bytes(f->wide_tile, tile->tile->parts, f->table_bytes) + f->buffers * f->buffer_bytes;
    return check_count("pieces of work", (double)tile->tiles * f->pieces, err);
}

static cnn_status no_tile(int64_t wish, cnn_error *err)
{
    return CNN_FAIL(err, CNN_UNSUPPORTED, "there is no tile %lld for this math", (long long)wish);
}

/* Phases leave a launch a quarter of the pixels. By the problem, where the whole fills the device with tiles of 128
 * by 128. Measured on an H200, f32, NHWC, without phases and with them, in microseconds, 3x3 of stride 2: mb32, 128
 * channels at 56x56, 401 and 102, 512 at 14x14, 410 and 120; mb2, 43 and 51, 65 and 106. */
static bool busies(const cutensor_forward *f, int64_t sms)
{
    return ceil_div(f->pixels, 128) * ceil_div(f->group_oc, 128) * f->groups >= sms;
}

/* A launch a phase, one behind the other: by the same tile, for they have the same weights. */
static cnn_status plan_phases(const cuda_context *c, const cnn_request *r, const cnn_conv_desc *d, cutensor_plan *m,
                              cnn_error *err)
{
    const int64_t sms = c->properties.multiProcessorCount, room = (int64_t)c->properties.sharedMemPerBlockOptin;
    const int parts = parts_of(d);
    int64_t flags = 0, sharing = 0;
    cutensor_phase *largest = m->phase;
    for (int32_t i = 1; i < m->phases; i++)
        if (m->phase[i].forward.taps > largest->forward.taps) largest = &m->phase[i];
    const int64_t wish = r->knobs[CUTENSOR_KNOB_TILE];
    const fitted chosen = choose_source(&largest->forward, parts, wish, r->knobs, room, sms);
    if (chosen.tile == NULL) return no_tile(wish, err);
    for (int32_t i = 0; i < m->phases; i++) {
        cutensor_phase *p = &m->phase[i];
        const fitted tile = choose_source(&p->forward, parts, chosen.tile->id, r->knobs, room, sms);
        const cnn_status status = put_launch(c, &tile, p, err);
        if (status != CNN_OK) return status;
        p->flags_at = (size_t)flags * sizeof(unsigned);
        flags += p->blocks;
        if (tile.split) sharing = larger(sharing, p->blocks);
    }
    m->threads = chosen.tile->warpgroups * 128 + 128;
    m->forward = largest->forward;
    m->weights = weights_of(&m->forward, d, true, parts, sms);
    put_areas(&m->forward, flags, sharing, m);
    for (int32_t i = 0; i < m->phases; i++) m->phase[i].flags_at += m->flags_at;
    return CNN_OK;
}

static cnn_status plan_forward(const cuda_context *c, const cnn_request *r, const cnn_conv_desc *d, cutensor_plan *m,
                               cnn_error *err)
{
    const bool backward = r->dir == CNN_BWD_D;
    const int parts = parts_of(d);
    const int64_t sms = c->properties.multiProcessorCount, room = (int64_t)c->properties.sharedMemPerBlockOptin;
    const int64_t wish = r->knobs[CUTENSOR_KNOB_TILE];
    const int64_t in_channels = (backward ? d->oc : d->ic) / d->g, out_channels = backward ? d->ic : d->oc;
    cutensor_forward *f = &m->forward;
    *f = (cutensor_forward){.window = cutensor_window_of(d, backward),
                            .groups = (int32_t)d->g,
                            .group_oc = (int32_t)(out_channels / d->g),
                            .oc = (int32_t)out_channels,
                            .chunks = (int32_t)ceil_div(in_channels, CUTENSOR_ROW_BYTES / number_bytes(d)),
                            .taps = (int32_t)(d->kh * d->kw),
                            .all_taps = (int32_t)(d->kh * d->kw),
                            .tap_down = (int32_t)d->kw,
                            .tap_right = 1,
                            .nchw = d->t.layout == CNN_NCHW,
                            .has_bias = d->bias && !backward};
    const int64_t in_pixels = (int64_t)f->window.ih * f->window.iw;
    cnn_conv_desc in = *d; /* as it is read */
    if (m->is_thin || cutensor_plan_repack(r, d, m)) in.t.layout = CNN_NHWC;
    f->in = input_as_read(m, &in, in_channels, in_pixels);
    cnn_status status = check_input(&in, &f->in, in_pixels, err);
    if (status != CNN_OK) return status;
    f->pixels = (int32_t)(d->mb * f->window.oh * f->window.ow);
    f->out_plane = f->window.by_plane.d;
    put_boxes(r, &in, f);
    bool unreached;
    if (backward) m->phases = cutensor_phases_of(r->knobs, d, f, m->phase, &unreached);
    if (r->knobs[CUTENSOR_KNOB_PHASES] == 2 && m->phases > 1 && !busies(f, sms)) m->phases = 0;
    if (m->phases > 0) {
        if (unreached) m->clears = output_bytes(d);
        return plan_phases(c, r, d, m, err);
    }
    const cutensor_forward gathered = *f;
    fitted tile = {.tile = NULL};
    f->strip = cutensor_strip_window(r->knobs, d, &f->window);
    if (f->strip) {
        f->pixels = (int32_t)(d->mb * f->window.high * f->window.wide);
        tile = choose_tile(f, parts, wish, r->knobs, room, sms);
    }
    if (tile.tile == NULL) {
        *f = gathered;
        tile = choose_source(f, parts, wish, r->knobs, room, sms);
    }
    if (tile.tile == NULL) return no_tile(wish, err);
    if (wish == 0 && cutensor_plan_keep(c, r->knobs, parts, tile.cost, f)) {
        put_keep(d, backward, sms, m);
        return CNN_OK;
    }
    cutensor_phase one = {.forward = *f};
    status = put_launch(c, &tile, &one, err);
    if (status != CNN_OK) return status;
    *f = one.forward;
    m->blocks = one.blocks;
    m->shared_bytes = one.shared_bytes;
    m->threads = tile.tile->warpgroups * 128 + 128;
    m->weights = weights_of(f, d, backward, parts, sms);
    put_areas(f, m->blocks, tile.split ? m->blocks : 0, m);
    return CNN_OK;
}

/* ---- BWD_W */

/* Whether two patches of so many rows fit, beside as many tiles of dy as then have room. */
static bool fit_rows(int64_t rows, int64_t room, cutensor_gradient *g)
{
    const int32_t number = g->half ? 2 : 4;
    const int64_t bytes = ceil_div(rows * gradient_row_bytes(number), 1024) * 1024;
    for (int64_t steps = GRADIENT_STEPS; rows <= GRADIENT_ROWS && steps >= GRADIENT_STEPS_LEAST; steps--) {
        const int64_t patches = (room - gradient_fixed_bytes(number) - steps * gradient_step_bytes(g->parts)) / bytes;
        if (patches < 2) continue;
        g->steps = (int32_t)steps;
        g->patches = (int32_t)smaller(patches, GRADIENT_PATCHES);
        g->patch_bytes = (int32_t)bytes;
        return true;
    }
    return false;
}

/* Whether blocks are clusters. By the problem, if they keep most of the device busy: of f32 the largest that have a
 * tile for themselves, whose dw no other kernel needs to add up; else pairs. Measured in microseconds, without and by
 * pairs: on an H100, six layers in bf16, 38 35, 35 34, 40 40, 57 51, 59 55, 56 59; the first and the fifth, which have
 * one tile, by eights: 39, 61. On an H200, layers of 128 and 256 channels, f32 93 92, 91 89, TF32 60 60, 63 60; of 512,
 * by pairs that have a tile, 111 91 and 78 65; by fours, which share one, f32 102 and 145. */
static void choose_cluster(const cuda_context *c, int64_t wish, int64_t count, cutensor_gradient *g)
{
    const int64_t sms = c->properties.multiProcessorCount, sixteens = ceil_div(g->pixels, 16);
    g->cluster = 1;
    for (int32_t size = CLUSTER_MOST; size > 1; size /= 2) {
        const int64_t share = cuda_clusters(c, size) / count, blocks = count * share * size;
        const bool whole = share == 1 && !g->half;
        if (share == 0 || share * size > sixteens) continue;
        if (wish == 0 ? blocks * 20 < 17 * sms || (size > 2 && !whole) : size > wish) continue;
        g->cluster = size;
        g->share = (int32_t)share;
        g->blocks = (int32_t)blocks;
        return;
    }
}

static int64_t tiles_of(const cutensor_gradient *g, int64_t groups)
{
    const int64_t slots =
        g->patched ? ceil_div(g->taps, g->slots) * g->c_tiles : ceil_div((int64_t)g->taps * g->c_tiles, g->slots);
    return groups * slots * g->k_tiles;
}

/* For how long the busiest block works on its patches, in clocks: 64 pixels keep the tensor cores busy for 9 x 4 x 32
 * of them, a row of 128 bytes comes in 2, and 200 go by from patch to patch (guessed, and right enough to choose by).
 */
static double patch_cost(const cutensor_gradient *g, int64_t count, int64_t sms, int64_t rows)
{
    int64_t patches = ceil_div(count * ceil_div(g->pixels, g->chunk), sms), pixels = patches * g->chunk;
    if (g->cluster > 1) {
        pixels = ceil_div(ceil_div(g->pixels, 16), (int64_t)g->share * g->cluster) * 16;
        patches = ceil_div(pixels, g->chunk);
    }
    return 18.0 * (double)pixels + (double)patches * (2.0 * (double)rows + 200);
}

/* One patch for nine taps: of f32 the most pixels that fit, of 16 bits as many as busy the device best. */
static bool fit_chunk(const cuda_context *c, int64_t wish, int64_t count, int64_t room, cutensor_gradient *g)
{
    static const int32_t chunks[] = {256, 192, 128, 112, 96, 64, 32};
    const int64_t most = GRADIENT_CHUNK_BYTES / (g->half ? 2 : 4);
    cutensor_gradient best = {.chunk = 0};
    double least = 0;
    for (int i = 0; i < 7 && (g->half || best.chunk == 0); i++) {
        g->chunk = chunks[i];
        if (chunks[i] > most || (wish != 0 && chunks[i] > wish) || (g->half && chunks[i] % 64 != 0)) continue;
        const int64_t rows = patch_rows(&g->window, g->pixels, chunks[i], g->cluster > 1 ? 16 : chunks[i]);
        if (!fit_rows(rows, room, g)) continue;
        const double cost = patch_cost(g, count, c->properties.multiProcessorCount, rows);
        if (best.chunk == 0 || cost < least) best = *g, least = cost;
        if (wish != 0) break;
    }
    if (best.chunk != 0) *g = best;
    return best.chunk != 0;
}

/* The pixels of a cluster's block begin anywhere in a line, so its patches may have to be smaller, which costs more
 * than it gains: 64 channels at 56x56, on an H200, f32 97 us and by pairs 184, TF32 64 and 74. */
static bool fit_patch(const cuda_context *c, const int64_t *knobs, int64_t groups, int64_t room, cutensor_gradient *g)
{
    const int64_t wish = knobs[CUTENSOR_KNOB_CHUNK];
    g->patched = true;
    g->slots = GRADIENT_SLOTS;
    const int64_t count = tiles_of(g, groups);
    cutensor_gradient alone = *g;
    alone.cluster = 1;
    choose_cluster(c, knobs[CUTENSOR_KNOB_CLUSTER], count, g);
    const bool fits = fit_chunk(c, wish, count, room, g);
    const bool may = knobs[CUTENSOR_KNOB_CLUSTER] == 0 && g->cluster > 1 && !g->half;
    if (may && fit_chunk(c, wish, count, room, &alone) && (!fits || alone.chunk > g->chunk)) {
        *g = alone;
        return true;
    }
    return fits;
}

/* Pixels for each slot: three slots or more keep the tensor cores as busy as nine, and more pixels at once cost less.
 */
static bool fit_slots(int64_t room, cutensor_gradient *g)
{
    static const int32_t chunks[] = {64, 32, 16};
    const int64_t all = (int64_t)g->taps * g->c_tiles;
    g->patched = false;
    for (int i = 0; i < 3; i++)
        for (int64_t groups = ceil_div(all, GRADIENT_SLOTS); groups <= all; groups++) {
            const int64_t slots = ceil_div(all, groups);
            if (slots < 3 && groups > 1) break;
            g->chunk = chunks[i];
            g->slots = (int32_t)slots;
            if (fit_rows(slots * chunks[i], room, g)) return true;
        }
    return false;
}

/* How the gradient of y lies. */
static void put_dy(const cnn_conv_desc *d, cutensor_gradient *g)
{
    const int64_t plane = d->oh * d->ow;
    g->dy_image = d->oc * plane;
    g->dy_channel = d->t.layout == CNN_NCHW && plane > 1 ? plane : 1;
    g->dy_pixel = g->dy_channel == 1 ? d->oc : 1;
    g->dy_together = g->dy_channel == 1 && g->group_oc % 8 == 0;
    g->dy_pairs = g->dy_channel > 1 && plane % 2 == 0;
}

/* How the sums are dealt out to blocks. */
static cnn_status put_work(const cuda_context *c, const int64_t *knobs, int64_t groups, cutensor_gradient *g,
                           cnn_error *err)
{
    const int64_t sms = c->properties.multiProcessorCount, count = tiles_of(g, groups);
    g->chunks = (int32_t)ceil_div(g->pixels, g->chunk);
    const cnn_status status =
        check_count("pieces of work", ((double)count + (double)sms) * (double)g->chunks * GRADIENT_SLOTS, err);
    if (status != CNN_OK) return status;
    g->slot_groups = (int32_t)(count / groups / g->k_tiles);
    g->tiles = (int32_t)count;
    g->units = g->tiles * g->chunks;
    if (!g->patched) choose_cluster(c, knobs[CUTENSOR_KNOB_CLUSTER], count, g);
    if (g->cluster == 1) g->blocks = (int32_t)smaller(sms, g->units);
    const int32_t loads = g->steps * gradient_step_bytes(g->parts) + g->patches * g->patch_bytes;
    const int32_t sums = g->cluster > 1 ? GRADIENT_SEGMENT * (int32_t)sizeof(float) : 0;
    g->whole = g->cluster > 1 && g->share == 1 && !g->half;
    const int32_t kept = g->whole ? sums + sums / g->cluster : sums;
    g->room = loads > kept ? loads : kept;
    g->by_chunks = cuda_divide_by(g->chunks);
    g->by_k_tiles = cuda_divide_by(g->k_tiles);
    g->by_slot_groups = cuda_divide_by(g->slot_groups);
    g->by_c_tiles = cuda_divide_by(g->c_tiles);
    return CNN_OK;
}

/* What blocks leave of their sums in the workspace. */
static void put_sums(const cnn_conv_desc *d, cutensor_plan *m)
{
    cutensor_gradient *g = &m->gradient;
    const size_t segments = (size_t)(g->cluster > 1 ? g->blocks / g->cluster : g->blocks + g->tiles);
    const size_t sums = g->whole ? 0 : segments * GRADIENT_SEGMENT;
    g->sums_bias = d->bias && !g->half;
    g->bias_at = (int64_t)sums;
    const size_t bias = g->sums_bias ? (g->cluster > 1 ? (size_t)g->blocks : segments) * GRADIENT_SIDE : 0;
    m->partials_at = cutensor_area(m, (sums + bias) * sizeof(float));
}

static cnn_status plan_gradient(const cuda_context *c, const cnn_request *r, const cnn_conv_desc *d, cutensor_plan *m,
                                cnn_error *err)
{
    const int64_t room = (int64_t)c->properties.sharedMemPerBlockOptin;
    const int64_t group_ic = d->ic / d->g, in_pixels = d->ih * d->iw;
    cutensor_gradient *g = &m->gradient;
    *g = (cutensor_gradient){.window = cutensor_window_of(d, false),
                             .in = input_as_read(m, d, group_ic, in_pixels),
                             .pixels = (int32_t)(d->mb * d->oh * d->ow),
                             .taps = (int32_t)(d->kh * d->kw),
                             .group_oc = (int32_t)(d->oc / d->g),
                             .group_ic = (int32_t)group_ic,
                             .c_tiles = (int32_t)ceil_div(group_ic, GRADIENT_SIDE),
                             .k_tiles = (int32_t)ceil_div(d->oc / d->g, GRADIENT_SIDE),
                             .half = has_half(d),
                             .parts = parts_of(d)};
    if (cutensor_plan_gradient_strip(c, r, d, m)) {
        m->partials_at = cutensor_area(m, (size_t)g->tiles * (size_t)g->share * GRADIENT_SEGMENT * sizeof(float));
        return CNN_OK;
    }
    put_dy(d, g);
    cnn_status status = check_input(d, &g->in, in_pixels, err);
    const int64_t wish = r->knobs[CUTENSOR_KNOB_PATCH];
    const bool may = wish == 2 ? g->taps > 1 : wish == 1;
    if (!(may && fit_patch(c, r->knobs, d->g, room, g)) && !fit_slots(room, g))
        return CNN_FAIL(err, CNN_UNSUPPORTED, "two patches do not fit the %lld bytes of shared memory",
                        (long long)room);
    if (status == CNN_OK) status = put_work(c, r->knobs, d->g, g, err);
    if (status != CNN_OK) return status;
    m->blocks = g->blocks;
    m->shared_bytes = gradient_fixed_bytes(number_bytes(d)) + g->room;
    put_sums(d, m);
    return CNN_OK;
}

/* FWD and BWD_D of 16 bits: whether NHWC has a kernel for it that reads both factors from shared memory, and saves more
 * than results cost that are copied back. Measured on an H200, bf16, mb32, with the input copied alone and with both,
 * in microseconds: FWD of 3x3 at 56x56, 28x28, 14x14 and 7x7, 45 30 31 42 and 47 35 28 32; of 1x1, 78 41 38 and 72
 * 27 24.
 */
static bool is_quick_in_rows(const cuda_context *c, const cnn_request *r, const cnn_conv_desc *d, cutensor_plan *m)
{
    cnn_conv_desc rows = *d;
    cutensor_window w = cutensor_window_of(d, r->dir == CNN_BWD_D);
    rows.t.layout = CNN_NHWC;
    if (d->t.layout != CNN_NCHW || !cnn_is_half(d->t.dtype)) return false;
    const bool small = w.oh * w.ow <= 256 || r->knobs[CUTENSOR_KNOB_REPACK] == 1;
    return (small && cutensor_strip_window(r->knobs, &rows, &w)) || cutensor_plan_matrix(c, r, &rows, m);
}

/* What a product's blocks leave, tap by tap; false where there is no room for it, even without copies:
 * gradient.cu may need less. */
static bool put_product_sums(const cnn_request *r, const cnn_conv_desc *d, cutensor_plan *m)
{
    const size_t before = m->bytes, limit = cnn_workspace_limit(r->knobs[CUDA_KNOB_WORKSPACE_LIMIT]);
    const size_t dw = (size_t)m->product.taps * (size_t)d->ic * (size_t)d->oc;
    m->partials_at = cutensor_area(m, (size_t)m->product.splits * (dw + (size_t)m->product.bias_row) * sizeof(float));
    if (!m->as_it_lies || m->bytes <= limit) return true;
    m->bytes = before;
    return false;
}

static cnn_status make(const cuda_context *c, const cnn_request *r, bool as_it_lies, cutensor_plan *m, cnn_error *err)
{
    cnn_conv_desc d = cutensor_conv_of(r->problem);
    cnn_status status = check_sizes(&d, err);
    *m = (cutensor_plan){.as_it_lies = as_it_lies};
    if (status != CNN_OK) return status;
    m->bias = bias_of(&d);
    m->is_few = has_few_terms(&d, r->dir);
    if (m->is_few) {
        m->few = few_of(&d, r->dir);
        return CNN_OK;
    }
    m->is_direct = cutensor_plan_direct(c, r, &d, &m->direct);
    if (m->is_direct) return CNN_OK;
    if (cutensor_plan_fold(r, &d, m)) d = cutensor_folded(&d);
    if (cutensor_plan_thin(r, &d, m)) d = cutensor_thinned(&d);
    m->is_matrix = r->knobs[CUTENSOR_KNOB_REPACK] != 1 && cutensor_plan_matrix(c, r, &d, m);
    if (!m->is_matrix) {
        if (r->dir == CNN_BWD_W ? cutensor_plan_repack(r, &d, m)
                                : is_quick_in_rows(c, r, &d, m) && cutensor_plan_repack_all(r, &d, m))
            d.t.layout = CNN_NHWC;
        m->is_matrix = cutensor_plan_matrix(c, r, &d, m);
    }
    if (m->is_matrix) {
        const size_t sums = r->dir == CNN_BWD_W ? (size_t)m->matrix.splits * (size_t)d.ic * (size_t)d.oc : 0;
        m->partials_at = cutensor_area(m, sums * sizeof(float));
        return CNN_OK;
    }
    m->is_product = cutensor_plan_product(c, r, &d, m->fold.places > 0, &m->product) && put_product_sums(r, &d, m);
    if (m->is_product) return CNN_OK;
    return r->dir == CNN_BWD_W ? plan_gradient(c, r, &d, m, err) : plan_forward(c, r, &d, m, err);
}

/* Copies, and then a product's sums, are left out where there is no room for them. */
cnn_status cutensor_plan_make(const cuda_context *c, const cnn_request *r, cutensor_plan *m, cnn_error *err)
{
    const cnn_status status = make(c, r, false, m, err);
    const size_t limit = cnn_workspace_limit(r->knobs[CUDA_KNOB_WORKSPACE_LIMIT]);
    const bool must = r->knobs[CUTENSOR_KNOB_REPACK] == 1 && m->fold.places == 0;
    if (status != CNN_OK || m->bytes <= limit || must) return status;
    return make(c, r, true, m, err);
}
