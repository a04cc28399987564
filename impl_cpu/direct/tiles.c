/* tiles.c: the geometry of the direct convolution: which tiles an image is cut into.
 *
 * Tiles fill the lanes of a vector when there are few images, and keep a block in the cache when images are large. They
 * cost a halo (input pixels packed more than once) and padding that is multiplied instead of skipped; so a small search
 * over tile counts takes what costs the fewest cycles by an estimate. */
#include "direct.h"
#include "harness/cnn/shape.h"
#include "impl_cpu/cpu.h"

#include <math.h>

/* Cycles: of a vector's multiply-add (two units); of an element through pack or unpack, from whole images, from tiles
 * with their ragged ends, and where a run has not even one vector; of beginning a run; of reading a cache line that a
 * core's own cache (whose share for a task is near_bytes) does not hold, or a shared cache (far_bytes) neither.
 * Measured on one processor; only the choice of tiles depends on them. */
static const double cycles_fma = 0.6, cycles_whole = 0.35, cycles_ragged = 1, cycles_short = 2, cycles_run = 60;
static const double cycles_near = 3, cycles_far = 15, near_bytes = 768 * 1024, far_bytes = 8 * 1024 * 1024;

/* One axis (h or w) cut into tiles. */
typedef struct axis {
    int64_t tiles, x_size, x_step, x_org, y_size, y_step, y_org, p, pairs; /* pairs of (position, tap) in a tile */
} axis;

static axis axis_whole(int64_t i, int64_t o, int64_t k, int64_t s, int64_t p, int64_t d)
{
    axis a = {1, i, i, 0, o, o, 0, p, 0};
    for (int64_t tap = 0; tap < k; tap++) {
        int64_t first, last;
        cnn_tap_range(tap, i, o, d + 1, p, s - 1, &first, &last); /* outputs and taps in each other's places */
        a.pairs += last - first;
    }
    return a;
}

/* About `tiles` tiles. FWD and BWD_W cut the output, BWD_D the input, in steps of whole strides, so that all tiles are
 * alike. The padding is part of the tile's input. */
static axis axis_cut(cnn_dir dir, int64_t tiles, int64_t i, int64_t o, int64_t k, int64_t s, int64_t p, int64_t d)
{
    int64_t extent = cnn_extent(k, d);
    axis a = {0};
    if (dir == CNN_BWD_D) {
        a.x_size = a.x_step = cpu_ceil_div(cpu_ceil_div(i, tiles), s) * s;
        a.tiles = cpu_ceil_div(i, a.x_size);
        a.y_org = cpu_ceil_div(p - extent + 1, s); /* the first output that reads input row 0 */
        a.y_size = (a.x_size - 1 + p) / s - a.y_org + 1;
        a.y_step = a.x_size / s;
        a.p = p - a.y_org * s;
        a.pairs = a.x_size / s * k;
    } else {
        a.y_size = a.y_step = cpu_ceil_div(o, tiles);
        a.tiles = cpu_ceil_div(o, a.y_size);
        a.x_size = (a.y_size - 1) * s + extent;
        a.x_step = a.y_size * s;
        a.x_org = -p;
        a.pairs = a.y_size * k;
    }
    return a;
}

static direct_side side_of(const cnn_conv_desc *c, const axis *h, const axis *w, bool is_x)
{
    direct_side s = {.layout = c->t.layout, .n = c->mb, .tiles_h = h->tiles, .tiles_w = w->tiles};
    s.c = is_x ? c->ic : c->oc;
    s.h = is_x ? c->ih : c->oh;
    s.w = is_x ? c->iw : c->ow;
    s.th = is_x ? h->x_size : h->y_size;
    s.tw = is_x ? w->x_size : w->y_size;
    s.step_h = is_x ? h->x_step : h->y_step;
    s.step_w = is_x ? w->x_step : w->y_step;
    s.org_h = is_x ? h->x_org : h->y_org;
    s.org_w = is_x ? w->x_org : w->y_org;
    return s;
}

/* Estimates count in double: the search also asks for the cost of cuts too large to be counted in integers.
 *
 * Of packing or unpacking one block. */
static double pack_cost(const direct_kernels *kern, const direct_side *s)
{
    const bool rows = s->layout == CNN_NCHW;
    const double c = (double)s->c, th = (double)s->th, tw = (double)s->tw, lanes = kern->lanes;
    const double runs = rows ? c * (s->tiles_w == 1 ? 1 : th) : th * tw, n = rows ? tw * (s->tiles_w == 1 ? th : 1) : c;
    const double each = s->tiles_h == 1 && s->tiles_w == 1 ? cycles_whole : n < lanes ? cycles_short : cycles_ragged;
    return runs * (cycles_run + ceil(n / lanes) * lanes * lanes * each);
}

