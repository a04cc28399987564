/* gather.cu: makes a batch of the shuffled data set: a block a row (image), 16 bytes a thread where rows are whole
 * packs. With a cursor, the position in the order lives on the device, and a captured step can be replayed.
 * Bottleneck: memory; rows lie anywhere, but each is contiguous. Images that are moved are copied word by word, for a
 * pack does not stay one. */
#include "harness/cnn/shape.h"
#include "harness/cuda/counter.h"
#include "harness/cuda/launch.h"

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

/* A row is `planes` x h x w pixels of `pixel` words. */
template <typename I> struct picture {
    I h, w, pixel;
};

/* Word i of a row that is moved. */
template <typename W, typename I> static __device__ W moved_word(const W *row, I i, const picture<I> &p, cnn_shift by)
{
    const I line = i / (p.w * p.pixel), r = line % p.h - by.dy;
    const I s = i / p.pixel % p.w - by.dx;
    if (r < 0 || r >= p.h || s < 0 || s >= p.w) return 0;
    return row[i - (by.dy * p.w + by.dx) * p.pixel];
}

/* I counts the words of a row: 32 bits where they do, for its divisions are what takes time. */
template <typename W, typename I>
__global__ void gather_moved_kernel(int64_t count, I words, const W *rows, const int32_t *labels, const int32_t *index,
                                    const cnn_shift *shifts, picture<I> p, W *y, int32_t *y_labels, int64_t *cursor)
{
    const int64_t first = cursor != NULL ? cuda_counter_read(cursor) : 0;
    for (int64_t n = blockIdx.x; n < count; n += gridDim.x) {
        const int64_t from = index[first + n];
        const cnn_shift by = shifts[first + n];
        for (int64_t i = threadIdx.x; i < words; i += blockDim.x)
            y[n * words + i] = moved_word(rows + from * words, static_cast<I>(i), p, by);
        if (threadIdx.x == 0 && y_labels != NULL) y_labels[n] = labels[from];
    }
    if (cursor != NULL) cuda_counter_add(cursor, count);
}

/* A block a row, of as many threads as it has words at most. */
static cuda_shape shape_of(const cuda_context *c, const char *kernel, int64_t count, int64_t words)
{
    const int64_t most_blocks = 1 << 16, most = c->knobs[CUDA_KNOB_POINTWISE_THREADS], warps = (words + 31) / 32 * 32;
    return {kernel, dim3(static_cast<unsigned>(count < most_blocks ? count : most_blocks)),
            dim3(static_cast<unsigned>(warps < most ? warps : most)), 0};
}

template <typename W> static cnn_status run(cuda_context *c, const cnn_gather_args *a, size_t row_bytes, cnn_error *err)
{
    const int64_t words = static_cast<int64_t>(row_bytes / sizeof(W));
    return cuda_launch(c, shape_of(c, "gather", a->count, words), err, gather_kernel<W>, a->count, words, a->rows,
                       a->labels, a->index, a->y, a->y_labels, a->cursor);
}

/* f32 and f64 alike are whole words of 32 bits, f16 and bf16 one of 16. */
template <typename W, typename I>
static cnn_status run_moved(cuda_context *c, const cnn_gather_args *a, int64_t words, cnn_error *err)
{
    const int64_t elem = static_cast<int64_t>(cnn_dtype_size(a->dtype) / sizeof(W));
    const picture<I> p = {static_cast<I>(a->h), static_cast<I>(a->w), static_cast<I>(a->pixel_elems * elem)};
    return cuda_launch(c, shape_of(c, "gather_moved", a->count, words), err, gather_moved_kernel<W, I>, a->count,
                       static_cast<I>(words), a->rows, a->labels, a->index, a->shifts, p, a->y, a->y_labels, a->cursor);
}

cnn_status cuda_gather(cnn_context *context, const cnn_gather_args *args, cnn_error *err)
{
    cuda_context *c = cuda_context_of(context);
    const size_t bytes = static_cast<size_t>(args->row_elems) * cnn_dtype_size(args->dtype);
    const bool aligned = (reinterpret_cast<uintptr_t>(args->rows) | reinterpret_cast<uintptr_t>(args->y)) % 16 == 0;
    const bool half = cnn_dtype_size(args->dtype) == sizeof(int16_t);
    const int64_t words = static_cast<int64_t>(bytes / (half ? sizeof(int16_t) : sizeof(int32_t)));
    const bool narrow = words <= INT32_MAX;
    if (args->shifts != NULL && half)
        return narrow ? run_moved<int16_t, int32_t>(c, args, words, err)
                      : run_moved<int16_t, int64_t>(c, args, words, err);
    if (args->shifts != NULL)
        return narrow ? run_moved<int32_t, int32_t>(c, args, words, err)
                      : run_moved<int32_t, int64_t>(c, args, words, err);
    if (bytes % 16 == 0 && aligned) return run<int4>(c, args, bytes, err);
    return bytes % sizeof(int32_t) == 0 ? run<int32_t>(c, args, bytes, err) : run<int16_t>(c, args, bytes, err);
}
