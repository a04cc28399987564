/* col2im_per_element.cu: version 2: a thread adds one element of the columns back into the (padded) tensor.
 *
 * What changed: rows times as many threads, all reads side by side. Still atomic, still not deterministic. Expected
 * bottleneck: the atomics, (kh*kw)/(sh*sw) of them to each pixel. */
#include "impl_cuda_im2col/columns.h"

template <typename T> static __global__ void add_elements(cucol_geometry g, const T *columns, T *padded)
{
    const int64_t count = (int64_t)g.n * g.rows * g.pixels;
    for (CUDA_GRID_STRIDE(e, count)) atomicAdd(&padded[padded_offset(g, column_at(g, (uint32_t)e))], columns[e]);
}

cnn_status cucol_col2im_per_element(cucol_context *context, const cnn_plan *plan, const cucol_geometry *g,
                                    const void *columns, void *tensor, bool, cnn_error *err)
{
    const cuda_shape shape = cucol_shape(context, plan, "col2im thread_per_element", column_count(*g),
                                         CUCOL_KNOB_COL2IM_THREADS, CUCOL_KNOB_COL2IM_BLOCKS);
    return CUCOL_LAUNCH(context, plan, shape, err, add_elements, *g, columns, tensor);
}
