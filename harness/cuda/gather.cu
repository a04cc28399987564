/* gather.cu: makes a batch of the shuffled data set: a block a row (image), 16 bytes a thread where rows are whole
 * packs. With a cursor, the position in the order lives on the device, and a captured step can be replayed.
 * Bottleneck: memory; rows lie anywhere, but each is contiguous. */
#include "harness/cuda/counter.h"
#include "harness/cuda/launch.h"
#include "harness/names.h"

/* Copies rows of `words` elements of type W. */
template <typename W>
__global__ void gather_kernel(int64_t count, int64_t words, const W *rows, const int32_t *labels, const int32_t *index,
                              W *y, int32_t *y_labels, int64_t *cursor)
{
    const int64_t first = cursor != NULL ? cuda_counter_read(cursor) : 0;
    for (int64_t n = blockIdx.x; n < count; n += gridDim.x) {
        const int64_t from = index[first + n];
        for (int64_t i = threadIdx.x; i < words; i += blockDim.x) y[n * words + i] = rows[from * words + i];
        if (threadIdx.x == 0 && y_labels != NULL) y_labels[n] = labels[from];
    }
    if (cursor != NULL) cuda_counter_add(cursor, count);
}

template <typename W> static cnn_status run(cuda_context *c, const cnn_gather_args *a, size_t row_bytes, cnn_error *err)
{
    const int64_t most_blocks = 1 << 16;
    const int64_t words = static_cast<int64_t>(row_bytes / sizeof(W));
    const int64_t most = c->knobs[CUDA_KNOB_POINTWISE_THREADS], warps = (words + 31) / 32 * 32;
    const cuda_shape shape = {"gather", dim3(static_cast<unsigned>(a->count < most_blocks ? a->count : most_blocks)),
                              dim3(static_cast<unsigned>(warps < most ? warps : most)), 0};
    return cuda_launch(c, shape, err, gather_kernel<W>, a->count, words, static_cast<const W *>(a->rows), a->labels,
                       a->index, static_cast<W *>(a->y), a->y_labels, a->cursor);
}

cnn_status cuda_gather(cnn_context *context, const cnn_gather_args *args, cnn_error *err)
{
    cuda_context *c = reinterpret_cast<cuda_context *>(context);
    const size_t bytes = static_cast<size_t>(args->row_elems) * cnn_dtype_size(args->dtype);
    const bool aligned = (reinterpret_cast<uintptr_t>(args->rows) | reinterpret_cast<uintptr_t>(args->y)) % 16 == 0;
    if (bytes % 16 == 0 && aligned) return run<int4>(c, args, bytes, err);
    return run<int32_t>(c, args, bytes, err); /* f32 and f64 alike are whole words */
}
