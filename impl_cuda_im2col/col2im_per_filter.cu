/* col2im_per_filter.cu: version 1: a thread adds one whole column back into the (padded) tensor.
 *
 * Windows overlap, so each addition is atomic, and the order in which they arrive differs from run to run: not
 * deterministic. Expected bottleneck: too few threads, as in im2col's version 1, and atomics on top. */
#include "impl_cuda_im2col/columns.h"

template <typename T> static __global__ void add_windows(cucol_geometry g, const T *columns, T *padded)
{
    const int64_t windows = (int64_t)g.n * g.pixels;
    for (CUDA_GRID_STRIDE(e, windows)) {
        column_place at = window_at(g, (uint32_t)e);
        const T *column = columns + at.n * g.image_stride + (int64_t)at.p * g.ow + at.q;
        for (int32_t row = 0; row < g.rows; row++) {
            at.row = (uint32_t)row;
            atomicAdd(&padded[padded_offset(g, at)], column[row * g.row_stride]);
        }
    }
}

cnn_status cucol_col2im_per_filter(cucol_context *context, const cnn_plan *plan, const cucol_geometry *g,
                                   const void *columns, void *tensor, bool, cnn_error *err)
{
    const cuda_shape shape = cucol_shape(context, plan, "col2im thread_per_filter", window_count(*g),
                                         CUCOL_KNOB_COL2IM_THREADS, CUCOL_KNOB_COL2IM_BLOCKS);
    return CUCOL_LAUNCH(context, plan, shape, err, add_windows, *g, columns, tensor);
}
