/* loss.cu: softmax and cross-entropy, and the quadratic loss, also of a softmax: a row (image) by as many neighbouring
 * threads as it has classes, up to a warp.
 *
 * The exponents and the sum are in double, as everywhere in this suite: rows are few and short. Losses and hits are
 * summed by trees whose shape the number of rows and classes and the knobs alone decide; up to loss.one_block rows one
 * block does it all, and one launch. Bottleneck: the launch, and for small batches the latency of a chain of two
 * exponentials. In a type of 16 bits x and dx have it, and y is f32. */
#include "harness/cuda/hit.h"
#include "harness/cuda/layout.h"
#include "harness/cuda/real.h"
#include "harness/cuda/reduce.h"

enum { MOST_THREADS = 512 };

struct loss_part {
    double loss;
    int64_t correct;
};

struct loss_shape {
    int64_t rows, classes, rows_a_block;
    int lanes; /* threads a row: a power of two, at most 32 */
    cnn_loss_kind kind;
};

template <typename T> struct loss_vectors {
    const T *x;
    const int32_t *labels;
    cuda_real<T> *y;
};

/* The largest of the lanes' values, in each of them. NaN never wins. */
__device__ inline double lanes_max(double v, int lanes)
{
    for (int step = lanes / 2; step > 0; step /= 2) {
        const double other = __shfl_xor_sync(0xffffffffu, v, step);
        v = other > v ? other : v;
    }
    return v;
}

__device__ inline double lanes_sum(double v, int lanes)
{
    for (int step = lanes / 2; step > 0; step /= 2) v += __shfl_xor_sync(0xffffffffu, v, step);
    return v;
}

/* As all is computed here. */
template <typename T> __device__ inline double as_double(T x) { return static_cast<double>(cuda_load(x)); }

/* Softmax of one row by `lanes` neighbouring threads; all of them get the same loss and hit. A row of NaN is no hit.
 * Every thread of a warp must come; those without a row are not `valid`. */
template <typename T>
__device__ loss_part softmax_row(const loss_vectors<T> &v, const loss_shape &s, int64_t row, int lane, bool valid)
{
    const T *x = v.x + row * s.classes;
    cuda_real<T> *y = v.y + row * s.classes;
    const int64_t classes = valid ? s.classes : 0, label = valid ? v.labels[row] : 0;
    const double mine = valid ? as_double(x[label]) : 0.0;
    double max = valid ? as_double(x[0]) : 0.0, sum = 0, beaten = 0, exponential = 0;
    for (int64_t k = lane; k < classes; k += s.lanes) {
        const double at = as_double(x[k]);
        max = at > max ? at : max;
        beaten += cuda_beats(at, k < label, mine);
    }
    max = lanes_max(max, s.lanes);
    for (int64_t k = lane; k < classes; k += s.lanes) {
        exponential = exp(as_double(x[k]) - max);
        sum += exponential;
    }
    sum = lanes_sum(sum, s.lanes);
    beaten = lanes_sum(beaten, s.lanes);
    double squares = 0;
    for (int64_t k = lane; k < classes; k += s.lanes) {
        if (classes > s.lanes) exponential = exp(as_double(x[k]) - max); /* else it is still at hand */
        const cuda_real<T> p = static_cast<cuda_real<T>>(exponential / sum);
        const double off = static_cast<double>(p) - (k == label ? 1 : 0);
        squares += off * off;
        y[k] = p;
    }
    if (s.kind == CNN_LOSS_SOFTMAX_QUADRATIC) squares = lanes_sum(squares, s.lanes);
    if (!valid) return {0, 0};
    return {s.kind == CNN_LOSS_SOFTMAX_QUADRATIC ? squares / 2 : log(sum) - (mine - max), beaten == 0};
}

/* The quadratic loss of one row, likewise. */
template <typename T>
__device__ loss_part quadratic_row(const loss_vectors<T> &v, const loss_shape &s, int64_t row, int lane, bool valid)
{
    const T *x = v.x + row * s.classes;
    const int64_t classes = valid ? s.classes : 0, label = valid ? v.labels[row] : 0;
    const double mine = valid ? as_double(x[label]) : 0.0;
    double squares = 0, beaten = 0;
    for (int64_t k = lane; k < classes; k += s.lanes) {
        const double at = as_double(x[k]), off = k == label ? at - 1 : at;
        squares += off * off;
        beaten += cuda_beats(at, k < label, mine);
        v.y[row * s.classes + k] = cuda_load(x[k]);
    }
    squares = lanes_sum(squares, s.lanes);
    beaten = lanes_sum(beaten, s.lanes);
    if (!valid) return {0, 0};
    return {squares / 2, beaten == 0};
}

