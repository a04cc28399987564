/* v1.cu: host side of v1.h, and the check of a grid against the device that every version uses. */
#include "impl_cuda_naive/v1.h"

cnn_status naive_grid_check(const cuda_context *context, const char *version, const int64_t grid[3],
                            const int64_t block[3], cnn_error *err)
{
    const cuda_limits *l = &context->limits;
    const int *most_blocks = l->grid_dim, *most_threads = l->block_dim;
    const int64_t threads = block[0] * block[1] * block[2];
    for (int i = 0; i < 3; i++) {
        if (grid[i] > most_blocks[i])
            return CNN_FAIL(err, CNN_UNSUPPORTED, "%s: the grid needs %lld blocks in %c, the device has %d", version,
                            (long long)grid[i], "xyz"[i], most_blocks[i]);
        if (block[i] > most_threads[i])
            return CNN_FAIL(err, CNN_UNSUPPORTED, "%s: %lld threads of a block in %c, the device has %d", version,
                            (long long)block[i], "xyz"[i], most_threads[i]);
    }
    if (threads > l->block_threads)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "%s: a block of %lld x %lld x %lld threads, the device's most is %d",
                        version, (long long)block[0], (long long)block[1], (long long)block[2], l->block_threads);
    return CNN_OK;
}

cnn_status naive_shared_check(const cuda_context *context, const char *version, int64_t bytes, int64_t knob_kib,
                              cnn_error *err)
{
    const int64_t device = (int64_t)context->limits.shared_bytes_optin, asked = knob_kib * 1024;
    const int64_t limit = smaller(device, asked);
    if (bytes <= limit) return CNN_OK;
    return CNN_FAIL(err, CNN_UNSUPPORTED,
                    "%s: the smallest tile needs %lld bytes of shared memory; %lld are allowed by "
                    "the knob, %lld by the device",
                    version, (long long)bytes, (long long)asked, (long long)device);
}

static void v1_sizes(const cuda_context *context, const cnn_conv_desc *d, int64_t grid[3], int64_t block[3])
{
    for (int i = 0; i < 3; i++) block[i] = context->knobs[NAIVE_KNOB_V1_BLOCK_X + i];
    grid[0] = d->mb * ceil_div(d->ow, block[0]);
    grid[1] = ceil_div(d->oh, block[1]);
    grid[2] = ceil_div(d->oc, block[2]);
}

cnn_status v1_check(const cuda_context *context, const cnn_conv_desc *d, cnn_error *err)
{
    int64_t grid[3], block[3];
    v1_sizes(context, d, grid, block);
    const int64_t threads = block[0] * block[1] * block[2];
    if (threads > V1_MOST_THREADS)
        return CNN_FAIL(err, CNN_UNSUPPORTED,
                        "v1: a block of %lld x %lld x %lld threads (v1.block_x, _y, _z), and %d are the most",
                        (long long)block[0], (long long)block[1], (long long)block[2], (int)V1_MOST_THREADS);
    return naive_grid_check(context, "v1", grid, block, err);
}

cuda_shape v1_shape(const cuda_context *context, const cnn_conv_desc *d, const char *kernel)
{
    int64_t grid[3], block[3];
    v1_sizes(context, d, grid, block);
    return {kernel, dim3((unsigned)grid[0], (unsigned)grid[1], (unsigned)grid[2]),
            dim3((unsigned)block[0], (unsigned)block[1], (unsigned)block[2]), 0};
}
