/* hidden.c: products that a transform makes and no result has. Winograd and FFT compute whole tiles: with elements that
 * no output reads, with weights that never meet the image. These products must cancel in what is left, and leave
 * rounding errors of their own size; so the bound that all results of an array share is that of the largest product,
 * too. In an image in which some output has all taps inside, the results themselves are as large. */
#include "compare.h"

#include "element.h"
#include "lines.h"
#include "pieces.h"

#include <math.h>

/* Whether some output of an axis has all its taps inside: the first that has none before the image. */
static bool sees_all(int64_t in, int64_t out, int64_t taps, int64_t stride, int64_t pad, int64_t dilation)
{
    const int64_t first = pad > 0 ? (pad + stride - 1) / stride : 0;
    return first < out && first * stride - pad + (taps - 1) * (dilation + 1) < in;
}

static bool hides_products(const cnn_problem *p, cnn_dir dir)
{
    const cnn_conv_desc d = vf_as_conv(p);
    if (!cnn_is_conv(p) || d.id * d.od * d.kd > 1) return false; /* no transform takes depths */
    if (vf_conv_dir(p, dir) == CNN_BWD_D)                        /* a convolution of dy by the turned kernel */
        return !sees_all(d.oh, d.ih, d.kh, 1, (d.kh - 1) * (d.dh + 1) - d.ph, d.dh) ||
               !sees_all(d.ow, d.iw, d.kw, 1, (d.kw - 1) * (d.dw + 1) - d.pw, d.dw);
    return !sees_all(d.ih, d.oh, d.kh, d.sh, d.ph, d.dh) || !sees_all(d.iw, d.ow, d.kw, d.sw, d.pw, d.dw);
}

/* The product of the largest numbers of both factors. */
static double largest_product(const vf_case *c)
{
    double product = 1.0;
    for (int i = 0; i < c->call.count; i++)
        if (vf_is_factor(&c->call.operands[i]) && c->call.operands[i].access == CNN_IN && c->before[i] != NULL)
            product *= vf_largest_size(c->call.pool, c->before[i], c->call.operands[i].count);
    return product;
}

vf_rounding vf_rounding_in(const vf_rounding *rounding, const vf_case *c, const cnn_operand *operand)
{
    vf_rounding r = vf_rounding_for(rounding, &c->problem.u.type, operand);
    if (!r.normwise || !hides_products(&c->problem, c->call.dir)) return r;
    const double terms = vf_terms(&c->problem, c->call.dir), size = terms * largest_product(c);
    if (!isfinite(size)) return r; /* the user's own numbers: no bound is infinite for them */
    r.hidden_terms = terms;
    r.hidden = size;
    return r;
}
