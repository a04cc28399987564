/* epilogue.c: results of a product on their way to y: residual and lines in registers, curves on the rows just stored.
 */
#include "matrix.h"

static int64_t place(mx_axis axis, int64_t i) { return axis.at != NULL ? axis.at[i] : axis.step * i; }

/* Columns from `col` on that lie side by side: up to where an image ends. */
static int64_t run_from(const mx_store *s, int64_t col)
{
    int64_t end = col + 1;
    while (end < s->cols && place(s->col, end) == place(s->col, end - 1) + 1) end++;
    return end - col;
}

void mx_put(const mx_kernels *kernels, mx_store *s, const cpu_epilogue *e)
{
    const cpu_finish finish = cpu_finish_at(e, s->to);
    s->finish = e->any ? &finish : NULL;
    kernels->store(s);
    s->finish = NULL;
    if (!e->curved) return;
    const int64_t first = ((const char *)s->to - e->y) / (int64_t)cnn_dtype_size(e->dtype);
    for (int64_t col = 0, count; col < s->cols; col += count) {
        count = run_from(s, col);
        for (int64_t r = 0; r < s->rows; r++)
            cpu_epilogue_curve(e, first + place(s->row, r) + place(s->col, col), count);
    }
}
