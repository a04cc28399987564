/* plan_strip.c: which convolutions are strips of positions (forward_strip.cu), and how BWD_W of one is dealt out. */
#include "harness/cnn/half.h"
#include "impl_cuda_tensor/gradient.h"
#include "impl_cuda_tensor/plan.h"

#include <limits.h>

enum { STRIP_TAPS = 40 }; /* as many as weights_strip.cu has room for */

/* Along one axis: as long as the input with its padding before it, or as outputs reach, less the padding that the next
 * line, or image, begins with. */
static int64_t length(int64_t in, int64_t out, int64_t pad, int64_t reach)
{
    return larger(pad + in, larger(out, out + reach - pad));
}

bool cutensor_strip_window(const int64_t *knobs, const cnn_conv_desc *d, cutensor_window *w)
{
    const bool plain = w->mul_h * w->mul_w * w->div_h * w->div_w == 1 && w->pad_h >= 0 && w->pad_w >= 0;
    const bool eights = d->g == 1 && d->t.layout == CNN_NHWC && d->ic % 8 == 0 && d->oc % 8 == 0;
    if (knobs[CUTENSOR_KNOB_STRIP] == 0 || !plain || !eights || !cutensor_can_map() ||
        !cnn_is_half(cnn_part_dtype(d->t.dtype, CNN_PART_FACTOR)))
        return false;
    const int64_t high = length(w->ih, w->oh, w->pad_h, (int64_t)(w->kh - 1) * w->step_h);
    const int64_t wide = length(w->iw, w->ow, w->pad_w, (int64_t)(w->kw - 1) * w->step_w);
    if (w->kh * w->kw > STRIP_TAPS || wide > 256 || (double)d->mb * (double)high * (double)wide > INT_MAX / 2)
        return false;
    w->high = (int32_t)high;
    w->wide = (int32_t)wide;
    w->by_high = cuda_divide_by(high);
    w->by_wide = cuda_divide_by(wide);
    return true;
}

/* ---- BWD_W */

static int64_t sixteens(int64_t lines, int64_t wide) { return ceil_div(lines * wide, 16) * 16; }

/* Rows of a patch of so many lines of dy: those of dy with their zeros, and those of x that its taps reach. */
static int64_t dy_rows(const cutensor_gradient *g, int64_t lines) { return (lines + g->zero_lines) * g->window.wide; }
static int64_t x_lines(const cutensor_gradient *g, int64_t lines)
{
    const cutensor_window *w = &g->window;
    const int64_t reach = (int64_t)(w->kh - 1) * w->step_h * w->wide + (int64_t)(w->kw - 1) * w->step_w;
    return ceil_div(sixteens(lines, w->wide) + reach, w->wide);
}

/* Clocks of a block that has so many lines, `chunk` of them at a time (estimated): 16 positions keep the tensor cores
 * busy for 9 x 32; from patch to patch 200 go by; the first one is waited for, 40 bytes a clock. */
static double strip_cost(const cutensor_gradient *g, int64_t lines, int64_t chunk)
{
    const int64_t whole = lines / chunk, rest = lines % chunk, wide = g->window.wide;
    const double positions = (double)whole * (double)sixteens(chunk, wide) + (double)sixteens(rest, wide);
    const double first = (double)dy_rows(g, chunk) + (double)x_lines(g, chunk) * (double)wide;
    return 18 * positions + 200 * (double)(whole + 1) + first * 128 / 40;
}

static bool choose_chunk(int64_t wish, int64_t lines, int64_t room, cutensor_gradient *g)
{
    double least = 0;
    g->chunk = 0;
    g->zero_lines = (int32_t)ceil_div(15, g->window.wide);
    for (int64_t chunk = 1; chunk <= lines; chunk++) {
        const int64_t bytes =
            ceil_div((dy_rows(g, chunk) + x_lines(g, chunk) * g->window.wide) * 128 + 1024, 1024) * 1024;
        if (2 * bytes > room || (wish != 0 && chunk * g->window.wide > wish && chunk > 1)) break;
        const double cost = strip_cost(g, lines, chunk);
        if (g->chunk != 0 && cost >= least) continue;
        least = cost;
        g->chunk = (int32_t)chunk;
        g->dy_rows = (int32_t)(ceil_div(dy_rows(g, chunk), 8) * 8);
        g->patch_bytes = (int32_t)bytes;
        g->patches = room / bytes >= 3 ? 3 : 2;
    }
    return g->chunk != 0;
}

/* Blocks of a cluster, and clusters that share a tile's lines: pairs, where they keep most of the device busy. */
static bool choose_share(const cuda_context *c, int64_t wish, cutensor_gradient *g)
{
    const int64_t sms = c->properties.multiProcessorCount;
    for (int32_t size = wish == 0 ? 2 : (int32_t)wish; size >= 1; size /= 2) {
        const int64_t clusters = size == 1 ? sms : cuda_clusters(c, size), share = clusters / g->tiles;
        if (share == 0 || share * size > g->lines) continue;
        if (wish == 0 && size > 1 && share * size * g->tiles * 20 < 17 * sms) continue;
        g->cluster = size;
        g->share = (int32_t)share;
        g->blocks = (int32_t)(g->tiles * share * size);
        return true;
    }
    return false;
}

bool cutensor_plan_gradient_strip(const cuda_context *c, const cnn_request *r, const cnn_conv_desc *d, cutensor_plan *m)
{
    cutensor_gradient g = m->gradient;
    if (r->knobs[CUTENSOR_KNOB_PATCH] == 0 || !cutensor_strip_window(r->knobs, d, &g.window)) return false;
    const int64_t fixed = 1024 + 2 * GRADIENT_PATCHES * 8, slot_groups = ceil_div(g.taps, GRADIENT_SLOTS) * g.c_tiles;
    const double tiles = (double)slot_groups * (double)g.k_tiles;
    if (tiles > c->properties.multiProcessorCount) return false;
    g.patched = true;
    g.slots = GRADIENT_SLOTS;
    g.slot_groups = (int32_t)slot_groups;
    g.tiles = (int32_t)tiles;
    g.lines = (int32_t)(d->mb * g.window.high);
    g.by_k_tiles = cuda_divide_by(g.k_tiles);
    g.by_slot_groups = cuda_divide_by(g.slot_groups);
    g.by_c_tiles = cuda_divide_by(g.c_tiles);
    if (!choose_share(c, r->knobs[CUTENSOR_KNOB_CLUSTER], &g)) return false;
    const int64_t lines = ceil_div(g.lines, (int64_t)g.share * g.cluster);
    const int64_t room = (int64_t)c->properties.sharedMemPerBlockOptin - fixed;
    if (!choose_chunk(r->knobs[CUTENSOR_KNOB_CHUNK], lines, room, &g)) return false;
    const int32_t sums = g.cluster > 1 ? GRADIENT_SEGMENT * (int32_t)sizeof(float) : 0;
    g.room = (int32_t)larger(g.patches * g.patch_bytes, sums);
    g.strip = true;
    m->gradient = g;
    m->blocks = g.blocks;
    m->shared_bytes = (int32_t)fixed + g.room;
    return true;
}
