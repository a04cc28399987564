/* runs.c: where the pixels of a block lie in a tensor, for the direct convolution's pack and unpack; and in what
 * parts a block is packed. */
#include "direct.h"
#include "impl_cpu/cpu.h"

void direct_lanes_locate(const direct_side *s, int lanes, int64_t block, direct_lanes *l)
{
    int64_t tiles = s->tiles_h * s->tiles_w, first = block * lanes, left = s->n * tiles - first;
    l->lanes = lanes;
    l->used = (int)cpu_clamp(left, 0, lanes);
    int64_t image = first / tiles, row = first % tiles / s->tiles_w, col = first % s->tiles_w;
    for (int i = 0; i < l->used; i++) {
        l->image[i] = image * s->c * s->h * s->w;
        l->h[i] = s->org_h + row * s->step_h;
        l->w[i] = s->org_w + col * s->step_w;
        if (++col < s->tiles_w) continue; /* the next tile, counted rather than divided */
        col = 0;
        if (++row < s->tiles_h) continue;
        row = 0;
        image++;
    }
}

/* Lane i has [lo, hi) of the run. */
static void set_lane(direct_run *run, int i, int64_t at, int64_t lo, int64_t hi)
{
    run->at[i] = lo < hi ? at : 0;
    run->lo[i] = lo;
    run->hi[i] = lo < hi ? hi : lo;
    run->full &= lo == 0 && hi == run->n;
}

void direct_run_rows(const direct_side *s, const direct_lanes *l, int64_t c, int64_t h, int64_t rows, direct_run *run)
{
    run->n = rows * s->tw;
    run->full = l->used == l->lanes;
    for (int i = 0; i < l->lanes; i++) {
        if (i >= l->used) {
            set_lane(run, i, 0, 0, 0);
            continue;
        }
        int64_t y = l->h[i] + h, x = l->w[i], at = l->image[i] + (c * s->h + y) * s->w + x;
        if (s->tiles_w == 1)
            set_lane(run, i, at, cpu_clamp(-y, 0, rows) * s->w, cpu_clamp(s->h - y, 0, rows) * s->w);
        else
            set_lane(run, i, at, cpu_clamp(-x, 0, s->tw), y >= 0 && y < s->h ? cpu_clamp(s->w - x, 0, s->tw) : 0);
    }
}

void direct_run_pixel(const direct_side *s, const direct_lanes *l, int64_t c, int64_t h, int64_t w, int64_t n,
                      direct_run *run)
{
    run->n = n;
    run->full = l->used == l->lanes;
    for (int i = 0; i < l->lanes; i++) {
        bool there = i < l->used && l->h[i] + h >= 0 && l->h[i] + h < s->h && l->w[i] + w >= 0 && l->w[i] + w < s->w;
        set_lane(run, i, there ? l->image[i] + ((l->h[i] + h) * s->w + l->w[i] + w) * s->c + c : 0, 0, there ? n : 0);
    }
}

/* Parts are ranges of channels, and bands of rows where these are too few; or in NHWC, where a run is the channels of a
 * pixel, bands alone. In NCHW a band of fewer pixels than these costs more to begin than to move. */
enum { LEAST_PIXELS = 128 };

direct_packing direct_packing_make(const direct_side *s, int64_t want)
{
    const bool nhwc = s->layout == CNN_NHWC;
    const int64_t most = nhwc ? s->th : cpu_clamp(s->th * s->tw / LEAST_PIXELS, 1, s->th);
    direct_packing p = {.side = *s, .ranges = nhwc ? 1 : cpu_min(want, s->c)};
    p.bands = cpu_min(want / p.ranges, most);
    p.parts = p.ranges * p.bands;
    return p;
}

static direct_part part_at(const direct_packing *p, int64_t block, int64_t index)
{
    const direct_side *s = &p->side;
    const int64_t range = index / p->bands, band = index % p->bands;
    return (direct_part){.block = block,
                         .c0 = s->c * range / p->ranges,
                         .c1 = s->c * (range + 1) / p->ranges,
                         .h0 = s->th * band / p->bands,
                         .h1 = s->th * (band + 1) / p->bands,
                         .rows = s->th};
}

void direct_pack_part(const direct_kernels *kern, const direct_packing *packing, size_t elem, int64_t block, int64_t to,
                      int64_t index)
{
    const direct_side *s = &packing->side;
    const direct_part p = part_at(packing, block, index);
    const int64_t at = (to * s->c + p.c0) * direct_channel(s, kern->lanes) + p.h0 * s->tw * kern->lanes;
    kern->pack(s, packing->tensor, &p, (char *)packing->packed + at * (int64_t)elem);
}
