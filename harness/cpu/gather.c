/* gather.c: rows picked by index, and moved, one by one on the host. A moved picture is made of runs: of each row of
 * pixels the part that stays in sight, zeros on the left and on the right of it. */
#include "gather.h"

#include "harness/cnn/shape.h"

#include <string.h>

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

static void move_picture(const cnn_gather_args *a, cnn_shift shift, const char *x, char *y)
{
    const size_t pixel = (size_t)a->pixel_elems * cnn_dtype_size(a->dtype), row = (size_t)a->w * pixel;
    const int64_t first = smaller(shift.dx > 0 ? shift.dx : 0, a->w); /* columns [first, last) come from the picture */
    const int64_t last = smaller(a->w + shift.dx, a->w), seen = last > first ? last - first : 0;
    for (int64_t i = 0; i < a->planes * a->h; i++, y += row) {
        const int64_t from = i % a->h - shift.dy;
        if (from < 0 || from >= a->h || seen == 0) {
            memset(y, 0, row);
            continue;
        }
        const char *source = x + (size_t)(i - shift.dy) * row + (size_t)(first - shift.dx) * pixel;
        memset(y, 0, (size_t)first * pixel);
        memcpy(y + (size_t)first * pixel, source, (size_t)seen * pixel);
        memset(y + (size_t)last * pixel, 0, (size_t)(a->w - last) * pixel);
    }
}

void cnn_gather_row(const cnn_gather_args *a, int64_t i)
{
    const int32_t from = a->index[i];
    const size_t bytes = (size_t)a->row_elems * cnn_dtype_size(a->dtype);
    const char *x = (const char *)a->rows + (size_t)from * bytes;
    char *y = (char *)a->y + (size_t)i * bytes;
    if (a->shifts != NULL && (a->shifts[i].dy != 0 || a->shifts[i].dx != 0))
        move_picture(a, a->shifts[i], x, y);
    else
        memcpy(y, x, bytes);
    if (a->y_labels != NULL) a->y_labels[i] = a->labels[from];
}
