/* pad.cu: the padded copy of the report: x with its zeros around it, and back.
 *
 * It makes the copying kernels simple (no test for the edge) and costs a trip through memory. As both sides are given
 * by strides, the same kernels change the layout: FC uses them, without padding, to turn weights into NHWC's order. */
#include "impl_cuda_im2col/columns.h"

static __device__ inline int64_t offset_in(const cucol_view &view, int64_t n, int32_t c, int32_t h, int32_t w)
{
    return n * view.image + (int64_t)c * view.channel + (int64_t)h * view.row + (int64_t)w * view.pixel;
}

/* Element `e` of n x c x h x w in that order, whatever the layout: neighbouring threads hold neighbouring pixels. */
struct pixel_place {
    int32_t n, c, h, w;
};

static __device__ inline pixel_place pixel_at(uint32_t e, int32_t c, int32_t h, int32_t w)
{
    const uint32_t line = e / (uint32_t)w, plane = line / (uint32_t)h;
    pixel_place at;
    at.n = (int32_t)(plane / (uint32_t)c);
    at.c = (int32_t)(plane % (uint32_t)c);
    at.h = (int32_t)(line % (uint32_t)h);
    at.w = (int32_t)(e % (uint32_t)w);
    return at;
}

template <typename T> static __global__ void pad(cucol_copy s, const T *plain, T *padded)
{
    const int64_t count = (int64_t)s.n * s.c * s.hp * s.wp;
    for (CUDA_GRID_STRIDE(e, count)) {
        const pixel_place at = pixel_at((uint32_t)e, s.c, s.hp, s.wp);
        const int32_t h = at.h - s.ph, w = at.w - s.pw;
        const bool inside = h >= 0 && h < s.ih && w >= 0 && w < s.iw;
        padded[offset_in(s.padded, at.n, at.c, at.h, at.w)] =
            inside ? plain[offset_in(s.plain, at.n, at.c, h, w)] : T(0);
    }
}

template <typename T> static __global__ void crop(cucol_copy s, const T *padded, T *plain, bool add)
{
    const int64_t count = (int64_t)s.n * s.c * s.ih * s.iw;
    for (CUDA_GRID_STRIDE(e, count)) {
        const pixel_place at = pixel_at((uint32_t)e, s.c, s.ih, s.iw);
        const int32_t h = at.h + s.ph, w = at.w + s.pw;
        const bool inside = h < s.hp && w < s.wp;
        const T value = inside ? padded[offset_in(s.padded, at.n, at.c, h, w)] : T(0);
        T *pixel = plain + offset_in(s.plain, at.n, at.c, at.h, at.w);
        *pixel = add ? *pixel + value : value;
    }
}

cnn_status cucol_pad(cucol_context *context, const cnn_plan *plan, const cucol_copy *s, const void *plain, void *padded,
                     cnn_error *err)
{
    const cuda_shape shape = cucol_shape(context, plan, "padded copy", (int64_t)s->n * s->c * s->hp * s->wp,
                                         CUCOL_KNOB_IM2COL_THREADS, CUCOL_KNOB_IM2COL_BLOCKS);
    return CUCOL_LAUNCH(context, plan, shape, err, pad, *s, plain, padded);
}

cnn_status cucol_crop(cucol_context *context, const cnn_plan *plan, const cucol_copy *s, const void *padded,
                      void *plain, bool add, cnn_error *err)
{
    const cuda_shape shape = cucol_shape(context, plan, "cropped copy", (int64_t)s->n * s->c * s->ih * s->iw,
                                         CUCOL_KNOB_COL2IM_THREADS, CUCOL_KNOB_COL2IM_BLOCKS);
    return CUCOL_LAUNCH(context, plan, shape, err, crop, *s, padded, plain, add);
}
