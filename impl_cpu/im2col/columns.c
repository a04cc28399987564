/* columns.c: im2col and col2im of one block.
 *
 * For each tap, the output rows and columns whose input pixel exists are known beforehand (cnn_tap_range with the roles
 * of tap and output exchanged), so inside them pixels are moved without a question and outside them is memset. */
#include "im2col.h"
#include "impl_cpu/ops.h"

#include <string.h>

/* A tap reads input depth z*sd + depth, in it row p*sh + row, and there the pixel at q*step + at; they exist for z in
 * [z0, z1), p in [p0, p1), q in [q0, q1). */
typedef struct tap {
    int64_t depth, row, at, step, z0, z1, p0, p1, q0, q1;
} tap;

/* Tap number `k` in the order of the weights; a flipped kernel stores its taps backwards. */
static tap tap_at(const im2col_plan *m, int64_t k)
{
    const cnn_conv_desc *d = &m->d;
    if (d->flip) k = m->taps - 1 - k;
    const int64_t a = k / (d->kh * d->kw), i = k / d->kw % d->kh, j = k % d->kw;
    tap t = {
        .depth = a * (d->dd + 1) - d->pd, .row = i * (d->dh + 1) - d->ph, .at = j * (d->dw + 1) - d->pw, .step = d->sw};
    cnn_tap_range(a, d->id, d->od, d->dd + 1, d->pd, d->sd - 1, &t.z0, &t.z1);
    cnn_tap_range(i, d->ih, d->oh, d->dh + 1, d->ph, d->sh - 1, &t.p0, &t.p1);
    cnn_tap_range(j, d->iw, d->ow, d->dw + 1, d->pw, d->sw - 1, &t.q0, &t.q1);
    if (m->split && t.q0 < t.q1) t.at = im2col_place(d, t.q0 * d->sw + t.at) - t.q0, t.step = 1;
    return t;
}

/* `zeros` elements, then `pixels` of the input, for one tap: the same for every channel. Offsets in elements: `to` from
 * the start of a row of columns, `from` from the start of a channel. */
typedef struct run {
    int64_t zeros, to, from, pixels;
} run;
enum { MOST_RUNS = 64 };

/* The runs of a tap in a block from output pixel *at on, as many as fit; *at becomes the pixel to go on from. */
static int runs_of(const im2col_plan *m, const im2col_block *b, const tap *t, int64_t *at, run *runs)
{
    const cnn_conv_desc *d = &m->d;
    const bool any = t->z0 < t->z1 && t->p0 < t->p1;
    const int64_t top = cpu_clamp((t->z0 * d->oh + t->p0) * d->ow, b->first, b->last);
    const int64_t bottom = any ? cpu_clamp(((t->z1 - 1) * d->oh + t->p1) * d->ow, top, b->last) : top;
    int count = 0;
    for (int64_t next = cpu_max(*at, top); next < bottom;) {
        if (count == MOST_RUNS - 1) return count;
        const int64_t row = next / d->ow, start = row * d->ow, end = cpu_min(start + d->ow, bottom);
        const int64_t z = row / d->oh, p = row - z * d->oh;
        if (p < t->p0 || p >= t->p1) {
            next = end;
            continue;
        }
        const int64_t left = cpu_clamp(start + t->q0, next, end), right = cpu_clamp(start + t->q1, left, end);
        if (right > left) {
            const int64_t first = (z * d->sd + t->depth) * d->ih;
            const int64_t pixel = (first + p * d->sh + t->row) * d->iw + (left - start) * t->step + t->at;
            runs[count++] =
                (run){(left - *at) * b->lanes, (left - b->first) * b->lanes, pixel * b->lanes, right - left};
            *at = right;
        }
        next = end;
    }
    runs[count++] = (run){(b->last - *at) * b->lanes, im2col_width(b), 0, 0};
    *at = b->last;
    return count;
}

/* Compiles a mover for each instruction set (it moves and adds, so the bits are the same), and a table to choose by. */
typedef void mover(const im2col_plan *, const im2col_block *, const void *from, void *to);
#define VARIANTS(name)                                                                                                 \
    CPU_VARIANTS_OF(mover, name, (const im2col_plan *m, const im2col_block *b, const void *from, void *to), m, b,      \
                    from, to);

#define KERNELS "impl_cpu/im2col/columns.inc"
#include "impl_cpu/for_each_real.inc"

void im2col_gather(const im2col_plan *m, const im2col_block *b, const void *x, void *columns)
{
    (m->dtype == CNN_F32 ? gather_float_variants : gather_double_variants)[m->isa](m, b, x, columns);
}

void im2col_scatter(const im2col_plan *m, const im2col_block *b, const void *columns, void *dx)
{
    (m->dtype == CNN_F32 ? scatter_float_variants : scatter_double_variants)[m->isa](m, b, columns, dx);
}
