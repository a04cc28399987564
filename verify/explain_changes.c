/* explain_changes.c: cases as mistakes would have them: see explain.h. */
#include "explain.h"

#include <stdlib.h>
#include <string.h>

static double *input(const vf_case *c, const char *name, const cnn_operand **operand)
{
    const int i = vf_index(c->call.operands, c->call.count, name);
    if (i < 0) return NULL;
    *operand = &c->call.operands[i];
    return c->before[i];
}

/* ---- Weights. */

/* The taps of each kernel in another order: from[t] is where tap t is taken from. */
static bool reorder(vf_case *c, bool turned)
{
    const cnn_operand *o;
    double *w = input(c, "w", &o), taps[256];
    if (w == NULL || !cnn_is_conv(&c->problem) || (!turned && c->problem.op == CNN_OP_CONV3D)) return false;
    const int64_t kh = o->dims[2], kw = o->dims[3], count = kh * kw;
    if (count > (int64_t)(sizeof taps / sizeof *taps) || count == 1 || (!turned && (kh == 1 || kw == 1))) return false;
    for (int64_t k = 0; k < o->count; k += count) {
        memcpy(taps, w + k, (size_t)count * sizeof *taps);
        for (int64_t t = 0; t < count; t++) w[k + t] = taps[turned ? count - 1 - t : t % kw * kh + t / kw];
    }
    return true;
}

bool vf_change_w_by_columns(vf_case *c, const vf_case *earlier)
{
    (void)earlier;
    return reorder(c, false);
}

bool vf_change_w_turned(vf_case *c, const vf_case *earlier)
{
    (void)earlier;
    return reorder(c, true);
}

bool vf_change_w_channels(vf_case *c, const vf_case *earlier)
{
    const cnn_operand *o;
    double *w = input(c, "w", &o);
    (void)earlier;
    if (w == NULL || o->dims[0] != o->dims[1] || o->dims[0] == 1) return false;
    const int64_t taps = o->dims[2] * o->dims[3], n = o->dims[0];
    for (int64_t k = 0; k < n; k++)
        for (int64_t i = 0; i < k; i++)
            for (int64_t t = 0; t < taps; t++) {
                double *one = &w[(k * n + i) * taps + t], *other = &w[(i * n + k) * taps + t], kept = *one;
                *one = *other;
                *other = kept;
            }
    return true;
}

/* ---- Bytes of `dtype` read as those of the other type. */

static bool reread(vf_case *c, const char *name, cnn_dtype dtype)
{
    const cnn_operand *o;
    double *v = input(c, name, &o);
    bool any = false;
    if (v == NULL || cnn_elem_dtype(&c->problem.u.type, o->elem) != dtype) return false;
    for (int64_t i = 0; i < o->count; i++) {
        const double moved = v[i] < 0.0 ? 256.0 : dtype == CNN_U8 && v[i] > 127.0 ? -256.0 : 0.0;
        any = any || moved != 0.0;
        v[i] += moved;
    }
    return any;
}

bool vf_change_z_signed(vf_case *c, const vf_case *earlier)
{
    (void)earlier;
    return reread(c, "z", CNN_U8);
}

bool vf_change_z_unsigned(vf_case *c, const vf_case *earlier)
{
    (void)earlier;
    return reread(c, "z", CNN_S8);
}

bool vf_change_x_signed(vf_case *c, const vf_case *earlier)
{
    (void)earlier;
    return reread(c, "x", CNN_U8);
}

bool vf_change_x_unsigned(vf_case *c, const vf_case *earlier)
{
    (void)earlier;
    return reread(c, "x", CNN_S8);
}

bool vf_change_w_unsigned(vf_case *c, const vf_case *earlier)
{
    (void)earlier;
    return reread(c, "w", CNN_S8);
}

/* ---- Bias: each value by a factor, or all the first one's. */

