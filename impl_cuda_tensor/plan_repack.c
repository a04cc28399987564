/* plan_repack.c: which tensors in NCHW are copied to NHWC first (repack.cu). */
#include "harness/cnn/half.h"
#include "impl_cuda_tensor/plan.h"

enum { REPACK_CHANNELS = 64, REPACK_PIXELS = 32 }; /* of a block, as in repack.cu */

/* Of an image; `together`: neighbours that 16 bytes hold, where they are copied so, else 1. */
typedef struct planes_of {
    int64_t channels, pixels, together;
} planes_of;

/* False where a copy gains nothing, or takes too many blocks. */
static bool fits(const cnn_conv_desc *d, const planes_of *t)
{
    const int64_t channel_tiles = ceil_div(t->channels, REPACK_CHANNELS);
    const double blocks = (double)d->mb * (double)channel_tiles * (double)ceil_div(t->pixels, REPACK_PIXELS);
    return t->pixels > 1 && t->channels / d->g % t->together == 0 && blocks <= INT32_MAX / 2;
}

/* How a tensor is dealt out to blocks. */
static bool put_planes(const cnn_conv_desc *d, const planes_of *t, size_t bytes, cutensor_plan *m, cutensor_planes *p)
{
    const int64_t channel_tiles = ceil_div(t->channels, REPACK_CHANNELS),
                  pixel_tiles = ceil_div(t->pixels, REPACK_PIXELS);
    if (!fits(d, t)) return false;
    *p = (cutensor_planes){.channels = (int32_t)t->channels,
                           .pixels = (int32_t)t->pixels,
                           .plane = (int32_t)t->pixels,
                           .channel_tiles = (int32_t)channel_tiles,
                           .pixel_tiles = (int32_t)pixel_tiles,
                           .blocks = (int32_t)(d->mb * channel_tiles * pixel_tiles),
                           .at = cutensor_area(m, (size_t)d->mb * (size_t)t->channels * (size_t)t->pixels * bytes)};
    return true;
}

/* By the problem. Measured on an H200 at mb32, as it lies and copied, in microseconds: BWD_W of 3x3, f32 145 128 119
 * 119 and 123 106 96 96, bf16 111 86 85 133 and 63 49 44 51; FWD of 3x3, f32 77 67 67 84 and 87 72 69 85 (stride 2: 142
 * 161 and 137 136), bf16 58 38 42 75 and 45 30 31 42; of 1x1 without boxes, f32 68 and 58, bf16 160 78 and 78 41. */
static bool gains(const cnn_request *r, const cnn_conv_desc *d, bool half, const cutensor_plan *m)
{
    const bool skips = m->fold.places == 0 && (d->kh < d->sh || d->kw < d->sw); /* most of x is not read */
    if (m->is_thin) return true;
    if (r->dir != CNN_BWD_D && skips) return false;
    if (cutensor_boxes_of(r->knobs, d, r->dir) != CUTENSOR_PATCHES) return false;
    return half || r->dir == CNN_BWD_W || d->kh * d->kw == 1 || d->sh * d->sw > 1;
}

bool cutensor_plan_repack(const cnn_request *r, const cnn_conv_desc *d, cutensor_plan *m)
{
    const int64_t wish = r->knobs[CUTENSOR_KNOB_REPACK];
    const bool half = cnn_is_half(cnn_part_dtype(d->t.dtype, CNN_PART_FACTOR)), weights = r->dir == CNN_BWD_W;
    const int64_t together = half ? 8 : 4;
    const planes_of x = {d->ic, d->ih * d->iw, together}, dy = {d->oc, d->oh * d->ow, weights && !half ? 1 : together};
    const size_t before = m->bytes, bytes = half ? 2 : 4;
    const cutensor_repack thin = m->repack; /* x, or nothing */
    cutensor_repack *p = &m->repack;
    const bool has_x = r->dir == CNN_BWD_D || m->fold.places > 0 || m->is_thin;
    if (m->as_it_lies || wish == 0 || d->t.layout != CNN_NCHW || (wish == 2 && !gains(r, d, half, m))) return false;
    const bool put =
        (has_x || put_planes(d, &x, bytes, m, &p->x)) && (r->dir == CNN_FWD || put_planes(d, &dy, bytes, m, &p->dy));
    if (put) return true;
    *p = thin;
    m->bytes = before;
    return false;
}

/* In NCHW a 1x1 kernel with stride 2 reads a quarter of x, one number in two of every second line: a copy of it takes
 * half of x's bytes and a quarter. What reads them then is the kernel without a stride. Measured on an H200 at mb32,
 * ResNet-50's three, in microseconds, as it lies and copied: FWD f32 137 142 176 and 92 81 89, TF32 118 147 171 and 64
 * 55 61; BWD_W f32 271 354 393 and 115 99 79, TF32 of the last two 246 274 and 71 66. */
bool cutensor_plan_thin(const cnn_request *r, const cnn_conv_desc *d, cutensor_plan *m)
{
    const bool one = d->kh * d->kw == 1 && d->ph == 0 && d->pw == 0 && d->sh * d->sw > 1 && d->oh * d->ow > 1;
    const bool f32 = !cnn_is_half(cnn_part_dtype(d->t.dtype, CNN_PART_FACTOR));
    const planes_of x = {d->ic, d->oh * d->ow, 4}, dy = {d->oc, d->oh * d->ow, 1}; /* which is copied as well */
    if (m->as_it_lies || r->knobs[CUTENSOR_KNOB_REPACK] == 0 || r->dir == CNN_BWD_D) return false;
    if (!one || !f32 || d->t.layout != CNN_NCHW || (r->dir == CNN_BWD_W && !fits(d, &dy))) return false;
    m->is_thin = put_planes(d, &x, 4, m, &m->repack.x);
    m->repack.x.plane = (int32_t)(d->ih * d->iw);
    m->repack.x.down = (int32_t)(d->sh * d->iw);
    m->repack.x.right = (int32_t)d->sw;
    m->repack.x.by_wide = cuda_divide_by(d->ow);
    return m->is_thin;
}

cnn_conv_desc cutensor_thinned(const cnn_conv_desc *d)
{
    cnn_conv_desc thinned = *d;
    thinned.ih = d->oh;
    thinned.iw = d->ow;
    thinned.sh = thinned.sw = 1;
    return thinned;
}

bool cutensor_plan_repack_all(const cnn_request *r, const cnn_conv_desc *d, cutensor_plan *m)
{
    const planes_of x = {d->ic, d->ih * d->iw, 8}, y = {d->oc, d->oh * d->ow, 8};
    const bool forward = r->dir == CNN_FWD;
    const size_t before = m->bytes;
    cutensor_repack *p = &m->repack;
    if (m->as_it_lies || r->knobs[CUTENSOR_KNOB_REPACK] == 0 || d->t.layout != CNN_NCHW) return false;
    if (put_planes(d, forward ? &x : &y, 2, m, forward ? &p->x : &p->dy) &&
        put_planes(d, forward ? &y : &x, 2, m, &p->out))
        return true;
    *p = (cutensor_repack){.x = {.blocks = 0}};
    m->bytes = before;
    return false;
}
