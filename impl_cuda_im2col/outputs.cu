/* outputs.cu: the passes over y and dy: the bias, its gradient, and the way between NCHW and wide outputs.
 *
 * A pass over y reads and writes it once, little beside the columns, so what can share a pass does: the transpose
 * brings the bias along, dy's transpose its sum. Expected bottleneck: memory, and for small batches the launch itself.
 */
#include "harness/cuda/epilogue.h"
#include "impl_cuda_im2col/columns.h"

enum { LANES = 32, MOST_THREADS = 1024 };

template <typename T> static __global__ void fill_bias(cucol_bias bias) { write_bias<T>(bias); }

cnn_status cucol_fill_bias(cucol_context *context, const cnn_plan *plan, const cucol_bias *bias, cnn_error *err)
{
    const int64_t count = (int64_t)bias->shape.n * bias->shape.channels * bias->shape.pixels;
    const cuda_shape shape =
        cucol_shape(context, plan, "bias", count, CUCOL_KNOB_OUTPUTS_THREADS, CUCOL_KNOB_OUTPUTS_BLOCKS);
    return CUCOL_LAUNCH(context, plan, shape, err, fill_bias, *bias);
}

template <typename T>
static __global__ void split_outputs(cucol_outputs s, const T *wide, const T *b, T *y, cuda_epilogue<T> epilogue)
{
    const int64_t count = (int64_t)s.n * s.channels * s.pixels, channel_stride = (int64_t)s.n * s.pixels;
    for (CUDA_GRID_STRIDE(e, count)) {
        const uint32_t pixel = (uint32_t)e % (uint32_t)s.pixels, plane = (uint32_t)e / (uint32_t)s.pixels;
        const uint32_t channel = plane % (uint32_t)s.channels, n = plane / (uint32_t)s.channels;
        T value = wide[channel * channel_stride + (int64_t)n * s.pixels + pixel];
        if (b != nullptr) value += b[channel];
        epilogue.put(y, e, value);
    }
}

cnn_status cucol_split_outputs(cucol_context *context, const cnn_plan *plan, const cucol_outputs *s, const void *wide,
                               const cnn_weighted_args *part, cnn_error *err)
{
    const cuda_shape shape = cucol_shape(context, plan, "split outputs", (int64_t)s->n * s->channels * s->pixels,
                                         CUCOL_KNOB_OUTPUTS_THREADS, CUCOL_KNOB_OUTPUTS_BLOCKS);
    return CUCOL_LAUNCH(context, plan, shape, err, split_outputs, *s, wide, part->b, part->y,
                        cuda_epilogue_of<T>(plan, part));
}

/* A block takes one slice of the (image, pixel) of `width` channels: one in NCHW, where pixels are neighbours, LANES of
 * them in NHWC, where channels are; so its threads always read side by side. */
template <typename T>
static __global__ void join_outputs(cucol_outputs s, const T *dy, T *wide, T *sums, int32_t width, bool add)
{
    CUDA_SHARED(T, partial, [MOST_THREADS]);
    const int32_t lane = (int32_t)threadIdx.x % width, step = (int32_t)blockDim.x / width;
    const int32_t channel = (int32_t)blockIdx.x * width + lane, first = (int32_t)threadIdx.x / width;
    const int64_t count = (int64_t)s.n * s.pixels, slice = (count + gridDim.y - 1) / gridDim.y;
    const int64_t start = blockIdx.y * slice, end = start + slice < count ? start + slice : count;
    T sum = 0;
    for (int64_t i = start + first; i < end && first < step && channel < s.channels; i += step) {
        const uint32_t n = (uint32_t)i / (uint32_t)s.pixels, pixel = (uint32_t)i % (uint32_t)s.pixels;
        const T value =
            s.channels_last ? dy[i * s.channels + channel] : dy[((int64_t)n * s.channels + channel) * s.pixels + pixel];
        sum += value;
        if (wide != nullptr) wide[channel * count + i] = value;
    }
    if (sums == nullptr) return; /* the whole block does */
    partial[threadIdx.x] = sum;
    __syncthreads();
    int32_t half = 1;
    while (half < step) half *= 2;
    for (half /= 2; half > 0; half /= 2) { /* a tree over a lane's threads; any number of them */
        if (first < half && first + half < step) partial[threadIdx.x] += partial[threadIdx.x + half * width];
        __syncthreads();
    }
    if (first > 0 || channel >= s.channels) return;
    T *target = sums + (int64_t)blockIdx.y * s.channels + channel;
    *target = add ? *target + partial[lane] : partial[lane];
}

cnn_status cucol_join_outputs(cucol_context *context, const cnn_plan *plan, const cucol_outputs *s, const void *dy,
                              void *wide, void *sums, int32_t slices, bool add, cnn_error *err)
{
    const int32_t width = s->channels_last ? LANES : 1;
    const dim3 grid((unsigned)((s->channels + width - 1) / width), (unsigned)slices);
    const dim3 block((unsigned)plan->knobs[CUCOL_KNOB_OUTPUTS_THREADS]);
    const cuda_shape shape = {"join outputs", grid, block, 0};
    return CUCOL_LAUNCH(context, plan, shape, err, join_outputs, *s, dy, wide, sums, width, add);
}

template <typename T>
static __global__ void add_slices(const T *sums, int32_t slices, int32_t channels, T *db, bool add)
{
    for (CUDA_GRID_STRIDE(channel, channels)) {
        T sum = 0;
        for (int32_t slice = 0; slice < slices; slice++) sum += sums[(int64_t)slice * channels + channel];
        db[channel] = add ? db[channel] + sum : sum;
    }
}

cnn_status cucol_add_slices(cucol_context *context, const cnn_plan *plan, const void *sums, int32_t slices,
                            int32_t channels, void *db, bool add, cnn_error *err)
{
    const cuda_shape shape =
        cucol_shape(context, plan, "add slices", channels, CUCOL_KNOB_OUTPUTS_THREADS, CUCOL_KNOB_OUTPUTS_BLOCKS);
    return CUCOL_LAUNCH(context, plan, shape, err, add_slices, sums, slices, channels, db, add);
}