static bool change_bias(vf_case *c, bool first, double factor)
{
    const cnn_operand *o;
    double *b = input(c, "b", &o);
    if (b == NULL || (first && o->count == 1)) return false;
    for (int64_t k = 0; k < o->count; k++) b[k] = first ? b[0] : b[k] * factor;
    return true;
}

bool vf_change_no_bias(vf_case *c, const vf_case *earlier)
{
    (void)earlier;
    return change_bias(c, false, 0);
}

bool vf_change_bias_twice(vf_case *c, const vf_case *earlier)
{
    (void)earlier;
    return change_bias(c, false, 2);
}

bool vf_change_first_bias(vf_case *c, const vf_case *earlier)
{
    (void)earlier;
    return change_bias(c, true, 1);
}

bool vf_change_no_beta(vf_case *c, const vf_case *earlier)
{
    (void)earlier;
    const bool any = c->call.beta != 0.0;
    c->call.beta = 0.0;
    return any;
}

/* ---- Groups: x as if group i began at channel i * step. */

static bool group_channels(vf_case *c, int64_t step)
{
    const cnn_operand *o;
    double *x = input(c, "x", &o);
    vf_case kept;
    cnn_error why;
    if (x == NULL || !cnn_is_conv(&c->problem) || c->problem.op == CNN_OP_DECONV) return false;
    const int64_t g = c->problem.u.conv.g, channels = o->dims[1] / g, plane = o->dims[2] * o->dims[3];
    if (g == 1 || channels == step || vf_case_copy(c, &kept, &why) != CNN_OK) return false;
    const double *old = input(&kept, "x", &o);
    for (int64_t n = 0; n < o->dims[0]; n++)
        for (int64_t k = 0; k < o->dims[1]; k++)
            memcpy(x + (n * o->dims[1] + k) * plane,
                   old + (n * o->dims[1] + k / channels * step + k % channels) * plane, (size_t)plane * sizeof *x);
    vf_case_free(&kept);
    return true;
}

bool vf_change_groups_by_number(vf_case *c, const vf_case *earlier)
{
    (void)earlier;
    return group_channels(c, 1);
}

bool vf_change_groups_all_first(vf_case *c, const vf_case *earlier)
{
    (void)earlier;
    return group_channels(c, 0);
}

/* ---- Padding: x with what would stand around it, in place of zeros. */

static int64_t clamped(int64_t i, int64_t n) { return i < 0 ? 0 : i < n ? i : n - 1; }
static int64_t mirrored(int64_t i, int64_t n) { return i < 0 ? -i : i < n ? i : 2 * (n - 1) - i; }
static int64_t joined(int64_t i, int64_t n) { return (i % n + n) % n; }

static bool has_border(const cnn_conv_desc *d)
{
    const int64_t most_h = d->ph > d->ph_r ? d->ph : d->ph_r, most_w = d->pw > d->pw_r ? d->pw : d->pw_r;
    const bool inside = d->ph >= 0 && d->pw >= 0 && d->ph_r >= 0 && d->pw_r >= 0 && most_h < d->ih && most_w < d->iw;
    return inside && most_h + most_w > 0;
}

static bool fill_border(vf_case *c, int64_t (*source)(int64_t i, int64_t n))
{
    cnn_conv_desc *d = &c->problem.u.conv;
    const int at = vf_index(c->call.operands, c->call.count, "x");
    if (c->problem.op != CNN_OP_CONV || at < 0 || c->call.operands[at].access != CNN_IN || !has_border(d)) return false;
    const int64_t ih = d->ih + d->ph + d->ph_r, iw = d->iw + d->pw + d->pw_r, planes = d->mb * d->ic;
    double *wide = malloc((size_t)(planes * ih * iw) * sizeof *wide), *x = c->before[at];
    if (wide == NULL) return false;
    for (int64_t p = 0; p < planes; p++)
        for (int64_t h = 0; h < ih; h++)
            for (int64_t v = 0; v < iw; v++)
                wide[(p * ih + h) * iw + v] =
                    x[(p * d->ih + source(h - d->ph, d->ih)) * d->iw + source(v - d->pw, d->iw)];
    free(x);
    c->before[at] = wide;
    c->call.in[at] = wide;
    c->call.operands[at].dims[2] = d->ih = ih;
    c->call.operands[at].dims[3] = d->iw = iw;
    c->call.operands[at].count = planes * ih * iw;
    d->ph = d->pw = d->ph_r = d->pw_r = 0;
    return true;
}

