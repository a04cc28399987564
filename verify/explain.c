/* explain.c: what would explain a wrong convolution or FC layer. Authors get the same few things wrong; each is tried:
 * the reference is computed of inputs, or of a problem, that are changed so, and where all that came is within the
 * bounds of that, and not of the truth, it is named. */
#include "engine.h"

#include "harness/base/text.h"

#include <string.h>

/* Makes the change in a copy of the case; false: there is nothing to change. `earlier`: the data of the first call. */
typedef bool change(vf_case *c, const vf_case *earlier);

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

static bool w_by_columns(vf_case *c, const vf_case *earlier)
{
    (void)earlier;
    return reorder(c, false);
}

static bool w_turned(vf_case *c, const vf_case *earlier)
{
    (void)earlier;
    return reorder(c, true);
}

static bool w_channels(vf_case *c, const vf_case *earlier)
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

/* ---- Bias: each value by a factor, or all the first one's. */

static bool change_bias(vf_case *c, bool first, double factor)
{
    const cnn_operand *o;
    double *b = input(c, "b", &o);
    if (b == NULL || (first && o->count == 1)) return false;
    for (int64_t k = 0; k < o->count; k++) b[k] = first ? b[0] : b[k] * factor;
    return true;
}

static bool no_bias(vf_case *c, const vf_case *earlier)
{
    (void)earlier;
    return change_bias(c, false, 0);
}

static bool bias_twice(vf_case *c, const vf_case *earlier)
{
    (void)earlier;
    return change_bias(c, false, 2);
}

static bool first_bias(vf_case *c, const vf_case *earlier)
{
    (void)earlier;
    return change_bias(c, true, 1);
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

static bool earlier_w(vf_case *c, const vf_case *earlier) { return lend(c, earlier, "w"); }
static bool earlier_x(vf_case *c, const vf_case *earlier) { return lend(c, earlier, "x"); }
static bool earlier_dy(vf_case *c, const vf_case *earlier) { return lend(c, earlier, "dy"); }
static bool earlier_bias(vf_case *c, const vf_case *earlier) { return lend(c, earlier, "b"); }
static bool earlier_all(vf_case *c, const vf_case *earlier) { return lend(c, earlier, NULL); }

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
    static bool name(vf_case *c, const vf_case *earlier)                                                               \
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

static const struct {
    const char *what;
    change *make;
} explanations[] = {
    {"it is what comes of the w of an earlier call: something is kept from call to call, by its address", earlier_w},
    {"it is what comes of the x of an earlier call: something is kept from call to call, by its address", earlier_x},
    {"it is what comes of the dy of an earlier call: something is kept from call to call, by its address", earlier_dy},
    {"it is what comes of the b of an earlier call: something is kept from call to call, by its address", earlier_bias},
    {"it is the result of an earlier call: something is kept from call to call, by its address", earlier_all},
    {"it is what comes of w with its rows and columns swapped", w_by_columns},
    {"it is what comes of w turned by 180 degrees: convolution and cross-correlation are mixed up", w_turned},
    {"it is what comes of w with its input and output channels swapped", w_channels},
    {"it is what comes without the bias", no_bias},
    {"it is what comes of twice the bias", bias_twice},
    {"it is what comes of the first channel's bias for all", first_bias},
    {"it is what comes of ph and pw swapped", padding_swapped},
    {"it is what comes of sh and sw swapped", strides_swapped},
    {"it is what comes of dh and dw swapped", dilations_swapped},
    {"it is what comes without the padding", no_padding},
    {"it is what comes of a stride of 1", no_stride},
    {"it is what comes without the dilation", no_dilation},
    {"it is what comes with dh = 0: the dilation of rows is left out", no_row_dilation},
    {"it is what comes with dw = 0: the dilation of columns is left out", no_column_dilation},
    {"it is what comes of a dilation that is one less: dh counts the pixels left out, from 0", dilation_from_one},
};

/* Whether all results are within the bounds of what the case expects. */
static bool held(const vf_case *c, const vf_run *run, const vf_rounding *bounds)
{
    for (int i = 0; i < c->call.count; i++) {
        if (c->after[i] == NULL || run->after[i] == NULL) continue;
        const vf_allowance allowance = vf_allow(bounds, &c->call.out[i], c->call.operands[i].count);
        for (int64_t e = 0; e < c->call.operands[i].count; e++)
            if (!vf_held(c->after[i][e], run->after[i][e], vf_allowed(&allowance, e))) return false;
    }
    return true;
}

static bool explains(const vf_subject *s, const vf_case *c, const vf_case *earlier, const vf_run *run, change *make)
{
    vf_case changed;
    cnn_error why;
    if (vf_case_copy(c, &changed, &why) != CNN_OK) return false;
    const bool so = make(&changed, earlier) && vf_go_on(&s->engine->options, &why) == CNN_OK &&
                    vf_case_again(&changed, s->engine->options.reference_threads, &why) == CNN_OK &&
                    held(&changed, run, &s->rounding);
    vf_case_free(&changed);
    return so;
}

/* Each explanation costs a reference. */
static const double most_flops = 3e7;

void vf_explain(const vf_subject *s, const vf_case *c, const vf_run *run, verify_result *result)
{
    vf_case earlier;
    cnn_error why;
    if (s->failed || !cnn_is_weighted(s->problem) || cnn_flops(s->problem, s->dir) > most_flops) return;
    if (held(c, run, &s->rounding)) return; /* no more than a rounding apart: nothing else is to blame */
    if (vf_case_make(&earlier, s->problem, s->dir, VF_DATA, 0, vf_other_seed(s), s->engine->pool, &why) != CNN_OK)
        return;
    for (size_t i = 0; i < sizeof explanations / sizeof *explanations; i++)
        if (explains(s, c, &earlier, run, explanations[i].make)) {
            cnn_append(result->reason, sizeof result->reason, ": %s", explanations[i].what);
            break;
        }
    vf_case_free(&earlier);
}
