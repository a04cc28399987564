/* im2col_per_element.cu: version 2: a thread copies one element of the columns.
 *
 * What changed: rows times as many threads, all writes side by side in memory. Expected bottleneck: five divisions to
 * find out where an element belongs cost more than copying it, and the padded copy is a pass of its own over x. */
#include "impl_cuda_im2col/columns.h"

template <typename T>
static __global__ void copy_elements(cucol_geometry g, const T *padded, T *columns, cucol_bias bias)
{
    write_bias<T>(bias);
    const int64_t count = (int64_t)g.n * g.rows * g.pixels;
    for (CUDA_GRID_STRIDE(e, count)) columns[e] = padded[padded_offset(g, column_at(g, (uint32_t)e))];
}

cnn_status cucol_im2col_per_element(cucol_context *context, const cnn_plan *plan, const cucol_geometry *g,
                                    const void *tensor, void *columns, const cucol_bias *bias, cnn_error *err)
{
    const cuda_shape shape = cucol_shape(context, plan, "im2col thread_per_element", column_count(*g),
                                         CUCOL_KNOB_IM2COL_THREADS, CUCOL_KNOB_IM2COL_BLOCKS);
    return CUCOL_LAUNCH(context, plan, shape, err, copy_elements, *g, tensor, columns, *bias);
}
