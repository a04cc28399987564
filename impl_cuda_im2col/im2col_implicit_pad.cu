/* im2col_implicit_pad.cu: version 3: columns straight from x, without a padded copy.
 *
 * What changed: the padding is a test instead of a copy (one kernel and one trip through memory less), and a thread
 * keeps its window for im2col.rows rows of columns, so that the divisions are done once and the next tap is an
 * increment. Blocks in x take windows, blocks in y take rows. Expected bottleneck: writing the columns, which no im2col
 * can avoid. */
#include "impl_cuda_im2col/columns.h"

static const int64_t most_grid_y = 65535;

/* A thread makes some rows of one column: window and image are found once, and tap and channel count up without a
 * division. */
template <typename T>
static __global__ void copy_rows(cucol_geometry g, const T *__restrict__ x, T *__restrict__ columns, cucol_bias bias,
                                 int32_t thread_rows)
{
    write_bias<T>(bias);
    const int64_t windows = (int64_t)g.n * g.pixels;
    for (CUDA_GRID_STRIDE(e, windows)) {
        const column_place at = window_at(g, (uint32_t)e);
        const T *image = x + at.n * g.tensor.image;
        T *column = columns + at.n * g.image_stride + (int64_t)at.p * g.ow + at.q;
        const int32_t h0 = (int32_t)at.p * g.sh + g.h0, w0 = (int32_t)at.q * g.sw + g.w0;
        for (int64_t first = (int64_t)blockIdx.y * thread_rows; first < g.rows;
             first += (int64_t)gridDim.y * thread_rows) {
            const int32_t last = first + thread_rows < g.rows ? (int32_t)first + thread_rows : g.rows;
            int32_t b = (int32_t)first % g.kw, a = (int32_t)first / g.kw % g.kh, c = (int32_t)first / g.kw / g.kh;
            for (int32_t row = (int32_t)first; row < last; row++) {
                const int32_t h = h0 + a * g.hstep, w = w0 + b * g.wstep;
                const bool inside = h >= 0 && h < g.ih && w >= 0 && w < g.iw;
                column[row * g.row_stride] =
                    inside ? image[c * g.tensor.channel + h * g.tensor.row + w * g.tensor.pixel] : T(0);
                if (++b < g.kw) continue;
                b = 0;
                if (++a < g.kh) continue;
                a = 0;
                c++;
            }
        }
    }
}

cnn_status cucol_im2col_implicit_pad(cucol_context *context, const cnn_plan *plan, const cucol_geometry *g,
                                     const void *tensor, void *columns, const cucol_bias *bias, cnn_error *err)
{
    const int64_t thread_rows = plan->knobs[CUCOL_KNOB_IM2COL_ROWS];
    const int64_t blocks = (g->rows + thread_rows - 1) / thread_rows;
    cuda_shape shape = cucol_shape(context, plan, "im2col implicit_pad", window_count(*g), CUCOL_KNOB_IM2COL_THREADS,
                                   CUCOL_KNOB_IM2COL_BLOCKS);
    shape.grid.y = (unsigned)(blocks < most_grid_y ? blocks : most_grid_y);
    return CUCOL_LAUNCH(context, plan, shape, err, copy_rows, *g, tensor, columns, *bias, thread_rows);
}
