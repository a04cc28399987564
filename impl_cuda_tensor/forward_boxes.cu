/* forward_boxes.cu: forward.cu's kernel on f32, with pixels as boxes (forward_boxes.h); the one whose weights stay in
 * shared memory (forward_keep.h). */
#include "impl_cuda_tensor/forward_keep.h"
#include "impl_cuda_tensor/forward_multiply.h"

namespace
{

cnn_status map_pixels(const cutensor_forward &f, const void *in, tensor_map *map, cnn_error *err)
{
    if (f.source == CUTENSOR_TAPS) { /* a place has four numbers */
        const cutensor_window *w = &f.window;
        const tensor_taps taps = {
            {f.pixels / w->by_plane.d, w->ih, w->iw, 2 * f.in.channels}, w, 8 * f.in.pixel, f.high};
        return map_taps(in, &taps, map, err);
    }
    if (f.source == CUTENSOR_ROWS) {
        const tensor_sizes rows = {1, 1, f.pixels, 2 * f.in.channels};
        return map_images(in, &rows, f.high, map, err); /* f.high: of a tile, or of a warpgroup's line */
    }
    const tensor_sizes planes = {1, f.pixels / f.window.by_plane.d, f.in.channels, 2 * f.plane};
    return map_images(in, &planes, BOX_PIXELS, map, err);
}

template <int SOURCE>
cnn_status launch_boxes(cuda_context *c, const cutensor_plan *p, const operands &o, cnn_error *err)
{
    cuda_shape shape = {"implicit_gemm_of_boxes", dim3(static_cast<unsigned>(p->blocks)),
                        dim3(static_cast<unsigned>(p->threads)), static_cast<size_t>(p->shared_bytes)};
    tensor_map map;
    const cnn_status status = map_pixels(p->forward, o.in, &map, err);
    if (status != CNN_OK) return status;
    shape.overlaps = true;
    if (p->forward.keeps)
        return cuda_launch(c, shape, err,
                           p->weights.parts == 2 ? implicit_gemm_of_lines<SOURCE, 2>
                                                 : implicit_gemm_of_lines<SOURCE, 1>,
                           p->forward, map, o);
#define TILE(id, PARTS, WARPGROUPS, HIGH, WIDE)                                                                        \
    if (p->forward.tile == id && p->weights.parts == PARTS)                                                            \
        return cuda_launch(c, shape, err, implicit_gemm_of_boxes<SOURCE, PARTS, WARPGROUPS, HIGH, WIDE>, p->forward,   \
                           map, o);
#include "impl_cuda_tensor/tiles.inc"
#undef TILE
    return CNN_FAIL(err, CNN_INTERNAL, "no kernel of tile %d with %d parts", p->forward.tile, p->weights.parts);
}

} // namespace

cnn_status cutensor_forward_boxes_run(cuda_context *c, const cutensor_plan *p, const cutensor_operands *o,
                                      cnn_error *err)
{
    return p->forward.source == CUTENSOR_PLANES ? launch_boxes<CUTENSOR_PLANES>(c, p, *o, err)
                                                : launch_boxes<CUTENSOR_ROWS>(c, p, *o, err);
}