bool vf_change_border_repeated(vf_case *c, const vf_case *earlier)
{
    (void)earlier;
    return fill_border(c, clamped);
}

bool vf_change_border_mirrored(vf_case *c, const vf_case *earlier)
{
    (void)earlier;
    return fill_border(c, mirrored);
}

bool vf_change_border_joined(vf_case *c, const vf_case *earlier)
{
    (void)earlier;
    return fill_border(c, joined);
}

/* ---- Inputs of an earlier call. */

static bool lend(vf_case *c, const vf_case *earlier, const char *name)
{
    bool any = false;
    for (int i = 0; i < c->call.count; i++) {
        const cnn_operand *o = &c->call.operands[i];
        if (o->access != CNN_IN || c->before[i] == NULL || (name != NULL && strcmp(o->name, name) != 0)) continue;
        memcpy(c->before[i], earlier->before[i], (size_t)o->count * sizeof(double));
        any = true;
    }
    return any;
}

bool vf_change_earlier_w(vf_case *c, const vf_case *earlier) { return lend(c, earlier, "w"); }
bool vf_change_earlier_x(vf_case *c, const vf_case *earlier) { return lend(c, earlier, "x"); }
bool vf_change_earlier_dy(vf_case *c, const vf_case *earlier) { return lend(c, earlier, "dy"); }
bool vf_change_earlier_bias(vf_case *c, const vf_case *earlier) { return lend(c, earlier, "b"); }
bool vf_change_earlier_all(vf_case *c, const vf_case *earlier) { return lend(c, earlier, NULL); }

/* ---- The problem. */

static bool swap(int64_t *a, int64_t *b)
{
    const int64_t kept = *a;
    *a = *b;
    *b = kept;
    return *a != *b;
}

#define CONV(c) (&(c)->problem.u.conv)
#define CHANGE(name, ...)                                                                                              \
    bool vf_change_##name(vf_case *c, const vf_case *earlier)                                                          \
    {                                                                                                                  \
        (void)earlier;                                                                                                 \
        if (!cnn_is_conv(&c->problem)) return false;                                                                   \
        cnn_conv_desc *d = CONV(c);                                                                                    \
        __VA_ARGS__                                                                                                    \
    }
CHANGE(padding_swapped, return swap(&d->ph, &d->pw);)
CHANGE(strides_swapped, return swap(&d->sh, &d->sw);)
CHANGE(dilations_swapped, return swap(&d->dh, &d->dw);)
CHANGE(no_padding, const bool any = d->ph != 0 || d->pw != 0; d->ph = d->pw = 0; return any;)
CHANGE(no_stride, const bool any = d->sh != 1 || d->sw != 1; d->sh = d->sw = 1; return any;)
CHANGE(no_dilation, const bool any = d->dh != 0 || d->dw != 0; d->dh = d->dw = 0; return any;)
CHANGE(no_row_dilation, const bool any = d->dh != 0; d->dh = 0; return any;)
CHANGE(no_column_dilation, const bool any = d->dw != 0; d->dw = 0; return any;)
CHANGE(dilation_from_one, const bool any = d->dh > 1 || d->dw > 1; d->dh -= d->dh > 0; d->dw -= d->dw > 0; return any;)
CHANGE(dilation_of_one, const bool any = d->dh > 1 || d->dw > 1; d->dh = d->dh > 0; d->dw = d->dw > 0; return any;)
CHANGE(row_dilation_of_one, const bool any = d->dh > 1; d->dh = d->dh > 0; return any;)
CHANGE(column_dilation_of_one, const bool any = d->dw > 1; d->dw = d->dw > 0; return any;)
