/* op_window.c: windows that slide over an input, of a convolution or a pooling. */
#include "op.h"

static bool same(const dims_axis *a, const dims_axis *b)
{
    return a->i == b->i && a->o == b->o && a->k == b->k && a->s == b->s && a->p == b->p && a->d == b->d;
}

void op_put_windows(char *text, const dims_axis *h, const dims_axis *v, int64_t ic, int64_t oc)
{
    const dims_axis one = {.o = 1, .i = 1, .k = 1, .s = 1};
    const bool put_h = !same(h, &one) || same(v, &one), put_w = !same(h, v);
    const struct {
        const char letter;
        int64_t h, w, usual;
    } rows[] = {{'k', h->k, v->k, -1}, {'s', h->s, v->s, 1}, {'p', h->p, v->p, -1}, {'d', h->d, v->d, 0}};
    if (ic > 0) op_put_number(text, "ic", ic);
    if (put_h) op_put_number(text, "ih", h->i);
    if (put_w) op_put_number(text, "iw", v->i);
    if (oc > 0) op_put_number(text, "oc", oc);
    if (put_h) op_put_number(text, "oh", h->o);
    if (put_w) op_put_number(text, "ow", v->o);
    for (int r = 0; r < 4; r++) {
        if (put_h && rows[r].h != rows[r].usual) op_put(text, "%ch%lld", rows[r].letter, (long long)rows[r].h);
        if (put_w && rows[r].w != rows[r].usual) op_put(text, "%cw%lld", rows[r].letter, (long long)rows[r].w);
    }
}

void op_put_axes(char *text, const dims_axis *depth, const dims_axis *height, const dims_axis *width)
{
    const dims_axis *const axes[] = {depth, height, width};
    for (int i = 0; i < 3; i++) {
        const char letter = "dhw"[i];
        const dims_axis *a = axes[i];
        op_put(text, "i%c%lldo%c%lldk%c%lld", letter, (long long)a->i, letter, (long long)a->o, letter,
               (long long)a->k);
        if (a->s != 1) op_put(text, "s%c%lld", letter, (long long)a->s);
        op_put(text, "p%c%lld", letter, (long long)a->p);
        if (a->d != 0) op_put(text, "d%c%lld", letter, (long long)a->d);
    }
}

cnn_status op_check_axis(char letter, const dims_axis *a, cnn_error *err)
{
    const op_size sizes[] = {{"input size", a->i, 1}, {"output size", a->o, 1}, {"kernel size", a->k, 1},
                             {"stride", a->s, 1},     {"padding", a->p, 0},     {"dilation", a->d, 0}};
    cnn_status status = op_check_sizes(sizes, 6, err);
    if (status != CNN_OK) return status;
    if (cnn_right_pad(a->i, a->o, a->k, a->s, a->p, a->d) != a->p_r)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "along %c: input %lld, kernel %lld, stride %lld, padding %lld and %lld, dilation %lld do not "
                        "give output %lld",
                        letter, (long long)a->i, (long long)a->k, (long long)a->s, (long long)a->p, (long long)a->p_r,
                        (long long)a->d, (long long)a->o);
    return CNN_OK;
}

cnn_status op_check_windows(const dims_axis *height, const dims_axis *width, cnn_error *err)
{
    cnn_status status = op_check_axis('h', height, err);
    return status == CNN_OK ? op_check_axis('w', width, err) : status;
}

double op_axis_taps(const dims_axis *a)
{
    double taps = 0;
    for (int64_t at = 0; at < a->o; at++) {
        int64_t first, last;
        cnn_tap_range(at, a->i, a->k, a->s, a->p, a->d, &first, &last);
        taps += (double)(last - first);
    }
    return taps;
}

double op_taps(const dims_axis *height, const dims_axis *width) { return op_axis_taps(height) * op_axis_taps(width); }

cnn_axis_use op_use_of(const dims_axis *a) { return cnn_use_of_axis(a->i, a->o, a->k, a->s, a->p, a->d); }
