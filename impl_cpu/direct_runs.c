/* direct_runs.c: where the pixels of a block lie in a tensor, for the direct convolution's pack and unpack. */
#include "direct.h"

static int64_t clamp(int64_t value, int64_t lo, int64_t hi) { return value < lo ? lo : value > hi ? hi : value; }

void direct_lanes_locate(const direct_side *s, int lanes, int64_t block, direct_lanes *l)
{
    int64_t tiles = s->tiles_h * s->tiles_w, first = block * lanes, left = s->n * tiles - first;
    l->lanes = lanes;
    l->used = (int)clamp(left, 0, lanes);
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
        if (s->whole_w)
            set_lane(run, i, at, clamp(-y, 0, rows) * s->w, clamp(s->h - y, 0, rows) * s->w);
        else
            set_lane(run, i, at, clamp(-x, 0, s->tw), y >= 0 && y < s->h ? clamp(s->w - x, 0, s->tw) : 0);
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
