/* limits.c: what oneDNN's convolutions and FC cannot do, or do not do right. */
#include "onednn.h"

#include <limits.h>
#include <string.h>

/* Only those sums of s32 that 24 bits hold: oneDNN's pass through an f32. */
static void check_sums(onednn_build *b, const cnn_conv_desc *d, int64_t products)
{
    const int64_t largest = cnn_part_dtype(d->t.dtype, CNN_PART_FACTOR) == CNN_U8 ? 255 * 128 : 128 * 128;
    if (!cnn_is_quantized(d->t.dtype) && products > (1 << 24) / largest)
        onednn_refuse(b, CNN_UNSUPPORTED,
                      "%s: a sum of %lld products may need more than 24 bits, and oneDNN's sums pass through an f32",
                      cnn_dtype_name(d->t.dtype), (long long)products);
}

/* Seen with 2.6.3, in 9,940 problems of 16 bits and 6,880 of 8. Of 16 bits: where a stride is wider than the image, a
 * column beside x is multiplied by 0, and NaN stays NaN; where 1x1 takes one pixel in several, of channels that do not
 * fill its vectors, it writes past its scratchpad. Of 8 bits, signed, in groups: sums are
 * wrong; those of taps in sixteens in 1,284 of 10,810 problems around them, all without whole fours of channels.
 * Winograd's BWD_D takes the padding above for that below: 89 of 2,807 problems were wrong, and none of the 4,436 with
 * as many rows above as below. It is right with columns. */
static void check_faults(onednn_build *b, const cnn_conv_desc *d, int64_t products)
{
    const bool x_signed = cnn_sums_whole(d->t.dtype) && cnn_part_dtype(d->t.dtype, CNN_PART_FACTOR) == CNN_S8;
    if (x_signed && d->g > 1 && products == 8 && d->oc == 8)
        onednn_refuse(b, CNN_UNSUPPORTED,
                      "%s, %lld groups, sums of 8 products, 8 output channels: oneDNN 2.6 computes them wrong",
                      cnn_dtype_name(d->t.dtype), (long long)d->g);
    if (x_signed && d->g > 1 && d->ic / d->g % 4 != 0 && d->oc % 4 != 0 && d->kh * d->kw % 16 == 0)
        onednn_refuse(
            b, CNN_UNSUPPORTED, "%s, %lld groups of %lld channels, %lld taps: oneDNN 2.6 computes some of them wrong",
            cnn_dtype_name(d->t.dtype), (long long)d->g, (long long)(d->ic / d->g), (long long)(d->kh * d->kw));
    if (b->request->algorithm->id == ONEDNN_WINOGRAD && b->request->dir == CNN_BWD_D && d->ph != d->ph_r)
        onednn_refuse(
            b, CNN_UNSUPPORTED,
            "BWD_D by winograd, %lld rows of padding above and %lld below: oneDNN 2.6 takes one for the other",
            (long long)d->ph, (long long)d->ph_r);
    if (b->request->dir != CNN_BWD_W || cnn_part_dtype(d->t.dtype, CNN_PART_FACTOR) != CNN_BF16) return;
    if (d->sw > d->iw)
        onednn_refuse(b, CNN_UNSUPPORTED,
                      "BWD_W in bf16, a stride of %lld columns in an image of %lld: oneDNN 2.6 reads beside x",
                      (long long)d->sw, (long long)d->iw);
    if (d->kh == 1 && d->kw == 1 && (d->sh > 1 || d->sw > 1) && d->ic % 16 != 0)
        onednn_refuse(b, CNN_UNSUPPORTED,
                      "BWD_W in bf16, 1x1 with a stride, %lld channels, which are no multiple of 16: oneDNN 2.6 writes "
                      "past its scratchpad",
                      (long long)d->ic);
}

static bool reads_padding_alone(int64_t i, int64_t k, int64_t pad, int64_t dilation)
{
    int64_t first, last;
    cnn_tap_range(0, i, k, 1, pad, dilation, &first, &last);
    return first == last;
}

/* Whether y is one pixel whose taps lie in the padding, all of them. */
static bool is_beside_x(const cnn_conv_desc *d)
{
    return d->od * d->oh * d->ow == 1 &&
           (reads_padding_alone(d->id, d->kd, d->pd, d->dd) || reads_padding_alone(d->ih, d->kh, d->ph, d->dh) ||
            reads_padding_alone(d->iw, d->kw, d->pw, d->dw));
}

/* Seen with 2.6.3, where channels do not come in whole vectors. brgconv: where an image's result is one pixel beside x,
 * a residual is added wrong to the last channels. With AVX-512: jit reads past dx in BWD_D, up to a vector, in groups
 * with more than 512 channels of dy; jit_1x1 with a stride writes past its scratchpad in BWD_W, as in bf16. */
bool onednn_conv_takes(void *user, const char *kernel)
{
    onednn_build *b = user;
    const cnn_problem *p = b->request->problem;
    if (!cnn_is_conv(p)) return true;
    const cnn_conv_desc d = cnn_with_depth(p);
    const cnn_dir dir = b->request->dir;
    const bool jit = strncmp(kernel, "jit:avx512", 10) == 0, jit_1x1 = strncmp(kernel, "jit_1x1:avx512", 14) == 0;
    const bool vectors = d.ic / d.g % 16 == 0, strided = d.sd > 1 || d.sh > 1 || d.sw > 1;
    if (strncmp(kernel, "brgconv", 7) == 0 && cnn_epilogue_of(p).add && is_beside_x(&d))
        return onednn_pass_over(b, kernel, "add z wrong beside x");
    if (jit && dir == CNN_BWD_D && d.g > 1 && d.oc / d.g > 512 && !vectors)
        return onednn_pass_over(b, kernel, "read past dx");
    if (jit_1x1 && dir == CNN_BWD_W && strided && !vectors)
        return onednn_pass_over(b, kernel, "write past its scratchpad");
    return true;
}

void onednn_check_weighted(onednn_build *b, const cnn_conv_desc *d)
{
    const bool depth = b->request->problem->op == CNN_OP_CONV3D;
    const int64_t sizes[] = {d->mb, d->ic, d->oc, d->ih, d->iw, d->oh, d->ow, d->kh, d->kw, depth ? d->id : 0};
    const int64_t beyond[3][2] = {{d->ph_r, d->sh}, {d->pw_r, d->sw}, {depth ? d->pd_r : 0, depth ? d->sd : 1}};
    int64_t filter = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i] > INT_MAX)
            onednn_refuse(b, CNN_UNSUPPORTED, "%lld is more than oneDNN's kernels count to", (long long)sizes[i]);
    if (!cnn_mul4(d->ic, d->kh, d->kw, depth ? d->kd : 1, &filter) || filter > INT_MAX)
        onednn_refuse(b, CNN_UNSUPPORTED, "a filter of more than %d weights is more than oneDNN's kernels count to",
                      INT_MAX);
    if (d->flip) onednn_refuse(b, CNN_UNSUPPORTED, "oneDNN does not flip the kernel");
    for (int i = 0; i < 3; i++)
        if (beyond[i][0] + beyond[i][1] <= 0)
            onednn_refuse(
                b, CNN_UNSUPPORTED,
                "%lld rows or columns at the end are not read: oneDNN takes less than a stride (%lld) of them",
                (long long)-beyond[i][0], (long long)beyond[i][1]);
    if (cnn_sums_whole(d->t.dtype)) check_sums(b, d, filter / d->g);
    check_faults(b, d, filter / d->g);
}
