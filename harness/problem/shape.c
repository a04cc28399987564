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

static int64_t greatest_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Tap t of output o reads what tap t + s/g of output o - (d+1)/g has read, g being the greatest divisor of s and d+1:
 * new to an output are only the taps that have no such counterpart. */
cnn_axis_use cnn_use_of_axis(int64_t i, int64_t o, int64_t k, int64_t s, int64_t p, int64_t d)
{
    const int64_t step = d + 1, g = greatest_divisor(s, step);
    cnn_axis_use use = {0, 0, 0};
    for (int64_t at = 0; at < o; at++) {
        int64_t first, last;
        cnn_tap_range(at, i, k, s, p, d, &first, &last);
        use.outputs += last > first;
        if (at >= step / g && first < k - s / g) first = k - s / g;
        if (last > first) use.pixels += last - first;
    }
    for (int64_t t = 0; t < k; t++) {
        const int64_t before = p - t * step; /* how far before the input the first output's tap lies */
        const int64_t at = before > 0 ? (before + s - 1) / s : 0;
        use.taps += at < o && at * s - before < i;
    }
    return use;
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
