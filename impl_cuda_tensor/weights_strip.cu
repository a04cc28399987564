/* weights_strip.cu: the weights of 16 bits as forward_strip.cu's tiles: weights.cu's work where rows and words stand in
 * their own order, which leaves whole lines to be read: 16 bytes a thread, all taps at once.
 *
 * A block takes 8 output channels of the product (the rows) by 64 channels that are summed over (the depth). */
#include "impl_cuda_tensor/asm.h"
#include "impl_cuda_tensor/tensor.h"

namespace
{

enum { ROWS = 8, DEEP = 64, WORDS = DEEP / 2, THREADS = 256 };

/* A line: neighbours in memory: a row's channels with their taps, or (transposed) a channel's rows with their taps. */
struct lines_of {
    int32_t fours;  /* words of 4 bytes, four at a time, of a line */
    int32_t stride; /* of its words in shared memory: odd, against bank conflicts */
};
__device__ inline lines_of lines(const cutensor_weights &s)
{
    const int32_t fours = (s.transposed ? ROWS : DEEP) * s.taps / 8;
    return {fours, 4 * fours + 1};
}

/* Numbers are 16 bits, whatever they mean. */
__device__ inline void read_lines(const cutensor_weights &s, const uint16_t *w, int32_t row, int32_t deep,
                                  uint32_t *kept)
{
    const lines_of l = lines(s);
    for (int32_t i = static_cast<int32_t>(threadIdx.x); i < ROWS * DEEP * s.taps / 8; i += THREADS) {
        const int32_t line = i / l.fours, at = i - line * l.fours, skipped = 8 * at / s.taps;
        const int64_t first = s.transposed ? static_cast<int64_t>(deep + line) * s.rows + row
                                           : static_cast<int64_t>(row + line) * s.depth + deep;
        const bool there = s.transposed ? deep + line < s.depth && row + skipped < s.rows
                                        : row + line < s.rows && deep + skipped < s.depth;
        int4 v = {0, 0, 0, 0};
        if (there) v = *reinterpret_cast<const int4 *>(w + first * s.taps + 8 * at);
        uint32_t *to = kept + line * l.stride + 4 * at;
        to[0] = static_cast<uint32_t>(v.x);
        to[1] = static_cast<uint32_t>(v.y);
        to[2] = static_cast<uint32_t>(v.z);
        to[3] = static_cast<uint32_t>(v.w);
    }
}

__device__ inline void write_rows(const cutensor_weights &s, const uint32_t *kept, int32_t row, int32_t chunk,
                                  uint32_t *to)
{
    const int32_t stride = 2 * lines(s).stride, x = static_cast<int32_t>(threadIdx.x) % WORDS;
    const int32_t mine = static_cast<int32_t>(threadIdx.x) / WORDS, tile = (row + mine) / s.wide;
    const uint16_t *numbers = reinterpret_cast<const uint16_t *>(kept);
    const int32_t at = s.transposed ? 2 * x * stride + mine * s.taps : mine * stride + 2 * x * s.taps;
    const int32_t next = s.transposed ? stride : s.taps;
    const int64_t step = (static_cast<int64_t>(tile) * s.chunks + chunk) * s.taps;
    const int32_t place = (row + mine - tile * s.wide) * WORDS + (((x >> 2) ^ (mine & 7)) << 2 | (x & 3));
    for (int32_t tap = 0; tap < s.taps; tap++) {
        const int32_t from = at + (s.reversed ? s.taps - 1 - tap : tap);
        to[(step + tap) * s.wide * WORDS + place] = numbers[from] | static_cast<uint32_t>(numbers[from + next]) << 16;
    }
}

__global__ void __launch_bounds__(THREADS)
    lines_to_tiles(const cutensor_weights s, const uint16_t *w, uint32_t *to, unsigned *flags)
{
    CUDA_DYNAMIC_SHARED(uint32_t, kept);
    const int32_t block = static_cast<int32_t>(blockIdx.x), row = block / s.chunks * ROWS, chunk = block % s.chunks;
    next_may_start();
    for (int32_t i = block * THREADS + static_cast<int32_t>(threadIdx.x); i < s.flags;
         i += static_cast<int32_t>(gridDim.x) * THREADS)
        flags[i] = 0;
    read_lines(s, w, row, chunk * DEEP, kept);
    __syncthreads();
    write_rows(s, kept, row, chunk, to);
}

} // namespace

cnn_status cutensor_weights_strip_run(cuda_context *c, const cutensor_weights *s, const void *w, void *to, void *flags,
                                      cnn_error *err)
{
    const int32_t lines = s->transposed ? DEEP : ROWS, fours = (s->transposed ? ROWS : DEEP) * s->taps / 8;
    const cuda_shape shape = {"lines_to_tiles",
                              dim3(static_cast<unsigned>(s->group_tiles * s->wide / ROWS * s->chunks)), dim3(THREADS),
                              sizeof(uint32_t) * static_cast<size_t>(lines) * static_cast<size_t>(4 * fours + 1)};
    return cuda_launch(c, shape, err, lines_to_tiles, *s, static_cast<const uint16_t *>(w), static_cast<uint32_t *>(to),
                       static_cast<unsigned *>(flags));
}