static double cost(const direct_kernels *kern, const cnn_conv_desc *c, cnn_dir dir, const axis *h, const axis *w)
{
    direct_side x = side_of(c, h, w, true), y = side_of(c, h, w, false);
    const double icg = (double)(c->ic / c->g), ocg = (double)(c->oc / c->g), lanes = kern->lanes;
    double blocks = ceil((double)c->mb * (double)h->tiles * (double)w->tiles / lanes);
    double size = (double)cnn_dtype_size(c->t.dtype);
    double fmas = (double)h->pairs * (double)w->pairs * (double)c->oc * icg;
    double x_bytes = size * (double)x.th * (double)x.tw * lanes * icg;
    double y_bytes = size * (double)y.th * (double)y.tw * lanes * ocg;
    /* what a task reads, and how many times over */
    double read = dir == CNN_FWD ? 2 * x_bytes : dir == CNN_BWD_D ? 2 * y_bytes : x_bytes + y_bytes;
    double times = (double)c->g * ceil((dir == CNN_BWD_D ? icg : ocg) / kern->max_units);
    double line = read <= near_bytes ? 0 : read <= far_bytes ? cycles_near : cycles_far;
    double spill = read / 64 * times * line;
    return blocks * (fmas * cycles_fma + pack_cost(kern, &x) + pack_cost(kern, &y) + spill);
}

/* The knob direct.lanes. */
enum { LANES_AUTO, LANES_IMAGES, LANES_TILES };

enum { N_COUNTS = 15 };
static const int64_t counts[N_COUNTS] = {1, 2, 3, 4, 5, 7, 8, 10, 14, 16, 20, 28, 32, 49, 64};

static int axis_choices(const cnn_conv_desc *c, cnn_dir dir, bool is_h, axis *list)
{
    int64_t i = is_h ? c->ih : c->iw, o = is_h ? c->oh : c->ow, k = is_h ? c->kh : c->kw, s = is_h ? c->sh : c->sw;
    int64_t p = is_h ? c->ph : c->pw, d = is_h ? c->dh : c->dw;
    int n = 1;
    list[0] = axis_whole(i, o, k, s, p, d);
    for (int t = 1; t < N_COUNTS; t++) {
        axis a = axis_cut(dir, counts[t], i, o, k, s, p, d);
        if (a.tiles > list[n - 1].tiles) list[n++] = a;
    }
    return n;
}

/* Images that fill a quarter of the lanes and fit the cache are left whole without a search, which takes time itself.
 */
static bool clearly_whole(const direct_kernels *kern, const cnn_conv_desc *c)
{
    double block = (double)(c->ic * c->ih * c->iw + c->oc * c->oh * c->ow) * kern->lanes;
    return c->mb * 4 >= kern->lanes && block * (double)cnn_dtype_size(c->t.dtype) <= near_bytes;
}

static void search(const direct_kernels *kern, const cnn_conv_desc *c, cnn_dir dir, int64_t knob, axis *h, axis *w)
{
    axis hs[N_COUNTS], ws[N_COUNTS];
    *h = axis_whole(c->ih, c->oh, c->kh, c->sh, c->ph, c->dh);
    *w = axis_whole(c->iw, c->ow, c->kw, c->sw, c->pw, c->dw);
    if (knob == LANES_IMAGES || (knob == LANES_AUTO && clearly_whole(kern, c))) return;
    int nh = axis_choices(c, dir, true, hs), nw = axis_choices(c, dir, false, ws);
    double best = cost(kern, c, dir, h, w);
    for (int a = 0; a < nh; a++) {
        for (int b = 0; b < nw; b++) {
            double now = cost(kern, c, dir, &hs[a], &ws[b]);
            bool first = knob == LANES_TILES && h->tiles * w->tiles == 1; /* any tiles rather than none */
            if (a + b == 0 || (now >= best && !first)) continue;
            best = now;
            *h = hs[a];
            *w = ws[b];
        }
    }
}

/* Blocks packed at a time: about this many bytes, an even number, since the gather takes them in pairs. */
static const int64_t round_bytes = 4 << 20;

/* A 1 x 1 kernel that reads every pixel does not know rows from columns: one column makes the longest runs. */
static cnn_conv_desc flatten(cnn_conv_desc c)
{
    bool dense = c.kh == 1 && c.kw == 1 && c.sh == 1 && c.sw == 1 && c.ph == 0 && c.pw == 0;
    if (!dense || c.ih != c.oh || c.iw != c.ow) return c;
    c.ih = c.oh = c.ih * c.iw;
    c.iw = c.ow = 1;
    return c;
}

void direct_shape_make(const direct_kernels *kern, const cnn_request *request, direct_shape *shape)
{
    axis h, w;
    cnn_conv_desc *c = &shape->desc;
    const cnn_dir dir = request->dir;
    shape->desc = flatten(request->problem->u.conv);
    search(kern, c, dir, request->knobs[CPU_KNOB_DIRECT_LANES], &h, &w);
    shape->x = side_of(c, &h, &w, true);
    shape->y = side_of(c, &h, &w, false);
    c->ih = shape->x.th, c->iw = shape->x.tw, c->oh = shape->y.th, c->ow = shape->y.tw;
    c->ph = h.p, c->pw = w.p;
    shape->blocks = cpu_ceil_div(c->mb * h.tiles * w.tiles, kern->lanes);
    double size = (double)cnn_dtype_size(c->t.dtype), bytes = 0;
    if (dir != CNN_BWD_D) bytes += size * (double)direct_channel(&shape->x, kern->lanes) * (double)c->ic;
    if (dir != CNN_FWD) bytes += size * (double)direct_channel(&shape->y, kern->lanes) * (double)c->oc;
    int64_t fit = (int64_t)((double)round_bytes / bytes) / 2 * 2;
    if (fit < 2) fit = 2;
    int64_t rounds = cpu_ceil_div(shape->blocks, fit), each = cpu_ceil_div(shape->blocks, rounds);
    shape->round = cpu_min((each + 1) / 2 * 2, shape->blocks);
}
