/* rows.c: what cpu:shallow moves: rows of the image, columns, the weights' gradient. */
#include "shallow.h"

#include <string.h>

#define KERNELS "impl_cpu/shallow/rows.inc"
#include "impl_cpu/for_each_real.inc"

void sh_copy(const sh_plan *m, const void *x, const sh_block *b, void *copy)
{
    CPU_REAL(m->d.t.dtype, copy, m, x, b, copy);
}

void sh_turn(const sh_plan *m, const void *sums, int64_t panel, void *dw, bool add)
{
    CPU_REAL(m->d.t.dtype, turn, m, sums, panel, dw, add);
}

void sh_columns(const sh_plan *m, const void *copy, const sh_block *b, void *columns)
{
    const int64_t down = m->d.sh * m->d.sw * m->length, count = b->q1 - b->q0, width = 2 * m->kernels->lanes;
    const int64_t pixels = (b->r1 - b->r0) * count, rest = cpu_ceil_div(pixels, width) * width - pixels;
    for (int64_t k = 0; k < m->rows; k++) {
        const char *from = (const char *)copy + (m->tap[k] + (b->r0 - b->band0) * down + b->q0) * m->elem;
        char *to = (char *)columns + k * m->pitch * m->elem;
        for (int64_t r = b->r0; r < b->r1; r++, from += down * m->elem, to += count * m->elem)
            memcpy(to, from, (size_t)(count * m->elem));
        if (rest > 0) memset(to, 0, (size_t)(rest * m->elem));
    }
}
