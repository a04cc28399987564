/* im2col_per_filter.cu: version 1: a thread copies one whole window, channel after channel, tap after tap.
 *
 * Neighbouring threads hold neighbouring windows, so their writes stand side by side; their reads are sw apart.
 * Expected bottleneck: too few threads, each with a long chain of copies. An image has only oh*ow windows: 5 images of
 * 8 x 8 make 320 threads on a device that wants 200,000. */
#include "impl_cuda_im2col/columns.h"

template <typename T>
static __global__ void copy_windows(cucol_geometry g, const T *padded, T *columns, cucol_bias bias)
{
    write_bias<T>(bias);
    const int64_t windows = (int64_t)g.n * g.pixels;
    for (CUDA_GRID_STRIDE(e, windows)) {
        column_place at = window_at(g, (uint32_t)e);
        T *column = columns + at.n * g.image_stride + (int64_t)at.p * g.ow + at.q;
        for (int32_t row = 0; row < g.rows; row++) {
            at.row = (uint32_t)row;
            column[row * g.row_stride] = padded[padded_offset(g, at)];
        }
    }
}

cnn_status cucol_im2col_per_filter(cucol_context *context, const cnn_plan *plan, const cucol_geometry *g,
                                   const void *tensor, void *columns, const cucol_bias *bias, cnn_error *err)
{
    const cuda_shape shape = cucol_shape(context, plan, "im2col thread_per_filter", window_count(*g),
                                         CUCOL_KNOB_IM2COL_THREADS, CUCOL_KNOB_IM2COL_BLOCKS);
    return CUCOL_LAUNCH(context, plan, shape, err, copy_windows, *g, tensor, columns, *bias);
}
