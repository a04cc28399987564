/* shape.c: spatial sizes of windows that slide over an input, and checked products. */
#include "shape.h"

int64_t cnn_extent(int64_t k, int64_t d) { return (k - 1) * (d + 1) + 1; }

int64_t cnn_out_size(int64_t i, int64_t k, int64_t s, int64_t pl, int64_t pr, int64_t d)
{
    int64_t room = i + pl + pr - cnn_extent(k, d);
    return room < 0 ? 0 : room / s + 1;
}

int64_t cnn_right_pad(int64_t i, int64_t o, int64_t k, int64_t s, int64_t pl, int64_t d)
{
    return (o - 1) * s + cnn_extent(k, d) - i - pl;
}

void cnn_tap_range(int64_t o, int64_t i, int64_t k, int64_t s, int64_t p, int64_t d, int64_t *first, int64_t *last)
{
    const int64_t step = d + 1, start = o * s - p; /* tap t reads start + t*step */
    int64_t f = start >= 0 ? 0 : (-start + step - 1) / step;
    int64_t l = i - start <= 0 ? 0 : (i - start + step - 1) / step;
    if (f > k) f = k;
    if (l > k) l = k;
    *first = f;
    *last = l < f ? f : l;
}

bool cnn_mul(int64_t a, int64_t b, int64_t *product)
{
    return a >= 0 && b >= 0 && !__builtin_mul_overflow(a, b, product);
}

bool cnn_mul4(int64_t a, int64_t b, int64_t c, int64_t d, int64_t *product)
{
    int64_t ab, cd;
    return cnn_mul(a, b, &ab) && cnn_mul(c, d, &cd) && cnn_mul(ab, cd, product);
}
