/* loss_sums.cu: the loss and the count of right answers from logits and log-softmax.
 *
 * Idea: one block walks over the batch, a thread an image, and adds up in a tree whose shape is always the same, so
 * that the sums are deterministic. Bottleneck: one multiprocessor's reads of mb x ic logits; softmax itself reads as
 * many on all of them. */
#include "harness/cuda/launch.h"
#include "impl_cudnn/ops.h"

enum { THREADS = 256 };

template <typename T> static __device__ bool largest_is(const T *x, int64_t classes, int32_t label)
{
    int64_t best = 0; /* the first one on a tie */
    for (int64_t k = 1; k < classes; k++)
        if (x[k] > x[best]) best = k;
    return best == label;
}

template <typename T>
static __global__ void sums(int64_t images, int64_t classes, const T *x, const T *log_y, const int32_t *labels,
                            double *loss_sum, int64_t *correct)
{
    __shared__ double losses[THREADS];
    __shared__ int64_t rights[THREADS];
    double loss = 0.0;
    int64_t right = 0;
    for (int64_t n = threadIdx.x; n < images; n += THREADS) {
        loss -= (double)log_y[n * classes + labels[n]];
        right += largest_is(x + n * classes, classes, labels[n]) ? 1 : 0;
    }
    losses[threadIdx.x] = loss;
    rights[threadIdx.x] = right;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x >= (unsigned)half) continue;
        losses[threadIdx.x] += losses[threadIdx.x + half];
        rights[threadIdx.x] += rights[threadIdx.x + half];
    }
    if (threadIdx.x != 0) return;
    if (loss_sum != NULL) *loss_sum += losses[0];
    if (correct != NULL) *correct += rights[0];
}

cnn_status loss_sums(cudnn_context *c, const cnn_loss_desc *d, const void *x, const void *log_y, const int32_t *labels,
                     double *loss_sum, int64_t *correct, cnn_error *err)
{
    const cuda_shape shape = {"loss_sums", dim3(1), dim3(THREADS), 0};
    if (d->t.dtype == CNN_F64)
        return cuda_launch(&c->cuda, shape, err, sums<double>, d->mb, d->ic, static_cast<const double *>(x),
                           static_cast<const double *>(log_y), labels, loss_sum, correct);
    return cuda_launch(&c->cuda, shape, err, sums<float>, d->mb, d->ic, static_cast<const float *>(x),
                       static_cast<const float *>(log_y), labels, loss_sum, correct);
}
