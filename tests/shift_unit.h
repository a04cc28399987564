/* shift_unit.h: what a gather that moves its images must come to, written the other way round: there each pixel of a
 * batch is fetched from where it was, here each pixel of a row is put where it goes. Bits, not numbers: rows are of any
 * bits, so that no two pixels look alike and nothing may be computed with them. C, and C++ for the tests of kernels. */
#ifndef TESTS_SHIFT_UNIT_H
#define TESTS_SHIFT_UNIT_H

#include "unit.h"

#include "harness/base/rng.h"
#include "harness/cnn.h"

static inline int64_t elem_bytes(cnn_dtype dtype) { return dtype == CNN_F32 ? 4 : 8; }

static inline void random_bytes(void *data, int64_t bytes, uint64_t seed)
{
    cnn_rng rng = rng_stream(seed, 77);
    for (int64_t i = 0; i < bytes; i++) ((unsigned char *)data)[i] = (unsigned char)(rng_u64(&rng) >> 40);
}

/* The sizes of a picture, as a gather is told them. */
static inline void set_picture(cnn_gather_args *a, cnn_layout layout, int64_t c, int64_t h, int64_t w)
{
    a->row_elems = c * h * w;
    a->planes = layout == CNN_NCHW ? c : 1;
    a->pixel_elems = layout == CNN_NCHW ? 1 : c;
    a->h = h;
    a->w = w;
}

/* Zeros, and then every pixel of the row that stays inside. */
static inline void move_row(const cnn_gather_args *a, const void *row, int64_t dy, int64_t dx, void *moved)
{
    const int64_t pixel = a->pixel_elems * elem_bytes(a->dtype);
    memset(moved, 0, (size_t)(a->row_elems * elem_bytes(a->dtype)));
    for (int64_t p = 0; p < a->planes; p++)
        for (int64_t r = 0; r < a->h; r++)
            for (int64_t s = 0; s < a->w; s++) {
                const int64_t from = (p * a->h + r) * a->w + s, to = (p * a->h + r + dy) * a->w + s + dx;
                if (r + dy < 0 || r + dy >= a->h || s + dx < 0 || s + dx >= a->w) continue;
                memcpy((char *)moved + to * pixel, (const char *)row + from * pixel, (size_t)pixel);
            }
}

/* In each direction: not at all, by a pixel, to the last one, out of the picture, as far as an int16_t goes. */
enum { SHIFTS_A_SIDE = 11, ALL_SHIFTS = SHIFTS_A_SIDE * SHIFTS_A_SIDE };

static inline int16_t shift_at(int i, int64_t size)
{
    const int64_t by[SHIFTS_A_SIDE] = {0,     1,        -1,        size - 1,  1 - size, size,
                                       -size, size + 1, -size - 1, INT16_MAX, INT16_MIN};
    return (int16_t)(by[i] > INT16_MAX ? INT16_MAX : by[i] < INT16_MIN ? INT16_MIN : by[i]);
}

/* All pairs of them: both ways, either alone, none. */
static inline void all_shifts(int64_t h, int64_t w, cnn_shift *shifts)
{
    for (int i = 0; i < ALL_SHIFTS; i++) {
        shifts[i].dy = shift_at(i / SHIFTS_A_SIDE, h);
        shifts[i].dx = shift_at(i % SHIFTS_A_SIDE, w);
    }
}

#endif
