/* launch.h: the one path through which every kernel is launched (C++).
 *
 *   cuda_launch(context, {"im2col", grid, block, shared}, err, im2col<float>, args, a, b)
 *
 * The arguments are converted to the kernel's own parameter types. The shape is checked against the device's limits
 * before the launch and the launch itself after it: an invalid one is CNN_BAD_ARGUMENT with kernel, grid, block and
 * shared bytes, never a wrong result. */
#ifndef HARNESS_CUDA_LAUNCH_H
#define HARNESS_CUDA_LAUNCH_H

#include "harness/cuda/cuda.h"

/* As many threads a block as a knob may ask for. A kernel that would take more than 64 registers a thread says
 * __launch_bounds__(CUDA_BLOCK_MOST, 1): else such a block would need more of them than a multiprocessor has. */
enum { CUDA_BLOCK_MOST = 1024 };

struct cuda_shape {
    const char *kernel; /* its name, for errors */
    dim3 grid, block;
    size_t shared_bytes;      /* dynamic */
    bool cooperative = false; /* all blocks are there at once, or the launch fails: they may wait for one another */
    unsigned cluster = 1;     /* so many blocks reach each other's shared memory: cluster.h (devices from 9.0) */
    /* It may start while the kernel before it still runs, once that says griddepcontrol.launch_dependents; what that
     * one writes it reads after griddepcontrol.wait (PTX ISA 7.8, compute capability 9.0). */
    bool overlaps = false;
};

/* CNN_BAD_ARGUMENT, or the context's death; raises the kernel's shared-memory limit where it must. */
cnn_status cuda_launch_check(cuda_context *, const cuda_shape &, const void *kernel, cnn_error *);
/* After the launch: its error; with the knob sync_launches, also what the kernel itself did. */
cnn_status cuda_launch_done(cuda_context *, const cuda_shape &, cudaError_t, cnn_error *);

/* A one-dimensional shape for a grid-stride loop over `count` items: blocks of `threads`, no more of them than
 * `blocks_per_sm` a multiprocessor. */
cuda_shape cuda_shape_1d(const cuda_context *, const char *kernel, int64_t count, int64_t threads,
                         int64_t blocks_per_sm);
/* The same by pointwise.threads and pointwise.blocks of a plan's knobs, or the context's. */
inline cuda_shape cuda_shape_pointwise(const cuda_context *c, const int64_t *knobs, const char *kernel, int64_t count)
{
    return cuda_shape_1d(c, kernel, count, knobs[CUDA_KNOB_POINTWISE_THREADS], knobs[CUDA_KNOB_POINTWISE_BLOCKS]);
}

#ifndef BENCHCNN_CUDA_EMULATED
/* The shape as the runtime takes it; the attributes are room for what it points to. */
static inline cudaLaunchConfig_t cuda_launch_config(const cuda_context *context, const cuda_shape &shape,
                                                    cudaLaunchAttribute together[2])
{
    cudaLaunchConfig_t config = {};
    config.gridDim = shape.grid;
    config.blockDim = shape.block;
    config.dynamicSmemBytes = shape.shared_bytes;
    config.stream = context->stream;
    config.attrs = together;
    if (shape.cooperative) {
        cudaLaunchAttribute *a = &together[config.numAttrs++];
        *a = {};
        a->id = cudaLaunchAttributeCooperative;
        a->val.cooperative = 1;
    } else if (shape.overlaps) {
        cudaLaunchAttribute *a = &together[config.numAttrs++];
        *a = {};
        a->id = cudaLaunchAttributeProgrammaticStreamSerialization;
        a->val.programmaticStreamSerializationAllowed = 1;
    }
    if (shape.cluster > 1) {
        cudaLaunchAttribute *a = &together[config.numAttrs++];
        *a = {};
        a->id = cudaLaunchAttributeClusterDimension;
        a->val.clusterDim = {shape.cluster, 1, 1};
    }
    return config;
}
#endif

/* Static: two files may give different structs of arguments the same name, and the linker would take one file's launch
 * for both. */
template <typename... P, typename... A>
static cnn_status cuda_launch(cuda_context *context, const cuda_shape &shape, cnn_error *err, void (*kernel)(P...),
                              A... args)
{
    static_assert(sizeof...(P) == sizeof...(A), "one argument for each parameter of the kernel");
    const cnn_status status = cuda_launch_check(context, shape, reinterpret_cast<const void *>(kernel), err);
    if (status != CNN_OK) return status;
#ifdef BENCHCNN_CUDA_EMULATED
    const cudaError_t error = emulated_launch(emulated_launch_shape{shape.grid, shape.block, shape.shared_bytes,
                                                                    context->stream, shape.cooperative, shape.cluster},
                                              kernel, static_cast<P>(args)...);
#else
    cudaLaunchAttribute together[2];
    const cudaLaunchConfig_t config = cuda_launch_config(context, shape, together);
    const cudaError_t error = cudaLaunchKernelEx(&config, kernel, static_cast<P>(args)...);
#endif
    return cuda_launch_done(context, shape, error, err);
}

#ifndef BENCHCNN_CUDA_EMULATED
/* A kernel that was compiled at run time: a cudaKernel_t, and where each of its arguments is. */
cnn_status cuda_launch_kernel(cuda_context *, const cuda_shape &, cnn_error *, const void *kernel, void **arguments);
#endif

/* The value of an expression in which T is the type of a dtype's elements:
 *   return CUDA_BY_DTYPE(d->t.dtype, cuda_launch(c, shape, err, kernel<T>, a, b)); */
#define CUDA_BY_DTYPE(dtype, ...)                                                                                      \
    ((dtype) == CNN_F32 ? [&] { typedef float T; return __VA_ARGS__; }()                                               \
                        : [&] { typedef double T; return __VA_ARGS__; }())
/* ... and in which I is the type of indices: `narrow` where the problem is small. */
#define CUDA_BY_TYPES(dtype, small, narrow, wide, ...)                                                                 \
    ((small) ? [&] { typedef narrow I; return CUDA_BY_DTYPE(dtype, __VA_ARGS__); }()                                   \
             : [&] { typedef wide I; return CUDA_BY_DTYPE(dtype, __VA_ARGS__); }())

/* for (CUDA_GRID_STRIDE(i, count)): 64-bit, any launch shape. */
#define CUDA_GRID_STRIDE(i, count)                                                                                     \
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;                                                        \
    i < (count);                                                                                                       \
    i += (int64_t)gridDim.x * blockDim.x

#endif
