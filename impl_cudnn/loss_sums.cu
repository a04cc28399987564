/* loss_sums.cu: the loss and the count of right answers from logits and log-softmax.
 *
 * Idea: one block walks over the batch, a thread an image, and adds up in a tree whose shape is always the same, so
 * that the sums are deterministic. Bottleneck: one multiprocessor's reads of mb x ic logits; softmax itself reads as
 * many on all of them. */
#include "harness/cuda/hit.h"
#include "harness/cuda/launch.h"
#include "harness/cuda/reduce.h"
#include "impl_cudnn/ops.h"

template <typename T> static __device__ bool largest_is(const T *x, int64_t classes, int32_t label)
{
    bool beaten = false;
    for (int64_t k = 0; k < classes; k++) beaten = beaten || cuda_beats(x[k], k < label, x[label]);
    return !beaten;
}

template <typename T>
static __global__ void sums(int64_t images, int64_t classes, const T *x, const T *log_y, const int32_t *labels,
                            double *loss_sum, int64_t *correct)
{
    CUDA_SHARED(double, losses, [32]);
    CUDA_SHARED(double, hits, [32]);
    double loss = 0.0, hit = 0.0;
    for (int64_t n = threadIdx.x; n < images; n += blockDim.x) {
        loss -= (double)log_y[n * classes + labels[n]];
        hit += largest_is(x + n * classes, classes, labels[n]) ? 1 : 0;
    }
    loss = cuda_block_sum(loss, losses);
    hit = cuda_block_sum(hit, hits);
    if (threadIdx.x != 0) return;
    if (loss_sum != NULL) *loss_sum += loss;
    if (correct != NULL) *correct += (int64_t)hit;
}

cnn_status loss_sums(cudnn_context *c, const cnn_plan *plan, const cnn_loss_args *a, cnn_error *err)
{
    const cnn_loss_desc *d = &plan->problem.u.loss;
    const cuda_shape shape = {"loss_sums", dim3(1), dim3((unsigned)plan->knobs[CUDA_KNOB_LOSS_THREADS]), 0};
    return CUDA_BY_DTYPE(d->t.dtype, cuda_launch(&c->cuda, shape, err, sums<T>, d->mb, d->ic, a->x, a->workspace,
                                                 a->labels, a->loss_sum, a->correct));
}
