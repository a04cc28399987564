/* loss.cu: softmax and cross-entropy: a row (image) a thread, or a warp where there are many classes.
 *
 * The exponents and the sum are in double, as everywhere in this suite: rows are few and short. Losses and hits are
 * summed in a fixed order: a block's by a tree, the blocks' one after another; up to ONE_BLOCK rows one block does it
 * all, and one launch. Bottleneck: the launch. */
#include "harness/cuda/launch.h"
#include "harness/cuda/reduce.h"
#include "harness/cuda/workspaces.h"

enum { ONE_BLOCK = 1024, PART_ROWS = 256, MANY_CLASSES = 64 };

struct loss_part {
    double loss;
    int64_t correct;
};

struct loss_shape {
    int64_t rows, classes, rows_a_block;
    int lanes; /* threads a row: 1 or 32 */
};

template <typename T> struct loss_vectors {
    const T *x;
    const int32_t *labels;
    T *y;
};

/* The largest of the lanes' values. NaN never wins, as in the loops of one lane. */
__device__ inline double lanes_max(double v, int lanes)
{
    for (int step = lanes / 2; step > 0; step /= 2) {
        const double other = __shfl_xor_sync(0xffffffffu, v, step);
        v = other > v ? other : v;
    }
    return v;
}

/* Softmax of one row by `lanes` neighbouring threads; all of them get the same loss and hit. A row of NaN is no hit. */
template <typename T>
__device__ loss_part softmax_row(const loss_vectors<T> &v, const loss_shape &s, int64_t row, int lane, bool valid)
{
    const T *x = v.x + row * s.classes;
    T *y = v.y + row * s.classes;
    const int64_t classes = valid ? s.classes : 0, label = valid ? v.labels[row] : 0;
    const double mine = valid ? static_cast<double>(x[label]) : 0.0;
    double max = valid ? static_cast<double>(x[0]) : 0.0, sum = 0, beaten = 0;
    for (int64_t k = lane; k < classes; k += s.lanes) {
        const double at = static_cast<double>(x[k]);
        max = at > max ? at : max;
        beaten += k < label ? !(at < mine) : !(at <= mine);
    }
    max = lanes_max(max, s.lanes);
    for (int64_t k = lane; k < classes; k += s.lanes) sum += exp(static_cast<double>(x[k]) - max);
    if (s.lanes == 32) {
        sum = cuda_warp_sum(sum);
        beaten = cuda_warp_sum(beaten);
    }
    for (int64_t k = lane; k < classes; k += s.lanes) y[k] = static_cast<T>(exp(static_cast<double>(x[k]) - max) / sum);
    if (!valid) return {0, 0};
    return {log(sum) - (mine - max), beaten == 0};
}

template <typename T>
__global__ void loss_fwd_kernel(loss_shape s, loss_vectors<T> v, loss_part *parts, double *loss_sum, int64_t *correct)
{
    __shared__ double losses[32], hits[32];
    const int lane = static_cast<int>(threadIdx.x) % s.lanes;
    const int64_t rows = blockDim.x / s.lanes, first = blockIdx.x * s.rows_a_block;
    loss_part sum = {0, 0};
    for (int64_t r = threadIdx.x / s.lanes; r - threadIdx.x / s.lanes < s.rows_a_block; r += rows) {
        const bool valid = r < s.rows_a_block && first + r < s.rows;
        const loss_part part = softmax_row(v, s, valid ? first + r : 0, lane, valid);
        if (lane != 0) continue;
        sum.loss += part.loss;
        sum.correct += part.correct;
    }
    const double loss = cuda_block_sum(sum.loss, losses), hit = cuda_block_sum(static_cast<double>(sum.correct), hits);
    if (threadIdx.x != 0) return;
    if (parts != NULL) {
        parts[blockIdx.x] = {loss, static_cast<int64_t>(hit)};
        return;
    }
    if (loss_sum != NULL) *loss_sum += loss;
    if (correct != NULL) *correct += static_cast<int64_t>(hit);
}