template <typename T>
__global__ void __launch_bounds__(MOST_THREADS)
    loss_fwd_kernel(loss_shape s, loss_vectors<T> v, loss_part *parts, double *loss_sum, int64_t *correct)
{
    CUDA_SHARED(double, losses, [32]);
    CUDA_SHARED(double, hits, [32]);
    const int lane = static_cast<int>(threadIdx.x) % s.lanes;
    const int64_t rows = blockDim.x / s.lanes, first = blockIdx.x * s.rows_a_block;
    loss_part sum = {0, 0};
    for (int64_t r = threadIdx.x / s.lanes; r - threadIdx.x / s.lanes < s.rows_a_block; r += rows) {
        const bool valid = r < s.rows_a_block && first + r < s.rows;
        const loss_part part = s.kind == CNN_LOSS_QUADRATIC ? quadratic_row(v, s, valid ? first + r : 0, lane, valid)
                                                            : softmax_row(v, s, valid ? first + r : 0, lane, valid);
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

/* One warp. */
__global__ void loss_sum_kernel(int64_t count, const loss_part *parts, double *loss_sum, int64_t *correct)
{
    double loss = 0, hits = 0;
    for (int64_t i = threadIdx.x; i < count; i += 32) {
        loss += parts[i].loss;
        hits += static_cast<double>(parts[i].correct);
    }
    loss = cuda_warp_sum(loss);
    hits = cuda_warp_sum(hits);
    if (threadIdx.x != 0) return;
    if (loss_sum != NULL) *loss_sum += loss;
    if (correct != NULL) *correct += static_cast<int64_t>(hits);
}

static int lanes_for(int64_t classes)
{
    int lanes = 1;
    while (lanes < 32 && lanes < classes) lanes *= 2;
    return lanes;
}

/* plan->state of the forward loss: how many blocks share it, each with a part of the sums, or 0: one does it all. */
struct loss_launch {
    loss_shape s;
    int64_t parts, threads;
};

cnn_status cuda_loss_prepare(cnn_plan *plan, cnn_error *err)
{
    const cnn_loss_desc *d = &plan->problem.u.loss;
    const int64_t *knobs = plan->knobs, some = knobs[CUDA_KNOB_LOSS_ROWS], most = knobs[CUDA_KNOB_LOSS_THREADS];
    const int64_t parts = d->mb <= knobs[CUDA_KNOB_LOSS_ONE_BLOCK] ? 0 : (d->mb + some - 1) / some;
    const loss_shape s = {d->mb, d->ic, parts > 0 ? some : d->mb, lanes_for(d->ic), d->kind};
    const int64_t threads = (s.rows_a_block * s.lanes + 31) / 32 * 32;
    const loss_launch l = {s, parts, threads < most ? threads : most};
    if (plan->dir != CNN_FWD) return CNN_OK;
    plan->workspace_bytes = static_cast<size_t>(parts) * sizeof(loss_part);
    return cuda_keep(plan, &l, sizeof l, err);
}

template <typename T>
static cnn_status forward(cuda_context *c, const loss_launch &l, const cnn_loss_args *a, cnn_error *err)
{
    const loss_vectors<T> v = {static_cast<const T *>(a->x), a->labels, static_cast<cuda_real<T> *>(a->y)};
    const cuda_shape shape = {"loss_fwd", dim3(static_cast<unsigned>(l.parts > 0 ? l.parts : 1)),
                              dim3(static_cast<unsigned>(l.threads)), 0};
    loss_part *room = l.parts > 0 ? static_cast<loss_part *>(a->workspace) : NULL;
    const cnn_status status = cuda_launch(c, shape, err, loss_fwd_kernel<T>, l.s, v, room, a->loss_sum, a->correct);
    if (status != CNN_OK || l.parts == 0) return status;
    const cuda_shape one = {"loss_sum", dim3(1), dim3(32), 0};
    return cuda_launch(c, one, err, loss_sum_kernel, l.parts, static_cast<const loss_part *>(room), a->loss_sum,
                       a->correct);
}

/* What the gradient is multiplied by. The loss scale changes from step to step: it lies in device memory. */
struct loss_factor {
    double scale;
    const double *loss_scale; /* of a type of 16 bits, or NULL */
};

template <typename T> __device__ inline double factor_of(const loss_factor &f)
{
    return sizeof(T) == 2 && f.loss_scale != NULL ? f.scale * *f.loss_scale : f.scale;
}

template <typename T, typename I>
__global__ void loss_bwd_kernel(I count, I classes, const cuda_real<T> *y, const int32_t *labels, T *dx, loss_factor f)
{
    const cuda_real<T> scale = static_cast<cuda_real<T>>(factor_of<T>(f));
    for (CUDA_GRID_STRIDE(i, static_cast<int64_t>(count))) {
        const I row = static_cast<I>(i) / classes, k = static_cast<I>(i) - row * classes;
        dx[i] = cuda_stored<T>((k == static_cast<I>(labels[row]) ? y[i] - 1 : y[i]) * scale);
    }
}

/* Through the softmax: a row by as many neighbouring threads as in the forward. cnn.h's sum over k is multiplied out,
 * so that no two numbers near 1 are subtracted from each other but 1 - y[label]. */
template <typename T>
__global__ void softmax_bwd_kernel(int64_t rows, int64_t classes, int lanes, const cuda_real<T> *y,
                                   const int32_t *labels, T *dx, loss_factor f)
{
    const double scale = factor_of<T>(f);
    const int lane = static_cast<int>(threadIdx.x) % lanes;
    const int64_t row = (static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / lanes;
    const bool valid = row < rows;
    const int64_t label = valid ? labels[row] : 0, at = valid ? row * classes : 0, count = valid ? classes : 0;
    const double mine = static_cast<double>(y[at + label]);
    double others = 0, squares = 0;
    for (int64_t k = lane; k < count; k += lanes) {
        const double p = k == label ? 0 : static_cast<double>(y[at + k]);
        others += p;
        squares += p * p;
    }
    others = lanes_sum(others, lanes);
    squares = lanes_sum(squares, lanes);
    for (int64_t k = lane; k < count; k += lanes) {
        const double p = static_cast<double>(y[at + k]);
        const double sum =
            k == label ? -(1 - mine) * others - squares : p * (mine + others) - squares + mine * (1 - mine);
        dx[at + k] = cuda_stored<T>(static_cast<cuda_real<T>>(p * sum * scale));
    }
}

template <typename T>
static cnn_status through_softmax(cuda_context *c, const cnn_loss_desc *d, const cnn_loss_args *a, cnn_error *err)
{
    enum { THREADS = 128 };
    const int lanes = lanes_for(d->ic);
    const int64_t rows = THREADS / lanes;
    const cuda_shape shape = {"loss_bwd", dim3(static_cast<unsigned>((d->mb + rows - 1) / rows)), dim3(THREADS), 0};
    return cuda_launch(c, shape, err, softmax_bwd_kernel<T>, d->mb, d->ic, lanes,
                       static_cast<const cuda_real<T> *>(a->y), a->labels, static_cast<T *>(a->dx),
                       loss_factor{a->scale, a->loss_scale});
}

cnn_status cuda_loss_fwd(cnn_context *context, const cnn_plan *plan, const cnn_loss_args *args, cnn_error *err)
{
    cuda_context *c = cuda_context_of(context);
    const loss_launch &l = *static_cast<const loss_launch *>(plan->state);
    return CUDA_BY_NUMBER(plan->problem.u.type.dtype, forward<T>(c, l, args, err));
}

cnn_status cuda_loss_bwd(cnn_context *context, const cnn_plan *plan, const cnn_loss_args *a, cnn_error *err)
{
    cuda_context *c = cuda_context_of(context);
    const cnn_loss_desc *d = &plan->problem.u.loss;
    const int64_t count = d->mb * d->ic;
    if (d->kind == CNN_LOSS_SOFTMAX_QUADRATIC) return CUDA_BY_NUMBER(d->t.dtype, through_softmax<T>(c, d, a, err));
    const cuda_shape shape = cuda_shape_pointwise(c, plan->knobs, "loss_bwd", count);
    const loss_factor factor = {a->scale, a->loss_scale};
    return CUDA_BY_NUMBERS(
        d->t.dtype, cuda_fits_32(count), uint32_t, uint64_t,
        cuda_launch(c, shape, err, loss_bwd_kernel<T, I>, count, d->ic, a->y, a->labels, a->dx, factor));
}