__global__ void loss_sum_kernel(int64_t count, const loss_part *parts, double *loss_sum, int64_t *correct)
{
    loss_part sum = {0, 0};
    for (int64_t i = 0; i < count; i++) {
        sum.loss += parts[i].loss;
        sum.correct += parts[i].correct;
    }
    if (loss_sum != NULL) *loss_sum += sum.loss;
    if (correct != NULL) *correct += sum.correct;
}

static int64_t parts_of(const cnn_loss_desc *d) { return d->mb <= ONE_BLOCK ? 0 : (d->mb + PART_ROWS - 1) / PART_ROWS; }

size_t cuda_loss_workspace(const cnn_loss_desc *d, cnn_dir dir)
{
    return dir == CNN_FWD ? static_cast<size_t>(parts_of(d)) * sizeof(loss_part) : 0;
}

template <typename T>
static cnn_status forward(cuda_context *c, const cnn_loss_desc *d, const cnn_loss_args *a, cnn_error *err)
{
    const int64_t parts = parts_of(d), rows = parts > 0 ? static_cast<int64_t>(PART_ROWS) : d->mb;
    const loss_shape s = {d->mb, d->ic, rows, d->ic >= MANY_CLASSES ? 32 : 1};
    const int64_t threads = (rows * s.lanes + 31) / 32 * 32;
    const loss_vectors<T> v = {static_cast<const T *>(a->x), a->labels, static_cast<T *>(a->y)};
    const cuda_shape shape = {"loss_fwd", dim3(static_cast<unsigned>(parts > 0 ? parts : 1)),
                              dim3(static_cast<unsigned>(threads < 256 ? threads : 256)), 0};
    loss_part *room = parts > 0 ? static_cast<loss_part *>(a->workspace) : NULL;
    const cnn_status status = cuda_launch(c, shape, err, loss_fwd_kernel<T>, s, v, room, a->loss_sum, a->correct);
    if (status != CNN_OK || parts == 0) return status;
    const cuda_shape one = {"loss_sum", dim3(1), dim3(1), 0};
    return cuda_launch(c, one, err, loss_sum_kernel, parts, static_cast<const loss_part *>(room), a->loss_sum,
                       a->correct);
}

template <typename T>
__global__ void loss_bwd_kernel(int64_t count, int64_t classes, const T *y, const int32_t *labels, T *dx, T scale)
{
    for (CUDA_GRID_STRIDE(i, count)) {
        const int64_t row = i / classes;
        dx[i] = (i - row * classes == labels[row] ? y[i] - 1 : y[i]) * scale;
    }
}

template <typename T>
static cnn_status backward(cuda_context *c, const cnn_loss_desc *d, const cnn_loss_args *a, cnn_error *err)
{
    const int64_t count = d->mb * d->ic;
    return cuda_launch(c, cuda_shape_1d(c, "loss_bwd", count, 0, 0), err, loss_bwd_kernel<T>, count, d->ic,
                       static_cast<const T *>(a->y), a->labels, static_cast<T *>(a->dx), static_cast<T>(a->scale));
}

cnn_status cuda_loss_fwd(cnn_context *context, const cnn_plan *plan, const cnn_loss_args *args, cnn_error *err)
{
    cuda_context *c = reinterpret_cast<cuda_context *>(context);
    const cnn_loss_desc *d = &plan->problem.u.loss;
    return d->t.dtype == CNN_F32 ? forward<float>(c, d, args, err) : forward<double>(c, d, args, err);
}

cnn_status cuda_loss_bwd(cnn_context *context, const cnn_plan *plan, const cnn_loss_args *args, cnn_error *err)
{
    cuda_context *c = reinterpret_cast<cuda_context *>(context);
    const cnn_loss_desc *d = &plan->problem.u.loss;
    return d->t.dtype == CNN_F32 ? backward<float>(c, d, args, err) : backward<double>(c, d, args, err);
}
